// Guards that are no regular switches: first integrals (KM 4a) and roots that are no crossings.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "examples/billiard/billiard.h"
#include "examples/km16/km16.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

// Period of a pendulum of length 1 that swings to 1 rad: 4 sqrt(l / g) K(sin(1/2)), by the
// arithmetic-geometric mean.
double period() {
  double a = 1.0;
  double b = std::cos(0.5);
  for (int k = 0; k < 8; ++k) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return 2.0 * std::acos(-1.0) / std::sqrt(9.81) / a;
}

// At every step the integrator takes, and at points inside them.
TEST(FirstIntegral, KeepsTheEnergyOverAThousandPeriods) {
  for (const double interval : {0.0, 0.037}) {
    const SimulateResult result = simulate(
        make_km16(), {.stop_time = 1000.0 * period(), .tolerance = 1e-8, .interval = interval});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    EXPECT_TRUE(result.events.empty());
    const std::vector<double> change = result.trajectory.column("energy change");
    double worst = 0.0;
    for (const double c : change) worst = std::max(worst, std::abs(c));
    EXPECT_LE(worst, 1e-10) << interval;
    EXPECT_EQ(result.modes.back().name, "swinging within energy");
    // Back where it started, up to the phase a thousand periods accumulate.
    EXPECT_NEAR(result.final.at("q"), 1.0, 1e-2);
  }
}

// The same guard with friction in the motion is no first integral: it fires at once.
TEST(FirstIntegral, FrictionMakesTheSameGuardFire) {
  HybridSystem pendulum("damped");
  const Expr p = pendulum.variable("p", {.start = 1.0});
  const Expr q = pendulum.variable("q");
  Mode& swinging = pendulum.mode("swinging");
  swinging.equations = {der(p) == -sin(q) - 0.1 * p, der(q) == p};
  swinging.guards = {{.name = "energy", .value = p * p / 2.0 - cos(q) + 0.5, .to = "below"}};
  pendulum.mode("below").equations = {der(p) == -sin(q) - 0.1 * p, der(q) == p};
  const SimulateResult result = simulate(pendulum, {.stop_time = 5.0});
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].time, 0.0);
  EXPECT_EQ(result.events[0].to, "below");
}

TEST(Grazing, BallsThatJustTouchAreReportedAndDoNotCollide) {
  const SimulateResult result = simulate(make_billiard());
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].kind, "grazing");
  EXPECT_NEAR(result.events[0].time, 2.0, 1e-6);
  EXPECT_NEAR(result.events[0].slope, 0.0, 1e-6);
  EXPECT_GT(result.events[0].condition, 1e6);
  EXPECT_EQ(result.final.at("vx2"), 0.0);
}

// Off by d from the grazing path the guard (t - 2)^2 - 2 d falls with slope -2 sqrt(2 d + ...): the
// switch time is the worse conditioned the nearer the path is to grazing.
TEST(Grazing, ConditionOfTheSwitchGrowsAsTheContactGrazes) {
  double before = 0.0;
  for (const double b : {0.9, 0.99, 0.999, 0.9999}) {
    HybridSystem billiard = make_billiard();
    billiard.set("b", b);
    const SimulateResult result = simulate(billiard, {.tolerance = 1e-9});
    ASSERT_EQ(result.events.size(), 1U);
    const Event& contact = result.events[0];
    EXPECT_EQ(contact.kind, "jump");
    const double along = std::sqrt(1.0 - b * b);  // x2 - x1 at contact, relative speed 1
    EXPECT_NEAR(contact.time, 2.0 - along, 1e-8);
    EXPECT_NEAR(contact.slope, -2.0 * along, 1e-6);
    EXPECT_GT(contact.condition, before);
    before = contact.condition;
    // Momentum and energy are kept.
    EXPECT_NEAR(result.final.at("vx1") + result.final.at("vx2"), 1.0, 1e-12);
    EXPECT_NEAR(result.final.at("vy1") + result.final.at("vy2"), 0.0, 1e-12);
  }
}

// x = (t - 1)^3 crosses with zero slope.
TEST(Grazing, CrossingWithoutSlopeIsTagged) {
  HybridSystem system("cubic");
  const Expr x = system.variable("x", {.start = -1.0});
  Mode& on = system.mode("on");
  const Expr since = system.time() - 1.0;
  on.equations = {der(x) == 3.0 * since * since};
  on.guards = {{.name = "root", .value = -x, .to = "beyond"}};
  system.mode("beyond").equations = {der(x) == 3.0 * since * since};
  const SimulateResult result = simulate(system, {.stop_time = 2.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].kind, "switch");
  EXPECT_NEAR(result.events[0].time, 1.0, 1e-4);
  EXPECT_NEAR(result.events[0].slope, 0.0, 1e-6);
}

// A first integral beside x' = -sign(x) + 1.5 sin t, which slides from t0 on, x0 + 1.5 (1 - cos t0)
// = t0, and leaves where 1.5 |sin t| = 1.
TEST(FirstIntegral, IsHeldWhileAnotherPartSlides) {
  HybridSystem both("both");
  const Expr p = both.variable("p", {.start = 1.0});
  const Expr q = both.variable("q");
  const Expr x = both.variable("x", {.start = 0.5});
  for (const bool above : {true, false}) {
    Mode& mode = both.mode(above ? "above" : "below");
    mode.equations = {der(p) == -sin(q), der(q) == p,
                      der(x) == (above ? -1.0 : 1.0) + 1.5 * sin(both.time())};
    mode.guards = {{.name = "energy", .value = p * p / 2.0 - cos(q) + 0.5, .to = "broken"},
                   {.name = "x", .value = above ? x : -x, .to = above ? "below" : "above"}};
  }
  both.mode("broken").equations = {der(p) == 0.0, der(q) == 0.0, der(x) == 0.0};
  both.initial_mode = "above";
  const SimulateResult result = simulate(both, {.stop_time = 20.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_GE(result.events.size(), 4U);
  for (std::size_t k = 0; k < result.events.size(); ++k) {
    const Event& event = result.events[k];
    EXPECT_EQ(event.kind, k % 2 == 0 ? "sliding-entry" : "sliding-exit");
    if (k % 2 == 1) {
      EXPECT_NEAR(1.5 * std::abs(std::sin(event.time)), 1.0, 1e-7);
    }
  }
  const std::vector<double> ps = result.trajectory.column("p");
  const std::vector<double> qs = result.trajectory.column("q");
  for (std::size_t i = 0; i < ps.size(); ++i)
    ASSERT_NEAR(ps[i] * ps[i] / 2.0 - std::cos(qs[i]) + 0.5, 0.0, 1e-10) << i;
}

}  // namespace
}  // namespace saltus
