#include "analysis/split_margins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace saltus {
namespace {

double smallest_margin(const Eigen::VectorXd& r, const Eigen::MatrixXd& g,
                       const Eigen::VectorXd& c) {
  return (r + g * c).minCoeff();
}

// Brakes of capacities 1 and 3 on one shaft that has to be held against 3.5: the first takes 1/4
// less than it can, and so does the second.
TEST(SplitMargins, GivesBrakesOnOneShaftTheSameReserve) {
  Eigen::VectorXd r(4);
  Eigen::MatrixXd g(4, 1);
  const double load = 3.5;
  // The first takes c, the second the rest.
  r << 1.0, 1.0, 3.0 - load, 3.0 + load;
  g << -1.0, 1.0, 1.0, -1.0;
  const SplitMargins best = find_split_margins(r, g);
  ASSERT_EQ(best.groups.size(), 1U);
  EXPECT_EQ(best.groups[0], (std::vector<std::size_t>{0, 2}));
  EXPECT_NEAR(best.split(0), 0.75, 1e-12);
  EXPECT_EQ(best.open.cols(), 0);
}

TEST(SplitMargins, LeavesOpenWhatNoBoundDecides) {
  Eigen::VectorXd r(2);
  Eigen::MatrixXd g(2, 2);
  r << 1.0, 1.0;
  g << 1.0, 0.0, -1.0, 0.0;
  const SplitMargins best = find_split_margins(r, g);
  EXPECT_EQ(best.groups.size(), 1U);
  ASSERT_EQ(best.open.cols(), 1);
  EXPECT_NEAR(best.open(0, 0), 0.0, 1e-12);
}

TEST(SplitMargins, LeavesOpenWhatHasNoLimit) {
  Eigen::VectorXd r(2);
  Eigen::MatrixXd g(2, 1);
  r << -5.0, 1.0;
  g << 1.0, 2.0;
  const SplitMargins best = find_split_margins(r, g);
  EXPECT_TRUE(best.groups.empty());
  EXPECT_EQ(best.open.cols(), 1);
}

// No split found by chance has a larger smallest margin, and of the first group a positive
// combination is the same for all splits.
TEST(SplitMargins, IsTheBestOfRandomProblems) {
  std::mt19937 random(7);
  std::uniform_real_distribution<> number(-1.0, 1.0);
  int decided = 0;
  for (int k = 0; k < 300; ++k) {
    const Eigen::Index u = 1 + k % 5;
    const Eigen::Index pairs = u + 1 + k % 3;
    Eigen::VectorXd r(2 * pairs);
    Eigen::MatrixXd g(2 * pairs, u);
    for (Eigen::Index i = 0; i < pairs; ++i) {
      const double capacity = 1.0 + number(random);
      const double torque = 2.0 * number(random);
      r(2 * i) = capacity - torque;
      r(2 * i + 1) = capacity + torque;
      for (Eigen::Index j = 0; j < u; ++j) {
        // Integers, so that ties occur.
        const double slope = std::round(1.4 * number(random));
        g(2 * i, j) = slope;
        g(2 * i + 1, j) = -slope;
      }
    }
    // Rows without slope have the same margin whatever the split.
    std::vector<Eigen::Index> rows;
    for (Eigen::Index i = 0; i < g.rows(); ++i)
      if (g.row(i).cwiseAbs().maxCoeff() > 0.0) rows.push_back(i);
    if (rows.empty()) continue;
    const Eigen::VectorXd margins = r(rows);
    const Eigen::MatrixXd slopes = g(rows, Eigen::all);
    const SplitMargins best = find_split_margins(margins, slopes);
    ASSERT_FALSE(best.groups.empty());
    ++decided;
    const double found = smallest_margin(margins, slopes, best.split);
    for (const std::size_t row : best.groups[0])
      EXPECT_NEAR((margins + slopes * best.split)(static_cast<Eigen::Index>(row)), found, 1e-9);
    for (int trial = 0; trial < 200; ++trial) {
      Eigen::VectorXd c(u);
      for (Eigen::Index j = 0; j < u; ++j) c(j) = best.split(j) + number(random);
      EXPECT_LE(smallest_margin(margins, slopes, c), found + 1e-9);
    }
  }
  EXPECT_GT(decided, 250);
}

}  // namespace
}  // namespace saltus
