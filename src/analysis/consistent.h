#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <vector>

#include "linalg/linear_solver.h"
#include "model/dae.h"

namespace saltus {

enum class ConsistentStatus { kSolved, kNotConverged, kNotFinite };

// `index`: the equation that stays unsatisfied or is not finite.
struct ConsistentOutcome {
  ConsistentStatus status = ConsistentStatus::kSolved;
  std::size_t index = 0;
  bool ok() const { return status == ConsistentStatus::kSolved; }
};

// Least-change corrections use dense decompositions; larger systems must be solvable without.
constexpr std::size_t kLargestLeastChange = 500;

// Solves F(t, x, x') = 0 for the derivatives and the algebraic unknowns; the values of the unknowns
// under der() are given. Damped Newton. Where the equations hide constraints on those given values
// too (a strangeness-free form that is not semi-explicit, such as circuits with coupled
// capacitors), they are changed as little as possible, and derivatives that are not determined get
// least norm.
class ConsistentSolver {
 public:
  // `given` marks the unknowns whose values are kept; empty: those under der(). A copy of `dae` is
  // kept (it is cheap).
  explicit ConsistentSolver(const Dae& dae, std::vector<bool> given = {});

  // In: guesses; out: the consistent point, or the guesses if it fails. Does not allocate as long
  // as the equations determine derivatives and algebraic unknowns uniquely.
  ConsistentOutcome solve(DaeData& data, double t, double* x, double* dx);

  // The same without a second attempt where the equations do not determine the rest uniquely.
  ConsistentOutcome solve_unique(DaeData& data, double t, double* x, double* dx);

  // Whether all that is not given follows uniquely from the linearised equations at this point.
  // Pre: as many equations as unknowns.
  bool determines_all(DaeData& data, double t, const double* x, const double* dx);

  // The equation without derivatives that is met least, if it is off by more than this fraction of
  // its terms. Derivatives are as accurate as the step they come from.
  std::optional<std::size_t> unmet_equation(DaeData& data, double t, const double* x,
                                            const double* dx, double fraction);

  // The same for a guess near points solved before, such as an interpolated one: tries with the
  // factors at hand first.
  ConsistentOutcome refine(DaeData& data, double t, double* x, double* dx);

  // The same for start values: `fixed` ones may not change at all, given ones change as little as
  // possible where they must.
  ConsistentOutcome solve_start(DaeData& data, double t, double* x, double* dx,
                                const std::vector<bool>& fixed);

 private:
  enum class Direction { kUnique, kLeastChange, kAnyChange };

  // What a solution depends on.
  struct Point {
    double t = 0.0;
    std::vector<double> x, dx, parameters, held;
  };

  static bool is_at(const Point& point, const DaeData& data, double t, const double* x,
                    const double* dx);
  void remember(Point& point, const DaeData& data, double t, const double* x,
                const double* dx) const;
  ConsistentOutcome attempt(std::initializer_list<Direction> directions, DaeData& data, double t,
                            double* x, double* dx);
  ConsistentOutcome iterate(Direction direction, DaeData& data, double t);
  bool step_by_old_factors(DaeData& data, double t);
  void polish(DaeData& data, double t);
  double update_size() const;
  double next_update_size();
  bool newton_update();  // fills step_x_, step_dx_; false if the matrix is singular
  void solve_update();   // the same with the factors at hand
  bool least_change_update(Direction direction);
  bool satisfied(double tolerance) const;
  bool holds_to_rounding() const;
  void measure_rows();
  double scaled_residual() const;

  Dae dae_;
  std::vector<bool> given_;
  std::vector<bool> fixed_;
  bool factored_ = false;  // solver_ holds factors of the matrix of the last newton_update()
  std::optional<std::size_t> contradicted_;  // an equation that nothing free to change can satisfy
  LinearSolver<double> solver_;
  std::vector<double> jacobian_, matrix_, residual_, row_scale_, row_terms_;
  std::vector<double> x_, dx_, step_x_, step_dx_, base_x_, base_dx_;
  Point asked_, solved_;  // guess and solution of the last unique one
};

}  // namespace saltus
