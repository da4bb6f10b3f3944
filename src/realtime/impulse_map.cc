#include "realtime/impulse_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace saltus {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRankTolerance = 1e-11;
constexpr double kUnmet = 1e-8;  // of what was asked

Index index_of(std::size_t k) { return static_cast<Index>(k); }

std::vector<double> values_of(const std::vector<Expr>& symbols, const SystemState& at) {
  std::vector<double> values;
  for (const Expr& symbol : symbols) values.push_back(at.value_of(symbol));
  return values;
}

// Values of formulas at a point of the system.
std::vector<double> evaluate(const Tape& tape, const DaeDefinition& def, double t,
                             const SystemState& at, const std::vector<double>& parameters) {
  const std::vector<double> x = values_of(def.unknowns, at);
  std::vector<double> dx;
  for (const Expr& unknown : def.unknowns)
    dx.push_back(unknown.node()->order == 0 ? at.slopes[unknown.node()->index] : 0.0);
  const std::vector<double> held = values_of(def.held, at);
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> values(tape.output_count());
  const double* inputs[] = {&t, x.data(), dx.data(), parameters.data(), held.data()};
  tape.evaluate(inputs, registers, values.data());
  return values;
}

// Rows and columns scaled until their largest entries are about one.
void equilibrate(MatrixXd& a, VectorXd& rows, VectorXd& columns) {
  rows.setOnes(a.rows());
  columns.setOnes(a.cols());
  constexpr int kPasses = 6;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (Index i = 0; i < a.rows(); ++i) {
      const double largest = a.cols() > 0 ? a.row(i).cwiseAbs().maxCoeff() : 0.0;
      const double f = largest > 0.0 ? 1.0 / std::sqrt(largest) : 1.0;
      a.row(i) *= f;
      rows(i) *= f;
    }
    for (Index j = 0; j < a.cols(); ++j) {
      const double largest = a.rows() > 0 ? a.col(j).cwiseAbs().maxCoeff() : 0.0;
      const double f = largest > 0.0 ? 1.0 / std::sqrt(largest) : 1.0;
      a.col(j) *= f;
      columns(j) *= f;
    }
  }
}

Index rank_of(const MatrixXd& a) {
  if (a.rows() == 0 || a.cols() == 0) return 0;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(a.rows(), a.cols());
  qr.setThreshold(kRankTolerance);
  return qr.compute(a).rank();
}

}  // namespace

ImpulseMap::ImpulseMap(const ModeCore& core, const std::vector<std::size_t>& differential)
    : core_(core), states_(differential) {
  const DaeDefinition& written = *core.written;
  const std::size_t n = written.unknowns.size();
  std::vector<bool> under_der(n, false);
  for (const JacobianEntry& e : jacobian(written.residuals, written.derivatives))
    under_der[e.column] = true;
  const ImpulseTerms terms(written, under_der);
  std::vector<std::size_t> column(2 * n, n);
  for (std::size_t j = 0; j < n; ++j)
    if (under_der[j]) {
      column[n + j] = moving_.size();
      moving_.push_back(j);
    }
  for (std::size_t j = 0; j < n; ++j)
    if (!under_der[j] && terms.may_carry[j]) {
      column[j] = moving_.size() + pushed_.size();
      pushed_.push_back(j);
    }
  std::unordered_set<const Node*> changing{written.time.node()};
  for (const auto* symbols : {&written.unknowns, &written.derivatives})
    for (const Expr& symbol : *symbols) changing.insert(symbol.node());
  const auto note = [&](const Expr& coefficient) {
    for (const Expr& leaf : leaves_of(coefficient)) {
      is_constant_ = is_constant_ && !changing.contains(leaf.node());
      reads_slots_ = reads_slots_ || leaf.is_slot();
    }
  };
  std::vector<Expr> coefficients;
  for (std::size_t i = 0; i < terms.rows.size(); ++i) {
    if (terms.dropped[i]) continue;
    for (const JacobianEntry& e : terms.rows[i]) {
      const bool is_seen = e.column >= n || (!under_der[e.column] && terms.may_carry[e.column]);
      if (!is_seen) continue;
      places_.push_back({rows_, column[e.column]});
      coefficients.push_back(e.value);
      note(e.value);
    }
    ++rows_;
  }
  coefficients_ = Tape(coefficients, written.inputs(), TapeCode::kInterpreted);

  const DaeDefinition& def = core.dae->definition();
  for (const auto* symbols : {&def.unknowns, &def.derivatives})
    for (const Expr& symbol : *symbols) changing.insert(symbol.node());
  std::vector<Expr> values, slopes;
  for (const std::size_t j : moving_) {
    const std::optional<Expr> value = core.write(written.unknowns[j]);
    if (!value)
      throw Error(fmt::format("'{}' does not follow from the states", written.unknown_names[j]));
    values.push_back(*value);
  }
  if (!jacobian(values, def.derivatives).empty())
    throw Error("what is under der() depends on slopes");
  for (const JacobianEntry& e : jacobian(values, def.unknowns)) {
    tangent_places_.push_back({e.row, e.column});
    slopes.push_back(e.value);
    note(e.value);
  }
  is_constant_ = is_constant_ && core.dae->has_constant_jacobian();
  std::vector<std::vector<Expr>> inputs = def.inputs();
  std::unordered_set<const Node*> known;
  for (const std::vector<Expr>& group : inputs)
    for (const Expr& symbol : group) known.insert(symbol.node());
  for (const Expr& leaf : leaves_of(slopes))
    if (!known.contains(leaf.node())) throw Error("what is under der() depends on what is held");
  tangent_ = Tape(slopes, inputs, TapeCode::kInterpreted);
}

