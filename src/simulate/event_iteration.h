#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/causal_guess.h"
#include "analysis/flat_modes.h"
#include "simulate/initial_problem.h"
#include "simulate/just_after.h"
#include "simulate/mode_run.h"

namespace saltus {

// A mode that an event iteration passed through: its projection left the region of the mode on the
// way, or by an impulse, or what it led to asked for another mode at once (MO).
struct Hop {
  std::size_t mode = 0;   // of FlatModes
  double fraction = 1.0;  // of the projection that was carried out
  SystemState left;       // left limits, with what was carried in place
  SystemState at;         // where the mode was left; the next projection starts there
  std::string cause;      // what led on
  std::map<std::string, double> impulses;
};

// What an event iteration came to.
struct Settled {
  bool ok = false;
  std::string problem;   // if not ok: one sentence
  std::size_t mode = 0;  // of FlatModes
  int iterations = 0;    // rounds of the outer loop
  const Termination* termination = nullptr;
  std::map<std::string, double> impulses;  // by unknown
  std::vector<Hop> hops;                   // all but the last, in order
  SystemState left;            // of the last: left limits, with what was carried in place
  std::size_t first_mode = 0;  // of start(): the mode in which the initial problem was solved
  bool tie = false;            // several transitions of one priority could have been taken
  std::vector<std::string> warnings;
};

// Finds discrete values, mode and continuous values that agree with each other after an event:
//
//   repeat
//     repeat with pre() frozen                                  (inner fixpoint)
//       mode := that of the structural conditions
//       solve the continuous part of that mode from the state before this round
//       relations and discrete equations, in sorted order
//     until nothing changes
//     reinit; pre() := present values
//   until nothing changes
//
// Relations have the value they have *just after*: where one is zero, the first derivative along
// the flow of the candidate that does not vanish decides (just_after.h); if all vanish, the value
// as written at zero. A relation counts as zero if it fired at this instant and has not moved
// since, or if its value is rounding. If the inner fixpoint runs in a circle, relations that come
// to zero keep the value they had on the way; if it still does, they are changed one at a time
// (principal pivoting, which ends at a solution wherever the continuous part is monotone, as with
// friction and diodes). If there is none ("when |tau| > c then locked = false": unlocked, the
// torque is within c again), or if the outer loop runs in a circle, discrete values that remember
// change one at a time, as the mode in force asks for: principal pivoting again, on the discrete
// side.
class EventIteration {
 public:
  // Gives the run of a mode, or null if the mode cannot be analysed. The system must outlive this.
  using Visit = std::function<ModeRun*(std::size_t mode)>;
  // `is_interrupted` is asked now and then; where it says so, the iteration ends without a result.
  // `weight_of` gives the variable that is the weight of a surface while it is held; null: surfaces
  // are not held.
  EventIteration(const HybridSystem& system, Visit visit, std::function<bool()> is_interrupted,
                 std::function<Expr(std::size_t surface)> weight_of = nullptr);

  // The initial problem, then an event iteration without initial(). In: start values; out: a
  // consistent point with its slots.
  Settled start(double t, SystemState& state);

  // An event. `state` holds left limits on entry. `fired` are guards of the present mode; those in
  // `from_band` were at zero before and have left it.
  Settled run(double t, SystemState& state, std::size_t mode, const std::vector<std::size_t>& fired,
              const std::vector<bool>& from_band);

  // The initial problem of a mode alone in a form that was made after start(). If it has no
  // solution, `culprit` is an equation that is not met.
  ConsistentOutcome start_in(double t, ModeRun& run, std::size_t mode, SystemState& state,
                             std::string& culprit);
  // The initial problem of a mode alone, with other parameters; for derivatives.
  bool repeat_start(double t, SystemState& state, std::size_t mode,
                    const std::vector<double>& parameters);

  FlatModes& modes() { return modes_; }
  const FlatMode& mode(std::size_t index) const { return modes_.mode(index); }

  // Index of the first assertion that does not hold, of those not marked in `ignored`; -1: none.
  std::ptrdiff_t failed_assertion(double t, const SystemState& state,
                                  const std::vector<bool>& ignored);

  // Gives the run of a mode, or null if structure alone does not settle it: for modes that are only
  // tried. Without it they are analysed by numbers, too.
  void try_modes_by(Visit visit) { visit_if_structural_ = std::move(visit); }

  // From now on this relation changes only when zero has been passed by the width.
  void widen(std::size_t relation, double width) { widths_[relation] = width; }

  // Takes a relation at zero, and what follows from it, to the value it had before it fired, so
  // that it can fire again.
  void rearm(double t, SystemState& state, std::size_t relation);

