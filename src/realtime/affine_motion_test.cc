#include "realtime/affine_motion.h"

#include <gtest/gtest.h>

#include <cmath>

namespace saltus {
namespace {

// The same equation by a Taylor series in long double over short pieces: another method.
struct Oscillator {
  long double m, d, c, f, x, v;
  void advance(long double t) {
    const int pieces = 1 + static_cast<int>(t * (std::sqrt(std::abs(c / m)) + d / m) / 0.05L);
    const long double h = t / pieces;
    for (int k = 0; k < pieces; ++k) {
      long double a = v, b = (f - d * v - c * x) / m, factor = h;
      for (int j = 1; j < 25; ++j) {
        x += factor * a;
        v += factor * b;
        const long double next = b;
        b = -(c * a + d * b) / m;
        a = next;
        factor *= h / (j + 1);
      }
    }
  }
};

TEST(AffineMotion, AgreesWithTaylorSeriesForEveryKindOfDamping) {
  for (const double c : {-2.0, 0.0, 1e-9, 0.1, 0.25, 4.0, 2000.0})
    for (const double d : {0.0, 1e-6, 0.5, 1.0, 4.0, 60.0})
      for (const double t : {1e-9, 1e-3, 0.04, 0.3, 1.0, 3.0}) {
        const AffineMotion motion(1.0, d, c, 0.7, 0.3, -1.1);
        Oscillator exact{1.0L, d, c, 0.7L, 0.3L, -1.1L};
        exact.advance(t);
        const double size =
            1.0 + std::abs(static_cast<double>(exact.x)) + std::abs(static_cast<double>(exact.v));
        EXPECT_NEAR(motion.position(t), static_cast<double>(exact.x), 3e-13 * size)
            << "c " << c << " d " << d << " t " << t;
        EXPECT_NEAR(motion.velocity(t), static_cast<double>(exact.v),
                    1e-12 * size * (1 + std::abs(c)))
            << "c " << c << " d " << d << " t " << t;
      }
}

TEST(AffineMotion, FindsTheFirstExitWhereTheMotionReturnsWithinTheStep) {
  // x = sin t leaves below 0.99 for a short while; both ends of the step are inside.
  const AffineMotion motion(1.0, 0.0, 1.0, 0.0, 0.0, 1.0);
  const auto exit = motion.first_exit(-0.5, 0.99, 3.0);
  ASSERT_TRUE(exit.has_value());
  EXPECT_NEAR(*exit, std::asin(0.99), 1e-14);
  EXPECT_FALSE(motion.first_exit(-0.5, 1.01, 3.0).has_value());
}

TEST(AffineMotion, FindsRests) {
  const AffineMotion swinging(1.0, 0.0, 4.0, 0.0, 0.0, 1.0);  // v = cos 2t
  EXPECT_NEAR(swinging.first_rest(10.0).value(), std::acos(0.0) / 2.0, 1e-15);
  EXPECT_FALSE(swinging.first_rest(0.5).has_value());
  const AffineMotion sliding(2.0, 0.0, 0.0, -3.0, 0.0, 1.0);  // v = 1 - 1.5 t
  EXPECT_NEAR(sliding.first_rest(10.0).value(), 2.0 / 3.0, 1e-15);
  const AffineMotion leaving(1.0, 0.0, 4.0, 1.0, 0.0, 0.0);  // at rest now: the next one counts
  EXPECT_NEAR(leaving.first_rest(10.0).value(), 2.0 * std::acos(0.0) / 2.0, 1e-15);
}

}  // namespace
}  // namespace saltus
