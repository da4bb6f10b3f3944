#include "linalg/stage_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "linalg/lane_lu.h"

namespace saltus {
namespace {

using Complex = std::complex<double>;

// Entries in one of `sparsity` places and on the diagonal.
Pattern random_pattern(int n, unsigned sparsity, std::mt19937& random) {
  Pattern p{n, n, {0}, {}};
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i)
      if (i == j || random() % sparsity == 0) p.row.push_back(i);
    p.start.push_back(static_cast<int>(p.row.size()));
  }
  return p;
}

// Four doubles a number.
std::vector<double> random_lanes(std::size_t count, std::mt19937& random) {
  std::uniform_real_distribution<> uniform(-1.0, 1.0);
  std::vector<double> lanes;
  for (std::size_t k = 0; k < count; ++k)
    lanes.insert(lanes.end(), {uniform(random), uniform(random), uniform(random), 0.0});
  return lanes;
}

// Well conditioned.
void strengthen_diagonal(const Pattern& p, std::vector<double>& values) {
  for (int j = 0; j < p.columns; ++j)
    for (int k = p.start[j]; k < p.start[j + 1]; ++k)
      if (p.row[k] == j)
        for (int lane = 0; lane < 2; ++lane)
          values[4 * k + lane] += p.start[j + 1] - p.start[j] + 4.0;
}

struct Solved {
  std::vector<double> real;
  std::vector<Complex> complex;
};

// By a solver for each.
Solved solve_apart(const Pattern& p, const std::vector<double>& values,
                   const std::vector<double>& b, Backend backend = Backend::kRecorded) {
  std::vector<double> real_values;
  std::vector<Complex> complex_values;
  for (std::size_t k = 0; k < values.size(); k += 4) {
    real_values.push_back(values[k]);
    complex_values.emplace_back(values[k + 1], values[k + 2]);
  }
  Solved x;
  for (std::size_t k = 0; k < b.size(); k += 4) {
    x.real.push_back(b[k]);
    x.complex.emplace_back(b[k + 1], b[k + 2]);
  }
  LinearSolver<double> real(p, backend);
  LinearSolver<Complex> complex(p, backend);
  EXPECT_TRUE(real.factor(real_values.data()));
  EXPECT_TRUE(complex.factor(complex_values.data()));
  real.solve(x.real.data());
  complex.solve(x.complex.data());
  return x;
}

// Of the solver at hand, relative to the largest unknown of each system.
double difference(const StageSolver& solver, const Solved& expected, const std::vector<double>& b) {
  std::vector<double> x = b;
  solver.solve(x.data());
  std::vector<double> real;
  for (std::size_t k = 0; k < b.size(); k += 4) real.push_back(b[k]);
  solver.solve_real(real.data());
  double real_size = 0.0, complex_size = 0.0, real_error = 0.0, complex_error = 0.0;
  for (std::size_t j = 0; j < expected.real.size(); ++j) {
    real_size = std::max(real_size, std::abs(expected.real[j]));
    complex_size = std::max(complex_size, std::abs(expected.complex[j]));
    real_error = std::max(
        {real_error, std::abs(x[4 * j] - expected.real[j]), std::abs(real[j] - expected.real[j])});
    complex_error = std::max(complex_error,
                             std::abs(Complex(x[4 * j + 1], x[4 * j + 2]) - expected.complex[j]));
    EXPECT_EQ(x[4 * j + 3], 0.0);
  }
  return std::max(real_error / real_size, complex_error / complex_size);
}

// Of four right-hand sides at once from one after the other, relative to the largest number.
double difference_of_lanes(const StageSolver& solver, const std::vector<double>& b) {
  std::vector<double> x = b;
  solver.solve_real_lanes(x.data());
  double size = 0.0, error = 0.0;
  for (std::size_t lane = 0; lane < 4; ++lane) {
    std::vector<double> one;
    for (std::size_t k = lane; k < b.size(); k += 4) one.push_back(b[k]);
    solver.solve_real(one.data());
    for (std::size_t j = 0; j < one.size(); ++j) {
      size = std::max(size, std::abs(one[j]));
      error = std::max(error, std::abs(x[4 * j + lane] - one[j]));
    }
  }
  return error / size;
}

