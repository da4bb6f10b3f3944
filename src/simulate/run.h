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
#include "simulate/follow_accumulation.h"
#include "simulate/just_after.h"
#include "simulate/messages.h"
#include "simulate/mode_store.h"
#include "simulate/pole_watch.h"
#include "simulate/recorder.h"
#include "simulate/result.h"
#include "simulate/rounding_watch.h"
#include "simulate/sensitivity.h"
#include "simulate/simulate.h"
#include "simulate/transfer.h"
#include "simulate/zeno.h"

// One run in progress, as data. What happens to it are free functions, by theme: mode_store.h,
// enter_mode.h, settle.h, advance.h, chattering.h, flat_contacts.h, follow_accumulation.h. Internal
// to `simulate`, but for the loop and what is asked of a run between steps.

namespace saltus {

class EventIteration;
class StopRequested;

struct RunSettings {
  SimulateOptions options;
  double start_time = 0.0;  // s
  double stop_time = 0.0;   // s
  double tolerance = 0.0;
  double interval = 0.0;  // s

  double length() const { return stop_time - start_time; }
};

ModeOptions mode_options(const RunSettings& settings);

// Where the run is.
struct Moment {
  ModeRun* mode = nullptr;    // in force; null: there is none yet
  std::size_t flat_mode = 0;  // of a flat model: the same, by FlatModes
  double time = 0.0;          // s
  SystemState state;
  bool is_behind = false;  // steps have been taken since `state` was read, see catch_up()
  SystemState left;        // left limits of the event under way
};

// A mode that the sequence of hops of an instant has been in, and the guard that led on from there.
struct Visit {
  const Mode* mode;
  SystemState state;
  std::string guard;
  std::size_t events;  // logged before it was left
};

// What is known of the instant that is being settled, or was settled last.
struct Instant {
  double time = 0.0;      // s
  std::size_t hops = 0;   // events at it
  std::string guard;      // that fired last
  std::vector<bool> set;  // by VariableId: set by the transition under way
  std::vector<double> assigned;
  TransferOutcome transfer;
  bool within_region = true;  // projections end where they leave the region
  Firing cut_short;
  Firing falling;      // guards that are at zero where a mode begins, and fall
  bool lasts = false;  // the present mode has been found to: nothing more is asked
  std::vector<Visit> sequence;
  // Flat models, for tangents: left limits with what the event under way sets, and whether the run
  // is about to start.
  std::optional<SystemState> replay;
  bool at_flat_start = false;
};

// What has come of the run so far.
struct RunLog {
  SimulateResult result;
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<Messages> messages;  // of a flat model; otherwise null
  std::vector<bool> warned;            // by assertion
  std::size_t silent_events = 0;       // that nothing followed from
  bool stopped = false;
  bool is_abandoned = false;  // within an event: the present mode may be half replaced
};

struct RunClock {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun = Clock::now();
  Clock::time_point mode_entered = Clock::now();
  double processor_begun = processor_seconds();
  double building_begun = BuildingTime::total();

  static double since(Clock::time_point begin) {  // s
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
};

// Where the work was looked at last.
struct Progress {
  const ModeRun* mode = nullptr;
  std::size_t steps = 0;
  std::size_t rejected = 0;
  double time = 0.0;
};

// Guards of a mode, as far as they have been at zero when it was entered.
struct KnownGuards {
  std::map<std::vector<double>, std::map<std::size_t, bool>> is_first_integral;  // by slots
  std::map<std::vector<std::size_t>, ModeId> constrained;                        // by guards held
};

struct Run {
  // Checks the input; throws Error.
  Run(const HybridSystem& system, const SimulateOptions& options);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  HybridSystem system;  // a copy: modes and variables are added to it during the run
  RunSettings settings;
  ModeStore modes;
  Moment now;
  Instant instant;
  RunLog log;
  RunClock clock;
  Progress progress;
  JustAfter just_after;
  PoleWatch poles;  // since the last event
  RoundingWatch rounding;
  std::string rank_change;                  // what the last change of ranks inside a mode was about
  std::unique_ptr<EventIteration> events;   // of a flat model; otherwise null
  std::unique_ptr<Delays> delays;           // null: the model reads no past
  std::unique_ptr<Sensitivities> tangents;  // null: not asked for
  Chattering chattering;
  FlatContacts contacts;  // of a flat model
  ZenoWatch zeno;
  std::vector<MadeLimit> made_limits;
  std::map<ModeId, KnownGuards> known_guards;
};

// The loop of simulate(), without what comes after it.
void run_to_end(Run& run);
bool is_running(const Run& run);
void stop(Run& run, StopReason reason, std::string message);
// Ends the run where an event or an iteration was under way: the state between is no result.
void abandon(Run& run, const StopRequested& request);
// The summary; the run is over.
SimulateResult finish(Run& run);

// The state at the present time.
const SystemState& present_state(Run& run);
bool is_interrupted(const Run& run);
double elapsed(const Run& run);        // s
std::string place_of(const Run& run);  // "at t = 1.5 in mode 'flying'"
// Throws Error if steps of no more than this would be more than a run may take.
void require_few_steps(const RunSettings& settings, double longest, const char* what);
// ", see equation ...": the one that is written for the unknown of the present mode, else the first
// that contains it.
std::string equation_for(const Run& run, std::size_t unknown);

}  // namespace saltus
