#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "base/machine_code.h"
#include "linalg/lu_machine.h"

namespace saltus {

// A real number x and a complex one z, as (x, Re z, Im z, 0) outside of the factors, as (x, 0, Re
// z, Im z) within: both parts of z then lie in one half of a register, where they change places
// fastest.
struct alignas(32) Lanes {
  double lane[4] = {};
};

// A factor is stored as what it is multiplied by: (x, x, Re z, Re z) and (0, 0, Im z, Im z).
struct LaneFactor {
  Lanes direct, crossed;

  double real() const { return direct.lane[0]; }
  std::complex<double> complex() const { return {direct.lane[2], crossed.lane[2]}; }
};

// Factorization and solution of a real and a complex matrix in one pass (LaneLu), as straight lines
// of instructions for four doubles at once. Factors are in the order of LuLayout, with the
// reciprocal of the i-th pivot in its place.
struct LaneLuMachine {
  std::shared_ptr<const MachineCode> code;  // null: there is none
  // `table`: of make_table(). `squares` becomes the sum of the squared multipliers, weighted, by
  // lane; not a number if a pivot has no reciprocal.
  void (*factor)(const double* values, LaneFactor* factors, const Lanes* table,
                 Lanes* squares) = nullptr;
  void (*solve)(const LaneFactor* factors, Lanes* work, double* b) = nullptr;
  void (*solve_real)(const LaneFactor* factors, double* work, double* b) = nullptr;
  // Four right-hand sides of the real matrix, side by side.
  void (*solve_four)(const LaneFactor* factors, Lanes* work, double* b) = nullptr;

  // Constants of the factorization, then the weight of each multiplier in all lanes.
  static std::vector<Lanes> make_table(const std::vector<double>& multiplier_weights);
  // Pre: AvxAssembler::is_available().
  static LaneLuMachine compile(const LuLayout& layout);
};

}  // namespace saltus
