#include "analysis/derivative_array.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/rank.h"
#include "base/stop_request.h"
#include "expr/differentiate.h"
#include "linalg/dense.h"

// Letters as in HM Hypothesis 10: r, a, d, v; Z1, Z2, T2; M and N are the parts of the Jacobian of
// the array by (x', ..., x^(mu+1)) and by x.

namespace saltus {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMaxIterations = 60;

// Entries below this fraction of what is large in their row and column are rounding.
constexpr double kSmallestEntry = 1e-10;

// Scales of rows and columns and a unit of time in which F_x and F_x' are near one, so that ranks
// do not depend on units. Level k of the array and derivative k of x carry the k-th power of it.
struct Scaling {
  VectorXd row, column;
  double time = 1.0;  // s

  VectorXd rows(int levels) const {
    VectorXd all(row.size() * (levels + 1));
    for (int k = 0; k <= levels; ++k)
      all.segment(k * row.size(), row.size()) = std::pow(time, k) * row;
    return all;
  }
  VectorXd columns(int orders) const {
    VectorXd all(column.size() * (orders + 1));
    for (int k = 0; k <= orders; ++k)
      all.segment(k * column.size(), column.size()) = std::pow(time, -k) * column;
    return all;
  }
};

// Alternates until the largest entry of every row and column is near one.
void equilibrate(const MatrixXd& size, Scaling& s) {
  for (int sweep = 0; sweep < 10; ++sweep) {
    for (Index i = 0; i < size.rows(); ++i) {
      const double largest = (size.row(i).transpose().array() * s.column.array()).maxCoeff();
      if (largest > 0.0) s.row(i) = 1.0 / largest;
    }
    for (Index j = 0; j < size.cols(); ++j) {
      const double largest = (size.col(j).array() * s.row.array()).maxCoeff();
      if (largest > 0.0) s.column(j) = 1.0 / largest;
    }
  }
}

// Least squares in the logarithms of the constant entries, then equilibration of all. The second
// alone would leave a capacitor of 1 uF beside a current as an entry of 1e-6, and its derivatives
// lost; the first must not bend everything to an entry that happens to be small at this point.
Scaling balance(const DerivativeArray& array, const MatrixXd& jacobian, Index m, Index n) {
  const MatrixXd by_x = jacobian.topLeftCorner(m, n).cwiseAbs();
  const MatrixXd by_dx = jacobian.block(0, n, m, n).cwiseAbs();
  Scaling s{VectorXd::Ones(m), VectorXd::Ones(n)};
  equilibrate(by_x + by_dx, s);
  MatrixXd normal = MatrixXd::Zero(m + n + 1, m + n + 1);  // rows, columns, time
  VectorXd right = VectorXd::Zero(m + n + 1);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < 2 * n; ++j) {
      const double size = jacobian(i, j) * s.row(i) * s.column(j % n);
      if (array.constant_entries()(i, j) == 0.0 || !(std::abs(size) > kSmallestEntry)) continue;
      const Index places[] = {i, m + j % n, m + n};
      const double factors[] = {1.0, 1.0, j < n ? 0.0 : -1.0};
      for (int p = 0; p < 3; ++p) {
        right(places[p]) -= factors[p] * std::log(std::abs(size));
        for (int q = 0; q < 3; ++q) normal(places[p], places[q]) += factors[p] * factors[q];
      }
    }
  // Rows against columns is a free choice, and so is time without derivatives: least change.
  normal.diagonal().array() += 1e-6;
  const VectorXd change = normal.ldlt().solve(right).array().exp();
  s.column = s.column.cwiseProduct(change.segment(m, n));
  s.time = change(m + n);
  equilibrate(by_x + by_dx / s.time, s);
  return s;
}

}  // namespace

ArrayScaling balance_array(const DerivativeArray& array, const MatrixXd& jacobian, Index m,
                           Index n) {
  const Scaling scaling = balance(array, jacobian, m, n);
  return {scaling.rows(array.levels()), scaling.columns(array.levels() + 1)};
}

