#pragma once

#include <Eigen/Core>
#include <complex>
#include <memory>
#include <vector>

namespace saltus {

// Eigen's dense decompositions behind plain functions: the templates behind them take a compiler
// seconds, here once for all. Sizes are known at run time only; everything allocates. Of Eigen's
// singular value decompositions Jacobi's is taken: BDCSVD of version 3.4 reads out of bounds for
// some matrices without full rank.

// A P = Q R with column pivoting. Columns whose pivot is below `threshold` times the largest are
// not counted; 0: Eigen's own.
class PivotedQr {
 public:
  explicit PivotedQr(const Eigen::MatrixXd& a, double threshold = 0.0);
  ~PivotedQr();

  void set_threshold(double threshold);
  Eigen::Index rank() const;
  Eigen::VectorXd pivots() const;  // their sizes
  double largest_pivot() const;
  Eigen::MatrixXd q() const;
  // Columns of Q.
  Eigen::MatrixXd q_columns(Eigen::Index first, Eigen::Index count) const;
  // P: the k-th column that was chosen.
  Eigen::Index chosen(Eigen::Index k) const;
  Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;
  // y with R11^T y = (P^T b)_1 for the leading `rank` columns.
  Eigen::VectorXd solve_transposed_leading(const Eigen::VectorXd& b) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A = Q [T 0; 0 0] Z P^T: solutions of least norm of least-squares problems.
template <class Scalar>
class BasicLeastNorm {
 public:
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  // `threshold`: as for PivotedQr.
  explicit BasicLeastNorm(const Matrix& a, double threshold = 0.0);
  ~BasicLeastNorm();
  BasicLeastNorm(BasicLeastNorm&&) noexcept;
  BasicLeastNorm& operator=(BasicLeastNorm&&) noexcept;

  Eigen::Index rank() const;
  Matrix q() const;
  Vector solve(const Vector& b) const;
  Matrix solve_all(const Matrix& b) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
extern template class BasicLeastNorm<double>;
extern template class BasicLeastNorm<std::complex<double>>;
using LeastNorm = BasicLeastNorm<double>;

// P A Q = L U with full pivoting: rank and kernel.
class FullLu {
 public:
  // `threshold`: as for PivotedQr.
  explicit FullLu(const Eigen::MatrixXd& a, double threshold = 0.0);
  ~FullLu();

  Eigen::Index rank() const;
  bool is_invertible() const;
  double reciprocal_condition() const;  // pre: is_invertible()
  Eigen::MatrixXd kernel() const;       // no columns if only zero is in it
  Eigen::VectorXd solve(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_all(const Eigen::MatrixXd& b) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// P A = L U of a regular matrix.
class PartialLu {
 public:
  PartialLu();
  explicit PartialLu(const Eigen::MatrixXd& a);
  ~PartialLu();

  void factor(const Eigen::MatrixXd& a);
  bool has_zero_pivot() const;
  Eigen::VectorXd solve(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd solve_all(const Eigen::MatrixXd& b) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A = U S V^T with square U and V.
struct SingularValues {
  // Singular values below this fraction of the largest are zero.
  Eigen::Index rank(double threshold) const;

  Eigen::VectorXd s;
  Eigen::MatrixXd u, v;
};
SingularValues singular_values(const Eigen::MatrixXd& a);

struct Eigenvalues {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;  // of length 1; zero without convergence, empty if not asked for
  bool converged = false;
};
Eigenvalues eigenvalues(const Eigen::MatrixXd& a, bool with_vectors);

// A v = (alpha / beta) B v; beta = 0: infinite.
struct PencilEigenvalues {
  Eigen::VectorXcd alpha;
  Eigen::VectorXd beta;
  Eigen::MatrixXcd vectors;  // empty if not asked for
  bool converged = false;
};
PencilEigenvalues eigenvalues(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                              bool with_vectors);

}  // namespace saltus
