#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <vector>

#include "analysis/derivative_array.h"
#include "integrate/integrator.h"
#include "linalg/dense.h"

namespace saltus {

// Radau IIA on the derivative array (HM (25)), what GENDA is made for: at every node of the
// collocation
//   F_mu(t, x, y) = 0 with y = (x', ..., x^(mu+1)),   Z1^T F(t, x, D_h x) = 0
// by Gauss-Newton. With Z2 the left null space of M = dF_mu/dy, an iteration needs dx from
// Z2^T F_mu and Z1^T F, which are as many equations as unknowns, and dy = -M^+ (F_mu + N dx) of
// least norm. Nothing but numbers is asked for; dense. The integrator's unknowns are (x, y), as in
// ProjectedForm.
class DerivativeArrayMethod : public Integrator {
 public:
  // Pre: values.u = 0. `controlled`: by unknown of the mode. `data` must outlive the integrator.
  DerivativeArrayMethod(Graph& graph, const DaeDefinition& mode, const CharacteristicValues& values,
                        std::vector<bool> controlled, DaeData& data, IntegratorOptions options);

  void restart(double t, std::span<const double> x, std::span<const double> dx,
               double step) override;
  StepOutcome step(double limit) override;
  StepOutcome retake(double t) override;
  void interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                   double* dx) const override;

  int extension_degree() const override { return 3; }
  double previous_time() const override { return t0_; }
  double time() const override { return t1_; }
  std::span<const double> x() const override { return {z1_.data(), size()}; }
  std::span<const double> dx() const override { return {dz1_.data(), size()}; }
  double suggested_step() const override { return next_step_; }
  const IntegratorCounts& counts() const override { return counts_; }

 private:
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;
  using Index = Eigen::Index;

  std::size_t size() const { return static_cast<std::size_t>(z1_.size()); }
  bool linearize();  // at the start of the step; false if the ranks have changed
  void factor(double h);
  bool solve_stages(double t_end, double h, bool again = false);
  Vector evaluate(double t, const Vector& z);
  Vector change_of_derivatives(const Vector& array, const Vector& dx) const;
  void complete_derivatives();
  void settle_free_derivatives();
  void leave_out_free(Vector& z) const;
  double estimate_error(double h, bool filter);
  double defect(double h);
  void accept(double t_end, double h);
  void polish();
  double norm(const Vector& x) const;
  double choose_first_step(double limit) const;
  StepOutcome failure(StepStatus status) const;

  DerivativeArray array_;
  CharacteristicValues values_;
  Index m_, n_;
  std::vector<bool> controlled_;
  std::vector<bool> watched_;  // algebraic unknowns among them
  bool watches_algebraic_ = false;
  DaeData& data_;
  IntegratorOptions options_;
  double rtol_;
  Vector atol_, scale_;
  double newton_tolerance_;

  // At the point of linearization: Z1, Z2, the parts of the Jacobian, M scaled and decomposed.
  Matrix differential_, constraints_, by_x_, by_dx_, array_by_x_, scaled_higher_;
  std::optional<LeastNorm> higher_;
  Vector row_scale_, column_scale_;
  bool is_linearized_ = false;
  bool is_fresh_ = false;

  PartialLu stage_system_, error_system_;
  double factored_step_ = 0.0;

  double t0_ = 0.0;
  double t1_ = 0.0;
  double h_ = 0.0;
  Vector z0_, z1_, dz1_;
  std::array<Vector, 3> tried_, stages_;  // increments (x, y) of the step tried and the last one
  Vector error_;
  double theta_ = 0.0;
  bool not_finite_ = false;
  std::size_t bad_equation_ = 0;
  double next_step_ = 0.0;
  bool first_ = true;
  IntegratorCounts counts_;
};

}  // namespace saltus
