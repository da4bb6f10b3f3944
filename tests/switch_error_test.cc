// KM, Theorem 14: over several switches the error at the end is linear in the tolerance, in the
// error of the switch points and in the error of the start.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "simulate/simulate.h"

namespace saltus {
namespace {

constexpr double kLow = 0.5, kHigh = 1.5, kStop = 10.0;

// x rises towards 2 in a mode of index 1 and falls in one of index 2, between two thresholds.
HybridSystem between_thresholds(double start, double shift) {
  HybridSystem system("thresholds");
  const Expr t = system.time();
  const Expr x = system.variable("x", {.start = start, .fixed = true});
  const Expr z = system.variable("z");
  const Expr p = system.variable("p");
  Mode& rise = system.mode("rise");
  rise.equations = {{"rise", der(x) == 2.0 - x + z}, {"ripple", z == 0.1 * sin(t)}};
  rise.guards = {{.name = "high", .value = kHigh + shift - x, .to = "fall"}};
  Mode& fall = system.mode("fall");
  fall.equations = {{"fall", der(x) == -x + 0.1 * p}, {"rate", der(p) == z}, {"path", p == sin(t)}};
  fall.guards = {{.name = "low", .value = x - kLow + shift, .to = "rise"}};
  system.initial_mode = "rise";
  return system;
}

// The same in closed form: x = level + (sin t - cos t)/20 + K exp(-t), switches by bisection.
double exact_end(double start, double shift, std::vector<double>* switches = nullptr) {
  double t = 0.0, x = start;
  bool rises = true;
  while (true) {
    const double level = rises ? 2.0 : 0.0;
    const auto ripple = [](double at) { return 0.05 * (std::sin(at) - std::cos(at)); };
    const double factor = (x - level - ripple(t)) * std::exp(t);
    const auto value = [&](double at) { return level + ripple(at) + factor * std::exp(-at); };
    const double threshold = rises ? kHigh + shift : kLow - shift;
    const auto beyond = [&](double at) { return rises == (value(at) > threshold); };
    double late = t;
    while (late < kStop && !beyond(late)) late = std::min(kStop, late + 0.01);
    if (!beyond(late)) return value(kStop);
    double early = late - 0.01;
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (early + late);
      (beyond(middle) ? late : early) = middle;
    }
    t = late;
    x = threshold;
    rises = !rises;
    if (switches != nullptr) switches->push_back(t);
  }
}

double end_of(const HybridSystem& system, double tolerance) {
  const SimulateResult result = simulate(system, {.stop_time = kStop, .tolerance = tolerance});
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  return result.final.at("x");
}

TEST(SwitchErrors, AreBoundedByTheToleranceOverNineSwitches) {
  std::vector<double> switches;
  const double exact = exact_end(1.0, 0.0, &switches);
  ASSERT_GE(switches.size(), 8U);
  for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
    const HybridSystem system = between_thresholds(1.0, 0.0);
    const SimulateResult result = simulate(system, {.stop_time = kStop, .tolerance = tolerance});
    EXPECT_NEAR(result.final.at("x"), exact, 10.0 * tolerance) << tolerance;
    ASSERT_EQ(result.events.size(), switches.size()) << tolerance;
    for (std::size_t k = 0; k < switches.size(); ++k)
      EXPECT_NEAR(result.events[k].time, switches[k], 10.0 * tolerance) << tolerance << ", " << k;
  }
}

// The slope is that of the exact solution; it stays the same as the cause becomes smaller.
void expect_linear(const std::function<double(double)>& end,
                   const std::function<double(double)>& exact) {
  const double slope = (exact(1e-5) - exact(-1e-5)) / 2e-5;
  ASSERT_GT(std::abs(slope), 0.1);
  const double undisturbed = end(0.0);
  for (const double size : {1e-3, 1e-4, 1e-5, 1e-6})
    EXPECT_NEAR((end(size) - undisturbed) / size, slope, 0.02 * std::abs(slope) + 10.0 * size)
        << size;
}

TEST(SwitchErrors, AreLinearInTheErrorOfTheSwitchPoints) {
  expect_linear([](double shift) { return end_of(between_thresholds(1.0, shift), 1e-12); },
                [](double shift) { return exact_end(1.0, shift); });
}

TEST(SwitchErrors, AreLinearInTheErrorOfTheStart) {
  expect_linear([](double error) { return end_of(between_thresholds(1.0 + error, 0.0), 1e-12); },
                [](double error) { return exact_end(1.0 + error, 0.0); });
}

}  // namespace
}  // namespace saltus
