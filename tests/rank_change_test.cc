#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "simulate/simulate.h"

// Characteristic values that change inside a mode, without a guard (HM Algorithm 20, step 1).

namespace saltus {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Two constraints on x and y that are the same from t = 1 on: x = sin t, y = cos t before, nothing
// but x + y after.
TEST(RankChange, IsReportedWithTimeEquationAndUnknowns) {
  HybridSystem system("merging");
  const Expr x = system.variable("x");
  const Expr y = system.variable("y", {.start = 1.0});
  const Expr p = system.variable("p");
  const Expr q = system.variable("q");
  const Expr t = system.time();
  const Expr apart = max(0.0, 1.0 - t);
  system.mode("only").equations = {
      {"first", (1.0 + apart) * x + y == (1.0 + apart) * sin(t) + cos(t)},
      {"second", x + y == sin(t) + cos(t)},
      {"rate of x", der(x) == p},
      {"rate of y", der(y) == q}};
  const SimulateResult result = simulate(system, {.stop_time = 2.0, .tolerance = 1e-6});
  std::string told = result.message;
  for (const std::string& warning : result.warnings) told += "\n" + warning;
  EXPECT_TRUE(contains(told, "characteristic values changed at t = 1 in mode")) << told;
  EXPECT_TRUE(contains(told, "'first'") || contains(told, "'second'")) << told;
  EXPECT_TRUE(contains(told, "no longer restricts 'x', 'y'")) << told;
  EXPECT_NEAR(result.final.at("x") + result.final.at("y"), std::sin(2.0) + std::cos(2.0), 1e-6);
}

// Two forces hold x on sin t; one of them also holds y at 0 until t = 1. After that y moves freely
// (and stays), and only how the forces share the load is undetermined: the run goes on.
TEST(RankChange, ThatLeavesOnlyForcesUndeterminedGoesOnAnalysedAnew) {
  HybridSystem system("releasing");
  const Expr x = system.variable("x");
  const Expr v = system.variable("v", {.start = 1.0});
  const Expr y = system.variable("y");
  const Expr w = system.variable("w");
  const Expr f1 = system.variable("f1");
  const Expr f2 = system.variable("f2");
  const Expr t = system.time();
  const Expr hold = max(0.0, 1.0 - t);
  system.mode("only").equations = {
      {"speed of x", der(x) == v}, {"force on x", der(v) == f1 + f2},
      {"speed of y", der(y) == w}, {"force on y", der(w) == hold * f2},
      {"path", x == sin(t)},       {"second path", x + hold * y == sin(t)}};
  const SimulateResult result = simulate(system, {.stop_time = 2.0, .tolerance = 1e-6});
  ASSERT_TRUE(result.completed()) << result.message;
  bool told = false;
  for (const std::string& warning : result.warnings)
    told = told || contains(warning, "characteristic values changed at t = 1");
  EXPECT_TRUE(told);
  EXPECT_NEAR(result.final.at("x"), std::sin(2.0), 1e-6);
  EXPECT_NEAR(result.final.at("v"), std::cos(2.0), 1e-6);
  EXPECT_NEAR(result.final.at("f1") + result.final.at("f2"), -std::sin(2.0), 1e-4);
  EXPECT_NEAR(result.final.at("y"), 0.0, 1e-4);
}

// A pendulum passes points where its state variable must change; that is no change of ranks.
TEST(RankChange, IsNotSeenWhereOnlyTheStatesChange) {
  HybridSystem system("pendulum");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr y = system.variable("y");
  const Expr u = system.variable("u");
  const Expr v = system.variable("v", {.start = 8.0});
  const Expr force = system.variable("force");
  system.mode("turn").equations = {der(x) == u, der(y) == v, der(u) == -force * x,
                                   der(v) == -force * y - 9.81, x * x + y * y == 1.0};
  const SimulateResult result = simulate(system, {.stop_time = 10.0});
  EXPECT_TRUE(result.completed()) << result.message;
  EXPECT_TRUE(result.warnings.empty());
}

}  // namespace
}  // namespace saltus
