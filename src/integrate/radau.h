#pragma once

#include <memory>
#include <vector>

#include "integrate/integrator.h"
#include "integrate/stage_kernels.h"
#include "linalg/stage_solver.h"

namespace saltus {

// Radau IIA collocation with 3 stages, order 5, for F(t, x, x') = 0 (Hairer & Wanner II, IV.8,
// written for implicit systems). With Z_i the stage increments, the stage derivatives are X'_i =
// (A^-1 Z)_i / h and Newton solves
//   (A^-1 / h (x) F_x' + I (x) F_x) dZ = -F(t_i, x_0 + Z_i, X'_i),
// decoupled by the eigenvectors of A^-1 into one real and one complex system of size n.
// Stiffly accurate: the end point satisfies the equations, algebraic ones included.
class Radau : public Integrator {
 public:
  // `dae` and `data` must outlive the integrator.
  Radau(const Dae& dae, DaeData& data, IntegratorOptions options);

  void restart(double t, std::span<const double> x, std::span<const double> dx,
               double step) override;
  StepOutcome step(double limit) override;
  void pass_kink() override { is_after_kink_ = true; }
  StepOutcome retake(double t) override;
  void interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                   double* dx) const override;
  bool interpolate_lanes(std::span<const double, 4> times, std::span<const std::uint32_t> unknowns,
                         double* x) const override;

  int extension_degree() const override { return 3; }
  double previous_time() const override { return t0_; }
  double time() const override { return t1_; }
  std::span<const double> x() const override { return x1_; }
  std::span<const double> dx() const override { return dx1_; }
  double suggested_step() const override { return next_step_; }
  void limit_next_step(double longest) { next_step_ = std::min(next_step_, longest); }
  const IntegratorCounts& counts() const override { return counts_; }
  // What the error control compares with at this tolerance.
  static double control_tolerance(double tolerance);
  // Increments of the unknowns at the three nodes of the last accepted step, four numbers an
  // unknown (see StageKernels).
  std::span<const double> stages() const { return stages_; }

 private:
  enum class NewtonResult { kConverged, kTooSlow, kDiverged, kNotFinite };

  void begin_step();
  void weigh(double h);
  void evaluate_jacobian();
  bool factor(double h);
  void solve_real(double* b) const;
  void solve_both();
  void predict(double h);
  void guess_again(double h);
  void follow_slope(double h);
  NewtonResult solve_stages(double t_end, double h);
  double estimate_error(double h, bool filter);
  double estimate_defect(double h);
  void accept(double t_end, double h);
  void polish(double h);
  struct Rejected {  // a step that was too long
    double step = 0.0, error = 0.0;
  };
  static double step_by_order(double h, double error, const Rejected& before);
  bool is_jump(double h, double error, const Rejected& rejected) const;
  double short_step() const;
  void find_readings();
  bool solve_without_readings(double t_end, double h);
  bool settle_readings(double t_end, double h);
  void evaluate_stages(double t_end, double h);
  StepOutcome cross_jump(double t_end, double h, double natural_step);
  double next_step_size(double h, double error);
  double choose_first_step(double limit) const;
  double norm(const double* v) const;
  double slack_of_uncontrolled(double h) const;
  // Not weighed by its level already.
  bool is_slack(std::size_t j) const {
    return control_[j] == 0.0 && (levels_.empty() || levels_[j] == 0);
  }
  std::size_t largest_error() const;
  StepOutcome give_up(NewtonResult newton, bool singular) const;

  const Dae& dae_;
  DaeData& data_;
  IntegratorOptions options_;
  std::size_t n_;  // unknowns
  std::size_t m_;  // equations; more than unknowns are solved in the least-squares sense
  double rtol_;    // internal tolerances, see radau.cc
  std::vector<double> atol_;
  double newton_tolerance_;
  double watched_scale_;
  std::vector<double> control_;  // 1 for unknowns the error control looks at, 0 for others
  double control_count_ = 0.0;
  std::vector<int> levels_;  // empty: 0 for all
  bool has_constraints_ = false;

  const StageKernels& kernels_ = stage_kernels();
  StageSolver solver_;
  std::vector<double> jacobian_;  // dF/dx, then dF/dx'
  std::vector<double> values_;    // of both matrices
  struct Entry {
    std::uint32_t row, column, place;
  };
  std::vector<Entry> derivative_entries_;         // of dF/dx' that may be other than zero
  std::vector<std::uint32_t> derivative_places_;  // theirs
  // An unknown that nothing depends on but other readings, and its equation.
  struct Reading {
    std::size_t unknown, row, place;
    int level;  // above those it depends on
  };
  std::vector<Reading> readings_;  // by level
  std::vector<bool> is_reading_;
  bool leaves_readings_ = false;  // out of Newton's measure
  bool is_spread_ = false;        // the Jacobian, in values_
  double factored_step_ = 0.0;    // 0: no valid factorization
  bool jacobian_is_fresh_ = false;
  bool reuse_jacobian_ = false;

  // The last accepted step goes from (t0_, x0_, dx0_) over h_ to (t1_, x1_, dx1_).
  double t0_ = 0.0;
  double t1_ = 0.0;
  double h_ = 0.0;
  std::vector<double> x0_, dx0_, x1_, dx1_;
  // Four numbers an unknown or equation, see StageKernels.
  std::vector<double> stages_;  // its increments Z_1, Z_2, Z_3
  std::vector<double> z_;       // those of the step being tried
  std::vector<double> update_, residual_, both_, stages_x_, stages_dx_;
  // One number.
  std::vector<double> point_x_, point_dx_, scale_, newton_weights_, error_, work_;

  bool first_ = true;            // no step accepted since the restart
  bool is_after_kink_ = false;   // the step under way begins at one
  double longest_step_ = 0.0;    // natural before steps were cut; forgotten slowly
  int jumps_ = 0;                // one after the other
  bool step_was_given_ = false;  // the first step is remembered, not guessed
  double next_step_ = 0.0;
  double accepted_step_ = 0.0;    // step and error of the last accepted step, for the predictive
  double accepted_error_ = 1e-2;  // controller
  double contraction_ = 1.0;      // Newton's theta / (1 - theta), remembered over steps
  double theta_ = 0.0;
  int iterations_ = 0;
  double newton_shrink_ = 0.5;  // factor on h that a slow Newton iteration asks for
  std::size_t bad_equation_ = 0;
  IntegratorCounts counts_;
};

}  // namespace saltus
