#pragma once

#include <cstdint>
#include <vector>

#include "linalg/lane_lu_machine.h"
#include "linalg/pattern.h"
#include "linalg/recorded_lu.h"

namespace saltus {

// A recorded elimination (recorded_lu.h) of a real and a complex matrix at once: one pattern, the
// pivots of the real matrix for both, and instructions that work on both. Numbers are four doubles:
// the real matrix's, real and imaginary part of the complex one's, zero.
class LaneLu {
 public:
  enum class Outcome : std::uint8_t {
    kDone,
    kSingular,  // the real matrix, or it holds a NaN
    kUnfit  // to be done in another way: pivots of the real matrix do not serve the complex one,
            // or the list is too long
  };

  // Whether this processor has the instructions. Without them two eliminations are as good.
  static bool is_available();

  explicit LaneLu(const Pattern& pattern);

  // Writes the machine code now: these factors will be used many times.
  void compile();

  Outcome factor(const double* values);
  void solve(double* b) const;
  // n numbers, with the real matrix.
  void solve_real(double* b) const;
  // The same for four right-hand sides, side by side. Pre: is_compiled().
  void solve_four(double* b) const;

  int dependent_column() const { return pivots_.dependent_column(); }
  double pivot_ratio() const;  // of the real matrix
  int recordings() const { return pivots_.recordings(); }
  bool is_compiled() const { return machine_.code != nullptr; }

 private:
  bool replay(const double* values);
  Lanes eliminate(const double* values);  // weighted squares as of LaneLuMachine::factor

  RecordedLu<double> pivots_;  // chooses them
  int n_;
  bool recorded_ = false;
  int replays_ = 0;  // since the pivots were chosen
  std::vector<double> real_values_;
  std::vector<LaneFactor> factors_;
  std::vector<Lanes> table_;
  LaneLuMachine machine_;
  mutable std::vector<Lanes> work_;
};

}  // namespace saltus
