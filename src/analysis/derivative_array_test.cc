#include "analysis/derivative_array.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

namespace saltus {
namespace {

// A mode given by residuals in variables of the graph, without parameters.
struct Written {
  Graph graph;
  DaeDefinition mode;

  Expr unknown(const std::string& name) {
    const Expr x = graph.new_variable(name);
    mode.unknowns.push_back(x);
    mode.derivatives.push_back(der(x));
    mode.nominal.push_back(1.0);
    return x;
  }
  void equation(const Expr& residual) { mode.residuals.push_back(residual); }
  ArrayAnalysis analyse(double t, std::vector<double> x) {
    mode.time = graph.time();
    const std::vector<double> dx(x.size(), 0.0);
    return analyse_array(graph, mode, t, x, dx, {}, {});
  }
};

CharacteristicValues values(int mu, int d, int a, int v, int u) { return {mu, d, a, v, u}; }

// Kronecker form with one nilpotent block of size `index` and two differential equations, hidden by
// random transformations of condition below 100 and scaled by up to 1e6 a row and column.
TEST(DerivativeArray, FindsTheKroneckerIndexUnderTransformationsAndScaling) {
  std::mt19937 random(42);
  std::normal_distribution<> normal;
  std::uniform_real_distribution<> exponent(-3.0, 3.0);
  for (int seed = 0; seed < 100; ++seed) {
    const int index = 1 + seed % 4;
    const int n = index + 2;
    Eigen::MatrixXd e = Eigen::MatrixXd::Zero(n, n);
    Eigen::MatrixXd a = Eigen::MatrixXd::Identity(n, n);
    e.topLeftCorner(2, 2).setIdentity();
    a.topLeftCorner(2, 2) << -1.0, 2.0, 0.5, -0.3;
    for (int k = 0; k + 1 < index; ++k) e(2 + k, 3 + k) = 1.0;
    const auto transform = [&] {
      for (;;) {
        Eigen::MatrixXd t(n, n);
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) t(i, j) = normal(random);
        const Eigen::JacobiSVD<Eigen::MatrixXd> svd(t);
        if (svd.singularValues()(0) / svd.singularValues()(n - 1) < 100.0) return t;
      }
    };
    Eigen::VectorXd rows(n), columns(n);
    for (int i = 0; i < n; ++i) {
      rows(i) = std::pow(10.0, exponent(random));
      columns(i) = std::pow(10.0, exponent(random));
    }
    const Eigen::MatrixXd p = rows.asDiagonal() * transform();
    const Eigen::MatrixXd q = transform() * columns.asDiagonal();
    e = p * e * q;
    a = p * a * q;
    Written w;
    std::vector<Expr> x;
    for (int j = 0; j < n; ++j) x.push_back(w.unknown("x" + std::to_string(j)));
    for (int i = 0; i < n; ++i) {
      Expr residual = -sin(w.graph.time() + i);
      for (int j = 0; j < n; ++j) residual += e(i, j) * der(x[j]) - a(i, j) * x[j];
      w.equation(residual);
    }
    const ArrayAnalysis found = w.analyse(0.3, std::vector<double>(n, 0.0));
    EXPECT_TRUE(found.holds) << "seed " << seed;
    EXPECT_EQ(found.values, values(index - 1, 2, index, 0, 0)) << "seed " << seed;
  }
}

// Two capacitors in parallel behind a coil: microfarads beside ohms, milliseconds. The loop of the
// capacitors is differentiated once; coil and one voltage remain differential.
TEST(DerivativeArray, DoesNotDependOnTheUnitOfTime) {
  for (const double unit : {1e-6, 1e-3, 1.0, 1e3, 1e6}) {
    Written w;
    const Expr i = w.unknown("i");
    const Expr v1 = w.unknown("v1");
    const Expr v2 = w.unknown("v2");
    const Expr i1 = w.unknown("i1");
    const Expr i2 = w.unknown("i2");
    w.equation(1e-2 * unit * der(i) - 10.0 + 20.0 * i + v1);
    w.equation(1e-6 * unit * der(v1) - i1);
    w.equation(3e-6 * unit * der(v2) - i2);
    w.equation(i - i1 - i2);
    w.equation(v1 - v2);
    const ArrayAnalysis found = w.analyse(0.0, {0, 0, 0, 0, 0});
    EXPECT_TRUE(found.holds);
    EXPECT_EQ(found.values, values(1, 2, 3, 0, 0)) << "unit " << unit;
    EXPECT_GE(found.gap, 1e9) << "unit " << unit;
  }
}

TEST(DerivativeArray, FindsThePendulumValuesOfHmExample21) {
  Written w;
  const Expr x = w.unknown("x");
  const Expr y = w.unknown("y");
  const Expr u = w.unknown("u");
  const Expr v = w.unknown("v");
  const Expr lambda = w.unknown("lambda");
  w.equation(der(x) - u);
  w.equation(der(y) - v);
  w.equation(der(u) + 2.0 * x * lambda);
  w.equation(der(v) + 9.81 + 2.0 * y * lambda);
  w.equation(x * x + y * y - 1.0);
  const ArrayAnalysis found = w.analyse(0.0, {0.6, -0.8, 0.4, 0.3, 0.0});
  EXPECT_TRUE(found.holds);
  EXPECT_EQ(found.values, values(2, 2, 3, 0, 0));
}

// At rest, with a multiplier of any small size as a guess: ranks do not follow accidents of a
// point.
TEST(DerivativeArray, FindsThePendulumValuesWhereMultipliersVanish) {
  for (const double guess : {0.0, 1e-12, 1e-9, 1e-6, 1e-3}) {
    Written w;
    const Expr x = w.unknown("x");
    const Expr y = w.unknown("y");
    const Expr u = w.unknown("u");
    const Expr v = w.unknown("v");
    const Expr lambda = w.unknown("lambda");
    w.equation(der(x) - u);
    w.equation(der(y) - v);
    w.equation(der(u) + 2.0 * x * lambda + 8.0 * w.graph.time() * y);
    w.equation(der(v) + 9.81 + 2.0 * y * lambda - 8.0 * w.graph.time() * x);
    w.equation(x * x + y * y - 1.0);
    const ArrayAnalysis found = w.analyse(0.0, {guess, -1.0, guess, 0.0, guess});
    EXPECT_TRUE(found.holds) << guess;
    EXPECT_EQ(found.values, values(2, 2, 3, 0, 0)) << guess;
  }
}

TEST(DerivativeArray, FindsFreeThrustBeforeTheControlLaw) {
  // HM Example 22: flight with thrust u; u is free, the motion is not determined.
  Written w;
  const Expr x = w.unknown("x");
  const Expr y = w.unknown("y");
  const Expr vx = w.unknown("vx");
  const Expr vy = w.unknown("vy");
  const Expr thrust = w.unknown("thrust");
  w.equation(der(x) - vx);
  w.equation(der(y) - vy);
  w.equation(der(vx) - 0.3 * thrust);
  w.equation(der(vy) + 9.81 - 0.9 * thrust);
  const ArrayAnalysis found = w.analyse(0.0, {0, 0, 1, 1, 0});
  EXPECT_EQ(found.values, values(0, 4, 0, 0, 1));
  ASSERT_EQ(found.free_unknowns.size(), 1U);
  EXPECT_EQ(found.free_unknowns[0], 4U);
}

TEST(DerivativeArray, CountsConsistentRedundancy) {
  Written w;
  const Expr x = w.unknown("x");
  const Expr y = w.unknown("y");
  w.equation(der(x) + x);
  w.equation(y - x);
  w.equation(2.0 * y - 2.0 * x);
  const ArrayAnalysis found = w.analyse(0.0, {1.0, 1.0});
  EXPECT_TRUE(found.consistent);
  EXPECT_EQ(found.values, values(0, 1, 1, 1, 0));
  EXPECT_EQ(found.redundant_equations, (std::vector<std::size_t>{1, 2}));
}

TEST(DerivativeArray, NamesContradictoryEquations) {
  Written w;
  const Expr x = w.unknown("x");
  const Expr y = w.unknown("y");
  w.equation(der(x) + x);
  w.equation(y - x);
  w.equation(y - x - 1.0);
  const ArrayAnalysis found = w.analyse(0.0, {1.0, 1.0});
  EXPECT_FALSE(found.consistent);
  EXPECT_EQ(found.contradictory_equations, (std::vector<std::size_t>{1, 2}));
}

TEST(DerivativeArray, TellsSolvabilityApartFromRegularityOfThePencil) {
  // Pencil det(s E - A) = 1 for every t, yet the homogeneous equation has solutions beside zero:
  // x = c(t) (t, 1).
  Written regular;
  {
    const Expr t = regular.graph.time();
    const Expr x = regular.unknown("x");
    const Expr y = regular.unknown("y");
    regular.equation(-t * der(x) + t * t * der(y) + x);
    regular.equation(-der(x) + t * der(y) + y);
  }
  const ArrayAnalysis not_unique = regular.analyse(0.7, {0.0, 0.0});
  EXPECT_GT(not_unique.values.u, 0);

  // Pencil singular for every t, yet x = t y + f, y = g - f' is the only solution.
  Written singular;
  {
    const Expr t = singular.graph.time();
    const Expr x = singular.unknown("x");
    const Expr y = singular.unknown("y");
    singular.equation(x - t * y - sin(t));
    singular.equation(der(x) - t * der(y) - cos(2.0 * t));
  }
  const ArrayAnalysis unique = singular.analyse(0.7, {0.0, 0.0});
  EXPECT_TRUE(unique.holds);
  EXPECT_EQ(unique.values, values(1, 0, 2, 0, 0));
}

}  // namespace
}  // namespace saltus
