#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/load.h"
#include "cli/say.h"
#include "cli/study_model.h"
#include "output/file.h"
#include "study/study_file.h"
#include "study/summary.h"
#include "study/workers.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"help(Values: NAME=FROM:STEP:TO, NAME=lin:FROM:TO:N, NAME=log:FROM:TO:N or a list NAME=A,B,C; for samples also
the intervals NAME=FROM:TO and NAME=log:FROM:TO.
Records: expressions of results and parameters at the end of the run; max(e), min(e), mean(e), integral(e),
initial(e) and final(e) look at all stored points. `--record "peak = max(abs(tau))"` gives a name.

Examples:
  saltus sweep ball --vary e=0.5:0.1:0.9 --record h --record "max(v)" --output bounces.h5
  saltus sweep drive.mo --vary J=0.1:0.1:2 --vary k=log:1:1e4:20 --record w1 --report drive.html
  saltus sweep clutch.mo --latin 1000 --normal mu=0.3,0.02 --vary F=100:200 --record t_lock=time
  mpirun -n 64 saltus sweep drive.mo --vary J=0.1:0.001:2 --record w1 --output /shared/drive.h5

Finished runs are kept in a folder beside the result until the study is complete: after Ctrl-C or a crash
--resume does the rest. Runs that fail are kept with their reason.

Exit status: 0 all runs are done (those that failed are told); 1 interrupted, or all runs failed; 2 the input is
wrong, nothing was run.)help";

struct SweepArguments {
  ModelChoice choice;
  SimulateOptions options;
  std::string method = "radau";
  std::vector<std::string> vary, normal, records;
  bool grid = false, zip = false;
  std::optional<std::size_t> random, latin, sobol, indices;
  std::uint64_t seed = 1;
  std::size_t jobs = 0;
  std::string output = "results/study.h5";
  std::string report;
  bool resume = false;
  bool quiet = false;
};

Design design_of(const SweepArguments& a) {
  std::vector<Factor> factors;
  for (const std::string& text : a.vary) factors.push_back(parse_factor(text));
  for (const std::string& text : a.normal) factors.push_back(parse_normal(text));
  if (a.random) return make_design(factors, Plan::kRandom, *a.random, a.seed);
  if (a.latin) return make_design(factors, Plan::kLatin, *a.latin, a.seed);
  if (a.sobol) return make_design(factors, Plan::kSobol, *a.sobol, a.seed);
  if (a.indices) return make_design(factors, Plan::kIndices, *a.indices, a.seed);
  return make_design(factors, a.zip ? Plan::kZip : Plan::kGrid, 0, a.seed);
}

// How far a study is, on the terminal; a line every ten seconds elsewhere.
class StudyProgress {
 public:
  StudyProgress(std::size_t runs, bool wanted)
      : runs_(runs), wanted_(wanted), live_(isatty(STDERR_FILENO) == 1) {}
  ~StudyProgress() {
    if (shown_ && live_) std::fputs("\r\x1b[K", stderr);
  }
  StudyProgress(const StudyProgress&) = delete;
  StudyProgress& operator=(const StudyProgress&) = delete;

  void update(std::size_t done) {
    const Clock::time_point now = Clock::now();
    if (!first_) first_ = done;
    if (!wanted_ || now < next_) return;
    next_ = now + (live_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000));
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    std::string left;
    if (done > *first_)
      left = fmt::format(", about {} left", duration(seconds * static_cast<double>(runs_ - done) /
                                                     static_cast<double>(done - *first_)));
    std::fputs(fmt::format("{}{} of {} runs{}{}", live_ ? "\r" : "", done, runs_, left,
                           live_ ? " (Ctrl-C stops, --resume goes on)\x1b[K" : "\n")
                   .c_str(),
               stderr);
    std::fflush(stderr);
    shown_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static std::string duration(double seconds) {
    if (seconds < 100.0) return fmt::format("{:.0f} s", std::ceil(seconds));
    if (seconds < 6000.0) return fmt::format("{:.0f} min", std::ceil(seconds / 60.0));
    return fmt::format("{:.1f} h", seconds / 3600.0);
  }

