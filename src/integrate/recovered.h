#pragma once

#include <memory>
#include <vector>

#include "analysis/eliminate.h"
#include "expr/lane_tape.h"
#include "integrate/collocation.h"
#include "integrate/radau.h"

namespace saltus {

// Integrates the core of an eliminated form by Radau IIA and shows all unknowns of the form it was
// made from. The eliminated ones are computed at the nodes of a step, and the continuous extension
// goes through these values as it does for the others: those that guards read at every accepted
// step, the rest when somebody asks for them.
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
  bool interpolate_lanes(std::span<const double, 4> times, std::span<const std::uint32_t> unknowns,
                         double* x) const override;
  bool gives_all_else() const override { return mass_ != nullptr; }
  bool interpolate_consistently(double t, double* x, double* dx) override;
  bool interpolate_states(std::span<const double, 4> times, double* x, double* dx) override;
  bool complete(double t, double* x, double* dx) override;

  int extension_degree() const override { return inner_->extension_degree(); }
  double previous_time() const override { return inner_->previous_time(); }
  double time() const override { return inner_->time(); }
  std::span<const double> x() const override;
  std::span<const double> dx() const override;
  double suggested_step() const override { return inner_->suggested_step(); }
  const IntegratorCounts& counts() const override { return inner_->counts(); }

 private:
  // Eliminated unknowns and the formulas that give them, at one point or at four.
  struct Recovery {
    std::vector<std::size_t> unknowns;  // their places in the whole form
    bool reads_slopes = false;
    Tape tape;
    Tape::Workspace registers;
    LaneTape lanes;
    LaneTape::Workspace lane_registers;
    std::vector<double> values;  // four an unknown, or one
  };
  // What guards read.
  struct Watched {
    std::size_t place;  // among what is shown
    double nominal;
  };

  void factor_mass();
  void choose_what_is_shown(const std::vector<std::uint32_t>& watched);
  void prepare(Recovery& recovery, const std::vector<Expr>& formulas) const;
  void take_held();
  StepOutcome translate(StepOutcome outcome) const;
  StepOutcome resolve_watched();
  double watched_defect() const;
  void show_step();
  void show(Recovery& recovery, double fourth) const;
  void complete_step() const;
  void find_end_slopes() const;
  void recover(Recovery& recovery, double t, const double* x, const double* dx) const;
  void solve_slopes(double t, const double* x, double* dx) const;  // of the core, by E and g
  CollocationWeights weights_at(double t) const;
  void interpolate_core(std::span<const double, 4> times, double* x) const;
  void evaluate_core(const StageKernels::Matrix& weights, double* x) const;

  const EliminatedForm& form_;
  const Dae& core_;
  const DaeData& data_;
  mutable DaeData core_data_;
  std::unique_ptr<Radau> inner_;
  std::unique_ptr<StageSolver> mass_;  // real: E of E x' + g(t, x) = 0; null: it is not so
  Recovery shown_;                     // at every step
  mutable Recovery all_;               // where that is not all: on demand
  std::vector<bool> is_shown_;         // by unknown
  std::vector<Watched> watched_;
  double watched_scale_;                       // relative to the size of the unknown
  mutable bool is_complete_ = true;            // see complete_step()
  double t0_ = 0.0, t1_ = 0.0, h_ = 0.0;       // of the last accepted step; h_ = 0: none
  mutable std::vector<double> x0_, x1_, dx1_;  // whole
  mutable std::vector<double> stages_;         // increments at the nodes, whole
  std::vector<double> core_x0_;
  mutable std::vector<double> core_x_, core_dx_, lanes_x_, lanes_dx_;
  std::vector<double> zeros_, lane_zeros_;
};

}  // namespace saltus
