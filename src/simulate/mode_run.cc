#include "simulate/mode_run.h"

#include <numeric>

#include "integrate/ida.h"
#include "integrate/radau.h"

namespace saltus {
namespace {

IntegratorOptions integrator_options(const Dae& dae, const SimulateOptions& options,
                                     double tolerance) {
  IntegratorOptions result;
  result.tolerance = tolerance;
  result.first_step = options.first_step;
  result.max_step = options.max_step;
  for (const double nominal : dae.definition().nominal)
    result.absolute_tolerance.push_back(options.absolute_tolerance.value_or(tolerance * nominal));
  return result;
}

}  // namespace

ModeRun::ModeRun(const HybridSystem& system, ModeId id, const SimulateOptions& options,
                 double tolerance)
    : analysed_(analyse(system, id)),
      data_(analysed_->dae->make_data()),
      consistent_(*analysed_->dae),
      all_unknowns_(analysed_->unknowns.size()),
      x_(analysed_->unknowns.size()),
      dx_(analysed_->unknowns.size()) {
  const Dae& dae = *analysed_->dae;
  std::iota(all_unknowns_.begin(), all_unknowns_.end(), 0U);
  for (std::size_t i = 0; i < system.parameters().size(); ++i)
    data_.parameters[i] = system.parameters()[i].value;
  for (const Expr& symbol : dae.definition().held) held_.push_back(symbol.node()->variable());
  for (std::size_t j = 0; j < dae.unknown_count(); ++j)
    has_algebraic_ = has_algebraic_ || !dae.is_differential(j);

  const IntegratorOptions chosen = integrator_options(dae, options, tolerance);
  integrator_ = options.method == Method::kBdf ? make_ida(dae, data_, chosen)
                                               : std::make_unique<Radau>(dae, data_, chosen);
  watch_ = std::make_unique<GuardWatch>(*analysed_, data_);

  std::vector<std::vector<Expr>> inputs(4);
  inputs[0] = {system.time()};
  for (const Variable& v : system.variables()) {
    inputs[1].push_back(v.symbol);
    inputs[2].push_back(der(v.symbol));
  }
  for (const Parameter& p : system.parameters()) inputs[3].push_back(p.symbol);
  for (const Guard& guard : mode().guards) {
    std::vector<Expr> values;
    for (const Assignment& a : guard.set) values.push_back(a.value);
    transitions_.emplace_back(values, inputs);
    transition_registers_.push_back(transitions_.back().make_workspace());
  }
  report_.name = mode().name;
  report_.unknowns = analysed_->unknowns.size();
}

void ModeRun::gather(const SystemState& state) {
  for (std::size_t j = 0; j < x_.size(); ++j) {
    x_[j] = state.values[analysed_->unknowns[j].index()];
    dx_[j] = state.slopes[analysed_->unknowns[j].index()];
  }
  for (std::size_t i = 0; i < held_.size(); ++i) data_.held[i] = state.values[held_[i].index()];
}

void ModeRun::scatter(const std::vector<double>& x, const std::vector<double>& dx,
                      SystemState& state) const {
  for (std::size_t j = 0; j < x.size(); ++j) {
    state.values[analysed_->unknowns[j].index()] = x[j];
    state.slopes[analysed_->unknowns[j].index()] = dx[j];
  }
}

ConsistentOutcome ModeRun::make_consistent(double t, SystemState& state) {
  gather(state);
  const ConsistentOutcome outcome = consistent_.solve(data_, t, x_.data(), dx_.data());
  if (!outcome.ok()) return outcome;
  for (const VariableId id : held_) state.slopes[id.index()] = 0.0;
  scatter(x_, dx_, state);
  return outcome;
}

void ModeRun::restart(double t, const SystemState& state) {
  gather(state);
  integrator_->restart(t, x_, dx_, step_);
}

void ModeRun::read_point(SystemState& state) const {
  const auto x = integrator_->x();
  const auto dx = integrator_->dx();
  for (std::size_t j = 0; j < x.size(); ++j) {
    state.values[analysed_->unknowns[j].index()] = x[j];
    state.slopes[analysed_->unknowns[j].index()] = dx[j];
  }
}

void ModeRun::read_interpolated(double t, SystemState& state) {
  integrator_->interpolate(t, all_unknowns_, x_.data(), dx_.data());
  if (has_algebraic_) consistent_.solve(data_, t, x_.data(), dx_.data());
  scatter(x_, dx_, state);
}

void ModeRun::transition_values(std::size_t guard, double t, const SystemState& left,
                                std::vector<double>& values) {
  values.resize(transitions_[guard].output_count());
  const double* inputs[] = {&t, left.values.data(), left.slopes.data(), data_.parameters.data()};
  transitions_[guard].evaluate(inputs, transition_registers_[guard], values.data());
}

RankReport ModeRun::measure_ranks(double t, const SystemState& state) {
  gather(state);
  return saltus::measure_ranks(*analysed_->dae, data_, t, x_.data(), dx_.data());
}

}  // namespace saltus
