#include "analysis/impulse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "analysis/impulse_terms.h"
#include "base/stop_request.h"
#include "expr/differentiate.h"
#include "expr/graph.h"
#include "linalg/dense.h"

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
    qr.emplace(a.transpose(), kRankTolerance);
    rank = qr->rank();
    const MatrixXd q = qr->q();
    basis = q.leftCols(rank);
    kernel = q.rightCols(a.cols() - rank);
  }
  // Solution of least norm of the independent rows of a x = b; the others follow if they agree.
  VectorXd solve(const VectorXd& b, Index columns) const {
    if (rank == 0) return VectorXd::Zero(columns);
    return basis * qr->solve_transposed_leading(b);
  }

  std::optional<PivotedQr> qr;
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

// Sets that grow together.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  void join(std::size_t a, std::size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parent_;
};

Index index_of(std::size_t k) { return static_cast<Index>(k); }

}  // namespace

// Unknowns and equations that hang together; places in the lists are those in its matrices.
struct ImpulseSolver::Block {
  std::vector<std::size_t> unknowns;  // of the mode
  std::vector<std::size_t> form;      // unknowns of the integrated form
  std::vector<std::size_t> hard, soft;
  struct Entry {
    std::size_t from;  // place in the pattern of the constraints, or in places_
    Index row, column;
  };
  std::vector<Entry> hard_entries, soft_entries;
  std::vector<Index> place;  // by unknown: its column in the form
};

struct ImpulseSolver::System {
  std::vector<std::size_t> set;  // local numbers of unknowns
  MatrixXd soft, by_x, by_jump, by_impulse, kernel;
  VectorXd soft_scale, column_scale, unit;
  std::vector<Index> algebraic, differential;
};

ImpulseSolver::~ImpulseSolver() = default;

ImpulseSolver::ImpulseSolver(Graph& graph, const AnalysedMode& mode, const CarriedUnknowns& carried,
                             const Dae& constraints)
    : mode_(mode),
      carried_(carried),
      constraints_(constraints),
      n_(mode.written.unknowns.size()),
      ny_(constraints.unknown_count()),
      m_(0),
      may_carry_(mode.written.unknowns.size(), true) {
  write_rows(graph);
  find_blocks();
  recovery_registers_ = mode.recover.make_workspace();
  recovered_.resize(mode.recover.output_count());
  for (auto* v : {&x_, &slopes_, &jumps_, &impulses_, &amounts_, &step_impulses_, &step_amounts_,
                  &set_residual_, &set_scale_})
    v->assign(n_, 0.0);
  const Pattern& pattern = constraints_.pattern();
  hard_values_.resize(2 * static_cast<std::size_t>(pattern.nonzeros()));
  hard_residual_.resize(static_cast<std::size_t>(pattern.rows));
  hard_scale_.assign(hard_residual_.size(), 1.0);
  soft_values_.resize(places_.size());
  soft_residual_.resize(m_);
  soft_scale_.assign(m_, 1.0);
}

// The equations integrated over an instant, with symbols of their own for jumps and impulses.
void ImpulseSolver::write_rows(Graph& graph) {
  const DaeDefinition& def = mode_.written;
  const std::size_t n = n_;
  std::vector<Expr> jump;
  std::vector<Expr> impulse;
  std::unordered_set<const Node*> moving;
  for (std::size_t j = 0; j < n; ++j) {
    jump.push_back(graph.new_slot("jump of " + def.unknown_names[j]));
    impulse.push_back(graph.new_slot("impulse of " + def.unknown_names[j]));
    if (carried_.under_der[j]) moving.insert(def.unknowns[j].node());
  }
  const ImpulseTerms terms(def, carried_.under_der);
  may_carry_ = terms.may_carry;
  std::vector<Expr> rows;
  for (std::size_t i = 0; i < def.residuals.size(); ++i) {
    if (terms.dropped[i]) continue;
    Expr sum = 0.0;
    for (const JacobianEntry& e : terms.rows[i]) {
      sum += e.value * (e.column < n ? impulse[e.column] : jump[e.column - n]);
      for (const Expr& leaf : leaves_of(e.value))
        varies_ = varies_ || moving.count(leaf.node()) > 0;
    }
    rows.push_back(sum);
  }
  m_ = rows.size();

  std::vector<std::vector<Expr>> inputs = def.inputs();
  inputs.push_back(jump);
  inputs.push_back(impulse);
  std::vector<Expr> leaves = def.unknowns;
  leaves.insert(leaves.end(), jump.begin(), jump.end());
  leaves.insert(leaves.end(), impulse.begin(), impulse.end());
  std::vector<Expr> values;
  for (const JacobianEntry& e : jacobian(rows, leaves)) {
    places_.push_back({e.row, e.column % n, static_cast<By>(e.column / n)});
    values.push_back(e.value);
  }
  residual_tape_ = Tape(rows, inputs);
  jacobian_tape_ = Tape(values, inputs);
  residual_registers_ = residual_tape_.make_workspace();
  jacobian_registers_ = jacobian_tape_.make_workspace();
}

