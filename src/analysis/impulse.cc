#include "analysis/impulse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "base/stop_request.h"
#include "expr/differentiate.h"
#include "expr/graph.h"

namespace saltus {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRankTolerance = 1e-11;
constexpr int kMaxIterations = 50;
constexpr int kMaxHalvings = 10;
// As for consistent points: an update this small ends the iteration, or one that no longer shrinks.
constexpr double kConverged = 1e-15;
constexpr double kConvergedToRounding = 1e-9;

// Gauss-Legendre on [0, 1]: exact for coefficients of degree nine along the line.
struct Node1d {
  double s;
  double weight;
};
constexpr std::array<Node1d, 5> kLine = {{{0.0469100770306680, 0.1184634425280945},
                                          {0.2307653449471585, 0.2393143352496832},
                                          {0.5, 0.2844444444444445},
                                          {0.7692346550528415, 0.2393143352496832},
                                          {0.9530899229693320, 0.1184634425280945}}};
constexpr std::array<Node1d, 1> kMiddle = {{{0.5, 1.0}}};

// Rank and orthonormal bases of the row space and the kernel of a.
struct RowSpace {
  explicit RowSpace(const MatrixXd& a) {
    if (a.rows() == 0 || a.cols() == 0 || a.isZero(0.0)) {
      kernel = MatrixXd::Identity(a.cols(), a.cols());
      return;
    }
    qr.setThreshold(kRankTolerance);
    qr.compute(a.transpose());
    rank = qr.rank();
    const MatrixXd q = qr.householderQ();
    basis = q.leftCols(rank);
    kernel = q.rightCols(a.cols() - rank);
  }
  // Solution of least norm of the independent rows of a x = b; the others follow if they agree.
  VectorXd solve(const VectorXd& b, Index columns) const {
    if (rank == 0) return VectorXd::Zero(columns);
    const VectorXd ordered = (qr.colsPermutation().transpose() * b).head(rank);
    return basis * qr.matrixQR()
                       .topLeftCorner(rank, rank)
                       .triangularView<Eigen::Upper>()
                       .transpose()
                       .solve(ordered);
  }

  Eigen::ColPivHouseholderQR<MatrixXd> qr;
  Index rank = 0;
  MatrixXd basis, kernel;
};

VectorXd inverse_of_largest(const MatrixXd& a) {
  VectorXd scale = VectorXd::Ones(a.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    const double largest = a.cols() > 0 ? a.row(i).cwiseAbs().maxCoeff() : 0.0;
    if (largest > 0.0 && std::isfinite(largest)) scale(i) = 1.0 / largest;
  }
  return scale;
}

}  // namespace

ImpulseSolver::ImpulseSolver(Graph& graph, const AnalysedMode& mode, const CarriedUnknowns& carried,
                             const Dae& constraints)
    : mode_(mode),
      carried_(carried),
      constraints_(constraints),
      n_(static_cast<Index>(mode.written.unknowns.size())),
      ny_(static_cast<Index>(constraints.unknown_count())),
      m_(0),
      may_carry_(mode.written.unknowns.size(), true) {
  write_rows(graph);
  recovery_registers_ = mode.recover.make_workspace();
  recovered_.resize(mode.recover.output_count());
  const auto n = static_cast<std::size_t>(n_);
  for (auto* v : {&x_, &slopes_, &jumps_, &impulses_, &amounts_}) v->assign(n, 0.0);
}

