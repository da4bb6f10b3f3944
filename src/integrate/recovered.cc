#include "integrate/recovered.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "expr/differentiate.h"
#include "integrate/collocation.h"

namespace saltus {
namespace {

// Between the nodes, where the extension of what guards read is compared with its formula.
constexpr double kMiddle = 0.4;

IntegratorOptions core_options(const EliminatedForm& form, const IntegratorOptions& options) {
  IntegratorOptions result = options;
  result.absolute_tolerance.clear();
  for (const std::size_t j : form.kept)
    result.absolute_tolerance.push_back(options.absolute_tolerance[j]);
  result.watched.clear();
  for (std::size_t k = 0; k < form.kept.size(); ++k)
    if (std::ranges::find(options.watched, form.kept[k]) != options.watched.end())
      result.watched.push_back(static_cast<std::uint32_t>(k));
  return result;
}

}  // namespace

RecoveredRadau::RecoveredRadau(const EliminatedForm& form, const DaeData& data,
                               const IntegratorOptions& options)
    : form_(form),
      core_(*form.core),
      data_(data),
      core_data_(core_.make_data()),
      watched_scale_(1.0 / std::sqrt(options.tolerance)) {
  inner_ = std::make_unique<Radau>(core_, core_data_, core_options(form, options));
  const std::size_t whole = form.kept.size() + form.eliminated.size();
  for (auto* v : {&x0_, &x1_, &dx1_}) v->resize(whole);
  stages_.resize(4 * whole);
  for (auto* v : {&core_x0_, &core_x_, &core_dx_, &zeros_}) v->assign(form.kept.size(), 0.0);
  for (auto* v : {&lanes_x_, &lanes_dx_, &lane_zeros_}) v->assign(kLanes * form.kept.size(), 0.0);
  factor_mass();
  choose_what_is_shown(options.watched);
}

void RecoveredRadau::factor_mass() {
  if (!form_.constant_mass || core_.equation_count() != core_.unknown_count()) return;
  const auto nonzeros = static_cast<std::size_t>(core_.pattern().nonzeros());
  std::vector<double> jacobian(2 * nonzeros);
  core_.jacobian(core_data_, 0.0, zeros_.data(), zeros_.data(), jacobian.data());
  std::vector<double> values(4 * nonzeros);
  for (std::size_t k = 0; k < nonzeros; ++k)
    values[4 * k] = values[4 * k + 1] = jacobian[nonzeros + k];
  mass_ = std::make_unique<StageSolver>(core_.pattern());
  if (mass_->factor(values.data())) {
    mass_->expect_many_solutions();
  } else {
    mass_.reset();
  }
}

// Where the core gives all else at any time, only what guards read.
void RecoveredRadau::choose_what_is_shown(const std::vector<std::uint32_t>& watched) {
  std::vector<Expr> formulas;
  is_shown_.assign(x1_.size(), false);
  for (const std::size_t j : form_.kept) is_shown_[j] = true;
  for (std::size_t k = 0; k < form_.eliminated.size(); ++k) {
    const bool is_watched = std::ranges::find(watched, form_.eliminated[k]) != watched.end();
    if (mass_ != nullptr && !is_watched) continue;
    if (is_watched) watched_.push_back({shown_.unknowns.size(), form_.nominal[k]});
    shown_.unknowns.push_back(form_.eliminated[k]);
    is_shown_[form_.eliminated[k]] = true;
    formulas.push_back(form_.formulas[k]);
  }
  prepare(shown_, formulas);
  if (mass_ == nullptr) return;
  all_.unknowns = form_.eliminated;
  prepare(all_, form_.formulas);
}

void RecoveredRadau::prepare(Recovery& recovery, const std::vector<Expr>& formulas) const {
  const DaeDefinition& core = core_.definition();
  const bool is_all = formulas.size() == form_.formulas.size();
  recovery.tape = is_all ? form_.recover : Tape(formulas, core.inputs());
  recovery.registers = recovery.tape.make_workspace();
  recovery.lanes = LaneTape(recovery.tape, {false, false, false, true, true});
  recovery.lane_registers = recovery.lanes.make_workspace();
  recovery.values.resize(kLanes * formulas.size());
  recovery.reads_slopes =
      is_all ? form_.reads_slopes : !jacobian(formulas, core.derivatives).empty();
}

void RecoveredRadau::take_held() {
  core_data_.parameters = data_.parameters;
  std::copy_n(data_.held.begin(), core_data_.held.size(), core_data_.held.begin());
}

void RecoveredRadau::restart(double t, std::span<const double> x, std::span<const double> dx,
                             double step) {
  take_held();
  for (std::size_t k = 0; k < form_.kept.size(); ++k) {
    core_x_[k] = x[form_.kept[k]];
    core_dx_[k] = dx[form_.kept[k]];
  }
  inner_->restart(t, core_x_, core_dx_, step);
  t0_ = t1_ = t;
  h_ = 0.0;
  std::copy(x.begin(), x.end(), x1_.begin());
  std::copy(dx.begin(), dx.end(), dx1_.begin());
  is_complete_ = true;
}

StepOutcome RecoveredRadau::step(double limit) {
  const StepOutcome outcome = inner_->step(limit);
  if (!outcome.ok()) return translate(outcome);
  for (std::size_t k = 0; k < form_.kept.size(); ++k)
    x0_[form_.kept[k]] = core_x0_[k] = x1_[form_.kept[k]];
  for (const std::size_t j : shown_.unknowns) x0_[j] = x1_[j];
  show_step();
  return resolve_watched();
}

// What guards read must show where it may cross zero: the step is shortened until the continuous
// extension of the eliminated unknowns follows their formulas.
StepOutcome RecoveredRadau::resolve_watched() {
  constexpr double kLargestShrink = 5.0;
  constexpr int kMostFailures = 8;
  int failures = 0;
  for (double defect = watched_defect(); defect > 1.0; defect = watched_defect()) {
    double shorter = h_ / std::min(kLargestShrink, std::pow(defect, 0.25) / 0.9);
    const double end = t0_ + shorter;
    if (!(end > t0_ && end < t1_)) break;  // a jump: time tells no shorter step apart
    StepOutcome outcome = inner_->retake(end);
    for (; !outcome.ok() && failures < kMostFailures; ++failures)
      outcome = inner_->retake(t0_ + (shorter /= kLargestShrink));
    if (!outcome.ok()) return translate(outcome);
    inner_->limit_next_step(shorter);
    show_step();
  }
  return {};
}

double RecoveredRadau::watched_defect() const {
  const CollocationWeights w = radau_collocation().weights(kMiddle);
  double defect = 0.0;
  for (const Watched& watched : watched_) {
    const std::size_t j = shown_.unknowns[watched.place];
    const double formula = shown_.values[kLanes * watched.place + 3];
    const double off = std::abs(formula - x0_[j] - w.value_of(&stages_[4 * j]));
    defect = std::max(defect, off * watched_scale_ / (watched.nominal + std::abs(x0_[j])));
  }
  return defect;
}

StepOutcome RecoveredRadau::retake(double t) {
  const StepOutcome outcome = inner_->retake(t);
  if (!outcome.ok()) return translate(outcome);
  show_step();
  return outcome;
}

StepOutcome RecoveredRadau::translate(StepOutcome outcome) const {
  outcome.index = outcome.status == StepStatus::kNotFinite ? form_.equations[outcome.index]
                                                           : form_.kept[outcome.index];
  return outcome;
}

void RecoveredRadau::recover(Recovery& recovery, double t, const double* x,
                             const double* dx) const {
  const double* inputs[] = {&t, x, dx, core_data_.parameters.data(), core_data_.held.data()};
  recovery.tape.evaluate(inputs, recovery.registers, recovery.values.data());
}

void RecoveredRadau::solve_slopes(double t, const double* x, double* dx) const {
  core_.residual(core_data_, t, x, zeros_.data(), dx);
  mass_->solve_real(dx);
  for (std::size_t k = 0; k < form_.kept.size(); ++k) dx[k] = -dx[k];
}

// The step just taken, in what is shown at every one.
void RecoveredRadau::show_step() {
  t0_ = inner_->previous_time();
  t1_ = inner_->time();
  h_ = t1_ - t0_;
  const std::span<const double> z = inner_->stages();
  const std::span<const double> end = inner_->x();
  for (std::size_t k = 0; k < form_.kept.size(); ++k) {
    const std::size_t j = form_.kept[k];
    std::copy_n(&z[4 * k], 4, &stages_[4 * j]);
    x1_[j] = end[k];
  }
  show(shown_, kMiddle);
  is_complete_ = false;
  if (mass_ == nullptr) complete_step();
}

// The values of eliminated unknowns at the nodes of the step, and, as a fourth, at another fraction
// of it; with 0, that is where x0_ comes from.
void RecoveredRadau::show(Recovery& recovery, double fourth) const {
  if (recovery.unknowns.empty()) return;
  const Collocation& formula = radau_collocation();
  const CollocationWeights w = formula.weights(fourth);
  const std::size_t n = form_.kept.size();
  const std::array times = {t0_ + formula.c[0] * h_, t0_ + formula.c[1] * h_, t1_,
                            t0_ + fourth * h_};
  const StageKernels::Matrix at_nodes = {
      {{1.0, 0.0, 0.0, w.value[0]}, {0.0, 1.0, 0.0, w.value[1]}, {0.0, 0.0, 1.0, w.value[2]}}};
  evaluate_core(at_nodes, lanes_x_.data());
  for (std::size_t k = 0; k < n; ++k) lanes_x_[kLanes * k + 2] = core_x_[k] = x1_[form_.kept[k]];
  if (recovery.reads_slopes) {
    find_end_slopes();
    StageKernels::Matrix to_slopes{};
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) to_slopes.column[j][i] = formula.inverse(i, j) / h_;
      to_slopes.column[j][3] = w.slope[j] / h_;
    }
    stage_kernels().multiply(n, to_slopes, inner_->stages().data(), lanes_dx_.data());
    for (std::size_t k = 0; k < n; ++k) lanes_dx_[kLanes * k + 2] = core_dx_[k];
    if (fourth == 0.0) {
      for (std::size_t k = 0; k < n; ++k) core_x_[k] = x0_[form_.kept[k]];
      solve_slopes(t0_, core_x_.data(), core_dx_.data());
      for (std::size_t k = 0; k < n; ++k) lanes_dx_[kLanes * k + 3] = core_dx_[k];
    }
  }
  const double* inputs[] = {times.data(), lanes_x_.data(), lanes_dx_.data(),
                            core_data_.parameters.data(), core_data_.held.data()};
  recovery.lanes.evaluate(inputs, recovery.lane_registers, recovery.values.data());
  for (std::size_t k = 0; k < recovery.unknowns.size(); ++k) {
    const std::size_t j = recovery.unknowns[k];
    const double* values = &recovery.values[kLanes * k];
    if (fourth == 0.0) x0_[j] = values[3];
    for (std::size_t i = 0; i < 3; ++i) stages_[4 * j + i] = values[i] - x0_[j];
    x1_[j] = values[2];
  }
}

