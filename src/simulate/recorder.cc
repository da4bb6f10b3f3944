#include "simulate/recorder.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>

#include "expr/differentiate.h"
#include "expr/graph.h"
#include "model/build.h"

namespace saltus {
namespace {

void collect(const std::vector<EquationItem>& items, std::vector<Expr>& residuals) {
  for (const EquationItem& item : items) {
    if (const auto* equation = std::get_if<Equation>(&item.value))
      residuals.push_back(equation->residual());
    else
      for (const auto& branch : std::get<IfEquation>(item.value).branches)
        collect(branch, residuals);
  }
}

// What an equation that always holds says der(x) is: a variable, by the symbol of der(x). Not where
// x is reset: contacts at rest push what their resets change.
std::unordered_map<const Node*, Expr> named_slopes(const HybridSystem& system) {
  std::unordered_map<const Node*, Expr> result;
  if (system.flat() == nullptr) return result;
  const FlatModel& model = system.flat()->reduced;
  for (const EquationItem& item : model.equations) {
    const auto* equation = std::get_if<Equation>(&item.value);
    if (equation == nullptr) continue;
    const Expr* slope = &equation->equality.lhs;
    const Expr* value = &equation->equality.rhs;
    if (value->is_variable() && value->node()->order == 1) std::swap(slope, value);
    if (slope->is_variable() && slope->node()->order == 1 && value->is_variable() &&
        value->node()->order == 0)
      result.emplace(slope->node(), *value);
  }
  for (const Reinit& reinit : model.reinits)
    if (reinit.variable.is_variable()) result.erase(der(reinit.variable).node());
  return result;
}

}  // namespace

std::vector<VariableId> differentiated_variables(const HybridSystem& system) {
  std::vector<bool> found(system.variables().size(), false);
  std::vector<Expr> residuals;
  for (const Mode& mode : system.modes())
    for (const Equation& e : mode.equations) residuals.push_back(e.residual());
  if (system.flat() != nullptr) collect(system.flat()->reduced.equations, residuals);
  for (const Expr& leaf : leaves_of(residuals))
    if (leaf.is_variable() && leaf.node()->order > 0) found[leaf.node()->variable().index()] = true;
  std::vector<VariableId> ids;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i]) ids.emplace_back(i);
  return ids;
}

