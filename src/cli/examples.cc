#include "examples/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "cli/commands.h"

namespace saltus {

void add_examples_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("examples", "List the bundled examples");
  command->footer("Run one with `saltus simulate NAME`; examples/NAME/README.md explains it.");
  command->callback([&status] {
    std::size_t width = 0;
    for (const Example& example : examples()) {
      width = std::max(width, std::string_view(example.name).size());
    }
    for (const Example& example : examples()) {
      const Experiment experiment = example.build().experiment;
      fmt::print(stdout, "{:<{}}  {} (to {:g} s)\n", example.name, width, example.summary,
                 experiment.stop_time);
    }
    status = kReached;
  });
}

}  // namespace saltus
