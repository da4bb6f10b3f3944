#pragma once

#include <memory>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/consistent.h"
#include "model/flat_model.h"
#include "simulate/square_start.h"

namespace saltus {

// Start values of one mode: its equations, hidden constraints included, together with the initial
// equations and the fixed start values. Other start values are kept as far as possible.
class InitialProblem {
 public:
  InitialProblem(const HybridSystem& system, const AnalysedMode& mode,
                 const std::vector<Equation>& initial_equations);

  // In: start values and slots; out: values and slopes of what is determined. The equation that
  // cannot be satisfied is named by equation_name(outcome.index).
  ConsistentOutcome solve(double t, SystemState& state, const std::vector<bool>& fixed);
  void set_parameters(const std::vector<double>& values) { data_.parameters = values; }
  const std::string& equation_name(std::size_t i) const { return dae_->equation_name(i); }

 private:
  ConsistentOutcome solve_for_start(double t, const std::vector<bool>& fixed);

  std::unique_ptr<const Dae> dae_;
  std::unique_ptr<ConsistentSolver> solver_;
  DaeData data_;
  std::vector<double> x_, dx_;
  Graph* graph_;
  std::vector<bool> given_;
  std::unique_ptr<SquareStart> square_;  // for large modes, made when needed
};

}  // namespace saltus
