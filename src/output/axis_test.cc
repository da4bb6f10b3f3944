#include "output/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace saltus {
namespace {

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> result;
  for (const double tick : axis.ticks) result.push_back(axis.label(tick));
  return result;
}

TEST(Axis, TicksAreRoundNumbers) {
  EXPECT_EQ(labels(linear_axis(0.0, 1.0, 5)),
            (std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(linear_axis(-4.43, 3.54, 5)), (std::vector<std::string>{"−4", "−2", "0", "2"}));
}

TEST(Axis, LargeAndSmallValuesShareAPowerOfAThousand) {
  const Axis large = linear_axis(0.0, 2.1e6, 4);
  EXPECT_EQ(large.exponent, 6);
  EXPECT_EQ(labels(large), (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(linear_axis(0.0, 3e-5, 3).exponent, -6);
  EXPECT_EQ(linear_axis(0.0, 9999.0, 3).exponent, 0);
}

TEST(Axis, SpreadsAConstant) {
  const Axis five = linear_axis(5.0, 5.0);
  EXPECT_LT(five.low, 5.0);
  EXPECT_GT(five.high, 5.0);
  EXPECT_DOUBLE_EQ(five.position(5.0), 0.5);
  const Axis none = linear_axis(std::numeric_limits<double>::infinity(), -1.0 / 0.0);
  EXPECT_TRUE(std::isfinite(none.low) && none.low < none.high);
  EXPECT_FALSE(none.ticks.empty());
}

TEST(Axis, DoesNotBlowUpRoundingNoise) {
  const Axis axis = linear_axis(5.0, 5.0 + 1e-15);
  EXPECT_GT(axis.high - axis.low, 0.5);
}

TEST(Axis, TimeOverDecadesIsLogarithmic) {
  std::vector<double> times = {0.0};
  for (double time = 1e-4; time < 2e11; time *= 10.0) times.push_back(time);
  const Axis axis = time_axis(times);
  ASSERT_TRUE(axis.logarithmic);
  EXPECT_DOUBLE_EQ(axis.position(0.0), 0.0);
  EXPECT_DOUBLE_EQ(axis.position(1e11), 1.0);
  // Half way between the powers -4 and 11 is 3.5.
  EXPECT_NEAR(axis.position(std::pow(10.0, 3.5)), 0.5, 1e-12);
  EXPECT_LE(axis.ticks.size(), 10u);
  EXPECT_EQ(axis.label(axis.ticks.front()), "10⁻⁴");
}

TEST(Axis, EvenlySpacedTimeIsLinear) {
  std::vector<double> times;
  for (int i = 0; i <= 100000; ++i) times.push_back(0.1 * i);
  EXPECT_FALSE(time_axis(times).logarithmic);
  EXPECT_FALSE(time_axis(std::vector<double>{}).logarithmic);
}

}  // namespace
}  // namespace saltus
