#include "simulate/simulate.h"

#include "base/stop_request.h"
#include "simulate/advance.h"
#include "simulate/run.h"
#include "simulate/run_until.h"
#include "simulate/settle.h"

namespace saltus {

void run_to_end(Run& run) {
  enter_initial_mode(run);
  run_until(run, run.settings.stop_time);
  settle_end(run);
}

void run_until(Run& run, double time) {
  run.settings.stop_time = time;
  while (is_running(run)) {
    const StepOutcome outcome = take_step(run);
    if (!outcome.ok()) {
      stop_for(run, outcome);
      break;
    }
    const Firing& firing = watch_guards(run);
    if (!firing.outcome.ok()) {
      stop_for(run, firing.outcome);
      break;
    }
    accept_step(run, firing);
    if (firing.fired()) settle(run, firing);
    check_limits(run);
  }
}

SimulateResult simulate(const HybridSystem& system, const SimulateOptions& options) {
  constexpr double kGrace = 0.5;  // s; between steps the run ends by itself
  const StopScope scope(options.stop_requested, options.max_seconds, kGrace);
  Run run(system, options);
  try {
    run_to_end(run);
  } catch (const StopRequested& request) {  // within an event or an iteration, not between steps
    abandon(run, request);
  }
  return finish(run);
}

}  // namespace saltus
