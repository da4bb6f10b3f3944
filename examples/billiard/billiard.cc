#include "examples/billiard/billiard.h"

namespace saltus {

HybridSystem make_billiard() {
  HybridSystem billiard("billiard");
  const Expr r = billiard.parameter("r", 0.5, {.unit = "m", .description = "radius of a ball"});
  const Expr b = billiard.parameter(
      "b", 1.0, {.unit = "m", .description = "distance of the path from the ball at rest"});
  const Expr speed = billiard.parameter("speed", 1.0, {.unit = "m/s"});
  const auto variable = [&](const char* name, const Expr& start, const char* unit,
                            const char* text) {
    return billiard.variable(name, {.start = start, .unit = unit, .description = text});
  };
  const Expr x1 = variable("x1", -2.0, "m", "position of the ball that comes");
  const Expr y1 = variable("y1", b, "m", "position of the ball that comes");
  const Expr x2 = variable("x2", 0.0, "m", "position of the ball at rest");
  const Expr y2 = variable("y2", 0.0, "m", "position of the ball at rest");
  const Expr vx1 = variable("vx1", speed, "m/s", "velocity");
  const Expr vy1 = variable("vy1", 0.0, "m/s", "velocity");
  const Expr vx2 = variable("vx2", 0.0, "m/s", "velocity");
  const Expr vy2 = variable("vy2", 0.0, "m/s", "velocity");

  // Equal masses, no friction: the parts of the velocities along the line of centres are exchanged.
  const Expr dx = x2 - x1;
  const Expr dy = y2 - y1;
  const Expr exchanged = ((vx1 - vx2) * dx + (vy1 - vy2) * dy) / (dx * dx + dy * dy);
  Mode& rolling = billiard.mode("rolling");
  rolling.equations = {der(x1) == vx1,  der(y1) == vy1,  der(x2) == vx2,  der(y2) == vy2,
                       der(vx1) == 0.0, der(vy1) == 0.0, der(vx2) == 0.0, der(vy2) == 0.0};
  rolling.guards = {{.name = "contact",
                     .value = dx * dx + dy * dy - 4.0 * r * r,
                     .to = "rolling",
                     .set = {{vx1, vx1 - exchanged * dx},
                             {vy1, vy1 - exchanged * dy},
                             {vx2, vx2 + exchanged * dx},
                             {vy2, vy2 + exchanged * dy}}}};
  billiard.experiment = {.stop_time = 4.0, .interval = 0.02};
  return billiard;
}

}  // namespace saltus
