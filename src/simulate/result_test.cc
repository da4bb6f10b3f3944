#include "simulate/result.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace saltus {
namespace {

TEST(Statistics, AddsEveryField) {
  Statistics sum{.steps = 1,
                 .rejected = 2,
                 .residuals = 3,
                 .jacobians = 4,
                 .factorizations = 5,
                 .newton_iterations = 6,
                 .events = 7,
                 .translate_seconds = 8.0,
                 .analyse_seconds = 9.0,
                 .integrate_seconds = 10.0,
                 .wall_seconds = 11.0};
  sum += sum;
  EXPECT_EQ(sum.steps, 2u);
  EXPECT_EQ(sum.rejected, 4u);
  EXPECT_EQ(sum.residuals, 6u);
  EXPECT_EQ(sum.jacobians, 8u);
  EXPECT_EQ(sum.factorizations, 10u);
  EXPECT_EQ(sum.newton_iterations, 12u);
  EXPECT_EQ(sum.events, 14u);
  EXPECT_EQ(sum.translate_seconds, 16.0);
  EXPECT_EQ(sum.analyse_seconds, 18.0);
  EXPECT_EQ(sum.integrate_seconds, 20.0);
  EXPECT_EQ(sum.wall_seconds, 22.0);
}

TEST(StopReason, HasADistinctNameForEveryValue) {
  std::set<std::string> names;
  const int count = static_cast<int>(StopReason::kOutputFailed) + 1;
  for (int i = 0; i < count; ++i) names.insert(to_string(static_cast<StopReason>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(to_string(StopReason::kStepSizeTooSmall), "step-size-too-small");
}

}  // namespace
}  // namespace saltus