// Of the core, whose values there are in core_x_.
void RecoveredRadau::find_end_slopes() const {
  if (mass_ != nullptr) {
    solve_slopes(t1_, core_x_.data(), core_dx_.data());
  } else {
    std::copy(inner_->dx().begin(), inner_->dx().end(), core_dx_.begin());
  }
}

// All unknowns of the step just taken, and the slopes at its end.
void RecoveredRadau::complete_step() const {
  if (is_complete_) return;
  is_complete_ = true;
  show(all_, 0.0);
  for (std::size_t k = 0; k < form_.kept.size(); ++k) core_x_[k] = x1_[form_.kept[k]];
  find_end_slopes();
  for (std::size_t k = 0; k < form_.kept.size(); ++k) dx1_[form_.kept[k]] = core_dx_[k];
  const Collocation& formula = radau_collocation();
  for (const std::size_t j : form_.eliminated) {
    const double* z = &stages_[4 * j];
    dx1_[j] = (formula.inverse(2, 0) * z[0] + formula.inverse(2, 1) * z[1] +
               formula.inverse(2, 2) * z[2]) /
              h_;
  }
}

std::span<const double> RecoveredRadau::x() const {
  complete_step();
  return x1_;
}

std::span<const double> RecoveredRadau::dx() const {
  complete_step();
  return dx1_;
}

