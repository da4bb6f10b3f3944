#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "expr/tape.h"
#include "linalg/linear_solver.h"
#include "model/system.h"
#include "model/system_state.h"
#include "simulate/mode_run.h"

// Derivatives of the state of a run with respect to parameters and start values (KM Theorem 7).
//
// Within a mode the tangents s = dx/dp satisfy F_x s + F_x' s' + F_p = 0. They are advanced after
// each accepted step with the collocation formula of Radau IIA, F linearised at the stages of the
// step: for Radau itself that is the exact derivative of the step.
//
// At an event the time of the switch moves by dt = -(S_x s + S_p) / (dS/dt), so the state at the
// switch moves by s + x' dt; what the transition does with it is differentiated as it is computed,
// by differences of fourth order along the tangent; after it s = (change of the state) - x' dt at
// fixed time. For plain jumps that is the saltation matrix; modes may differ in size and kind.

namespace saltus {

class Sensitivities {
 public:
  // Throws Error that suggests the nearest name if one is neither a parameter nor a variable.
  Sensitivities(const HybridSystem& system, const std::vector<std::string>& names);

  // A way from a state into a mode: writes the unknowns of `run`'s Dae; false if it fails.
  using Entry = std::function<bool(double t, SystemState state)>;

  // At the start; `enter` makes a start state consistent with the mode.
  void start(const HybridSystem& system, ModeRun& run, double t, const Entry& enter);
  // Of a flat model: `settled` is what the initial problem came to. Gives up if `enter` does not
  // come to the same.
  void start_flat(const HybridSystem& system, ModeRun& run, double t, const SystemState& settled,
                  const Entry& enter);
  // After the integrator's last step, as it stands.
  void step(ModeRun& run);
  // A guard fires where the integrator stands (or at the start of its last step).
  void begin_event(ModeRun& run, std::size_t guard, double t, bool at_step_start);
  // The transition sets variables.
  void assign(ModeRun& from, std::size_t guard, const std::vector<Assignment>& set, double t,
              const SystemState& left);
  // An event of a flat model sets variables; the values read `at`.
  void reinitialise(const std::vector<Assignment>& set, double t, const SystemState& at,
                    const std::vector<double>& parameters);
  // An event gives numbers that are held a new value; those that read unknowns are not known.
  void hold(const Expr& value, const std::vector<Expr>& slots, const std::string& name, double t,
            const SystemState& at, const std::vector<double>& parameters);
  // Gives up if an expression that an event has evaluated for good depends on something that moves.
  void require_constant(const Expr& value, const std::string& name, double t);
  // Whether the point of the run is that of the state, up to the error of the event.
  bool agrees(ModeRun& run, double t, const SystemState& state) const;
  // The run has entered a mode from `before` (with what was set); `enter` repeats that.
  void enter(ModeRun& run, double t, const SystemState& before, const Entry& enter);
  // From here on no derivative is known.
  void give_up(std::string why);
  const std::string& problem() const { return problem_; }  // empty: none

  // By name, then variable or derived value.
  std::map<std::string, std::map<std::string, double>> results(const HybridSystem& system,
                                                               ModeRun* run, double t,
                                                               const SystemState& state);

 private:
  // What a mode's equations depend on besides x and x', and their derivatives by it.
  struct Linearisation {
    std::vector<Expr> leaves;  // time, parameters asked for, variables and slots held
    std::vector<std::size_t> rows, columns;
    Tape values;
    Tape::Workspace registers;
  };
  // The tangent of one name, or that along time itself.
  struct Column {
    std::string name;
    int parameter = -1;                         // index, or
    int variable = -1;                          // start value of this one
    std::vector<double> s, ds;                  // of the unknowns of the Dae and their derivatives
    std::vector<double> values, slopes, slots;  // of the system's state
    double dt = 0.0;                            // of the event under way
  };

  Linearisation& linearisation(ModeRun& run);
  void gather_inputs(const ModeRun& run, const Column& column, const Linearisation& by,
                     std::vector<double>& q) const;
  void complete(ModeRun& run, double t, const double* x, const double* dx,
                const std::vector<Column*>& columns);
  Column time_column(ModeRun& run, double t, const double* x, const double* dx);
  void scatter(ModeRun& run, double t, const double* x, const double* dx, Column& column);
  void remember_entry(ModeRun& run, double t);
  void settle_event(ModeRun& run);
  void add_derived(const HybridSystem& system, double t, const SystemState& state,
                   std::map<std::string, std::map<std::string, double>>& all) const;
  bool given_up() const { return !problem_.empty(); }
  double size_of(const Column& column, const SystemState& base) const;
  static void put_tangent(Column& column, const Expr& target, double tangent);
  // By column, the derivatives of values along the moving time of the event.
  std::vector<std::vector<double>> differentiate_values(const std::vector<Expr>& values, double t,
                                                        const SystemState& at,
                                                        const std::vector<double>& parameters);

  const HybridSystem* system_;
  std::vector<Column> columns_;
  std::vector<double> nominal_;
  std::map<const AnalysedMode*, Linearisation> linearisations_;
  bool in_event_ = false;  // tangents are those along the moving time of the event
  bool entered_ = false;   // the mode after it, at the point below
  double entry_time_ = 0.0;
  std::vector<double> entry_x_, entry_dx_;
  std::string problem_;
};

}  // namespace saltus
