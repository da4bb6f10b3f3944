#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "analysis/analysed_mode.h"
#include "base/error.h"
#include "expr/differentiate.h"
#include "expr/tape.h"
#include "linalg/dense.h"
#include "model/system_state.h"
#include "realtime/mode_core.h"

// E x' + G x + C r = 0 with matrices of numbers. E, G, C: of the rows at hand; r: what is not
// linear with constant coefficients, functions of time and slots as a rule.

namespace saltus {
namespace {

// Rows are scaled to one, so this is a fraction of what they were made of.
constexpr double kZero = 1e-10;

// Rows of one kind, changed together.
struct Rows {
  Eigen::MatrixXd e, g, c;
  Eigen::Index count() const { return g.rows(); }
  void add_multiple(Eigen::Index to, double factor, Eigen::Index from) {
    e.row(to) += factor * e.row(from);
    g.row(to) += factor * g.row(from);
    c.row(to) += factor * c.row(from);
  }
  void swap(Eigen::Index a, Eigen::Index b) {
    if (a == b) return;
    e.row(a).swap(e.row(b));
    g.row(a).swap(g.row(b));
    c.row(a).swap(c.row(b));
  }
  void append(const Rows& from, Eigen::Index row) {
    const Eigen::Index k = count();
    e.conservativeResize(k + 1, from.e.cols());
    g.conservativeResize(k + 1, from.g.cols());
    c.conservativeResize(k + 1, from.c.cols());
    e.row(k) = from.e.row(row);
    g.row(k) = from.g.row(row);
    c.row(k) = from.c.row(row);
  }
};

class Reduction {
 public:
  // `freezes`: coefficients that read slots count as numbers.
  Reduction(const HybridSystem& system, const Mode& mode, const std::vector<double>& parameters,
            const std::vector<double>& slots, bool freezes)
      : name_(mode.name),
        unknowns_(unknowns_of(system, mode)),
        written_(write_out(system, mode, unknowns_)),
        n_(static_cast<Eigen::Index>(unknowns_.size())),
        freezes_(freezes) {
    for (Eigen::Index j = 0; j < n_; ++j)
      place_.emplace(unknowns_[static_cast<std::size_t>(j)].index(), j);
    read_equations(state_inputs(system), parameters, slots);
    find_constraints();
    settle_free_directions();
    choose_states();
    solve();
  }

  ModeCore core();

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(fmt::format("mode '{}' cannot be prepared for fixed steps: {}", name_, why));
  }
  const std::string& name_of(Eigen::Index j) const {
    return written_.unknown_names[static_cast<std::size_t>(j)];
  }

  void read_equations(const std::vector<std::vector<Expr>>& symbols,
                      const std::vector<double>& parameters, const std::vector<double>& slots);
  void find_constraints();
  void add_constraint(const Rows& rows, Eigen::Index row, bool& is_new);
  void settle_free_directions();
  void choose_states();
  void solve();
  void check_equations() const;
  bool vanishes(const Eigen::RowVectorXd& c, double zero) const;
  Expr slope_of(const Expr& input) const;
  Eigen::MatrixXd differentiated(const Eigen::MatrixXd& c);
  // Columns for the inputs that were added since.
  void widen(Eigen::MatrixXd& c) const {
    const Eigen::Index before = c.cols();
    const auto now = static_cast<Eigen::Index>(inputs_.size());
    c.conservativeResize(Eigen::NoChange, now);
    c.rightCols(now - before).setZero();
  }
  Expr resolve(const Expr& a);
  const Expr& value_formula(Eigen::Index j);
  const Expr& slope_formula(Eigen::Index j);
  Expr combine(const Eigen::MatrixXd& z, const Eigen::MatrixXd& r, Eigen::Index row,
               bool with_slopes);

