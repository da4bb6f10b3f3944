#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/processor_time.h"
#include "model/system.h"
#include "simulate/chattering.h"
#include "simulate/delays.h"
#include "simulate/flat_contacts.h"
#include "simulate/mode_run.h"
#include "simulate/recorder.h"
#include "simulate/result.h"
#include "simulate/sensitivity.h"
#include "simulate/simulate.h"
#include "simulate/zeno.h"

namespace saltus {

class EventIteration;
struct Hop;
class Messages;
struct Settled;
class StopRequested;

// One run in progress: the nouns and verbs the loop in simulate.cc is written in. Internal.
class Simulation {
 public:
  // Checks the input; throws Error.
  Simulation(const HybridSystem& system, const SimulateOptions& options);
  ~Simulation();

  void enter_initial_mode();
  bool running() const { return !stopped_ && time_ < stop_time_; }
  StepOutcome step();
  // The guards that end the step just taken.
  const Firing& watch_guards() { return run_->watch().examine(run_->integrator()); }
  void accept_step(const Firing& firing);
  // Successor, transition, consistent point, next mode; repeated while the state is outside it.
  void settle(const Firing& firing);
  void check_limits();
  // The event in which terminal() is true, if the stop time was reached and the model asks for it.
  void settle_end();

  void stop(StopReason reason, std::string message);
  void stop_for(const StepOutcome& outcome);
  // Ends the run where an event or an iteration was under way: the state between is no result.
  void abandon(const StopRequested& request);
  SimulateResult finish();

  // What is asked of a run from outside, between steps: its system with the modes it has made, the
  // mode in force (null: there is none yet) and the state.
  const HybridSystem& system() const { return system_; }
  ModeRun* mode_run() { return run_; }
  double time() const { return time_; }
  const SystemState& present_state() {
    catch_up();
    return state_;
  }

 private:
  friend class Chattering;
  friend class FlatContacts;
  using Clock = std::chrono::steady_clock;

  // A mode that only the run needs; variables may have been added to system_ before. Its name must
  // be new.
  ModeId add_mode(Mode mode);
  ModeRun& visit(ModeId id);
  ModeRun& analyse_by_numbers(ModeId id);
  void warn_of_opaque_terms(const ModeRun& run);
  // Makes the state consistent with the mode and starts its integrator. On the way from another
  // mode, set_ marks what a transition has set; transfer_ tells what became of the state, and the
  // integrator stands still if the mode is left at once. False if the run has stopped.
  bool enter(ModeId id, bool at_start = false);
  bool take_over(const SystemState& before);
  bool structure_holds();
  bool numbers_disagree(ModeId id);
  void catch_up();
  bool continue_by_numbers();
  void renew_form();
  void warn_of_shared_forces();
  void warn_of_unstable_rest();
  ConsistentOutcome make_consistent(bool at_start);
  void report_changed_starts(const std::vector<double>& starts);
  void take_transition(const Firing& firing, bool hop_follows_event);
  // The run has stopped on the way into another mode: the state is the one it had before.
  void stay_in(ModeId id);
  bool is_interrupted() const;
  bool is_stuck();
  const Firing& next_firing();
  bool repeats();
  void log_grazings();

  // Flat models (simulation_flat.cc): modes come from conditions, and the event iteration settles.
  void enter_initial_flat_mode();
  void settle_flat(const Firing& firing);
  bool take_flat_event(const Firing& firing, bool hop_follows_event);
  void log_hop(const Hop& hop, const ModeRun& from, ModeRun& into, bool hop_follows_event,
               Event& event);
  void log_start(const Settled& settled);

  ModeId flat_mode(std::size_t index);
  // How a mode that is a flat mode, or made from one by holding something, looks from there.
  struct FlatView {
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);
    std::size_t flat_mode = 0;
    std::vector<std::size_t> guards;    // by guard: that of the flat mode, or npos
    std::vector<std::size_t> contacts;  // by guard: the contact whose multiplier it is, or npos
  };
  const FlatView* view_of(ModeId id) const;  // null for sliding modes
  // By guard of such a mode: index of the relation, or number of relations + index of the sample;
  // npos if it watches a multiplier.
  std::size_t source_of(ModeId id, std::size_t guard) const;
  ModeRun* visit_flat(std::size_t index);
  void check_assertions();
  void print_messages();
  void describe_flat_modes();
  void list_derived_values();

