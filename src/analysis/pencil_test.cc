#include "analysis/pencil.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

using Eigen::MatrixXd;

// A nilpotent block of size k has index k, strangeness index k - 1.
TEST(Pencil, NilpotentBlockHasItsSizeAsIndex) {
  for (int k = 1; k <= 4; ++k) {
    MatrixXd e = MatrixXd::Zero(k, k);
    for (int i = 0; i + 1 < k; ++i) e(i, i + 1) = 1.0;
    const auto values = pencil_values(e, MatrixXd::Identity(k, k));
    ASSERT_TRUE(values);
    EXPECT_EQ(*values, (CharacteristicValues{.mu = k - 1, .d = 0, .a = k, .v = 0, .u = 0}));
  }
}

TEST(Pencil, OrdinaryEquationsAreDifferential) {
  const auto values = pencil_values(MatrixXd::Identity(3, 3), MatrixXd::Ones(3, 3));
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (CharacteristicValues{.mu = 0, .d = 3, .a = 0, .v = 0, .u = 0}));
}

// x' = -x twice, y in no equation.
TEST(Pencil, CountsRedundantEquationsAndFreeUnknowns) {
  MatrixXd e = MatrixXd::Zero(2, 2);
  e(0, 0) = 1.0;
  e(1, 0) = 2.0;
  const auto values = pencil_values(e, e);
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (CharacteristicValues{.mu = 0, .d = 1, .a = 0, .v = 1, .u = 1}));
}

// x' = v, v' = f - lambda, x = 0, with units that differ by ten orders.
TEST(Pencil, IsNotMisledByUnits) {
  MatrixXd e = MatrixXd::Zero(3, 3);
  MatrixXd a = MatrixXd::Zero(3, 3);
  e(0, 0) = 1.0;
  a(0, 1) = -1.0;
  e(1, 1) = 1e-4;
  a(1, 2) = 1e6;
  a(2, 0) = 1e-2;
  const auto values = pencil_values(e, a);
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (CharacteristicValues{.mu = 2, .d = 0, .a = 3, .v = 0, .u = 0}));
}

}  // namespace
}  // namespace saltus
