#include "simulate/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/stop_request.h"
#include "expr/differentiate.h"
#include "model/build.h"
#include "model/input_data.h"
#include "model/system_state.h"
#include "simulate/advance.h"
#include "simulate/event_iteration.h"
#include "simulate/settle.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kDefaultPoints = 500.0;
constexpr double kCoarseTime = 1e-7;  // of the run, from one number to the next
constexpr double kMostPoints = 1e8;   // a disk full of points is a mistake in the interval

void require(bool condition, const std::string& message) {
  if (!condition) throw Error(message);
}

RunSettings settings_for(const HybridSystem& system, const SimulateOptions& options) {
  RunSettings result;
  result.options = options;
  result.options.formulation = formulation_for(options.method, options.formulation);
  result.start_time = options.start_time.value_or(system.experiment.start_time);
  result.stop_time = options.stop_time.value_or(system.experiment.stop_time);
  result.tolerance = options.tolerance.value_or(system.experiment.tolerance);
  result.interval = options.interval.value_or(
      system.experiment.interval.value_or(result.length() / kDefaultPoints));
  return result;
}

void check(const RunSettings& settings) {
  const auto& [options, start_time, stop_time, tolerance, interval] = settings;
  require(std::isfinite(start_time) && std::isfinite(stop_time) && stop_time >= start_time,
          fmt::format("stop time {} must not be before start time {}, and both must be finite",
                      stop_time, start_time));
  require(tolerance > 0.0 && tolerance < 1.0,
          fmt::format("tolerance {} must lie between 0 and 1, for example 1e-6", tolerance));
  require(
      tolerance >= 1e-14,
      fmt::format("tolerance {} is below what double precision allows; 1e-12 is a sensible minimum",
                  tolerance));
  require(!options.absolute_tolerance ||
              (*options.absolute_tolerance > 0.0 && std::isfinite(*options.absolute_tolerance)),
          fmt::format("absolute tolerance {} must be positive and finite",
                      options.absolute_tolerance.value_or(0.0)));
  require(std::isfinite(interval) && interval >= 0.0,
          fmt::format("interval {} must be zero (every step) or positive", interval));
  require(interval == 0.0 || settings.length() / interval <= kMostPoints,
          fmt::format("interval {} would store more than {:g} points between {} and {}", interval,
                      kMostPoints, start_time, stop_time));
  require(options.max_step > 0.0,
          fmt::format("largest step {} must be positive", options.max_step));
  require_few_steps(settings, options.max_step, "largest step");
  require(
      options.first_step >= 0.0,
      fmt::format("first step {} must be positive, or 0 to let Saltus choose", options.first_step));
  require(!options.hysteresis || (*options.hysteresis > 0.0 && std::isfinite(*options.hysteresis)),
          fmt::format("width {} of hysteresis must be positive and finite",
                      options.hysteresis.value_or(0.0)));
  require(options.baumgarte > 0.0,
          fmt::format("Baumgarte's alpha {} must be positive", options.baumgarte));
  const std::string objection = objection_to(options.method, options.formulation);
  require(objection.empty(), objection);
}

void list_derived_values(Run& run) {
  std::vector<Expr> values;
  for (const Derived& d : run.system.derived()) values.push_back(d.value);
  if (values.empty()) return;
  const Tape tape(values, state_inputs(run.system), TapeCode::kInterpreted);
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> parameters, results(values.size());
  for (const Parameter& p : run.system.parameters()) parameters.push_back(p.value);
  const SystemState& at = run.now.mode == nullptr
                              ? run.now.state
                              : run.log.recorder->shown(run.now.mode->analysed().id, run.now.state);
  const double* inputs[] = {&run.now.time, at.values.data(), at.slopes.data(), parameters.data(),
                            at.slots.data()};
  tape.evaluate(inputs, registers, results.data());
  for (std::size_t k = 0; k < values.size(); ++k)
    run.log.result.final[run.system.derived()[k].name] = results[k];
}

}  // namespace

Run::Run(const HybridSystem& of, const SimulateOptions& options)
    : system(of), settings(settings_for(of, options)), zeno(settings.tolerance) {
  const BuildingTime building;
  if (system.flat() == nullptr) {
    validate(system);
  } else {
    check_determined(system);
  }
  for (const Mode& mode : system.modes()) check_structure(system, mode);
  check(settings);
  require_data(system, settings.start_time, settings.stop_time);
  modes.runs.resize(system.modes().size());
  log.recorder = std::make_unique<Recorder>(system, settings.start_time, settings.stop_time,
                                            settings.interval, options.sink);
  if (system.flat() != nullptr) {
    log.messages = std::make_unique<Messages>(system);
    log.recorder->watch_bounds(system.flat()->reduced.bounds, settings.tolerance);
  }
  now.time = instant.time = settings.start_time;
  now.state = start_state(system);
  if (!options.sensitivities.empty())
    tangents = std::make_unique<Sensitivities>(system, options.sensitivities);
  log.result.model = system.name();
  log.result.drawing = system.experiment.drawing;
  log.result.method = to_string(options.method);
  log.result.formulation = to_string(settings.options.formulation);
  log.result.tolerance = settings.tolerance;
  const double resolution =
      kEpsilon * std::max(std::abs(settings.start_time), std::abs(settings.stop_time));
  if (resolution > kCoarseTime * settings.length() && settings.length() > 0.0)
    log.result.warnings.push_back(
        fmt::format("time has only {:.0f} different values between {:g} and {:g}; steps and events "
                    "cannot be placed exactly: let the run start at 0",
                    settings.length() / resolution, settings.start_time, settings.stop_time));
}

Run::~Run() = default;

