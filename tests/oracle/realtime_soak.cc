// Random drivetrains with a fixed step against references that share no code with Saltus: every
// one is followed or refused with its cause, its error shrinks with the step, and no step takes
// longer than it may. `make soak-realtime` runs 10,000.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "oracle/generate.h"
#include "oracle/realtime_check.h"
#include "oracle/reference.h"

namespace saltus::oracle {
namespace {

struct Options {
  std::vector<std::string> classes = {"random", "rest", "degenerate", "brakes", "backlash"};
  std::vector<std::string> writings = {"library"};
  long from = 0;
  long to = 20;
  double step = 1e-3;
  double longest = 0.02;  // s of processor time that a step may take
  double seconds = 60.0;  // of processor time that a network may take
  int jobs = 1;
  std::string dump;
  bool verbose = false;
};

enum class Result { kRight, kWrong, kRefused, kTooLong, kCrash, kIllPosed, kNoReference };
constexpr const char* kNames[] = {"right", "WRONG",     "refused",     "TOO LONG",
                                  "CRASH", "ill-posed", "no reference"};

struct Verdict {
  Result result = Result::kCrash;
  double deviation = 0.0;
  double longest = 0.0;
  std::string reason;
};

// Errors below the floor are those of the reference and of the times of events.
Verdict judge(const Network& network, const Written& written, const Reference& reference,
              const Options& options) {
  constexpr double kLargest = 1e-3;  // with the finer step; impacts multiply errors
  constexpr double kFiner = 4.0;
  const double floor = 1e-6 + 10.0 * reference.speed_error;
  Verdict verdict;
  try {
    const FixedStepRun run = run_fixed_steps(network, written, reference.motion, options.step);
    verdict.deviation = run.deviation;
    verdict.longest = run.longest;
    verdict.result = Result::kRight;
    double finer = run.deviation;
    if (run.deviation > floor) {
      const FixedStepRun fine =
          run_fixed_steps(network, written, reference.motion, options.step / kFiner);
      finer = fine.deviation;
      verdict.longest = std::max(verdict.longest, fine.longest);
    }
    verdict.reason = fmt::format("off by {:.1e}, {:.1e} with a step of a quarter; reference {:.1e}",
                                 run.deviation, finer, reference.speed_error);
    if (!(finer <= kLargest) || !(finer <= std::max(floor, 0.5 * run.deviation)))
      verdict.result = Result::kWrong;
    else if (verdict.longest > options.longest)
      verdict.result = Result::kTooLong;
    if (verdict.result == Result::kTooLong)
      verdict.reason = fmt::format("a step took {:.3g} ms", 1e3 * verdict.longest);
  } catch (const Error& error) {
    verdict.result = Result::kRefused;
    verdict.reason = error.message();
  }
  return verdict;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

void tell(int to, const std::string& family, const std::string& writing, long seed,
          const Verdict& v) {
  const std::string line =
      fmt::format("{}\t{}\t{}\t{}\t{:.3e}\t{:.3e}\t{}\n", family, writing, seed,
                  static_cast<int>(v.result), v.deviation, v.longest, one_line(v.reason));
  if (::write(to, line.data(), line.size()) < 0) std::abort();
}

// One network in a process of its own, so that a crash or a hang is an outcome.
void work_on(const Options& options, const std::string& name, Family family,
             const std::string& writing, long seed, int to) {
  const Network network = generate(family, static_cast<std::uint64_t>(seed));
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{static_cast<rlim_t>(options.seconds),
                       static_cast<rlim_t>(options.seconds) + 1};
    setrlimit(RLIMIT_CPU, &limit);
    const auto form =
        std::ranges::find(writings(), writing, &std::pair<std::string, Writing>::first);
    const std::optional<Written> written = write(network, form->second);
    if (written) {
      const Reference reference = make_reference(network, 1e-6);
      Verdict verdict{.reason = reference.note};
      if (reference.failed)
        verdict.result = Result::kNoReference;
      else if (reference.ill_posed)
        verdict.result = Result::kIllPosed;
      else
        verdict = judge(network, *written, reference, options);
      tell(to, name, writing, seed, verdict);
      if (!options.dump.empty() && verdict.result != Result::kRight) {
        std::ofstream file(fmt::format("{}/{}_{}_{}.mo", options.dump, name, writing, seed));
        file << "// " << one_line(verdict.reason) << "\n// --stop-time " << network.stop_time
             << "\n"
             << written->text;
      }
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0)
    tell(to, name, writing, seed,
         {.reason = fmt::format("the process ended with status {}", status)});
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, by);) result.push_back(item);
  return result;
}

int run(const Options& options) {
  if (!options.dump.empty()) std::filesystem::create_directories(options.dump);
  int ends[2];
  if (pipe(ends) != 0) return 2;
  for (int job = 0; job < options.jobs; ++job)
    if (fork() == 0) {
      close(ends[0]);
      for (long seed = options.from + job; seed < options.to; seed += options.jobs)
        for (const auto& [name, family] : families())
          for (const std::string& writing : options.writings)
            if (std::ranges::find(options.classes, name) != options.classes.end())
              work_on(options, name, family, writing, seed, ends[1]);
      _exit(0);
    }
  close(ends[1]);
  std::map<std::pair<std::string, std::string>, std::map<Result, int>> table;
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> largest;
  std::FILE* in = fdopen(ends[0], "r");
  std::string line;
  int bad = 0;
  for (int c = 0; (c = std::fgetc(in)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    const std::vector<std::string> f = split(line, '\t');
    line.clear();
    const auto result = static_cast<Result>(std::stoi(f[3]));
    ++table[{f[0], f[1]}][result];
    auto& [deviation, longest] = largest[{f[0], f[1]}];
    if (result == Result::kRight) deviation = std::max(deviation, std::stod(f[4]));
    longest = std::max(longest, std::stod(f[5]));
    bad += result == Result::kWrong || result == Result::kTooLong || result == Result::kCrash;
    if (!options.verbose && result == Result::kRight) continue;
    fmt::print("{:10} {:8} {:6} {:12} {}\n", f[0], f[1], f[2], kNames[static_cast<int>(result)],
               f.size() > 6 ? f[6].substr(0, 300) : "");
    std::fflush(stdout);
  }
  while (wait(nullptr) > 0) {
  }
  fmt::print("\n{:10} {:8}", "class", "writing");
  for (const char* name : kNames) fmt::print(" {:>12}", name);
  fmt::print(" {:>12} {:>12}\n", "furthest off", "longest step");
  for (const auto& [key, counts] : table) {
    fmt::print("{:10} {:8}", key.first, key.second);
    for (int k = 0; k <= static_cast<int>(Result::kNoReference); ++k) {
      const auto found = counts.find(static_cast<Result>(k));
      fmt::print(" {:12}", found == counts.end() ? 0 : found->second);
    }
    fmt::print(" {:12.1e} {:9.3f} ms\n", largest[key].first, 1e3 * largest[key].second);
  }
  return bad == 0 ? 0 : 1;
}

constexpr const char* kUsage =
    "saltus_realtime_soak: random drivetrains with a fixed step against their references\n"
    "  --class A,B      random, degenerate, brakes, rest, backlash; default: all\n"
    "  --writing A,B    library, sign, when, msl ...; default library\n"
    "  --seeds FROM:TO  default 0:20\n"
    "  --step H         s; the error must shrink with a quarter of it; default 0.001\n"
    "  --longest S      processor time that a step may take; default 0.02\n"
    "  --seconds S      processor time that a network may take; default 60\n"
    "  --jobs N         processes\n"
    "  --dump DIR       folder for the models that do not pass\n"
    "  --verbose        one line for every network\n";

bool read(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (++i == argc) return false;
    const std::string value = argv[i];
    if (name == "--class")
      options.classes = split(value, ',');
    else if (name == "--writing")
      options.writings = split(value, ',');
    else if (name == "--seeds") {
      const std::vector<std::string> ends = split(value, ':');
      options.from = std::stol(ends.at(0));
      options.to = ends.size() > 1 ? std::stol(ends[1]) : options.from + 1;
    } else if (name == "--step")
      options.step = std::stod(value);
    else if (name == "--longest")
      options.longest = std::stod(value);
    else if (name == "--seconds")
      options.seconds = std::stod(value);
    else if (name == "--jobs")
      options.jobs = std::stoi(value);
    else if (name == "--dump")
      options.dump = value;
    else
      return false;
  }
  const auto knows = [](const auto& all, const std::string& name) {
    return std::ranges::any_of(all, [&](const auto& entry) { return entry.first == name; });
  };
  return std::ranges::all_of(options.classes,
                             [&](const std::string& n) { return knows(families(), n); }) &&
         std::ranges::all_of(options.writings,
                             [&](const std::string& n) { return knows(writings(), n); });
}

}  // namespace
}  // namespace saltus::oracle

int main(int argc, char** argv) {
  using namespace saltus::oracle;
  Options options;
  if (!read(argc, argv, options)) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  return run(options);
}