// The equations integrated over an instant, with symbols of their own for jumps and impulses.
void ImpulseSolver::write_rows(Graph& graph) {
  const DaeDefinition& def = mode_.written;
  const auto n = static_cast<std::size_t>(n_);
  std::vector<Expr> jump;
  std::vector<Expr> impulse;
  std::unordered_set<const Node*> unbounded;  // what may be infinite during the instant
  std::unordered_set<const Node*> moving;
  for (std::size_t j = 0; j < n; ++j) {
    jump.push_back(graph.new_slot("jump of " + def.unknown_names[j]));
    impulse.push_back(graph.new_slot("impulse of " + def.unknown_names[j]));
    if (carried_.under_der[j]) moving.insert(def.unknowns[j].node());
    unbounded.insert(carried_.under_der[j] ? def.derivatives[j].node() : def.unknowns[j].node());
  }
  std::vector<Expr> columns = def.unknowns;
  columns.insert(columns.end(), def.derivatives.begin(), def.derivatives.end());
  const std::vector<JacobianEntry> entries = jacobian(def.residuals, columns);
  const auto is_bounded = [&](const Expr& coefficient) {
    if (coefficient.is_number()) return true;
    for (const Expr& leaf : leaves_of(coefficient))
      if (unbounded.count(leaf.node()) > 0) return false;
    return true;
  };
  std::vector<std::vector<std::size_t>> entries_of(def.residuals.size());
  std::vector<int> occurrences(n, 0);  // rows with this unknown, if it is algebraic
  std::vector<bool> bounded(entries.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    entries_of[entries[e].row].push_back(e);
    const std::size_t j = entries[e].column;
    bounded[e] = (j < n && carried_.under_der[j]) || is_bounded(entries[e].value);
    if (j < n && !carried_.under_der[j]) ++occurrences[j];
  }
  // An equation that is not affine in what may be infinite (a power, a square) says nothing about
  // the jump if it only defines a result that nothing else reads.
  std::vector<bool> dropped(def.residuals.size(), false);
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < def.residuals.size(); ++i) {
      const auto& row = entries_of[i];
      const auto defines_result = [&](std::size_t e) {
        const std::size_t j = entries[e].column;
        return j < n && !carried_.under_der[j] && occurrences[j] == 1;
      };
      if (dropped[i] || std::all_of(row.begin(), row.end(), [&](auto e) { return bounded[e]; }) ||
          std::none_of(row.begin(), row.end(), defines_result))
        continue;
      dropped[i] = again = true;
      for (const std::size_t e : row) {
        const std::size_t j = entries[e].column;
        if (defines_result(e)) may_carry_[j] = false;
        if (j < n && !carried_.under_der[j]) --occurrences[j];
      }
    }
  }
  std::vector<Expr> rows;
  for (std::size_t i = 0; i < def.residuals.size(); ++i) {
    if (dropped[i]) continue;
    Expr sum = 0.0;
    for (const std::size_t e : entries_of[i]) {
      const std::size_t j = entries[e].column;
      if (j < n && !bounded[e]) may_carry_[j] = false;
      sum += entries[e].value * (j < n ? impulse[j] : jump[j - n]);
      for (const Expr& leaf : leaves_of(entries[e].value))
        varies_ = varies_ || moving.count(leaf.node()) > 0;
    }
    rows.push_back(sum);
  }
  m_ = static_cast<Index>(rows.size());

  std::vector<std::vector<Expr>> inputs = def.inputs();
  inputs.push_back(jump);
  inputs.push_back(impulse);
  std::vector<Expr> leaves = def.unknowns;
  leaves.insert(leaves.end(), jump.begin(), jump.end());
  leaves.insert(leaves.end(), impulse.begin(), impulse.end());
  std::vector<Expr> values;
  for (const JacobianEntry& e : jacobian(rows, leaves)) {
    places_.emplace_back(static_cast<Index>(e.row), static_cast<Index>(e.column));
    values.push_back(e.value);
  }
  residual_tape_ = Tape(rows, inputs);
  jacobian_tape_ = Tape(values, inputs);
  residual_registers_ = residual_tape_.make_workspace();
  jacobian_registers_ = jacobian_tape_.make_workspace();
}

double ImpulseSolver::size(std::size_t unknown) const {
  return std::max(std::abs(before_[unknown]), mode_.written.nominal[unknown]);
}

