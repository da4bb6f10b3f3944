#pragma once

#include <vector>

#include "expr/tape.h"
#include "model/system_state.h"

namespace saltus {

// Better guesses for a mode whose equations are not finite at the start values: unknowns that an
// equation names alone on one side (eta = interpolate(w)) take the values the other side has, each
// after those that it reads. In a circle the first keeps reading what was guessed.
class CausalGuess {
 public:
  CausalGuess(const HybridSystem& system, const Mode& mode);

  // Unknowns under der(), and values that would not be finite, stay as they are.
  void improve(double t, const std::vector<double>& parameters, SystemState& state);

 private:
  // Values that do not depend on each other.
  struct Wave {
    std::vector<std::size_t> targets;  // by VariableId
    Tape tape;
    Tape::Workspace registers;
    std::vector<double> values;
  };
  std::vector<Wave> waves_;
};

}  // namespace saltus
