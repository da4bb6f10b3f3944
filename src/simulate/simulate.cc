#include "simulate/simulate.h"

#include "base/stop_request.h"
#include "simulate/simulation.h"

namespace saltus {

void run_to_end(Simulation& simulation) {
  simulation.enter_initial_mode();
  while (simulation.running()) {
    const StepOutcome outcome = simulation.step();
    if (!outcome.ok()) {
      simulation.stop_for(outcome);
      break;
    }
    const Firing& firing = simulation.watch_guards();
    if (!firing.outcome.ok()) {
      simulation.stop_for(firing.outcome);
      break;
    }
    simulation.accept_step(firing);
    if (firing.fired()) simulation.settle(firing);
    simulation.check_limits();
  }
  simulation.settle_end();
}

SimulateResult simulate(const HybridSystem& system, const SimulateOptions& options) {
  constexpr double kGrace = 0.5;  // s; between steps the run ends by itself
  const StopScope scope(options.stop_requested, options.max_seconds, kGrace);
  Simulation simulation(system, options);
  try {
    run_to_end(simulation);
  } catch (const StopRequested& request) {  // within an event or an iteration, not between steps
    simulation.abandon(request);
  }
  return simulation.finish();
}

}  // namespace saltus
