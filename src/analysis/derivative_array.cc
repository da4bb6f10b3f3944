#include "analysis/derivative_array.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/differentiate.h"

// Letters as in HM Hypothesis 10: r, a, d, v; Z1, Z2, T2; M and N are the parts of the Jacobian of
// the array by (x', ..., x^(mu+1)) and by x.

namespace saltus {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Singular values below this fraction of the largest are zero, unless a wide gap says otherwise.
constexpr double kRankTolerance = 1e-9;
constexpr int kMaxIterations = 60;

// A rank with its evidence, and bases of the spaces beside it.
struct Decomposition {
  Index rank = 0;
  double gap = 1e300;
  MatrixXd left_null, right_null, range;
};

// `reference`: the size of what `a` was computed from, against which a small `a` is rounding.
Decomposition decompose(const MatrixXd& a, double reference = 0.0) {
  Decomposition result;
  if (a.rows() == 0 || a.cols() == 0 || a.norm() <= kRankTolerance * reference || a.isZero(0.0)) {
    result.left_null = MatrixXd::Identity(a.rows(), a.rows());
    result.right_null = MatrixXd::Identity(a.cols(), a.cols());
    result.range = MatrixXd::Zero(a.rows(), 0);
    return result;
  }
  const Eigen::BDCSVD<MatrixXd> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const VectorXd& s = svd.singularValues();
  const double smallest = kRankTolerance * std::max(s(0), reference);
  while (result.rank < s.size() && s(result.rank) > smallest) ++result.rank;
  const double last = s(result.rank - 1);
  const double next = result.rank < s.size() ? s(result.rank) : 0.0;
  result.gap = next > 0.0 ? last / next : 1e300;
  result.left_null = svd.matrixU().rightCols(a.rows() - result.rank);
  result.right_null = svd.matrixV().rightCols(a.cols() - result.rank);
  result.range = svd.matrixU().leftCols(result.rank);
  return result;
}

// Row and column scales that bring every row and column of |F_x| + |F_x'| near one, so that ranks
// do not depend on units.
struct Scaling {
  VectorXd row, column;
};

Scaling equilibrate(const MatrixXd& size) {
  Scaling s{VectorXd::Ones(size.rows()), VectorXd::Ones(size.cols())};
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
  return s;
}

}  // namespace

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
  for (const JacobianEntry& e : saltus::jacobian(residuals_, symbols_)) {
    places_.emplace_back(e.row, e.column);
    entries.push_back(e.value);
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

ArrayAnalysis analyse_array(Graph& graph, const DaeDefinition& mode, double t,
                            const std::vector<double>& x, const std::vector<double>& dx,
                            const std::vector<double>& parameters, const std::vector<double>& held,
                            int max_levels) {
  const auto m = static_cast<Index>(mode.residuals.size());
  const auto n = static_cast<Index>(mode.unknowns.size());
  ArrayAnalysis analysis;
  VectorXd guess(2 * n);
  guess << Eigen::Map<const VectorXd>(x.data(), n), Eigen::Map<const VectorXd>(dx.data(), n);
  Index previous_corank = 0;
  for (int mu = 0; mu <= max_levels; ++mu) {
    DerivativeArray array(graph, mode, mu);
    const Index rows = m * (mu + 1);
    const Index higher = n * (mu + 1);
    VectorXd point = VectorXd::Zero(n * (mu + 2));
    point.head(std::min(guess.size(), point.size())) =
        guess.head(std::min(guess.size(), point.size()));

    // Scales from the equations themselves, the same on every level.
    const MatrixXd first = array.jacobian(t, point, parameters, held).topRows(m);
    const Scaling scaling =
        equilibrate(first.leftCols(n).cwiseAbs() + first.middleCols(n, n).cwiseAbs());
    const VectorXd row_scale = scaling.row.replicate(mu + 1, 1);
    const VectorXd column_scale = scaling.column.replicate(mu + 2, 1);
    const auto scaled = [&](const MatrixXd& j) {
      return MatrixXd(row_scale.asDiagonal() * j * column_scale.asDiagonal());
    };

    // A point of L_mu near the guess: Gauss-Newton with least change, values weighing more than
    // derivatives, which are mere guesses.
    VectorXd weight = VectorXd::Ones(point.size());
    weight.head(n).setConstant(1e-2);
    analysis.consistent = false;
    for (int k = 0; k < kMaxIterations; ++k) {
      const VectorXd f = row_scale.asDiagonal() * array.residual(t, point, parameters, held);
      if (!f.allFinite()) break;
      const MatrixXd j = scaled(array.jacobian(t, point, parameters, held)) * weight.asDiagonal();
      if (!j.allFinite()) break;
      Eigen::CompleteOrthogonalDecomposition<MatrixXd> cod;
      cod.setThreshold(kRankTolerance);
      cod.compute(j);
      const VectorXd step = cod.solve(f);
      point -= column_scale.asDiagonal() * (weight.asDiagonal() * step);
      const double size = 1.0 + (point.array() / column_scale.array()).abs().maxCoeff();
      if (step.cwiseAbs().maxCoeff() <= 1e-12 * size) {
        const VectorXd left = row_scale.asDiagonal() * array.residual(t, point, parameters, held);
        analysis.consistent = left.cwiseAbs().maxCoeff() <= 1e-8 * size;
        break;
      }
    }
    const MatrixXd jacobian = scaled(array.jacobian(t, point, parameters, held));
    if (!jacobian.allFinite()) return analysis;
    const Decomposition full = decompose(jacobian);
    const Decomposition by_higher = decompose(jacobian.rightCols(higher));
    const Index corank = rows - full.rank;
    const Index v = corank - previous_corank;
    const Index a = full.rank - by_higher.rank;
    analysis.gap = std::min({full.gap, by_higher.gap});
    // Constraints that contain no derivative, and what they leave free of x.
    const MatrixXd z2_n = by_higher.left_null.transpose() * jacobian.leftCols(n);
    const Decomposition constraints = decompose(z2_n, jacobian.leftCols(n).norm());
    const MatrixXd f_dx = jacobian.block(0, n, m, n);
    const Decomposition reduced = decompose(f_dx * constraints.right_null, f_dx.norm());
    const Index d = reduced.rank;
    analysis.gap = std::min({analysis.gap, constraints.gap, reduced.gap});
    analysis.point = point;
    analysis.values = {mu, static_cast<int>(d), static_cast<int>(a), static_cast<int>(v),
                       static_cast<int>(n - d - a)};

    // Equations in directions that the array determines twice: redundant, or in contradiction.
    analysis.redundant_equations.clear();
    analysis.contradictory_equations.clear();
    const VectorXd f = row_scale.asDiagonal() * array.residual(t, point, parameters, held);
    for (Index k = 0; k < full.left_null.cols(); ++k) {
      const VectorXd direction = full.left_null.col(k);
      const bool contradicts = std::abs(direction.dot(f)) > 1e-8;
      for (Index i = 0; i < m; ++i) {
        double part = 0.0;
        for (int level = 0; level <= mu; ++level)
          part = std::max(part, std::abs(direction(level * m + i)));
        auto& list = contradicts ? analysis.contradictory_equations : analysis.redundant_equations;
        if (part > 0.1 && std::find(list.begin(), list.end(), i) == list.end())
          list.push_back(static_cast<std::size_t>(i));
      }
    }
    if (d == m - a - v) {
      analysis.holds = true;
      // Back to unscaled equations: Z^T S F with S the row scales.
      analysis.z2 = row_scale.asDiagonal() * (by_higher.left_null * constraints.range);
      analysis.z1 = scaling.row.asDiagonal() * reduced.range;
      // Free directions: allowed by the constraints and not moved by the differential equations.
      const MatrixXd free = constraints.right_null * reduced.right_null;
      analysis.free_unknowns.clear();
      analysis.freedom_is_algebraic = free.cols() > 0;
      for (Index j = 0; j < n; ++j) {
        if (free.cols() == 0 || free.row(j).cwiseAbs().maxCoeff() < 1e-6) continue;
        analysis.free_unknowns.push_back(static_cast<std::size_t>(j));
        if (f_dx.col(j).cwiseAbs().maxCoeff() > 0.0) analysis.freedom_is_algebraic = false;
      }
      return analysis;
    }
    previous_corank = corank;
  }
  return analysis;
}

}  // namespace saltus
