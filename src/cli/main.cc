#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stack.h"
#include "base/stop_request.h"
#include "base/suggest.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/numbers.h"
#include "cli/say.h"

namespace {

constexpr const char* kFooter = R"(Examples:
  saltus examples
  saltus simulate ball
  saltus simulate ball --set e=0.8 --stop-time 2 --output results
  saltus simulate rectifier --report rectifier.html
  saltus simulate tanks --json - | jq .events
  saltus analyze pendulum
  saltus compare pendulum
  saltus sweep ball --vary e=0.5:0.1:0.9 --record h --output bounces.h5
  saltus springs --case undamped
  saltus collisions --case 7

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

// An empty word says nothing. Nan and infinity are no numbers, and a count has no sign.
void check_words(CLI::App& program) {
  for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::Option* option : command->get_options([](CLI::Option*) { return true; })) {
      const std::string type = option->get_type_name();
      if (type.starts_with("FLOAT")) option->check(saltus::need_finite, "");
      if (type.starts_with("UINT")) option->check(saltus::need_count, "");
      if (type.starts_with("TEXT") && !option->get_positional())
        option->check(saltus::need_word, "");
    }
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
  saltus::say_error("cannot write to standard output");
  return status == saltus::kReached ? saltus::kStopped : status;
}

int run(int argc, const char* const* argv) {
  CLI::App program{"Saltus simulates hybrid systems of differential-algebraic equations.",
                   "saltus"};
  program.set_version_flag("--version", fmt::format("saltus {}", saltus::kVersion));
  program.footer(kFooter);
  program.require_subcommand(1);
  saltus::remember_command({argv + 1, argv + argc});
  int status = saltus::kReached;
  saltus::add_simulate_command(program, status);
  saltus::add_analyze_command(program, status);
  saltus::add_check_command(program, status);
  saltus::add_compare_command(program, status);
  saltus::add_sweep_command(program, status);
  saltus::add_linearize_command(program, status);
  saltus::add_frequency_command(program, status);
  saltus::add_steady_command(program, status);
  saltus::add_fit_command(program, status);
  saltus::add_serve_command(program, status);
  saltus::add_realtime_command(program, status);
  saltus::add_springs_command(program, status);
  saltus::add_collisions_command(program, status);
  saltus::add_delta_command(program, status);
  saltus::add_studio_command(program, status);
  saltus::add_examples_command(program, status);
  saltus::add_help_command(program, status);
  check_words(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    saltus::say_error(explain(program, error, {argv + 1, argv + argc}));
    return saltus::kWrongInput;
  }
  return status;
}

// A file that is opened while one of these is closed would get its number, and with it what is
// meant for the terminal. Reading what is open for writing only fails, and the other way round.
void keep_standard_files_apart() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF)
      (void)open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// A model that needs more memory than there is ends with a message, and not by the system, which
// may choose another program. A lower limit of the user stays. The sanitizers reserve far more than
// they use.
void bound_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  rlimit limit{};
  if (pages <= 0 || size <= 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const rlim_t memory = static_cast<rlim_t>(pages) * static_cast<rlim_t>(size);
  limit.rlim_cur = std::min(limit.rlim_cur, memory);
  (void)setrlimit(RLIMIT_DATA, &limit);
#endif
}

int guarded_run(int argc, const char* const* argv) {
  try {
    return run(argc, argv);
  } catch (const saltus::Error& error) {
    saltus::say_error(error);
    return saltus::kWrongInput;
  } catch (const saltus::StopRequested& request) {
    saltus::say_error(fmt::format("{} while the model was translated", request.what()));
  } catch (const std::bad_alloc&) {
    saltus::say_error("out of memory");
  } catch (const std::exception& error) {
    saltus::say_error(error.what());
  }
  return saltus::kStopped;
}

}  // namespace

int main(int argc, char** argv) {
  // What cannot be written is told by the call that writes.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  keep_standard_files_apart();
  bound_memory();
  // Values that refer to each other in long chains are followed by recursion. Memory is taken only
  // as far as it is used.
  constexpr std::size_t kStack = std::size_t{1} << 29;
  int status = saltus::kReached;
  saltus::call_with_stack(kStack, [&] { status = guarded_run(argc, argv); });
  return close_output(status);
}
