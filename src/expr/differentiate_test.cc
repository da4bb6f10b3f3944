#include "expr/differentiate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "base/error.h"
#include "expr/expr_testing.h"
#include "expr/function.h"
#include "expr/table.h"

namespace saltus {
namespace {

using testing::evaluate;
using testing::Point;

// Central differences with step h err by h^2 f'''/6 and by rounding of about 1e-16/h.
constexpr double kStep = 1e-5;
constexpr double kDifferenceTolerance = 1e-8;
// Random expressions have larger third derivatives and cancel more.
constexpr double kRandomTolerance = 1e-6;

double difference(const Expr& e, Point point, const Expr& leaf) {
  const double at = point.at(leaf.node());
  point[leaf.node()] = at + kStep;
  const double above = evaluate(e, point);
  point[leaf.node()] = at - kStep;
  const double below = evaluate(e, point);
  return (above - below) / (2 * kStep);
}

class Differentiate : public ::testing::Test {
 protected:
  void expect_partials(const Expr& e, const Point& point, double tolerance) {
    for (const auto& [node, value] : point) {
      const Expr leaf(node);
      const double exact = evaluate(partial(e, leaf), point);
      EXPECT_NEAR(exact, difference(e, point, leaf), tolerance * (1 + std::abs(exact)))
          << to_string(e) << " by " << to_string(leaf);
    }
  }

