#pragma once

#include <Eigen/Dense>
#include <vector>

namespace saltus::oracle {

// Where an unknown of a box problem stands.
enum class At { kLower, kInside, kUpper };

// Finds p with lower <= p <= upper such that r = w p + q satisfies, for each i,
//   p_i = lower_i and r_i >= 0, or p_i = upper_i and r_i <= 0, or r_i = 0.
// w is symmetric and positive semidefinite; bounds may be infinite and equal. r is unique; p is not
// where w is singular, and then the unknowns inside have the least norm.
class BoxProblem {
 public:
  explicit BoxProblem(Eigen::MatrixXd w);

  // Starts from the answers `at` (one for each unknown) and leaves those of the solution there.
  // What counts as zero is `small_p` and `small_r`. With `single` answers change one by one: then
  // an unknown comes inside only if its residual is not zero, so unknowns that are independent at
  // the start stay so, and p is unique for the answers. False if none was found: then p is the last
  // candidate.
  bool solve(const Eigen::VectorXd& q, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
             const Eigen::VectorXd& small_p, const Eigen::VectorXd& small_r, std::vector<At>& at,
             Eigen::VectorXd& p, bool single = false);
  // The same with small_p and small_r from the sizes of q and the bounds.
  bool solve(const Eigen::VectorXd& q, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
             std::vector<At>& at, Eigen::VectorXd& p);

  // p at the bounds as `at` says, the others such that their residual is zero.
  void evaluate(const Eigen::VectorXd& q, const Eigen::VectorXd& lower,
                const Eigen::VectorXd& upper, const std::vector<At>& at, Eigen::VectorXd& p);

  const Eigen::VectorXd& residual() const { return r_; }
  long fallbacks() const { return fallbacks_; }

 private:
  Eigen::MatrixXd w_;
  Eigen::VectorXd r_;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factors_;
  std::vector<int> inside_;  // unknowns that the factors are for
  bool factored_ = false;
  long fallbacks_ = 0;
};

}  // namespace saltus::oracle
