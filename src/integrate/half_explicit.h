#pragma once

#include <array>
#include <vector>

#include "analysis/consistent.h"
#include "analysis/formulations.h"
#include "integrate/integrator.h"
#include "linalg/linear_solver.h"

namespace saltus {

// Half-explicit Runge-Kutta method of order 3 (Brasey and Hairer; Hairer & Wanner II, VII.6) for
// p' = Z(p) v, M v' = f - G^T lambda with constraints on velocity level, what MEXAX is made for:
// positions and velocities are explicit, the multipliers of a stage are those with which the next
// stage satisfies g' = 0,
//   ( M  G(P_i)^T ) ( V_i'    )
//   ( G(P_i+1)  0 ) ( Lambda_i ) = ...,
// so that a linear system a stage is all there is to solve. Then the same matrix projects the
// positions onto g = 0 and the velocities onto g' = 0, along M^-1 G^T, and slopes and multipliers
// at the end follow from g'' = 0. Explicit: fast where nothing is stiff.
class HalfExplicit : public Integrator {
 public:
  // `dae` has the rows that formulate_levels() makes; without constraints any system of index 0 or
  // 1. `dae` and `data` must outlive the integrator.
  HalfExplicit(const Dae& dae, DaeData& data, IntegratorOptions options, const LevelRows& rows);

  void restart(double t, std::span<const double> x, std::span<const double> dx,
               double step) override;
  StepOutcome step(double limit) override;
  StepOutcome retake(double t) override;
  void interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                   double* dx) const override;

  int extension_degree() const override { return 3; }
  double previous_time() const override { return t0_; }
  double time() const override { return t1_; }
  std::span<const double> x() const override { return x1_; }
  std::span<const double> dx() const override { return dx1_; }
  double suggested_step() const override { return next_step_; }
  const IntegratorCounts& counts() const override { return counts_; }

 private:
  static constexpr std::size_t kStages = 3;

  StepOutcome attempt(double t_end, double h);
  StepOutcome solve_stage(std::size_t stage, double t_end, double h);
  StepOutcome project(double t);
  double project_positions(double t);
  void stand_at(double t);
  bool update_matrix(double t, const double* x, const double* dx, double t_next,
                     const double* x_next);
  double estimate_error(double h);
  void limit_by_stability();
  double choose_first_step(double limit) const;
  void make_inner_points() const;
  void solve_at(double s, std::vector<double>& x) const;
  void hermite(std::size_t j, double s, double* x, double* dx) const;
  void lagrange(std::size_t j, double s, double* x, double* dx) const;

  Dae square_, motion_, velocity_, position_;
  LevelRows rows_;
  DaeData& data_;
  IntegratorOptions options_;
  std::size_t n_;                   // unknowns
  std::size_t motion_rows_;         // without constraints; those on velocity level make up the rest
  std::vector<bool> differential_;  // by unknown
  std::vector<bool> is_position_;   // by unknown: in a constraint on position level
  std::vector<bool> controlled_;    // by unknown
  bool watches_algebraic_ = false;  // the error control looks at an unknown that is not integrated
  mutable ConsistentSolver consistent_;  // slopes and multipliers from positions and velocities

  // The matrix of a stage: motion rows by x' (what is integrated) or x, then constraints by x.
  Pattern pattern_;
  std::vector<std::size_t> places_;  // of its entries among motion_jacobian_, velocity_jacobian_
  LinearSolver<double> solver_;
  std::vector<double> motion_jacobian_, velocity_jacobian_, matrix_, factored_;
  bool is_factored_ = false;

  double t0_ = 0.0;
  double t1_ = 0.0;
  std::vector<double> x0_, dx0_, x1_, dx1_;
  std::vector<double> new_x_, new_dx_;  // the end of the step being tried
  std::array<std::vector<double>, kStages> slopes_;
  std::vector<double> stage_x_, next_x_, middle_x_, last_stage_x_, residual_, constraint_, scale_,
      error_;

  // Algebraic unknowns at two inner points of the last step, made when first asked for.
  mutable bool has_inner_points_ = false;
  mutable std::array<std::vector<double>, 2> inner_x_;
  mutable std::vector<double> inner_dx_;

  double next_step_ = 0.0;
  double stable_step_ = 0.0;  // no longer than this where something is stiff
  bool first_ = true;
  IntegratorCounts counts_;
};

}  // namespace saltus