  std::size_t runs_;
  bool wanted_, live_;
  bool shown_ = false;
  std::optional<std::size_t> first_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point next_ = begun_ + std::chrono::seconds(1);
};

void tell_summary(const PreparedStudy& study, const std::vector<StudyRun>& runs) {
  const Design& design = study.study().design;
  std::size_t failed = 0;
  double seconds = 0.0;
  for (const StudyRun& run : runs) {
    failed += run.completed ? 0 : 1;
    seconds += run.seconds;
  }
  tell("{}: {} runs, {} failed, {:.3g} ms of processor time each\n", study.model(), runs.size(),
       failed, 1e3 * seconds / static_cast<double>(runs.size()));
  const std::vector<ModeSequence> sequences = mode_sequences(runs);
  constexpr std::size_t kMost = 12;
  tell("  {} {} of modes\n", sequences.size(), sequences.size() == 1 ? "sequence" : "sequences");
  for (std::size_t k = 0; k < sequences.size() && k < kMost; ++k)
    tell("  {:>8} {}  {}\n", sequences[k].runs, sequences[k].runs == 1 ? "run " : "runs",
         sequences[k].modes);
  if (sequences.size() > kMost) tell("           and {} more\n", sequences.size() - kMost);
  const std::vector<SequenceChange> changes = sequence_changes(design, runs);
  if (!changes.empty()) tell("  the sequence changes between\n");
  for (std::size_t k = 0; k < changes.size() && k < kMost; ++k) {
    const auto [factor, from, to] = changes[k];
    std::vector<std::string> others;
    for (std::size_t j = 0; j < design.names.size(); ++j)
      if (j != factor)
        others.push_back(fmt::format("{} = {:g}", design.names[j], design.run(to)[j]));
    tell("    {} = {:.10g} and {:.10g}{}{} (runs {} and {})\n", design.names[factor],
         design.run(from)[factor], design.run(to)[factor], others.empty() ? "" : " at ",
         fmt::join(others, ", "), from, to);
  }
  if (changes.size() > kMost) tell("    and at {} more places\n", changes.size() - kMost);
  for (std::size_t j = 0; j < study.study().records.size(); ++j) {
    const Distribution d = distribution(runs, j);
    tell(
        "  {}: mean {:.8g}, deviation {:.4g}, 5 % {:.6g}, median {:.6g}, 95 % {:.6g}, from {:.8g} "
        "to {:.8g}\n",
        study.study().records[j].name, d.mean, d.deviation, d.quantile_05, d.median, d.quantile_95,
        d.least, d.most);
    if (design.plan != Plan::kIndices) continue;
    const std::vector<SobolIndex> indices = sobol_indices(design, runs, j);
    for (std::size_t i = 0; i < indices.size(); ++i)
      tell("    Sobol index of {}: first order {:.4f}, total {:.4f}\n", design.names[i],
           indices[i].first, indices[i].total);
  }
}

void tell_failures(const std::vector<StudyRun>& runs) {
  constexpr std::size_t kMost = 5;
  std::size_t failed = 0;
  for (std::size_t k = 0; k < runs.size(); ++k)
    if (!runs[k].completed && ++failed <= kMost)
      say_warning(fmt::format("run {}: {}", k, runs[k].message));
  if (failed > kMost) say_warning(fmt::format("{} more runs failed", failed - kMost));
}

