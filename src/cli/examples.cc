#include "examples/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/load.h"

namespace saltus {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;  // name and summary

std::string table(const Lines& lines) {
  std::size_t width = 0;
  for (const auto& [name, summary] : lines) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, summary] : lines)
    text += fmt::format("{:<{}}  {}\n", name, width, summary);
  return text;
}

}  // namespace

void add_examples_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("examples", "List the bundled examples");
  command->footer(
      "Run one with `saltus simulate NAME`; examples/NAME/README.md explains those in C++.");
  command->callback([&status] {
    Lines lines;
    for (const Example& example : examples())
      lines.emplace_back(example.name, fmt::format("{} (to {:g} s)", example.summary,
                                                   example.build().experiment.stop_time));
    // A reader that leaves early is no failure, so nothing that throws.
    std::fputs((table(lines) + "\nIn Modelica:\n" + table(bundled_models())).c_str(), stdout);
    status = kReached;
  });
}

}  // namespace saltus