void ImpulseSolver::read_unknowns(double t, const DaeData& data) {
  if (mode_.reduced == nullptr && mode_.projected == nullptr) {
    x_ = y_;
    slopes_ = dy_;
  } else {
    const double* inputs[] = {&t, y_.data(), dy_.data(), data.parameters.data(), data.held.data()};
    mode_.recover.evaluate(inputs, recovery_registers_, recovered_.data());
    std::copy_n(recovered_.begin(), x_.size(), x_.begin());
    std::copy_n(recovered_.begin() + n_, slopes_.size(), slopes_.begin());
  }
  for (std::size_t j = 0; j < x_.size(); ++j)
    jumps_[j] = carried_.under_der[j] ? x_[j] - before_[j] : 0.0;
}

// The constraints of the mode, then a row for each value that is set.
void ImpulseSolver::evaluate_constraints(DaeData& data, double t) {
  const Pattern& pattern = constraints_.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  const auto sets = static_cast<Index>(set_.size());
  std::vector<double> values(2 * nonzeros);
  constraints_.jacobian(data, t, y_.data(), dy_.data(), values.data());
  hard_ = MatrixXd::Zero(pattern.rows + sets, 2 * ny_);
  hard_residual_.resize(pattern.rows + sets);
  constraints_.residual(data, t, y_.data(), dy_.data(), hard_residual_.data());
  for (int j = 0; j < pattern.columns; ++j)
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      hard_(pattern.row[k], j) = values[k];
      hard_(pattern.row[k], ny_ + j) = values[nonzeros + static_cast<std::size_t>(k)];
    }
  for (Index i = 0; i < sets; ++i) {
    const std::size_t j = set_[static_cast<std::size_t>(i)];
    hard_(pattern.rows + i, static_cast<Index>(carried_.place[j])) = carried_.factor[j];
    hard_residual_(pattern.rows + i) = x_[j] - before_[j];
  }
}

// Averages over the line from x- to x+. Algebraic unknowns have no way behind them: they are taken
// at its end.
void ImpulseSolver::evaluate_impulses(const DaeData& data, double t) {
  const auto n = static_cast<std::size_t>(n_);
  std::vector<double> at(n);
  std::vector<double> jumps(n);
  for (std::size_t j = 0; j < n; ++j) jumps[j] = jumps_[j] + amounts_[j];
  std::vector<double> values(places_.size());
  VectorXd residual(m_);
  soft_residual_ = VectorXd::Zero(m_);
  by_x_ = MatrixXd::Zero(m_, n_);
  by_jump_ = MatrixXd::Zero(m_, n_);
  by_impulse_ = MatrixXd::Zero(m_, n_);
  const auto add = [&](const Node1d& node) {
    for (std::size_t j = 0; j < n; ++j)
      at[j] = carried_.under_der[j] ? before_[j] + node.s * jumps_[j] : x_[j];
    const double* inputs[] = {
        &t,           at.data(),       slopes_.data(), data.parameters.data(), data.held.data(),
        jumps.data(), impulses_.data()};
    residual_tape_.evaluate(inputs, residual_registers_, residual.data());
    jacobian_tape_.evaluate(inputs, jacobian_registers_, values.data());
    soft_residual_ += node.weight * residual;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const auto [row, column] = places_[k];
      const double value = node.weight * values[k];
      if (column >= 2 * n_)
        by_impulse_(row, column - 2 * n_) += value;
      else if (column >= n_)
        by_jump_(row, column - n_) += value;
      else
        by_x_(row, column) +=
            value * (carried_.under_der[static_cast<std::size_t>(column)] ? node.s : 1.0);
    }
  };
  if (varies_)
    for (const Node1d& node : kLine) add(node);
  else
    add(kMiddle[0]);
}

