#include "simulate/advance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "model/build.h"
#include "simulate/run.h"
#include "simulate/settle.h"

namespace saltus {
namespace {

void warn_of_shared_forces(Run& run) {
  std::vector<std::string> names;
  for (const std::size_t j : run.now.mode->shared())
    names.push_back(fmt::format("'{}'", run.now.mode->unknown_name(j)));
  const std::string split =
      fmt::format("the split between {} is not unique", fmt::join(names, ", "));
  const bool is_known =
      std::ranges::any_of(run.log.result.warnings,
                          [&](const std::string& warning) { return warning.starts_with(split); });
  if (!is_known)
    run.log.result.warnings.push_back(fmt::format(
        "{} from t = {:.10g} on; the least change of them is taken", split, run.now.time));
}

// Whether most steps are rejected and the rest of the run would take more of them than any run is
// allowed: rounding rules the solution, and waiting does not help. Solutions that are fast, but
// that the method follows, have few rejected steps.
bool is_stuck(Run& run) {
  constexpr std::size_t kWindow = 50'000;
  const IntegratorCounts counts = run.now.mode->counts();
  if (run.now.mode != run.progress.mode) {  // each mode has counts of its own
    run.progress = {run.now.mode, counts.steps, counts.rejected, run.now.time};
    return false;
  }
  if (counts.steps < run.progress.steps + kWindow &&
      counts.rejected < run.progress.rejected + kWindow)
    return false;
  const auto steps = static_cast<double>(counts.steps - run.progress.steps);
  const auto rejected = static_cast<double>(counts.rejected - run.progress.rejected);
  const double rate = (run.now.time - run.progress.time) / (steps + rejected);
  run.progress = {run.now.mode, counts.steps, counts.rejected, run.now.time};
  return rejected > 2.0 * steps && (run.settings.stop_time - run.now.time) >
                                       rate * static_cast<double>(run.settings.options.max_steps);
}

// Of what is integrated, in units of its size.
std::size_t fastest_unknown(const Run& run) {
  const std::span<const double> x = run.now.mode->integrator().x();
  const std::span<const double> dx = run.now.mode->integrator().dx();
  const std::vector<double>& nominal = run.now.mode->analysed().dae->definition().nominal;
  std::size_t unknown = 0;
  const auto rate = [&](std::size_t j) { return std::abs(dx[j]) / (std::abs(x[j]) + nominal[j]); };
  for (std::size_t j = 1; j < std::min(x.size(), nominal.size()); ++j)
    if (rate(j) > rate(unknown)) unknown = j;
  return unknown;
}

// Whether the run has reached its stop time so shortly before a pole that the error of the solution
// decides on which side of it that is. An unknown with a pole grows at a rate of the order of the
// pole over the time that is left.
bool ends_at_pole(const Run& run, double pole) {
  constexpr double kShare = 0.1;       // of the tolerance; errors are smaller as a rule
  constexpr double kRounding = 2e-12;  // that adds up
  constexpr double kLeastOrder = 0.2;
  constexpr double kMostOrder = 20.0;
  const RunSettings& settings = run.settings;
  if (run.now.time < settings.stop_time ||
      !(pole - settings.stop_time <
        std::max(kShare * settings.tolerance, kRounding) * settings.length()))
    return false;
  const std::size_t unknown = fastest_unknown(run);
  const double x = run.now.mode->integrator().x()[unknown];
  const double order =
      run.now.mode->integrator().dx()[unknown] / x * (pole - run.now.mode->integrator().time());
  return std::abs(x) > run.now.mode->analysed().dae->definition().nominal[unknown] &&
         order > kLeastOrder && order < kMostOrder;
}

}  // namespace

StepOutcome take_step(Run& run) {
  if (run.now.mode->form_is_stale(run.system, run.now.time, run.now.state)) renew_form(run);
  double limit = run.settings.stop_time;
  if (run.delays != nullptr)
    limit = std::min(limit, run.now.mode->integrator().time() + run.delays->longest_step());
  limit = run.now.mode->limit_step(limit);
  if (run.now.mode->pole_of_time()) {
    catch_up(run);
    return {StepStatus::kPole, 0};
  }
  const bool shared = !run.now.mode->shared().empty();
  const StepOutcome outcome = run.now.mode->step(limit);
  if (!shared && !run.now.mode->shared().empty()) warn_of_shared_forces(run);
  if (!outcome.ok()) catch_up(run);
  if (outcome.status == StepStatus::kRanksChanged && continue_by_numbers(run))
    return run.now.mode->step(limit);
  if (!outcome.ok()) return outcome;
  if (const std::optional<std::size_t> unmet = run.now.mode->contradicted_equation()) {
    run.rank_change = fmt::format("just after, {} contradicts other equations",
                                  run.now.mode->equation_name(*unmet));
    return {StepStatus::kRanksChanged, *unmet};
  }
  return outcome;
}

const Firing& watch_guards(Run& run) {
  return run.now.mode->watch().examine(run.now.mode->integrator());
}

void accept_step(Run& run, const Firing& firing) {
  log_grazings(run);
  if (firing.at_step_start) {
    catch_up(run);
    run.now.time = firing.time;
    return;  // the state is still that of the step's start
  }
  run.log.recorder->store_step(*run.now.mode, run.now.state, firing.fired());
  if (run.delays != nullptr) run.delays->store_step(*run.now.mode, run.now.state);
  run.now.time = run.now.mode->integrator().time();
  run.now.is_behind = !firing.fired() && run.delays == nullptr &&
                      run.now.mode->may_be_read_later() &&
                      (run.events == nullptr || run.system.flat()->reduced.assertions.empty());
  if (firing.fired()) {
    run.now.mode->read_event_point(run.now.state);
  } else if (!run.now.is_behind) {
    run.now.mode->read_point(run.now.state);
  }
  if (run.tangents != nullptr) run.tangents->step(*run.now.mode);
  check_assertions(run);
  run.now.mode->measure_constraints(run.now.time, run.now.state, firing.fired());
  if (firing.fired()) {
    run.poles.forget();
  } else {
    run.poles.note(run.now.time);
  }
  if (run.settings.options.progress) run.settings.options.progress(run.now.time);
}

void catch_up(Run& run) {
  if (!run.now.is_behind) return;
  run.now.is_behind = false;
  if (run.now.mode->integrator().time() == run.now.time) {
    run.now.mode->read_point(run.now.state);
  } else {
    run.now.mode->read_interpolated(run.now.time, run.now.state);
  }
}

void check_limits(Run& run) {
  if (run.log.stopped) return;
  const std::size_t steps = run.now.mode->counts().steps;
  if (!run.log.recorder->failure().empty()) {
    stop(run, StopReason::kOutputFailed, run.log.recorder->failure());
  } else if (is_interrupted(run)) {
    stop(run, StopReason::kInterrupted, fmt::format("interrupted {}", place_of(run)));
  } else if (steps >= run.settings.options.max_steps) {
    stop(run, StopReason::kLimit,
         fmt::format("the limit of {} steps is reached {}", run.settings.options.max_steps,
                     place_of(run)));
  } else if (run.log.result.events.size() + run.log.silent_events >=
             run.settings.options.max_events) {
    stop(run, StopReason::kLimit,
         fmt::format("the limit of {} events is reached {}; '{}' was the last",
                     run.settings.options.max_events, place_of(run), run.instant.guard));
  } else if (is_stuck(run)) {
    const std::size_t unknown = fastest_unknown(run);
    stop(run, StopReason::kStepSizeTooSmall,
         fmt::format(
             "most steps are rejected {}, and the rest of the run would take more than {} of "
             "them: the solution is unstable or not smooth, and rounding rules it; '{}' "
             "changes fastest{}",
             place_of(run), run.settings.options.max_steps, run.now.mode->unknown_name(unknown),
             equation_for(run, unknown)));
  } else if (const double pole = run.poles.time(); ends_at_pole(run, pole)) {
    const std::size_t unknown = fastest_unknown(run);
    stop(run, StopReason::kStepSizeTooSmall,
         fmt::format("the solution goes to infinity {}, at about t = {:.10g}: so near to that the "
                     "values have no accuracy; '{}' changes fastest{}",
                     place_of(run), pole, run.now.mode->unknown_name(unknown),
                     equation_for(run, unknown)));
  } else if (std::isfinite(run.settings.options.max_seconds) &&
             elapsed(run) > run.settings.options.max_seconds) {
    stop(run, StopReason::kLimit,
         fmt::format("the time limit of {} s is reached {}", run.settings.options.max_seconds,
                     place_of(run)));
  }
}

void stop_for(Run& run, const StepOutcome& outcome) {
  switch (outcome.status) {
    case StepStatus::kNotFinite:
      stop(run, StopReason::kNotFinite,
           fmt::format("{} is not finite just after {}", run.now.mode->equation_name(outcome.index),
                       place_of(run)));
      return;
    case StepStatus::kPole:
      stop(run, StopReason::kNotFinite,
           fmt::format("{} goes to infinity {}", *run.now.mode->pole_of_time(), place_of(run)));
      return;
    case StepStatus::kSingular:
      stop(run, StopReason::kSingular,
           fmt::format("the iteration matrix is singular {}: the equations do not determine '{}'{}",
                       place_of(run), run.now.mode->unknown_name(outcome.index),
                       equation_for(run, outcome.index)));
      return;
    case StepStatus::kRanksChanged:
      stop(run, StopReason::kSingular,
           fmt::format("the characteristic values changed {}: {}", place_of(run), run.rank_change));
      return;
    default:
      stop(run, StopReason::kStepSizeTooSmall,
           fmt::format("the step size fell below rounding {}; '{}' changes fastest{}: a "
                       "singularity, or a discontinuity that is not written as a guard",
                       place_of(run), run.now.mode->unknown_name(outcome.index),
                       equation_for(run, outcome.index)));
  }
}

}  // namespace saltus
