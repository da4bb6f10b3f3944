// The error reached against the error asked for, on problems whose solution is known from other
// methods in higher precision (problems/reference).

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "problems/problem.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const Problem& problem, Method method, double tolerance) {
  SimulateOptions options;
  options.method = method;
  options.tolerance = tolerance;
  options.stop_time = problem.t_end;
  options.interval = problem.t_end;
  return simulate(problem.system, options);
}

// Root mean square of the errors, each in units of the tolerance asked for.
double weighted_error(const Problem& problem, const SimulateResult& result, double tolerance) {
  double sum = 0.0;
  for (std::size_t i = 0; i < problem.names.size(); ++i) {
    const double reference = problem.reference[i];
    const double allowed = tolerance * (problem.scale[i] + std::abs(reference));
    const double e = (result.final.at(problem.names[i]) - reference) / allowed;
    sum += e * e;
  }
  return std::sqrt(sum / static_cast<double>(problem.names.size()));
}

class Accuracy : public testing::TestWithParam<Problem> {};

TEST_P(Accuracy, RadauStaysWithinTenTolerances) {
  const Problem& problem = GetParam();
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
    const SimulateResult result = run(problem, Method::kRadau, tolerance);
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    EXPECT_LE(weighted_error(problem, result, tolerance), 10.0) << "tolerance " << tolerance;
  }
}

TEST_P(Accuracy, BdfStaysWithinHundredTolerances) {
  const Problem& problem = GetParam();
  for (const double tolerance : {1e-4, 1e-6}) {
    const SimulateResult result = run(problem, Method::kBdf, tolerance);
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    EXPECT_LE(weighted_error(problem, result, tolerance), 100.0) << "tolerance " << tolerance;
  }
}

TEST_P(Accuracy, BdfAgreesWithRadau) {
  Problem problem = GetParam();
  const double tolerance = 1e-6;
  const SimulateResult radau = run(problem, Method::kRadau, tolerance);
  const SimulateResult bdf = run(problem, Method::kBdf, tolerance);
  for (std::size_t i = 0; i < problem.names.size(); ++i)
    problem.reference[i] = radau.final.at(problem.names[i]);
  EXPECT_LE(weighted_error(problem, bdf, tolerance), 100.0);
}

INSTANTIATE_TEST_SUITE_P(Problems, Accuracy,
                         testing::Values(robertson(), akzo_nobel(), transistor_amplifier(),
                                         transistor_amplifier_semi_explicit(), diode_ring()),
                         [](const auto& tested) { return tested.param.name; });

// A speed that rests until a smooth ramp of the acceleration begins, after steps that have grown
// long. Exact: the ramp is symmetric, so v = t - (begin + duration / 2) after it.
TEST(Ramp, IsMetByTheEndOfAStepWhereverItBegins) {
  constexpr double kDuration = 0.1;
  for (int k = 0; k < 40; ++k) {
    const double begin = 5.0 + 0.025 * k;
    HybridSystem system("ramp");
    const Expr v = system.variable("v");
    const Expr s = min(max((system.time() - begin) / kDuration, 0.0), 1.0);
    system.mode("only").equations = {der(v) == s * s * s * (10.0 + s * (6.0 * s - 15.0))};
    SimulateOptions options;
    options.stop_time = 8.0;
    options.tolerance = 1e-6;
    options.interval = 0.0;
    const SimulateResult result = simulate(system, options);
    ASSERT_TRUE(result.completed()) << result.message;
    EXPECT_NEAR(result.final.at("v"), 8.0 - begin - 0.5 * kDuration, 1e-7) << begin;
    for (const double t : {begin, begin + kDuration}) {
      bool met = false;
      for (const double end : result.trajectory.time) met = met || std::abs(end - t) < 1e-12;
      EXPECT_TRUE(met) << t;
    }
  }
}

}  // namespace
}  // namespace saltus
