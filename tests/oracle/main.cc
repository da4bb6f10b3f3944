#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "oracle/generate.h"
#include "oracle/judge.h"
#include "oracle/reference.h"
#include "oracle/writings.h"

// Random drivetrains, written in several ways, run by Saltus and compared with a reference that
// shares no code with it.

namespace saltus::oracle {
namespace {

struct Options {
  std::vector<std::string> classes;
  std::vector<std::string> writings;
  std::string seeds = "0:20";
  JudgeOptions judge;
  int jobs = 1;
  std::string dump;
  bool verbose = false;
  bool reference_only = false;
  int most_early = 0;
  long show = -1;
};

using Table = std::map<std::pair<std::string, std::string>, std::map<int, int>>;

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  return text;
}

// Does every `jobs`th seed, beginning with `first`, and writes lines to `out`.
void work(const Options& options, long from, long to, int first, std::FILE* out) {
  for (const std::string& family_name : options.classes)
    for (const auto& [name, family] : families()) {
      if (name != family_name) continue;
      for (long seed = from + first; seed < to; seed += options.jobs) {
        const Network network = generate(family, static_cast<std::uint64_t>(seed));
        const Reference reference =
            make_reference(network, options.judge.tolerance, options.reference_only);
        const auto report = [&](const std::string& writing, const Verdict& v) {
          fmt::print(out, "{}\t{}\t{}\t{}\t{:.3f}\t{}\n", name, writing, seed,
                     static_cast<int>(v.outcome), v.seconds, one_line(v.reason));
          std::fflush(out);
        };
        if (reference.ill_posed || reference.failed || options.reference_only)
          report("reference", {reference.failed      ? Outcome::kNoReference
                               : reference.ill_posed ? Outcome::kIllPosed
                                                     : Outcome::kRight,
                               reference.note});
        if (options.reference_only) continue;
        for (const std::string& writing_name : options.writings)
          for (const auto& [text, writing] : writings()) {
            if (text != writing_name) continue;
            const auto written = write(network, writing);
            if (!written) continue;
            Verdict verdict{Outcome::kNoReference, reference.note};
            if (!reference.failed) verdict = judge(*written, network, reference, options.judge);
            report(writing_name, verdict);
            if (!options.dump.empty() && verdict.outcome != Outcome::kRight) {
              std::ofstream file(
                  fmt::format("{}/{}_{}_{}.mo", options.dump, name, writing_name, seed));
              file << "// " << to_string(verdict.outcome) << ": " << one_line(verdict.reason)
                   << "\n// --stop-time " << network.stop_time << " --tolerance "
                   << options.judge.tolerance << "\n"
                   << written->text;
            }
          }
      }
    }
}

void print_census(const Options& options, long from, long to) {
  for (const std::string& family_name : options.classes)
    for (const auto& [name, family] : families()) {
      if (name != family_name) continue;
      std::map<std::string, int> all;
      for (long seed = from; seed < to; ++seed)
        for (const auto& [what, count] : census(generate(family, static_cast<std::uint64_t>(seed))))
          all[what] += count;
      std::string text;
      for (const auto& [what, count] : all)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, count);
      fmt::print("{}: {}\n", name, text);
    }
}

void show(const Options& options) {
  for (const std::string& family_name : options.classes)
    for (const auto& [name, family] : families()) {
      if (name != family_name) continue;
      const Network network = generate(family, static_cast<std::uint64_t>(options.show));
      const Reference reference =
          make_reference(network, options.judge.tolerance, options.reference_only);
      for (const std::string& writing_name : options.writings)
        for (const auto& [text, writing] : writings())
          if (text == writing_name)
            if (const auto written = write(network, writing))
              fmt::print("// {} {} {}\n{}\n", name, options.show, text, written->text);
      fmt::print("// reference: {}; its own error: speeds {:.1e}, angles {:.1e}\n// time",
                 reference.note, reference.speed_error, reference.angle_error);
      for (std::size_t i = 0; i < network.bodies.size(); ++i) fmt::print(" w{}", i);
      for (std::size_t i = 0; i < network.bodies.size(); ++i) fmt::print(" phi{}", i);
      for (std::size_t k = 0; k < reference.motion.times.size(); ++k) {
        fmt::print("\n// {:.3g}", reference.motion.times[k]);
        for (const double w : reference.motion.speeds[k]) fmt::print(" {:.8g}", w);
        for (const double phi : reference.motion.angles[k]) fmt::print(" {:.8g}", phi);
      }
      fmt::print("\n");
    }
}

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) result.push_back(field);
  return result;
}

