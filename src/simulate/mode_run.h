#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/consistent.h"
#include "analysis/constraint_levels.h"
#include "analysis/state_selector.h"
#include "expr/break_times.h"
#include "integrate/integrator.h"
#include "locate/guard_watch.h"
#include "model/system_state.h"
#include "simulate/method.h"
#include "simulate/mode_report.h"
#include "simulate/mode_setups.h"
#include "simulate/transfer.h"

namespace saltus {

class TimeTerms;
struct ModeFlow;

// A mode that has been visited: analysed, with its integrator, guards and memory. Made on the first
// visit, kept for the next.
class ModeRun {
 public:
  // `start`: makes the points this form starts from, if it is not the one to do so itself.
  ModeRun(const HybridSystem& system, std::unique_ptr<const AnalysedMode> analysed,
          const ModeOptions& options, std::unique_ptr<ModeRun> start = nullptr);
  ~ModeRun();
  ModeRun(const ModeRun&) = delete;
  ModeRun& operator=(const ModeRun&) = delete;

  const AnalysedMode& analysed() const { return *analysed_; }
  const Mode& mode() const { return *analysed_->mode; }
  Integrator& integrator() { return setups_.integrator_of(*active_); }
  GuardWatch& watch() { return *watch_; }
  ModeReport& report() { return report_; }
  IntegratorCounts counts() const { return setups_.counts(); }
  // What is linearised for sensitivities: the equations in force, the candidate rows among them
  // (reduced form), and the point made consistent last in the unknowns of the Dae.
  const Dae& dae() const { return active_->dae; }
  DaeData& data() { return data_; }
  const std::vector<std::size_t>& states() const { return states_; }
  const std::vector<double>& point() const { return x_; }
  const std::vector<double>& slope() const { return dx_; }
  // Where a step must end, at most at `limit`, for what time alone does not to be missed: events,
  // kinks and pulses.
  double limit_step(double limit);
  // The time, or just after it where the equations or guards have a kink or jump by time alone that
  // rounding does not tell from it: what is asked at an instant is asked beyond.
  double just_after_break(double t) const;
  // Functions of time in the equations that may hide something between two steps.
  const std::vector<std::string>& opaque_terms() const;
  // A term of time alone that has a pole where the next step would begin.
  const std::optional<std::string>& pole_of_time() const;
  const std::vector<std::uint32_t>& all_unknowns() const { return all_unknowns_; }
  // The form that finds consistent points for this one: itself, if it does so.
  ModeRun& starting_form() { return start_ != nullptr ? start_->starting_form() : *this; }
  // What its solutions do just after a point, for the choice of states in force.
  ModeFlow& flow();
  // A point of the Dae into the state.
  void write_point(double t, const double* x, const double* dx, SystemState& state) {
    scatter(t, x, dx, state);
  }
  // Names for the indices in outcomes.
  const std::string& equation_name(std::size_t equation) const;
  const std::string& unknown_name(std::size_t unknown) const;

  // Makes the state consistent with this mode at t. What is under der() here is kept, or changed as
  // little as hidden constraints allow; the rest of this mode's unknowns follows. On failure the
  // state is unchanged.
  ConsistentOutcome make_consistent(double t, SystemState& state);
  // Takes a state into this mode by the impulse rule. `before`: left limits with what a transition
  // sets, which `set` marks by VariableId. `state`: from make_consistent(before), made the state
  // after; with `within_region`, the state where the way into the mode leaves its region, if it
  // does.
  TransferOutcome transfer(double t, const SystemState& before, const std::vector<bool>& set,
                           bool within_region, SystemState& state);
  // Takes a point of the form that start values are found in, which satisfies all its equations.
  ConsistentOutcome start_from(double t, const std::vector<double>& x,
                               const std::vector<double>& dx, SystemState& state);
  // The mode in that form.
  const AnalysedMode& start_form() const {
    return start_ != nullptr ? start_->start_form() : *analysed_;
  }
  // Whether the start values satisfy all constraints as they are; then the state is complete.
  bool starts_as_given(double t, SystemState& state, const std::vector<bool>& fixed);
  // The same for start values, where fixed variables (by VariableId) may not change and the others
  // change as little as possible where they must.
  ConsistentOutcome make_start_consistent(double t, SystemState& state,
                                          const std::vector<bool>& fixed);
  // Starts integrating from the point made consistent last, with the step size this mode ended with
  // before.
  void restart(double t);
  void remember_step() { step_ = integrator().suggested_step(); }
  // One step of the integrator; before it, the choice of states or the projector is brought up to
  // date.
  StepOutcome step(double limit);
  // Flat models, whose conditions may close several brakes on one shaft: unknowns among which the
  // constraints in force since the last restart share their forces in no unique way.
  const std::vector<std::size_t>& shared() const { return shared_; }
  // At the point made consistent last: whether the equations leave nothing open.
  bool determines_all(double t);
  // Where equations are redundant, steps are least-squares solutions: the equation that the step
  // just taken does not meet because others contradict it.
  std::optional<std::size_t> contradicted_equation();
  // By unknown of the mode: whether it carries anything over from the mode before.
  std::vector<bool> carried() const {
    return carried_ != nullptr ? carried_->under_der : unknowns_under_der(*analysed_);
  }
  // After kRanksChanged: which equation and unknowns are concerned.
  std::string describe_rank_change() const;
  // The work of another form of the mode that this one continues.
  void take_over(ModeRun& former);
  // The form was made for other numbers and should be made anew.
  bool form_is_stale(const HybridSystem& system, double t, const SystemState& state) const {
    return analysed_->formulated != nullptr && !analysed_->formulated->choices.empty() &&
           is_stale(*analysed_->formulated, form_point(system, *analysed_, t, state));
  }