void ImpulseSolver::find_blocks() {
  const Pattern& pattern = constraints_.pattern();
  const auto rows = static_cast<std::size_t>(pattern.rows);
  // Unknowns of the form, then constraints, then impulse equations.
  Groups groups(ny_ + rows + m_);
  for (std::size_t j = 0; j < ny_; ++j)
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
      groups.join(j, ny_ + static_cast<std::size_t>(pattern.row[k]));
  for (const Place& place : places_)
    groups.join(carried_.place[place.unknown], ny_ + rows + place.row);
  std::vector<std::size_t> block_of(ny_ + rows + m_, blocks_.size());
  std::vector<Index> local(ny_ + rows + m_);
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> number(ny_ + rows + m_, kNone);
  for (std::size_t k = 0; k < block_of.size(); ++k) {
    std::size_t& block = number[groups.of(k)];
    if (block == kNone) {
      block = blocks_.size();
      blocks_.emplace_back();
    }
    block_of[k] = block;
    Block& b = blocks_[block];
    std::vector<std::size_t>& list = k < ny_ ? b.form : k < ny_ + rows ? b.hard : b.soft;
    local[k] = index_of(list.size());
    list.push_back(k < ny_ ? k : k < ny_ + rows ? k - ny_ : k - ny_ - rows);
  }
  std::vector<Index> local_unknown(n_);
  for (std::size_t j = 0; j < n_; ++j) {
    Block& b = blocks_[block_of[carried_.place[j]]];
    local_unknown[j] = index_of(b.unknowns.size());
    b.unknowns.push_back(j);
    b.place.push_back(local[carried_.place[j]]);
  }
  for (std::size_t j = 0; j < ny_; ++j)
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
      blocks_[block_of[j]].hard_entries.push_back(
          {static_cast<std::size_t>(k), local[ny_ + static_cast<std::size_t>(pattern.row[k])],
           local[j]});
  for (std::size_t k = 0; k < places_.size(); ++k)
    blocks_[block_of[carried_.place[places_[k].unknown]]].soft_entries.push_back(
        {k, local[ny_ + rows + places_[k].row], local_unknown[places_[k].unknown]});
}

std::size_t ImpulseSolver::largest_block() const {
  std::size_t largest = 0;
  for (const Block& block : blocks_) largest = std::max(largest, block.form.size());
  return largest;
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
    std::copy_n(recovered_.begin() + static_cast<std::ptrdiff_t>(n_), slopes_.size(),
                slopes_.begin());
  }
  for (std::size_t j = 0; j < x_.size(); ++j)
    jumps_[j] = carried_.under_der[j] ? x_[j] - before_[j] : 0.0;
}

// The constraints of the mode, and a row for each value that is set.
void ImpulseSolver::evaluate_constraints(DaeData& data, double t) {
  constraints_.jacobian(data, t, y_.data(), dy_.data(), hard_values_.data());
  constraints_.residual(data, t, y_.data(), dy_.data(), hard_residual_.data());
  for (std::size_t j = 0; j < n_; ++j) set_residual_[j] = is_set_[j] ? x_[j] - before_[j] : 0.0;
}