  // The reinits that the last event carried out.
  const std::vector<std::size_t>& reinits_taken() const { return taken_; }
  // The same on entry of states: which, and the value handed over.
  struct Handed {
    std::size_t reinit = 0;
    double value = 0.0;
  };
  const std::vector<Handed>& handed_over() const { return handed_over_; }

  // Discrete variables (not hidden ones) whose value differs: name, before, after.
  std::map<std::string, std::pair<double, double>> changes(const SystemState& before,
                                                           const SystemState& after) const;

 private:
  // Expressions that are evaluated at a system state.
  struct Formulas {
    Formulas() = default;
    Formulas(const std::vector<Expr>& expressions, const std::vector<std::vector<Expr>>& inputs)
        : tape(expressions, inputs), registers(tape.make_workspace()), values(expressions.size()) {}
    Tape tape;
    Tape::Workspace registers;
    std::vector<double> values;
  };
  // Relations and discrete equations that read nothing of each other.
  struct Level {
    std::vector<std::size_t> items;  // relations, then discrete equations
    Formulas formulas;               // by item: its value; then, of relations, the size
  };
  // What an impulse of a variable does to relations.
  struct Pushes {
    std::vector<std::pair<std::size_t, std::size_t>> entries;  // relation, variable
    Formulas coefficients;
  };
  // What has values on the way into a mode.
  struct Paths {
    std::vector<std::size_t> carried;    // variables under der()
    std::vector<std::size_t> relations;  // in use, and in those variables only
  };
  static constexpr int kMostRounds = 200;
  static constexpr double kAhead = 1e-7;  // s, or relative to the time
  static constexpr double kFarAhead = 1e-5;
  enum class At { kAway, kFired, kLeftBand };