// dy/dz of the algebraic unknowns of the core.
MatrixXd ImpulseMap::algebraic_by_states(double t, const SystemState& point,
                                         const std::vector<double>& parameters) {
  const Dae& dae = *core_.dae;
  const Index n = index_of(dae.unknown_count());
  const Index d = index_of(states_.size());
  DaeData data = dae.make_data();
  data.parameters = parameters;
  data.held = values_of(dae.definition().held, point);
  const std::vector<double> x = values_of(dae.definition().unknowns, point);
  std::vector<double> dx;
  for (const Expr& unknown : dae.definition().unknowns)
    dx.push_back(unknown.node()->order == 0 ? point.slopes[unknown.node()->index] : 0.0);
  const Pattern& pattern = dae.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  std::vector<double> values(2 * nonzeros);
  dae.jacobian(data, t, x.data(), dx.data(), values.data());
  MatrixXd g = MatrixXd::Zero(n, n), k = MatrixXd::Zero(n, n);
  for (Index j = 0; j < n; ++j)
    for (int at = pattern.start[static_cast<std::size_t>(j)];
         at < pattern.start[static_cast<std::size_t>(j) + 1]; ++at) {
      const auto place = static_cast<std::size_t>(at);
      g(pattern.row[place], j) = values[place];
      k(pattern.row[place], j) = values[nonzeros + place];
    }
  MatrixXd by_states(n, d);
  for (Index s = 0; s < d; ++s) by_states.col(s) = g.col(index_of(states_[s]));
  std::vector<bool> is_state(static_cast<std::size_t>(n), false);
  for (const std::size_t s : states_) is_state[s] = true;
  for (Index j = 0; j < n; ++j)
    if (!is_state[static_cast<std::size_t>(j)]) k.col(j) = g.col(j);
  const Eigen::FullPivLU<MatrixXd> lu(k);
  if (!lu.isInvertible()) throw Error("the states do not determine the rest");
  MatrixXd all = -lu.solve(by_states);
  for (Index s = 0; s < d; ++s) {
    all.row(index_of(states_[s])).setZero();
    all(index_of(states_[s]), s) = 1.0;
  }
  return all;
}

MatrixXd ImpulseMap::tangent(double t, const SystemState& point,
                             const std::vector<double>& parameters) {
  const DaeDefinition& def = core_.dae->definition();
  MatrixXd by_core = MatrixXd::Zero(index_of(moving_.size()), index_of(def.unknowns.size()));
  const std::vector<double> values = evaluate(tangent_, def, t, point, parameters);
  for (std::size_t k = 0; k < values.size(); ++k)
    by_core(index_of(tangent_places_[k].row), index_of(tangent_places_[k].column)) += values[k];
  return by_core * algebraic_by_states(t, point, parameters);
}