DerivativeArray::DerivativeArray(Graph& graph, const DaeDefinition& mode, int levels)
    : m_(mode.residuals.size()), n_(mode.unknowns.size()), levels_(levels) {
  residuals_ = mode.residuals;
  for (int k = 1; k <= levels; ++k)
    for (std::size_t i = 0; i < m_; ++i)
      residuals_.push_back(der(residuals_[residuals_.size() - m_]));
  for (int order = 0; order <= levels + 1; ++order)
    for (const Expr& x : mode.unknowns)
      symbols_.push_back(graph.variable(x.node()->variable(), order));
  const std::vector<std::vector<Expr>> inputs = {{mode.time}, symbols_, mode.parameters, mode.held};
  std::vector<Expr> entries;
  constant_ = MatrixXd::Zero(static_cast<Index>(m_), static_cast<Index>(2 * n_));
  for (const JacobianEntry& e : saltus::jacobian(residuals_, symbols_)) {
    places_.emplace_back(e.row, e.column);
    entries.push_back(e.value);
    if (e.row < m_ && e.column < 2 * n_ && is_constant_in_mode(e.value))
      constant_(static_cast<Index>(e.row), static_cast<Index>(e.column)) = 1.0;
  }
  residual_tape_ = Tape(residuals_, inputs);
  jacobian_tape_ = Tape(entries, inputs);
  residual_registers_ = residual_tape_.make_workspace();
  jacobian_registers_ = jacobian_tape_.make_workspace();
  values_.resize(entries.size());
}

VectorXd DerivativeArray::residual(double t, const VectorXd& point,
                                   const std::vector<double>& parameters,
                                   const std::vector<double>& held) {
  VectorXd out(static_cast<Index>(equations()));
  const double* inputs[] = {&t, point.data(), parameters.data(), held.data()};
  residual_tape_.evaluate(inputs, residual_registers_, out.data());
  return out;
}

MatrixXd DerivativeArray::jacobian(double t, const VectorXd& point,
                                   const std::vector<double>& parameters,
                                   const std::vector<double>& held) {
  const double* inputs[] = {&t, point.data(), parameters.data(), held.data()};
  jacobian_tape_.evaluate(inputs, jacobian_registers_, values_.data());
  MatrixXd out = MatrixXd::Zero(static_cast<Index>(equations()), static_cast<Index>(symbols()));
  for (std::size_t k = 0; k < places_.size(); ++k)
    out(static_cast<Index>(places_[k].first), static_cast<Index>(places_[k].second)) = values_[k];
  return out;
}

ArrayPoint analyse_point(DerivativeArray& array, Index m, Index n, double t, const VectorXd& point,
                         const std::vector<double>& parameters, const std::vector<double>& held) {
  ArrayPoint at;
  const int levels = array.levels();
  const MatrixXd unscaled = array.jacobian(t, point, parameters, held);
  const Scaling scaling = balance(array, unscaled, m, n);
  at.row_scale = scaling.rows(levels);
  const MatrixXd jacobian =
      at.row_scale.asDiagonal() * unscaled * scaling.columns(levels + 1).asDiagonal();
  if (!jacobian.allFinite()) {
    at.gap = 0.0;
    return at;
  }
  const RankDecision full = decide_rank(jacobian, kArrayRankTolerance);
  const RankDecision by_higher =
      decide_rank(jacobian.rightCols(n * (levels + 1)), kArrayRankTolerance);
  at.corank = static_cast<int>(jacobian.rows() - full.rank);
  at.a = static_cast<int>(full.rank - by_higher.rank);
  at.redundant = full.left_null;
  // Constraints that contain no derivative, and what they leave free of x.
  const MatrixXd n_part = jacobian.leftCols(n);
  const RankDecision constraints =
      decide_rank(by_higher.left_null.transpose() * n_part, kArrayRankTolerance, n_part.norm());
  const MatrixXd f_dx = jacobian.block(0, n, m, n);
  const RankDecision reduced =
      decide_rank(f_dx * constraints.right_null, kArrayRankTolerance, f_dx.norm());
  at.d = static_cast<int>(reduced.rank);
  at.gap = std::min({full.gap, by_higher.gap, constraints.gap, reduced.gap});
  // Back to unscaled equations: Z^T S F with S the row scales.
  at.z2 = at.row_scale.asDiagonal() * (by_higher.left_null * constraints.range);
  at.z1 = scaling.row.asDiagonal() * reduced.range;
  at.free = constraints.right_null * reduced.right_null;
  for (Index j = 0; j < n; ++j)
    at.occurs_differentiated.push_back(f_dx.col(j).cwiseAbs().maxCoeff() > 0.0);
  return at;
}

