// Runs that cannot go on: each ends with a reason, a message that names time, mode and the equation
// or unknown concerned, and the points up to there.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

const Method kMethods[] = {Method::kRadau, Method::kBdf};

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << '"' << text << "\" lacks \"" << part << '"';
}

// Every message says where: "at t = ... in mode '...'".
void expect_stopped(const SimulateResult& result, StopReason reason, const std::string& mode,
                    const std::string& culprit) {
  EXPECT_STREQ(to_string(result.reason), to_string(reason)) << result.message;
  EXPECT_FALSE(result.completed());
  expect_contains(result.message, "t = ");
  expect_contains(result.message, "'" + mode + "'");
  expect_contains(result.message, culprit);
}

void expect_kept_until(const SimulateResult& result, double time, double tolerance) {
  ASSERT_GT(result.trajectory.size(), 2u);
  EXPECT_EQ(result.trajectory.time.front(), 0.0);
  EXPECT_NEAR(result.trajectory.time.back(), time, tolerance);
  EXPECT_EQ(result.trajectory.time.back(), result.time);
  for (const double value : result.trajectory.values) EXPECT_TRUE(std::isfinite(value));
}

TEST(Failure, NanFromAResidualNamesTheEquation) {
  for (const Method method : kMethods) {
    HybridSystem system("leak");
    const Expr level = system.variable("level", {.start = 1.0});
    const Expr other = system.variable("other");
    Mode& draining = system.mode("draining");
    // level = 1 - t, so the root has no value after t = 1.
    draining.equations = {{"drain", der(level) == -1.0}, {"gauge", der(other) == sqrt(level)}};
    const SimulateResult result = simulate(system, {.stop_time = 2.0, .method = method});
    expect_stopped(result, StopReason::kNotFinite, "draining", "'gauge'");
    expect_kept_until(result, 1.0, 1e-3);
  }
}

TEST(Failure, NanAtTheStartNamesTheEquation) {
  HybridSystem system("log");
  const Expr x = system.variable("x", {.start = -1.0});
  const Expr y = system.variable("y");
  system.mode("only").equations = {{"growth", der(x) == 1.0}, {"scale", y == log(x)}};
  const SimulateResult result = simulate(system);
  expect_stopped(result, StopReason::kNotFinite, "only", "'scale'");
  EXPECT_EQ(result.time, 0.0);
}

TEST(Failure, SingularModeNamesAnUndeterminedUnknown) {
  for (const Method method : kMethods) {
    HybridSystem system("twice");
    const Expr x = system.variable("x");
    const Expr y = system.variable("y");
    const Expr z = system.variable("z");
    // y and z appear only as their sum.
    system.mode("only").equations = {
        der(x) == 1.0, {"sum", y + z == x}, {"sum again", 2.0 * y + 2.0 * z == 2.0 * x}};
    try {
      simulate(system, {.method = method});
      FAIL() << "a mode that leaves y - z open was accepted";
    } catch (const Error& error) {
      expect_contains(error.what(), "at t = 0 in mode 'only'");
      expect_contains(error.what(), "nothing determines 'y', 'z'");
      expect_contains(error.what(), "'sum'");
      expect_contains(error.what(), "'sum again'");
    }
  }
}

TEST(Failure, ModeThatIsSingularAfterAnEventKeepsWhatCameBefore) {
  for (const Method method : kMethods) {
    HybridSystem system("breaks");
    const Expr x = system.variable("x", {.start = 1.0});
    const Expr y = system.variable("y");
    const Expr z = system.variable("z");
    Mode& sound = system.mode("sound");
    sound.equations = {der(x) == -1.0, y == x, z == 2.0 * x};
    sound.guards = {{.name = "broken", .value = x - 0.5, .to = "broken"}};
    system.mode("broken").equations = {der(x) == -1.0, y + z == x, 2.0 * (y + z) == 2.0 * x};
    const SimulateResult result = simulate(system, {.stop_time = 2.0, .method = method});
    EXPECT_EQ(result.reason, StopReason::kSingular) << result.message;
    expect_contains(result.message, "at t = 0.5 in mode 'broken'");
    expect_kept_until(result, 0.5, 1e-8);
  }
}

TEST(Failure, JacobianThatBecomesSingularOnTheWayStopsThere) {
  for (const Method method : kMethods) {
    HybridSystem system("fold");
    const Expr x = system.variable("x", {.start = 1.0});
    const Expr y = system.variable("y", {.start = 1.0});
    // y = sqrt(1 - t): at the fold t = 1 the Jacobian 2 y vanishes, beyond it there is no solution.
    system.mode("only").equations = {{"drain", der(x) == -1.0}, {"fold", y * y == x}};
    const SimulateResult result = simulate(system, {.stop_time = 2.0, .method = method});
    EXPECT_FALSE(result.completed());
    expect_contains(result.message, "t = ");
    expect_contains(result.message, "in mode 'only'");
    expect_contains(result.message, "'y'");
    expect_kept_until(result, 1.0, 1e-2);
  }
}

