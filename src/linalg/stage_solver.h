#pragma once

#include <memory>
#include <vector>

#include "linalg/linear_solver.h"
#include "linalg/pattern.h"

namespace saltus {

// Solves a real and a complex linear system of one pattern and like numbers, as every step of Radau
// IIA has them. A number is four doubles: of the real system, real and imaginary part of the
// complex one, zero. Where the processor can, both are done in one pass (lane_lu.h), else by a
// LinearSolver each.
class StageSolver {
 public:
  // As of LinearSolver.
  explicit StageSolver(const Pattern& pattern, Backend backend = Backend::kAutomatic,
                       const std::vector<double>& weights = {});
  ~StageSolver();
  StageSolver(StageSolver&&) noexcept;
  StageSolver& operator=(StageSolver&&) noexcept;

  // Four doubles a nonzero of the pattern. False if a matrix is singular to working precision or
  // holds a NaN.
  bool factor(const double* values);

  // After factor(): writes machine code now, not after some more of them.
  void expect_many_solutions();

  // Solves both in place, four doubles a row; b has room for as many rows as the larger of rows and
  // columns. Pre: the last factor() returned true.
  void solve(double* b) const;
  // The real system alone, one double a row.
  void solve_real(double* b) const;
  // The same for four right-hand sides, side by side: four doubles a row.
  void solve_real_lanes(double* b) const;

  // Of the real matrix, as of LinearSolver.
  int dependent_column() const;
  double pivot_ratio() const;

  // Whether both are done in one pass, by machine code.
  bool is_fused() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace saltus
