#include "examples/clutch/clutch.h"

namespace saltus {

HybridSystem make_clutch() {
  HybridSystem clutch("clutch");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return clutch.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr J1 = parameter("J1", 1.0, "kg.m2", "inertia of the first shaft");
  const Expr J2 = parameter("J2", 2.0, "kg.m2", "inertia of the second shaft");
  const Expr d = parameter("d", 1.0, "N.m.s", "drag of the second shaft");
  const Expr t_close = parameter("t_close", 0.5, "s", "the clutch closes");
  const Expr t_open = parameter("t_open", 1.5, "s", "the clutch opens");

  const Expr w1 = clutch.variable("w1", {.start = 10.0, .unit = "rad/s", .description = "speed"});
  const Expr w2 = clutch.variable("w2", {.unit = "rad/s", .description = "speed"});
  const Expr tau = clutch.variable(
      "tau", {.unit = "N.m", .description = "torque through the clutch, on the second shaft"});

  const Equation first{"first shaft", J1 * der(w1) == -tau};
  const Equation second{"second shaft", J2 * der(w2) == tau - d * w2};
  const Equation apart{"open clutch", tau == 0.0};

  Mode& before = clutch.mode("open");
  before.equations = {first, second, apart};
  before.guards = {{.name = "closes", .value = t_close - clutch.time(), .to = "closed"}};

  Mode& closed = clutch.mode("closed");
  closed.equations = {first, second, {"closed clutch", w1 == w2}};
  closed.guards = {{.name = "opens", .value = t_open - clutch.time(), .to = "open again"}};

  clutch.mode("open again").equations = {first, second, apart};

  clutch.experiment = {.stop_time = 3.0, .interval = 0.01};
  return clutch;
}

}  // namespace saltus
