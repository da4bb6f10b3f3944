#include "examples/examples.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"

namespace saltus {

void add_examples_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("examples", "List the bundled examples");
  command->footer("Run one with `saltus simulate NAME`; examples/NAME/README.md explains it.");
  command->callback([&status] {
    for (const Example& example : examples()) {
      const Experiment experiment = example.build().experiment;
      fmt::print(stdout, "{:<12}{} (to {:g} s)\n", example.name, example.summary,
                 experiment.stop_time);
    }
    status = kReached;
  });
}

}  // namespace saltus