template <class Action>
void Recorder::tell_sink(const Action& action) {
  if (sink_ == nullptr || !failure_.empty()) return;
  try {
    action(*sink_);
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
}

Recorder::Recorder(const HybridSystem& system, double start, double stop, double interval,
                   ResultSink* sink)
    : system_(system), start_(start), stop_(stop), interval_(interval), sink_(sink) {
  for (const Variable& v : system.variables())
    if (!is_internal(v.name)) add_signal({v.name, v.unit, v.description}, v.symbol);
  const std::unordered_map<const Node*, Expr> slopes = named_slopes(system);
  for (const VariableId id : differentiated_variables(system)) {
    const Variable& v = system.variable(id);
    const auto named = slopes.find(der(v.symbol).node());
    add_signal({"der(" + v.name + ")", v.unit.empty() ? "" : v.unit + "/s", ""},
               named == slopes.end() ? der(v.symbol) : named->second);
  }
  for (const Derived& d : system.derived()) add_signal({d.name, d.unit, d.description}, d.value);
  for (const Parameter& p : system.parameters()) {
    trajectory_.parameters.push_back({p.name, p.unit, p.description});
    trajectory_.parameter_values.push_back(p.value);
  }
  variables_seen_ = system.variables().size();
  for (const Mode& mode : system.modes()) trajectory_.mode_names.push_back(mode.name);
  evaluate_constants();
  compile();
  tell_sink([&](ResultSink& to) { to.begin(trajectory_); });
  // Moving what is stored again and again would take as long as finding it.
  constexpr double kMostReserved = 4e6;  // numbers
  constexpr double kEvents = 100.0;      // both sides of them are stored
  const double points = 1.05 * (stop - start) / interval + 2.0 * kEvents;
  const double expected = points * static_cast<double>(columns_.size());
  if (sink == nullptr && expected <= kMostReserved)
    trajectory_.values.reserve(static_cast<std::size_t>(expected));
}

void Recorder::add_signal(SignalInfo info, const Expr& value) {
  using Source = Trajectory::Source;
  trajectory_.signals.push_back(std::move(info));
  if (value.is_number()) {
    trajectory_.sources.push_back({Source::kNoColumn, value.number()});
    return;
  }
  const std::vector<Expr> leaves = leaves_of(value);
  if (std::ranges::all_of(leaves, [](const Expr& leaf) { return leaf.is_parameter(); })) {
    constants_.emplace_back(trajectory_.sources.size(), value);
    trajectory_.sources.push_back({Source::kNoColumn, 0.0});
    return;
  }
  const bool is_negative = value.node()->op == Op::kNegate;
  const Expr stored = is_negative ? Expr(value.node()->children[0]) : value;
  const auto [found, is_new] = column_of_.try_emplace(stored.node(), columns_.size());
  if (is_new) columns_.push_back(stored);
  trajectory_.sources.push_back({found->second, is_negative ? -1.0 : 1.0});
}

void Recorder::watch_bounds(const std::vector<Bounds>& bounds, double tolerance) {
  for (const Bounds& b : bounds) {
    if (b.value.is_number()) continue;
    const bool is_negative = b.value.node()->op == Op::kNegate;
    const Node* stored = is_negative ? b.value.node()->children[0] : b.value.node();
    const auto column = column_of_.find(stored);
    if (column != column_of_.end())
      bounds_.add(b, column->second, is_negative ? -1.0 : 1.0, tolerance);
  }
}

void Recorder::evaluate_constants() {
  std::vector<Expr> formulas;
  for (const auto& [signal, formula] : constants_) formulas.push_back(formula);
  const Tape tape(formulas, state_inputs(system_), TapeCode::kInterpreted);
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> values(formulas.size());
  const double* inputs[] = {nullptr, nullptr, nullptr, trajectory_.parameter_values.data(),
                            nullptr};
  tape.evaluate(inputs, registers, values.data());
  for (std::size_t k = 0; k < values.size(); ++k)
    trajectory_.sources[constants_[k].first].factor = values[k];
  constants_.clear();
}

void Recorder::compile() {
  tape_ = Tape(columns_, state_inputs(system_));
  registers_ = tape_.make_workspace();
  row_.resize(columns_.size());
  trajectory_.columns = columns_.size();
}

void Recorder::follow_growth() {
  for (std::size_t i = trajectory_.mode_names.size(); i < system_.modes().size(); ++i)
    trajectory_.mode_names.push_back(system_.modes()[i].name);
  if (variables_seen_ == system_.variables().size()) return;
  const std::size_t old_width = columns_.size();
  for (; variables_seen_ < system_.variables().size(); ++variables_seen_) {
    const Variable& v = system_.variables()[variables_seen_];
    if (!is_internal(v.name)) add_signal({v.name, v.unit, v.description}, v.symbol);
  }
  if (columns_.size() == old_width) return;
  std::vector<double, LargePages<double>> wider(trajectory_.size() * columns_.size(),
                                                std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < trajectory_.size(); ++i)
    std::copy_n(trajectory_.values.begin() + static_cast<std::ptrdiff_t>(i * old_width), old_width,
                wider.begin() + static_cast<std::ptrdiff_t>(i * columns_.size()));
  trajectory_.values = std::move(wider);
  compile();
  tell_sink([&](ResultSink& to) { to.begin(trajectory_); });
}

// What occurs in no equation of a mode is no unknown there. What it held may be used again; it is
// no result.
const SystemState& Recorder::shown(ModeId mode, const SystemState& state) {
  if (system_.flat() == nullptr) return state;
  if (absent_.size() <= mode.index()) absent_.resize(mode.index() + 1);
  std::optional<std::vector<std::size_t>>& absent = absent_[mode.index()];
  if (!absent) {
    std::vector<bool> is_unknown(system_.variables().size(), false);
    for (const VariableId id : unknowns_of(system_, system_.modes()[mode.index()]))
      is_unknown[id.index()] = true;
    absent.emplace();
    for (std::size_t i = 0; i < is_unknown.size(); ++i)
      if (!is_unknown[i]) absent->push_back(i);
  }
  if (absent->empty()) return state;
  shown_ = state;
  for (const std::size_t i : *absent)
    shown_.values[i] = shown_.slopes[i] = std::numeric_limits<double>::quiet_NaN();
  return shown_;
}

void Recorder::store(double t, ModeId mode, const SystemState& at) {
  const SystemState& state = shown(mode, at);
  const double* inputs[] = {&t, state.values.data(), state.slopes.data(),
                            trajectory_.parameter_values.data(), state.slots.data()};
  tape_.evaluate(inputs, registers_, row_.data());
  store_row(t, mode);
}

void Recorder::store_row(double t, ModeId mode) {
  last_time_ = t;
  bounds_.look(t, row_.data());
  if (sink_ != nullptr) {
    tell_sink([&](ResultSink& to) { to.store(t, mode, row_.data()); });
    return;
  }
  trajectory_.time.push_back(t);
  trajectory_.mode.push_back(mode);
  trajectory_.values.insert(trajectory_.values.end(), row_.begin(), row_.end());
}

void Recorder::store_step(ModeRun& run, const SystemState& state, bool ends_in_event) {
  const double end = run.integrator().time();
  const ModeId mode = run.analysed().id;
  if (interval_ == 0.0) {
    if (end >= stop_ || ends_in_event) return;
    point_ = state;
    run.read_point(point_);
    store(end, mode, point_);
    return;
  }
  for (bool is_first = true;; is_first = false) {
    std::array<double, kLanes> times{};
    std::size_t count = 0;
    for (; count < kLanes; ++next_) {
      const double t = start_ + static_cast<double>(next_) * interval_;
      if (t >= stop_ || t > end || (t == end && ends_in_event)) break;
      if (t > run.integrator().previous_time()) times[count++] = t;
    }
    if (count == 0) return;
    if (is_first) begin_step(run, state);
    store_inside(run, times, count);
    if (count < kLanes) return;
  }
}

// Takes what does not change within the step.
void Recorder::begin_step(ModeRun& run, const SystemState& state) {
  formulas_ = run.columns(system_, columns_);
  if (formulas_ != nullptr) {
    formulas_->hold(shown(run.analysed().id, state));
  } else {
    point_ = state;
  }
}

// Up to four points within the step, by formulas where the mode has them.
void Recorder::store_inside(ModeRun& run, std::array<double, kLanes>& times, std::size_t count) {
  const ModeId mode = run.analysed().id;
  if (formulas_ == nullptr) {
    for (std::size_t k = 0; k < count; ++k) {
      run.read_interpolated(times[k], point_);
      store(times[k], mode, point_);
    }
    return;
  }
  std::fill(times.begin() + static_cast<std::ptrdiff_t>(count), times.end(), times[count - 1]);
  const double* values =
      formulas_->evaluate(run.integrator(), times, trajectory_.parameter_values.data());
  if (sink_ == nullptr) {
    append_rows(values, std::span(times).first(count), mode);
    return;
  }
  for (std::size_t lane = 0; lane < count; ++lane) {
    for (std::size_t k = 0; k < row_.size(); ++k) row_[k] = values[kLanes * k + lane];
    store_row(times[lane], mode);
  }
}

void Recorder::append_rows(const double* lanes, std::span<const double> times, ModeId mode) {
  const std::size_t width = row_.size();
  const std::size_t before = trajectory_.values.size();
  trajectory_.values.resize(before + times.size() * width);
  double* rows = trajectory_.values.data() + before;
  for (const double time : times) {
    trajectory_.time.push_back(time);
    trajectory_.mode.push_back(mode);
  }
  last_time_ = times.back();
  for (std::size_t lane = 0; lane < times.size(); ++lane, rows += width) {
    const double* from = lanes + lane;
    std::size_t k = 0;
    for (; k + 4 <= width; k += 4, from += 4 * kLanes) {
      const double four[] = {from[0], from[kLanes], from[2 * kLanes], from[3 * kLanes]};
      std::copy_n(four, 4, rows + k);
    }
    for (; k < width; ++k, from += kLanes) rows[k] = *from;
    bounds_.look(times[lane], rows);
  }
}

}  // namespace saltus