  // Whether points between events need not be read at once: nobody looks at them but stored points,
  // and the integrator tells them later.
  bool may_be_read_later() {
    return monitor_ == nullptr && analysed_->formulated == nullptr && integrator().gives_all_else();
  }
  // The integrator's present point into the state.
  void read_point(SystemState& state);
  // The same at an event: made consistent, where the form is not.
  void read_event_point(SystemState& state);
  // Columns of stored points inside the last step, straight from what is integrated; null if that
  // does not do.
  CoreColumns* columns(const HybridSystem& system, const std::vector<Expr>& columns) {
    return setups_.columns_of(system, *active_, columns);
  }
  // A point inside the last step: interpolated, then made consistent.
  void read_interpolated(double t, SystemState& state);

  // Whether what is carried over an instant differs by no more than the errors of the steps and of
  // the instant itself.
  bool is_no_jump(double t, double change, double size, double slope) const;

  // The values guard's transition assigns, evaluated at left limits.
  void transition_values(std::size_t guard, double t, const SystemState& left,
                         std::vector<double>& values);

  // Residuals of the constraints at a point of this mode, if the options ask for them.
  void measure_constraints(double t, const SystemState& state, bool at_switch);
  LevelResiduals constraint_residuals() const;

  bool integrated_as_written() const {
    return analysed_->reduced == nullptr && analysed_->projected == nullptr &&
           analysed_->formulated == nullptr;
  }
  bool integrated_by_structure() const { return analysed_->projected == nullptr; }
  // At the point made consistent last. Pre: integrated_as_written().
  RankReport measure_ranks(double t);
  // Of a reduced form, at the point made consistent last.
  bool highest_level_is_regular(double t) const;

 private:
  void compile_transitions(const HybridSystem& system);
  ConsistentSolver& constraints() {
    return projection_ != nullptr ? *projection_ : setups_.consistent_of(*active_);
  }
  void look_ahead(double until);
  double end_before_break(double t) const;
  bool share_forces();
  bool reselect();
  bool update_projector(double t, const double* x);
  void gather(const SystemState& state);
  void take_start(const SystemState& state);
  bool select_states_if_large(double t);
  ConsistentOutcome complete(double t, SystemState& state);
  void hand_over(double t, SystemState& state);
  bool settle_start(double t, SystemState& state);
  void read_within_step(double t, double* x, double* dx);
  void refine_end(double t, std::vector<double>& x, std::vector<double>& dx);
  bool carries_over(double t, const SystemState& before, const SystemState& after) const;
  bool keep_set_values(double t, const SystemState& before, const std::vector<bool>& set,
                       SystemState& state);
  bool follow_states(double t, SystemState& state);
  void scatter(double t, const double* x, const double* dx, SystemState& state);

  std::unique_ptr<const AnalysedMode> analysed_;
  std::unique_ptr<ModeRun> start_;
  SystemState entered_with_;                  // for what a form with start_ does not integrate
  std::unique_ptr<CarriedUnknowns> carried_;  // null if start_ finds the points
  std::vector<std::size_t> under_der_;        // unknowns of the mode that are; the same
  std::vector<std::size_t> controlled_;       // unknowns of the Dae that are
  DaeData data_;
  ModeSetups setups_;
  std::unique_ptr<ConsistentSolver> projection_;  // onto all constraints; null: as written
  std::unique_ptr<ConsistentSolver> carrying_;    // the same, keeping what is under der(); or null
  std::unique_ptr<ImpulseSolver> impulses_;       // made when a jump is needed
  std::unique_ptr<GuardPath> path_;
  std::unique_ptr<ModeFlow> flow_;
  Graph* graph_;
  std::unique_ptr<StateSelector> selector_;     // reduced form
  std::unique_ptr<ProjectorUpdate> projector_;  // projected form
  std::vector<std::size_t> states_;
  bool is_flat_ = false;
  std::vector<std::size_t> shared_;
  std::vector<BreakTime> breaks_;  // where equations or guards have kinks by time alone
  double kink_ = std::numeric_limits<double>::infinity();  // that the step under way leads to
  std::unique_ptr<TimeTerms> time_terms_;
  double tolerance_;
  ModeSetup* active_ = nullptr;
  std::unique_ptr<GuardWatch> watch_;
  std::unique_ptr<ConstraintMonitor> monitor_;
  std::vector<Tape> transitions_;  // by guard
  std::vector<Tape::Workspace> transition_registers_;
  Tape::Workspace recovery_registers_;
  std::vector<double> recovered_;
  struct Place {
    std::size_t variable;
    int order;
  };
  std::vector<Place> places_;  // by unknown of the Dae
  std::vector<Expr> held_;     // variables of other modes and slots
  std::vector<std::uint32_t> all_unknowns_;
  std::vector<double> x_, dx_;
  std::vector<double> given_x_, given_dx_;  // of follow_states(), which is called often
  SystemState after_;                       // the same
  bool has_algebraic_ = false;
  bool entered_ = false;  // an integrator has been started
  double step_ = 0.0;
  double look_ahead_ = 0.0;  // for falls of time guards, in steps
  ModeReport report_;
};

// Throws Error: the mode is none for half-explicit methods.
[[noreturn]] void refuse_half_explicit(const HybridSystem& system, const Mode& mode,
                                       const std::string& objection);

// Analyses a mode by structure and makes what integrates it, in the formulation the options ask for
// where the mode has constraints; `state` is the point it is about to be entered with. Null if
// structure does not settle the mode.
std::unique_ptr<ModeRun> make_mode_run(const HybridSystem& system, ModeId id,
                                       const ModeOptions& options, double t,
                                       const SystemState& state,
                                       std::vector<std::string>& warnings);

}  // namespace saltus