TEST(StageSolver, SolvesFourRightHandSidesAtOnce) {
  for (const Backend backend : {Backend::kAutomatic, Backend::kKlu}) {
    for (const int n : {1, 2, 8, 17, 33}) {
      std::mt19937 random(static_cast<unsigned>(n));
      const Pattern p = random_pattern(n, 4, random);
      StageSolver solver(p, backend);
      std::vector<double> values = random_lanes(p.row.size(), random);
      strengthen_diagonal(p, values);
      ASSERT_TRUE(solver.factor(values.data()));
      std::vector<double> b = random_lanes(static_cast<std::size_t>(n), random);
      for (std::size_t k = 3; k < b.size(); k += 4) b[k] = b[k - 1] - 2.0 * b[k - 3];
      EXPECT_LT(difference_of_lanes(solver, b), 1e-14) << n;
      solver.expect_many_solutions();
      EXPECT_LT(difference_of_lanes(solver, b), 1e-14) << n;
    }
  }
}

TEST(StageSolver, AgreesWithASolverForEachSystem) {
  for (const unsigned sparsity : {2u, 4u, 12u}) {
    for (const int n : {1, 2, 3, 8, 17, 33, 40}) {
      std::mt19937 random(static_cast<unsigned>(n));
      const Pattern p = random_pattern(n, sparsity, random);
      StageSolver solver(p);
      for (int round = 0; round < 8; ++round) {
        std::vector<double> values = random_lanes(p.row.size(), random);
        strengthen_diagonal(p, values);
        const std::vector<double> b = random_lanes(static_cast<std::size_t>(n), random);
        ASSERT_TRUE(solver.factor(values.data()));
        EXPECT_LT(difference(solver, solve_apart(p, values, b), b), 1e-13) << n << " " << sparsity;
      }
    }
  }
}

TEST(StageSolver, LoopsAndMachineCodeAgree) {
  if (!LaneLu::is_available()) GTEST_SKIP() << "no such instructions here";
  for (const int n : {1, 5, 20, 33}) {
    std::mt19937 random(static_cast<unsigned>(n));
    const Pattern p = random_pattern(n, 6, random);
    std::vector<double> values = random_lanes(p.row.size(), random);
    strengthen_diagonal(p, values);
    const std::vector<double> b = random_lanes(static_cast<std::size_t>(n), random);
    StageSolver solver(p);
    ASSERT_TRUE(solver.factor(values.data()));
    ASSERT_FALSE(solver.is_fused());
    const Solved expected = solve_apart(p, values, b);
    EXPECT_LT(difference(solver, expected, b), 1e-14);
    solver.expect_many_solutions();
    ASSERT_TRUE(solver.is_fused());
    // The factors of the loops, then its own.
    EXPECT_LT(difference(solver, expected, b), 1e-14);
    ASSERT_TRUE(solver.factor(values.data()));
    EXPECT_LT(difference(solver, expected, b), 1e-14);
  }
}