  std::string name_;
  std::vector<VariableId> unknowns_;
  DaeDefinition written_;
  Eigen::Index n_;
  bool freezes_;
  std::unordered_map<std::size_t, Eigen::Index> place_;  // of a variable
  std::vector<bool> is_differentiated_;                  // by unknown
  std::vector<Expr> inputs_;                             // r
  Eigen::VectorXd held_;  // values of the first inputs now; NaN: it changes within the mode
  std::unordered_map<std::size_t, Eigen::Index> derivative_of_input_;
  Rows original_;  // scaled
  Rows differential_, constraints_;
  std::vector<std::pair<Expr, double>> frozen_;
  std::vector<Eigen::Index> pivots_;  // by constraint: the unknown it is solved for
  std::vector<Eigen::Index> states_;
  Eigen::MatrixXd m_, s_;  // x = m z + s r
  Eigen::MatrixXd a_, b_;  // z' = a z + b r
  Eigen::MatrixXd ds_;     // x' = m z' + ds r
  std::unordered_map<Eigen::Index, Expr> values_, slopes_;
  std::unordered_map<Eigen::Index, bool> in_progress_;
};

void Reduction::read_equations(const std::vector<std::vector<Expr>>& groups,
                               const std::vector<double>& parameters,
                               const std::vector<double>& slots) {
  const std::size_t rows = written_.residuals.size();
  std::vector<Expr> symbols = written_.unknowns;
  symbols.insert(symbols.end(), written_.derivatives.begin(), written_.derivatives.end());
  std::vector<Expr> formulas;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  std::vector<std::size_t> frozen;
  std::vector<std::vector<Expr>> linear(rows);  // symbols of a row
  is_differentiated_.assign(static_cast<std::size_t>(n_), false);
  for (const JacobianEntry& entry : jacobian(written_.residuals, symbols)) {
    if (entry.column >= unknowns_.size())
      is_differentiated_[entry.column - unknowns_.size()] = true;
    bool is_number = true;
    bool reads_slots = false;
    for (const Expr& leaf : leaves_of(entry.value)) {
      is_number = is_number && !leaf.is_variable() && !leaf.same_as(written_.time);
      reads_slots = reads_slots || leaf.is_slot();
    }
    if (!is_number || (reads_slots && !freezes_)) continue;
    if (reads_slots) frozen.push_back(formulas.size());
    formulas.push_back(entry.value);
    places.emplace_back(entry.row, entry.column);
    linear[entry.row].push_back(symbols[entry.column]);
  }
  std::vector<double> numbers(formulas.size());
  const Tape tape(formulas, {groups[3], groups[4]});
  Tape::Workspace registers = tape.make_workspace();
  const double* in[] = {parameters.data(), slots.data()};
  tape.evaluate(in, registers, numbers.data());
  std::unordered_map<const Node*, bool> listed;
  for (const std::size_t k : frozen)
    if (listed.emplace(formulas[k].node(), true).second)
      frozen_.emplace_back(formulas[k], numbers[k]);

  Rows& all = differential_;
  const auto m = static_cast<Eigen::Index>(rows);
  all.e = Eigen::MatrixXd::Zero(m, n_);
  all.g = Eigen::MatrixXd::Zero(m, n_);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto row = static_cast<Eigen::Index>(places[k].first);
    const auto column = static_cast<Eigen::Index>(places[k].second);
    (column < n_ ? all.g(row, column) : all.e(row, column - n_)) = numbers[k];
  }
  all.c = Eigen::MatrixXd::Zero(m, m);
  Eigen::Index used = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const double size = std::max(all.e.row(row).lpNorm<Eigen::Infinity>(),
                                 all.g.row(row).lpNorm<Eigen::Infinity>());
    if (!std::isfinite(size))
      refuse(written_.equation_names[i] + " has a coefficient that is not finite");
    const Expr rest = substitute(written_.residuals[i], linear[i],
                                 std::vector<Expr>(linear[i].size(), Expr(0.0)));
    for (const Expr& leaf : leaves_of(rest))
      if (leaf.is_variable() && leaf.node()->order > 0)
        refuse(written_.equation_names[i] + " is not linear in a derivative");
    const double scale = size > 0.0 ? 1.0 / size : 1.0;
    all.e.row(row) *= scale;
    all.g.row(row) *= scale;
    if (rest.is_number() && rest.number() == 0.0) continue;
    inputs_.push_back(rest);
    all.c(row, used++) = scale;
  }
  all.c.conservativeResize(Eigen::NoChange, used);
  original_ = all;
  held_.resize(used);
  const Tape input_tape(inputs_, groups);
  Tape::Workspace input_registers = input_tape.make_workspace();
  const std::vector<double> nothing(groups[1].size(), 0.0);
  const double t = 0.0;
  const double* all_in[] = {&t, nothing.data(), nothing.data(), parameters.data(), slots.data()};
  input_tape.evaluate(all_in, input_registers, held_.data());
  for (Eigen::Index k = 0; k < used; ++k)
    if (!is_constant_in_mode(inputs_[static_cast<std::size_t>(k)])) held_[k] = std::nan("");
}