// What impulses are measured in: the size that jumps of natural size ask for, from equation to
// equation. A current of 1 A is nothing to measure the charge of a small capacitor by: next to it,
// the equation of an open switch would be lost in rounding.
VectorXd ImpulseSolver::natural_impulses(const std::vector<Index>& algebraic) const {
  VectorXd row_size = VectorXd::Zero(m_);
  for (Index j = 0; j < n_; ++j)
    row_size = row_size.cwiseMax(by_jump_.col(j).cwiseAbs() * size(static_cast<std::size_t>(j)));
  VectorXd unit = VectorXd::Zero(static_cast<Index>(algebraic.size()));
  for (bool again = by_jumps_; again;) {
    again = false;
    const VectorXd known = row_size;
    for (Index k = 0; k < unit.size(); ++k) {
      if (unit(k) > 0.0) continue;
      const auto column = by_impulse_.col(algebraic[static_cast<std::size_t>(k)]);
      for (Index i = 0; i < m_; ++i)
        if (known(i) > 0.0 && column(i) != 0.0) {
          const double asked = known(i) / std::abs(column(i));
          unit(k) = unit(k) > 0.0 ? std::min(unit(k), asked) : asked;
        }
      if (unit(k) == 0.0) continue;
      again = true;
      for (Index i = 0; i < m_; ++i)
        if (known(i) == 0.0) row_size(i) = std::max(row_size(i), unit(k) * std::abs(column(i)));
    }
  }
  for (Index k = 0; k < unit.size(); ++k)
    if (unit(k) == 0.0)
      unit(k) =
          mode_.written.nominal[static_cast<std::size_t>(algebraic[static_cast<std::size_t>(k)])];
  return unit;
}

// Directions in which impulses are possible: algebraic unknowns, and combinations of differential
// ones that the derivatives do not see.
void ImpulseSolver::find_kernel() {
  std::vector<Index> algebraic;
  std::vector<Index> differential;
  for (Index j = 0; j < n_; ++j) {
    const auto u = static_cast<std::size_t>(j);
    if (carried_.under_der[u]) {
      if (std::find(set_.begin(), set_.end(), u) == set_.end()) differential.push_back(j);
    } else if (may_carry_[u]) {
      algebraic.push_back(j);
    }
  }
  MatrixXd e(m_, static_cast<Index>(differential.size()));
  for (std::size_t k = 0; k < differential.size(); ++k)
    e.col(static_cast<Index>(k)) =
        by_jump_.col(differential[k]) * size(static_cast<std::size_t>(differential[k]));
  const RowSpace space(inverse_of_largest(e).asDiagonal() * e);
  const auto first = static_cast<Index>(algebraic.size());
  kernel_ = MatrixXd::Zero(n_, first + space.kernel.cols());
  const VectorXd unit = natural_impulses(algebraic);
  for (Index k = 0; k < first; ++k) kernel_(algebraic[static_cast<std::size_t>(k)], k) = unit(k);
  for (std::size_t k = 0; k < differential.size(); ++k)
    kernel_.row(differential[k]).tail(space.kernel.cols()) =
        size(static_cast<std::size_t>(differential[k])) * space.kernel.row(static_cast<Index>(k));
}

void ImpulseSolver::fill_impulse_matrix() {
  const auto sets = static_cast<Index>(set_.size());
  soft_ = MatrixXd::Zero(m_, 2 * ny_ + kernel_.cols() + sets);
  for (Index j = 0; j < n_; ++j) {
    const auto u = static_cast<std::size_t>(j);
    soft_.col(static_cast<Index>(carried_.place[u])) +=
        carried_.factor[u] * (by_x_.col(j) + by_jump_.col(j));
  }
  soft_.middleCols(2 * ny_, kernel_.cols()) = by_impulse_ * kernel_;
  for (Index i = 0; i < sets; ++i) {
    const std::size_t u = set_[static_cast<std::size_t>(i)];
    soft_.col(2 * ny_ + kernel_.cols() + i) = by_jump_.col(static_cast<Index>(u)) * size(u);
  }
  // Jumps of natural size, else impulses of natural size, give a row its weight.
  soft_scale_.resize(m_);
  for (Index i = 0; i < m_; ++i) {
    double largest = 0.0;
    for (Index j = 0; j < n_; ++j)
      largest = std::max(largest, std::abs(by_jump_(i, j)) * size(static_cast<std::size_t>(j)));
    if (largest == 0.0 && kernel_.cols() > 0)
      largest = soft_.row(i).segment(2 * ny_, kernel_.cols()).cwiseAbs().maxCoeff();
    soft_scale_(i) = largest > 0.0 ? 1.0 / largest : 1.0;
  }
  const auto& nominal = constraints_.definition().nominal;
  column_scale_ = VectorXd::Ones(soft_.cols());
  for (Index j = 0; j < ny_; ++j)
    column_scale_(j) = column_scale_(ny_ + j) = nominal[static_cast<std::size_t>(j)];
}