  Graph graph;
  Expr x = graph.new_variable("x");
  Expr y = graph.new_variable("y");
  Expr z = graph.new_variable("z");
  Expr p = graph.new_parameter("p");
};

TEST_F(Differentiate, EveryOperationMatchesDifferences) {
  const Expr u = 0.5 * x + 0.1 * y;
  const auto table = make_table("t", {0, 0.5, 2}, {0, 1, 3}, Interpolation::kMonotoneCubic);
  const auto product = std::make_shared<Function>(
      Function{"product", 2, [](const double* a) { return a[0] * a[1] * a[1]; },
               [](std::size_t i, const std::vector<Expr>& a) {
                 return i == 0 ? a[1] * a[1] : 2 * a[0] * a[1];
               },
               ""});
  const std::vector<Expr> all = {-u,
                                 sqrt(u),
                                 exp(u),
                                 log(u),
                                 log10(u),
                                 sin(u),
                                 cos(u),
                                 tan(u),
                                 asin(u),
                                 acos(u),
                                 atan(u),
                                 sinh(u),
                                 cosh(u),
                                 tanh(u),
                                 abs(u),
                                 abs(u - 3),
                                 sign(u) * u,
                                 floor(u) + u,
                                 ceil(u) * u,
                                 trunc(u) - u,
                                 x + u * y,
                                 x - u * y,
                                 x * y * u,
                                 x / y,
                                 u / (x * y),
                                 pow(u, 3),
                                 pow(u, 2.5),
                                 pow(u, -2),
                                 pow(2, u),
                                 pow(x, y),
                                 atan2(x, y),
                                 atan2(-x, -y),
                                 min(x, y * y),
                                 max(x, y * y),
                                 min(y, x),
                                 max(y, x),
                                 mod(x, 0.3 * y),
                                 rem(x, 0.3 * y),
                                 select(x < y, x * y, sin(x)),
                                 select(x > y, x * y, sin(x)),
                                 (x < y) * x,
                                 equal(x, y) + x,
                                 (x < y && y < 3) * y,
                                 (x < y || y < 3) * y,
                                 (!(x < y)) * y + x,
                                 lookup(table, u),
                                 call(product, {u, x})};
  for (const Expr& e : all)
    expect_partials(e, {{x.node(), 0.7}, {y.node(), 1.1}}, kDifferenceTolerance);
}

TEST_F(Differentiate, SecondDerivativesMatchDifferences) {
  for (const Expr& e : {sin(x * y), exp(x) / y, pow(x, 3) * y, pow(x, y), sqrt(x + y), atan2(x, y),
                        tan(x) * asin(0.5 * y), log(x * x + y)}) {
    const Point point = {{x.node(), 0.7}, {y.node(), 1.1}};
    expect_partials(partial(e, x), point, kDifferenceTolerance);
    expect_partials(partial(e, y), point, kDifferenceTolerance);
  }
}

TEST_F(Differentiate, IntegerPowersAreExactAtZeroAndBelow) {
  const Expr cube = pow(x, 3);
  EXPECT_DOUBLE_EQ(evaluate(partial(cube, x), {{x.node(), 0.0}}), 0.0);
  EXPECT_DOUBLE_EQ(evaluate(partial(cube, x), {{x.node(), -2.0}}), 12.0);
  EXPECT_DOUBLE_EQ(evaluate(partial(x * x, x), {{x.node(), -2.0}}), -4.0);
  EXPECT_DOUBLE_EQ(evaluate(partial(pow(x, 4), x), {{x.node(), -1.0}}), -4.0);
}

TEST_F(Differentiate, TheBranchNotTakenDoesNotSpoilTheDerivative) {
  const std::vector<Expr> e = {y * select(x > 0, sqrt(x), 0), max(log(x), -5) * y};
  const std::vector<Expr> leaves = {x, y};
  const Point point = {{x.node(), 0.0}, {y.node(), 2.0}};
  for (const JacobianEntry& entry : jacobian(e, leaves)) {
    EXPECT_TRUE(std::isfinite(evaluate(entry.value, point))) << to_string(entry.value);
    if (entry.column == 0) {
      EXPECT_EQ(evaluate(entry.value, point), 0.0);
    }
  }
  EXPECT_EQ(evaluate(partial(e[0], x), point), 0.0);
}

TEST_F(Differentiate, TotalDerivativeFollowsTheChainRule) {
  EXPECT_TRUE(der(p).same_as(0.0));
  EXPECT_TRUE(der(graph.time()).same_as(1.0));
  EXPECT_TRUE(der(p * x + graph.time()).same_as(p * der(x) + 1.0));
  EXPECT_TRUE(der(x, 3).same_as(graph.variable(x.node()->variable(), 3)));
  EXPECT_TRUE(der(der(x, 2)).same_as(der(x, 3)));
  // Along x = sin t, y = exp(-t): derivatives of x*y*t from the product written in t.
  const Expr e = x * y * graph.time();
  const double t = 0.4;
  const Point point = {{graph.time().node(), t},         {x.node(), std::sin(t)},
                       {der(x).node(), std::cos(t)},     {der(x, 2).node(), -std::sin(t)},
                       {der(x, 3).node(), -std::cos(t)}, {y.node(), std::exp(-t)},
                       {der(y).node(), -std::exp(-t)},   {der(y, 2).node(), std::exp(-t)},
                       {der(y, 3).node(), -std::exp(-t)}};
  const double s = std::sin(t);
  const double c = std::cos(t);
  const double d = std::exp(-t);
  // f = t exp(-t) sin t by hand.
  const double f1 = d * (s + t * (c - s));
  const double f2 = d * (2 * (c - s) - 2 * t * c);
  const double f3 = d * (-6 * c + 2 * t * (s + c));
  EXPECT_NEAR(evaluate(der(e), point), f1, 1e-14);
  EXPECT_NEAR(evaluate(der(e, 2), point), f2, 1e-14);
  EXPECT_NEAR(evaluate(der(e, 3), point), f3, 1e-14);
}

TEST_F(Differentiate, JacobianHasExactlyTheNonzeroEntries) {
  const Expr slot = graph.new_slot("s");
  const std::vector<Expr> e = {x * p + der(y), sin(z) - z, 3.0, select(slot, x, y), der(x) + p};
  const std::vector<Expr> leaves = {x, y, z, der(x)};
  std::vector<std::pair<std::size_t, std::size_t>> pattern;
  for (const JacobianEntry& entry : jacobian(e, leaves)) {
    pattern.emplace_back(entry.column, entry.row);
  }
  const std::vector<std::pair<std::size_t, std::size_t>> expected = {
      {0, 0}, {0, 3}, {1, 3}, {2, 1}, {3, 4}};
  EXPECT_EQ(pattern, expected);
}

TEST_F(Differentiate, JacobianOfRandomExpressionsMatchesDifferences) {
  const std::vector<Expr> leaves = {x, y, z, der(x)};
  testing::RandomExpressions expressions(leaves, 20240607, false);
  std::mt19937 random(7);
  int entries = 0;
  for (int k = 0; k < 200; ++k) {
    const std::vector<Expr> e = {expressions.next(5)};
    const Point point = testing::random_point(leaves, random);
    std::set<std::size_t> present;
    for (const JacobianEntry& entry : jacobian(e, leaves)) {
      const double exact = evaluate(entry.value, point);
      EXPECT_NEAR(exact, difference(e[0], point, leaves[entry.column]),
                  kRandomTolerance * (1 + std::abs(exact)))
          << to_string(e[0]);
      present.insert(entry.column);
      ++entries;
    }
    for (std::size_t j = 0; j < leaves.size(); ++j) {
      if (!present.contains(j)) {
        EXPECT_NEAR(difference(e[0], point, leaves[j]), 0.0, kRandomTolerance);
      }
    }
  }
  EXPECT_GT(entries, 300);
}

TEST_F(Differentiate, FunctionWithoutPartialIsRefusedByName) {
  const auto opaque = std::make_shared<Function>(
      Function{"opaque", 1, [](const double* a) { return a[0]; }, nullptr, ""});
  const Expr e = call(opaque, {x});
  EXPECT_THROW(der(e), Error);
  EXPECT_THROW(call(opaque, {x, y}), Error);
}

TEST_F(Differentiate, ChainsOfAHundredThousandOperationsNeedNoStack) {
  Expr e = x;
  for (int i = 0; i < 100000; ++i) e = sin(e + y);
  const std::vector<Expr> expressions = {e};
  const std::vector<Expr> leaves = {x, y};
  EXPECT_EQ(jacobian(expressions, leaves).size(), 2u);
  EXPECT_FALSE(der(e).is_number());
  EXPECT_FALSE(partial(e, x).is_number());
  EXPECT_EQ(leaves_of(e).size(), 2u);
  EXPECT_EQ(polynomial_degree(e, leaves), -1);
  const std::vector<Expr> swapped = {y, x};
  EXPECT_FALSE(substitute(e, leaves, swapped).same_as(e));
  EXPECT_FALSE(to_string(e).empty());
}

TEST_F(Differentiate, LeavesComeInOrderOfCreation) {
  const std::vector<Expr> leaves = leaves_of(p * y + sin(x) + 2 * x);
  ASSERT_EQ(leaves.size(), 3u);
  EXPECT_TRUE(leaves[0].same_as(x));
  EXPECT_TRUE(leaves[1].same_as(y));
  EXPECT_TRUE(leaves[2].same_as(p));
  EXPECT_TRUE(is_constant_in_mode(sin(p) + graph.new_slot("s")));
  EXPECT_FALSE(is_constant_in_mode(p * der(x)));
  EXPECT_FALSE(is_constant_in_mode(p * graph.time()));
}

TEST_F(Differentiate, PolynomialDegreeCountsTheListedLeavesOnly) {
  const std::vector<Expr> leaves = {x, y};
  EXPECT_EQ(polynomial_degree(3.0, leaves), 0);
  EXPECT_EQ(polynomial_degree(sin(z) * p, leaves), 0);
  EXPECT_EQ(polynomial_degree(sin(z) * x + y / p, leaves), 1);
  EXPECT_EQ(polynomial_degree(x * y + x, leaves), 2);
  EXPECT_EQ(polynomial_degree(pow(x * y, 3), leaves), 6);
  EXPECT_EQ(polynomial_degree(p / x, leaves), -1);
  EXPECT_EQ(polynomial_degree(pow(x, 1.5), leaves), -1);
  EXPECT_EQ(polynomial_degree(select(p > 0, x, 2 * y), leaves), 1);
  EXPECT_EQ(polynomial_degree(select(x > 0, x, 2 * y), leaves), -1);
  EXPECT_EQ(polynomial_degree(abs(x), leaves), -1);
}

}  // namespace
}  // namespace saltus
