#include "examples/km16/km16.h"

namespace saltus {

HybridSystem make_km16() {
  HybridSystem pendulum("km16");
  const Expr m = pendulum.parameter("m", 1.0, {.unit = "kg", .description = "mass"});
  const Expr g = pendulum.parameter("g", 9.81, {.unit = "m/s2", .description = "gravity"});
  const Expr l = pendulum.parameter("l", 1.0, {.unit = "m", .description = "length"});
  const Expr q0 = pendulum.parameter("q0", 1.0, {.unit = "rad", .description = "start angle"});
  const Expr p = pendulum.variable("p", {.unit = "kg.m/s", .description = "momentum"});
  const Expr q = pendulum.variable(
      "q", {.start = q0, .unit = "rad", .description = "angle from the lowest point"});

  // With l = 1 the paper's Hamiltonian is that of the pendulum.
  const Expr energy = p * p / (2.0 * m) - m * g * l * cos(q);
  const Expr start_energy = -m * g * l * cos(q0);
  Mode& swinging = pendulum.mode("swinging");
  swinging.equations = {{"momentum", der(p) == -m * g * l * sin(q)}, {"angle", der(q) == p / m}};
  swinging.guards = {{.name = "energy", .value = energy - start_energy, .to = "broken"}};
  // Reached only if rounding made the energy fall below its start.
  Mode& broken = pendulum.mode("broken");
  broken.equations = {der(p) == 0.0, der(q) == 0.0};

  pendulum.derive("energy change", energy - start_energy, {.unit = "J"});
  pendulum.experiment = {.stop_time = 10.0, .tolerance = 1e-8, .interval = 0.0};
  return pendulum;
}

}  // namespace saltus
