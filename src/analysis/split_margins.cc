#include "analysis/split_margins.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "linalg/dense.h"

namespace saltus {
namespace {

constexpr double kZero = 1e-9;  // of numbers of order 1

struct Best {
  Eigen::VectorXd split;
  std::vector<std::size_t> tight;  // rows with a positive multiplier; empty: margins have no bound
};

// max m such that r + g c >= m, by the simplex method for its dual: min r y, g' y = 0, sum y = 1,
// y >= 0. One more row of large margin bounds it. Pre: the columns of g are independent.
std::optional<Best> maximize(const Eigen::VectorXd& r, const Eigen::MatrixXd& g) {
  const Eigen::Index n = g.rows();
  const Eigen::Index u = g.cols();
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(u + 1, n + 1);
  a.topLeftCorner(u, n) = g.transpose();
  a.row(u).setOnes();
  Eigen::VectorXd cost(n + 1);
  cost.head(n) = r;
  cost(n) = 1e3 * (1.0 + r.cwiseAbs().maxCoeff());
  const PivotedQr qr(g.transpose());
  std::vector<Eigen::Index> basis;
  for (Eigen::Index k = 0; k < u; ++k) basis.push_back(qr.chosen(k));
  basis.push_back(n);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(u + 1);
  right(u) = 1.0;
  const Eigen::Index most = 50 * (n + u + 2);
  for (Eigen::Index round = 0; round < most; ++round) {
    Eigen::MatrixXd b(u + 1, u + 1);
    Eigen::VectorXd basic(u + 1);
    for (Eigen::Index k = 0; k <= u; ++k) {
      b.col(k) = a.col(basis[static_cast<std::size_t>(k)]);
      basic(k) = cost(basis[static_cast<std::size_t>(k)]);
    }
    const FullLu lu(b);
    if (!lu.is_invertible()) return std::nullopt;
    const Eigen::VectorXd y = lu.solve(right);
    const Eigen::VectorXd price = FullLu(b.transpose()).solve(basic);
    // Least index (Bland) does not run in a circle.
    Eigen::Index enters = -1;
    for (Eigen::Index k = 0; k <= n && enters < 0; ++k)
      if (cost(k) - a.col(k).dot(price) < -kZero * (1.0 + std::abs(cost(k))) &&
          std::ranges::find(basis, k) == basis.end())
        enters = k;
    if (enters < 0) {
      Best best{-price.head(u), {}};
      for (Eigen::Index k = 0; k <= u; ++k) {
        const Eigen::Index row = basis[static_cast<std::size_t>(k)];
        if (y(k) <= kZero) continue;
        if (row == n) return Best{best.split, {}};
        best.tight.push_back(static_cast<std::size_t>(row));
      }
      std::ranges::sort(best.tight);
      return best;
    }
    const Eigen::VectorXd d = lu.solve(a.col(enters));
    Eigen::Index leaves = -1;
    double least = 0.0;
    for (Eigen::Index k = 0; k <= u; ++k) {
      if (d(k) <= kZero) continue;
      const double ratio = std::max(y(k), 0.0) / d(k);
      const bool first = leaves < 0 || ratio < least - 1e-14 ||
                         (ratio <= least + 1e-14 && basis[static_cast<std::size_t>(k)] <
                                                        basis[static_cast<std::size_t>(leaves)]);
      if (first) {
        leaves = k;
        least = ratio;
      }
    }
    if (leaves < 0) return std::nullopt;
    basis[static_cast<std::size_t>(leaves)] = enters;
  }
  return std::nullopt;
}

}  // namespace

SplitMargins find_split_margins(const Eigen::VectorXd& r, const Eigen::MatrixXd& g) {
  SplitMargins found;
  found.split = Eigen::VectorXd::Zero(g.cols());
  found.open = Eigen::MatrixXd::Identity(g.cols(), g.cols());
  const double size = std::max(g.size() > 0 ? g.cwiseAbs().maxCoeff() : 0.0, 1e-300);
  while (found.open.cols() > 0) {
    const Eigen::MatrixXd along = g * found.open;
    std::vector<Eigen::Index> rows;
    for (Eigen::Index k = 0; k < along.rows(); ++k)
      if (along.row(k).cwiseAbs().maxCoeff() > kZero * size) rows.push_back(k);
    if (rows.empty()) break;
    const Eigen::MatrixXd part = along(rows, Eigen::all);
    const Eigen::VectorXd margins = (r + g * found.split)(rows);
    // Directions that these rows see.
    const SingularValues svd = singular_values(part);
    const Eigen::MatrixXd seen = svd.v.leftCols(svd.rank(kZero));
    const auto best = maximize(margins, part * seen);
    if (!best || best->tight.empty()) break;
    found.split += found.open * (seen * best->split);
    std::vector<std::size_t> group;
    std::vector<Eigen::Index> tight;
    for (const std::size_t k : best->tight) {
      group.push_back(static_cast<std::size_t>(rows[k]));
      tight.push_back(rows[k]);
    }
    const Eigen::MatrixXd bound = along(tight, Eigen::all);
    const FullLu lu(bound, kZero);
    // As many equations between their margins as directions decided.
    if (lu.rank() + 1 != static_cast<Eigen::Index>(tight.size())) break;
    found.groups.push_back(std::move(group));
    found.open = found.open * lu.kernel();
  }
  return found;
}

}  // namespace saltus
