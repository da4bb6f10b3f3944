#include "examples/relays/relays.h"

#include <string>

namespace saltus {

HybridSystem make_relays() {
  HybridSystem system("relays");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr y = system.variable("y", {.start = 0.5});
  const Expr push = max(0.0, 2.0 * (system.time() - 1.0));
  const auto name = [](double s1, double s2) {
    return std::string(s1 > 0.0 ? "x+" : "x-") + (s2 > 0.0 ? " y+" : " y-");
  };
  for (const double s1 : {1.0, -1.0}) {
    for (const double s2 : {1.0, -1.0}) {
      Mode& mode = system.mode(name(s1, s2));
      mode.equations = {{"first relay", der(x) == -2.0 * s1 + 0.5 * s2 + push},
                        {"second relay", der(y) == -0.5 * s1 - 2.0 * s2}};
      mode.guards = {{.name = "x", .value = s1 * x, .to = name(-s1, s2)},
                     {.name = "y", .value = s2 * y, .to = name(s1, -s2)}};
    }
  }
  system.experiment = {.stop_time = 3.0, .tolerance = 1e-8, .interval = 0.01};
  return system;
}

}  // namespace saltus