ModeOptions mode_options(const RunSettings& settings) {
  const SimulateOptions& options = settings.options;
  return {.method = options.method,
          .formulation = options.formulation,
          .baumgarte = options.baumgarte,
          .measure_constraints = options.measure_constraints,
          .tolerance = settings.tolerance,
          .absolute_tolerance = options.absolute_tolerance,
          .first_step = options.first_step,
          .max_step = options.max_step};
}

void require_few_steps(const RunSettings& settings, double longest, const char* what) {
  const std::size_t most = settings.options.max_steps;
  require(settings.length() / longest <= static_cast<double>(most),
          fmt::format("{} {:g}: between {:g} and {:g} that makes more than {} steps", what, longest,
                      settings.start_time, settings.stop_time, most));
}

bool is_running(const Run& run) {
  return !run.log.stopped && run.now.time < run.settings.stop_time;
}

const SystemState& present_state(Run& run) {
  catch_up(run);
  return run.now.state;
}

bool is_interrupted(const Run& run) {
  return run.settings.options.stop_requested != nullptr &&
         run.settings.options.stop_requested->load();
}

void stop(Run& run, StopReason reason, std::string message) {
  run.log.stopped = true;
  run.log.result.reason = reason;
  run.log.result.message = std::move(message);
}

void abandon(Run& run, const StopRequested& request) {
  run.log.is_abandoned = true;  // the present mode may be half replaced: nothing is asked of it
  stop(
      run, request.time_is_up() ? StopReason::kLimit : StopReason::kInterrupted,
      fmt::format("{} at t = {:.10g}, within the start or an event", request.what(), run.now.time));
}

std::string equation_for(const Run& run, std::size_t unknown) {
  const std::string& name = run.now.mode->unknown_name(unknown);
  const std::vector<Equation>& equations = run.now.mode->mode().equations;
  std::size_t found = equations.size();
  for (std::size_t i = equations.size(); i-- > 0;) {
    const Expr& left = equations[i].equality.lhs;
    bool occurs = false;
    for (const Expr& leaf : leaves_of(equations[i].residual()))
      occurs = occurs || (leaf.is_variable() &&
                          leaf.node()->variable().index() < run.system.variables().size() &&
                          run.system.variable(leaf.node()->variable()).name == name);
    if (!occurs) continue;
    found = i;
    if (left.is_variable() && run.system.variable(left.node()->variable()).name == name) break;
  }
  return found == equations.size() ? ""
                                   : ", see " + saltus::equation_name(run.now.mode->mode(), found);
}

std::string place_of(const Run& run) {
  return fmt::format("at t = {:.10g} in mode '{}'", run.now.time, run.now.mode->mode().name);
}

double elapsed(const Run& run) { return RunClock::since(run.clock.begun); }

SimulateResult finish(Run& run) {
  if (run.now.mode != nullptr && !run.log.is_abandoned) {
    catch_up(run);
    run.now.mode->report().seconds += RunClock::since(run.clock.mode_entered);
    if (run.log.recorder->last_time() != run.now.time)
      run.log.recorder->store(run.now.time, run.now.mode->analysed().id, run.now.state);
  }
  if (!run.log.recorder->failure().empty() && !run.log.stopped)
    stop(run, StopReason::kOutputFailed, run.log.recorder->failure());
  // The run is over; what follows writes its summary.
  Statistics& total = run.log.result.statistics;
  total.analyse_seconds = BuildingTime::total() - run.clock.building_begun;
  total.integrate_seconds = processor_seconds() - run.clock.processor_begun - total.analyse_seconds;
  if (!run.log.stopped) {
    run.log.result.reason = StopReason::kStopTime;
    run.log.result.message = fmt::format("reached the stop time {:g}", run.settings.stop_time);
  }
  run.log.result.time = run.now.time;
  const SystemState& at = run.now.mode == nullptr
                              ? run.now.state
                              : run.log.recorder->shown(run.now.mode->analysed().id, run.now.state);
  for (std::size_t i = 0; i < at.values.size(); ++i)
    if (!is_internal(run.system.variables()[i].name))
      run.log.result.final[run.system.variables()[i].name] = at.values[i];
  if (run.tangents != nullptr && !run.log.is_abandoned) {
    run.log.result.sensitivities =
        run.tangents->results(run.system, run.now.mode, run.now.time, run.now.state);
    if (!run.tangents->problem().empty())
      run.log.result.warnings.push_back("no sensitivities: " + run.tangents->problem());
  }
  list_derived_values(run);
  if (run.log.messages != nullptr)
    run.log.result.message =
        run.log.messages->filled(run.log.result.message, run.now.time, run.now.state);
  for (const std::string& warning : run.log.recorder->bound_warnings())
    run.log.result.warnings.push_back(warning);
  if (run.events != nullptr) describe_flat_modes(run);
  for (const ModeId id : run.modes.visited) {
    // Its analysis was refused, or an event iteration only passed through it.
    if (run.modes.runs[id.index()] == nullptr || run.modes.runs[id.index()]->report().visits == 0)
      continue;
    ModeRun& mode = *run.modes.runs[id.index()];
    const IntegratorCounts counts = mode.counts();
    Statistics& s = mode.report().statistics;
    s.steps = counts.steps;
    s.rejected = counts.rejected;
    s.residuals = counts.residuals;
    s.jacobians = counts.jacobians;
    s.factorizations = counts.factorizations;
    s.newton_iterations = counts.newton_iterations;
    total += s;
    run.log.result.modes.push_back(mode.report());
    run.log.result.residuals |= mode.constraint_residuals();
  }
  total.events = run.log.result.events.size();
  total.wall_seconds = elapsed(run);
  run.log.result.trajectory = std::move(run.log.recorder->trajectory());
  return std::move(run.log.result);
}

}  // namespace saltus
