#include "examples/ball/ball.h"

namespace saltus {

HybridSystem make_ball() {
  HybridSystem ball("ball");
  const Expr g = ball.parameter("g", 9.81, {.unit = "m/s2", .description = "gravity"});
  const Expr e =
      ball.parameter("e", 0.7, {.unit = "1", .description = "coefficient of restitution"});
  const Expr h =
      ball.variable("h", {.start = 1.0, .unit = "m", .description = "height above the floor"});
  const Expr v = ball.variable("v", {.unit = "m/s", .description = "velocity, upwards"});

  Mode& flying = ball.mode("flying");
  flying.equations = {{"kinematics", der(h) == v}, {"gravity", der(v) == -g}};
  flying.guards = {{.name = "impact", .value = h, .to = "flying", .set = {{v, -e * v}}}};

  // The bounces accumulate at t = 2.5586; from there on the ball is at rest.
  ball.experiment = {.stop_time = 3.0, .interval = 0.005};
  return ball;
}

}  // namespace saltus