// Slots, numbers and variables of other modes do not change.
Expr Reduction::slope_of(const Expr& input) const {
  Expr slope = der(input);
  std::vector<Expr> held;
  for (const Expr& leaf : leaves_of(slope))
    if (leaf.is_variable() && leaf.node()->order > 0 && !place_.contains(leaf.node()->index))
      held.push_back(leaf);
  return held.empty() ? slope : substitute(slope, held, std::vector<Expr>(held.size(), Expr(0.0)));
}

// Columns of the inputs' derivatives.
Eigen::MatrixXd Reduction::differentiated(const Eigen::MatrixXd& c) {
  const Eigen::Index before = c.cols();
  for (Eigen::Index k = 0; k < before; ++k) {
    const auto input = static_cast<std::size_t>(k);
    if (c.col(k).lpNorm<Eigen::Infinity>() <= kZero || derivative_of_input_.contains(input))
      continue;
    const Expr slope = slope_of(inputs_[input]);
    const bool is_zero = slope.is_number() && slope.number() == 0.0;
    derivative_of_input_[input] = is_zero ? -1 : static_cast<Eigen::Index>(inputs_.size());
    if (!is_zero) inputs_.push_back(slope);
  }
  Eigen::MatrixXd slopes =
      Eigen::MatrixXd::Zero(c.rows(), static_cast<Eigen::Index>(inputs_.size()));
  for (Eigen::Index k = 0; k < before; ++k) {
    const auto found = derivative_of_input_.find(static_cast<std::size_t>(k));
    if (found != derivative_of_input_.end() && found->second >= 0)
      slopes.col(found->second) = c.col(k);
  }
  return slopes;
}

// A row without derivatives. It may say what the constraints known say already.
void Reduction::add_constraint(const Rows& rows, Eigen::Index row, bool& is_new) {
  Rows reduced;
  reduced.append(rows, row);
  widen(reduced.c);
  widen(constraints_.c);
  // The constraints are kept with a unit matrix in columns of their own.
  const double size = reduced.g.lpNorm<Eigen::Infinity>();
  for (Eigen::Index k = 0; k < constraints_.count(); ++k) {
    const double f = reduced.g(0, pivots_[static_cast<std::size_t>(k)]);
    reduced.g.row(0) -= f * constraints_.g.row(k);
    reduced.c.row(0) -= f * constraints_.c.row(k);
  }
  Eigen::Index column = 0;
  const double left = reduced.g.cwiseAbs().row(0).maxCoeff(&column);
  if (left <= kZero * std::max(1.0, size)) {
    // Redundant: what is left of the inputs must vanish.
    if (vanishes(reduced.c.row(0), kZero)) return;
    std::vector<std::string> parts;
    for (Eigen::Index k = 0; k < reduced.c.cols(); ++k)
      if (std::abs(reduced.c(0, k)) > kZero)
        parts.push_back(to_string(reduced.c(0, k) * inputs_[static_cast<std::size_t>(k)]));
    refuse(fmt::format("its constraints contradict each other unless {} = 0",
                       fmt::join(parts, " + ")));
  }
  is_new = true;
  const double pivot = reduced.g(0, column);
  reduced.g.row(0) /= pivot;
  reduced.c.row(0) /= pivot;
  for (Eigen::Index k = 0; k < constraints_.count(); ++k) {
    const double f = constraints_.g(k, column);
    constraints_.g.row(k) -= f * reduced.g.row(0);
    constraints_.c.row(k) -= f * reduced.c.row(0);
  }
  reduced.e.setZero();
  constraints_.append(reduced, 0);
  pivots_.push_back(column);
}

