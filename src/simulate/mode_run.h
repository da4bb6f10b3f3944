#pragma once

#include <memory>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/consistent.h"
#include "integrate/integrator.h"
#include "simulate/guard_watch.h"
#include "simulate/result.h"
#include "simulate/simulate.h"

namespace saltus {

// Values of all variables of the system, whatever mode they belong to: what a transition reads and
// writes. Variables that are not unknowns of the active mode hold their last value.
struct SystemState {
  std::vector<double> values;  // by VariableId
  std::vector<double> slopes;  // time derivatives where known, 0 otherwise
};

// A mode that has been visited: analysed, with its integrator, guards and memory. Made on the first
// visit, kept for the next.
class ModeRun {
 public:
  ModeRun(const HybridSystem& system, ModeId id, const SimulateOptions& options, double tolerance);
  ModeRun(const ModeRun&) = delete;
  ModeRun& operator=(const ModeRun&) = delete;

  const AnalysedMode& analysed() const { return *analysed_; }
  const Mode& mode() const { return *analysed_->mode; }
  Integrator& integrator() { return *integrator_; }
  GuardWatch& watch() { return *watch_; }
  ModeReport& report() { return report_; }

  // Makes the state consistent with this mode at t. What is under der() here is kept; the rest of
  // this mode's unknowns follows. On failure the state is unchanged.
  ConsistentOutcome make_consistent(double t, SystemState& state);
  // Starts integrating from the (consistent) state, with the step size this mode ended with before.
  void restart(double t, const SystemState& state);
  void remember_step() { step_ = integrator_->suggested_step(); }

  // The integrator's present point into the state.
  void read_point(SystemState& state) const;
  // A point inside the last step: interpolated, then made consistent.
  void read_interpolated(double t, SystemState& state);

  // The values guard's transition assigns, evaluated at left limits.
  void transition_values(std::size_t guard, double t, const SystemState& left,
                         std::vector<double>& values);

  RankReport measure_ranks(double t, const SystemState& state);

 private:
  void gather(const SystemState& state);
  void scatter(const std::vector<double>& x, const std::vector<double>& dx,
               SystemState& state) const;

  std::unique_ptr<const AnalysedMode> analysed_;
  DaeData data_;
  ConsistentSolver consistent_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<GuardWatch> watch_;
  std::vector<Tape> transitions_;  // by guard
  std::vector<Tape::Workspace> transition_registers_;
  std::vector<VariableId> held_;
  std::vector<std::uint32_t> all_unknowns_;
  std::vector<double> x_, dx_;
  bool has_algebraic_ = false;
  double step_ = 0.0;
  ModeReport report_;
};

}  // namespace saltus