  void compile();
  void sort_levels(const std::vector<std::vector<Expr>>& inputs, const std::vector<Expr>& sizes);
  void evaluate(Formulas& formulas, double t, const SystemState& at);
  void begin(double t, const SystemState& left);
  void take_left_limits(double t, const SystemState& left);
  bool iterate(double t, const SystemState& base, SystemState& out, Settled& settled);
  bool inner(double t, SystemState& base, SystemState& out, Settled& settled);
  bool pivot(double t, SystemState& base, SystemState& out, Settled& settled);
  bool solve(double t, SystemState& base, SystemState& out, std::size_t& mode);
  bool solve_in(double t, SystemState& base, SystemState& out, std::size_t mode, bool is_there);
  bool leaves_split_open(std::size_t mode);
  // Forces that constraints share (event_split.cc).
  struct SplitForm {
    std::vector<Expr> columns;  // unknowns that are not differentiated
    std::size_t rows = 0;       // equations that choose no split
    std::vector<std::pair<std::size_t, std::size_t>> equation_places, margin_places;
    std::vector<std::size_t> sources;  // of the mode's guards
    std::vector<Expr> values;          // of their relations and weights
    Formulas formulas;  // derivatives of equations and values, values, conditions of the split
  };
  SplitForm& split_form(std::size_t mode);
  bool leads_to(std::size_t mode, double t, const SystemState& at);
  std::vector<int> sides_that_stay(std::size_t mode, double t, const SystemState& at,
                                   const std::vector<std::size_t>& sources);
  std::optional<std::size_t> best_split(std::size_t mode, double t, const SystemState& at);
  std::string moved_fixed(const ModeRun& run, const std::vector<bool>& fixed,
                          const SystemState& start, const SystemState& point) const;
  // What to leave out so that the run can start.
  std::string advice_on_start(double t, const SystemState& base, ModeRun& run, std::size_t mode);
  ConsistentStatus solve_initial_problem(double t, const SystemState& base, ModeRun& run,
                                         std::size_t mode, SystemState& trial);
  ConsistentStatus find_point(double t, const SystemState& base, ModeRun& run, std::size_t mode,
                              SystemState& trial);
  // Takes relations and discrete values from the continuous point. With `relations` false those
  // that read unknowns are only compared; violated_ lists those that differ.
  void take_values(double t, SystemState& out, bool relations);
  bool relation_value(std::size_t relation, double value);
  // The sign just after of what is zero; 0 if it stays zero, none if nothing tells.
  std::optional<int> sign_just_after(std::size_t relation);
  // Held surfaces (event_held.cc).
  std::vector<double> key() const;
  bool is_held(std::size_t surface) const;
  void hold_surface(std::size_t surface);
  void release(std::size_t surface, bool upwards);
  void examine_weights(const SystemState& out, bool adopt);
  std::vector<std::size_t> without_effect(double t, std::size_t mode, const SystemState& at);
  bool is_at_zero(std::size_t relation, double value) const;
  bool hold_what_turns(double t, const SystemState& out,
                       const std::vector<std::vector<double>>& history, std::size_t from);
  void change(std::size_t item, double t, const SystemState& out);
  void fit(SystemState& state) const;
  double present(const Expr& slot) const { return slots_[slot.node()->slot().index()]; }
  void put(const Expr& slot, double value) { slots_[slot.node()->slot().index()] = value; }
  // What transitions set and carry (event_handover.cc).
  bool reinitialise(double t, const SystemState& base, std::size_t mode, SystemState& out);
  bool hand_over(double t, SystemState& out, Settled& settled);
  void refresh_relations(double t, const SystemState& at);
  bool leave_on_the_way(double t, SystemState& out, Settled& settled);
  void note_completed_hop(const SystemState& base, const SystemState& out, const Settled& settled);
  void end_completed_hop(Settled& settled);
  bool machine_fires(double t, const SystemState& at);
  bool has_fired_machine() const;
  std::string leaving_conditions() const;
  void note_values_not_kept(double t, const SystemState& base, const SystemState& out,
                            Settled& settled);
  bool accept_values();
  bool interrupted(double t, Settled& settled) const;
  bool evaluate_ahead(double t, const SystemState& settled, std::size_t mode, int steps);
  void push_relations(double t, const SystemState& before, const SystemState& after);
  // Projections that do not come to their end (event_pinnacle.cc).
  bool cut_short(double t, SystemState& from, SystemState& out, Settled& settled);
  // Where a projection ends before its end; `relations` have changed there, at x- none.
  struct Exit {
    double fraction = 0.0;
    SystemState at;
    std::vector<std::size_t> relations;
    bool by_impulse = false;
  };
  // Whether relations as they are lead out of the mode; takes what follows from them.
  using LeadsOut = std::function<bool(const SystemState&)>;
  std::optional<Exit> find_exit(double t, const SystemState& from, const std::vector<double>& jumps,
                                std::size_t mode, bool ask_at_begin, const LeadsOut& leads_out);
  std::vector<double> jumps_into(std::size_t mode, const SystemState& from, const SystemState& to);
  bool leaves_mode(double t, std::size_t mode, const SystemState& at);
  bool asks_for_action(double t, const SystemState& at);
  std::vector<std::size_t> first_to_leave(double t, const SystemState& from,
                                          const std::vector<double>& jumps, std::size_t mode,
                                          double& fraction);
  const Paths& paths_of(std::size_t mode);
  // Discrete values that remember change one at a time (event_singly.cc).
  void find_memory();
  void find_resets();
  void choose_one(double t, SystemState& out);
  bool is_one_chosen() const;
  bool shares_chosen_edge(const std::vector<std::size_t>& edges) const;
  bool reset_waits(std::size_t reinit) const;
  bool accept_one();
  void flip(double t, const SystemState& left, std::size_t mode,
            const std::vector<std::size_t>& fired, const std::vector<bool>& from_band);
  // Configurations that hold at this instant only (event_search.cc).
  Settled find_lasting(double t, SystemState& state, const std::function<Settled()>& attempt);
  Settled start_once(double t, SystemState& state);
  Settled settle(double t, SystemState& state, std::size_t mode,
                 const std::vector<std::size_t>& fired, const std::vector<bool>& from_band);
  void remember_zeros(double t);
  std::vector<double> configuration() const;
  std::vector<std::size_t> free_to_turn(double t, const SystemState& base);
  bool is_refused() const;
  bool has_a_future(double t, const SystemState& settled, std::size_t mode, bool is_second_choice);
  void put_initial_discrete(double t, const SystemState& at);
  std::string name_of_undefined() const;  // empty: nothing
  std::string name_of_infinite() const;
  std::string name_of_inexact() const;
  // Relations and discrete variables that change.
  std::string names_of_changes(const std::vector<std::vector<double>>& history) const;

  const HybridSystem& system_;
  const FlatModel& model_;
  FlatModes modes_;
  Visit visit_, visit_if_structural_;
  std::function<bool()> is_interrupted_;
  std::function<Expr(std::size_t)> weight_of_;
  std::vector<double> parameters_;

  std::vector<Level> levels_;
  std::map<std::size_t, Formulas> effects_;  // by mode: of the weights in it
  Formulas relation_values_, relation_sizes_;
  Formulas reinits_;  // conditions, then values
  Formulas terminations_, assertions_, initial_discrete_, samples_, left_limits_;
  std::vector<double> widths_;        // by relation: of hysteresis, 0: none
  std::vector<bool> is_continuous_;   // by relation: it may cross zero between events
  std::vector<bool> reads_unknowns_;  // by relation: others follow from time and discrete values
  std::vector<bool> resets_;          // by relation: a reinit follows from it

