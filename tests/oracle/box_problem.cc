#include "oracle/box_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saltus::oracle {

BoxProblem::BoxProblem(Eigen::MatrixXd w) : w_(std::move(w)) { ridge_ = 1e-7 * w_.diagonal(); }

// p at the bounds as `at` says, the others such that their residual is zero. The ridge makes a
// singular block solvable; refinement takes its effect on the residual away.
void BoxProblem::evaluate(const Eigen::VectorXd& q, const Eigen::VectorXd& lower,
                          const Eigen::VectorXd& upper, const std::vector<At>& at,
                          Eigen::VectorXd& p) {
  const int n = static_cast<int>(q.size());
  std::vector<int> inside;
  for (int i = 0; i < n; ++i)
    if (at[i] == At::kInside)
      inside.push_back(i);
    else
      p[i] = at[i] == At::kLower ? lower[i] : upper[i];
  const int m = static_cast<int>(inside.size());
  if (m > 0) {
    if (!factored_ || inside != inside_) {
      Eigen::MatrixXd block(m, m);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) block(i, j) = w_(inside[i], inside[j]);
      for (int i = 0; i < m; ++i) block(i, i) += ridge_[inside[i]];
      factors_.compute(block);
      inside_ = inside;
      factored_ = true;
    }
    for (const int i : inside) p[i] = 0.0;
    Eigen::VectorXd right(m);
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < m; ++i) right[i] = -(q[inside[i]] + w_.row(inside[i]).dot(p));
      const Eigen::VectorXd change = factors_.solve(right);
      for (int i = 0; i < m; ++i) p[inside[i]] += change[i];
    }
  }
  r_.noalias() = w_ * p + q;
}

bool BoxProblem::solve(const Eigen::VectorXd& q, const Eigen::VectorXd& lower,
                       const Eigen::VectorXd& upper, std::vector<At>& at, Eigen::VectorXd& p) {
  const int n = static_cast<int>(q.size());
  p.resize(n);
  r_.resize(n);
  if (n == 0) return true;
  ++solves_;
  // What rounding may do to r and p.
  double size = q.cwiseAbs().maxCoeff();
  for (int i = 0; i < n; ++i) {
    if (std::isfinite(lower[i])) size = std::max(size, std::abs(lower[i]) * w_(i, i));
    if (std::isfinite(upper[i])) size = std::max(size, std::abs(upper[i]) * w_(i, i));
  }
  const double small_r = 1e-13 * size;

  const auto wrong = [&](int i) {  // the answer that i should have
    if (at[i] == At::kInside) {
      // Along the kernel of a singular block rounding is magnified by one over the ridge.
      const double small_p = 1e-8 * (std::abs(p[i]) + size / std::max(w_(i, i), 1e-300));
      if (p[i] > upper[i] + small_p) return At::kUpper;
      if (p[i] < lower[i] - small_p) return At::kLower;
      return At::kInside;
    }
    if (lower[i] == upper[i]) return at[i];
    if (at[i] == At::kLower && r_[i] < -small_r) return At::kInside;
    if (at[i] == At::kUpper && r_[i] > small_r) return At::kInside;
    return at[i];
  };

  for (int i = 0; i < n; ++i) {
    if (lower[i] == upper[i]) at[i] = At::kLower;
    if (at[i] == At::kLower && !std::isfinite(lower[i])) at[i] = At::kInside;
    if (at[i] == At::kUpper && !std::isfinite(upper[i])) at[i] = At::kInside;
  }
  // All at once, as long as their number falls; then one by one, the last first (Murty), which ends
  // for positive definite problems; the ridge makes this one such.
  int best = n + 1;
  int patience = 5;
  bool single = false;
  for (int round = 0; round < 2000; ++round) {
    evaluate(q, lower, upper, at, p);
    int count = 0;
    int last = -1;
    for (int i = 0; i < n; ++i)
      if (wrong(i) != at[i]) {
        ++count;
        last = i;
      }
    if (count == 0) return true;
    if (!single) {
      if (count < best) {
        best = count;
        patience = 5;
      } else if (--patience == 0) {
        single = true;
        ++fallbacks_;
      }
    }
    if (single) {
      at[last] = wrong(last);
    } else {
      std::vector<At> next = at;
      for (int i = 0; i < n; ++i) next[i] = wrong(i);
      at = std::move(next);
    }
  }
  return false;
}

}  // namespace saltus::oracle