// Differentiates constraints until no combination of the rows hides another one. Each pass turns
// at least one differential row into a constraint, so there are at most as many as rows.
void Reduction::find_constraints() {
  constraints_.e.resize(0, n_);
  constraints_.g.resize(0, n_);
  constraints_.c.resize(0, differential_.c.cols());
  for (Eigen::Index i = 0; i < differential_.count(); ++i)
    if (differential_.e.row(i).isZero() && differential_.g.row(i).isZero())
      refuse(written_.equation_names[static_cast<std::size_t>(i)] +
             " determines nothing by itself");
  for (bool is_new = true; is_new;) {
    is_new = false;
    // Derivatives of the constraints on top, which are independent of each other.
    Rows rows;
    const Eigen::MatrixXd slopes = differentiated(constraints_.c);
    widen(differential_.c);
    const Eigen::Index known = constraints_.count();
    const Eigen::Index total = known + differential_.count();
    rows.e.resize(total, n_);
    rows.g.resize(total, n_);
    rows.c = Eigen::MatrixXd::Zero(total, static_cast<Eigen::Index>(inputs_.size()));
    rows.e << constraints_.g, differential_.e;
    rows.g << Eigen::MatrixXd::Zero(known, n_), differential_.g;
    rows.c.topLeftCorner(known, slopes.cols()) = slopes;
    rows.c.bottomRows(differential_.count()) = differential_.c;
    Eigen::Index rank = 0;
    for (; rank < total; ++rank) {
      const Eigen::Index last = rank < known ? known : total;
      Eigen::Index row = 0, column = 0;
      const double largest =
          rows.e.middleRows(rank, last - rank).cwiseAbs().maxCoeff(&row, &column);
      if (largest <= kZero && rank < known) refuse("its ranks are in doubt");
      if (largest <= kZero) break;
      rows.swap(rank, rank + row);
      for (Eigen::Index i = rank + 1; i < total; ++i) {
        const double f = rows.e(i, column) / rows.e(rank, column);
        if (f == 0.0) continue;
        rows.add_multiple(i, -f, rank);
        rows.e(i, column) = 0.0;
      }
    }
    Rows left;
    left.e.resize(0, n_);
    left.g.resize(0, n_);
    left.c.resize(0, rows.c.cols());
    for (Eigen::Index i = known; i < rank; ++i) left.append(rows, i);
    for (Eigen::Index i = rank; i < total; ++i) add_constraint(rows, i, is_new);
    differential_ = std::move(left);
  }
  widen(differential_.c);
  widen(constraints_.c);
}

// Directions that no equation says anything about: how locked elements of a cycle share a torque.
// The least ones are taken.
void Reduction::settle_free_directions() {
  Eigen::MatrixXd all(differential_.count() + constraints_.count(), n_);
  all << differential_.e, constraints_.g;
  const Eigen::Index free = n_ - all.rows();
  if (free < 0) refuse("it has more equations than unknowns");
  if (free == 0) return;
  const FullLu lu(all, kZero);
  const Eigen::MatrixXd kernel = lu.kernel();
  if (lu.rank() != all.rows()) refuse("its ranks are in doubt");
  for (Eigen::Index j = 0; j < n_; ++j)
    if (is_differentiated_[static_cast<std::size_t>(j)] &&
        kernel.row(j).lpNorm<Eigen::Infinity>() > 1e-8)
      refuse(fmt::format("nothing determines '{}'", name_of(j)));
  Rows rows;
  rows.e = Eigen::MatrixXd::Zero(free, n_);
  rows.g = kernel.transpose();
  rows.c = Eigen::MatrixXd::Zero(free, static_cast<Eigen::Index>(inputs_.size()));
  bool is_new = false;
  for (Eigen::Index i = 0; i < free; ++i) add_constraint(rows, i, is_new);
}

