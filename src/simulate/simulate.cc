#include "simulate/simulate.h"

#include "simulate/simulation.h"

namespace saltus {

SimulateResult simulate(const HybridSystem& system, const SimulateOptions& options) {
  Simulation simulation(system, options);
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
  return simulation.finish();
}

}  // namespace saltus
