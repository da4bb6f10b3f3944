#include "oracle/box_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saltus::oracle {

BoxProblem::BoxProblem(Eigen::MatrixXd w) : w_(std::move(w)) { factors_.setThreshold(1e-10); }

void BoxProblem::evaluate(const Eigen::VectorXd& q, const Eigen::VectorXd& lower,
                          const Eigen::VectorXd& upper, const std::vector<At>& at,
                          Eigen::VectorXd& p) {
  const int n = static_cast<int>(q.size());
  p.resize(n);
  std::vector<int> inside;
  for (int i = 0; i < n; ++i) {
    if (at[i] == At::kInside)
      inside.push_back(i);
    else
      p[i] = at[i] == At::kLower ? lower[i] : upper[i];
  }
  const int m = static_cast<int>(inside.size());
  if (m > 0) {
    if (!factored_ || inside != inside_) {
      Eigen::MatrixXd block(m, m);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) block(i, j) = w_(inside[i], inside[j]);
      factors_.compute(block);
      inside_ = inside;
      factored_ = true;
    }
    for (const int i : inside) p[i] = 0.0;
    Eigen::VectorXd right(m);
    for (int round = 0; round < 2; ++round) {  // the second refines the first
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
  if (n == 0) return true;
  double size = q.cwiseAbs().maxCoeff();
  for (int i = 0; i < n; ++i) {
    if (std::isfinite(lower[i])) size = std::max(size, std::abs(lower[i]) * w_(i, i));
    if (std::isfinite(upper[i])) size = std::max(size, std::abs(upper[i]) * w_(i, i));
  }
  const Eigen::VectorXd small_r = Eigen::VectorXd::Constant(n, 1e-12 * size);
  const Eigen::VectorXd small_p = 1e-12 * size * w_.diagonal().cwiseInverse();
  return solve(q, lower, upper, small_p, small_r, at, p);
}

bool BoxProblem::solve(const Eigen::VectorXd& q, const Eigen::VectorXd& lower,
                       const Eigen::VectorXd& upper, const Eigen::VectorXd& small_p,
                       const Eigen::VectorXd& small_r, std::vector<At>& at, Eigen::VectorXd& p,
                       bool single) {
  const int n = static_cast<int>(q.size());
  if (n == 0) return true;
  const auto seen = [&](int i) {  // the answer that i should have
    if (at[i] == At::kInside) {
      if (p[i] > upper[i] + small_p[i]) return At::kUpper;
      if (p[i] < lower[i] - small_p[i]) return At::kLower;
      return At::kInside;
    }
    if (lower[i] == upper[i]) return at[i];
    if (at[i] == At::kLower && r_[i] < -small_r[i]) return At::kInside;
    if (at[i] == At::kUpper && r_[i] > small_r[i]) return At::kInside;
    return at[i];
  };

  for (int i = 0; i < n; ++i) {
    if (lower[i] == upper[i]) at[i] = At::kLower;
    if (at[i] == At::kLower && !std::isfinite(lower[i])) at[i] = At::kInside;
    if (at[i] == At::kUpper && !std::isfinite(upper[i])) at[i] = At::kInside;
  }
  // All at once, as long as their number falls; then one by one, the last first (Murty), which ends
  // for positive definite problems.
  int best = n + 1;
  int patience = 5;
  for (int round = 0; round < 5000; ++round) {
    evaluate(q, lower, upper, at, p);
    int count = 0;
    int last = -1;
    std::vector<At> next = at;
    for (int i = 0; i < n; ++i) {
      next[i] = seen(i);
      if (next[i] == at[i]) continue;
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
    if (single)
      at[last] = next[last];
    else
      at = std::move(next);
  }
  return false;
}

}  // namespace saltus::oracle