// Averages over the line from x- to x+. Algebraic unknowns have no way behind them: they are taken
// at its end.
void ImpulseSolver::evaluate_impulses(const DaeData& data, double t) {
  std::vector<double> at(n_);
  std::vector<double> jumps(n_);
  for (std::size_t j = 0; j < n_; ++j) jumps[j] = jumps_[j] + amounts_[j];
  std::vector<double> values(places_.size());
  std::vector<double> residual(m_);
  std::ranges::fill(soft_residual_, 0.0);
  std::ranges::fill(soft_values_, 0.0);
  const auto add = [&](const Node1d& node) {
    for (std::size_t j = 0; j < n_; ++j)
      at[j] = carried_.under_der[j] ? before_[j] + node.s * jumps_[j] : x_[j];
    const double* inputs[] = {
        &t,           at.data(),       slopes_.data(), data.parameters.data(), data.held.data(),
        jumps.data(), impulses_.data()};
    residual_tape_.evaluate(inputs, residual_registers_, residual.data());
    jacobian_tape_.evaluate(inputs, jacobian_registers_, values.data());
    for (std::size_t i = 0; i < m_; ++i) soft_residual_[i] += node.weight * residual[i];
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const bool moves = places_[k].by == By::kValue && carried_.under_der[places_[k].unknown];
      soft_values_[k] += node.weight * values[k] * (moves ? node.s : 1.0);
    }
  };
  if (varies_)
    for (const Node1d& node : kLine) add(node);
  else
    add(kMiddle[0]);
}

// Whether the point satisfies the equations of a block to rounding.
bool ImpulseSolver::is_met(const Block& block) const {
  for (const std::size_t j : block.unknowns)
    if (set_residual_[j] != 0.0) return false;
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  std::vector<double> terms(block.hard.size(), 0.0);
  const std::size_t nonzeros = hard_values_.size() / 2;
  for (const Block::Entry& e : block.hard_entries) {
    const std::size_t j = block.form[static_cast<std::size_t>(e.column)];
    terms[static_cast<std::size_t>(e.row)] +=
        std::abs(hard_values_[e.from] * y_[j]) + std::abs(hard_values_[nonzeros + e.from] * dy_[j]);
  }
  for (std::size_t i = 0; i < block.hard.size(); ++i)
    if (!(std::abs(hard_residual_[block.hard[i]]) <= kRounding * terms[i])) return false;
  terms.assign(block.soft.size(), 0.0);
  for (const Block::Entry& e : block.soft_entries)
    if (places_[e.from].by == By::kJump)
      terms[static_cast<std::size_t>(e.row)] +=
          std::abs(soft_values_[e.from]) * size(places_[e.from].unknown);
  for (std::size_t i = 0; i < block.soft.size(); ++i)
    if (!(std::abs(soft_residual_[block.soft[i]]) <= kRounding * terms[i])) return false;
  return true;
}

// What impulses are measured in: the size that jumps of natural size ask for, from equation to
// equation. A current of 1 A is nothing to measure the charge of a small capacitor by: next to it,
// the equation of an open switch would be lost in rounding.
void ImpulseSolver::natural_impulses(const Block& block, System& system) const {
  const Index rows = system.by_jump.rows();
  VectorXd row_size = VectorXd::Zero(rows);
  for (Index j = 0; j < system.by_jump.cols(); ++j)
    row_size = row_size.cwiseMax(system.by_jump.col(j).cwiseAbs() *
                                 size(block.unknowns[static_cast<std::size_t>(j)]));
  VectorXd& unit = system.unit;
  unit.setZero(index_of(system.algebraic.size()));
  for (bool again = by_jumps_; again;) {
    again = false;
    const VectorXd known = row_size;
    for (Index k = 0; k < unit.size(); ++k) {
      if (unit(k) > 0.0) continue;
      const auto column = system.by_impulse.col(system.algebraic[static_cast<std::size_t>(k)]);
      for (Index i = 0; i < rows; ++i)
        if (known(i) > 0.0 && column(i) != 0.0) {
          const double asked = known(i) / std::abs(column(i));
          unit(k) = unit(k) > 0.0 ? std::min(unit(k), asked) : asked;
        }
      if (unit(k) == 0.0) continue;
      again = true;
      for (Index i = 0; i < rows; ++i)
        if (known(i) == 0.0) row_size(i) = std::max(row_size(i), unit(k) * std::abs(column(i)));
    }
  }
  for (Index k = 0; k < unit.size(); ++k) {
    if (unit(k) != 0.0) continue;
    const auto local = static_cast<std::size_t>(system.algebraic[static_cast<std::size_t>(k)]);
    unit(k) = mode_.written.nominal[block.unknowns[local]];
  }
}

