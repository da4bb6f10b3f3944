#pragma once

#include <cstddef>
#include <vector>

#include "realtime/fixed_step.h"

namespace saltus {

// An order of pivots for a sparse matrix and the entries that elimination in this order touches,
// for good: what is zero in one matrix of the pattern counts as other than zero.
class PivotOrder {
 public:
  struct Entry {
    std::size_t row = 0;
    std::size_t column = 0;
    double value = 0.0;  // entries at the same place add up
  };
  PivotOrder() = default;
  // Each pivot is at least a tenth of its column and has the fewest entries beside it (Markowitz).
  PivotOrder(std::size_t n, const std::vector<Entry>& entries);

  // Null where the matrix is singular.
  fs_order tables() const;

 private:
  std::vector<std::size_t> row_place_, column_place_;
  std::vector<std::size_t> lower_start_, lower_, upper_start_, upper_;
};

}  // namespace saltus
