#include "examples/four_bar/four_bar.h"

namespace saltus {

HybridSystem make_four_bar() {
  HybridSystem linkage("four_bar");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return linkage.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr l1 = parameter("l1", 0.10, "m", "crank");
  const Expr l2 = parameter("l2", 0.35, "m", "coupler");
  const Expr l3 = parameter("l3", 0.30, "m", "rocker");
  const Expr d = parameter("d", 0.40, "m", "distance of the pivots of crank and rocker");
  const Expr m1 = parameter("m1", 0.5, "kg", "crank, centre half way");
  const Expr J1 = parameter("J1", 0.01, "kg.m2", "crank about its pivot");
  const Expr m2 = parameter("m2", 0.8, "kg", "coupler, centre half way");
  const Expr J2 = parameter("J2", 0.01, "kg.m2", "coupler about its centre");
  const Expr m3 = parameter("m3", 0.7, "kg", "rocker, centre half way");
  const Expr J3 = parameter("J3", 0.02, "kg.m2", "rocker about its pivot");
  const Expr g = parameter("g", 9.81, "m/s2", "gravity");
  const Expr w0 = parameter("w0", 20.0, "rad/s", "speed of the crank at the start");

  // The linkage with the crank along the line of the pivots, and its speeds there.
  const Expr reach = d - l1;
  const Expr phi20 = acos((l2 * l2 + reach * reach - l3 * l3) / (2.0 * l2 * reach));
  const Expr phi30 = atan2(l2 * sin(phi20), l2 * cos(phi20) - reach);
  const Expr w20 = l1 * w0 * sin(phi30) / (l2 * sin(phi20 - phi30));
  const Expr w30 = l1 * w0 * sin(phi20) / (l3 * sin(phi20 - phi30));

  const auto variable = [&](const char* name, const Expr& start, double nominal, const char* unit,
                            const char* text) {
    return linkage.variable(
        name, {.start = start, .nominal = nominal, .unit = unit, .description = text});
  };
  const Expr phi1 = variable("phi1", 0.0, 1.0, "rad", "angle of the crank");
  const Expr x2 = variable("x2", l1 + 0.5 * l2 * cos(phi20), 0.1, "m", "centre of the coupler");
  const Expr y2 = variable("y2", 0.5 * l2 * sin(phi20), 0.1, "m", "centre of the coupler");
  const Expr phi2 = variable("phi2", phi20, 1.0, "rad", "angle of the coupler");
  const Expr phi3 = variable("phi3", phi30, 1.0, "rad", "angle of the rocker");
  const Expr w1 = variable("w1", w0, 10.0, "rad/s", "speed of the crank");
  const Expr vx2 =
      variable("vx2", -0.5 * l2 * sin(phi20) * w20, 1.0, "m/s", "velocity of the coupler");
  const Expr vy2 =
      variable("vy2", l1 * w0 + 0.5 * l2 * cos(phi20) * w20, 1.0, "m/s", "velocity of the coupler");
  const Expr w2 = variable("w2", w20, 10.0, "rad/s", "speed of the coupler");
  const Expr w3 = variable("w3", w30, 10.0, "rad/s", "speed of the rocker");
  const Expr a_x = variable("a_x", 0.0, 10.0, "N", "force of the crank on the coupler");
  const Expr a_y = variable("a_y", 0.0, 10.0, "N", "force of the crank on the coupler");
  const Expr b_x = variable("b_x", 0.0, 10.0, "N", "force of the rocker on the coupler");
  const Expr b_y = variable("b_y", 0.0, 10.0, "N", "force of the rocker on the coupler");

  const Expr c2 = 0.5 * l2 * cos(phi2);
  const Expr s2 = 0.5 * l2 * sin(phi2);
  linkage.mode("turning").equations = {
      {"speed of phi1", der(phi1) == w1},
      {"speed of x2", der(x2) == vx2},
      {"speed of y2", der(y2) == vy2},
      {"speed of phi2", der(phi2) == w2},
      {"speed of phi3", der(phi3) == w3},
      {"torque on the crank",
       J1 * der(w1) == l1 * (sin(phi1) * a_x - cos(phi1) * a_y) - 0.5 * m1 * g * l1 * cos(phi1)},
      {"horizontal force on the coupler", m2 * der(vx2) == a_x + b_x},
      {"vertical force on the coupler", m2 * der(vy2) == a_y + b_y - m2 * g},
      {"torque on the coupler", J2 * der(w2) == s2 * (a_x - b_x) - c2 * (a_y - b_y)},
      {"torque on the rocker",
       J3 * der(w3) == l3 * (sin(phi3) * b_x - cos(phi3) * b_y) - 0.5 * m3 * g * l3 * cos(phi3)},
      {"pin A, horizontally", x2 - c2 == l1 * cos(phi1)},
      {"pin A, vertically", y2 - s2 == l1 * sin(phi1)},
      {"pin B, horizontally", x2 + c2 == d + l3 * cos(phi3)},
      {"pin B, vertically", y2 + s2 == l3 * sin(phi3)}};

  linkage.derive("A.x", l1 * cos(phi1), {.unit = "m", .description = "pin of crank and coupler"});
  linkage.derive("A.y", l1 * sin(phi1), {.unit = "m", .description = "pin of crank and coupler"});
  linkage.derive("B.x", d + l3 * cos(phi3),
                 {.unit = "m", .description = "pin of coupler and rocker"});
  linkage.derive("B.y", l3 * sin(phi3), {.unit = "m", .description = "pin of coupler and rocker"});
  linkage.experiment = {.stop_time = 2.0,
                        .tolerance = 1e-8,
                        .interval = 0.002,
                        .drawing = {"0,0 A.x,A.y B.x,B.y d,0"}};
  return linkage;
}

}  // namespace saltus
