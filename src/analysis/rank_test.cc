#include "analysis/rank.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

namespace saltus {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd random_matrix(Index rows, Index columns, std::mt19937& random) {
  std::normal_distribution<> normal;
  MatrixXd a(rows, columns);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i) a(i, j) = normal(random);
  return a;
}

MatrixXd random_rotation(Index n, std::mt19937& random) {
  return Eigen::HouseholderQR<MatrixXd>(random_matrix(n, n, random)).householderQ();
}

void expect_bases(const MatrixXd& a, const RankDecision& decision, double rounding) {
  const double size = a.norm();
  EXPECT_LT((decision.left_null.transpose() * a).norm(), rounding * size);
  EXPECT_LT((a * decision.right_null).norm(), rounding * size);
  MatrixXd rows(a.rows(), a.rows());
  rows << decision.range, decision.left_null;
  EXPECT_LT((rows.transpose() * rows - MatrixXd::Identity(a.rows(), a.rows())).norm(), 1e-12);
  const Index nullity = a.cols() - decision.rank;
  ASSERT_EQ(decision.right_null.cols(), nullity);
  EXPECT_LT(
      (decision.right_null.transpose() * decision.right_null - MatrixXd::Identity(nullity, nullity))
          .norm(),
      1e-12);
}

// Matrices made from their singular values: below and above the size where pivots decide.
TEST(Rank, IsWhatTheSingularValuesSay) {
  std::mt19937 random(7);
  for (const Index rows : {20, 90, 150})
    for (const Index columns : {30, 100, 140})
      for (const Index rank : {Index{1}, Index{13}, std::min(rows, columns)}) {
        MatrixXd s = MatrixXd::Zero(rows, columns);
        for (Index k = 0; k < rank; ++k) s(k, k) = std::pow(10.0, -4.0 * double(k) / double(rank));
        const MatrixXd a = random_rotation(rows, random) * s * random_rotation(columns, random);
        const RankDecision decision = decide_rank(a, 1e-9);
        EXPECT_EQ(decision.rank, rank) << rows << " x " << columns;
        EXPECT_GT(decision.gap, 1e6);
        expect_bases(a, decision, 1e-12);
      }
}

// Kahan's matrix: no pivot of its QR decomposition is small although it is all but singular.
TEST(Rank, IsNotTakenInByPivotsThatHideASmallSingularValue) {
  const Index n = 120;
  const double c = 0.4, s = std::sqrt(1.0 - c * c);
  MatrixXd kahan = MatrixXd::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    // The second factor breaks ties, so that pivoting leaves the columns where they are.
    kahan(i, i) = std::pow(s, double(i)) * (1.0 + 1e-13 * double(n - i));
    for (Index j = i + 1; j < n; ++j) kahan(i, j) = -c * std::pow(s, double(i));
  }
  const Eigen::JacobiSVD<MatrixXd> svd(kahan);
  const double smallest = svd.singularValues()(n - 1) / svd.singularValues()(0);
  const double last_pivot = kahan(n - 1, n - 1) / kahan(0, 0);
  ASSERT_LT(100.0 * smallest, last_pivot);
  EXPECT_EQ(decide_rank(kahan, std::sqrt(smallest * last_pivot)).rank, n - 1);
  EXPECT_EQ(decide_rank(kahan, 0.5 * smallest).rank, n);
}

TEST(Rank, OfRoundingErrorsIsZero) {
  std::mt19937 random(3);
  const MatrixXd a = 1e-14 * random_matrix(80, 80, random);
  EXPECT_EQ(decide_rank(a, 1e-9, 1.0).rank, 0);
  EXPECT_EQ(decide_rank(a, 1e-9).rank, 80);
}

}  // namespace
}  // namespace saltus
