#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/help_pages.h"
#include "cli/say.h"

namespace saltus {
namespace {

// The first line of a page without its mark: "# Title".
std::string title_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return std::string(line.starts_with("# ") ? line.substr(2) : line);
}

void show_help(const std::string& topic) {
  if (topic.empty()) {
    tell("Topics of `saltus help TOPIC`:\n");
    for (const HelpPage& page : help_pages()) tell("  {:<16} {}\n", page.name, title_of(page.text));
    tell("`saltus COMMAND --help` explains the options of a command.\n");
    return;
  }
  std::vector<std::string> names;
  for (const HelpPage& page : help_pages()) {
    if (page.name == topic) {
      tell("{}", page.text);
      return;
    }
    names.emplace_back(page.name);
  }
  throw Error(fmt::format("there is no help on '{}'{}; `saltus help` lists the topics", topic,
                          did_you_mean(topic, names)));
}

}  // namespace

void add_help_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("help", "Show a page of the guide");
  const auto topic = std::make_shared<std::string>();
  command->add_option("topic", *topic, "name of the page; without it, the list of pages")
      ->option_text("TOPIC");
  command->callback([topic, &status] {
    show_help(*topic);
    status = kReached;
  });
}

}  // namespace saltus