// Directions in which impulses are possible: algebraic unknowns, and combinations of differential
// ones that the derivatives do not see.
void ImpulseSolver::find_kernel(const Block& block, System& system) const {
  for (std::size_t k = 0; k < block.unknowns.size(); ++k) {
    const std::size_t j = block.unknowns[k];
    if (carried_.under_der[j]) {
      if (!is_set_[j]) system.differential.push_back(index_of(k));
    } else if (may_carry_[j]) {
      system.algebraic.push_back(index_of(k));
    }
  }
  const auto size_at = [&](Index k) { return size(block.unknowns[static_cast<std::size_t>(k)]); };
  const auto& differential = system.differential;
  MatrixXd e(system.by_jump.rows(), index_of(differential.size()));
  for (std::size_t k = 0; k < differential.size(); ++k)
    e.col(index_of(k)) = system.by_jump.col(differential[k]) * size_at(differential[k]);
  const RowSpace space(inverse_of_largest(e).asDiagonal() * e);
  const Index first = index_of(system.algebraic.size());
  system.kernel.setZero(index_of(block.unknowns.size()), first + space.kernel.cols());
  natural_impulses(block, system);
  for (Index k = 0; k < first; ++k)
    system.kernel(system.algebraic[static_cast<std::size_t>(k)], k) = system.unit(k);
  for (std::size_t k = 0; k < differential.size(); ++k)
    system.kernel.row(differential[k]).tail(space.kernel.cols()) =
        size_at(differential[k]) * space.kernel.row(index_of(k));
}

void ImpulseSolver::fill_impulse_matrix(const Block& block, System& system) {
  const Index rows = index_of(block.soft.size());
  const Index ny = index_of(block.form.size());
  const Index impulses = system.kernel.cols();
  const Index sets = index_of(system.set.size());
  system.soft.setZero(rows, 2 * ny + impulses + sets);
  for (std::size_t k = 0; k < block.unknowns.size(); ++k)
    system.soft.col(block.place[k]) +=
        carried_.factor[block.unknowns[k]] *
        (system.by_x.col(index_of(k)) + system.by_jump.col(index_of(k)));
  system.soft.middleCols(2 * ny, impulses) = system.by_impulse * system.kernel;
  for (Index i = 0; i < sets; ++i) {
    const std::size_t k = system.set[static_cast<std::size_t>(i)];
    system.soft.col(2 * ny + impulses + i) =
        system.by_jump.col(index_of(k)) * size(block.unknowns[k]);
  }
  // Jumps of natural size, else impulses of natural size, give a row its weight.
  system.soft_scale.resize(rows);
  for (Index i = 0; i < rows; ++i) {
    double largest = 0.0;
    for (std::size_t k = 0; k < block.unknowns.size(); ++k)
      largest =
          std::max(largest, std::abs(system.by_jump(i, index_of(k))) * size(block.unknowns[k]));
    if (largest == 0.0 && impulses > 0)
      largest = system.soft.row(i).segment(2 * ny, impulses).cwiseAbs().maxCoeff();
    system.soft_scale(i) = largest > 0.0 ? 1.0 / largest : 1.0;
    soft_scale_[block.soft[static_cast<std::size_t>(i)]] = system.soft_scale(i);
  }
  const auto& nominal = constraints_.definition().nominal;
  system.column_scale.setOnes(system.soft.cols());
  for (Index j = 0; j < ny; ++j)
    system.column_scale(j) = system.column_scale(ny + j) =
        nominal[block.form[static_cast<std::size_t>(j)]];
}

