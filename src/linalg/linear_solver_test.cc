#include "linalg/linear_solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace saltus {
namespace {

// A random sparse matrix with a strong diagonal, so that both backends are well conditioned.
Pattern band_pattern(int n, int width) {
  Pattern p{n, n, {0}, {}};
  for (int j = 0; j < n; ++j) {
    for (int i = std::max(0, j - width); i <= std::min(n - 1, j + width); ++i) p.row.push_back(i);
    p.start.push_back(static_cast<int>(p.row.size()));
  }
  return p;
}

template <class Scalar>
Scalar random_value(std::mt19937& random);
template <>
double random_value<double>(std::mt19937& random) {
  return std::uniform_real_distribution<>(-1, 1)(random);
}
template <>
std::complex<double> random_value<std::complex<double>>(std::mt19937& random) {
  return {random_value<double>(random), random_value<double>(random)};
}

template <class Scalar>
double worst_residual(int n, Backend backend, int repeats) {
  std::mt19937 random(7);
  const Pattern p = band_pattern(n, 2);
  LinearSolver<Scalar> solver(p, backend);
  double worst = 0.0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::vector<Scalar> values(p.nonzeros());
    for (Scalar& v : values) v = random_value<Scalar>(random);
    for (int j = 0; j < n; ++j)
      for (int k = p.start[j]; k < p.start[j + 1]; ++k)
        if (p.row[k] == j) values[k] += Scalar(4.0);
    std::vector<Scalar> b(n);
    for (Scalar& v : b) v = random_value<Scalar>(random);
    std::vector<Scalar> x = b;
    EXPECT_TRUE(solver.factor(values.data()));
    solver.solve(x.data());
    std::vector<Scalar> r = b;
    for (int j = 0; j < n; ++j)
      for (int k = p.start[j]; k < p.start[j + 1]; ++k) r[p.row[k]] -= values[k] * x[j];
    for (const Scalar& v : r) worst = std::max(worst, std::abs(v));
  }
  return worst;
}

TEST(LinearSolver, SolvesSmallRealAndComplex) {
  EXPECT_LT(worst_residual<double>(12, Backend::kRecorded, 3), 1e-13);
  EXPECT_LT(worst_residual<std::complex<double>>(12, Backend::kRecorded, 3), 1e-13);
}

TEST(LinearSolver, SolvesSparseRealAndComplexWithReusedPivots) {
  EXPECT_LT(worst_residual<double>(300, Backend::kKlu, 3), 1e-13);
  EXPECT_LT(worst_residual<std::complex<double>>(300, Backend::kKlu, 3), 1e-13);
}

TEST(LinearSolver, ReportsSingularMatrixAndDependentColumn) {
  // Third column is the sum of the first two.
  Pattern p{3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}};
  const double values[] = {1, 2, 3, 4, 5, 7, 5, 7, 10};
  for (const Backend backend : {Backend::kRecorded, Backend::kKlu}) {
    LinearSolver<double> solver(p, backend);
    EXPECT_FALSE(solver.factor(values));
  }
  LinearSolver<double> solver(p, Backend::kRecorded);
  solver.factor(values);
  EXPECT_EQ(solver.dependent_column(), 2);
}

TEST(LinearSolver, AcceptsBadlyScaledRows) {
  Pattern p{2, 2, {0, 2, 4}, {0, 1, 0, 1}};
  const double values[] = {1e-12, 1.0, 2e-12, -1.0};  // well conditioned after row scaling
  for (const Backend backend : {Backend::kRecorded, Backend::kKlu}) {
    LinearSolver<double> solver(p, backend);
    ASSERT_TRUE(solver.factor(values));
    double b[] = {3e-12, 0.0};
    solver.solve(b);
    EXPECT_NEAR(b[0], 1.0, 1e-14);
    EXPECT_NEAR(b[1], 1.0, 1e-14);
  }
}

// Farads beside ohms: the pivots differ by more than a double has digits, the columns do not.
TEST(LinearSolver, AcceptsBadlyScaledColumns) {
  Pattern p{2, 2, {0, 2, 4}, {0, 1, 0, 1}};
  const double values[] = {1e-20, 2e-20, 1.0, -1.0};
  for (const Backend backend : {Backend::kRecorded, Backend::kKlu}) {
    LinearSolver<double> solver(p, backend);
    ASSERT_TRUE(solver.factor(values));
    double b[] = {2.0, 1.0};
    solver.solve(b);
    EXPECT_NEAR(b[0], 1e20, 1e6);
    EXPECT_NEAR(b[1], 1.0, 1e-14);
  }
  // The second row is twice the first.
  const double dependent[] = {1e-20, 2e-20, 1.0, 2.0};
  for (const Backend backend : {Backend::kRecorded, Backend::kKlu})
    EXPECT_FALSE(LinearSolver<double>(p, backend).factor(dependent));
}

TEST(LinearSolver, RefusesNan) {
  Pattern p{1, 1, {0, 1}, {0}};
  const double values[] = {std::nan("")};
  EXPECT_FALSE(LinearSolver<double>(p, Backend::kRecorded).factor(values));
  EXPECT_FALSE(LinearSolver<double>(p, Backend::kKlu).factor(values));
}

}  // namespace
}  // namespace saltus
