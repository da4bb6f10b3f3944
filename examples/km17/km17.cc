#include "examples/km17/km17.h"

namespace saltus {

HybridSystem make_km17() {
  HybridSystem system("km17");
  const Expr x1 = system.variable("x1", {.start = 1.0, .description = "unknown of both modes"});
  const Expr x2 = system.variable("x2", {.start = 1.0, .description = "unknown of mode 1 only"});
  const Expr t = system.time();

  Mode& first = system.mode("mode 1");
  first.equations = {{"fall", der(x1) == -1.0}, {"rest", der(x2) == 0.0}};
  first.guards = {{.name = "down", .value = x1, .to = "mode 2"}};

  Mode& second = system.mode("mode 2");
  second.equations = {{"rise", der(x1) == 1.0 - t * t}};
  second.guards = {{.name = "up", .value = -x1, .to = "mode 1", .set = {{x2, 0.0}}}};

  system.experiment = {.start_time = -1.0, .stop_time = 2.0, .interval = 0.01};
  return system;
}

}  // namespace saltus
