#include "analysis/sparse_null.h"

#include <algorithm>
#include <cmath>

#include "linalg/linear_solver.h"

namespace saltus {
namespace {

constexpr double kRegular = 1e-9;      // of pivots
constexpr double kPivot = 1e-10;       // below it a column depends on others
constexpr double kNegligible = 1e-11;  // of factors

// Scales rows and columns in turn until the entries of each are of size one in the mean, so that
// neighbours agree whatever their units.
void equilibrate(SparseMatrix& a, Eigen::VectorXd& rows, Eigen::VectorXd& columns) {
  constexpr int kSweeps = 10;
  a.prune([](Eigen::Index, Eigen::Index, double value) { return value != 0.0; });
  rows.setOnes(a.rows());
  columns.setOnes(a.cols());
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(a.rows());
    Eigen::VectorXd count = Eigen::VectorXd::Zero(a.rows());
    for (int j = 0; j < a.outerSize(); ++j)
      for (SparseMatrix::InnerIterator it(a, j); it; ++it) {
        sum(it.row()) += std::log(std::abs(it.value()));
        count(it.row()) += 1.0;
      }
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      sum(i) = count(i) > 0.0 ? std::exp(-sum(i) / count(i)) : 1.0;
    rows = rows.cwiseProduct(sum);
    for (int j = 0; j < a.outerSize(); ++j) {
      double size = 0.0;
      double entries = 0.0;
      for (SparseMatrix::InnerIterator it(a, j); it; ++it) {
        it.valueRef() *= sum(it.row());
        size += std::log(std::abs(it.value()));
        entries += 1.0;
      }
      if (entries == 0.0) continue;
      const double factor = std::exp(-size / entries);
      for (SparseMatrix::InnerIterator it(a, j); it; ++it) it.valueRef() *= factor;
      columns(j) *= factor;
    }
  }
}

}  // namespace

SparseMatrix assemble(int rows, int columns, const std::vector<MatrixPlace>& places,
                      const std::vector<double>& values) {
  std::vector<Eigen::Triplet<double>> triplets;
  for (std::size_t k = 0; k < places.size(); ++k)
    triplets.emplace_back(places[k].row, places[k].column, values[k]);
  SparseMatrix a(rows, columns);
  a.setFromTriplets(triplets.begin(), triplets.end());
  a.makeCompressed();
  return a;
}

bool is_regular(SparseMatrix a) {
  Eigen::VectorXd rows, columns;
  equilibrate(a, rows, columns);
  Pattern pattern{static_cast<int>(a.rows()), static_cast<int>(a.cols()), {}, {}};
  pattern.start.assign(a.outerIndexPtr(), a.outerIndexPtr() + a.cols() + 1);
  pattern.row.assign(a.innerIndexPtr(), a.innerIndexPtr() + a.nonZeros());
  LinearSolver<double> solver(pattern, Backend::kKlu);
  return solver.factor(a.valuePtr()) && solver.pivot_ratio() > kRegular;
}

std::vector<Combination> null_vectors(SparseMatrix a) {
  Eigen::VectorXd rows, columns;
  equilibrate(a, rows, columns);
  Eigen::SparseQR<SparseMatrix, Eigen::COLAMDOrdering<int>> qr;
  qr.setPivotThreshold(kPivot);
  qr.compute(a);
  std::vector<Combination> found;
  if (qr.info() != Eigen::Success) return found;
  const Eigen::Index rank = qr.rank();
  const SparseMatrix r = qr.matrixR();
  const SparseMatrix leading = r.topLeftCorner(rank, rank);
  const auto permutation = qr.colsPermutation().indices();
  for (Eigen::Index k = rank; k < a.cols(); ++k) {
    Eigen::VectorXd w = r.col(k).head(rank);
    leading.triangularView<Eigen::Upper>().solveInPlace(w);
    Combination combination;
    const auto own = static_cast<std::size_t>(permutation(k));
    const double unit = columns(permutation(k));
    combination.emplace_back(own, 1.0);
    for (Eigen::Index i = 0; i < rank; ++i)
      if (std::abs(w(i)) > kNegligible)
        combination.emplace_back(static_cast<std::size_t>(permutation(i)),
                                 -w(i) * columns(permutation(i)) / unit);
    std::ranges::sort(combination);
    found.push_back(std::move(combination));
  }
  return found;
}

}  // namespace saltus
