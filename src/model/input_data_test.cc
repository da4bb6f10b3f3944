#include "model/input_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace saltus {
namespace {

TEST(SplineSlopes, GoThroughCubicsExactly) {
  const auto f = [](double x) { return 2.0 * x * x * x - x * x + 3.0 * x - 1.0; };
  const auto df = [](double x) { return 6.0 * x * x - 2.0 * x + 3.0; };
  const std::vector<double> x = {-1.0, -0.2, 0.1, 0.9, 1.0, 2.5};
  std::vector<double> y;
  for (const double at : x) y.push_back(f(at));
  const std::vector<double> slopes = spline_slopes(x, y);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(slopes[k], df(x[k]), 1e-12);
}

TEST(SplineSlopes, OfThreePointsAreThoseOfTheParabola) {
  const std::vector<double> slopes = spline_slopes({0.0, 1.0, 3.0}, {0.0, 1.0, 9.0});
  EXPECT_NEAR(slopes[0], 0.0, 1e-14);
  EXPECT_NEAR(slopes[1], 2.0, 1e-14);
  EXPECT_NEAR(slopes[2], 6.0, 1e-14);
}

// The error of a spline falls with the fourth power of the distance.
TEST(SplineSlopes, AreOfOrderThree) {
  std::vector<double> errors;
  for (const int n : {20, 40}) {
    std::vector<double> x, y;
    for (int k = 0; k <= n; ++k) {
      x.push_back(3.0 * k / n);
      y.push_back(std::sin(x.back()));
    }
    const std::vector<double> slopes = spline_slopes(x, y);
    double worst = 0.0;
    for (std::size_t k = 0; k < x.size(); ++k)
      worst = std::max(worst, std::abs(slopes[k] - std::cos(x[k])));
    errors.push_back(worst);
  }
  EXPECT_GT(std::log2(errors[0] / errors[1]), 2.7);
}

TEST(InputData, RefusesWhatIsNoCourse) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NO_THROW(check({"d", {0.0, 1.0, 1.0, 2.0}, {0.0, 1.0, 2.0, 3.0}, Joining::kLinear}));
  EXPECT_NO_THROW(check({"d", {0.0}, {1.0}, Joining::kHold}));
  for (const InputData& wrong :
       {InputData{"d", {}, {}, Joining::kHold}, InputData{"d", {0.0}, {1.0}, Joining::kLinear},
        InputData{"d", {0.0, 1.0}, {1.0}, Joining::kLinear},
        InputData{"d", {0.0, 1.0}, {1.0, nan}, Joining::kLinear},
        InputData{"d", {0.0, nan}, {1.0, 1.0}, Joining::kLinear},
        InputData{"d", {1.0, 0.0}, {1.0, 1.0}, Joining::kLinear},
        InputData{"d", {0.0, 0.0}, {1.0, 2.0}, Joining::kSpline},
        InputData{"d", {0.0, 1.0, 1.0, 1.0}, {1.0, 1.0, 2.0, 3.0}, Joining::kHold}})
    EXPECT_THROW(check(wrong), Error);
}

}  // namespace
}  // namespace saltus