TEST(StageSolver, AcceptsBadlyScaledRowsAndColumns) {
  constexpr int n = 12;
  std::mt19937 random(3);
  const Pattern p = random_pattern(n, 3, random);
  std::vector<double> values = random_lanes(p.row.size(), random);
  strengthen_diagonal(p, values);
  std::vector<double> scaled = values;
  const auto row_scale = [](int i) { return std::ldexp(1.0, 40 * (i % 3) - 40); };
  const auto column_scale = [](int j) { return std::ldexp(1.0, 30 * (j % 2)); };
  for (int j = 0; j < n; ++j)
    for (int k = p.start[j]; k < p.start[j + 1]; ++k)
      for (int lane = 0; lane < 3; ++lane)
        scaled[4 * k + lane] *= row_scale(p.row[k]) * column_scale(j);
  const std::vector<double> b = random_lanes(n, random);
  const Solved expected = solve_apart(p, values, b);
  StageSolver solver(p);
  for (int round = 0; round < 8; ++round) {
    ASSERT_TRUE(solver.factor(scaled.data()));
    std::vector<double> x = b;
    for (int i = 0; i < n; ++i)
      for (int lane = 0; lane < 3; ++lane) x[4 * i + lane] *= row_scale(i);
    solver.solve(x.data());
    for (std::size_t j = 0; j < n; ++j) {
      const double scale = column_scale(static_cast<int>(j));
      EXPECT_NEAR(x[4 * j] * scale, expected.real[j], 1e-12);
      EXPECT_NEAR(x[4 * j + 1] * scale, expected.complex[j].real(), 1e-12);
      EXPECT_NEAR(x[4 * j + 2] * scale, expected.complex[j].imag(), 1e-12);
    }
  }
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Refused {
  const char* what;
  double real[4], re[4];
  int dependent_column;
};

TEST(StageSolver, RefusesASingularMatrixOrANanAndRecovers) {
  const Pattern p{2, 2, {0, 2, 4}, {0, 1, 0, 1}};
  const Refused cases[] = {
      {"real singular", {1, 2, 2, 4}, {1, 0.5, 0.5, 1}, 1},
      {"complex singular", {1, 0.5, 0.5, 1}, {1, 2, 2, 4}, -1},
      {"real nan", {1, kNan, 0.5, 1}, {1, 0.5, 0.5, 1}, -1},
      {"complex nan", {1, 0.5, 0.5, 1}, {1, 0.5, kNan, 1}, -1},
      {"nan in the last pivot", {1, 0.5, 0.5, 1}, {1, 0.5, 0.5, kNan}, -1},
  };
  const auto to_lanes = [](const double* real, const double* re) {
    std::vector<double> lanes;
    for (int k = 0; k < 4; ++k) lanes.insert(lanes.end(), {real[k], re[k], 0.0, 0.0});
    return lanes;
  };
  const double good[] = {1, 0.5, 0.5, 1};
  for (const Refused& c : cases) {
    for (const bool compiled : {false, true}) {
      StageSolver solver(p);
      ASSERT_TRUE(solver.factor(to_lanes(good, good).data()));
      if (compiled) solver.expect_many_solutions();
      EXPECT_FALSE(solver.factor(to_lanes(c.real, c.re).data())) << c.what;
      EXPECT_EQ(solver.dependent_column(), c.dependent_column) << c.what;
      for (int round = 0; round < 8; ++round) {
        ASSERT_TRUE(solver.factor(to_lanes(good, good).data())) << c.what;
        double b[] = {1.5, 3.0, 1.5, 0.0, 1.5, 3.0, 1.5, 0.0};
        solver.solve(b);
        for (std::size_t j = 0; j < 2; ++j) {
          EXPECT_NEAR(b[4 * j], 1.0, 1e-15);
          EXPECT_NEAR(b[4 * j + 1], 2.0, 1e-15);
          EXPECT_NEAR(b[4 * j + 2], 1.0, 1e-15);
        }
      }
      EXPECT_EQ(solver.is_fused(), LaneLu::is_available()) << c.what;
    }
  }
}

// Zeros that move: pivots of one system or of both must be chosen anew.
TEST(StageSolver, ChoosesNewPivots) {
  const Pattern p{2, 2, {0, 2, 4}, {0, 1, 0, 1}};
  const double diagonal[] = {1, 0.1, 0.1, 1}, other[] = {0, 2, 4, 0}, tiny[] = {1e-9, 2, 4, 0};
  const auto matrix = [](const double* real, const double* im) {
    std::vector<double> lanes;
    for (int k = 0; k < 4; ++k) lanes.insert(lanes.end(), {real[k], 0.0, im[k], 0.0});
    return lanes;
  };
  const std::vector<double> b = {4.0, 1.0, 2.0, 0.0, 6.0, -1.0, 0.5, 0.0};
  const std::vector<std::vector<double>> changes = {matrix(other, other), matrix(tiny, diagonal),
                                                    matrix(diagonal, other),
                                                    matrix(diagonal, tiny)};
  for (const bool compiled : {false, true}) {
    for (const std::vector<double>& changed : changes) {
      StageSolver solver(p);
      const std::vector<double> first = matrix(diagonal, diagonal);
      ASSERT_TRUE(solver.factor(first.data()));
      if (compiled) solver.expect_many_solutions();
      for (int round = 0; round < 8; ++round) {
        ASSERT_TRUE(solver.factor(changed.data()));
        EXPECT_LT(difference(solver, solve_apart(p, changed, b), b), 1e-15);
      }
    }
  }
}

TEST(StageSolver, JudgesMultipliersOfEquilibratedRows) {
  const Pattern p{2, 2, {0, 2, 4}, {0, 1, 0, 1}};
  StageSolver solver(p);
  // The second row is large: its multiplier is, but not for the size of the row.
  const std::vector<double> first = {1, 1, 0, 0, 1e9, 1e9, 0, 0, 2, 2, 0, 0, 1e9, 1e9, 0, 0};
  for (int round = 0; round < 8; ++round) ASSERT_TRUE(solver.factor(first.data()));
  EXPECT_EQ(solver.is_fused(), LaneLu::is_available());
  const std::vector<double> b = {3.0, 3.0, 0.0, 0.0, 2e9, 2e9, 0.0, 0.0};
  EXPECT_LT(difference(solver, solve_apart(p, first, b), b), 1e-15);
}

TEST(StageSolver, SolvesLargeAndRedundantSystemsApart) {
  std::mt19937 random(5);
  const Pattern large = random_pattern(250, 60, random);
  std::vector<double> values = random_lanes(large.row.size(), random);
  strengthen_diagonal(large, values);
  const std::vector<double> b = random_lanes(250, random);
  StageSolver solver(large);
  ASSERT_TRUE(solver.factor(values.data()));
  EXPECT_LT(difference(solver, solve_apart(large, values, b, Backend::kKlu), b), 1e-14);

  // One unknown in three rows.
  const Pattern tall{3, 1, {0, 3}, {0, 1, 2}};
  StageSolver redundant(tall);
  const std::vector<double> ones = {1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0};
  ASSERT_TRUE(redundant.factor(ones.data()));
  std::vector<double> x = {2, 1, 1, 0, 2, 1, 1, 0, 2, 1, 1, 0};
  redundant.solve(x.data());
  EXPECT_NEAR(x[0], 2.0, 1e-14);
  EXPECT_NEAR(x[1], 1.0, 1e-14);
  EXPECT_NEAR(x[2], 0.0, 1e-14);
  double real[] = {2, 2, 2};
  redundant.solve_real(real);
  EXPECT_NEAR(real[0], 2.0, 1e-14);
}

// Long lists, and pivots that had to be chosen again and again.
TEST(StageSolver, GivesUpWhatDoesNotPay) {
  std::mt19937 random(9);
  const int n = 60;
  const Pattern dense = random_pattern(n, 1, random);
  StageSolver solver(dense);
  for (int round = 0; round < 8; ++round) {
    const std::vector<double> values = random_lanes(dense.row.size(), random);
    const std::vector<double> b = random_lanes(n, random);
    ASSERT_TRUE(solver.factor(values.data()));
    EXPECT_FALSE(solver.is_fused());
    EXPECT_LT(difference(solver, solve_apart(dense, values, b), b), 1e-10);
  }
  // Two diagonals, one of them zero in turns.
  Pattern ring{n, n, {0}, {}};
  for (int j = 0; j < n; ++j) {
    const int next = (j + 1) % n;
    ring.row.insert(ring.row.end(), {std::min(j, next), std::max(j, next)});
    ring.start.push_back(static_cast<int>(ring.row.size()));
  }
  StageSolver moving(ring);
  for (int round = 0; round < 12; ++round) {
    std::vector<double> values;
    for (int j = 0; j < n; ++j)
      for (int k = ring.start[j]; k < ring.start[j + 1]; ++k) {
        const bool on = (ring.row[k] == j) == (round % 2 == 0);
        const double v = on ? 2.0 + 0.1 * j : 0.0;
        values.insert(values.end(), {v, v, 0.5 * v, 0.0});
      }
    const std::vector<double> b = random_lanes(n, random);
    ASSERT_TRUE(moving.factor(values.data()));
    EXPECT_LT(difference(moving, solve_apart(ring, values, b), b), 1e-14);
    moving.expect_many_solutions();
    EXPECT_EQ(moving.is_fused(), LaneLu::is_available() && round < 4) << round;
  }
}

TEST(StageSolver, TellsTheRatioOfPivots) {
  const Pattern p{2, 2, {0, 1, 2}, {0, 1}};
  StageSolver solver(p);
  const std::vector<double> values = {4.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0};
  for (int round = 0; round < 8; ++round) {
    ASSERT_TRUE(solver.factor(values.data()));
    EXPECT_EQ(solver.pivot_ratio(), 0.25);
  }
}

}  // namespace
}  // namespace saltus