  // Of the event at hand.
  std::vector<double> slots_;
  std::vector<std::size_t> held_;  // surfaces, increasing
  SystemState trial_;              // of solve(), which is called often
  std::vector<double> sizes_;      // by relation
  std::vector<At> at_zero_;        // by relation
  std::vector<bool> crossed_;      // by relation that fired: the value beyond
  double instant_ = std::numeric_limits<double>::quiet_NaN();  // of the last event
  std::vector<std::size_t> fired_here_;  // relations that fired at that instant and were near zero
  const ModeRun* left_run_ = nullptr;    // of the mode that the event ends
  std::vector<bool> reinit_done_;
  std::vector<std::size_t> taken_;  // reinits
  std::vector<Handed> handed_over_;
  bool has_entered_ = false;  // a state, at this instant
  SystemState hop_left_;      // left limits of the present hop, carried values in place
  std::optional<SystemState> entered_from_;  // x- of states whose projection has not been judged
  std::optional<Hop> completed_;             // projection that has come to its end, the last
  std::size_t completed_place_ = 0;          // among the hops, if the next round leads on from it
  std::vector<double> entered_slots_;        // and the relations there
  TransferOutcome transfer_;                 // of the point solved last
  const ModeRun* transfer_run_ = nullptr;
  std::vector<bool> set_;                   // by VariableId: reinitialised
  std::map<std::string, double> impulses_;  // of the point solved last
  std::vector<double> push_;                // by relation, of those impulses; empty: none
  std::unique_ptr<Pushes> pushes_;
  // Relations that disagree with the point solved last, then number of relations + surface for held
  // ones whose weight is out of bounds; and by how much.
  std::vector<std::size_t> violated_;
  std::vector<double> violation_;
  bool is_initial_ = false;
  bool starts_just_after_ = false;  // relations at zero in the initial problem
  // Relations that come to zero in a round that runs in a circle keep the value they had on the
  // way: those that no derivative decides, then all.
  enum class Keeps { kNone, kUndecided, kAll };
  Keeps keeps_ = Keeps::kNone;
  std::vector<bool> may_be_at_zero_;          // by relation: fired; at the start all
  std::vector<std::vector<double>> refused_;  // configurations
  bool may_cut_ = true;                       // projections; not where that leads in a circle
  bool cuts_repeat_ = false;                  // it has
  // Whether discrete values that remember change one at a time; which one goes first; what the mode
  // in force asks for: equation and value.
  bool singly_ = false;
  int singly_strategy_ = 0;
  std::vector<std::pair<std::size_t, double>> wanted_;
  std::vector<bool> remembers_;                  // by discrete equation: it reads its own past
  std::vector<std::vector<std::size_t>> edges_;  // by discrete equation: edge variables it reads
  std::vector<std::vector<std::size_t>>
      pasts_;  // by discrete equation: variables whose pre() it reads
  std::vector<std::vector<std::size_t>> reinit_edges_;  // by reinit: as edges_
  std::vector<bool> chosen_;               // by discrete equation: changes in this round
  std::vector<std::size_t> chosen_edges_;  // of those
  std::vector<bool> is_memory_;            // by discrete variable
  JustAfter just_after_;                   // of the point solved last, if it had a solution
  std::vector<double> left_values_;        // of relations
  bool solved_ = true;
  // Whether modes may be entered whose equations leave a split of forces open, such as a brake that
  // closes on a shaft that stands still anyway; and whether one was refused for that.
  bool may_share_ = true;
  bool refused_to_share_ = false;
  bool shares_at_start_ = false;
  std::map<std::pair<std::size_t, std::size_t>, bool> is_determined_;  // by mode and case
  std::set<std::size_t> decided_;                    // modes of which a case leaves a split open
  std::map<std::size_t, SplitForm> split_forms_;     // by mode
  std::map<std::size_t, std::size_t> split_chosen_;  // by mode: the form solved last
  std::map<std::size_t, std::vector<double>>
      staying_slots_;  // by mode: relations for which it stays
  std::vector<double> left_slots_;
  std::vector<bool> fixed_;
  std::map<std::size_t, std::unique_ptr<InitialProblem>> initial_problems_;  // by mode
  std::map<std::pair<std::size_t, bool>, std::unique_ptr<CausalGuess>>
      guesses_;                         // by mode, `assumes`
  std::map<std::size_t, Paths> paths_;  // by mode
};

}  // namespace saltus