CollocationWeights RecoveredRadau::weights_at(double t) const {
  return radau_collocation().weights(t == t1_ ? 1.0 : (t - t0_) / h_);
}

void RecoveredRadau::interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                                 double* dx) const {
  if (h_ == 0.0) {
    for (const std::uint32_t j : unknowns) {
      x[j] = x1_[j];
      dx[j] = dx1_[j];
    }
    return;
  }
  if (!std::ranges::all_of(unknowns, [this](std::uint32_t j) { return is_shown_[j]; }))
    complete_step();
  const CollocationWeights w = weights_at(t);
  for (const std::uint32_t j : unknowns) {
    const double* z = &stages_[4 * std::size_t{j}];
    x[j] = x0_[j] + w.value_of(z);
    dx[j] = w.slope_of(z) / h_;
  }
}

bool RecoveredRadau::interpolate_lanes(std::span<const double, 4> times,
                                       std::span<const std::uint32_t> unknowns, double* x) const {
  if (h_ == 0.0) return false;
  if (!std::ranges::all_of(unknowns, [this](std::uint32_t j) { return is_shown_[j]; }))
    complete_step();
  collocation_lanes({t0_, t1_, h_, x0_, stages_}, times, unknowns, x);
  return true;
}

// The core at four times of the step, four numbers an unknown.
void RecoveredRadau::interpolate_core(std::span<const double, 4> times, double* x) const {
  const CollocationStep step{t0_, t1_, h_, core_x0_, inner_->stages()};
  evaluate_core(radau_collocation().value_weights(fractions_of(step, times)), x);
}

