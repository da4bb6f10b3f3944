#include "analysis/pencil.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "linalg/dense.h"

namespace saltus {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kRankTolerance = 1e-11;

struct Ranked {
  // `size` is that of the factors of a product: what is tiny against it is rounding.
  explicit Ranked(const MatrixXd& matrix, double size = 0.0) : rows(matrix.rows()) {
    if (matrix.size() == 0 || matrix.isZero(0.0)) return;
    qr.emplace(matrix);
    qr->set_threshold(kRankTolerance * std::max(1.0, size / qr->largest_pivot()));
    rank = qr->rank();
  }
  // Orthonormal columns that span what the matrix does not reach.
  MatrixXd left_null() const {
    if (rank == 0) return MatrixXd::Identity(rows, rows);
    return qr->q_columns(rank, rows - rank);
  }
  std::optional<PivotedQr> qr;
  Index rows = 0;
  Index rank = 0;
};

// The pencil in other units: of equations, unknowns and time.
struct Scaled {
  MatrixXd e, a;
  double spread = 0.0;  // sum of squares of the logarithms of all nonzeros
};

// Rows and columns to geometric mean one.
Scaled in_units(const MatrixXd& e, const MatrixXd& a, double unit_of_time) {
  Scaled s{e, a * unit_of_time, 0.0};
  struct Mean {
    double logarithms = 0.0;
    int count = 0;
    void add(double entry) {
      if (entry == 0.0) return;
      logarithms += std::log(std::abs(entry));
      ++count;
    }
    double factor() const { return count == 0 ? 1.0 : std::exp(-logarithms / count); }
  };
  for (int sweep = 0; sweep < 10; ++sweep) {
    for (Index i = 0; i < e.rows(); ++i) {
      Mean mean;
      for (Index j = 0; j < e.cols(); ++j) {
        mean.add(s.e(i, j));
        mean.add(s.a(i, j));
      }
      s.e.row(i) *= mean.factor();
      s.a.row(i) *= mean.factor();
    }
    for (Index j = 0; j < e.cols(); ++j) {
      Mean mean;
      for (Index i = 0; i < e.rows(); ++i) {
        mean.add(s.e(i, j));
        mean.add(s.a(i, j));
      }
      s.e.col(j) *= mean.factor();
      s.a.col(j) *= mean.factor();
    }
  }
  for (const MatrixXd* matrix : {&s.e, &s.a})
    for (const double entry : matrix->reshaped())
      if (entry != 0.0) s.spread += std::pow(std::log(std::abs(entry)), 2);
  return s;
}

// Ranks are clear in the units in which all numbers are of like size; the values do not depend on
// units.
Scaled in_best_units(const MatrixXd& e, const MatrixXd& a) {
  Scaled best = in_units(e, a, 1.0);
  for (int power = -7; power <= 7; ++power) {
    Scaled other = in_units(e, a, std::pow(10.0, power));
    if (other.spread < best.spread) best = std::move(other);
  }
  return best;
}

}  // namespace

std::optional<CharacteristicValues> pencil_values(const MatrixXd& by_slope,
                                                  const MatrixXd& by_value, int max_levels) {
  const Index m = by_slope.rows();
  const Index n = by_slope.cols();
  if (n == 0) return CharacteristicValues{.v = static_cast<int>(m)};
  const Scaled scaled = in_best_units(by_slope, by_value);
  const MatrixXd& e = scaled.e;
  const MatrixXd& a = scaled.a;
  Index corank_before = 0;
  for (int level = 0; level <= max_levels; ++level) {
    // M (x', ..., x^(level + 1)) + N x = 0: the equations and their derivatives.
    const Index rows = (level + 1) * m;
    MatrixXd array = MatrixXd::Zero(rows, (level + 2) * n);  // [M N]
    for (Index k = 0; k <= level; ++k) {
      array.block(k * m, k * n, m, n) = e;
      if (k > 0) array.block(k * m, (k - 1) * n, m, n) = a;
    }
    const MatrixXd z2 = Ranked(array.leftCols((level + 1) * n)).left_null();
    array.block(0, (level + 1) * n, m, n) = a;
    const Index corank = rows - Ranked(array).rank;
    const Index redundant = corank - corank_before;
    corank_before = corank;

    const MatrixXd constraints = z2.topRows(m).transpose() * a;
    const Ranked algebraic(constraints.transpose(), a.norm());
    const Index differential = Ranked(e * algebraic.left_null(), e.norm()).rank;
    if (differential + algebraic.rank + redundant != m) continue;
    return CharacteristicValues{.mu = level,
                                .d = static_cast<int>(differential),
                                .a = static_cast<int>(algebraic.rank),
                                .v = static_cast<int>(redundant),
                                .u = static_cast<int>(n - differential - algebraic.rank)};
  }
  return std::nullopt;
}

std::optional<CharacteristicValues> pencil_values(const Dae& dae, DaeData& data, double t,
                                                  const double* x, const double* dx) {
  const Pattern& pattern = dae.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  std::vector<double> values(2 * nonzeros);
  dae.jacobian(data, t, x, dx, values.data());
  const auto m = static_cast<Index>(dae.equation_count());
  const auto n = static_cast<Index>(dae.unknown_count());
  MatrixXd e = MatrixXd::Zero(m, n);
  MatrixXd a = MatrixXd::Zero(m, n);
  for (Index j = 0; j < n; ++j) {
    const auto column = static_cast<std::size_t>(j);
    for (auto k = static_cast<std::size_t>(pattern.start[column]);
         k < static_cast<std::size_t>(pattern.start[column + 1]); ++k) {
      a(pattern.row[k], j) = values[k];
      e(pattern.row[k], j) = values[nonzeros + k];
    }
  }
  return pencil_values(e, a);
}

}  // namespace saltus
