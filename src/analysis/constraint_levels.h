#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "analysis/formulations.h"
#include "analysis/level_residuals.h"
#include "expr/tape.h"
#include "model/system.h"
#include "model/system_state.h"

namespace saltus {

// Measures how far the points of a mode are from its constraints and their derivatives, whatever
// form they come from. Accelerations are those the equations of motion give for the multipliers at
// hand, so the third level says how good the multipliers are.
class ConstraintMonitor {
 public:
  ConstraintMonitor(const HybridSystem& system, const MechanicalStructure& structure);

  void measure(double t, const SystemState& state, bool at_switch);
  LevelResiduals residuals() const;

 private:
  std::vector<int> levels_;  // of each residual: 0 position, 1 velocity, 2 acceleration
  Tape tape_;                // residuals, then the magnitudes of their terms
  Tape::Workspace registers_;
  std::vector<double> parameters_, outputs_, at_steps_, at_switches_, sizes_;
};

// Sum of the magnitudes of the terms of a sum: |a| + |b| for a + b, |c| (|a| + |b|) for c (a + b).
// `nominal`: the least magnitude of a variable; empty: none.
Expr magnitude_of_terms(const Expr& a, const std::function<double(VariableId)>& nominal = nullptr);

}  // namespace saltus