  void follow_accumulation();
  bool rest_at_once(const Firing& firing);
  void go_to_limit(const Accumulation& limit);
  bool stay_within_first_integrals(bool at_start);
  // Flat models: what an event did with the tangents, as far as it can be repeated.
  void differentiate_flat_event();
  void differentiate_entry(const SystemState& before, const std::vector<bool>& set, bool at_start);
  bool find_limit_mode(const Accumulation& limit, ModeId& mode);
  void note_release(ModeId from);
  std::string equation_for(std::size_t unknown) const;
  // Throws Error if steps of no more than this would be more than a run may take.
  void require_few_steps(double longest, const char* what) const;
  std::string place() const;  // "at t = 1.5 in mode 'flying'"
  double elapsed() const;

  HybridSystem system_;  // a copy: modes and variables are added to it during the run
  SimulateOptions options_;
  double start_time_;
  double stop_time_;
  double tolerance_;
  double interval_;
  Clock::time_point begun_ = Clock::now();
  double processor_begun_ = processor_seconds();
  double building_begun_ = BuildingTime::total();

  std::vector<std::unique_ptr<ModeRun>> modes_;  // by ModeId; null until visited
  std::vector<ModeId> visited_;
  ModeRun* run_ = nullptr;
  double time_ = 0.0;
  SystemState state_;
  bool state_is_behind_ = false;  // steps have been taken since, see catch_up()
  SystemState left_;
  std::vector<double> assigned_;
  std::vector<bool> set_;  // by VariableId: set by the transition under way
  TransferOutcome transfer_;
  bool within_region_ = true;  // projections end where they leave the region
  Firing cut_short_;
  // Where the present sequence of hops has been, and which guard led on from there.
  struct Visit {
    const Mode* mode;
    SystemState state;
    std::string guard;
  };
  std::vector<Visit> sequence_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<EventIteration> events_;  // of a flat model; otherwise null
  std::unique_ptr<Messages> messages_;      // of a flat model; otherwise null
  std::unique_ptr<Delays> delays_;          // null: the model reads no past
  std::vector<ModeId> flat_modes_;          // by mode of the flat model
  std::map<ModeId, FlatView> views_;
  std::vector<bool> refused_;  // the same: it could not be analysed
  std::size_t flat_mode_ = 0;  // the present one
  std::vector<bool> warned_;   // by assertion
  Chattering chattering_{*this};
  FlatContacts contacts_{*this};   // of a flat model
  std::size_t hops_ = 0;           // events at the present instant
  std::size_t silent_events_ = 0;  // that nothing followed from
  std::string last_guard_;         // that fired
  double last_event_ = 0.0;
  Clock::time_point entered_ = Clock::now();
  ZenoWatch zeno_;
  struct MadeLimit {
    ModeId from;
    std::vector<Contact> contacts;
    bool directions_are_constant = false;
    ModeId limit;
  };
  std::vector<MadeLimit> made_limits_;
  struct KnownGuards {  // of a mode, as far as they have been at zero when it was entered
    std::map<std::vector<double>, std::map<std::size_t, bool>> is_first_integral;  // by slots
    std::map<std::vector<std::size_t>, ModeId> constrained;                        // by guards held
  };
  std::map<ModeId, KnownGuards> known_guards_;
  std::unique_ptr<Sensitivities> tangents_;  // null: not asked for
  // Flat models, for tangents: left limits with what the event under way sets, and whether the run
  // is about to start.
  std::optional<SystemState> replay_;
  bool at_flat_start_ = false;
  bool stopped_ = false;
  bool is_abandoned_ = false;
  struct {
    const ModeRun* mode = nullptr;
    std::size_t steps = 0;
    std::size_t rejected = 0;
    double time = 0.0;
  } progress_;               // where it was looked at last
  std::string rank_change_;  // what the last change of ranks inside a mode was about
  SimulateResult result_;
};

// The loop of simulate().
void run_to_end(Simulation& simulation);

}  // namespace saltus