int run(const Options& options) {
  const auto colon = options.seeds.find(':');
  const long from = colon == std::string::npos ? std::stol(options.seeds)
                                               : std::stol(options.seeds.substr(0, colon));
  const long to =
      colon == std::string::npos ? from + 1 : std::stol(options.seeds.substr(colon + 1));
  if (options.show >= 0) {
    show(options);
    return 0;
  }
  if (!options.dump.empty()) std::filesystem::create_directories(options.dump);
  print_census(options, from, to);
  std::fflush(stdout);

  int ends[2];
  if (pipe(ends) != 0) return 2;
  for (int job = 0; job < options.jobs; ++job)
    if (fork() == 0) {
      close(ends[0]);
      std::FILE* out = fdopen(ends[1], "w");
      work(options, from, to, job, out);
      std::fflush(out);
      _exit(0);
    }
  close(ends[1]);
  std::FILE* in = fdopen(ends[0], "r");
  Table table;
  std::map<std::pair<std::string, std::string>, double> seconds;
  std::string line;
  for (int c = 0; (c = std::fgetc(in)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    const std::vector<std::string> f = fields(line);
    line.clear();
    if (f.size() < 5) continue;
    const int outcome = std::stoi(f[3]);
    ++table[{f[0], f[1]}][outcome];
    seconds[{f[0], f[1]}] = std::max(seconds[{f[0], f[1]}], std::stod(f[4]));
    if (options.verbose || outcome != 0)
      fmt::print("{:10} {:9} {:6} {:12} {:6.1f} s  {}\n", f[0], f[1], f[2],
                 to_string(static_cast<Outcome>(outcome)), std::stod(f[4]),
                 f.size() > 5 ? f[5].substr(0, 260) : "");
    std::fflush(stdout);
  }
  int bad = 0;    // in silence, or without a message
  int early = 0;  // told by name
  for (int status = 0; wait(&status) > 0;)
    if (status != 0) {
      fmt::print("A worker ended with status {}: its other seeds are missing.\n", status);
      ++bad;
    }
  fmt::print("\n{:10} {:9} {:>6}", "class", "writing", "runs");
  for (int o = 0; o <= static_cast<int>(Outcome::kNoReference); ++o)
    fmt::print(" {:>12}", to_string(static_cast<Outcome>(o)));
  fmt::print(" {:>10}\n", "slowest");
  for (const auto& [key, counts] : table) {
    int runs = 0;
    for (const auto& [outcome, count] : counts) {
      runs += count;
      // Of the references only their disagreement counts; that some motions are ill-posed is told.
      const auto what = static_cast<Outcome>(outcome);
      if (what == Outcome::kEndedEarly || what == Outcome::kRefused)
        early += count;
      else if (what != Outcome::kRight && what != Outcome::kIllPosed)
        bad += count;
    }
    fmt::print("{:10} {:9} {:6}", key.first, key.second, runs);
    for (int o = 0; o <= static_cast<int>(Outcome::kNoReference); ++o)
      fmt::print(" {:12}", counts.contains(o) ? counts.at(o) : 0);
    fmt::print(" {:8.1f} s\n", seconds[key]);
  }
  return bad == 0 && early <= options.most_early ? 0 : 1;
}

}  // namespace
}  // namespace saltus::oracle

namespace saltus::oracle {
namespace {

constexpr const char* kUsage =
    "saltus_oracle: compares Saltus with a reference on random drivetrains\n"
    "  --class A,B      random, degenerate, brakes, rest, backlash, shapes; default:\n"
    "                   all\n"
    "  --writing A,B    library, sign, diode, when, machine, msl, cpp; default: all\n"
    "  --seeds FROM:TO  without TO; default 0:20\n"
    "  --tolerance R    of the runs; default 1e-6\n"
    "  --seconds S      processor time of a run; default 20\n"
    "  --jobs N         processes\n"
    "  --dump DIR       folder for the models that fail\n"
    "  --show SEED      print the model and the reference of this seed\n"
    "  --reference      check the references against each other, run nothing\n"
    "  --most-early N   exit status 0 if no more runs than N end early, which they say; default 0\n"
    "  --verbose        one line for every run\n";

std::vector<std::string> list(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) result.push_back(item);
  return result;
}

// False if the arguments are wrong.
bool read(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--verbose" || name == "--reference") {
      (name == "--verbose" ? options.verbose : options.reference_only) = true;
      continue;
    }
    if (++i == argc) return false;
    const std::string value = argv[i];
    if (name == "--class")
      options.classes = list(value);
    else if (name == "--writing")
      options.writings = list(value);
    else if (name == "--seeds")
      options.seeds = value;
    else if (name == "--tolerance")
      options.judge.tolerance = std::stod(value);
    else if (name == "--seconds")
      options.judge.seconds = std::stod(value);
    else if (name == "--most-early")
      options.most_early = std::stoi(value);
    else if (name == "--jobs")
      options.jobs = std::stoi(value);
    else if (name == "--dump")
      options.dump = value;
    else if (name == "--show")
      options.show = std::stol(value);
    else
      return false;
  }
  return true;
}

// Every name is one of `all`; none: all of them.
template <class Value>
bool complete(std::vector<std::string>& names,
              const std::vector<std::pair<std::string, Value>>& all) {
  for (const std::string& name : names) {
    bool known = false;
    for (const auto& entry : all) known = known || entry.first == name;
    if (!known) return false;
  }
  if (names.empty())
    for (const auto& entry : all) names.push_back(entry.first);
  return true;
}

}  // namespace
}  // namespace saltus::oracle

int main(int argc, char** argv) {
  using namespace saltus::oracle;
  Options options;
  options.judge.library_folder = SALTUS_LIBRARY_FOLDER;
  if (!read(argc, argv, options) || !complete(options.classes, families()) ||
      !complete(options.writings, writings())) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  return run(options);
}
