// Unknowns that nothing depends on may be as rough as they like: norms and angles of phasors that
// vanish, numbers that jump inside noEvent. The motion goes on, and they have the values that
// their equations give.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const std::string& text, double tolerance = 1e-6) {
  return simulate(build(load_modelica_text(text, "M", {.use_modelica_path = false}, "m.mo")),
                  {.stop_time = 1.0, .tolerance = tolerance});
}

// The balanced currents of three phases add up to rounding, whose angle is any.
TEST(Readings, OfAVanishingPhasorDoNotStopTheRun) {
  const SimulateResult result = run(R"(
model M
  parameter Real V = 100;
  Real g(start = 0, fixed = true), x(start = 0, fixed = true);
  Real re[3], im[3], sumRe, sumIm, length, angle, twice;
equation
  der(g) = 314.0;
  der(x) = -x + cos(g);
  for k in 1:3 loop
    re[k] = V*x*cos(0.3 + (k - 1)*2*3.141592653589793/3);
    im[k] = V*x*sin(0.3 + (k - 1)*2*3.141592653589793/3);
  end for;
  sumRe + re[1] + re[2] + re[3] = 0;
  sumIm + im[1] + im[2] + im[3] = 0;
  length = sqrt(sumRe^2 + sumIm^2);
  angle = atan2(sumIm, sumRe);
  twice = 2*angle;
end M;)");
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  // x' = cos(314 t) - x.
  const double w = 314.0;
  const double x = (std::cos(w) + w * std::sin(w) - std::exp(-1.0)) / (1.0 + w * w);
  EXPECT_NEAR(result.final.at("x"), x, 1e-5);
  EXPECT_LT(result.final.at("length"), 1e-12);
  EXPECT_NEAR(result.final.at("twice"), 2.0 * result.final.at("angle"), 1e-9);
  EXPECT_LE(std::abs(result.final.at("angle")), M_PI);  // of rounding: any
}

TEST(Readings, ThatJumpInsideNoEventAreExactAtTheEnd) {
  for (const double tolerance : {1e-4, 1e-6, 1e-9}) {
    const SimulateResult result = run(R"(
model M
  Real x(start = 0, fixed = true), sawtooth, shifted, other;
equation
  der(x) = 7.3;
  sawtooth = x - noEvent(floor(x));
  shifted = sawtooth + noEvent(if sin(40*x) > 0 then 10 else -10);
  other = noEvent(sqrt(abs(sawtooth - 0.5)));
end M;)",
                                      tolerance);
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    EXPECT_NEAR(result.final.at("sawtooth"), 0.3, 1e-6);
    EXPECT_NEAR(result.final.at("shifted"), 0.3 + (std::sin(292.0) > 0 ? 10 : -10), 1e-6);
    EXPECT_NEAR(result.final.at("other"), std::sqrt(0.2), 1e-6);
  }
}

// What moves something is integrated with error control, whatever the step over the jump.
TEST(Readings, WhatMovesSomethingIsNone) {
  const SimulateResult result = run(R"(
model M
  Real x(start = 0, fixed = true), y(start = 0, fixed = true), jump;
equation
  der(x) = 1;
  jump = noEvent(if sin(20*x) > 0 then 1 else -3);
  der(y) = jump;
end M;)",
                                    1e-8);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  double y = 0.0;  // half waves of pi/20
  const double half = M_PI / 20.0;
  int k = 0;
  for (; (k + 1) * half < 1.0; ++k) y += (k % 2 == 0 ? 1.0 : -3.0) * half;
  y += (k % 2 == 0 ? 1.0 : -3.0) * (1.0 - k * half);
  EXPECT_NEAR(result.final.at("y"), y, 1e-5);
}

}  // namespace
}  // namespace saltus
