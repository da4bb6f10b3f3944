#include "examples/capacitors/capacitors.h"

namespace saltus {

HybridSystem make_capacitors() {
  HybridSystem pump("capacitors");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return pump.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr U = parameter("U", 5.0, "V", "source");
  const Expr C1 = parameter("C1", 1e-6, "F", "capacitor that is switched");
  const Expr C2 = parameter("C2", 10e-6, "F", "capacitor of the load");
  const Expr R = parameter("R", 10e3, "Ohm", "load");
  const Expr half = parameter("half", 0.5e-3, "s", "half a period of the switches");

  const Expr u1 = pump.variable("u1", {.start = U, .unit = "V", .description = "voltage of C1"});
  const Expr u2 = pump.variable("u2", {.unit = "V", .description = "voltage of C2"});
  const Expr i1 =
      pump.variable("i1", {.nominal = 1e-3, .unit = "A", .description = "current into C1"});
  const Expr next = pump.variable("next", {.start = half, .unit = "s", .description = "switches"});

  const Equation small{"C1", C1 * der(u1) == i1};
  const Guard turn{.name = "switch", .value = next - pump.time(), .set = {{next, next + half}}};

  Mode& charging = pump.mode("charging");
  charging.equations = {small, {"C2", C2 * der(u2) == -u2 / R}, {"at the source", u1 == U}};
  charging.guards = {turn};
  charging.guards[0].to = "sharing";

  Mode& sharing = pump.mode("sharing");
  sharing.equations = {small, {"C2", C2 * der(u2) == -i1 - u2 / R}, {"in parallel", u1 == u2}};
  sharing.guards = {turn};
  sharing.guards[0].to = "charging";

  pump.experiment = {.stop_time = 0.03, .tolerance = 1e-8, .interval = 5e-5};
  return pump;
}

}  // namespace saltus
