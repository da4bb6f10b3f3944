#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "linalg/lu_machine.h"
#include "linalg/pattern.h"

namespace saltus {

// Replayed pivots are given up when a multiplier exceeds this (rows equilibrated).
inline constexpr double kLargestMultiplier = 1e6;

// LU factorization of a small sparse matrix by replaying a recorded elimination. Pivots are chosen
// once from numbers (Markowitz count among sufficiently large entries, so little fill arises); the
// positions every multiplication and subtraction touches are written down; later factorizations run
// through that list without searching, and without allocating but once: a list that is used again
// becomes machine code. If a multiplier grows too large for the old pivots, new ones are chosen
// from the numbers at hand.
//
// Recording searches all rows for every pivot, so this is meant for n up to a few hundred.
template <class Scalar>
class RecordedLu {
 public:
  explicit RecordedLu(const Pattern& pattern);

  // Takes over the pivots chosen for another matrix of this pattern, unless it has its own.
  void take_pivots(const RecordedLu<double>& other);

  // Chooses pivots without factoring; false as of factor(). layout() and multiplier_weights() then
  // say how to factor and what to watch.
  bool choose_pivots(const Scalar* values);
  const LuLayout& layout() const { return layout_; }
  // By L entry, row by row: what equilibrated rows would multiply it by.
  const std::vector<double>& multiplier_weights() const { return lower_weight_; }

  // Writes the machine code now: these factors will be used many times.
  void compile();

  // False if the matrix is singular to working precision or holds a NaN.
  bool factor(const Scalar* values);
  void solve(Scalar* b) const;

  int dependent_column() const { return dependent_column_; }
  double pivot_ratio() const;
  // How often pivots were chosen.
  int recordings() const { return recordings_; }
  bool is_compiled() const { return machine_.code != nullptr; }

 private:
  friend class RecordedLu<std::complex<double>>;

  void lay_out(const std::vector<int>& row_position, const std::vector<int>& column_position,
               const std::vector<std::vector<int>>& lower,
               const std::vector<std::vector<int>>& upper);
  bool replay(const Scalar* values);
  void eliminate(const Scalar* values);
  bool pivots_are_good() const;

  Pattern pattern_;
  int n_;
  bool recorded_ = false;
  int recordings_ = 0;
  int dependent_column_ = -1;

  LuLayout layout_;
  std::vector<Scalar> factors_;
  std::vector<int> lower_;            // the L entries
  std::vector<double> lower_weight_;  // of those
  int replays_ = 0;                   // since the pivots were chosen
  LuMachine<Scalar> machine_;
  mutable std::vector<Scalar> work_;
};

}  // namespace saltus
