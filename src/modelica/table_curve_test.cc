#include "modelica/table_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace saltus {
namespace {

const Smoothness kCubics[] = {Smoothness::kAkima, Smoothness::kFritschButland, Smoothness::kSteffen,
                              Smoothness::kModifiedAkima};

// Worked out by hand from the formulas of the papers.
TEST(SlopesAtPoints, AreThoseOfThePapers) {
  const std::vector<double> x = {0.0, 1.0, 3.0, 4.0};
  const std::vector<double> y = {0.0, 1.0, 7.0, 8.0};  // differences 1, 3, 1
  // Akima 1970: differences extended to -3, -1, 1, 3, 1, -1, -3.
  EXPECT_EQ(slopes_at_points(x, y, Smoothness::kAkima), (std::vector<double>{0.0, 2.0, 2.0, 0.0}));
  // Weights |3-1| + |3+1|/2 = 4 and |1+1| + |1-1|/2 = 2 at the second point.
  const std::vector<double> modified = slopes_at_points(x, y, Smoothness::kModifiedAkima);
  EXPECT_DOUBLE_EQ(modified[1], (4.0 * 1.0 + 2.0 * 3.0) / 6.0);
  EXPECT_DOUBLE_EQ(modified[2], (2.0 * 3.0 + 4.0 * 1.0) / 6.0);
  // Fritsch and Butland 1984: 3 (h0 + h1) / ((h0 + 2 h1) / d0 + (h1 + 2 h0) / d1).
  const std::vector<double> butland = slopes_at_points(x, y, Smoothness::kFritschButland);
  EXPECT_DOUBLE_EQ(butland[1], 9.0 / (5.0 / 1.0 + 4.0 / 3.0));
  EXPECT_DOUBLE_EQ(butland[2], 9.0 / (4.0 / 3.0 + 5.0 / 1.0));
  // Steffen 1990: the parabola's slope (1 * 2 + 3 * 1) / 3, at most twice the lesser difference.
  const std::vector<double> steffen = slopes_at_points(x, y, Smoothness::kSteffen);
  EXPECT_DOUBLE_EQ(steffen[1], 5.0 / 3.0);
  EXPECT_DOUBLE_EQ(slopes_at_points({0.0, 1.0, 2.0}, {0.0, 1.0, 100.0}, Smoothness::kSteffen)[1],
                   2.0);
  for (const Smoothness s : {Smoothness::kFritschButland, Smoothness::kSteffen})
    EXPECT_EQ(slopes_at_points({0.0, 1.0, 2.0}, {0.0, 1.0, 0.0}, s)[1], 0.0);
}

TEST(TableCurve, PassesThroughItsPointsWithContinuousSlopes) {
  const std::vector<double> x = {-1.0, 0.0, 0.5, 2.0, 3.5};
  const std::vector<double> y = {2.0, 2.0, -1.0, 4.0, 4.5};
  for (const Smoothness s : kCubics) {
    const TableCurve curve(x, y, s, Beyond::kLastTwoPoints);
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_NEAR(curve.evaluate(x[k], 0), y[k], 1e-14);
      EXPECT_NEAR(curve.evaluate(x[k] - 1e-9, 1), curve.evaluate(x[k] + 1e-9, 1), 1e-6);
    }
    for (const double u : {-1.7, -0.3, 0.2, 1.1, 3.0, 5.0}) {
      const double h = 1e-5;
      for (int order = 0; order < 2; ++order)
        EXPECT_NEAR((curve.evaluate(u + h, order) - curve.evaluate(u - h, order)) / (2.0 * h),
                    curve.evaluate(u, order + 1), 1e-7);
    }
  }
}

TEST(TableCurve, IsStraightThroughPointsOnALine) {
  for (const Smoothness s : kCubics) {
    const TableCurve curve({0.0, 1.0, 4.0, 5.0}, {1.0, 3.0, 9.0, 11.0}, s, Beyond::kLastTwoPoints);
    for (const double u : {-3.0, 0.3, 2.0, 4.7, 8.0})
      EXPECT_NEAR(curve.evaluate(u, 0), 1.0 + 2.0 * u, 1e-13);
  }
}

