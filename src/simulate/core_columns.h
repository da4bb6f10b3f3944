#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/eliminate.h"
#include "expr/lane_tape.h"
#include "integrate/integrator.h"
#include "model/system_state.h"

namespace saltus {

// Columns of stored points straight from what the integrator of a mode integrates: what is
// eliminated from a mode need not be found for all its unknowns first.
class CoreColumns {
 public:
  // Null if a column needs the slope of something eliminated. What is given must outlive this.
  static std::unique_ptr<CoreColumns> make(const HybridSystem& system, const AnalysedMode& mode,
                                           const EliminatedForm& form,
                                           std::span<const Expr> columns);

  std::size_t count() const { return tape_.output_count(); }

  // Takes what does not change while the mode is integrated.
  void hold(const SystemState& state);
  // At four times within the integrator's last step, four numbers a column. Pre: it
  // gives_all_else() and has taken a step.
  const double* evaluate(Integrator& integrator, std::span<const double, kLanes> times,
                         const double* parameters);

 private:
  CoreColumns() = default;

  LaneTape tape_;
  LaneTape::Workspace registers_;
  std::vector<Expr> held_symbols_;
  std::vector<double> held_, x_, dx_, values_;
};

}  // namespace saltus
