#include "examples/rectifier/rectifier.h"

#include <numbers>

namespace saltus {

HybridSystem make_rectifier() {
  HybridSystem rectifier("rectifier");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return rectifier.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr V = parameter("V", 325.0, "V", "amplitude of the source");
  const Expr f = parameter("f", 50.0, "Hz", "frequency of the source");
  const Expr Rs = parameter("Rs", 1.0, "Ohm", "resistance of the source");
  const Expr Ls = parameter("Ls", 2e-3, "H", "inductance of the source");
  const Expr C = parameter("C", 470e-6, "F", "smoothing capacitor");
  const Expr R = parameter("R", 100.0, "Ohm", "load");

  const auto variable = [&](const char* name, double nominal, const char* unit, const char* text) {
    return rectifier.variable(name, {.nominal = nominal, .unit = unit, .description = text});
  };
  const Expr i = variable("i", 10.0, "A", "current out of the source");
  const Expr u = variable("u", 100.0, "V", "voltage of capacitor and load");
  const Expr v_ab = variable("v_ab", 100.0, "V", "voltage at the terminals of the bridge");
  const Expr i_pos = variable("i_pos", 10.0, "A", "current through diodes 1 and 4");
  const Expr i_neg = variable("i_neg", 10.0, "A", "current through diodes 2 and 3");
  const Expr v_pos = variable("v_pos", 100.0, "V", "forward voltage of diodes 1 and 4, each");
  const Expr v_neg = variable("v_neg", 100.0, "V", "forward voltage of diodes 2 and 3, each");
  const Expr i_load = variable("i_load", 1.0, "A", "current through the load");

  const Expr source = V * sin(2.0 * std::numbers::pi * f * rectifier.time());
  const Equation inductive{"source", Ls * der(i) + Rs * i + v_ab == source};
  // With all diodes off i = 0 follows from the bridge. Keeping the inductance there would make the
  // mode of index 2.
  const Equation unloaded{"source", v_ab == source};
  const auto circuit = [&](const Equation& source_law, const Equality& law1, const Equality& law2) {
    return std::vector<Equation>{source_law,
                                 {"current into the bridge", i == i_pos - i_neg},
                                 {"loop through diodes 1 and 4", 2.0 * v_pos == v_ab - u},
                                 {"loop through diodes 2 and 3", 2.0 * v_neg == -v_ab - u},
                                 {"capacitor", C * der(u) == i_pos + i_neg - i_load},
                                 {"load", R * i_load == u},
                                 {"diodes 1 and 4", law1},
                                 {"diodes 2 and 3", law2}};
  };

  Mode& blocking = rectifier.mode("blocking");
  blocking.equations = circuit(unloaded, i_pos == 0.0, i_neg == 0.0);
  blocking.guards = {{.name = "diodes 1 and 4 forward", .value = -v_pos, .to = "positive"},
                     {.name = "diodes 2 and 3 forward", .value = -v_neg, .to = "negative"}};
  Mode& positive = rectifier.mode("positive");
  positive.equations = circuit(inductive, v_pos == 0.0, i_neg == 0.0);
  positive.guards = {{.name = "diodes 1 and 4 off", .value = i_pos, .to = "blocking"}};
  Mode& negative = rectifier.mode("negative");
  negative.equations = circuit(inductive, i_pos == 0.0, v_neg == 0.0);
  negative.guards = {{.name = "diodes 2 and 3 off", .value = i_neg, .to = "blocking"}};

  rectifier.experiment = {.stop_time = 0.2, .interval = 2e-4};
  return rectifier;
}

}  // namespace saltus
