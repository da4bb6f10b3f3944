#pragma once

#include <memory>
#include <vector>

#include "analysis/eliminate.h"
#include "integrate/radau.h"

namespace saltus {

// Integrates the core of an eliminated form by Radau IIA and shows all unknowns of the form it was
// made from: the eliminated ones are computed at the nodes of every accepted step, and the
// continuous extension goes through these values as it does for the others.
class RecoveredRadau : public Integrator {
 public:
  // `options`: by unknown of the whole form. `form` and `data` (of the whole form: parameters and
  // what is held) must outlive the integrator.
  RecoveredRadau(const EliminatedForm& form, const DaeData& data, const IntegratorOptions& options);

  void restart(double t, std::span<const double> x, std::span<const double> dx,
               double step) override;
  StepOutcome step(double limit) override;
  StepOutcome retake(double t) override;
  void interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                   double* dx) const override;
  bool interpolate_values(std::span<const double> times, std::span<const std::uint32_t> unknowns,
                          double* x) const override;
  bool interpolate_consistently(double t, double* x, double* dx) override;

  int extension_degree() const override { return inner_->extension_degree(); }
  double previous_time() const override { return inner_->previous_time(); }
  double time() const override { return inner_->time(); }
  std::span<const double> x() const override { return x1_; }
  std::span<const double> dx() const override { return dx1_; }
  double suggested_step() const override { return inner_->suggested_step(); }
  const IntegratorCounts& counts() const override { return inner_->counts(); }

 private:
  StepOutcome translate(StepOutcome outcome) const;
  StepOutcome resolve_watched();
  double watched_defect();
  void expand();
  void recover(double t, const double* x, const double* dx);  // into recovered_
  void solve_slopes(double t);                                // of core_x_ into core_dx_

  const EliminatedForm& form_;
  const Dae& core_;
  const DaeData& data_;
  DaeData core_data_;
  std::unique_ptr<Radau> inner_;
  std::unique_ptr<LinearSolver<double>> mass_;  // E of E x' + g(t, x) = 0; null: it is not so
  Tape::Workspace registers_;
  std::vector<std::size_t> watched_;  // places in `eliminated` of what guards read
  double watched_scale_;              // relative to the size of the unknown
  double h_ = 0.0;
  std::vector<double> x0_, x1_, dx1_;  // whole
  std::vector<double> stages_;         // increments at the nodes, whole
  std::vector<double> recovered_, core_x_, core_dx_, zeros_;
};

}  // namespace saltus
