#include "problems/problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "expr/tape.h"

namespace saltus {
namespace {

bool has_derivative(const Expr& a) {
  return std::ranges::any_of(
      leaves_of(a), [](const Expr& leaf) { return leaf.is_variable() && leaf.node()->order > 0; });
}

// The largest |residual| of the given constraints at (t, x).
double worst_residual(const Problem& problem, const std::vector<Expr>& constraints, double t,
                      const std::vector<double>& x) {
  std::vector<Expr> unknowns;
  for (const Variable& variable : problem.system.variables()) unknowns.push_back(variable.symbol);
  const Tape tape(constraints, {{problem.system.time()}, unknowns});
  Tape::Workspace workspace = tape.make_workspace();
  std::vector<double> out(constraints.size());
  const double* values[] = {&t, x.data()};
  tape.evaluate(values, workspace, out.data());
  double worst = 0.0;
  for (const double r : out) worst = std::max(worst, std::abs(r));
  return worst;
}

// The equations free of derivatives; in the transistor amplifier also the sums of the two
// equations of a coupling capacitor, whose derivatives cancel.
std::vector<Expr> constraints_of(const Problem& problem) {
  std::vector<Expr> result;
  const std::vector<Equation>& equations = problem.system.modes().front().equations;
  for (const Equation& equation : equations) {
    if (!has_derivative(equation.residual())) result.push_back(equation.residual());
  }
  if (problem.name == "transistor_amplifier") {
    for (const auto& [a, b] : {std::pair(0, 1), std::pair(3, 4), std::pair(6, 7)}) {
      result.push_back(-equations[a].equality.rhs - equations[b].equality.rhs);
    }
  }
  return result;
}

std::vector<double> start_of(const Problem& problem) {
  std::vector<double> start;
  for (const Variable& variable : problem.system.variables()) {
    start.push_back(variable.start.number());
  }
  return start;
}

class Problems : public testing::TestWithParam<Problem> {};

TEST_P(Problems, AreValidAndComplete) {
  const Problem& problem = GetParam();
  validate(problem.system);
  const std::size_t n = problem.system.variables().size();
  EXPECT_EQ(problem.system.modes().front().equations.size(), n);
  EXPECT_EQ(problem.reference.size(), n);
  EXPECT_EQ(problem.scale.size(), n);
}

TEST_P(Problems, HaveOneFixedStartForEachDifferentialEquation) {
  const Problem& problem = GetParam();
  const auto fixed = std::ranges::count_if(problem.system.variables(), &Variable::fixed);
  EXPECT_EQ(fixed + constraints_of(problem).size(), problem.system.variables().size());
}

// Residuals are of order 1 (fractions) or of currents of mA, so the bounds are a few roundings.
TEST_P(Problems, StartConsistently) {
  const Problem& problem = GetParam();
  const double rounding =
      problem.name == "robertson" || problem.name == "akzo_nobel" ? 1e-15 : 1e-17;
  EXPECT_LE(worst_residual(problem, constraints_of(problem), 0.0, start_of(problem)), rounding);
}

TEST_P(Problems, HaveReferencesThatSatisfyTheConstraints) {
  const Problem& problem = GetParam();
  const double rounding =
      problem.name == "robertson" || problem.name == "akzo_nobel" ? 1e-15 : 1e-16;
  EXPECT_LE(worst_residual(problem, constraints_of(problem), problem.t_end, problem.reference),
            rounding);
}

INSTANTIATE_TEST_SUITE_P(All, Problems, testing::ValuesIn(all_problems()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace saltus