bool ImpulseSolver::evaluate(DaeData& data, double t) {
  read_unknowns(t, data);
  evaluate_constraints(data, t);
  evaluate_impulses(data, t);
  const auto finite = [](const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  };
  return finite(hard_values_) && finite(hard_residual_) && finite(set_residual_) &&
         finite(soft_residual_) && finite(soft_values_);
}

// The change that satisfies the linearised constraints and, within them, the impulse equations as
// far as possible.
void ImpulseSolver::solve_block(const Block& block) {
  System system;
  for (std::size_t k = 0; k < block.unknowns.size(); ++k)
    if (is_set_[block.unknowns[k]]) system.set.push_back(k);
  const Index ny = index_of(block.form.size());
  const Index n = index_of(block.unknowns.size());
  const Index constraint_count = index_of(block.hard.size());
  const Index sets = index_of(system.set.size());
  const Index rows = index_of(block.soft.size());

  for (MatrixXd* matrix : {&system.by_x, &system.by_jump, &system.by_impulse})
    matrix->setZero(rows, n);
  for (const Block::Entry& e : block.soft_entries) {
    const By by = places_[e.from].by;
    MatrixXd& matrix = by == By::kValue  ? system.by_x
                       : by == By::kJump ? system.by_jump
                                         : system.by_impulse;
    matrix(e.row, e.column) += soft_values_[e.from];
  }
  find_kernel(block, system);
  fill_impulse_matrix(block, system);

  MatrixXd hard = MatrixXd::Zero(constraint_count + sets, system.soft.cols());
  VectorXd hard_residual(constraint_count + sets);
  const std::size_t nonzeros = hard_values_.size() / 2;
  for (const Block::Entry& e : block.hard_entries) {
    hard(e.row, e.column) = hard_values_[e.from] * system.column_scale(e.column);
    hard(e.row, ny + e.column) =
        hard_values_[nonzeros + e.from] * system.column_scale(ny + e.column);
  }
  for (Index i = 0; i < constraint_count; ++i)
    hard_residual(i) = hard_residual_[block.hard[static_cast<std::size_t>(i)]];
  for (Index i = 0; i < sets; ++i) {
    const std::size_t k = system.set[static_cast<std::size_t>(i)];
    hard(constraint_count + i, block.place[k]) =
        carried_.factor[block.unknowns[k]] * system.column_scale(block.place[k]);
    hard_residual(constraint_count + i) = set_residual_[block.unknowns[k]];
  }
  const VectorXd hard_scale = inverse_of_largest(hard);
  for (Index i = 0; i < constraint_count; ++i)
    hard_scale_[block.hard[static_cast<std::size_t>(i)]] = hard_scale(i);
  for (Index i = 0; i < sets; ++i)
    set_scale_[block.unknowns[system.set[static_cast<std::size_t>(i)]]] =
        hard_scale(constraint_count + i);
  hard = hard_scale.asDiagonal() * hard;
  const MatrixXd soft =
      system.soft_scale.asDiagonal() * system.soft * system.column_scale.asDiagonal();
  const RowSpace constraints(hard);
  VectorXd step = constraints.solve(-(hard_scale.asDiagonal() * hard_residual), soft.cols());
  if (constraints.kernel.cols() > 0 && rows > 0) {
    VectorXd soft_residual(rows);
    for (Index i = 0; i < rows; ++i)
      soft_residual(i) = soft_residual_[block.soft[static_cast<std::size_t>(i)]];
    const LeastNorm within(soft * constraints.kernel, kRankTolerance);
    const VectorXd wanted = -(system.soft_scale.asDiagonal() * soft_residual) - soft * step;
    step += constraints.kernel * within.solve(wanted);
  }
  step = system.column_scale.asDiagonal() * step;

  for (Index j = 0; j < ny; ++j) {
    step_y_[block.form[static_cast<std::size_t>(j)]] = step(j);
    step_dy_[block.form[static_cast<std::size_t>(j)]] = step(ny + j);
  }
  const Index impulses = system.kernel.cols();
  const VectorXd impulse = system.kernel * step.segment(2 * ny, impulses);
  for (std::size_t k = 0; k < block.unknowns.size(); ++k)
    step_impulses_[block.unknowns[k]] = impulse(index_of(k));
  for (Index i = 0; i < sets; ++i) {
    const std::size_t j = block.unknowns[system.set[static_cast<std::size_t>(i)]];
    step_amounts_[j] = size(j) * step(2 * ny + impulses + i);
  }
}

