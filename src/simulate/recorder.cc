#include "simulate/recorder.h"

#include <algorithm>

#include "expr/differentiate.h"

namespace saltus {
namespace {

// Variables whose derivative occurs in some mode, in order of declaration.
std::vector<VariableId> differentiated(const HybridSystem& system) {
  std::vector<bool> found(system.variables().size(), false);
  std::vector<Expr> residuals;
  for (const Mode& mode : system.modes())
    for (const Equation& e : mode.equations) residuals.push_back(e.residual());
  for (const Expr& leaf : leaves_of(residuals))
    if (leaf.is_variable() && leaf.node()->order > 0) found[leaf.node()->variable().index()] = true;
  std::vector<VariableId> ids;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i]) ids.emplace_back(i);
  return ids;
}

}  // namespace

Recorder::Recorder(const HybridSystem& system, double start, double stop, double interval,
                   ResultSink* sink)
    : start_(start),
      stop_(stop),
      interval_(interval),
      sink_(sink),
      with_slope_(differentiated(system)) {
  point_.values.resize(system.variables().size());
  point_.slopes.resize(system.variables().size());
  for (const Variable& v : system.variables())
    trajectory_.signals.push_back({v.name, v.unit, v.description});
  for (const VariableId id : with_slope_) {
    const Variable& v = system.variable(id);
    trajectory_.signals.push_back({"der(" + v.name + ")", v.unit.empty() ? "" : v.unit + "/s", ""});
  }
  for (const Parameter& p : system.parameters()) {
    trajectory_.parameters.push_back({p.name, p.unit, p.description});
    trajectory_.parameter_values.push_back(p.value);
  }
  for (const Mode& mode : system.modes()) trajectory_.mode_names.push_back(mode.name);
  row_.resize(trajectory_.signals.size());
}

void Recorder::store(double t, ModeId mode, const SystemState& state) {
  std::copy(state.values.begin(), state.values.end(), row_.begin());
  std::size_t column = state.values.size();
  for (const VariableId id : with_slope_) row_[column++] = state.slopes[id.index()];
  if (sink_ != nullptr) {
    sink_->store(t, mode, row_.data());
    return;
  }
  trajectory_.time.push_back(t);
  trajectory_.mode.push_back(mode);
  trajectory_.values.insert(trajectory_.values.end(), row_.begin(), row_.end());
}

void Recorder::store_step(ModeRun& run, const SystemState& state, bool ends_in_event) {
  const double end = run.integrator().time();
  const ModeId mode = run.analysed().id;
  point_ = state;
  if (interval_ == 0.0) {
    run.read_point(point_);
    if (end < stop_ && !ends_in_event) store(end, mode, point_);
    return;
  }
  for (;; ++next_) {
    const double t = start_ + static_cast<double>(next_) * interval_;
    if (t >= stop_ || t > end || (t == end && ends_in_event)) return;
    if (t <= run.integrator().previous_time()) continue;
    run.read_interpolated(t, point_);
    store(t, mode, point_);
  }
}

}  // namespace saltus
