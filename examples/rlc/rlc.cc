#include "examples/rlc/rlc.h"

namespace saltus {

HybridSystem make_rlc() {
  HybridSystem rlc("rlc");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return rlc.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr E = parameter("E", 10.0, "V", "source, switched on at the start");
  const Expr R = parameter("R", 20.0, "Ohm", "in series with the source");
  const Expr L = parameter("L", 1e-2, "H", "in series with the source");
  const Expr C1 = parameter("C1", 1e-6, "F", "node 1 to ground");
  const Expr C2 = parameter("C2", 2e-6, "F", "node 1 to node 2");
  const Expr C3 = parameter("C3", 3e-6, "F", "node 2 to ground");
  const Expr G = parameter("G", 1e-3, "S", "load at node 2");

  const auto variable = [&](const char* name, double nominal, const char* unit, const char* text) {
    return rlc.variable(name, {.nominal = nominal, .unit = unit, .description = text});
  };
  const Expr i = variable("i", 0.1, "A", "current of the source");
  const Expr v1 = variable("v1", 10.0, "V", "voltage of C1");
  const Expr v2 = variable("v2", 10.0, "V", "voltage of C2");
  const Expr v3 = variable("v3", 10.0, "V", "voltage of C3");
  const Expr i1 = variable("i1", 0.1, "A", "current into C1");
  const Expr i2 = variable("i2", 0.1, "A", "current into C2");
  const Expr i3 = variable("i3", 0.1, "A", "current into C3");
  const Expr q_source = variable("q_source", 1e-5, "C", "charge the source has delivered");
  const Expr q_load = variable("q_load", 1e-5, "C", "charge that has passed the load");

  Mode& on = rlc.mode("on");
  on.equations = {{"inductor", L * der(i) == E - R * i - v1},
                  {"capacitor 1", C1 * der(v1) == i1},
                  {"capacitor 2", C2 * der(v2) == i2},
                  {"capacitor 3", C3 * der(v3) == i3},
                  {"node 1", i == i1 + i2},
                  {"node 2", i2 == i3 + G * v3},
                  {"loop of the capacitors", v1 == v2 + v3},
                  {"charge of the source", der(q_source) == i},
                  {"charge of the load", der(q_load) == G * v3}};

  rlc.experiment = {.stop_time = 6e-3, .tolerance = 1e-8, .interval = 1e-5};
  return rlc;
}

}  // namespace saltus
