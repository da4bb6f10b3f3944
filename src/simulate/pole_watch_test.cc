#include "simulate/pole_watch.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Steps of a twentieth of the time that is left until t = 2.
TEST(PoleWatch, FindsTheTimeThatStepsShrinkTo) {
  PoleWatch watch;
  double t = 0.0;
  for (int k = 0; k < 200; ++k) {
    t += 0.05 * (2.0 - t);
    watch.note(t);
  }
  EXPECT_NEAR(watch.time(), 2.0, 1e-6);
  watch.forget();
  EXPECT_EQ(watch.time(), kInfinity);
}

TEST(PoleWatch, IsSilentWhereStepsStayAsTheyAre) {
  PoleWatch watch;
  for (int k = 0; k < 200; ++k) watch.note(0.1 * k);
  EXPECT_EQ(watch.time(), kInfinity);
}

}  // namespace
}  // namespace saltus
