#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "linalg/pattern.h"

namespace saltus {

enum class Backend { kAutomatic, kRecorded, kKlu, kLeastSquares };

// What kAutomatic stands for with this pattern; other backends stay.
Backend choose_backend(const Pattern& pattern, Backend wanted);
// Whether a recorded elimination of so many rows that had to choose pivots so often gives way to
// KLU: where switches keep moving the zeros of the matrix, that costs more than KLU does.
bool is_klu_better(int rows, int recordings);

// Solves linear systems that share one pattern, real or complex: a recorded elimination
// (recorded_lu.h) for small square systems, KLU for large ones, least squares (least_squares.h)
// where there are more or fewer equations than unknowns or the caller expects redundant ones.
// Memory is taken at construction and when pivots are chosen, that is at the first factor(); later
// calls do not allocate unless the numbers demand new pivots, and once when machine code is
// written.
template <class Scalar>
class LinearSolver {
 public:
  // `weights`: of the rows, for least squares; empty: all alike.
  explicit LinearSolver(const Pattern& pattern, Backend backend = Backend::kAutomatic,
                        std::vector<double> weights = {});
  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  // Before the first factor(): uses the pivots that were chosen for a matrix of the same pattern
  // and like numbers, where that saves choosing.
  void take_pivots(const LinearSolver<double>& other);

  // values[k] is the k-th nonzero of the pattern. False if the matrix is singular to working
  // precision or holds a NaN.
  bool factor(const Scalar* values);

  // After factor(): its factors will be used many times.
  void expect_many_solutions();

  // Solves A x = b in place: b has room for as many entries as the larger of rows and columns. Pre:
  // the last factor() returned true.
  void solve(Scalar* b) const;

  // After factor() returned false: a column that depends on others (the first without a pivot), or
  // -1 if the cause is a NaN.
  int dependent_column() const;

  // Estimate of the reciprocal condition of the last factored matrix, from its pivots (cheap).
  double pivot_ratio() const;

 private:
  friend class LinearSolver<std::complex<double>>;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class LinearSolver<double>;
extern template class LinearSolver<std::complex<double>>;

}  // namespace saltus
