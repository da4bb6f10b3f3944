// Events that accumulate: where the run goes on, and where it leaves the limit mode again.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "simulate/simulate.h"

namespace saltus {
namespace {

constexpr double kGravity = 9.81;

// Time at which the bounces of a ball dropped from h accumulate: t0 (1 + e) / (1 - e) with t0 the
// time of the first fall.
double rest_time(double h, double e) {
  return std::sqrt(2.0 * h / kGravity) * (1.0 + e) / (1.0 - e);
}

struct Ball {
  HybridSystem system{"ball"};
  Expr h = system.variable("h", {.start = 1.0});
  Expr v = system.variable("v");
};

const Event* find_zeno(const SimulateResult& result) {
  const auto found = std::find_if(result.events.begin(), result.events.end(),
                                  [](const Event& e) { return e.kind == "zeno"; });
  return found == result.events.end() ? nullptr : &*found;
}

double lowest(const SimulateResult& result, const std::string& name) {
  const std::vector<double> values = result.trajectory.column(name);
  return *std::min_element(values.begin(), values.end());
}

Ball plain_ball(double e) {
  Ball ball;
  Mode& flying = ball.system.mode("flying");
  flying.equations = {der(ball.h) == ball.v, der(ball.v) == -kGravity};
  flying.guards = {
      {.name = "impact", .value = ball.h, .to = "flying", .set = {{ball.v, -e * ball.v}}}};
  return ball;
}

TEST(Zeno, PlainBallComesToRestAtTheSumOfTheSeries) {
  const Ball ball = plain_ball(0.7);
  const SimulateResult result = simulate(ball.system, {.stop_time = 10.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const Event* zeno = find_zeno(result);
  ASSERT_NE(zeno, nullptr);
  EXPECT_NEAR(zeno->time, 2.558634, 1e-6);
  EXPECT_NEAR(zeno->time, rest_time(1.0, 0.7), 1e-9);
  EXPECT_EQ(zeno->to, "flying held at impact");
  EXPECT_EQ(result.events.back().kind, "zeno");
  EXPECT_GE(lowest(result, "h"), -1e-10);
  EXPECT_EQ(result.final.at("h"), 0.0);
  EXPECT_EQ(result.final.at("v"), 0.0);
  EXPECT_LT(result.events.size(), 60U);
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
}

class ZenoRestitution : public testing::TestWithParam<double> {};

TEST_P(ZenoRestitution, RestTimeIsTheSumOfTheSeries) {
  const double e = GetParam();
  for (const double tolerance : {1e-4, 1e-6, 1e-9, 1e-12}) {
    const Ball ball = plain_ball(e);
    const double expected = rest_time(1.0, e);
    const SimulateResult result =
        simulate(ball.system, {.stop_time = expected + 1.0, .tolerance = tolerance});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    const Event* zeno = find_zeno(result);
    ASSERT_NE(zeno, nullptr) << "e = " << e << ", tolerance " << tolerance;
    EXPECT_NEAR(zeno->time, expected, 1e-9 * expected) << "tolerance " << tolerance;
    EXPECT_GE(lowest(result, "h"), -1e-10);
  }
}
INSTANTIATE_TEST_SUITE_P(Zeno, ZenoRestitution, testing::Values(0.1, 0.5, 0.7, 0.9, 0.98),
                         [](const auto& param_info) {
                           return "Percent" +
                                  std::to_string(static_cast<int>(100.0 * param_info.param));
                         });

// Below its tolerance the method's errors decide where the ball comes down: such flights are not
// followed.
TEST(Zeno, BallComesToRestWithBdfAtEveryTolerance) {
  for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
    const Ball ball = plain_ball(0.7);
    const SimulateResult result =
        simulate(ball.system, {.stop_time = 4.0, .tolerance = tolerance, .method = Method::kBdf});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << tolerance << ": " << result.message;
    const Event* zeno = find_zeno(result);
    ASSERT_NE(zeno, nullptr) << tolerance;
    EXPECT_NEAR(zeno->time, rest_time(1.0, 0.7), std::max(tolerance, 1e-8)) << tolerance;
    EXPECT_EQ(result.final.at("h"), 0.0);
  }
}

// Without restitution the first impact is the last: t0 = sqrt(2 h / g). From there the ball falls
// through the rounding of its height, 1e-16 m, in 5e-9 s.
TEST(Zeno, ImpactWithoutRestitutionIsTheLast) {
  const Ball ball = plain_ball(0.0);
  const SimulateResult result = simulate(ball.system, {.stop_time = 2.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const Event* zeno = find_zeno(result);
  ASSERT_NE(zeno, nullptr);
  EXPECT_NEAR(zeno->time, std::sqrt(2.0 / kGravity), 1e-8);
  EXPECT_EQ(result.final.at("h"), 0.0);
  EXPECT_GE(lowest(result, "h"), -1e-10);
}

TEST(Zeno, DeclaredLimitModeIsTaken) {
  Ball ball = plain_ball(0.7);
  const_cast<Mode&>(ball.system.modes()[0]).guards[0].limit = "resting";
  ball.system.mode("resting").equations = {ball.h == 0.0, ball.v == 0.0};
  const SimulateResult result = simulate(ball.system, {.stop_time = 3.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const Event* zeno = find_zeno(result);
  ASSERT_NE(zeno, nullptr);
  EXPECT_EQ(zeno->to, "resting");
  EXPECT_NEAR(zeno->time, rest_time(1.0, 0.7), 1e-9);
}

TEST(Zeno, UnknownLimitModeIsRefusedByName) {
  Ball ball = plain_ball(0.7);
  const_cast<Mode&>(ball.system.modes()[0]).guards[0].limit = "restng";
  ball.system.mode("resting").equations = {ball.h == 0.0, ball.v == 0.0};
  try {
    simulate(ball.system, {.stop_time = 3.0});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'resting'"), std::string::npos)
        << error.what();
  }
}

TEST(Zeno, StopTimeBeforeTheLimitIsReachedBounceByBounce) {
  const Ball ball = plain_ball(0.7);
  const double stop = rest_time(1.0, 0.7) - 1e-3;
  const SimulateResult result = simulate(ball.system, {.stop_time = stop});
  EXPECT_EQ(result.time, stop);
  EXPECT_EQ(find_zeno(result), nullptr);
}

// The table is at rest until t = 5 and then falls with jerk j: s = -j (t-5)^3 / 6. The ball stays
// on it until the table's acceleration reaches -g, at t = 5 + g / j, then flies.
TEST(Zeno, BallLeavesATableThatFallsAway) {
  constexpr double kJerk = 20.0;
  Ball ball;
  const Expr since = max(ball.system.time() - 5.0, 0.0);
  const Expr table = -kJerk / 6.0 * since * since * since;
  const Expr speed = -kJerk / 2.0 * since * since;
  Mode& flying = ball.system.mode("flying");
  flying.equations = {der(ball.h) == ball.v, der(ball.v) == -kGravity};
  flying.guards = {{.name = "impact",
                    .value = ball.h - table,
                    .to = "flying",
                    .set = {{ball.v, speed - 0.7 * (ball.v - speed)}}}};
  const SimulateResult result = simulate(ball.system, {.stop_time = 6.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const Event* zeno = find_zeno(result);
  ASSERT_NE(zeno, nullptr);
  EXPECT_NEAR(zeno->time, rest_time(1.0, 0.7), 1e-9);
  const Event& leaves = result.events.back();
  EXPECT_EQ(leaves.to, "flying");
  const double lift = 5.0 + kGravity / kJerk;
  EXPECT_NEAR(leaves.time, lift, 1e-7);
  const double flown = 6.0 - lift;
  const double fallen = lift - 5.0;
  EXPECT_NEAR(result.final.at("h"),
              -kJerk / 6.0 * std::pow(fallen, 3) - kJerk / 2.0 * fallen * fallen * flown -
                  kGravity / 2.0 * flown * flown,
              1e-7);
}

// A ball dropped on a plane inclined by a, impulse along the normal without friction: it comes to
// rest normal to the plane and goes on sliding down with g sin a, from the tangential velocity it
// has then.
TEST(Zeno, BallOnASlopeGoesOnSliding) {
  constexpr double kAngle = 0.3;
  constexpr double kE = 0.6;
  HybridSystem slope("slope");
  const Expr x = slope.variable("x");
  const Expr y = slope.variable("y", {.start = 1.0});
  const Expr vx = slope.variable("vx");
  const Expr vy = slope.variable("vy");
  const double nx = std::sin(kAngle);
  const double ny = std::cos(kAngle);
  const Expr normal = nx * vx + ny * vy;
  Mode& flying = slope.mode("flying");
  flying.equations = {der(x) == vx, der(y) == vy, der(vx) == 0.0, der(vy) == -kGravity};
  flying.guards = {
      {.name = "impact",
       .value = nx * x + ny * y,
       .to = "flying",
       .set = {{vx, vx - (1.0 + kE) * nx * normal}, {vy, vy - (1.0 + kE) * ny * normal}}}};
  const SimulateResult result = simulate(slope, {.stop_time = 4.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const Event* zeno = find_zeno(result);
  ASSERT_NE(zeno, nullptr);
  // Along the normal: a ball dropped from cos a under g cos a. Along the plane: free motion.
  EXPECT_NEAR(zeno->time, rest_time(1.0, kE), 1e-8);
  EXPECT_EQ(result.events.back().kind, "zeno");
  const double along = -ny * result.final.at("x") + nx * result.final.at("y");
  EXPECT_NEAR(-along, kGravity * nx / 2.0 * 16.0 - nx, 1e-7);
  EXPECT_NEAR(nx * result.final.at("x") + ny * result.final.at("y"), 0.0, 1e-10);
}

// A ball in a round bowl of radius 1: once the bounces have died out it slides as a pendulum, and
// the direction of the contact force turns with it. Energy is that at the limit point.
TEST(Zeno, ContactForceTurnsWithACurvedSurface) {
  constexpr double kE = 0.5;
  HybridSystem bowl("bowl");
  const Expr x = bowl.variable("x", {.start = 0.3});
  const Expr y = bowl.variable("y", {.start = -0.7});
  const Expr vx = bowl.variable("vx");
  const Expr vy = bowl.variable("vy");
  const Expr r = sqrt(x * x + y * y);
  const Expr normal = (x * vx + y * vy) / r;
  Mode& flying = bowl.mode("flying");
  flying.equations = {der(x) == vx, der(y) == vy, der(vx) == 0.0, der(vy) == -kGravity};
  flying.guards = {
      {.name = "impact",
       .value = 1.0 - x * x - y * y,
       .to = "flying",
       .set = {{vx, vx - (1.0 + kE) * normal * x / r}, {vy, vy - (1.0 + kE) * normal * y / r}}}};
  const SimulateResult result =
      simulate(bowl, {.stop_time = 10.0, .tolerance = 1e-10, .interval = 0.01});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const Event* zeno = find_zeno(result);
  ASSERT_NE(zeno, nullptr);
  EXPECT_EQ(result.events.back().kind, "zeno");
  const Trajectory& path = result.trajectory;
  const std::size_t columns[] = {path.find("x"), path.find("y"), path.find("vx"), path.find("vy")};
  double energy = std::nan("");
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path.time[i] <= zeno->time) continue;
    double q[4];
    for (int k = 0; k < 4; ++k) q[k] = path.value(i, columns[k]);
    const double now = 0.5 * (q[2] * q[2] + q[3] * q[3]) + kGravity * q[1];
    if (std::isnan(energy)) energy = now;
    EXPECT_NEAR(now, energy, 1e-6);
    EXPECT_NEAR(q[0] * q[0] + q[1] * q[1], 1.0, 1e-10);
  }
  // Reduced to the angle from the lowest point: theta'' = -g sin theta; it is still swinging.
  EXPECT_GT(std::abs(result.final.at("vx")) + std::abs(result.final.at("x")), 1e-3);
}

// Rising and falling are modes of their own, so a cycle has two events.
TEST(Zeno, CyclesOfSeveralModesAreRecognised) {
  Ball ball;
  const std::vector<Equation> motion = {der(ball.h) == ball.v, der(ball.v) == -kGravity};
  Mode& falling = ball.system.mode("falling");
  falling.equations = motion;
  falling.guards = {
      {.name = "impact", .value = ball.h, .to = "rising", .set = {{ball.v, -0.7 * ball.v}}}};
  Mode& rising = ball.system.mode("rising");
  rising.equations = motion;
  rising.guards = {{.name = "top", .value = ball.v, .to = "falling"}};
  const SimulateResult result = simulate(ball.system, {.stop_time = 4.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const Event* zeno = find_zeno(result);
  ASSERT_NE(zeno, nullptr);
  EXPECT_NEAR(zeno->time, rest_time(1.0, 0.7), 1e-9);
  EXPECT_EQ(result.final.at("h"), 0.0);
}

// A counter set at every bounce is no part of the motion: it keeps its last value.
TEST(Zeno, VariablesThatAreNotIntegratedKeepTheirLastValue) {
  Ball ball = plain_ball(0.7);
  const Expr count = ball.system.variable("count");
  const_cast<Mode&>(ball.system.modes()[0]).guards[0].set.push_back({count, count + 1.0});
  const SimulateResult result = simulate(ball.system, {.stop_time = 4.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(result.final.at("count"), static_cast<double>(result.events.size() - 1));
}

// On a table that shakes harder than gravity the ball is thrown up, bounces out and rests again, in
// every period.
TEST(Zeno, RestIsLeftAndReachedAgain) {
  Ball ball;
  const Expr angle = 2.0 * ball.system.time();
  const Expr table = -3.0 * cos(angle);
  const Expr speed = 6.0 * sin(angle);
  Mode& flying = ball.system.mode("flying");
  flying.equations = {der(ball.h) == ball.v, der(ball.v) == -kGravity};
  flying.guards = {{.name = "impact",
                    .value = ball.h - table,
                    .to = "flying",
                    .set = {{ball.v, speed - 0.2 * (ball.v - speed)}}}};
  const SimulateResult result = simulate(ball.system, {.stop_time = 20.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  int rests = 0;
  int leaves = 0;
  for (const Event& e : result.events) {
    rests += e.kind == "zeno" ? 1 : 0;
    if (e.from == "flying held at impact") {
      ++leaves;
      // Where the table's acceleration 12 cos(2 t) passes -g.
      EXPECT_NEAR(12.0 * std::cos(2.0 * e.time), -kGravity, 1e-6);
    }
  }
  EXPECT_GE(rests, 5);
  EXPECT_GE(leaves, rests - 1);
  EXPECT_EQ(result.modes.size(), 2U);
}

// Intervals that shrink without a reset: there is no direction to hold the guard in.
TEST(Zeno, AccumulationWithoutResetAsksForALimitMode) {
  // Two tanks drain at rates 1 and 1; one inflow of 1.5 goes to the tank that is empty. The total
  // falls with 0.5, so all is empty at t = 2 after infinitely many switches.
  HybridSystem tanks("tanks");
  const Expr a = tanks.variable("a", {.start = 0.5});
  const Expr b = tanks.variable("b", {.start = 0.5});
  Mode& left = tanks.mode("left");
  left.equations = {der(a) == 0.5, der(b) == -1.0};
  left.guards = {{.name = "b empty", .value = b, .to = "right"}};
  Mode& right = tanks.mode("right");
  right.equations = {der(a) == -1.0, der(b) == 0.5};
  right.guards = {{.name = "a empty", .value = a, .to = "left"}};
  const SimulateResult result = simulate(tanks, {.stop_time = 4.0});
  EXPECT_EQ(result.reason, StopReason::kEventStorm);
  EXPECT_NEAR(result.time, 2.0, 1e-6);
  EXPECT_NE(result.message.find(".limit"), std::string::npos) << result.message;
}

// Masses 1 and 2, restitution 1/2, one above the other: impacts solved in closed form with 120
// digits accumulate at t = 0.790010140057, and their times do not shrink by a steady ratio.
TEST(Zeno, StackedBallsComeToRestTogether) {
  HybridSystem system("stack");
  const Expr x1 = system.variable("x1", {.start = 1.0});
  const Expr x2 = system.variable("x2", {.start = 1.5});
  const Expr v1 = system.variable("v1");
  const Expr v2 = system.variable("v2");
  Mode& flying = system.mode("flying");
  flying.equations = {der(x1) == v1, der(x2) == v2, der(v1) == -kGravity, der(v2) == -kGravity};
  flying.guards = {{.name = "floor", .value = x1, .to = "flying", .set = {{v1, -0.5 * v1}}},
                   {.name = "balls",
                    .value = x2 - x1,
                    .to = "flying",
                    .set = {{v1, v2}, {v2, 0.5 * (v1 + v2)}}}};
  const SimulateResult result = simulate(system, {.stop_time = 3.0, .tolerance = 1e-8});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const Event* zeno = find_zeno(result);
  ASSERT_NE(zeno, nullptr);
  EXPECT_NEAR(zeno->time, 0.790010140057, 3e-5);
  EXPECT_GE(lowest(result, "x1"), -1e-9);
  EXPECT_NEAR(result.final.at("x1"), 0.0, 1e-9);
  EXPECT_NEAR(result.final.at("x2"), 0.0, 1e-9);
}

}  // namespace
}  // namespace saltus