bool ImpulseSolver::evaluate(DaeData& data, double t) {
  read_unknowns(t, data);
  evaluate_constraints(data, t);
  evaluate_impulses(data, t);
  return hard_.allFinite() && hard_residual_.allFinite() && soft_residual_.allFinite() &&
         by_x_.allFinite() && by_jump_.allFinite() && by_impulse_.allFinite();
}

// The change that satisfies the linearised constraints and, within them, the impulse equations as
// far as possible.
double ImpulseSolver::newton_step() {
  find_kernel();
  fill_impulse_matrix();
  MatrixXd hard = MatrixXd::Zero(hard_.rows(), soft_.cols());
  hard.leftCols(2 * ny_) = hard_ * column_scale_.head(2 * ny_).asDiagonal();
  hard_scale_ = inverse_of_largest(hard);
  hard = hard_scale_.asDiagonal() * hard;
  const MatrixXd soft = soft_scale_.asDiagonal() * soft_ * column_scale_.asDiagonal();
  const RowSpace constraints(hard);
  step_ = constraints.solve(-(hard_scale_.asDiagonal() * hard_residual_), soft.cols());
  if (constraints.kernel.cols() > 0 && m_ > 0) {
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> within(m_, constraints.kernel.cols());
    within.setThreshold(kRankTolerance);
    within.compute(soft * constraints.kernel);
    const VectorXd wanted = -(soft_scale_.asDiagonal() * soft_residual_) - soft * step_;
    step_ += constraints.kernel * within.solve(wanted);
  }
  step_ = column_scale_.asDiagonal() * step_;
  double largest = 0.0;
  const auto& nominal = constraints_.definition().nominal;
  for (Index j = 0; j < ny_; ++j) {
    const auto u = static_cast<std::size_t>(j);
    largest = std::max(largest, std::abs(step_(j)) / (std::abs(y_[u]) + nominal[u]));
    largest = std::max(largest, std::abs(step_(ny_ + j)) / (std::abs(dy_[u]) + nominal[u]));
  }
  return step_.allFinite() ? largest : std::numeric_limits<double>::quiet_NaN();
}

// Moves to the given fraction of the step; false if the equations are undefined there. They may be
// worse there: what is quadratic in the velocities that jump is put right by the next step.
bool ImpulseSolver::take(double fraction, DaeData& data, double t) {
  for (std::size_t j = 0; j < y_.size(); ++j) {
    y_[j] = old_y_[j] + fraction * step_(static_cast<Index>(j));
    dy_[j] = old_dy_[j] + fraction * step_(ny_ + static_cast<Index>(j));
  }
  const VectorXd impulse = kernel_ * step_.segment(2 * ny_, kernel_.cols());
  for (std::size_t j = 0; j < impulses_.size(); ++j)
    impulses_[j] = old_impulses_[j] + fraction * impulse(static_cast<Index>(j));
  for (std::size_t i = 0; i < set_.size(); ++i)
    amounts_[set_[i]] =
        old_amounts_[set_[i]] +
        fraction * size(set_[i]) * step_(2 * ny_ + kernel_.cols() + static_cast<Index>(i));
  return evaluate(data, t);
}

// Neither unit suits all: sizes of jumps may lie far apart along a chain of equations.
ImpulseOutcome ImpulseSolver::solve(DaeData& data, double t, const std::vector<double>& before,
                                    const std::vector<bool>& set, double tolerance, double* y,
                                    double* dy) {
  by_jumps_ = true;
  const ImpulseOutcome outcome = attempt(data, t, before, set, tolerance, y, dy);
  if (outcome.ok()) return outcome;
  by_jumps_ = false;
  return attempt(data, t, before, set, tolerance, y, dy);
}

