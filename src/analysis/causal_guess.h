#pragma once

#include <vector>

#include "expr/tape.h"
#include "model/system_state.h"

namespace saltus {

// Better guesses for a mode whose equations are not finite at the start values: unknowns that
// follow from what is known by linear equations (the supply voltage of a source), then unknowns
// that an equation names alone on one side (eta = interpolate(w)) take the values the other side
// has, each after those that it reads. In a circle the first keeps reading what was guessed.
class CausalGuess {
 public:
  // `assumes`: unknowns may keep their guess so that others can follow from them (a potential that
  // floats, and the supply above it). As this bends more than it should, only the unknowns of
  // equations that are not finite are changed then.
  CausalGuess(const HybridSystem& system, const Mode& mode, bool assumes);

  // Unknowns under der(), and values that would not be finite, stay as they are.
  void improve(double t, const std::vector<double>& parameters, SystemState& state);

 private:
  struct Formulas {
    Tape tape;
    Tape::Workspace registers;
    std::vector<double> values;
    void compile(const std::vector<Expr>& formulas, const HybridSystem& system);
  };
  // Values that do not depend on each other.
  struct Wave : Formulas {
    std::vector<std::size_t> targets;  // by VariableId
  };
  bool assumes_;
  std::vector<Wave> waves_;
  Formulas residuals_;  // of the mode, and what they read
  std::vector<std::vector<std::size_t>> variables_of_;
};

}  // namespace saltus
