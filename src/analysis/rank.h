#pragma once

#include <Eigen/Core>

namespace saltus {

// A numerical rank with its evidence, and orthonormal bases of the spaces beside it.
struct RankDecision {
  Eigen::Index rank = 0;
  // Ratio between the last singular value that counts and the next one, or a lower bound of it.
  // 1e300: nothing is left.
  double gap = 1e300;
  Eigen::MatrixXd left_null, right_null, range;
};

// Singular values below `tolerance` times the largest count as zero. `reference`: the size of what
// `a` was computed from, against which a small `a` is rounding. Pre: `a` is finite.
RankDecision decide_rank(const Eigen::MatrixXd& a, double tolerance, double reference = 0.0);

}  // namespace saltus
