#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "base/version.h"
#include "cli/commands.h"

namespace {

constexpr const char* kFooter = R"(Examples:
  saltus examples
  saltus simulate ball
  saltus simulate ball --set e=0.8 --stop-time 2 --output results
  saltus simulate rectifier --report rectifier.html
  saltus simulate tanks --json - | jq .events

`saltus simulate --help` explains the options.
Exit status: 0 reached the stop time (or the model ended the run); 1 stopped early, results up to
there are kept; 2 the input is wrong.)";

// What the parser found wrong, and the option or command that was probably meant.
std::string explain(const CLI::App& program, const CLI::ParseError& error, int argc,
                    const char* const* argv) {
  std::vector<std::string> known;
  const CLI::App* command = &program;
  for (const CLI::App* sub : program.get_subcommands()) command = sub;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  if (command == &program)
    for (const CLI::App* sub : program.get_subcommands({})) known.push_back(sub->get_name());
  std::string hint;
  if (error.get_name() == "ExtrasError" || error.get_name() == "RequiredError") {
    for (int i = 1; i < argc && hint.empty(); ++i) {
      const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
      bool is_known = word == command->get_name();
      for (const std::string& name : known) is_known = is_known || name == word;
      if (!is_known) hint = saltus::did_you_mean(word, known);
    }
  }
  return fmt::format("{}{}; see `saltus {}--help`", error.what(), hint,
                     command == &program ? "" : command->get_name() + " ");
}

// A reader that left (`| head`) is no failure; a full disk is.
int close_output(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  if (errno == EPIPE) return status;
  fmt::print(stderr, "error: cannot write to standard output\n");
  return status == saltus::kReached ? saltus::kStopped : status;
}

int run(int argc, const char* const* argv) {
  CLI::App program{"Saltus simulates hybrid systems of differential-algebraic equations.",
                   "saltus"};
  program.set_version_flag("--version", fmt::format("saltus {}", saltus::kVersion));
  program.footer(kFooter);
  program.require_subcommand(1);
  int status = saltus::kReached;
  saltus::add_simulate_command(program, status);
  saltus::add_examples_command(program, status);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    fmt::print(stderr, "error: {}\n", explain(program, error, argc, argv));
    return saltus::kWrongInput;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  int status = saltus::kReached;
  try {
    status = run(argc, argv);
  } catch (const saltus::Error& error) {
    const bool has_place = !error.where().file.empty();  // then what() says "error:" itself
    fmt::print(stderr, "{}{}\n", has_place ? "" : "error: ", error.what());
    status = saltus::kWrongInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    status = saltus::kStopped;
  }
  return close_output(status);
}
