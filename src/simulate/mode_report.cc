#include "simulate/mode_report.h"

namespace saltus {

Statistics& Statistics::operator+=(const Statistics& other) {
  steps += other.steps;
  rejected += other.rejected;
  residuals += other.residuals;
  jacobians += other.jacobians;
  factorizations += other.factorizations;
  newton_iterations += other.newton_iterations;
  events += other.events;
  translate_seconds += other.translate_seconds;
  analyse_seconds += other.analyse_seconds;
  integrate_seconds += other.integrate_seconds;
  wall_seconds += other.wall_seconds;
  return *this;
}

}  // namespace saltus
