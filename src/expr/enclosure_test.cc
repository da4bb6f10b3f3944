#include "expr/enclosure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "expr/expr_testing.h"
#include "expr/function.h"
#include "expr/power_series.h"
#include "expr/table.h"

namespace saltus {
namespace {

using testing::Point;
using testing::RandomExpressions;

// f along `moving` on a cell; all other leaves are numbers.
CellCourse course_of(const Expr& f, const Expr& moving, const Point& point, double begin,
                     double end) {
  EnclosedFormula formula(f);
  const auto evaluate = [&](const Interval& cell) {
    for (std::size_t i = 0; i < formula.leaves().size(); ++i) {
      const Expr& leaf = formula.leaves()[i];
      const bool moves = leaf.same_as(moving);
      formula.leaf(i) = EnclosedSeries::constant(moves ? cell : Interval(point.at(leaf.node())));
      if (!moves) continue;
      formula.leaf(i).coefficient[1] = 1.0;
      formula.leaf(i).count = 2;
    }
    return formula.evaluate(EnclosedSeries::kOrder);
  };
  const double middle = 0.5 * (begin + end);
  return {evaluate(middle), evaluate({begin, end}), 0.5 * (end - begin)};
}

class RandomCells : public ::testing::TestWithParam<bool> {};

// Values by plain recursion, Taylor coefficients by the series in floating point.
TEST_P(RandomCells, ContainValuesAndCoefficientsAtAllPoints) {
  const bool with_kinks = GetParam();
  Graph graph;
  const Expr t = graph.time();
  const Expr p = graph.new_parameter("p");
  const Expr q = graph.new_parameter("q");
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  int narrow = 0;
  int smooth = 0;
  constexpr int kCases = 400;
  for (int k = 0; k < kCases; ++k) {
    const Expr f = RandomExpressions({t, p, q}, 100 + static_cast<unsigned>(k), with_kinks).next(4);
    Point point = testing::random_point({t, p, q}, random);
    const double width = std::pow(10.0, -3.0 * uniform(random));
    const double begin = 0.5 + uniform(random) * (1.0 - width);
    const CellCourse course = course_of(f, t, point, begin, begin + width);
    const Interval range = course.range();
    double low = 1e300;
    double high = -1e300;
    for (int i = 0; i <= 200; ++i) {
      point[t.node()] = begin + width * i / 200.0;
      const double value = testing::evaluate(f, point);
      const double rounding = 1e-13 * (1.0 + std::abs(value));
      EXPECT_GE(value, range.low - rounding) << to_string(f) << " at " << point[t.node()];
      EXPECT_LE(value, range.high + rounding) << to_string(f) << " at " << point[t.node()];
      low = std::min(low, value);
      high = std::max(high, value);
      if (!course.whole.is_smooth || i % 20 != 0) continue;
      SeriesFormulas series(std::span(&f, 1));
      for (std::size_t l = 0; l < series.leaves().size(); ++l) {
        const Expr& leaf = series.leaves()[l];
        series.leaf(l) = PowerSeries::constant(point.at(leaf.node()), 0.0);
        if (leaf.same_as(t)) series.leaf(l).value[1] = 1.0;
      }
      series.evaluate(EnclosedSeries::kOrder);
      const PowerSeries& there = series.result(0);
      for (int c = 1; c <= EnclosedSeries::kOrder && c < there.known; ++c) {
        const Interval& all = course.whole.coefficient[static_cast<std::size_t>(c)];
        const double size = 1e-9 * (1.0 + std::abs(there.value[static_cast<std::size_t>(c)]));
        EXPECT_GE(there.value[static_cast<std::size_t>(c)], all.low - size) << to_string(f);
        EXPECT_LE(there.value[static_cast<std::size_t>(c)], all.high + size) << to_string(f);
      }
      EXPECT_GE(there.value[1], course.slope().low - 1e-9) << to_string(f);
      EXPECT_LE(there.value[1], course.slope().high + 1e-9) << to_string(f);
    }
    smooth += course.whole.is_smooth ? 1 : 0;
    narrow += range.width() <= 2.0 * (high - low) + 1e-12 ? 1 : 0;
  }
  // An enclosure that contains everything would pass all of the above.
  EXPECT_GT(smooth, with_kinks ? kCases / 2 : kCases * 9 / 10);
  EXPECT_GT(narrow, with_kinks ? kCases / 3 : kCases / 2);
}

INSTANTIATE_TEST_SUITE_P(, RandomCells, ::testing::Bool());

TEST(EnclosedFormula, FollowsThePiecesOfTables) {
  Graph graph;
  const Expr t = graph.time();
  for (const Interpolation kind : {Interpolation::kLinear, Interpolation::kMonotoneCubic}) {
    const auto table = make_table("course", {0.0, 1.0, 1.5, 3.0}, {0.0, 2.0, -1.0, 4.0}, kind,
                                  Extrapolation::kLinear);
    const Expr f = lookup(table, t);
    for (const double begin : {-0.5, 0.1, 1.1, 2.0, 3.5}) {
      const CellCourse inside = course_of(f, t, {}, begin, begin + 0.3);
      EXPECT_TRUE(inside.whole.is_smooth) << begin;
      for (int i = 0; i <= 10; ++i) {
        const double value = table->evaluate(begin + 0.03 * i);
        EXPECT_GE(value, inside.range().low - 1e-12);
        EXPECT_LE(value, inside.range().high + 1e-12);
      }
    }
    const CellCourse across = course_of(f, t, {}, 0.5, 2.0);
    EXPECT_FALSE(across.whole.is_smooth);
    EXPECT_LE(across.range().low, -1.0);
    EXPECT_GE(across.range().high, 2.0);
  }
}

// Between points of equal value a cubic with slopes that are given goes up and down.
TEST(EnclosedFormula, ContainsWhatCubicsOvershoot) {
  Graph graph;
  const Expr t = graph.time();
  const auto table =
      make_cubic_table("waves", {0.0, 1.0, 2.0, 3.0}, {0.0, 0.0, 0.0, 0.0}, {4.0, -4.0, 4.0, -4.0});
  const Expr f = lookup(table, t);
  for (const auto& [begin, end] :
       {std::pair(0.2, 2.8), std::pair(-0.5, 1.2), std::pair(1.9, 4.0)}) {
    const CellCourse across = course_of(f, t, {}, begin, end);
    for (int i = 0; i <= 100; ++i) {
      const double value = table->evaluate(begin + (end - begin) * i / 100.0);
      EXPECT_GE(value, across.range().low - 1e-12);
      EXPECT_LE(value, across.range().high + 1e-12);
    }
    EXPECT_LT(across.range().width(), 20.0);
  }
}

TEST(EnclosedFormula, TellsWhereNothingIsKnown) {
  Graph graph;
  const Expr t = graph.time();
  const Expr p = graph.new_parameter("p");
  const auto opaque = std::make_shared<Function>(
      Function{"opaque", 1, [](const double* a) { return a[0] + 1.0; }, nullptr, ""});
  EXPECT_FALSE(course_of(call(opaque, {t}), t, {}, 0.0, 1.0).range().is_finite());
  const CellCourse constant = course_of(call(opaque, {p}) * t, t, {{p.node(), 1.0}}, 0.0, 1.0);
  EXPECT_TRUE(constant.whole.is_smooth);
  EXPECT_NEAR(constant.range().high, 2.0, 1e-12);
  for (const Expr& f : {1.0 / (t - 0.5), sqrt(t - 0.5), log(t - 0.5), abs(t - 0.5), tan(3.0 * t),
                        pow(t - 0.5, 0.3), asin(2.0 * t), floor(4.0 * t)}) {
    EXPECT_FALSE(course_of(f, t, {}, 0.0, 1.0).whole.is_smooth) << to_string(f);
    EXPECT_TRUE(course_of(f, t, {}, 0.51, 0.515).whole.is_smooth ||
                course_of(f, t, {}, 0.41, 0.415).whole.is_smooth)
        << to_string(f);
  }
}

// With the other leaves held the results are the same, also after they have changed branch.
TEST(EnclosedFormula, HoldsAllButWhatMoves) {
  Graph graph;
  const Expr t = graph.time();
  const Expr a = graph.new_variable("a");
  const Expr f = select(a < 1.0, sin(a * t), exp(a) * t) + max(t, a * a) / (2.0 + a);
  EnclosedFormula all(f), held(f);
  std::size_t moving = 0;
  for (const double value : {0.5, 1.5, -0.5}) {
    for (std::size_t i = 0; i < all.leaves().size(); ++i) {
      if (all.leaves()[i].same_as(t)) moving = i;
      all.leaf(i) = held.leaf(i) = EnclosedSeries::constant(value);
    }
    held.hold_all_but(std::span(&moving, 1));
    for (const Interval& cell : {Interval(0.1, 0.2), Interval(0.4, 3.0)}) {
      for (EnclosedFormula* formula : {&all, &held}) {
        formula->leaf(moving) = EnclosedSeries::constant(cell);
        formula->leaf(moving).coefficient[1] = 1.0;
        formula->leaf(moving).count = 2;
      }
      const EnclosedSeries one = all.evaluate(EnclosedSeries::kOrder);
      const EnclosedSeries other = held.evaluate(EnclosedSeries::kOrder);
      EXPECT_EQ(one.is_smooth, other.is_smooth);
      EXPECT_EQ(one.count, other.count);
      for (int k = 0; k < one.count; ++k) {
        EXPECT_EQ(one.coefficient[k].low, other.coefficient[k].low);
        EXPECT_EQ(one.coefficient[k].high, other.coefficient[k].high);
      }
    }
  }
}

}  // namespace
}  // namespace saltus
