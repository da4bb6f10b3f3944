#include <saltus/saltus.h>
using namespace saltus;

int main() {
  HybridSystem ball("ball");
  const Expr h = ball.variable("h", {.start = 1.0, .unit = "m"});
  const Expr v = ball.variable("v", {.unit = "m/s"});
  const Expr g = ball.parameter("g", 9.81, {.unit = "m/s2"});
  Mode& flying = ball.mode("flying");
  flying.equations = {der(h) == v, der(v) == -g};
  flying.guards = {{.name = "impact", .value = h, .to = "flying", .set = {{v, -0.7 * v}}}};
  const SimulateResult result = simulate(ball, {.stop_time = 2.0});
  write_csv(result.trajectory, "ball.csv");
}