// The constraints are solved for what is not differentiated, then for the rest; what remains are
// the states.
void Reduction::choose_states() {
  const Eigen::Index count = constraints_.count();
  std::vector<bool> is_solved(static_cast<std::size_t>(n_), false);
  Rows& rows = constraints_;
  for (Eigen::Index k = 0; k < count; ++k) {
    Eigen::Index row = 0, column = -1;
    for (const bool tries_differentiated : {false, true}) {
      double largest = 1e-8;
      for (Eigen::Index j = 0; j < n_; ++j) {
        if (is_solved[static_cast<std::size_t>(j)] ||
            is_differentiated_[static_cast<std::size_t>(j)] != tries_differentiated)
          continue;
        Eigen::Index i = 0;
        const double most = rows.g.col(j).tail(count - k).cwiseAbs().maxCoeff(&i);
        if (most <= largest) continue;
        largest = most;
        row = k + i;
        column = j;
      }
      if (column >= 0) break;
    }
    if (column < 0) refuse("its constraints do not determine its algebraic unknowns");
    is_solved[static_cast<std::size_t>(column)] = true;
    pivots_[static_cast<std::size_t>(k)] = column;
    rows.swap(k, row);
    const double pivot = rows.g(k, column);
    rows.g.row(k) /= pivot;
    rows.c.row(k) /= pivot;
    for (Eigen::Index i = 0; i < count; ++i) {
      const double f = rows.g(i, column);
      if (i == k || f == 0.0) continue;
      rows.g.row(i) -= f * rows.g.row(k);
      rows.c.row(i) -= f * rows.c.row(k);
      rows.g(i, column) = 0.0;
    }
  }
  for (Eigen::Index j = 0; j < n_; ++j)
    if (!is_solved[static_cast<std::size_t>(j)]) {
      if (!is_differentiated_[static_cast<std::size_t>(j)])
        refuse(fmt::format("nothing determines '{}'", name_of(j)));
      states_.push_back(j);
    }
}

void Reduction::solve() {
  const auto d = static_cast<Eigen::Index>(states_.size());
  if (d != differential_.count()) refuse("its ranks are in doubt");
  m_ = Eigen::MatrixXd::Zero(n_, d);
  s_ = Eigen::MatrixXd::Zero(n_, constraints_.c.cols());
  for (Eigen::Index k = 0; k < d; ++k) m_(states_[static_cast<std::size_t>(k)], k) = 1.0;
  for (Eigen::Index i = 0; i < constraints_.count(); ++i) {
    const Eigen::Index column = pivots_[static_cast<std::size_t>(i)];
    for (Eigen::Index k = 0; k < d; ++k)
      m_(column, k) = -constraints_.g(i, states_[static_cast<std::size_t>(k)]);
    s_.row(column) = -constraints_.c.row(i);
  }
  const auto drop_dust = [](Eigen::MatrixXd& m) {
    for (Eigen::Index i = 0; i < m.rows(); ++i) {
      if (m.cols() == 0) continue;
      const double dust = 1e-13 * m.row(i).lpNorm<Eigen::Infinity>();
      for (Eigen::Index j = 0; j < m.cols(); ++j)
        if (std::abs(m(i, j)) <= std::max(dust, 1e-14)) m(i, j) = 0.0;
    }
  };
  drop_dust(m_);
  drop_dust(s_);
  // E (m z' + s r') + G (m z + s r) + c r = 0; slopes of what is not differentiated cancel in E s.
  const Eigen::MatrixXd pushed = differentiated(differential_.e * s_);
  Eigen::MatrixXd moving = s_;
  for (Eigen::Index j = 0; j < n_; ++j)
    if (!is_differentiated_[static_cast<std::size_t>(j)]) moving.row(j).setZero();
  ds_ = differentiated(moving);
  for (Eigen::MatrixXd* c : {&s_, &ds_, &differential_.c, &original_.c}) widen(*c);
  Eigen::MatrixXd right = differential_.g * s_ + differential_.c;
  right.leftCols(pushed.cols()) += pushed;
  const FullLu mass(differential_.e * m_);
  if (d > 0 && (!mass.is_invertible() || mass.reciprocal_condition() < 1e-13))
    refuse("its ranks are in doubt");
  a_ = d > 0 ? Eigen::MatrixXd(-mass.solve_all(differential_.g * m_)) : Eigen::MatrixXd(0, 0);
  b_ = d > 0 ? Eigen::MatrixXd(-mass.solve_all(right)) : Eigen::MatrixXd(0, s_.cols());
  drop_dust(a_);
  drop_dust(b_);
  check_equations();
}

