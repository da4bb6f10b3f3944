#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/consistent.h"
#include "expr/tape.h"
#include "model/dae.h"
#include "model/system.h"

namespace saltus {

// Strangeness index mu; d differential and a algebraic equations; v redundant equations, u free
// unknowns (HM Hypothesis 10).
struct CharacteristicValues {
  int mu = 0;
  int d = 0;
  int a = 0;
  int v = 0;
  int u = 0;
};

// A mode ready to be integrated: its equations and guards compiled, unknowns mapped to variables.
// Built on first visit and cached; immutable.
struct AnalysedMode {
  ModeId id;
  const Mode* mode = nullptr;
  std::vector<VariableId> unknowns;  // of the Dae, in its order
  std::unique_ptr<const Dae> dae;

  // Guard values, and the natural size sum |dS/dx_i| max(|x_i|, nominal_i) of each guard, as
  // functions of the same inputs as the Dae.
  Tape guards;
  Tape guard_sizes;
  // Degree of each guard as a polynomial along the unknowns and time; -1: not polynomial.
  std::vector<int> guard_degrees;
  // Guards that involve no unknown: affine in time, so their zero is known beforehand.
  std::vector<bool> is_time_guard;
  // Unknowns that the guards read.
  std::vector<std::uint32_t> guard_unknowns;
};

// Throws Error if a mode cannot be analysed whatever the numbers: as many equations as unknowns and
// first derivatives only are needed. Cheap; meant to be called for all modes before a run starts.
void check_shape(const HybridSystem& system, const Mode& mode);

// Compiles a mode. Throws Error as check_shape does.
std::unique_ptr<const AnalysedMode> analyse(const HybridSystem& system, ModeId id);

// d and a at a consistent point from the numerical rank of F_x'; `strangeness_free` is false if
// the constraints that remain do not determine the algebraic part (higher index, or singular).
struct RankReport {
  CharacteristicValues values;
  bool strangeness_free = true;
  std::size_t suspicious_unknown = 0;  // of the Dae, if not strangeness-free
};
RankReport measure_ranks(const Dae& dae, DaeData& data, double t, const double* x,
                         const double* dx);

}  // namespace saltus
