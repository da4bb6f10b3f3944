#include "examples/stick_slip/stick_slip.h"

namespace saltus {

HybridSystem make_stick_slip() {
  HybridSystem system("stick_slip");
  const Expr m = system.parameter("m", 1.0, {.unit = "kg", .description = "mass of the block"});
  const Expr k = system.parameter("k", 1.0, {.unit = "N/m", .description = "spring"});
  const Expr belt = system.parameter("v_belt", 0.2, {.unit = "m/s", .description = "belt speed"});
  const Expr f0 = system.parameter("F0", 1.0, {.unit = "N", .description = "largest friction"});
  const Expr fall =
      system.parameter("gamma", 3.0, {.unit = "s/m", .description = "weakening of friction"});
  const Expr x = system.variable("x", {.unit = "m", .description = "stretch of the spring"});
  const Expr v = system.variable("v", {.unit = "m/s", .description = "speed of the block"});
  const Expr f = system.variable("F", {.unit = "N", .description = "friction on the block"});

  // The block is slower than the belt, which drags it along, or faster.
  for (const bool slower : {true, false}) {
    Mode& mode = system.mode(slower ? "slower" : "faster");
    const Expr slip = slower ? belt - v : v - belt;
    mode.equations = {{"speed", der(x) == v},
                      {"momentum", m * der(v) == -k * x + f},
                      {"friction", f == (slower ? 1.0 : -1.0) * f0 / (1.0 + fall * slip)}};
    mode.guards = {{.name = "catches up", .value = slip, .to = slower ? "faster" : "slower"}};
  }
  system.experiment = {.stop_time = 30.0, .interval = 0.05};
  return system;
}

}  // namespace saltus
