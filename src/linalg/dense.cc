#include "linalg/dense.h"

#include <Eigen/Dense>
#include <algorithm>
#include <limits>

namespace saltus {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct PivotedQr::Impl {
  Eigen::ColPivHouseholderQR<MatrixXd> qr;
};

PivotedQr::PivotedQr(const MatrixXd& a, double threshold) : impl_(std::make_unique<Impl>()) {
  if (threshold > 0.0) set_threshold(threshold);
  impl_->qr.compute(a);
}

PivotedQr::~PivotedQr() = default;

void PivotedQr::set_threshold(double threshold) { impl_->qr.setThreshold(threshold); }
Index PivotedQr::rank() const { return impl_->qr.rank(); }
VectorXd PivotedQr::pivots() const { return impl_->qr.matrixQR().diagonal().cwiseAbs(); }
double PivotedQr::largest_pivot() const { return impl_->qr.maxPivot(); }
MatrixXd PivotedQr::q() const { return impl_->qr.householderQ(); }

MatrixXd PivotedQr::q_columns(Index first, Index count) const {
  MatrixXd columns = MatrixXd::Zero(impl_->qr.rows(), count);
  for (Index k = 0; k < count; ++k) columns(first + k, k) = 1.0;
  return impl_->qr.householderQ() * columns;
}

Index PivotedQr::chosen(Index k) const { return impl_->qr.colsPermutation().indices()(k); }
MatrixXd PivotedQr::solve(const MatrixXd& b) const { return impl_->qr.solve(b); }

VectorXd PivotedQr::solve_transposed_leading(const VectorXd& b) const {
  const auto& qr = impl_->qr;
  const Index n = qr.rank();
  const VectorXd ordered = (qr.colsPermutation().transpose() * b).head(n);
  return qr.matrixQR().topLeftCorner(n, n).triangularView<Eigen::Upper>().transpose().solve(
      ordered);
}

template <class Scalar>
struct BasicLeastNorm<Scalar>::Impl {
  Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition;
};

template <class Scalar>
BasicLeastNorm<Scalar>::BasicLeastNorm(const Matrix& a, double threshold)
    : impl_(std::make_unique<Impl>()) {
  if (threshold > 0.0) impl_->decomposition.setThreshold(threshold);
  impl_->decomposition.compute(a);
}

template <class Scalar>
BasicLeastNorm<Scalar>::~BasicLeastNorm() = default;
template <class Scalar>
BasicLeastNorm<Scalar>::BasicLeastNorm(BasicLeastNorm&&) noexcept = default;
template <class Scalar>
BasicLeastNorm<Scalar>& BasicLeastNorm<Scalar>::operator=(BasicLeastNorm&&) noexcept = default;

template <class Scalar>
Index BasicLeastNorm<Scalar>::rank() const {
  return impl_->decomposition.rank();
}

template <class Scalar>
auto BasicLeastNorm<Scalar>::q() const -> Matrix {
  return impl_->decomposition.householderQ();
}

template <class Scalar>
auto BasicLeastNorm<Scalar>::solve(const Vector& b) const -> Vector {
  return impl_->decomposition.solve(b);
}

template <class Scalar>
auto BasicLeastNorm<Scalar>::solve_all(const Matrix& b) const -> Matrix {
  return impl_->decomposition.solve(b);
}

template class BasicLeastNorm<double>;
template class BasicLeastNorm<std::complex<double>>;

struct FullLu::Impl {
  Eigen::FullPivLU<MatrixXd> lu;
};

FullLu::FullLu(const MatrixXd& a, double threshold) : impl_(std::make_unique<Impl>()) {
  if (threshold > 0.0) impl_->lu.setThreshold(threshold);
  impl_->lu.compute(a);
}

FullLu::~FullLu() = default;

Index FullLu::rank() const { return impl_->lu.rank(); }
bool FullLu::is_invertible() const { return impl_->lu.isInvertible(); }
double FullLu::reciprocal_condition() const { return impl_->lu.rcond(); }

MatrixXd FullLu::kernel() const {
  if (impl_->lu.dimensionOfKernel() == 0) return {impl_->lu.cols(), 0};
  return impl_->lu.kernel();
}

VectorXd FullLu::solve(const VectorXd& b) const { return impl_->lu.solve(b); }
MatrixXd FullLu::solve_all(const MatrixXd& b) const { return impl_->lu.solve(b); }

struct PartialLu::Impl {
  Eigen::PartialPivLU<MatrixXd> lu;
};

PartialLu::PartialLu() : impl_(std::make_unique<Impl>()) {}
PartialLu::PartialLu(const MatrixXd& a) : PartialLu() { factor(a); }
PartialLu::~PartialLu() = default;

void PartialLu::factor(const MatrixXd& a) { impl_->lu.compute(a); }

bool PartialLu::has_zero_pivot() const {
  const MatrixXd& lu = impl_->lu.matrixLU();
  return lu.rows() > 0 && lu.diagonal().cwiseAbs().minCoeff() == 0.0;
}

VectorXd PartialLu::solve(const VectorXd& b) const { return impl_->lu.solve(b); }
MatrixXd PartialLu::solve_all(const MatrixXd& b) const { return impl_->lu.solve(b); }

Index SingularValues::rank(double threshold) const {
  if (s.size() == 0 || s(0) == 0.0) return 0;
  Index count = s.size();
  const double smallest = std::max(s(0) * threshold, std::numeric_limits<double>::min());
  while (count > 0 && s(count - 1) < smallest) --count;
  return count;
}

SingularValues singular_values(const MatrixXd& a) {
  const Eigen::JacobiSVD<MatrixXd> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.singularValues(), svd.matrixU(), svd.matrixV()};
}

}  // namespace saltus
