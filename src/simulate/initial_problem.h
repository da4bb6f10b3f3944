#pragma once

#include <memory>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/consistent.h"
#include "model/flat_model.h"
#include "simulate/block_start.h"

namespace saltus {

// Start values of one mode: its equations, hidden constraints included, together with the initial
// equations and the fixed start values. Other start values are kept as far as possible.
class InitialProblem {
 public:
  InitialProblem(const HybridSystem& system, const AnalysedMode& mode,
                 const std::vector<Equation>& initial_equations);

  // In: start values and slots. The equation that cannot be satisfied is named by
  // equation_name(outcome.index).
  ConsistentOutcome solve(double t, const SystemState& state, const std::vector<bool>& fixed);
  // The point found last, as ModeRun::start_from takes it.
  const std::vector<double>& x() const { return x_; }
  const std::vector<double>& dx() const { return dx_; }
  void set_parameters(const std::vector<double>& values) { data_.parameters = values; }
  const std::string& equation_name(std::size_t i) const { return dae_->equation_name(i); }

 private:
  ConsistentOutcome solve_for_start(double t, const std::vector<bool>& fixed);

  const AnalysedMode* mode_;
  std::unique_ptr<const Dae> dae_;
  std::unique_ptr<ConsistentSolver> solver_;
  DaeData data_;
  std::vector<double> x_, dx_;
  Graph* graph_;
  std::vector<bool> given_;
  std::unique_ptr<BlockStart> blocks_;  // made when needed
};

}  // namespace saltus
