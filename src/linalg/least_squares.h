#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "linalg/dense.h"
#include "linalg/pattern.h"

namespace saltus {

// Least-squares solution of least norm for matrices of any shape and rank (complete orthogonal
// decomposition, rows and columns equilibrated): what Newton needs for overdetermined but
// consistent and for redundant equations. Rows of larger weight are satisfied before others where
// the equations contradict each other. Dense; allocates.
template <class Scalar>
class LeastSquares {
 public:
  // `weights` of the rows; empty: all 1.
  LeastSquares(const Pattern& pattern, std::vector<double> weights)
      : pattern_(pattern), weights_(std::move(weights)), matrix_(pattern.rows, pattern.columns) {}

  bool factor(const Scalar* values) {
    matrix_.setZero();
    for (int j = 0; j < pattern_.columns; ++j)
      for (int k = pattern_.start[j]; k < pattern_.start[j + 1]; ++k)
        matrix_(pattern_.row[k], j) = values[k];
    if (!matrix_.allFinite()) return false;
    row_scale_.setOnes(pattern_.rows);
    column_scale_.setOnes(pattern_.columns);
    for (int i = 0; i < pattern_.rows; ++i) {
      const double size = matrix_.row(i).cwiseAbs().maxCoeff();
      if (size > 0.0) row_scale_(i) = 1.0 / size;
      if (!weights_.empty()) row_scale_(i) *= weights_[static_cast<std::size_t>(i)];
    }
    matrix_ = row_scale_.asDiagonal() * matrix_;
    for (int j = 0; j < pattern_.columns; ++j) {
      const double size = matrix_.col(j).cwiseAbs().maxCoeff();
      if (size > 0.0) column_scale_(j) = 1.0 / size;
    }
    matrix_ = matrix_ * column_scale_.asDiagonal();
    decomposition_.emplace(matrix_, kRankTolerance);
    return true;
  }

  // b holds the right side (rows) on entry and the solution (columns) on return.
  void solve(Scalar* b) const {
    Eigen::Map<const Vector> right(b, pattern_.rows);
    const Vector x =
        column_scale_.asDiagonal() * decomposition_->solve(row_scale_.asDiagonal() * right);
    std::copy(x.data(), x.data() + x.size(), b);
  }

  int dependent_column() const { return -1; }
  double pivot_ratio() const { return 1.0; }

 private:
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  static constexpr double kRankTolerance = 1e-11;

  Pattern pattern_;
  std::vector<double> weights_;
  Matrix matrix_;
  Eigen::VectorXd row_scale_, column_scale_;
  std::optional<BasicLeastNorm<Scalar>> decomposition_;
};

}  // namespace saltus
