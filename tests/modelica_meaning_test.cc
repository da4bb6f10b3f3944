// What parts of the language mean, seen in the results.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

HybridSystem system_of(const std::string& text) {
  return build(load_modelica_text(text, "", {.use_modelica_path = false}, "m.mo"));
}

SimulateResult run(const std::string& text, SimulateOptions options = {}) {
  if (!options.stop_time) options.stop_time = 1.0;
  return simulate(system_of(text), options);
}

// y = (t - 1/2)^2 is below 1e-4 between 0.49 and 0.51: no step ends there.
// Both branches have the slope of x, so y must not be taken for x itself: no run may say y = 20.
TEST(Jump, WithOneSlopeOnBothSidesIsNoAlias) {
  for (const char* value : {"noEvent(if x > 5 then x - 5 else x)", "f(x)"}) {
    const SimulateResult result =
        run(std::string("function f\n  input Real x;\n  output Real y;\nalgorithm\n"
                        "  y := if x > 5 then x - 5 else x;\nend f;\n"
                        "model M\n  Real x(start = 0, fixed = true), y = ") +
            value + ";\nequation\n  der(x) = 20;\nend M;\n");
    const double x = result.final.at("x");
    EXPECT_NEAR(result.final.at("y"), x > 5.0 ? x - 5.0 : x, 1e-6) << value << " at " << x;
  }
}

TEST(Assertion, IsNotMissedBetweenTwoSteps) {
  const std::string text =
      "model M\n  Real x(start = 0, fixed = true), y;\nequation\n  der(x) = 1;\n"
      "  y = (x - 0.5)^2;\n  assert(y > 1e-4, \"y = \" + String(y)";
  const SimulateResult result = run(text + ");\nend M;\n");
  EXPECT_EQ(result.reason, StopReason::kAssertion);
  EXPECT_NEAR(result.time, 0.49, 1e-9);
  EXPECT_NE(result.message.find("m.mo:6:3"), std::string::npos) << result.message;
  EXPECT_NE(result.message.find("y = 0.0001"), std::string::npos) << result.message;

  const SimulateResult warned = run(text + ", AssertionLevel.warning);\nend M;\n");
  EXPECT_EQ(warned.reason, StopReason::kStopTime);
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_NE(warned.warnings[0].find("at t = 0.49"), std::string::npos) << warned.warnings[0];
}

TEST(Assertion, EndsTheRunAtTheTimeItStopsToHold) {
  const SimulateResult result =
      run("model M\n  Real x = sin(time);\nequation\n  assert(abs(x) <= 0.5, \"far\");\nend M;\n",
          {.tolerance = 1e-9});
  EXPECT_EQ(result.reason, StopReason::kAssertion);
  EXPECT_NEAR(result.time, std::numbers::pi / 6.0, 1e-9);
  EXPECT_TRUE(result.events.empty());  // abs() changes its sign at 0 without an event
}

TEST(Assertion, InsideWhenIsLookedAtWhenTheClauseActs) {
  const std::string text =
      "model M\n  Real x = (time - 0.5)^2;\nequation\n  when time > 0.8 then\n"
      "    assert(x < 0.05, \"late\");\n  end when;\nend M;\n";
  const SimulateResult result = run(text);
  EXPECT_EQ(result.reason, StopReason::kAssertion);
  EXPECT_NEAR(result.time, 0.8, 1e-12);
}

TEST(Assertion, UnderNoEventIsLookedAtOnly) {
  const SimulateResult result =
      run("model M\n  Real x(start = 0, fixed = true), y = (x - 0.5)^2;\nequation\n  der(x) = 1;\n"
          "  assert(noEvent(y > 1e-4), \"small\");\nend M;\n",
          {.max_step = 0.3});
  EXPECT_EQ(result.reason, StopReason::kStopTime);
}

// h = f(T) has two solutions, -sqrt(h) and sqrt(h); the start value is next to the second, the
// inverse is the first.
const std::string kSquare =
    "function f\n  input Real x;\n  input Real k = 1;\n  output Real y;\nalgorithm\n"
    "  y := k*x^2;\n  annotation(inverse(x = g(k, y)));\nend f;\n"
    "function g\n  input Real k;\n  input Real y;\n  output Real x;\nalgorithm\n"
    "  x := -sqrt(y/k);\nend g;\n";

TEST(Inverse, GivesTheUnknownOfAKnownResult) {
  const SimulateResult result = run(
      kSquare +
      "model M\n  Real h(start = 4, fixed = true), T(start = 1), u(start = 2), w(start = 1);\n"
      "  Real b(start = 1), c = f(b, 2);\nequation\n  der(h) = 1;\n  h = f(T, 1);\n  f(u, 4) = 9;\n"
      "  w = u - 1;\n  c = 2 + time;\nend M;\n");
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("T"), -std::sqrt(5.0), 1e-6);
  EXPECT_NEAR(result.final.at("u"), -1.5, 1e-12);
  EXPECT_NEAR(result.final.at("w"), -2.5, 1e-12);
  EXPECT_NEAR(result.final.at("b"), -std::sqrt(1.5), 1e-9);
}

// Where the argument is the known one, the function is used as it is.
TEST(Inverse, IsLeftAloneWhereTheArgumentIsKnown) {
  const SimulateResult result =
      run(kSquare + "model M\n  Real T(start = 1, fixed = true), h;\nequation\n  der(T) = 1;\n" +
          "  h = f(T, 1);\nend M;\n");
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("T"), 2.0, 1e-9);
  EXPECT_NEAR(result.final.at("h"), 4.0, 1e-8);
}

TEST(Inverse, IsCheckedWhereTheFunctionIsUsed) {
  const auto message = [](const std::string& inverse) -> std::string {
    try {
      system_of(
          "function f\n  input Real x;\n  output Real y;\nalgorithm\n  y := x^3;\n"
          "  annotation(inverse" +
          inverse + ");\nend f;\nmodel M\n  Real z = f(time);\nend M;\n");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("(x = y^(1/3))"), "");
  EXPECT_NE(message("(z = y)").find("m.mo:6:22: error: the inverse of 'f': 'z' is no input"),
            std::string::npos)
      << message("(z = y)");
  EXPECT_NE(message("(x = x)").find("gives 'x' by itself"), std::string::npos);
  EXPECT_NE(message("(x = 3)").find("does not depend on its output 'y'"), std::string::npos);
  EXPECT_NE(message("(x)").find("'x' has no value"), std::string::npos);
  EXPECT_NE(message(" = g").find("is written inverse(x = g(y))"), std::string::npos);
}

}  // namespace
}  // namespace saltus