// The equations as written, with what was found put in, must vanish for all states and inputs.
void Reduction::check_equations() const {
  const Eigen::MatrixXd by_states = original_.e * m_ * a_ + original_.g * m_;
  const Eigen::MatrixXd by_inputs = original_.e * (m_ * b_ + ds_) + original_.g * s_ + original_.c;
  const double scale = 1.0 + a_.lpNorm<Eigen::Infinity>() + b_.lpNorm<Eigen::Infinity>();
  for (Eigen::Index i = 0; i < original_.count(); ++i)
    if (by_states.row(i).lpNorm<Eigen::Infinity>() > 1e-9 * scale ||
        !vanishes(by_inputs.row(i), 1e-9 * scale))
      refuse(written_.equation_names[static_cast<std::size_t>(i)] + " could not be met");
}

// Whether a combination of the inputs is zero for good: in every one that changes within the mode,
// and the sum of the others as they are now.
bool Reduction::vanishes(const Eigen::RowVectorXd& c, double zero) const {
  double sum = 0.0, size = 1.0;
  for (Eigen::Index k = 0; k < c.size(); ++k) {
    const double value = k < held_.size() ? held_[k] : std::nan("");
    if (std::isnan(value) && std::abs(c[k]) > zero) return false;
    if (std::isnan(value)) continue;
    sum += c[k] * value;
    size += std::abs(c[k] * value);
  }
  return std::abs(sum) <= 1e-7 * size;
}

Expr Reduction::combine(const Eigen::MatrixXd& z, const Eigen::MatrixXd& r, Eigen::Index row,
                        bool with_slopes) {
  Expr sum = 0.0;
  for (Eigen::Index k = 0; k < z.cols(); ++k) {
    if (z(row, k) == 0.0) continue;
    const auto j = static_cast<std::size_t>(states_[static_cast<std::size_t>(k)]);
    const Expr& symbol = with_slopes ? written_.derivatives[j] : written_.unknowns[j];
    sum += z(row, k) == 1.0 ? symbol : z(row, k) * symbol;
  }
  for (Eigen::Index k = 0; k < r.cols(); ++k)
    if (r(row, k) != 0.0) sum += r(row, k) * resolve(inputs_[static_cast<std::size_t>(k)]);
  return sum;
}

// Inputs that read unknowns: in terms of the states.
Expr Reduction::resolve(const Expr& a) {
  std::vector<Expr> from, to;
  for (const Expr& leaf : leaves_of(a)) {
    if (!leaf.is_variable()) continue;
    const auto found = place_.find(leaf.node()->index);
    if (found == place_.end()) continue;
    if (leaf.node()->order > 1)
      refuse(fmt::format("a hidden constraint reads {}", to_string(leaf)));
    from.push_back(leaf);
    to.push_back(leaf.node()->order == 0 ? value_formula(found->second)
                                         : slope_formula(found->second));
  }
  return from.empty() ? a : substitute(a, from, to);
}

