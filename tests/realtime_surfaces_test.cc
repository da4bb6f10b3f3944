#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/build.h"
#include "modelica/load.h"
#include "realtime/realtime_run.h"

// Surfaces that equations jump at, held with fixed steps: friction written as sign(), relays and
// branches that send the state back to each other. Solutions are written down by hand.

namespace saltus {
namespace {

RealtimeResult run(const std::string& text, double step, double stop_time,
                   StepAdjustment adjustment = StepAdjustment::kExact) {
  RealtimeRunOptions options;
  options.engine = {.step = step, .stop_time = stop_time, .adjustment = adjustment};
  return run_realtime(build(load_modelica_text(text)), options);
}

double value(const RealtimeResult& result, const std::string& name, double time) {
  const Trajectory& all = result.run.trajectory;
  std::size_t at = 0;
  while (at + 1 < all.size() && all.time[at] < time - 1e-9) ++at;
  EXPECT_NEAR(all.time[at], time, 1e-9);
  for (std::size_t s = 0; s < all.signals.size(); ++s)
    if (all.signals[s].name == name) return all.value(at, s);
  ADD_FAILURE() << "no " << name;
  return std::nan("");
}

TEST(RealtimeSurfaces, FrictionBySignHoldsAndLetsGo) {
  for (const double step : {0.1, 0.03, 0.001}) {
    const RealtimeResult result = run(R"(model Block
  Real v(start = 1, fixed = true), F;
equation
  F = -sign(v);
  der(v) = (if time < 2 then 0 elseif time < 5 then time - 2 else 6 - 3*(time - 4)) + F;
end Block;)",
                                      step, 6.0);
    EXPECT_TRUE(result.run.completed());
    EXPECT_NEAR(value(result, "v", 0.6), 0.4, 1e-9);
    EXPECT_NEAR(value(result, "v", 1.5), 0.0, 1e-12);
    EXPECT_NEAR(value(result, "F", 1.5), 0.0, 1e-9);
    EXPECT_NEAR(value(result, "F", 2.7), -0.7, 1e-9);  // what holding takes
    EXPECT_NEAR(value(result, "v", 4.5), 0.5 * 1.5 * 1.5, 1e-9);
    EXPECT_NEAR(value(result, "v", 6.0), 2.0 + 2.0 - 1.5, 1e-9);
    EXPECT_LE(result.run.statistics.events, 8U);
  }
}

TEST(RealtimeSurfaces, FrictionWithoutPressureLetsPass) {
  const RealtimeResult result = run(R"(model Brake
  Real w(start = 1, fixed = true), tau;
equation
  tau = (if time < 3 then 0 else 2)*sign(w);
  der(w) = -1 - tau;
end Brake;)",
                                    0.01, 6.0);
  EXPECT_TRUE(result.run.completed());
  EXPECT_NEAR(value(result, "w", 1.5), -0.5, 1e-9);
  EXPECT_NEAR(value(result, "w", 4.0), -1.0, 1e-9);
  EXPECT_NEAR(value(result, "w", 6.0), 0.0, 1e-12);
  EXPECT_NEAR(value(result, "tau", 6.0), -1.0, 1e-9);
}

// Both branches have a part in the motion along the threshold: 3/4 and 1/4 (Filippov).
TEST(RealtimeSurfaces, BranchesShareTheMotionAlongAThreshold) {
  const RealtimeResult result = run(R"(model Threshold
  Real x(start = 0.5, fixed = true), y(start = 0, fixed = true);
equation
  if x > 0 then
    der(x) = -1;
    der(y) = 1;
  else
    der(x) = 3;
    der(y) = 0;
  end if;
end Threshold;)",
                                    0.01, 2.5);
  EXPECT_TRUE(result.run.completed());
  EXPECT_NEAR(value(result, "x", 2.5), 0.0, 1e-12);
  EXPECT_NEAR(value(result, "y", 0.4), 0.4, 1e-9);
  EXPECT_NEAR(value(result, "y", 2.5), 0.5 + 0.75 * 2.0, 1e-9);
  EXPECT_LE(result.run.statistics.events, 3U);
}

// The force of one side need not exist on the other: it has a pole where the block is 1/3 m/s
// slower than the belt. Sticking at v_belt = 0.2 from x' = v; the spring reaches F0 = 1 at x = 1.
TEST(RealtimeSurfaces, OnlyOneSideIsEvaluatedOffTheSurface) {
  const RealtimeResult result = run(R"(model Belt
  Real x(start = 0, fixed = true), v(start = 0.2, fixed = true), F;
equation
  der(x) = v;
  der(v) = -x + F;
  F = if v < 0.2 then 1/(1 + 3*(0.2 - v)) else -1/(1 + 3*(v - 0.2));
end Belt;)",
                                    1e-3, 30.0);
  EXPECT_TRUE(result.run.completed()) << result.run.message;
  EXPECT_NEAR(value(result, "x", 4.0), 0.8, 1e-9);
  EXPECT_NEAR(value(result, "F", 4.0), 0.8, 1e-9);
  EXPECT_LT(value(result, "v", 6.5), 0.0);
}

// What does not act on the first derivative of the surface cannot hold it.
TEST(RealtimeSurfaces, AForceOnTheSecondDerivativeHoldsNothing) {
  const double quarter = std::sqrt(2.0);
  const RealtimeResult result = run(R"(model Relay
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = if x > 0 then -1 else 1;
end Relay;)",
                                    0.01, 5.7);
  EXPECT_TRUE(result.run.completed());
  EXPECT_NEAR(value(result, "v", 2.0), -(2.0 * quarter - 2.0), 1e-8);
  EXPECT_NEAR(value(result, "x", 5.7), 1.0 - 0.5 * std::pow(5.7 - 4.0 * quarter, 2), 1e-8);
  EXPECT_EQ(result.run.statistics.events, 2U);
}

// Two surfaces at once: masses on each other and on the ground. The upper one slides on the lower
// one, which its friction of 1 N cannot move against 3 N of the ground.
TEST(RealtimeSurfaces, SeveralAreHeldTogether) {
  const RealtimeResult result = run(R"(model Stack
  Real v1(start = 0, fixed = true), v2(start = 2, fixed = true), F12, F1;
equation
  F12 = sign(v2 - v1);
  F1 = 3*sign(v1);
  der(v1) = F12 - F1 + (if time < 4 then 0 else 4.5);
  der(v2) = -F12;
end Stack;)",
                                    0.01, 6.0);
  EXPECT_TRUE(result.run.completed());
  EXPECT_NEAR(value(result, "v1", 1.0), 0.0, 1e-12);
  EXPECT_NEAR(value(result, "F1", 1.0), 1.0, 1e-9);
  EXPECT_NEAR(value(result, "v2", 1.0), 1.0, 1e-9);
  EXPECT_NEAR(value(result, "v2", 3.0), 0.0, 1e-12);
  EXPECT_NEAR(value(result, "F12", 3.0), 0.0, 1e-9);
  // 1.5 N move both together, each with 0.75 m/s2: within the friction between them.
  EXPECT_NEAR(value(result, "v1", 6.0), 1.5, 1e-9);
  EXPECT_NEAR(value(result, "v2", 6.0), 1.5, 1e-9);
  EXPECT_NEAR(value(result, "F12", 6.0), -0.75, 1e-9);
}

}  // namespace
}  // namespace saltus