void RecoveredRadau::evaluate_core(const StageKernels::Matrix& weights, double* x) const {
  const StageKernels& kernels = stage_kernels();
  kernels.multiply(core_x0_.size(), weights, inner_->stages().data(), x);
  kernels.add_start(core_x0_.size(), core_x0_.data(), x, x);
}

bool RecoveredRadau::interpolate_states(std::span<const double, 4> times, double* x, double* dx) {
  if (mass_ == nullptr || h_ == 0.0) return false;
  interpolate_core(times, x);
  core_.residual_lanes(core_data_, times.data(), x, lane_zeros_.data(), dx);
  mass_->solve_real_lanes(dx);
  for (std::size_t k = 0; k < lane_zeros_.size(); ++k) dx[k] = -dx[k];
  return true;
}

// Interpolated states determine all else.
bool RecoveredRadau::interpolate_consistently(double t, double* x, double* dx) {
  if (mass_ == nullptr || h_ == 0.0) return false;
  complete_step();
  const CollocationWeights w = weights_at(t);
  for (std::size_t k = 0; k < form_.kept.size(); ++k)
    core_x_[k] = x0_[form_.kept[k]] + w.value_of(&stages_[4 * form_.kept[k]]);
  solve_slopes(t, core_x_.data(), core_dx_.data());
  recover(all_, t, core_x_.data(), core_dx_.data());
  for (std::size_t k = 0; k < form_.kept.size(); ++k) {
    x[form_.kept[k]] = core_x_[k];
    dx[form_.kept[k]] = core_dx_[k];
  }
  for (std::size_t k = 0; k < all_.unknowns.size(); ++k) {
    const std::size_t j = all_.unknowns[k];
    x[j] = all_.values[k];
    dx[j] = w.slope_of(&stages_[4 * j]) / h_;
  }
  return true;
}

bool RecoveredRadau::complete(double t, double* x, double* dx) {
  if (mass_ == nullptr) return false;
  complete_step();  // with what is held there
  take_held();
  for (std::size_t k = 0; k < form_.kept.size(); ++k) core_x_[k] = x[form_.kept[k]];
  solve_slopes(t, core_x_.data(), core_dx_.data());
  recover(all_, t, core_x_.data(), core_dx_.data());
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(core_dx_, finite) ||
      !std::all_of(all_.values.begin(),
                   all_.values.begin() + static_cast<std::ptrdiff_t>(all_.unknowns.size()), finite))
    return false;
  for (std::size_t k = 0; k < form_.kept.size(); ++k) dx[form_.kept[k]] = core_dx_[k];
  for (std::size_t k = 0; k < all_.unknowns.size(); ++k) x[all_.unknowns[k]] = all_.values[k];
  return true;
}

}  // namespace saltus