const Expr& Reduction::value_formula(Eigen::Index j) {
  const auto known = values_.find(j);
  if (known != values_.end()) return known->second;
  if (std::exchange(in_progress_[j], true))
    refuse(fmt::format("'{}' depends on itself by equations that are not linear", name_of(j)));
  const Expr formula = combine(m_, s_, j, false);
  in_progress_[j] = false;
  return values_.emplace(j, formula).first->second;
}

const Expr& Reduction::slope_formula(Eigen::Index j) {
  const auto known = slopes_.find(j);
  if (known != slopes_.end()) return known->second;
  if (!is_differentiated_[static_cast<std::size_t>(j)])
    refuse(fmt::format("a hidden constraint reads der({})", name_of(j)));
  if (std::exchange(in_progress_[n_ + j], true))
    refuse(fmt::format("der({}) depends on itself by equations that are not linear", name_of(j)));
  const Expr formula = combine(m_, ds_, j, true);
  in_progress_[n_ + j] = false;
  return slopes_.emplace(j, formula).first->second;
}

ModeCore Reduction::core() {
  DaeDefinition def;
  for (std::size_t k = 0; k < states_.size(); ++k) {
    const auto j = static_cast<std::size_t>(states_[k]);
    const auto row = static_cast<Eigen::Index>(k);
    def.unknowns.push_back(written_.unknowns[j]);
    def.derivatives.push_back(written_.derivatives[j]);
    def.unknown_names.push_back(written_.unknown_names[j]);
    def.nominal.push_back(written_.nominal[j]);
    def.residuals.push_back(written_.derivatives[j] - combine(a_, b_, row, false));
    def.equation_names.push_back("motion of " + written_.unknown_names[j]);
  }
  def.time = written_.time;
  def.parameters = written_.parameters;
  def.held = written_.held;
  for (const Expr& leaf : leaves_of(def.residuals))
    if (leaf.is_slot() &&
        std::ranges::none_of(def.held, [&](const Expr& h) { return h.same_as(leaf); }))
      def.held.push_back(leaf);
  auto formulas = std::make_shared<std::unordered_map<const Node*, Expr>>();
  auto unknown = std::make_shared<std::unordered_map<std::size_t, bool>>();
  for (Eigen::Index j = 0; j < n_; ++j) {
    const auto place = static_cast<std::size_t>(j);
    unknown->emplace(unknowns_[place].index(), true);
    formulas->emplace(written_.unknowns[place].node(), value_formula(j));
    if (is_differentiated_[place])
      formulas->emplace(written_.derivatives[place].node(), slope_formula(j));
  }
  ModeCore core{
      name_, unknowns_, is_differentiated_, std::make_shared<const Dae>(std::move(def)), {}};
  core.frozen = frozen_;
  core.written = std::make_shared<const DaeDefinition>(written_);
  core.write = [formulas, unknown](const Expr& a) -> std::optional<Expr> {
    std::vector<Expr> from, to;
    for (const Expr& leaf : leaves_of(a)) {
      if (!leaf.is_variable() || !unknown->contains(leaf.node()->index)) continue;
      const auto formula = formulas->find(leaf.node());
      if (formula == formulas->end()) return std::nullopt;
      from.push_back(leaf);
      to.push_back(formula->second);
    }
    return from.empty() ? a : substitute(a, from, to);
  };
  return core;
}

}  // namespace

ModeCore core_by_numbers(const HybridSystem& system, const Mode& mode,
                         const std::vector<double>& parameters, const std::vector<double>& slots) {
  // A core for all values of the slots is better than one for those of now.
  try {
    return Reduction(system, mode, parameters, slots, false).core();
  } catch (const Error&) {
    return Reduction(system, mode, parameters, slots, true).core();
  }
}

}  // namespace saltus
