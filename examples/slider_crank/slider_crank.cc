#include "examples/slider_crank/slider_crank.h"

namespace saltus {

HybridSystem make_slider_crank() {
  HybridSystem crank("slider_crank");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return crank.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr l1 = parameter("l1", 0.15, "m", "crank");
  const Expr l2 = parameter("l2", 0.40, "m", "rod");
  const Expr J1 = parameter("J1", 0.02, "kg.m2", "crank with flywheel about its pivot");
  const Expr m1 = parameter("m1", 0.36, "kg", "crank, centre half way");
  const Expr m2 = parameter("m2", 0.15, "kg", "rod, centre half way");
  const Expr J2 = parameter("J2", 0.002, "kg.m2", "rod about its centre");
  const Expr m3 = parameter("m3", 0.50, "kg", "slider");
  const Expr g = parameter("g", 9.81, "m/s2", "gravity");
  const Expr w0 = parameter("w0", 15.0, "rad/s", "speed of the crank at the start");

  const auto variable = [&](const char* name, const Expr& start, double nominal, const char* unit,
                            const char* text) {
    return crank.variable(name,
                          {.start = start, .nominal = nominal, .unit = unit, .description = text});
  };
  const Expr phi1 = variable("phi1", 0.0, 1.0, "rad", "angle of the crank");
  const Expr x2 = variable("x2", l1 + 0.5 * l2, 0.1, "m", "centre of the rod");
  const Expr y2 = variable("y2", 0.0, 0.1, "m", "centre of the rod");
  const Expr phi2 = variable("phi2", 0.0, 1.0, "rad", "angle of the rod");
  const Expr x3 = variable("x3", l1 + l2, 0.1, "m", "slider");
  const Expr w1 = variable("w1", w0, 10.0, "rad/s", "speed of the crank");
  const Expr vx2 = variable("vx2", 0.0, 1.0, "m/s", "velocity of the rod");
  const Expr vy2 = variable("vy2", 0.5 * l1 * w0, 1.0, "m/s", "velocity of the rod");
  const Expr w2 = variable("w2", -l1 * w0 / l2, 1.0, "rad/s", "speed of the rod");
  const Expr v3 = variable("v3", 0.0, 1.0, "m/s", "velocity of the slider");
  const Expr pin_x = variable("pin_x", 0.0, 10.0, "N", "force of the crank on the rod");
  const Expr pin_y = variable("pin_y", 0.0, 10.0, "N", "force of the crank on the rod");
  const Expr wrist_x = variable("wrist_x", 0.0, 10.0, "N", "force of the slider on the rod");
  const Expr wrist_y = variable("wrist_y", 0.0, 10.0, "N", "force of the slider on the rod");

  const Expr c1 = cos(phi1);
  const Expr s1 = sin(phi1);
  const Expr c2 = 0.5 * l2 * cos(phi2);
  const Expr s2 = 0.5 * l2 * sin(phi2);
  Mode& turning = crank.mode("turning");
  turning.equations = {
      {"speed of phi1", der(phi1) == w1},
      {"speed of x2", der(x2) == vx2},
      {"speed of y2", der(y2) == vy2},
      {"speed of phi2", der(phi2) == w2},
      {"speed of x3", der(x3) == v3},
      {"torque on the crank",
       J1 * der(w1) == l1 * s1 * pin_x - l1 * c1 * pin_y - 0.5 * m1 * g * l1 * c1},
      {"horizontal force on the rod", m2 * der(vx2) == pin_x + wrist_x},
      {"vertical force on the rod", m2 * der(vy2) == pin_y + wrist_y - m2 * g},
      {"torque on the rod", J2 * der(w2) == s2 * (pin_x - wrist_x) - c2 * (pin_y - wrist_y)},
      {"force on the slider", m3 * der(v3) == -wrist_x},
      {"pin, horizontally", x2 - c2 == l1 * c1},
      {"pin, vertically", y2 - s2 == l1 * s1},
      {"wrist, horizontally", x2 + c2 == x3},
      {"wrist, vertically", y2 + s2 == 0.0}};

  crank.derive("pin.x", l1 * c1, {.unit = "m", .description = "between crank and rod"});
  crank.derive("pin.y", l1 * s1, {.unit = "m", .description = "between crank and rod"});
  crank.experiment = {
      .stop_time = 2.0, .tolerance = 1e-8, .interval = 0.002, .drawing = {"0,0 pin.x,pin.y x3,0"}};
  return crank;
}

}  // namespace saltus