TEST(TableCurve, HoldsRepeatsOrGoesOnBeyondItsPoints) {
  const std::vector<double> x = {0.0, 1.0, 2.0};
  const std::vector<double> y = {1.0, 3.0, 2.0};
  const TableCurve hold(x, y, Smoothness::kLinear, Beyond::kHold);
  EXPECT_EQ(hold.evaluate(-5.0, 0), 1.0);
  EXPECT_EQ(hold.evaluate(5.0, 0), 2.0);
  EXPECT_EQ(hold.evaluate(5.0, 1), 0.0);
  const TableCurve on(x, y, Smoothness::kConstant, Beyond::kLastTwoPoints);
  EXPECT_EQ(on.evaluate(0.99, 0), 1.0);
  EXPECT_EQ(on.evaluate(1.0, 0), 3.0);
  EXPECT_EQ(on.evaluate(2.0, 0), 2.0);
  EXPECT_EQ(on.evaluate(3.0, 0), 1.0);  // the line through the last two points
  EXPECT_EQ(on.evaluate(-1.0, 0), -1.0);
  const TableCurve again(x, y, Smoothness::kLinear, Beyond::kPeriodic);
  EXPECT_DOUBLE_EQ(again.evaluate(6.5, 0), 2.0);
  EXPECT_DOUBLE_EQ(again.evaluate(-0.5, 0), 2.5);
}

TEST(TableCurve, HasTwoSidesWhereItJumps) {
  const TableCurve curve({0.0, 1.0, 1.0, 2.0}, {0.0, 1.0, 5.0, 6.0}, Smoothness::kLinear,
                         Beyond::kHold);
  EXPECT_EQ(curve.evaluate_within(0, 1, 1.0, 0), 1.0);
  EXPECT_EQ(curve.evaluate_within(2, 3, 1.0, 0), 5.0);
  EXPECT_EQ(curve.evaluate(1.0, 0), 5.0);
}

// Akima's method of 1974 is exact for bilinear data, and on a grid z = f(x) it is the curve.
TEST(TableSurface, AgreesWithCurvesAndPlanes) {
  const std::vector<double> x = {0.0, 1.0, 3.0, 4.0};
  const std::vector<double> y = {0.0, 2.0, 3.0};
  std::vector<std::vector<double>> plane, ridge;
  const std::vector<double> f = {0.0, 1.0, 7.0, 8.0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    plane.emplace_back();
    ridge.emplace_back(y.size(), f[i]);
    for (const double v : y) plane.back().push_back(1.0 + 2.0 * x[i] - v + 0.5 * x[i] * v);
  }
  for (const Smoothness s : {Smoothness::kLinear, Smoothness::kAkima}) {
    const TableSurface surface(x, y, plane, s, Beyond::kLastTwoPoints);
    for (const double u : {-1.0, 0.4, 2.0, 3.9, 6.0})
      for (const double v : {-2.0, 0.3, 2.6, 5.0}) {
        EXPECT_NEAR(surface.evaluate(u, v, 0, 0), 1.0 + 2.0 * u - v + 0.5 * u * v, 1e-12);
        EXPECT_NEAR(surface.evaluate(u, v, 1, 0), 2.0 + 0.5 * v, 1e-12);
        EXPECT_NEAR(surface.evaluate(u, v, 1, 1), 0.5, 1e-12);
      }
  }
  const TableSurface surface(x, y, ridge, Smoothness::kAkima, Beyond::kHold);
  const TableCurve curve({0.0, 1.0, 3.0, 4.0}, f, Smoothness::kAkima, Beyond::kHold);
  for (const double u : {0.4, 1.7, 2.9, 3.3})
    EXPECT_NEAR(surface.evaluate(u, 1.1, 0, 0), curve.evaluate(u, 0), 1e-13);
  const TableSurface cells(x, y, plane, Smoothness::kConstant, Beyond::kHold);
  EXPECT_EQ(cells.evaluate(1.5, 2.5, 0, 0), plane[1][1]);
  EXPECT_EQ(cells.evaluate(9.0, 9.0, 0, 0), plane[3][2]);
}

}  // namespace
}  // namespace saltus
