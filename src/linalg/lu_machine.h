#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "base/machine_code.h"

namespace saltus {

// At so many replays of one elimination writing the instructions pays.
inline constexpr int kReplaysWorthCode = 6;

// Where a recorded elimination finds its numbers. Factors are stored row by row in pivot order, of
// each row the L entries, then the U entries; after all rows the pivots, then their reciprocals.
struct LuLayout {
  std::vector<int> row_of, column_of;         // original row and column of the i-th pivot
  std::vector<int> scatter;                   // nonzero k of the matrix -> factors
  std::vector<int> lower_begin, upper_begin;  // by row; upper ends where the next lower begins
  std::vector<int> entry_column;              // pivot-order column of each entry
  std::vector<int> targets;                   // where each U entry of a source row is subtracted

  int rows() const { return static_cast<int>(row_of.size()); }
  int pivot(int i) const { return static_cast<int>(entry_column.size()) + i; }
  int reciprocal(int i) const { return pivot(rows() + i); }
  // Longer code does not fit the caches.
  bool is_short() const { return targets.size() + entry_column.size() <= 4000; }
};

// Factorization and solution as straight lines of instructions: rows of such factors are so short
// that loops over them cost more than the arithmetic. Results are equal to those of the loops to
// the last bit.
template <class Scalar>
struct LuMachine {
  std::shared_ptr<const MachineCode> code;  // null: there is none
  void (*factor)(const Scalar* values, Scalar* factors) = nullptr;
  void (*solve)(const Scalar* factors, Scalar* work, Scalar* b) = nullptr;
};
template <class Scalar>
LuMachine<Scalar> compile_lu(const LuLayout& layout);

extern template LuMachine<double> compile_lu(const LuLayout& layout);
extern template LuMachine<std::complex<double>> compile_lu(const LuLayout& layout);

}  // namespace saltus