ImpulseMap::Answer ImpulseMap::solve(double t, const SystemState& point,
                                     const std::vector<double>& parameters, const MatrixXd& before,
                                     const std::vector<bool>& set) {
  const DaeDefinition& written = *core_.written;
  const Index d = index_of(states_.size());
  const Index rows = index_of(rows_);
  const Index moving = index_of(moving_.size());
  const Index pushed = index_of(pushed_.size());
  std::vector<Index> kept;  // places in moving_
  for (Index k = 0; k < moving; ++k)
    if (set[moving_[static_cast<std::size_t>(k)]]) kept.push_back(k);
  const Index sets = index_of(kept.size());

  const MatrixXd along = tangent(t, point, parameters);
  MatrixXd by_jump = MatrixXd::Zero(rows, moving), by_impulse = MatrixXd::Zero(rows, pushed);
  const std::vector<double> values = evaluate(coefficients_, written, t, point, parameters);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Index row = index_of(places_[k].row);
    const Index column = index_of(places_[k].column);
    (column < moving ? by_jump(row, column) : by_impulse(row, column - moving)) += values[k];
  }
  Answer answer;
  // What derivatives do not see may carry impulses of its own: not asked here.
  if (!by_jump.allFinite() || !by_impulse.allFinite() || !along.allFinite()) return answer;
  VectorXd row_scale, column_scale;
  MatrixXd inertia = by_jump;
  equilibrate(inertia, row_scale, column_scale);
  if (rank_of(inertia) < moving) return answer;

  MatrixXd asked(moving, before.cols());
  for (Index k = 0; k < moving; ++k)
    asked.row(k) = before.row(index_of(moving_[static_cast<std::size_t>(k)]));
  MatrixXd a = MatrixXd::Zero(rows + sets, d + pushed + sets);
  MatrixXd right = MatrixXd::Zero(rows + sets, before.cols());
  a.topLeftCorner(rows, d) = by_jump * along;
  a.block(0, d, rows, pushed) = by_impulse;
  right.topRows(rows) = by_jump * asked;
  for (Index s = 0; s < sets; ++s) {
    a.col(d + pushed + s).head(rows) = by_jump.col(kept[static_cast<std::size_t>(s)]);
    a.row(rows + s).head(d) = along.row(kept[static_cast<std::size_t>(s)]);
    right.row(rows + s) = asked.row(kept[static_cast<std::size_t>(s)]);
  }
  equilibrate(a, row_scale, column_scale);
  right = row_scale.asDiagonal() * right;
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> factors(a.rows(), a.cols());
  factors.setThreshold(kRankTolerance);
  factors.compute(a);
  answer.is_determined = factors.rank() == d + rank_of(a.rightCols(pushed + sets));
  if (!answer.is_determined) return answer;
  const MatrixXd found = factors.solve(right);
  const MatrixXd unmet = a * found - right;
  answer.states = column_scale.head(d).asDiagonal() * found.topRows(d);
  const MatrixXd impulses =
      column_scale.segment(d, pushed).asDiagonal() * found.middleRows(d, pushed);
  const MatrixXd jumps = along * answer.states - asked;
  answer.is_pushed.assign(written.unknowns.size(), false);
  answer.is_moved.assign(written.unknowns.size(), false);
  for (Index c = 0; c < right.cols(); ++c) {
    const double size = std::max(right.col(c).lpNorm<Eigen::Infinity>(), 1e-300);
    answer.responds.push_back(unmet.col(c).lpNorm<Eigen::Infinity>() <= kUnmet * size);
    if (!answer.responds.back()) continue;
    const double largest = pushed > 0 ? found.col(c).segment(d, pushed).cwiseAbs().maxCoeff() : 0.0;
    for (Index k = 0; k < pushed; ++k)
      if (std::abs(found(d + k, c)) > 1e-10 * largest && std::abs(impulses(k, c)) > 0.0)
        answer.is_pushed[pushed_[static_cast<std::size_t>(k)]] = true;
    const double far = moving > 0 ? asked.col(c).cwiseAbs().maxCoeff() : 0.0;
    for (Index k = 0; k < moving; ++k)
      if (std::abs(jumps(k, c)) > 1e-10 * far)
        answer.is_moved[moving_[static_cast<std::size_t>(k)]] = true;
  }
  return answer;
}

}  // namespace saltus
