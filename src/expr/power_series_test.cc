#include "expr/power_series.h"

#include <gtest/gtest.h>

#include <cmath>

#include "expr/table.h"

namespace saltus {
namespace {

// The series of a formula of time about t0.
PowerSeries expand(const Expr& formula, double t0, int highest = PowerSeries::kHighest) {
  SeriesFormulas formulas(std::span(&formula, 1));
  for (std::size_t i = 0; i < formulas.leaves().size(); ++i) {
    formulas.leaf(i) = PowerSeries::constant(t0, 0.0);
    formulas.leaf(i).value[1] = formulas.leaf(i).size[1] = 1.0;
  }
  formulas.evaluate(highest);
  return formulas.result(0);
}

double sum(const PowerSeries& series, double s) {
  double value = 0.0;
  for (int k = PowerSeries::kHighest; k >= 0; --k) value = value * s + series.value[k];
  return value;
}

// Against the functions themselves a little later: the remainder is of order s^9.
TEST(PowerSeries, AgreesWithElementaryFunctions) {
  Graph graph;
  const Expr t = graph.time();
  const double t0 = 0.4;
  const double s = 0.02;
  const double u = t0 + s;
  const std::pair<Expr, double> cases[] = {
      {sin(3.0 * t) * exp(-t), std::sin(3.0 * u) * std::exp(-u)},
      {cos(t) / (1.0 + t * t), std::cos(u) / (1.0 + u * u)},
      {sqrt(t) + log(t) - log10(t), std::sqrt(u) + std::log(u) - std::log10(u)},
      {tan(t) + atan(2.0 * t) - asin(t) + acos(t),
       std::tan(u) + std::atan(2.0 * u) - std::asin(u) + std::acos(u)},
      {sinh(t) + cosh(t) * tanh(t), std::sinh(u) + std::cosh(u) * std::tanh(u)},
      {pow(t, 1.7) + pow(t, 3.0), std::pow(u, 1.7) + std::pow(u, 3.0)},
      {atan2(sin(t), cos(2.0 * t)), std::atan2(std::sin(u), std::cos(2.0 * u))},
      {abs(t - 1.0) + min(t, 0.1) + max(t, 0.1), std::abs(u - 1.0) + 0.1 + u}};
  for (const auto& [formula, value] : cases)
    EXPECT_NEAR(sum(expand(formula, t0), s), value, 1e-12) << formula;
}

// tanh(2500) is 1 though sinh and cosh overflow; a sum with it is known as the rest is.
TEST(PowerSeries, TanhDoesNotOverflow) {
  Graph graph;
  const Expr t = graph.time();
  const PowerSeries series = expand(tanh(2500.0 * t) + tanh(-2500.0 * t) + t, 1.0);
  EXPECT_EQ(series.value[0], 1.0);
  EXPECT_EQ(series.value[1], 1.0);
  for (int k = 2; k <= PowerSeries::kHighest; ++k) EXPECT_EQ(series.value[k], 0.0);
  for (int k = 0; k <= PowerSeries::kHighest; ++k) EXPECT_TRUE(std::isfinite(series.size[k]));
}

// Where two branches meet, the one that holds just after counts.
TEST(PowerSeries, FollowsTheBranchJustAfter) {
  Graph graph;
  const Expr t = graph.time();
  EXPECT_EQ(expand(abs(1.0 - t), 1.0).value[1], 1.0);
  EXPECT_EQ(expand(min(t, 2.0 - t), 1.0).value[1], -1.0);
  EXPECT_EQ(expand(floor(-t), -1.0).value[0], 0.0);
  const auto table = make_table("kink", {0.0, 1.0, 2.0}, {0.0, 1.0, 4.0});
  EXPECT_NEAR(expand(lookup(table, t), 1.0).value[1], 3.0, 1e-12);
  EXPECT_NEAR(expand(lookup(table, 2.0 - t), 1.0).value[1], -1.0, 1e-12);
}

// What cancels to rounding is told from what is small.
TEST(PowerSeries, KnowsWhatRoundingCanDo) {
  Graph graph;
  const Expr t = graph.time();
  const PowerSeries cancelled = expand(sin(t) * sin(t) + cos(t) * cos(t) - 1.0, 0.7);
  const PowerSeries small = expand(1e-9 * t, 0.7);
  for (int k = 0; k <= PowerSeries::kHighest; ++k)
    EXPECT_LE(std::abs(cancelled.value[k]), 1e-14 * cancelled.size[k]) << k;
  EXPECT_GE(std::abs(small.value[1]), 0.1 * small.size[1]);
}

// Zero times what is not known is zero; all else is not known, be it a comparison or a constant
// that min() might not choose.
TEST(PowerSeries, KnowsOnlyWhatDoesNotDependOnTheUnknown) {
  Graph graph;
  const Expr x = graph.new_variable("x");
  const Expr factor = graph.new_variable("factor");
  const auto known = [&](const Expr& formula, double value) {
    SeriesFormulas formulas(std::span(&formula, 1));
    for (std::size_t i = 0; i < formulas.leaves().size(); ++i) {
      formulas.leaf(i) = PowerSeries::constant(value, 0.0);
      if (formulas.leaves()[i].same_as(x)) formulas.leaf(i).known = 0;
    }
    formulas.evaluate(PowerSeries::kHighest);
    return formulas.result(0).known > PowerSeries::kHighest;
  };
  EXPECT_TRUE(known(-factor * x, 0.0));
  EXPECT_TRUE(known(factor * sin(x) + factor, 0.0));
  EXPECT_TRUE(known(select(factor, x, 2.0), 0.0));
  EXPECT_FALSE(known(-factor * x, 1.0));
  EXPECT_FALSE(known(factor + x, 0.0));
  EXPECT_FALSE(known(min(factor, x), 0.0));
  EXPECT_FALSE(known(select(x < 1.0, factor, 2.0), 0.0));
  EXPECT_FALSE(known(sign(x), 0.0));
}

// What is constant is evaluated once; the results are those of evaluating everything.
TEST(PowerSeries, EvaluatesConstantsOnce) {
  Graph graph;
  const Expr t = graph.time();
  const Expr a = graph.new_variable("a");
  const Expr formula = sin(a * a) * t * exp(a) + select(a < 1.0, t, cos(a)) / (2.0 + a);
  PowerSeries results[2];
  for (const bool once : {false, true}) {
    SeriesFormulas formulas(std::span(&formula, 1));
    std::vector<bool> moves;
    for (std::size_t i = 0; i < formulas.leaves().size(); ++i) {
      moves.push_back(formulas.leaves()[i].same_as(t));
      formulas.leaf(i) = PowerSeries::constant(0.7, 0.0);
      if (moves.back()) formulas.leaf(i).value[1] = formulas.leaf(i).size[1] = 1.0;
    }
    if (once) {
      formulas.mark_moving(moves);
      formulas.evaluate_constants();
    }
    formulas.evaluate(PowerSeries::kHighest);
    results[once ? 1 : 0] = formulas.result(0);
  }
  EXPECT_EQ(results[0].value, results[1].value);
  EXPECT_EQ(results[0].size, results[1].size);
  EXPECT_GT(results[0].value[1], 0.0);
}

}  // namespace
}  // namespace saltus