double ImpulseSolver::newton_step() {
  for (auto* v : {&step_y_, &step_dy_}) v->assign(ny_, 0.0);
  for (auto* v : {&step_impulses_, &step_amounts_}) v->assign(n_, 0.0);
  for (const Block& block : blocks_)
    if (!is_met(block)) solve_block(block);
  double largest = 0.0;
  const auto& nominal = constraints_.definition().nominal;
  for (std::size_t j = 0; j < ny_; ++j) {
    if (!std::isfinite(step_y_[j]) || !std::isfinite(step_dy_[j]))
      return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, std::abs(step_y_[j]) / (std::abs(y_[j]) + nominal[j]));
    largest = std::max(largest, std::abs(step_dy_[j]) / (std::abs(dy_[j]) + nominal[j]));
  }
  for (std::size_t j = 0; j < n_; ++j)
    if (!std::isfinite(step_impulses_[j]) || !std::isfinite(step_amounts_[j]))
      return std::numeric_limits<double>::quiet_NaN();
  return largest;
}

// Moves to the given fraction of the step; false if the equations are undefined there. They may be
// worse there: what is quadratic in the velocities that jump is put right by the next step.
bool ImpulseSolver::take(double fraction, DaeData& data, double t) {
  for (std::size_t j = 0; j < ny_; ++j) {
    y_[j] = old_y_[j] + fraction * step_y_[j];
    dy_[j] = old_dy_[j] + fraction * step_dy_[j];
  }
  for (std::size_t j = 0; j < n_; ++j) {
    impulses_[j] = old_impulses_[j] + fraction * step_impulses_[j];
    amounts_[j] = old_amounts_[j] + fraction * step_amounts_[j];
  }
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
  const std::size_t ny = ny_;
  y_.assign(y, y + ny);
  dy_.assign(dy, dy + ny);
  before_ = before;
  is_set_.assign(n_, false);
  bool any_set = false;
  for (std::size_t j = 0; j < set.size(); ++j) {
    is_set_[j] = set[j] && carried_.under_der[j];
    any_set = any_set || is_set_[j];
  }
  // Of blocks that are not solved, nothing is amiss.
  for (auto* v : {&impulses_, &amounts_, &hard_scale_, &soft_scale_, &set_scale_})
    std::ranges::fill(*v, 0.0);
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
  double unmet = 0.0;
  for (std::size_t i = 0; i < hard_residual_.size(); ++i)
    unmet = std::hypot(unmet, hard_scale_[i] * hard_residual_[i]);
  for (std::size_t j = 0; j < n_; ++j) unmet = std::hypot(unmet, set_scale_[j] * set_residual_[j]);
  if (unmet > 1e-9 * magnitude)
    return {any_set ? ImpulseStatus::kContradicted : ImpulseStatus::kNotConverged, 0};
  const std::size_t row = worst_row();
  if (m_ > 0 && std::abs(soft_residual_[row]) * soft_scale_[row] > tolerance)
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
  std::size_t worst = 0;
  for (std::size_t i = 0; i < m_; ++i)
    if (std::abs(soft_residual_[i]) * soft_scale_[i] >
        std::abs(soft_residual_[worst]) * soft_scale_[worst])
      worst = i;
  return worst;
}

std::size_t ImpulseSolver::largest_jump_in(std::size_t row) const {
  std::size_t found = 0;
  double largest = -1.0;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const Place& place = places_[k];
    if (place.row != row || place.by != By::kJump) continue;
    const double part = std::abs(soft_values_[k] * jumps_[place.unknown]);
    if (part > largest || (part == largest && place.unknown < found)) {
      largest = part;
      found = place.unknown;
    }
  }
  return largest > 0.0 ? found : 0;
}

}  // namespace saltus
