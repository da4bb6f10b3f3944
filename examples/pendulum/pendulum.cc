#include "examples/pendulum/pendulum.h"

namespace saltus {

HybridSystem make_pendulum() {
  HybridSystem pendulum("pendulum");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return pendulum.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr m = parameter("m", 1.0, "kg", "mass");
  const Expr l = parameter("l", 1.0, "m", "length of the string");
  const Expr g = parameter("g", 9.81, "m/s2", "gravity");
  const Expr f = parameter("f", 8.0, "N/s", "growth of the tangential force");
  const Expr S_max = parameter("S_max", 200.0, "N", "force at which the string breaks");
  const Expr beta = parameter("beta", 0.6, "rad", "tilt of the thrust against the flight");
  const Expr omega = parameter("omega", 2.0, "1/s", "of the control law");
  const Expr y_target = parameter("y_target", 2.0, "m", "height the control law steers to");

  const auto variable = [&](const char* name, const Expr& start, const char* unit,
                            const char* text) {
    return pendulum.variable(name, {.start = start, .unit = unit, .description = text});
  };
  const Expr x = variable("x", 0.0, "m", "position, to the right");
  const Expr y = variable("y", -l, "m", "position, upwards");
  const Expr vx = variable("vx", 0.0, "m/s", "velocity");
  const Expr vy = variable("vy", 0.0, "m/s", "velocity");
  const Expr lambda = pendulum.variable(
      "lambda", {.nominal = 10.0, .unit = "N/m", .description = "multiplier of the string"});
  const Expr u = pendulum.variable("u", {.nominal = 10.0, .unit = "N", .description = "thrust"});

  const Equation horizontal{"horizontal motion", der(x) == vx};
  const Equation vertical{"vertical motion", der(y) == vy};
  const Expr push = f * pendulum.time();

  Mode& swinging = pendulum.mode("swinging");
  swinging.equations = {horizontal,
                        vertical,
                        {"horizontal force", m * der(vx) == -2.0 * x * lambda - push * y / l},
                        {"vertical force", m * der(vy) == -m * g - 2.0 * y * lambda + push * x / l},
                        {"string", x * x + y * y == l * l}};
  swinging.guards = {{.name = "string breaks", .value = S_max - 2.0 * l * lambda, .to = "flying"}};

  Mode& flying = pendulum.mode("flying");
  flying.equations = {horizontal,
                      vertical,
                      {"horizontal force", m * der(vx) == 0.0},
                      {"vertical force", m * der(vy) == -m * g}};
  flying.guards = {{.name = "top of the flight", .value = vy, .to = "steered"}};

  // Thrust against the direction of flight, so large that the height is critically damped.
  Mode& steered = pendulum.mode("steered");
  steered.equations = {horizontal,
                       vertical,
                       {"horizontal force", m * der(vx) == -sin(beta) * u},
                       {"vertical force", m * der(vy) == -m * g + cos(beta) * u},
                       {"control law", cos(beta) * u == m * (g - 2.0 * omega * vy -
                                                             omega * omega * (y - y_target))}};

  pendulum.experiment = {.stop_time = 4.8, .interval = 0.005, .drawing = {"0,0 x,y"}};
  return pendulum;
}

}  // namespace saltus
