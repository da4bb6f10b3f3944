#include "realtime/fixed_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace saltus {
namespace {

// The exact steps of z' = a z + b for two states.
struct Steps {
  Steps(const double* matrix, double step) : a(matrix, matrix + 4) {
    std::vector<double> scratch(20);
    fs_prepare_steps(a.data(), 2, step, first.data(), second.data(), scratch.data());
  }
  void advance(int level, double* z, const double* b0, const double* b1) const {
    double work[4];
    fs_configuration c{};
    c.a = a.data();
    c.first = first.data();
    c.second = second.data();
    fs_affine_step(&c, 2, level, z, b0, b1, work);
  }
  std::vector<double> a;
  std::vector<double> first = std::vector<double>(4 * (FS_LEVELS + 1));
  std::vector<double> second = first;
};

// x'' = -25 x + 3 + 2 t in closed form: an independent solution for every partial length.
TEST(FixedStep, IsExactForEveryLengthAndForcesThatAreAffineInTime) {
  const double a[] = {0.0, -25.0, 1.0, 0.0};  // by columns
  const double whole = 0.3;
  const Steps steps(a, whole);
  for (int level = 0; level <= FS_LEVELS; ++level) {
    const double h = std::ldexp(whole, -level);
    double z[] = {0.4, -1.0};
    const double b0[] = {0.0, 3.0};
    const double b1[] = {0.0, 3.0 + 2.0 * h};
    steps.advance(level, z, b0, b1);
    const auto particular = [](double t) { return (3.0 + 2.0 * t) / 25.0; };
    const double c = 0.4 - particular(0.0);
    const double s = (-1.0 - 2.0 / 25.0) / 5.0;
    const double x = c * std::cos(5.0 * h) + s * std::sin(5.0 * h) + particular(h);
    const double v = -5.0 * c * std::sin(5.0 * h) + 5.0 * s * std::cos(5.0 * h) + 2.0 / 25.0;
    EXPECT_NEAR(z[0], x, 3e-15) << level;
    EXPECT_NEAR(z[1], v, 2e-14) << level;
  }
}

TEST(FixedStep, IsExactForStiffMatrices) {
  const double a[] = {-1e9, 0.0, 0.0, -2.0};
  const Steps steps(a, 0.1);
  double z[] = {1.0, 1.0};
  const double b[] = {1e9, 0.0};
  steps.advance(0, z, b, b);
  EXPECT_NEAR(z[0], 1.0, 1e-12);
  EXPECT_NEAR(z[1], std::exp(-0.2), 1e-14);
}

}  // namespace
}  // namespace saltus
