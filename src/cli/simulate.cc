#include "simulate/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/processor_time.h"
#include "base/stop_request.h"
#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/interrupt.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "model/build.h"
#include "model/disjoint.h"
#include "output/model_files.h"
#include "output/report_data.h"
#include "output/result_files.h"
#include "output/selected_signals.h"
#include "output/terminal_plot.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(Without --output, --report and --json the points go to results/MODEL.csv. Missing directories are
made.
Times are in seconds; every other number is in the unit the model gives.

Examples:
  saltus simulate ball --plot h
  saltus simulate ball --set e=0.8 --set h=2 --stop-time 3
  saltus simulate robertson --tolerance 1e-10 --method bdf
  saltus simulate tanks --output results --format csv,mat --report results/tanks.html
  saltus simulate rectifier --interval 0 --json -

Exit status: 0 reached the stop time (or the model ended the run); 1 stopped early, results up to
there are kept; 2 the input is wrong, nothing was integrated.)";

struct SimulateArguments {
  ModelChoice choice;
  std::vector<std::string> ties;
  SimulateOptions options;
  std::string method = "radau";
  std::string chattering = "filippov";
  std::string formulation = "reduced";
  Destinations to{.folder = {}, .formats = {"csv"}, .report = {}, .json = {}};
  std::vector<std::string> plots;
  std::vector<std::string> stored;  // patterns; empty: everything
  bool format_given = false;
  bool quiet = false;
};

// "M1 to 2.07 s, M12 to 2.13 s, M2": the modes in order of time. A long history shows its ends.
std::string mode_sequence(const SimulateResult& result) {
  std::vector<std::string> stretches;
  for (const Event& event : result.events)
    if (event.from != event.to)
      stretches.push_back(fmt::format("{} to {:.6g} s", event.from, event.time));
  constexpr std::size_t kMost = 12;
  if (stretches.size() > kMost) {
    const std::size_t left_out = stretches.size() - kMost;
    stretches.erase(stretches.begin() + kMost / 2, stretches.end() - kMost / 2);
    stretches.insert(stretches.begin() + kMost / 2, fmt::format("... {} more ...", left_out));
  }
  if (!result.events.empty()) stretches.push_back(result.events.back().to);
  if (stretches.empty() && !result.modes.empty()) stretches.push_back(result.modes.front().name);
  return fmt::format("{}", fmt::join(stretches, ", "));
}

// What the numbered modes are: "m2: clutch.locked".
void print_conditions(const SimulateResult& result) {
  const std::vector<std::string> labels = mode_labels(result);
  std::set<std::string> names(result.trajectory.mode_names.begin(),
                              result.trajectory.mode_names.end());
  constexpr std::size_t kMost = 8;
  std::size_t told = 0;
  for (const std::string& label : labels)
    if (!names.contains(label) && told++ < kMost) tell("           {}\n", label);
  if (told > kMost) tell("           ... {} more in the report\n", told - kMost);
}

// The largest changes first are of no use to a reader who looks for a time, so: the first ones.
void print_jumps(const SimulateResult& result) {
  constexpr std::size_t kMost = 6;
  std::size_t told = 0;
  for (const Event& event : result.events) {
    if (event.jumps.empty()) continue;
    if (told++ >= kMost) continue;
    std::vector<std::string> changes;
    for (const auto& [name, values] : event.jumps) {
      if (changes.size() == 3) {
        changes.push_back(fmt::format("{} more", event.jumps.size() - 3));
        break;
      }
      changes.push_back(fmt::format("{} {:.6g} -> {:.6g}", name, values.first, values.second));
    }
    tell("  {} {:.6g} s: {}\n", told == 1 ? "jumps   " : "        ", event.time,
         fmt::join(changes, ", "));
  }
  if (told > kMost) tell("           ... {} more events with jumps\n", told - kMost);
}

void print_summary(const SimulateResult& result, const std::vector<std::string>& written) {
  const Statistics& work = result.statistics;
  // What went wrong is said once, on standard error.
  tell("{}: {}\n", result.model,
       result.completed() ? result.message : fmt::format("stopped at t = {:.10g}", result.time));
  tell("  status   {}\n",
       result.reason == StopReason::kStopTime ? "completed" : to_string(result.reason));
  tell("  time     {:.10g} s\n", result.time);
  tell("  modes    {}: {}\n", result.modes.size(), mode_sequence(result));
  print_conditions(result);
  tell("  events   {}\n", work.events);
  print_jumps(result);
  tell("  steps    {} ({} rejected), {} at tolerance {:g}\n", work.steps, work.rejected,
       result.method, result.tolerance);
  tell("  wall     {:.3g} s\n", work.wall_seconds);
  if (!result.warnings.empty()) tell("  warnings {}\n", result.warnings.size());
  for (const std::string& path : written) tell("  written  {}\n", path);
}

