#include "integrate/stage_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace saltus {
namespace {

constexpr std::size_t kCount = 7;

std::vector<double> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> between(-1.0, 1.0);
  std::vector<double> result(count);
  for (double& value : result) value = between(random);
  return result;
}

StageKernels::Matrix matrix() {
  StageKernels::Matrix m{};
  const std::vector<double> values = numbers(12, 1);
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i) m.column[j][i] = values[static_cast<std::size_t>(4 * j + i)];
  return m;
}

double product(const StageKernels::Matrix& m, const double* in, int row) {
  return m.column[0][row] * in[0] + m.column[1][row] * in[1] + m.column[2][row] * in[2];
}

TEST(StageKernels, MultiplyAndMeasure) {
  const std::vector<double> in = numbers(4 * kCount, 2);
  const std::vector<double> weights = numbers(kCount, 3);
  std::vector<double> out(4 * kCount), again(4 * kCount);
  stage_kernels().multiply(kCount, matrix(), in.data(), out.data());
  double sum = 0.0;
  for (std::size_t j = 0; j < kCount; ++j) {
    for (int i = 0; i < 4; ++i) {
      const double exact = product(matrix(), &in[4 * j], i);
      EXPECT_NEAR(out[4 * j + static_cast<std::size_t>(i)], exact, 1e-15);
      if (i < 3) sum += exact * exact * weights[j] * weights[j];
    }
  }
  EXPECT_NEAR(stage_kernels().multiply_and_measure(kCount, matrix(), in.data(), weights.data(),
                                                   again.data()),
              sum, 1e-14);
  EXPECT_EQ(out, again);
}

TEST(StageKernels, AddsProductsToTheStart) {
  const std::vector<double> z = numbers(4 * kCount, 4);
  const std::vector<double> x0 = numbers(kCount, 5);
  std::vector<double> x(4 * kCount), dx(4 * kCount), between(4 * kCount, 9.0);
  stage_kernels().add_start_and_multiply(kCount, x0.data(), matrix(), z.data(), x.data(),
                                         dx.data());
  const std::uint32_t list[] = {5, 0, 3};
  stage_kernels().interpolate(3, list, x0.data(), matrix(), z.data(), between.data());
  for (std::size_t j = 0; j < kCount; ++j) {
    const bool is_listed = j == 5 || j == 0 || j == 3;
    for (int i = 0; i < 4; ++i) {
      const std::size_t k = 4 * j + static_cast<std::size_t>(i);
      const double exact = product(matrix(), &z[4 * j], i);
      EXPECT_EQ(x[k], x0[j] + z[k]);
      EXPECT_NEAR(dx[k], exact, 1e-15);
      EXPECT_NEAR(between[k], is_listed ? x0[j] + exact : 9.0, 1e-15);
    }
  }
}

TEST(StageKernels, AddsAndMixes) {
  const std::vector<double> z = numbers(4 * kCount, 4);
  const std::vector<double> x0 = numbers(kCount, 5);
  const std::vector<double> y = numbers(kCount, 6);
  std::vector<double> x(4 * kCount), sum = z, mixed(4 * kCount, 9.0);
  stage_kernels().add_start(kCount, x0.data(), z.data(), x.data());
  stage_kernels().add(kCount, x.data(), sum.data());
  const double a[4] = {1.0, 1.0, 0.0, 0.0};
  const double b[4] = {-1.0, 0.5, 0.25, 0.0};
  const std::uint32_t list[] = {2, 6, 1};
  stage_kernels().spread(kCount, x0.data(), mixed.data());
  stage_kernels().mix(3, list, x0.data(), y.data(), b, mixed.data());
  for (std::size_t j = 0; j < kCount; ++j) {
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(x[4 * j + i], x0[j] + z[4 * j + i]);
      EXPECT_EQ(sum[4 * j + i], z[4 * j + i] + x[4 * j + i]);
      const bool is_listed = j == 2 || j == 6 || j == 1;
      EXPECT_NEAR(mixed[4 * j + i], a[i] * x0[j] + (is_listed ? b[i] * y[j] : 0.0), 1e-15);
    }
  }
}

TEST(StageKernels, FindsWhatIsNotFinite) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{9}}) {
    std::vector<double> values(count, -1e308);
    EXPECT_TRUE(stage_kernels().all_finite(count, values.data()));
    for (std::size_t k = 0; k < count; ++k) {
      for (const double bad : {std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(), std::nan("")}) {
        values.assign(count, 1.0);
        values[k] = bad;
        EXPECT_FALSE(stage_kernels().all_finite(count, values.data())) << k;
      }
    }
  }
}

}  // namespace
}  // namespace saltus