namespace {

// A point of the array's solution set near the guess: Gauss-Newton with least change, values
// weighing more than derivatives, which are mere guesses. False if there is none.
bool satisfy(DerivativeArray& array, Index m, Index n, double t, VectorXd& point,
             const std::vector<double>& parameters, const std::vector<double>& held) {
  const int levels = array.levels();
  VectorXd weight = VectorXd::Ones(point.size());
  weight.head(n).setConstant(1e-2);
  for (int k = 0; k < kMaxIterations; ++k) {
    check_stop();
    const MatrixXd unscaled = array.jacobian(t, point, parameters, held);
    const Scaling scaling = balance(array, unscaled, m, n);
    const VectorXd rows = scaling.rows(levels);
    const VectorXd columns = (scaling.columns(levels + 1).array() * weight.array()).matrix();
    const VectorXd f = rows.asDiagonal() * array.residual(t, point, parameters, held);
    const MatrixXd j = rows.asDiagonal() * unscaled * columns.asDiagonal();
    if (!f.allFinite() || !j.allFinite()) return false;
    const VectorXd step = columns.asDiagonal() * LeastNorm(j, kArrayRankTolerance).solve(f);
    point -= step;
    const auto unit = columns.array() / weight.array();
    const double size = 1.0 + (point.array() / unit).abs().maxCoeff();
    if ((step.array() / unit).abs().maxCoeff() <= 1e-12 * size) {
      const VectorXd left = rows.asDiagonal() * array.residual(t, point, parameters, held);
      return left.cwiseAbs().maxCoeff() <= 1e-8 * size;
    }
  }
  return false;
}

// The equations of the mode that take part in the redundant directions, sorted into harmless ones
// and contradictions.
void name_redundancy(const ArrayPoint& at, const VectorXd& residual, Index m, int levels,
                     ArrayAnalysis& analysis) {
  for (Index k = 0; k < at.redundant.cols(); ++k) {
    const VectorXd direction = at.redundant.col(k);
    const bool contradicts = std::abs(direction.dot(at.row_scale.asDiagonal() * residual)) > 1e-8;
    auto& list = contradicts ? analysis.contradictory_equations : analysis.redundant_equations;
    for (Index i = 0; i < m; ++i) {
      double part = 0.0;
      for (int level = 0; level <= levels; ++level)
        part = std::max(part, std::abs(direction(level * m + i)));
      const auto equation = static_cast<std::size_t>(i);
      if (part > 0.1 && std::find(list.begin(), list.end(), equation) == list.end())
        list.push_back(equation);
    }
  }
}

// Without unknowns an equation holds at the time t or it does not.
ArrayAnalysis without_unknowns(Graph& graph, const DaeDefinition& mode, double t,
                               const std::vector<double>& parameters,
                               const std::vector<double>& held) {
  ArrayAnalysis analysis;
  DerivativeArray array(graph, mode, 0);
  const VectorXd residual = array.residual(t, VectorXd(), parameters, held);
  analysis.holds = true;
  analysis.consistent = residual.isZero(0.0);
  analysis.values.v = static_cast<int>(residual.size());
  for (Index i = 0; i < residual.size(); ++i) {
    auto& list =
        residual(i) == 0.0 ? analysis.redundant_equations : analysis.contradictory_equations;
    list.push_back(static_cast<std::size_t>(i));
  }
  return analysis;
}

}  // namespace

ArrayAnalysis analyse_array(Graph& graph, const DaeDefinition& mode, double t,
                            const std::vector<double>& x, const std::vector<double>& dx,
                            const std::vector<double>& parameters, const std::vector<double>& held,
                            int max_levels) {
  const auto m = static_cast<Index>(mode.residuals.size());
  const auto n = static_cast<Index>(mode.unknowns.size());
  if (n == 0) return without_unknowns(graph, mode, t, parameters, held);
  ArrayAnalysis analysis;
  int previous_corank = 0;
  for (int mu = 0; mu <= max_levels; ++mu) {
    DerivativeArray array(graph, mode, mu);
    VectorXd point = VectorXd::Zero(n * (mu + 2));
    point.head(n) = Eigen::Map<const VectorXd>(x.data(), n);
    point.segment(n, n) = Eigen::Map<const VectorXd>(dx.data(), n);
    analysis.consistent = satisfy(array, m, n, t, point, parameters, held);
    const ArrayPoint at = analyse_point(array, m, n, t, point, parameters, held);
    if (at.gap == 0.0) return analysis;
    const int v = at.corank - previous_corank;
    previous_corank = at.corank;
    analysis.values = {mu, at.d, at.a, v, static_cast<int>(n) - at.d - at.a};
    analysis.gap = at.gap;
    analysis.redundant_equations.clear();
    analysis.contradictory_equations.clear();
    name_redundancy(at, array.residual(t, point, parameters, held), m, mu, analysis);
    if (at.d != m - at.a - v) continue;

    analysis.holds = true;
    analysis.point = point;
    analysis.z1 = at.z1;
    analysis.z2 = at.z2;
    analysis.freedom_is_algebraic = at.free.cols() > 0;
    for (Index j = 0; j < n; ++j) {
      if (at.free.cols() == 0 || at.free.row(j).cwiseAbs().maxCoeff() < 1e-6) continue;
      analysis.free_unknowns.push_back(static_cast<std::size_t>(j));
      if (at.occurs_differentiated[j]) analysis.freedom_is_algebraic = false;
    }
    return analysis;
  }
  return analysis;
}

}  // namespace saltus
