// delay(): against exact solutions, found by the method of steps.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

HybridSystem system_of(const std::string& text) {
  return build(load_modelica_text(text, "", {.use_modelica_path = false}));
}

SimulateResult run(const std::string& text, double stop_time, SimulateOptions options = {}) {
  options.stop_time = stop_time;
  SimulateResult result = simulate(system_of(text), options);
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  return result;
}

// x' = -x(t - 1), x = 1 before: the sum of (-1)^k (t - k + 1)^k / k! for k <= t + 1.
double steps(double t) {
  double sum = 0.0;
  double factorial = 1.0;
  for (int k = 0; k <= static_cast<int>(std::floor(t)) + 1; ++k) {
    if (k > 0) factorial *= k;
    sum += (k % 2 == 0 ? 1.0 : -1.0) * std::pow(t - k + 1, k) / factorial;
  }
  return sum;
}

const char* const kRetarded =
    "model M\n  Real x(start = 1, fixed = true);\nequation\n"
    "  der(x) = -delay(x, 1);\nend M;\n";

TEST(Delay, FollowsTheMethodOfSteps) {
  EXPECT_NEAR(steps(1), 0.0, 1e-15);
  EXPECT_NEAR(steps(3), -1.0 / 6.0, 1e-15);
  const SimulateResult result = run(kRetarded, 10.0, {.tolerance = 1e-8, .interval = 0.05});
  const std::vector<double> x = result.trajectory.column("x");
  for (std::size_t i = 0; i < result.trajectory.size(); ++i)
    EXPECT_NEAR(x[i], steps(result.trajectory.time[i]), 1e-7) << result.trajectory.time[i];
  // Between the arrivals the solution is a polynomial: a few steps for each.
  EXPECT_LT(result.statistics.steps, 150U);
}

TEST(Delay, WorksWithEveryMethodThatSolvesTheRest) {
  for (const Method method : {Method::kRadau, Method::kBdf})
    EXPECT_NEAR(run(kRetarded, 3.0, {.tolerance = 1e-8, .method = method}).final.at("x"),
                -1.0 / 6.0, 1e-6);
}

// y = u + y(t - 1)/2 with a unit step of u at 0.25: a jump at 0.25 + k, which none of the
// equations smooths.
TEST(Delay, LetsJumpsArriveAgainAndAgain) {
  const SimulateResult result =
      run("model M\n  Real u = if time < 0.25 then 0 else 1, y;\nequation\n"
          "  y = u + delay(y, 1)/2;\nend M;\n",
          6.0, {.interval = 0.1});
  const std::vector<double> y = result.trajectory.column("y");
  for (std::size_t i = 0; i < result.trajectory.size(); ++i) {
    const double since = result.trajectory.time[i] - 0.25;
    if (std::abs(since - std::round(since)) < 1e-9) continue;
    const double expected = since < 0 ? 0.0 : 2.0 - std::pow(0.5, std::floor(since));
    EXPECT_NEAR(y[i], expected, 1e-12) << result.trajectory.time[i];
  }
}

// The signal is its value at the start before it has a past; a nested delay adds up.
TEST(Delay, AddsUpAndStartsWithTheFirstValue) {
  const SimulateResult result =
      run("model M\n  Real a = 2 + sin(time), b = delay(delay(a, 0.3), 0.4);\n"
          "  Real c(start = 0, fixed = true);\nequation\n  der(c) = delay(a, 0.5);\nend M;\n",
          2.0, {.tolerance = 1e-9});
  EXPECT_NEAR(result.final.at("b"), 2 + std::sin(1.3), 1e-7);
  EXPECT_NEAR(result.final.at("c"), 4.0 + 1.0 - std::cos(1.5), 1e-8);
  const std::vector<double> b = result.trajectory.column("b");
  for (std::size_t i = 0; i < result.trajectory.size(); ++i)
    EXPECT_TRUE(result.trajectory.time[i] >= 0.7 || std::abs(b[i] - 2.0) < 1e-12)
        << result.trajectory.time[i];
}

