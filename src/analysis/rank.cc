#include "analysis/rank.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>

namespace saltus {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Above this size the singular values of a matrix cost much more than its QR decomposition.
constexpr Index kLargestJacobi = 64;

RankDecision by_singular_values(const MatrixXd& a, double tolerance, double reference) {
  // Not BDCSVD: Eigen 3.4 reads out of bounds there for some matrices without full rank.
  const Eigen::JacobiSVD<MatrixXd> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const VectorXd& s = svd.singularValues();
  RankDecision result;
  const double smallest = tolerance * std::max(s(0), reference);
  while (result.rank < s.size() && s(result.rank) > smallest) ++result.rank;
  const double last = s(result.rank - 1);
  const double next = result.rank < s.size() ? s(result.rank) : 0.0;
  result.gap = next > 0.0 ? last / next : 1e300;
  result.left_null = svd.matrixU().rightCols(a.rows() - result.rank);
  result.right_null = svd.matrixV().rightCols(a.cols() - result.rank);
  result.range = svd.matrixU().leftCols(result.rank);
  return result;
}

// Starts of the iterations below: no direction is left out, none preferred.
VectorXd any_direction(Index n) {
  VectorXd v(n);
  for (Index i = 0; i < n; ++i) v(i) = 1.0 + 0.5 * std::sin(static_cast<double>(i + 1));
  return v.normalized();
}

double largest_singular_value(const MatrixXd& a) {
  VectorXd v = any_direction(a.cols());
  double size = 0.0;
  for (int k = 0; k < 10; ++k) {
    v = a.transpose() * (a * v);
    size = v.norm();
    if (size == 0.0) return a.norm();
    v /= size;
  }
  return std::sqrt(size);
}

// Of an upper triangular matrix without zeros on its diagonal.
template <class Triangle>
double smallest_singular_value(const Triangle& r, Index n) {
  VectorXd v = any_direction(n);
  double size = 1.0;
  for (int k = 0; k < 5; ++k) {
    r.transpose().solveInPlace(v);
    r.solveInPlace(v);
    size = v.norm();
    if (!std::isfinite(size)) return 0.0;
    v /= size;
  }
  return 1.0 / std::sqrt(size);
}

// QR with column pivoting, A P = Q [R11 R12; 0 R22], bounds the singular values beside the rank:
// that of index `rank` is at least the smallest of R11, the next one at most the norm of R22.
// Nothing if the bounds do not lie on either side of what counts as zero.
std::optional<RankDecision> by_pivots(const MatrixXd& a, double tolerance, double reference) {
  const double smallest = tolerance * std::max(largest_singular_value(a), reference);
  const double largest_pivot = a.colwise().norm().maxCoeff();
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> cod(a.rows(), a.cols());
  cod.setThreshold(smallest / largest_pivot);
  cod.compute(a);
  RankDecision result;
  result.rank = cod.rank();
  if (result.rank == 0) return std::nullopt;
  // The triangle T that takes the place of R11 and R12 has their singular values.
  const auto triangle =
      cod.matrixT().topLeftCorner(result.rank, result.rank).template triangularView<Eigen::Upper>();
  const double last = smallest_singular_value(triangle, result.rank);
  const Index rest = std::min(a.rows(), a.cols()) - result.rank;
  const double next =
      rest == 0 ? 0.0
                : MatrixXd(cod.matrixQTZ()
                               .block(result.rank, result.rank, rest, a.cols() - result.rank)
                               .template triangularView<Eigen::Upper>())
                      .norm();
  if (!(last > smallest && next <= smallest)) return std::nullopt;
  result.gap = next > 0.0 ? last / next : 1e300;
  const MatrixXd q = cod.householderQ();
  result.left_null = q.rightCols(a.rows() - result.rank);
  result.range = q.leftCols(result.rank);
  const MatrixXd z = cod.matrixZ();
  result.right_null =
      cod.colsPermutation() * MatrixXd(z.transpose().rightCols(a.cols() - result.rank));
  return result;
}

}  // namespace

RankDecision decide_rank(const MatrixXd& a, double tolerance, double reference) {
  if (a.rows() == 0 || a.cols() == 0 || a.norm() <= tolerance * reference || a.isZero(0.0)) {
    RankDecision result;
    result.left_null = MatrixXd::Identity(a.rows(), a.rows());
    result.right_null = MatrixXd::Identity(a.cols(), a.cols());
    result.range = MatrixXd::Zero(a.rows(), 0);
    return result;
  }
  if (std::min(a.rows(), a.cols()) > kLargestJacobi)
    if (auto result = by_pivots(a, tolerance, reference)) return *std::move(result);
  return by_singular_values(a, tolerance, reference);
}

}  // namespace saltus
