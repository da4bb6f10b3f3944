#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/load.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(The page is served on this machine only. The address that is printed holds a token: without it every
request is refused. Models are the Modelica files below DIR and the bundled examples; runs are kept in
DIR/studio. Ctrl-C ends the studio and the runs that still go on.

Exit status: 0 ended by Ctrl-C; 2 DIR or the port cannot be used.)";

struct StudioArguments {
  std::string folder = ".";
  int port = 0;
};

// Becomes the server, a program beside this one (cli/studio/server.cc says why).
[[noreturn]] void become_studio(const StudioArguments& arguments) {
  std::error_code problem;
  if (!std::filesystem::is_directory(arguments.folder, problem))
    throw Error(fmt::format("'{}' is no folder", arguments.folder));
  const std::filesystem::path program = program_path();
  const std::string server = (program.parent_path() / "saltus-studio").string();
  std::vector<std::string> words = {server, program.string(), arguments.folder,
                                    std::to_string(arguments.port)};
  for (const auto& [name, summary] : bundled_models()) words.push_back(name);
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  execv(server.c_str(), list.data());
  throw Error(fmt::format("cannot start '{}': {}", server, std::strerror(errno)));
}

}  // namespace

void add_studio_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "studio", "Serve a page on this machine: choose models, change parameters, run, look");
  const auto arguments = std::make_shared<StudioArguments>();
  command->footer(kFooter);
  command->add_option("DIR", arguments->folder, "folder with models; default: the present one")
      ->option_text(" ");
  command->add_option("--port", arguments->port, "default: any free one")
      ->check(CLI::Range(1, 65535))
      ->option_text("N");
  command->callback([arguments, &status] {
    status = kWrongInput;
    become_studio(*arguments);
  });
}

}  // namespace saltus
