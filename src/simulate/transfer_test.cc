#include "simulate/transfer.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

TEST(FirstToLeave, FindsTheFirstZeroOnTheWay) {
  FirstToLeave first;
  first.follow(
      4, [](double s) { return 0.5 - s; }, 1e-10);
  first.follow(
      7, [](double s) { return (0.25 - s) * (1.5 - s); }, 1e-10);
  first.follow(
      8, [](double s) { return 2.0 - s; }, 1e-10);
  ASSERT_TRUE(first.any());
  EXPECT_NEAR(first.fraction(), 0.25, 1e-12);
  EXPECT_EQ(first.items(), std::vector<std::size_t>{7});
}

TEST(FirstToLeave, NamesAllThatLeaveTogether) {
  FirstToLeave first;
  first.follow_line(1, 1.0, -1.0, 1e-10);
  first.follow(
      2, [](double s) { return 1.0 - 4.0 * s * s; }, 1e-10);
  first.follow_line(3, 1.0, -0.5, 1e-10);
  EXPECT_NEAR(first.fraction(), 0.5, 1e-12);
  EXPECT_EQ(first.items(), (std::vector<std::size_t>{1, 2}));
}

TEST(FirstToLeave, PassesOverWhatTouchesZero) {
  FirstToLeave first;
  first.follow(
      0, [](double s) { return (s - 0.5) * (s - 0.5); }, 1e-10);
  first.follow_line(1, 1.0, 0.0, 1e-10);
  first.follow_line(2, 0.0, 1.0, 1e-10);
  EXPECT_FALSE(first.any());
}

TEST(FirstToLeave, LeavesAtOnceWhatStartsAtZeroAndFalls) {
  FirstToLeave first;
  first.follow_line(0, 0.0, -1.0, 1e-10);
  first.follow(
      1, [](double s) { return -s; }, 1e-10);
  ASSERT_TRUE(first.any());
  EXPECT_NEAR(first.fraction(), 0.0, 1e-9);
  EXPECT_EQ(first.items().size(), 2u);
}

}  // namespace
}  // namespace saltus
