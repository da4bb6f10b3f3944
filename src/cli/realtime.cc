#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/interrupt.h"
#include "cli/load.h"
#include "cli/say.h"
#include "output/json.h"
#include "realtime/export_c.h"
#include "realtime/realtime_run.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(The run is rehearsed first: every mode it meets is analysed, reduced to its states and compiled.
Then each sample is one call that neither allocates nor throws, with bounded work. Modes that are
affine advance exactly, others by a linearly implicit method of order 2. What cannot be prepared is
refused with its cause. --input FILE.csv feeds the inputs of the model: a line 'time,u,...', then
rows; values are held in between.

Examples:
  saltus realtime Saltus.Drivetrain.Examples.Engagement --step 0.01
  saltus realtime drive.mo --step 1e-3 --pace --json -
  saltus realtime drive.mo --step 1e-2 --adjust delta --compare
  saltus realtime drive.mo --step 1e-3 --input pedal.csv
  saltus realtime drive.mo --step 1e-3 --pace --udp 5005 --rehearse pedal.csv
  saltus realtime drive.mo --step 1e-3 --export c/

Exit status: 0 reached the stop time (or the model ended the run); 1 stopped early, or steps had no
finite solution; 2 the input is wrong, or a mode cannot be prepared.)";

struct RealtimeArguments {
  ModelChoice choice;
  RealtimeRunOptions options;
  std::string adjust = "exact";
  std::string events = "full";
  std::string method = "exact";
  std::optional<std::size_t> neighbours;
  std::string export_folder;
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
    tell("  wake-up    median {} late, most {}; {} samples interrupted for longer than a period\n",
         micros(l.late_median), micros(l.late_most), l.interrupted);
  for (std::size_t k = 0; k < result.deviations.size() && k < 5; ++k) {
    const Deviation& d = result.deviations[k];
    tell("  {}  {} off by {:.2e} ({:.1e} of its size) at t = {:.6g}\n",
         k == 0 ? "offline  " : "         ", d.variable, d.largest, d.relative, d.time);
  }
  if (const LinkCounts& c = result.link; c.taken + c.held > 0) {
    tell(
        "  link       {} frames taken, {} samples held; {} lost, {} late, {} repeated, {} "
        "malformed, {} skipped, {} restarts of the sender\n",
        c.taken, c.held, c.lost, c.late, c.repeated, c.malformed, c.skipped, c.restarts);
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
                       {"interrupted", l.interrupted},
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
                        {"steps_not_finite", result.not_finite},
                        {"steps_jumped", result.jumped},
                        {"steps_rough", result.rough}};
  if (!result.inputs.empty()) {
    const LinkCounts& c = result.link;
    object["inputs"] = {{"names", result.inputs},          {"steps_refused", result.refused},
                        {"frames_taken", c.taken},         {"samples_held", c.held},
                        {"frames_lost", c.lost},           {"frames_late", c.late},
                        {"sender_restarts", c.restarts},   {"frames_repeated", c.repeated},
                        {"frames_malformed", c.malformed}, {"frames_skipped", c.skipped}};
  }
  nlohmann::ordered_json deviations = nlohmann::ordered_json::object();
  for (const Deviation& d : result.deviations)
    deviations[d.variable] = {{"largest", d.largest}, {"relative", d.relative}, {"time", d.time}};
  if (!result.deviations.empty()) object["deviation"] = std::move(deviations);
  return object.dump(2) + "\n";
}

int export_model(const HybridSystem& system, const RealtimeArguments& arguments) {
  RealtimeOptions options = arguments.options.engine;
  if (options.rehearsal_inputs.empty()) options.rehearsal_inputs = arguments.options.input_file;
  const RealtimeEngine engine(system, options);
  const CExport made = export_c(engine);
  const std::filesystem::path folder = arguments.export_folder;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(fmt::format("cannot make '{}': {}", folder.string(), failure.message()));
  const std::string header = (folder / (made.name + ".h")).string();
  const std::string source = (folder / (made.name + ".c")).string();
  write_text(made.header, header);
  write_text(made.source, source);
  if (!arguments.quiet)
    tell("{}: step {:g} s, {} modes, {} inputs, {} outputs\n  written    {}\n  written    {}\n",
         engine.name(), options.step, engine.prepared_count(), engine.inputs().size(),
         engine.output_names().size(), header, source);
  return kReached;
}

// --input FILE.csv, among those that say NAME=EXPRESSION.
void take_input_file(RealtimeArguments& arguments) {
  std::vector<std::string>& inputs = arguments.choice.inputs;
  const auto is_file = [](const std::string& input) {
    return input.find('=') == std::string::npos;
  };
  const auto found = std::ranges::find_if(inputs, is_file);
  if (found == inputs.end()) return;
  arguments.options.input_file = *found;
  inputs.erase(found);
  if (std::ranges::any_of(inputs, is_file))
    throw Error("--input takes one file; put all inputs into it");
}

int run_command(RealtimeArguments arguments) {
  take_input_file(arguments);
  const HybridSystem system = load_model(arguments.choice);
  RealtimeOptions& engine = arguments.options.engine;
  if (arguments.adjust == "delta") engine.adjustment = StepAdjustment::kDelta;
  if (arguments.adjust == "none") engine.adjustment = StepAdjustment::kNone;
  if (arguments.events == "propagated") engine.rounds = InstantRounds::kPropagated;
  if (arguments.method == "implicit") engine.method = RealtimeMethod::kImplicit;
  const InputLinkOptions& link = arguments.options.link;
  const bool is_linked = link.udp_port > 0 || !link.shared_memory.empty();
  engine.neighbours = arguments.neighbours.value_or(is_linked ? 64 : 0);
  if (!arguments.export_folder.empty()) return export_model(system, arguments);
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
      ->add_option("--method", a.method,
                   "affine modes by exact matrices and others linearly implicitly (default), or "
                   "all linearly implicitly")
      ->check(CLI::IsMember({"exact", "implicit"}))
      ->option_text("exact|implicit");
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
  command
      ->add_option(
          "--udp", a.options.link.udp_port,
          "take inputs from and send outputs to a control unit over this port of 127.0.0.1")
      ->check(CLI::Range(1, 65535))
      ->option_text("PORT");
  command
      ->add_option("--shm", a.options.link.shared_memory,
                   "the same over POSIX shared memory of this name")
      ->option_text("NAME");
  command
      ->add_option("--wait", a.options.link.wait,
                   "s, at most, for a new frame in each sample; default 0")
      ->check(CLI::Range(0.0, 3600.0))
      ->option_text("T");
  command
      ->add_option(
          "--modes", a.neighbours,
          "modes to prepare besides those that the rehearsal meets, nearest first; default "
          "0, with a link 64")
      ->option_text("N");
  command
      ->add_option("--prepare-seconds", engine.prepare_seconds,
                   "wall time that the preparation may take; default 120")
      ->check(CLI::PositiveNumber)
      ->option_text("S");
  command
      ->add_option("--rehearse", engine.rehearsal_inputs,
                   "inputs for the preparation, as for --input; default: those of --input, else "
                   "the start values")
      ->option_text("FILE.csv");
  command
      ->add_option("--export", a.export_folder,
                   "do not run: write the prepared model as C99, NAME.c and NAME.h")
      ->option_text("DIR");
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
