#include "realtime/affine_step.h"

#include <gtest/gtest.h>

#include <cmath>

namespace saltus {
namespace {

// x'' = -25 x + 3 + 2 t in closed form: an independent solution for every partial length.
TEST(AffineStep, IsExactForEveryLengthAndForcesThatAreAffineInTime) {
  const double a[] = {0.0, -25.0, 1.0, 0.0};  // by columns
  AffineStep step(2);
  const double whole = 0.3;
  step.prepare(a, whole);
  for (int level = 0; level <= AffineStep::kLevels; ++level) {
    const double h = std::ldexp(whole, -level);
    double z[] = {0.4, -1.0};
    const double b0[] = {0.0, 3.0};
    const double b1[] = {0.0, 3.0 + 2.0 * h};
    double work[4];
    step.advance(level, z, b0, b1, work);
    const auto particular = [](double t) { return (3.0 + 2.0 * t) / 25.0; };
    const double c = 0.4 - particular(0.0);
    const double s = (-1.0 - 2.0 / 25.0) / 5.0;
    const double x = c * std::cos(5.0 * h) + s * std::sin(5.0 * h) + particular(h);
    const double v = -5.0 * c * std::sin(5.0 * h) + 5.0 * s * std::cos(5.0 * h) + 2.0 / 25.0;
    EXPECT_NEAR(z[0], x, 3e-15) << level;
    EXPECT_NEAR(z[1], v, 2e-14) << level;
  }
}

TEST(AffineStep, IsExactForStiffMatrices) {
  const double a[] = {-1e9, 0.0, 0.0, -2.0};
  AffineStep step(2);
  step.prepare(a, 0.1);
  double z[] = {1.0, 1.0};
  const double b[] = {1e9, 0.0};
  double work[4];
  step.advance(0, z, b, b, work);
  EXPECT_NEAR(z[0], 1.0, 1e-12);
  EXPECT_NEAR(z[1], std::exp(-0.2), 1e-14);
}

}  // namespace
}  // namespace saltus