// Files that the model writes while it runs go below the folder of the results, if one was named.
void check_model_files(const HybridSystem& system, const ModelFiles& files, bool has_folder) {
  if (system.flat() == nullptr) return;
  for (const Printing& printing : system.flat()->written.printings) {
    if (printing.file.empty()) continue;
    if (!has_folder)
      throw Error(fmt::format("the model writes to a file, '{}', which needs --output DIR: it goes "
                              "to DIR/files",
                              printing.file),
                  printing.where);
    try {
      (void)files.place_of(printing.file);
    } catch (const Error& error) {
      throw Error(error.message(), printing.where);
    }
  }
}

int run_simulate(SimulateArguments arguments) {
  double translate_seconds = 0.0;
  HybridSystem system = [&] {
    const Stopwatch watch(translate_seconds);
    const StopScope scope(nullptr, arguments.options.max_seconds);
    return load_model(arguments.choice);
  }();
  for (const std::string& tie : arguments.ties) make_disjoint(system, tie);
  SimulateOptions& options = arguments.options;
  options.method = parse_method(arguments.method).value_or(Method::kRadau);
  if (arguments.chattering == "hysteresis") options.chattering = ChatteringAnswer::kHysteresis;
  if (arguments.chattering == "stop") options.chattering = ChatteringAnswer::kStop;
  options.formulation = parse_formulation(arguments.formulation).value_or(Formulation::kReduced);
  Destinations& to = arguments.to;
  const ModelFiles model_files(to.folder + "/files");
  check_model_files(system, model_files, !to.folder.empty());
  const bool nowhere = to.folder.empty() && to.report.empty() && to.json.empty();
  if (nowhere || (to.folder.empty() && arguments.format_given)) to.folder = "results";
  check_writable(to);

  ResultFiles files(to.folder, system.name(), to.formats,
                    !to.report.empty() || !arguments.plots.empty());
  SelectedSignals selected(arguments.stored, files);
  for (const std::string& name : arguments.plots)
    if (!arguments.stored.empty() &&
        std::ranges::none_of(arguments.stored, [&](const auto& p) { return matches(p, name); }))
      throw Error(fmt::format("--plot {}: --store leaves this signal out", name));
  SimulateResult result;
  try {
    const InterruptFlag interrupt;
    ProgressLine line(options.start_time.value_or(system.experiment.start_time),
                      options.stop_time.value_or(system.experiment.stop_time), !arguments.quiet);
    options.stop_requested = interrupt.flag();
    options.progress = [&line](double time) { line.update(time); };
    options.sink = &files;
    if (!arguments.stored.empty()) options.sink = &selected;
    options.print = [&](const std::string& text, const std::string& file) {
      if (!file.empty()) {
        model_files.append(file, text);
      } else if (to.json == "-") {  // which has standard output for itself
        say(text);
      } else {
        tell_line(text);
      }
    };
    result = simulate(system, options);
    result.statistics.translate_seconds = translate_seconds;
    if (const std::string& pattern = selected.unmatched(); !pattern.empty())
      throw Error(fmt::format("--store {}: no variable has a name like this", pattern));
  } catch (...) {
    for (const std::string& path : files.paths())
      say_warning(fmt::format("points up to where the run failed are in '{}'", path));
    throw;
  }
  std::vector<std::string> written;
  std::vector<std::string> failures;
  files.finish(written, failures);
  for (const std::string& note : files.notes()) say_warning(note);
  if (!arguments.stored.empty()) selected.describe(result.trajectory);
  files.move_sample_to(result.trajectory);
  write_summaries(result, to, written, failures);
  if (to.json != "-") {
    if (!arguments.quiet) print_summary(result, written);
    for (const std::string& name : arguments.plots) tell("{}", terminal_plot(result, name));
  }
  std::fflush(stdout);
  // Those of the translation come first and were said when the model was read.
  const std::size_t said = system.flat() == nullptr ? 0 : system.flat()->written.warnings.size();
  for (std::size_t k = said; k < result.warnings.size(); ++k) say_warning(result.warnings[k]);
  if (!result.completed()) say_failure(result.model, result.message);
  for (const std::string& failure : failures) say_error(failure);
  return result.completed() && failures.empty() ? kReached : kStopped;
}

}  // namespace

