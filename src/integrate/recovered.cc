#include "integrate/recovered.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "integrate/collocation.h"

namespace saltus {
namespace {

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
      registers_(form.recover.make_workspace()),
      watched_scale_(1.0 / std::sqrt(options.tolerance)) {
  inner_ = std::make_unique<Radau>(core_, core_data_, core_options(form, options));
  const std::size_t whole = form.kept.size() + form.eliminated.size();
  for (auto* v : {&x0_, &x1_, &dx1_}) v->resize(whole);
  stages_.resize(3 * whole);
  recovered_.resize(form.eliminated.size());
  for (std::size_t k = 0; k < form.eliminated.size(); ++k)
    if (std::ranges::find(options.watched, form.eliminated[k]) != options.watched.end())
      watched_.push_back(k);
  for (auto* v : {&core_x_, &core_dx_, &zeros_}) v->assign(form.kept.size(), 0.0);
  if (!form.constant_mass || core_.equation_count() != core_.unknown_count()) return;
  const auto nonzeros = static_cast<std::size_t>(core_.pattern().nonzeros());
  std::vector<double> jacobian(2 * nonzeros);
  core_.jacobian(core_data_, 0.0, zeros_.data(), zeros_.data(), jacobian.data());
  mass_ = std::make_unique<LinearSolver<double>>(core_.pattern());
  if (mass_->factor(jacobian.data() + nonzeros)) {
    mass_->expect_many_solutions();
  } else {
    mass_.reset();
  }
}

void RecoveredRadau::restart(double t, std::span<const double> x, std::span<const double> dx,
                             double step) {
  core_data_.parameters = data_.parameters;
  std::copy_n(data_.held.begin(), core_data_.held.size(), core_data_.held.begin());
  for (std::size_t k = 0; k < form_.kept.size(); ++k) {
    core_x_[k] = x[form_.kept[k]];
    core_dx_[k] = dx[form_.kept[k]];
  }
  inner_->restart(t, core_x_, core_dx_, step);
  h_ = 0.0;
  std::copy(x.begin(), x.end(), x1_.begin());
  std::copy(dx.begin(), dx.end(), dx1_.begin());
}

StepOutcome RecoveredRadau::step(double limit) {
  const StepOutcome outcome = inner_->step(limit);
  if (!outcome.ok()) return translate(outcome);
  x0_ = x1_;
  expand();
  return resolve_watched();
}

// What guards read must show where it may cross zero: the step is shortened until the continuous
// extension of the eliminated unknowns follows their formulas.
StepOutcome RecoveredRadau::resolve_watched() {
  constexpr double kLargestShrink = 5.0;
  for (double defect = watched_defect(); defect > 1.0; defect = watched_defect()) {
    const double shrink = std::min(kLargestShrink, std::pow(defect, 0.25) / 0.9);
    const double t = inner_->previous_time() + h_ / shrink;
    if (!(t > inner_->previous_time())) break;
    const StepOutcome outcome = inner_->retake(t);
    if (!outcome.ok()) return translate(outcome);
    inner_->limit_next_step(h_ / shrink);
    expand();
  }
  return {};
}

double RecoveredRadau::watched_defect() {
  if (watched_.empty()) return 0.0;
  constexpr double kMiddle = 0.4;  // between the nodes
  const CollocationWeights w = radau_collocation().weights(kMiddle);
  const std::size_t whole = x1_.size();
  const auto between = [&](std::size_t j, const double(&weight)[3]) {
    return weight[0] * stages_[j] + weight[1] * stages_[whole + j] +
           weight[2] * stages_[2 * whole + j];
  };
  for (std::size_t k = 0; k < form_.kept.size(); ++k) {
    const std::size_t j = form_.kept[k];
    core_x_[k] = x0_[j] + between(j, w.value);
    core_dx_[k] = between(j, w.slope) / h_;
  }
  recover(inner_->previous_time() + kMiddle * h_, core_x_.data(), core_dx_.data());
  double defect = 0.0;
  for (const std::size_t k : watched_) {
    const std::size_t j = form_.eliminated[k];
    const double off = std::abs(recovered_[k] - x0_[j] - between(j, w.value));
    defect = std::max(defect, off * watched_scale_ / (form_.nominal[k] + std::abs(x0_[j])));
  }
  return defect;
}

StepOutcome RecoveredRadau::retake(double t) {
  const StepOutcome outcome = inner_->retake(t);
  if (!outcome.ok()) return translate(outcome);
  expand();
  return outcome;
}

StepOutcome RecoveredRadau::translate(StepOutcome outcome) const {
  outcome.index = outcome.status == StepStatus::kNotFinite ? form_.equations[outcome.index]
                                                           : form_.kept[outcome.index];
  return outcome;
}

void RecoveredRadau::recover(double t, const double* x, const double* dx) {
  const double* inputs[] = {&t, x, dx, core_data_.parameters.data(), core_data_.held.data()};
  form_.recover.evaluate(inputs, registers_, recovered_.data());
}

void RecoveredRadau::solve_slopes(double t) {
  core_.residual(core_data_, t, core_x_.data(), zeros_.data(), core_dx_.data());
  mass_->solve(core_dx_.data());
  for (double& slope : core_dx_) slope = -slope;
}

// The values of all unknowns at the nodes of the step just taken.
void RecoveredRadau::expand() {
  const Collocation& formula = radau_collocation();
  const std::size_t whole = x1_.size();
  const std::size_t n = form_.kept.size();
  const double t0 = inner_->previous_time();
  h_ = inner_->time() - t0;
  const std::span<const double> z = inner_->stages();
  const std::span<const double> end = inner_->x();
  for (int i = 0; i < 3; ++i) {
    double* stage = &stages_[static_cast<std::size_t>(i) * whole];
    for (std::size_t k = 0; k < n; ++k) {
      const double increment = z[static_cast<std::size_t>(i) * n + k];
      stage[form_.kept[k]] = increment;
      core_x_[k] = i == 2 ? end[k] : x0_[form_.kept[k]] + increment;
    }
    if (i == 2 && mass_ != nullptr) {
      solve_slopes(inner_->time());
    } else if (i == 2) {
      std::copy(inner_->dx().begin(), inner_->dx().end(), core_dx_.begin());
    } else if (form_.reads_slopes) {
      for (std::size_t k = 0; k < n; ++k)
        core_dx_[k] = (formula.inverse(i, 0) * z[k] + formula.inverse(i, 1) * z[n + k] +
                       formula.inverse(i, 2) * z[2 * n + k]) /
                      h_;
    }
    recover(i == 2 ? inner_->time() : t0 + formula.c[i] * h_, core_x_.data(), core_dx_.data());
    for (std::size_t k = 0; k < recovered_.size(); ++k) {
      const std::size_t j = form_.eliminated[k];
      stage[j] = recovered_[k] - x0_[j];
      if (i == 2) x1_[j] = recovered_[k];
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t j = form_.kept[k];
    x1_[j] = end[k];
    dx1_[j] = core_dx_[k];
  }
  for (const std::size_t j : form_.eliminated)
    dx1_[j] = (formula.inverse(2, 0) * stages_[j] + formula.inverse(2, 1) * stages_[whole + j] +
               formula.inverse(2, 2) * stages_[2 * whole + j]) /
              h_;
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
  const std::size_t whole = x1_.size();
  const CollocationWeights w =
      radau_collocation().weights(t == time() ? 1.0 : (t - previous_time()) / h_);
  for (const std::uint32_t j : unknowns) {
    const double z0 = stages_[j];
    const double z1 = stages_[whole + j];
    const double z2 = stages_[2 * whole + j];
    x[j] = x0_[j] + w.value[0] * z0 + w.value[1] * z1 + w.value[2] * z2;
    dx[j] = (w.slope[0] * z0 + w.slope[1] * z1 + w.slope[2] * z2) / h_;
  }
}

bool RecoveredRadau::interpolate_values(std::span<const double> times,
                                        std::span<const std::uint32_t> unknowns, double* x) const {
  if (h_ == 0.0) return false;
  collocation_values({previous_time(), time(), h_, x0_, stages_}, times, unknowns, x);
  return true;
}

// Interpolated states determine all else.
bool RecoveredRadau::interpolate_consistently(double t, double* x, double* dx) {
  if (mass_ == nullptr || h_ == 0.0) return false;
  const std::size_t whole = x1_.size();
  const CollocationWeights w =
      radau_collocation().weights(t == time() ? 1.0 : (t - previous_time()) / h_);
  for (std::size_t k = 0; k < form_.kept.size(); ++k) {
    const std::size_t j = form_.kept[k];
    core_x_[k] = x[j] = x0_[j] + w.value[0] * stages_[j] + w.value[1] * stages_[whole + j] +
                        w.value[2] * stages_[2 * whole + j];
  }
  solve_slopes(t);
  recover(t, core_x_.data(), core_dx_.data());
  for (std::size_t k = 0; k < form_.kept.size(); ++k) dx[form_.kept[k]] = core_dx_[k];
  for (std::size_t k = 0; k < recovered_.size(); ++k) {
    const std::size_t j = form_.eliminated[k];
    x[j] = recovered_[k];
    dx[j] = (w.slope[0] * stages_[j] + w.slope[1] * stages_[whole + j] +
             w.slope[2] * stages_[2 * whole + j]) /
            h_;
  }
  return true;
}

}  // namespace saltus