int run_sweep(const SweepArguments& a) {
  Study study;
  study.design = design_of(a);
  for (const std::string& text : a.records) study.records.push_back(parse_record(text));
  if (study.records.empty())
    throw Error("nothing is recorded; say --record EXPRESSION, for example --record \"max(w1)\"");
  study.options = a.options;
  study.options.method = parse_method(a.method).value_or(Method::kRadau);
  study.translate = translator(a.choice);
  check_study_file(a.output);
  WorkOptions work;
  find_rank(work);
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  work.jobs = a.jobs > 0 ? a.jobs : work.ranks > 1 ? 1 : cores;
  work.journal = a.output + ".journal";
  work.resume = a.resume;
  work.identity = fmt::format(
      "model {} set {} input {} library {} method {} start {} stop {} tolerance {} interval {} "
      "absolute {} max-step {} max-seconds {}",
      model_fingerprint(a.choice), fmt::join(a.choice.settings, " "),
      fmt::join(a.choice.inputs, " "), fmt::join(a.choice.libraries, " "), a.method,
      a.options.start_time.value_or(NAN), a.options.stop_time.value_or(NAN),
      a.options.tolerance.value_or(NAN), a.options.interval.value_or(NAN),
      a.options.absolute_tolerance.value_or(NAN), a.options.max_step, a.options.max_seconds);
  const PreparedStudy prepared(std::move(study));
  if (prepared.translates_every_run() && work.rank == 0 && !a.quiet)
    say_warning(
        "a varied value decides about the structure of the model, which is translated anew "
        "for every run");

  std::vector<StudyRun> runs;
  {
    const InterruptFlag interrupt;
    StudyProgress progress(prepared.runs(), !a.quiet && work.rank == 0);
    work.stop_requested = interrupt.flag();
    work.progress = [&progress](std::size_t done) { progress.update(done); };
    runs = run_study(prepared, work);
  }
  if (work.rank != 0) return kReached;
  if (runs.empty()) {
    say_error(
        fmt::format("the study was interrupted; finished runs are in '{}', and the same "
                    "command with --resume does the rest",
                    work.journal));
    return kStopped;
  }
  write_study(prepared, runs, a.output);
  remove_journal(work);
  if (!a.report.empty()) write_file(a.report, study_report(prepared, runs));
  if (!a.quiet) {
    tell_summary(prepared, runs);
    tell("  written  {}\n", a.output);
    if (!a.report.empty()) tell("  written  {}\n", a.report);
  }
  std::fflush(stdout);
  tell_failures(runs);
  for (const StudyRun& run : runs)
    if (run.completed) return kReached;
  return kStopped;
}

}  // namespace

void add_sweep_command(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("sweep", "Run a model many times with varied parameters");
  const auto arguments = std::make_shared<SweepArguments>();
  SweepArguments& a = *arguments;
  command->footer(kFooter);
  add_model_options(*command, a.choice);
  const auto repeatable = [&](const char* name, std::vector<std::string>& target, const char* about,
                              const char* text) {
    command->add_option(name, target, about)->allow_extra_args(false)->option_text(text);
  };
  repeatable("--vary", a.vary, "give a parameter or start value several values; repeatable",
             "NAME=VALUES");
  repeatable("--normal", a.normal,
             "sample a parameter from a normal distribution (mean, standard deviation); repeatable",
             "NAME=MEAN,DEVIATION");
  repeatable("--record", a.records, "what is kept of each run; repeatable", "[NAME=]EXPRESSION");
  CLI::Option* grid = command->add_flag("--grid", a.grid, "every combination of values (default)");
  CLI::Option* zip =
      command->add_flag("--zip", a.zip, "first values together, second values together, ...");
  std::vector<CLI::Option*> plans = {grid, zip};
  const auto sampled = [&](const char* name, std::optional<std::size_t>& target,
                           const char* about) {
    plans.push_back(command->add_option(name, target, about)->option_text("N"));
  };
  sampled("--random", a.random, "N independent samples");
  sampled("--latin", a.latin, "N samples, a Latin hypercube");
  sampled("--sobol", a.sobol, "N samples, Sobol's sequence");
  sampled("--indices", a.indices,
          "Sobol indices of the records from N points, which take N (parameters + 2) runs");
  for (CLI::Option* one : plans)
    for (CLI::Option* other : plans)
      if (one != other) one->excludes(other);
  command->add_option("--seed", a.seed, "of random numbers; default 1")->option_text("S");
  command->add_option("--jobs", a.jobs, "runs at once; default: one per processor")
      ->check(CLI::Range(1, 4096))
      ->option_text("N");
  command->add_option("--output", a.output, "default results/study.h5")
      ->option_text("FILE.h5|FILE.csv");
  command->add_option("--report", a.report, "write a page that shows where the modes change")
      ->option_text("FILE.html");
  command->add_flag("--resume", a.resume, "do what is missing of a study that was interrupted");
  add_run_options(*command, a.options, a.method);
  command->add_flag("--quiet", a.quiet, "no summary, no progress; errors still show");
  command->callback([arguments, &status] { status = run_sweep(*arguments); });
}

}  // namespace saltus
