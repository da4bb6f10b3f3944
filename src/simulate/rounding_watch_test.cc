#include "simulate/rounding_watch.h"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "simulate/simulate.h"

namespace saltus {
namespace {

struct Case {
  std::string name;
  std::function<void(HybridSystem&, Mode&)> build;
  double stop_time = 1.0;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

HybridSystem system_of(const Case& c) {
  HybridSystem system(c.name);
  Mode& mode = system.mode("m");
  c.build(system, mode);
  return system;
}

// x' = a x + forcing from x0
Case scalar(std::string name, const std::function<Expr(const Expr& now, const Expr& x)>& slope,
            double x0, double stop_time) {
  return {std::move(name),
          [=](HybridSystem& system, Mode& mode) {
            const Expr x = system.variable("x", {.start = x0, .fixed = true});
            mode.equations = {der(x) == slope(system.time(), x)};
          },
          stop_time};
}

// A pendulum from rest at an angle to its highest point, beside a state that moves.
Case pendulum(std::string name, double angle, double stop_time) {
  return {
      std::move(name),
      [=](HybridSystem& system, Mode& mode) {
        const Expr phi = system.variable("phi", {.start = angle, .fixed = true});
        const Expr w = system.variable("w", {.start = 0.0, .fixed = true});
        const Expr s = system.variable("s", {.start = 0.0, .fixed = true});
        mode.equations = {der(phi) == w, der(w) == 9.81 * sin(phi), der(s) == cos(system.time())};
      },
      stop_time};
}

bool speaks_of_rounding(const SimulateResult& result) {
  bool found = false;
  for (const std::string& warning : result.warnings)
    found = found || warning.find("unstable") != std::string::npos;
  return found;
}

class Unstable : public testing::TestWithParam<Case> {};

TEST_P(Unstable, IsNotPassedOverInSilence) {
  for (const double tolerance : {1e-4, 1e-6, 1e-9}) {
    const SimulateResult result = simulate(
        system_of(GetParam()), {.stop_time = GetParam().stop_time, .tolerance = tolerance});
    EXPECT_TRUE(!result.completed() || speaks_of_rounding(result)) << tolerance;
  }
}

// On the one solution of x' = 1000 (x - sin t) that stays: exact arithmetic would keep to it.
constexpr double kRate = 1000.0;
constexpr double kStays = kRate / (kRate * kRate + 1.0);

INSTANTIATE_TEST_SUITE_P(
    Solutions, Unstable,
    testing::Values(
        scalar(
            "from_below_the_tolerance",
            [](const Expr& /*now*/, const Expr& x) { return 1000.0 * x; }, 1e-300, 1.0),
        scalar(
            "at_rest", [](const Expr& /*now*/, const Expr& x) { return 1000.0 * (x - 1.0); }, 1.0,
            1.0),
        scalar(
            "on_the_solution_that_stays",
            [](const Expr& now, const Expr& x) { return kRate * (x - sin(now)); }, kStays, 2.0),
        pendulum("upright", 0.0, 1e3), pendulum("upright_but_for_rounding", 1e-17, 100.0),
        Case{"saddle",
             [](HybridSystem& system, Mode& mode) {
               const Expr x = system.variable("x", {.start = 1.0, .fixed = true});
               const Expr y = system.variable("y", {.start = -1.0, .fixed = true});
               mode.equations = {der(x) == y, der(y) == x};
             },
             50.0}),
    [](const auto& test) { return test.param.name; });

class Stable : public testing::TestWithParam<Case> {};

TEST_P(Stable, IsNotWarnedOf) {
  for (const double tolerance : {1e-4, 1e-6, 1e-9}) {
    const SimulateResult result = simulate(
        system_of(GetParam()), {.stop_time = GetParam().stop_time, .tolerance = tolerance});
    EXPECT_TRUE(result.completed()) << tolerance << ": " << result.message;
    EXPECT_FALSE(speaks_of_rounding(result)) << tolerance;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Solutions, Stable,
    testing::Values(
        scalar(
            "growth", [](const Expr& /*now*/, const Expr& x) { return x; }, 1.0, 100.0),
        scalar(
            "fast_growth", [](const Expr& /*now*/, const Expr& x) { return 1000.0 * x; }, 1.0, 0.5),
        scalar(
            "small_growth", [](const Expr& /*now*/, const Expr& x) { return x; }, 1e-3, 50.0),
        scalar(
            "logistic", [](const Expr& /*now*/, const Expr& x) { return 20.0 * x * (1.0 - x); },
            1e-3, 10.0),
        scalar(
            "stiff", [](const Expr& now, const Expr& x) { return -1e6 * (x - sin(now)); }, 1.0,
            10.0),
        // Over the top of its swing small changes grow, and below they turn.
        pendulum("swing", 0.5, 200.0),
        Case{"van_der_pol",
             [](HybridSystem& system, Mode& mode) {
               const Expr x = system.variable("x", {.start = 2.0, .fixed = true});
               const Expr y = system.variable("y", {.start = 0.0, .fixed = true});
               mode.equations = {der(x) == y, der(y) == 100.0 * (1.0 - x * x) * y - x};
             },
             500.0},
        Case{"growing_oscillation",
             [](HybridSystem& system, Mode& mode) {
               const Expr x = system.variable("x", {.start = 1.0, .fixed = true});
               const Expr y = system.variable("y", {.start = 0.0, .fixed = true});
               mode.equations = {der(x) == 0.5 * x + 5.0 * y, der(y) == -5.0 * x + 0.5 * y};
             },
             100.0}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace saltus