void add_simulate_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("simulate", "Simulate a model and write the results");
  const auto arguments = std::make_shared<SimulateArguments>();
  SimulateArguments& a = *arguments;
  command->footer(kFooter);
  add_model_options(*command, a.choice);
  command->add_option("--start-time", a.options.start_time, "s; default: the model's, usually 0")
      ->option_text("T");
  command->add_option("--stop-time", a.options.stop_time, "s; default: the model's")
      ->option_text("T");
  command
      ->add_option("--tolerance", a.options.tolerance,
                   "relative error of a step; default: the model's, usually 1e-6")
      ->option_text("R");
  command
      ->add_option("--interval", a.options.interval,
                   "between stored points, s; 0 stores every step; default: the model's, "
                   "else 1/500 of the run")
      ->option_text("H");
  command
      ->add_option("--absolute-tolerance", a.options.absolute_tolerance,
                   "of every unknown, in its unit; default: tolerance x nominal value")
      ->option_text("A");
  std::vector<std::string> methods;
  for (const Method m : kMethods) methods.emplace_back(to_string(m));
  command
      ->add_option("--method", a.method,
                   "radau: Radau IIA of order 5 (default); bdf: variable order, SUNDIALS IDA; "
                   "half-explicit: Runge-Kutta of order 3 on velocity level, for mechanical modes "
                   "that are not stiff; derivative-array: Radau IIA on the derivative array")
      ->check(CLI::IsMember(methods))
      ->option_text("NAME");
  command
      ->add_option("--chattering", a.chattering,
                   "two modes that send the state to each other: slide on the surface between them "
                   "(default), switch with hysteresis, or end the run")
      ->check(CLI::IsMember({"filippov", "hysteresis", "stop"}))
      ->option_text("filippov|hysteresis|stop");
  command
      ->add_option("--hysteresis", a.options.hysteresis,
                   "width, in the unit of the guard; default: 1e-4 x nominal value")
      ->option_text("W");
  command
      ->add_option("--disjoint", a.ties,
                   "where guards FIRST and SECOND of MODE fire at one instant the run goes to mode "
                   "TO (else to that of the guard of better priority); may be repeated")
      ->allow_extra_args(false)
      ->option_text("MODE:FIRST,SECOND:TO");
  std::vector<std::string> formulations;
  for (const Formulation f : kFormulations) formulations.emplace_back(to_string(f));
  command
      ->add_option("--formulation", a.formulation,
                   "how constraints are written before they are integrated (mechanical modes; "
                   "`saltus compare --help` explains them); default reduced")
      ->check(CLI::IsMember(formulations))
      ->option_text("NAME");
  command
      ->add_option("--sensitivity", a.options.sensitivities,
                   "differentiate the end state by this parameter or start value; may be repeated; "
                   "the derivatives are in the JSON summary")
      ->allow_extra_args(false)
      ->option_text("NAME");
  command->add_option("--max-step", a.options.max_step, "no step is longer, s; default: no limit")
      ->option_text("H");
  command
      ->add_option("--max-seconds", a.options.max_seconds,
                   "wall time after which the translation or the run ends; results up to there are "
                   "kept; default: no limit")
      ->check(need_positive)
      ->option_text("S");
  command->add_option("--output", a.to.folder, "directory for the points")->option_text("DIR");
  CLI::Option* format = command->add_option("--format", a.to.formats, "of the points; default csv")
                            ->delimiter(',')
                            ->check(CLI::IsMember({"csv", "mat", "h5"}))
                            ->allow_extra_args(false)
                            ->option_text("csv,mat,h5");
  command
      ->add_option("--store", a.stored,
                   "only signals and parameters whose names fit: * stands for anything, ? for one "
                   "character; may be repeated; default: all")
      ->allow_extra_args(false)
      ->option_text("PATTERN");
  command->add_option("--report", a.to.report, "write a page with plots, events and modes")
      ->option_text("FILE.html");
  command->add_option("--plot", a.plots, "draw this signal in the terminal; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME");
  command
      ->add_option("--json", a.to.json,
                   "write a summary with every event; - is standard output and prints nothing else")
      ->option_text("FILE|-");
  command->add_flag("--quiet", a.quiet, "no summary, no progress line; errors still show");
  for (const char* name : {"--start-time", "--stop-time", "--tolerance", "--interval",
                           "--absolute-tolerance", "--hysteresis", "--max-step"})
    command->get_option(name)->check(need_finite);
  command->callback([arguments, format, &status] {
    arguments->format_given = format->count() > 0;
    status = run_simulate(*arguments);
  });
}

}  // namespace saltus
