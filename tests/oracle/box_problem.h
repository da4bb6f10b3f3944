#pragma once

#include <Eigen/Dense>
#include <vector>

namespace saltus::oracle {

// Where an unknown of a box problem stands.
enum class At { kLower, kInside, kUpper };

// Finds p with lower <= p <= upper such that r = w p + q satisfies, for each i,
//   p_i = lower_i and r_i >= 0, or p_i = upper_i and r_i <= 0, or r_i = 0.
// w is symmetric and positive semidefinite; bounds may be infinite and equal. r is unique; p is not
// where w is singular, and the one of nearly the least norm is taken.
class BoxProblem {
 public:
  explicit BoxProblem(Eigen::MatrixXd w);

  // Starts from the answers `at` (one for each unknown) and leaves those of the solution there.
  // False if none was found: then p is the last candidate.
  bool solve(const Eigen::VectorXd& q, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
             std::vector<At>& at, Eigen::VectorXd& p);

  const Eigen::MatrixXd& matrix() const { return w_; }
  long solves() const { return solves_; }
  long fallbacks() const { return fallbacks_; }

 private:
  void evaluate(const Eigen::VectorXd& q, const Eigen::VectorXd& lower,
                const Eigen::VectorXd& upper, const std::vector<At>& at, Eigen::VectorXd& p);

  Eigen::MatrixXd w_;  // as given
  Eigen::VectorXd ridge_;
  Eigen::VectorXd r_;
  Eigen::LDLT<Eigen::MatrixXd> factors_;
  std::vector<int> inside_;  // unknowns that the factors are for
  bool factored_ = false;
  long solves_ = 0;
  long fallbacks_ = 0;
};

}  // namespace saltus::oracle
