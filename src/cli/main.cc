#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
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
  saltus analyze pendulum
  saltus compare pendulum
  saltus springs --case undamped

`saltus simulate --help`, `saltus analyze --help` and `saltus compare --help` explain the options.
Exit status: 0 reached the stop time (or the model ended the run); 1 stopped early, results up to
there are kept; 2 the input is wrong.)";

// What the parser found wrong, and the option or command that was probably meant.
std::string explain(const CLI::App& program, const CLI::ParseError& error,
                    const std::vector<std::string>& words) {
  const CLI::App* command = &program;
  for (const CLI::App* sub : program.get_subcommands()) command = sub;
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  std::string hint;
  if (command == &program) {
    for (const CLI::App* sub : program.get_subcommands({})) known.push_back(sub->get_name());
    if (!words.empty()) hint = saltus::did_you_mean(words.front(), known);
  }
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (hint.empty() && name.starts_with("--") && !is_known)
      hint = saltus::did_you_mean(name, known);
  }
  return fmt::format("{}{}; see `saltus {}--help`", error.what(), hint,
                     command == &program ? "" : command->get_name() + " ");
}

// Whether standard output is a pipe that nobody reads; the write that failed may be long ago.
bool reader_left() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

// A reader that left (`| head`) is no failure; a full disk is.
int close_output(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  if (errno == EPIPE || reader_left()) return status;
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
  saltus::add_analyze_command(program, status);
  saltus::add_check_command(program, status);
  saltus::add_compare_command(program, status);
  saltus::add_realtime_command(program, status);
  saltus::add_springs_command(program, status);
  saltus::add_examples_command(program, status);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    fmt::print(stderr, "error: {}\n", explain(program, error, {argv + 1, argv + argc}));
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
