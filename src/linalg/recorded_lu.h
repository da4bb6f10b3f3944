#pragma once

#include <cstddef>
#include <vector>

#include "linalg/pattern.h"

namespace saltus {

// LU factorization of a small sparse matrix by replaying a recorded elimination. Pivots are chosen
// once from numbers (Markowitz count among sufficiently large entries, so little fill arises); the
// positions every multiplication and subtraction touches are written down; later factorizations run
// through that list without searching, and without allocating. If a multiplier grows too large for
// the old pivots, new ones are chosen from the numbers at hand.
//
// Recording searches all rows for every pivot, so this is meant for n up to a few hundred.
template <class Scalar>
class RecordedLu {
 public:
  explicit RecordedLu(const Pattern& pattern);

  // False if the matrix is singular to working precision or holds a NaN.
  bool factor(const Scalar* values);
  void solve(Scalar* b) const;

  int dependent_column() const { return dependent_column_; }
  double pivot_ratio() const;
  // How often pivots were chosen.
  int recordings() const { return recordings_; }

 private:
  bool record(const Scalar* values);
  void lay_out(const std::vector<int>& row_position, const std::vector<int>& column_position,
               const std::vector<std::vector<int>>& lower,
               const std::vector<std::vector<int>>& upper);
  bool replay(const Scalar* values);

  Pattern pattern_;
  int n_;
  bool recorded_ = false;
  int recordings_ = 0;
  int dependent_column_ = -1;

  // Row i of the factors, in pivot order: L entries, then U entries, contiguous in factors_. The
  // pivots come after all rows.
  std::vector<Scalar> factors_;
  std::vector<Scalar> inverse_pivot_;
  std::vector<int> row_of_, column_of_;         // original row and column of the i-th pivot
  std::vector<int> scatter_;                    // nonzero k of the matrix -> factors_
  std::vector<int> lower_begin_, upper_begin_;  // by row; upper ends where the next lower begins
  std::vector<int> entry_column_;               // pivot-order column of each entry of factors_
  std::vector<int> targets_;                  // where each U entry of the source row is subtracted
  std::vector<double> row_scale_, row_size_;  // 1 / largest entry, largest entry, when recorded
  mutable std::vector<Scalar> work_;
};

}  // namespace saltus
