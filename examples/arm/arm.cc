#include "examples/arm/arm.h"

namespace saltus {

HybridSystem make_arm() {
  HybridSystem arm("arm");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return arm.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr l1 = parameter("l1", 1.0, "m", "first link");
  const Expr l2 = parameter("l2", 1.0, "m", "second link");
  const Expr m1 = parameter("m1", 3.0, "kg", "mass at the end of the first link");
  const Expr m2 = parameter("m2", 2.0, "kg", "mass at the end of the second link");
  const Expr J = parameter("J", 0.5, "kg.m2", "rotor of the second drive");
  const Expr k = parameter("k", 200.0, "N.m/rad", "stiffness of the second joint");
  const Expr x0 = parameter("x0", 1.0, "m", "centre of the path");
  const Expr y0 = parameter("y0", 0.6, "m", "centre of the path");
  const Expr r = parameter("r", 0.4, "m", "radius of the path");
  const Expr w = parameter("w", 2.0, "rad/s", "speed along the path, later");

  // Starts from rest so smoothly that rotor and torques, which need four derivatives of the path,
  // are at rest too.
  const Expr t = arm.time();
  const Expr path = w * pow(t, 5) / (pow(t, 4) + 1.0);

  const auto variable = [&](const char* name, const Expr& start, double nominal, const char* unit,
                            const char* text) {
    return arm.variable(name,
                        {.start = start, .nominal = nominal, .unit = unit, .description = text});
  };
  // Law of cosines; the sign of the elbow is a choice.
  const Expr x_start = x0 + r;
  const Expr elbow = acos((x_start * x_start + y0 * y0 - l1 * l1 - l2 * l2) / (2.0 * l1 * l2));
  const Expr shoulder = atan2(y0, x_start) - atan2(l2 * sin(elbow), l1 + l2 * cos(elbow));
  const Expr q1 = variable("q1", shoulder, 1.0, "rad", "angle of the first link");
  const Expr q2 = variable("q2", elbow, 1.0, "rad", "angle of the second link against the first");
  const Expr theta = variable("theta", elbow, 1.0, "rad", "angle of the rotor, behind the gear");
  const Expr w1 = variable("w1", 0.0, 1.0, "rad/s", "speed of the first link");
  const Expr w2 = variable("w2", 0.0, 1.0, "rad/s", "speed of the second link");
  const Expr omega = variable("omega", 0.0, 1.0, "rad/s", "speed of the rotor");
  const Expr tau1 = variable("tau1", 0.0, 10.0, "N.m", "torque of the first drive");
  const Expr tau2 = variable("tau2", 0.0, 10.0, "N.m", "torque of the second drive");

  // Two point masses in the horizontal plane.
  const Expr inertia2 = m2 * l2 * l2;
  const Expr coupling = m2 * l1 * l2 * cos(q2);
  const Expr centrifugal = m2 * l1 * l2 * sin(q2);
  const Expr elastic = k * (theta - q2);
  Mode& following = arm.mode("following");
  following.equations = {
      {"speed of q1", der(q1) == w1},
      {"speed of q2", der(q2) == w2},
      {"speed of theta", der(theta) == omega},
      {"first link", ((m1 + m2) * l1 * l1 + inertia2 + 2.0 * coupling) * der(w1) +
                             (inertia2 + coupling) * der(w2) - centrifugal * w2 * (2.0 * w1 + w2) ==
                         tau1},
      {"second link",
       (inertia2 + coupling) * der(w1) + inertia2 * der(w2) + centrifugal * w1 * w1 == elastic},
      {"rotor", J * der(omega) == tau2 - elastic},
      {"path, horizontally", l1 * cos(q1) + l2 * cos(q1 + q2) == x0 + r * cos(path)},
      {"path, vertically", l1 * sin(q1) + l2 * sin(q1 + q2) == y0 + r * sin(path)}};

  arm.derive("elbow.x", l1 * cos(q1), {.unit = "m", .description = "second joint"});
  arm.derive("elbow.y", l1 * sin(q1), {.unit = "m", .description = "second joint"});
  arm.derive("tip.x", l1 * cos(q1) + l2 * cos(q1 + q2),
             {.unit = "m", .description = "on the path"});
  arm.derive("tip.y", l1 * sin(q1) + l2 * sin(q1 + q2),
             {.unit = "m", .description = "on the path"});
  arm.experiment = {
      .stop_time = 6.0, .interval = 0.01, .drawing = {"0,0 elbow.x,elbow.y tip.x,tip.y"}};
  return arm;
}

}  // namespace saltus