// x = 1/2 at t = 1/2 is seen 0.3 later, and so is the reset to 0 at t = 1.
TEST(Delay, EventsOfDelayedSignalsAreLocated) {
  const SimulateResult result =
      run("model M\n  Real x(start = 0, fixed = true), seen, back;\n  Real d = delay(x, 0.3);\n"
          "initial equation\n  pre(seen) = 0;\n  pre(back) = 0;\nequation\n  der(x) = 1;\n"
          "  when x > 1 then\n    reinit(x, 0);\n  end when;\n"
          "  when d > 0.5 then\n    seen = time;\n  end when;\n"
          "  when d < 0.5 and time > 1 then\n    back = time;\n  end when;\nend M;\n",
          1.5);
  EXPECT_NEAR(result.final.at("seen"), 0.8, 1e-9);
  EXPECT_NEAR(result.final.at("back"), 1.3, 1e-9);
  EXPECT_NEAR(result.final.at("d"), 0.2, 1e-9);
}

// Waves between two ends of a line of 0.5 s: source 1 V behind 1 Ohm, line 1 Ohm, open end. The
// voltage at the open end is 0, then 1, for good; at the source 1/2, then 1.
TEST(Delay, CarriesWavesAlongALosslessLine) {
  const SimulateResult result =
      run("model M\n  parameter Real T = 0.5, Z = 1;\n  Real v1, i1, v2, i2, e1, e2;\n"
          "  Real source = if time < 0.1 then 0 else 1;\nequation\n"
          "  source = v1 + 1*i1;\n  i2 = 0;\n  v1 = Z*i1 + e1;\n  v2 = Z*i2 + e2;\n"
          "  e1 = delay(v2 + Z*i2, T);\n  e2 = delay(v1 + Z*i1, T);\nend M;\n",
          3.0, {.interval = 0.25});
  const std::vector<double> v1 = result.trajectory.column("v1");
  const std::vector<double> v2 = result.trajectory.column("v2");
  for (std::size_t i = 0; i < result.trajectory.size(); ++i) {
    const double t = result.trajectory.time[i];
    if (std::abs(t - 0.1) < 1e-6 || std::abs(t - 0.6) < 1e-6 || std::abs(t - 1.1) < 1e-6) continue;
    EXPECT_NEAR(v1[i], t < 0.1 ? 0.0 : t < 1.1 ? 0.5 : 1.0, 1e-12) << t;
    EXPECT_NEAR(v2[i], t < 0.6 ? 0.0 : 1.0, 1e-12) << t;
  }
}

TEST(Delay, MayBeDifferentiatedWhereTheIndexAsksForIt) {
  // x is given, so v is the derivative of the delayed signal.
  const SimulateResult result =
      run("model M\n  Real x, v;\nequation\n  x = delay(sin(3*time), 0.25);\n  der(x) = v;\n"
          "end M;\n",
          1.0, {.tolerance = 1e-9, .max_step = 0.02});
  EXPECT_NEAR(result.final.at("v"), 3 * std::cos(3 * 0.75), 1e-4);
}

TEST(Delay, AModelHasOnePastAtATime) {
  const HybridSystem system = system_of(kRetarded);
  SimulateOptions options{.stop_time = 1.0};
  bool refused = false;
  options.progress = [&](double) {
    try {
      simulate(system, {.stop_time = 1.0});
    } catch (const Error&) {
      refused = true;
    }
  };
  EXPECT_NEAR(simulate(system, options).final.at("x"), 0.0, 1e-9);
  EXPECT_TRUE(refused);
  EXPECT_NEAR(simulate(system, {.stop_time = 2.0}).final.at("x"), -0.5, 1e-9);
}

std::string refusal(const std::string& equations) {
  try {
    system_of("model M\n  Real x, y;\nequation\n  y = time;\n" + equations + "end M;\n");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Delay, RefusesWhatHasNoPast) {
  EXPECT_NE(refusal("  x = delay(y, -1);\n").find("5:16: error: delay() by -1"), std::string::npos);
  EXPECT_NE(refusal("  x = delay(y, time);\n").find("delay() by a time that varies"),
            std::string::npos);
  EXPECT_NE(refusal("  x = delay(y, 2, 1);\n").find("longer than the longest delay 1"),
            std::string::npos);
  EXPECT_NE(refusal("  x = delay(y);\n").find("delay() takes 2 to 3 arguments"), std::string::npos);
}

}  // namespace
}  // namespace saltus
