#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/interrupt.h"
#include "cli/load.h"
#include "cli/say.h"
#include "output/json.h"
#include "realtime/realtime_run.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(The run is rehearsed first: every mode it meets is analysed, reduced to its states and compiled.
Then each sample is one call that neither allocates nor throws, with bounded work. Modes that are
affine advance exactly, others by a linearly implicit method of order 2. What cannot be prepared is
refused with its cause.

Examples:
  saltus realtime Saltus.Drivetrain.Examples.Engagement --step 0.01
  saltus realtime drive.mo --step 1e-3 --pace --json -
  saltus realtime drive.mo --step 1e-2 --adjust delta --compare

Exit status: 0 reached the stop time (or the model ended the run); 1 stopped early, or steps had no
finite solution; 2 the input is wrong, or a mode cannot be prepared.)";

struct RealtimeArguments {
  ModelChoice choice;
  RealtimeRunOptions options;
  std::string adjust = "exact";
  std::string events = "full";
  Destinations to{.folder = {}, .formats = {"csv"}, .report = {}, .json = {}};
  bool quiet = false;
};

std::string micros(double seconds) { return fmt::format("{:.3g} us", 1e6 * seconds); }

void print_summary(const RealtimeResult& result, const RealtimeArguments& arguments,
                   const std::vector<std::string>& written) {
  const Latency& l = result.latency;
  tell("{}: {}\n", result.run.model, result.run.message);
  tell("  step       {:g} s, {} samples\n", result.step, l.steps);
  tell("  modes      {} prepared, {} affine, at most {} states\n", result.prepared, result.affine,
       result.states);
  tell("  events     {} in {} samples\n", result.run.events.size(), l.event_steps);
  tell("  latency    median {}, 99.9 % {}, most {}, {} overruns\n", micros(l.median),
       micros(l.p999), micros(l.most), l.overruns);
  if (l.event_steps > 0) tell("             median {} with an event\n", micros(l.event_median));
  if (arguments.options.paced)
    tell("  wake-up    median {} late, most {}\n", micros(l.late_median), micros(l.late_most));
  for (std::size_t k = 0; k < result.deviations.size() && k < 5; ++k) {
    const Deviation& d = result.deviations[k];
    tell("  {}  {} off by {:.2e} ({:.1e} of its size) at t = {:.6g}\n",
         k == 0 ? "offline  " : "         ", d.variable, d.largest, d.relative, d.time);
  }
  for (const std::string& path : written) tell("  written    {}\n", path);
}

std::string json_text(const RealtimeResult& result) {
  nlohmann::ordered_json object = to_json(result.run);
  const Latency& l = result.latency;
  object["latency"] = {{"step", result.step},
                       {"steps", l.steps},
                       {"median", l.median},
                       {"p999", l.p999},
                       {"max", l.most},
                       {"overruns", l.overruns},
                       {"event_steps", l.event_steps},
                       {"event_median", l.event_median},
                       {"late_median", l.late_median},
                       {"late_max", l.late_most},
                       {"histogram", l.histogram}};
  object["prepared"] = {{"modes", result.prepared},
                        {"affine", result.affine},
                        {"states", result.states},
                        {"steps_unprepared", result.unprepared},
                        {"steps_unsettled", result.unsettled},
                        {"steps_with_events_left", result.left},
                        {"steps_not_finite", result.not_finite}};
  nlohmann::ordered_json deviations = nlohmann::ordered_json::object();
  for (const Deviation& d : result.deviations)
    deviations[d.variable] = {{"largest", d.largest}, {"relative", d.relative}, {"time", d.time}};
  if (!result.deviations.empty()) object["deviation"] = std::move(deviations);
  return object.dump(2) + "\n";
}

int run_command(RealtimeArguments arguments) {
  const HybridSystem system = load_model(arguments.choice);
  RealtimeOptions& engine = arguments.options.engine;
  if (arguments.adjust == "delta") engine.adjustment = StepAdjustment::kDelta;
  if (arguments.adjust == "none") engine.adjustment = StepAdjustment::kNone;
  if (arguments.events == "propagated") engine.rounds = InstantRounds::kPropagated;
  Destinations& to = arguments.to;
  if (to.folder.empty() && to.report.empty() && to.json.empty()) to.folder = "results";
  check_writable(to);
  const InterruptFlag interrupt;
  arguments.options.stop_requested = interrupt.flag();
  const RealtimeResult result = run_realtime(system, arguments.options);
  std::vector<std::string> written;
  std::vector<std::string> failures;
  Destinations files = to;
  files.json.clear();
  write_results(result.run, files, written, failures);
  try {
    if (!to.json.empty()) write_text(json_text(result), to.json);
    if (!to.json.empty() && to.json != "-") written.push_back(to.json);
  } catch (const Error& error) {
    failures.emplace_back(error.what());
  }
  if (!arguments.quiet && to.json != "-") print_summary(result, arguments, written);
  std::fflush(stdout);
  for (const std::string& warning : result.run.warnings) say_warning(warning);
  if (!result.run.completed())
    say_error(fmt::format("{}: {}", result.run.model, result.run.message));
  for (const std::string& failure : failures) say_error(failure);
  return result.run.completed() && failures.empty() ? kReached : kStopped;
}

}  // namespace

void add_realtime_command(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("realtime", "Run a Modelica model with a fixed step, in real time");
  const auto arguments = std::make_shared<RealtimeArguments>();
  RealtimeArguments& a = *arguments;
  RealtimeOptions& engine = a.options.engine;
  command->footer(kFooter);
  add_model_options(*command, a.choice);
  command->add_option("--step", engine.step, "s; default 0.001")->option_text("H");
  command->add_option("--start-time", engine.start_time, "s; default: the model's")
      ->option_text("T");
  command->add_option("--stop-time", engine.stop_time, "s; default: the model's")->option_text("T");
  command
      ->add_option("--adjust", a.adjust,
                   "where an event lies in a sample: found by partial steps (default), on the line "
                   "between the ends of the step, or at its end")
      ->check(CLI::IsMember({"exact", "delta", "none"}))
      ->option_text("exact|delta|none");
  command
      ->add_option("--events", a.events,
                   "rounds of an instant: all of them (default), or one a sample")
      ->check(CLI::IsMember({"full", "propagated"}))
      ->option_text("full|propagated");
  command
      ->add_option("--max-events", engine.max_events,
                   "in one sample, the rest is left to the next; default 8")
      ->option_text("K");
  command
      ->add_option("--store", engine.outputs,
                   "a variable to put out; may be repeated; "
                   "default: all")
      ->allow_extra_args(false)
      ->option_text("NAME");
  command->add_flag("--pace", a.options.paced, "samples begin when their time has come");
  command->add_flag("--fifo", a.options.is_realtime,
                    "ask the system for real-time scheduling and locked memory");
  command->add_flag("--compare", a.options.compare_offline,
                    "also simulate with error control and say how far apart the two are");
  command->add_option("--output", a.to.folder, "directory for the points")->option_text("DIR");
  command->add_option("--report", a.to.report, "write a page with plots, events and modes")
      ->option_text("FILE.html");
  command
      ->add_option("--json", a.to.json,
                   "write a summary with events and latency; - is standard output")
      ->option_text("FILE|-");
  command->add_flag("--quiet", a.quiet, "no summary; errors still show");
  command->callback([arguments, &status] { status = run_command(*arguments); });
}

}  // namespace saltus