ImpulseOutcome ImpulseSolver::attempt(DaeData& data, double t, const std::vector<double>& before,
                                      const std::vector<bool>& set, double tolerance, double* y,
                                      double* dy) {
  const auto ny = static_cast<std::size_t>(ny_);
  y_.assign(y, y + ny);
  dy_.assign(dy, dy + ny);
  before_ = before;
  set_.clear();
  for (std::size_t j = 0; j < set.size(); ++j)
    if (set[j] && carried_.under_der[j]) set_.push_back(j);
  std::fill(impulses_.begin(), impulses_.end(), 0.0);
  std::fill(amounts_.begin(), amounts_.end(), 0.0);
  if (!evaluate(data, t)) return {ImpulseStatus::kNotConverged, 0};

  double previous = std::numeric_limits<double>::infinity();
  for (int iteration = 0;; ++iteration) {
    check_stop();
    if (iteration == kMaxIterations) return {ImpulseStatus::kNotConverged, 0};
    const double length = newton_step();
    if (!std::isfinite(length)) return {ImpulseStatus::kNotConverged, 0};
    old_y_ = y_;
    old_dy_ = dy_;
    old_impulses_ = impulses_;
    old_amounts_ = amounts_;
    double fraction = 1.0;
    int halvings = 0;
    while (!take(fraction, data, t)) {
      if (++halvings > kMaxHalvings) return {ImpulseStatus::kNotConverged, 0};
      fraction *= 0.5;
    }
    if (fraction == 1.0 &&
        (length <= kConverged || (length <= kConvergedToRounding && length >= 0.25 * previous)))
      break;
    previous = length;
  }
  double magnitude = 1.0;
  const auto& nominal = constraints_.definition().nominal;
  for (std::size_t j = 0; j < ny; ++j)
    magnitude = std::max(magnitude, (std::abs(y_[j]) + std::abs(dy_[j])) / nominal[j]);
  if ((hard_scale_.asDiagonal() * hard_residual_).norm() > 1e-9 * magnitude)
    return {set_.empty() ? ImpulseStatus::kNotConverged : ImpulseStatus::kContradicted, 0};
  const std::size_t row = worst_row();
  if (m_ > 0 &&
      std::abs(soft_residual_(static_cast<Index>(row))) * soft_scale_(static_cast<Index>(row)) >
          tolerance)
    return {ImpulseStatus::kRefused, largest_jump_in(row)};
  std::copy(y_.begin(), y_.end(), y);
  std::copy(dy_.begin(), dy_.end(), dy);
  // What is left of rounding beside the impulses that act.
  double largest = 0.0;
  for (std::size_t j = 0; j < impulses_.size(); ++j)
    largest = std::max(largest, std::abs(impulses_[j]) / mode_.written.nominal[j]);
  for (std::size_t j = 0; j < impulses_.size(); ++j)
    if (std::abs(impulses_[j]) <= 1e-13 * largest * mode_.written.nominal[j]) impulses_[j] = 0.0;
  return {};
}

std::size_t ImpulseSolver::worst_row() const {
  Index worst = 0;
  if (m_ > 0) soft_residual_.cwiseProduct(soft_scale_).cwiseAbs().maxCoeff(&worst);
  return static_cast<std::size_t>(worst);
}

std::size_t ImpulseSolver::largest_jump_in(std::size_t row) const {
  std::size_t found = 0;
  double largest = -1.0;
  for (std::size_t j = 0; j < jumps_.size(); ++j) {
    const double part =
        std::abs(by_jump_(static_cast<Index>(row), static_cast<Index>(j)) * jumps_[j]);
    if (part > largest) {
      largest = part;
      found = j;
    }
  }
  return found;
}

}  // namespace saltus