TEST(Failure, ExplosionStopsAtTheSingularityAndNamesTheUnknown) {
  for (const Method method : kMethods) {
    HybridSystem system("explosion");
    const Expr x = system.variable("x", {.start = 1.0});
    system.mode("only").equations = {{"growth", der(x) == x * x}};  // x = 1 / (1 - t)
    const SimulateResult result = simulate(system, {.stop_time = 2.0, .method = method});
    EXPECT_FALSE(result.completed());
    expect_contains(result.message, "in mode 'only'");
    EXPECT_TRUE(result.message.find("'x'") != std::string::npos ||
                result.message.find("'growth'") != std::string::npos)
        << result.message;
    expect_kept_until(result, 1.0, 1e-3);
  }
}

TEST(Failure, GuardThatNeverClearsIsNamed) {
  for (const Method method : kMethods) {
    HybridSystem system("pingpong");
    const Expr x = system.variable("x", {.start = 1.0});
    Mode& a = system.mode("a");
    a.equations = {der(x) == -1.0};
    a.guards = {{.name = "empty", .value = x, .to = "b", .set = {{x, x - 0.1}}}};
    Mode& b = system.mode("b");
    b.equations = {der(x) == -1.0};
    b.guards = {{.name = "still empty", .value = x, .to = "b"}};
    const SimulateResult result = simulate(system, {.stop_time = 2.0, .method = method});
    expect_stopped(result, StopReason::kEventStorm, "b", "'still empty'");
    expect_contains(result.message, "t = 1 ");
    EXPECT_NEAR(result.time, 1.0, 1e-9);
    EXPECT_GT(result.events.size(), 1u);
    ASSERT_FALSE(result.trajectory.time.empty());
  }
}

TEST(Failure, ImpossibleStartValuesNameTheEquation) {
  HybridSystem system("impossible");
  const Expr x = system.variable("x", {.start = 2.0, .fixed = true});
  const Expr y = system.variable("y", {.start = 0.5});
  system.mode("only").equations = {{"rise", der(x) == 1.0}, {"circle", x * x + y * y == 1.0}};
  const SimulateResult result = simulate(system);
  expect_stopped(result, StopReason::kInconsistent, "only", "'circle'");
}

TEST(Start, GuessesAreChangedAsLittleAsPossibleAndReported) {
  HybridSystem system("circle");
  const Expr x = system.variable("x", {.start = 2.0});
  const Expr y = system.variable("y", {.start = 0.5});
  system.mode("only").equations = {der(x) == -x, x * x + y * y == 1.0};
  const SimulateResult result = simulate(system);
  EXPECT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.warnings.size(), 1U);
  expect_contains(result.warnings[0],
                  "start values were changed to satisfy the equations: 'x' from 2 to ");
  EXPECT_NEAR(std::hypot(result.trajectory.value(0, 0), result.trajectory.value(0, 1)), 1.0, 1e-12);
}

TEST(Start, FixedValuesOfAlgebraicUnknownsDetermineTheStates) {
  HybridSystem system("sum");
  const Expr x = system.variable("x", {.start = 3.0});
  const Expr y = system.variable("y", {.start = 5.0, .fixed = true});
  system.mode("only").equations = {der(x) == -x, y == 2.0 * x};
  const SimulateResult result = simulate(system);
  EXPECT_NEAR(result.trajectory.value(0, 0), 2.5, 1e-12);
  EXPECT_EQ(result.trajectory.value(0, 1), 5.0);
}

TEST(Failure, TransitionToNanNamesGuardAndVariable) {
  HybridSystem system("jump");
  const Expr x = system.variable("x", {.start = 1.0});
  Mode& only = system.mode("only");
  only.equations = {der(x) == -1.0};
  only.guards = {{.name = "hit", .value = x, .to = "only", .set = {{x, log(x - 1.0)}}}};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  expect_stopped(result, StopReason::kNotFinite, "only", "'hit'");
  expect_contains(result.message, "'x'");
  expect_kept_until(result, 1.0, 1e-8);
}

TEST(Failure, LimitsStopWithWhatThereIs) {
  HybridSystem system("oscillator");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr v = system.variable("v");
  system.mode("only").equations = {der(x) == v, der(v) == -x};
  const SimulateResult result = simulate(system, {.stop_time = 1e6, .max_steps = 100});
  expect_stopped(result, StopReason::kLimit, "only", "100 steps");
  EXPECT_GT(result.trajectory.time.back(), 0.0);
}

TEST(Failure, WrongOptionsAreRefusedBeforeTheRunAndNamed) {
  HybridSystem system("decay");
  const Expr x = system.variable("x", {.start = 1.0});
  system.mode("only").equations = {der(x) == -x};
  const auto message = [&](const SimulateOptions& options) -> std::string {
    try {
      simulate(system, options);
    } catch (const Error& error) {
      return error.message();
    }
    return "accepted";
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1e-6, 1.0, 1e-20, nan})
    expect_contains(message({.tolerance = bad}), "tolerance");
  for (const double bad : {0.0, -1.0, nan})
    expect_contains(message({.absolute_tolerance = bad}), "absolute tolerance");
  expect_contains(message({.stop_time = -1.0}), "stop time");
  expect_contains(message({.stop_time = nan}), "stop time");
  expect_contains(message({.interval = -0.1}), "interval");
}

}  // namespace
}  // namespace saltus
