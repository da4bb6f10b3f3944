#include "examples/evaporator/evaporator.h"

namespace saltus {

HybridSystem make_evaporator() {
  HybridSystem system("evaporator");
  const Expr rb = system.parameter("R_b", 1.0, {.description = "resistance of evaporation"});
  const Expr rp = system.parameter("R_p", 0.5, {.description = "resistance of the overflow pipe"});
  const Expr inertia = system.parameter("I", 0.5, {.description = "inertia of the overflow pipe"});
  const Expr c = system.parameter("C", 15.0, {.description = "capacity of the vessel"});
  const Expr f_in = system.parameter("f_in", 0.25, {.description = "inflow"});
  const Expr threshold = system.parameter("L_th", 0.08, {.description = "height of the pipe"});
  const Expr p =
      system.variable("p", {.start = 0.05, .nominal = 0.1, .description = "momentum in the pipe"});
  const Expr level = system.variable("L", {.start = 0.06, .nominal = 0.1, .description = "level"});

  Mode& below = system.mode("below");
  below.equations = {{"pipe", inertia * der(p) == -rp * p},
                     {"vessel", c * der(level) == -level / rb + f_in}};
  below.guards = {{.name = "rises", .value = threshold - level, .to = "overflow"}};

  Mode& overflow = system.mode("overflow");
  overflow.equations = {{"pipe", inertia * der(p) == -rp * p + level},
                        {"vessel", c * der(level) == -p / inertia - level / rb + f_in}};
  overflow.guards = {{.name = "falls", .value = level - threshold, .to = "below"}};

  system.experiment = {.stop_time = 20.0, .interval = 0.05};
  return system;
}

}  // namespace saltus
