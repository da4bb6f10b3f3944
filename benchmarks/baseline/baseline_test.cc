#include "baseline/baseline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "expr/tape.h"
#include "problems/problem.h"

namespace saltus {
namespace {

Problem problem_named(const std::string& name) {
  for (Problem& problem : all_problems()) {
    if (problem.name == name) return problem;
  }
  throw std::runtime_error("no problem " + name);
}

// A point off the solution, so that no term vanishes by accident; voltages stay within the range
// where the exponentials are of the size of the other currents.
struct Point {
  explicit Point(const BaselineProblem& problem) : y(problem.start), dy(problem.slope) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] += 0.01 + 0.003 * static_cast<double>(i * i % 5);
      dy[i] += 0.1 + 0.01 * static_cast<double>(i);
    }
  }
  double t = 0.00037;
  std::vector<double> y;
  std::vector<double> dy;
};

class Baseline : public testing::TestWithParam<BaselineProblem> {};

TEST_P(Baseline, StartsConsistently) {
  const BaselineProblem& problem = GetParam();
  std::vector<double> r(problem.start.size());
  problem.residual(0.0, problem.start.data(), problem.slope.data(), r.data());
  for (const double value : r) EXPECT_NEAR(value, 0.0, 1e-15);
}

// Against central differences; their own error is about 1e-8 of the entry's column.
TEST_P(Baseline, HasTheJacobianOfItsResidual) {
  const BaselineProblem& problem = GetParam();
  const std::size_t n = problem.start.size();
  const Point point(problem);
  for (const double c : {0.0, 1.0, 1e4}) {
    std::vector<double> jacobian(n * n);
    problem.jacobian(point.t, c, point.y.data(), point.dy.data(), jacobian.data());
    for (std::size_t j = 0; j < n; ++j) {
      const double h = 1e-6;
      Point plus = point;
      Point minus = point;
      plus.y[j] += h, plus.dy[j] += c * h;
      minus.y[j] -= h, minus.dy[j] -= c * h;
      std::vector<double> above(n), below(n);
      problem.residual(point.t, plus.y.data(), plus.dy.data(), above.data());
      problem.residual(point.t, minus.y.data(), minus.dy.data(), below.data());
      const double* column = jacobian.data() + j * n;
      const double largest = std::abs(*std::max_element(
          column, column + n, [](double a, double b) { return std::abs(a) < std::abs(b); }));
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(column[i], (above[i] - below[i]) / (2.0 * h), 1e-7 * largest)
            << "row " << i << ", column " << j << ", c = " << c;
      }
    }
  }
}

// The hand-written residuals and the expressions of the problem set are the same functions (up to
// sign and order of terms).
TEST_P(Baseline, SolvesTheEquationsOfTheProblemSet) {
  const BaselineProblem& baseline = GetParam();
  const Problem problem = problem_named(baseline.name);
  std::vector<Expr> residuals, unknowns, slopes;
  for (const Equation& equation : problem.system.modes().front().equations) {
    residuals.push_back(equation.residual());
  }
  for (const Variable& variable : problem.system.variables()) {
    unknowns.push_back(variable.symbol);
    slopes.push_back(der(variable.symbol));
  }
  const Tape tape(residuals, {{problem.system.time()}, unknowns, slopes});
  Tape::Workspace workspace = tape.make_workspace();
  const Point point(baseline);
  std::vector<double> expected(residuals.size()), actual(residuals.size());
  const double* values[] = {&point.t, point.y.data(), point.dy.data()};
  tape.evaluate(values, workspace, expected.data());
  baseline.residual(point.t, point.y.data(), point.dy.data(), actual.data());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(std::abs(actual[i]), std::abs(expected[i]), 1e-12 * std::abs(expected[i]) + 1e-16)
        << "equation " << i;
  }
}

// The global error of a code without global control: a factor of the tolerance, here at most 100
// in the norm of the tolerance. The references come from other methods in quadruple precision.
TEST_P(Baseline, ReachesTheReference) {
  const BaselineProblem& baseline = GetParam();
  const Problem problem = problem_named(baseline.name);
  const double rtol = 1e-6;
  std::vector<double> atol = problem.scale;
  for (double& a : atol) a *= rtol;
  const BaselineRun run = run_ida(baseline, rtol, atol);
  ASSERT_TRUE(run.finished);
  for (std::size_t i = 0; i < run.end.size(); ++i) {
    const double allowed = rtol * std::abs(problem.reference[i]) + atol[i];
    EXPECT_LT(std::abs(run.end[i] - problem.reference[i]) / allowed, 100.0) << problem.names[i];
  }
  EXPECT_GT(run.steps, 50);
  EXPECT_GT(run.residuals, run.steps);
  EXPECT_GT(run.jacobians, 0);
}

TEST(RunIda, WantsOneAbsoluteToleranceForEachUnknown) {
  EXPECT_THROW(run_ida(robertson_baseline(), 1e-6, {1e-6}), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(All, Baseline, testing::ValuesIn(all_baselines()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace saltus
