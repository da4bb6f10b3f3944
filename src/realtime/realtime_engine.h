#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/build.h"
#include "model/system_state.h"
#include "realtime/prepared_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/result.h"

namespace saltus {

// Where an event lies in a sample.
enum class StepAdjustment {
  kExact,  // partial steps to the event, found by halving to 2^-32 of the step
  kDelta,  // on the line between the ends of the step (RE 2.2.4)
  kNone,   // at the end of the sample (OT)
};

// How an instant is settled.
enum class InstantRounds {
  kFull,        // rounds until discrete values, mode and state agree, at most so many
  kPropagated,  // one round a sample, the next one in the next sample (OT)
};

struct RealtimeOptions {
  double step = 1e-3;                     // s
  std::optional<double> start_time = {};  // s; not given: the system's own experiment decides
  std::optional<double> stop_time = {};   // s, of the rehearsal
  StepAdjustment adjustment = StepAdjustment::kExact;
  InstantRounds rounds = InstantRounds::kFull;
  int max_events = 8;                     // in one sample; the rest is left to the next
  std::vector<std::string> outputs = {};  // names of variables; empty: all
};

// What a step had to do, or could not; several may apply.
enum RealtimeStatus : unsigned {
  kStepDone = 0,
  kEventTaken = 1u << 0,
  kModeUnprepared = 1u << 1,   // a mode was asked for that is not there; the present one is held
  kNotSettled = 1u << 2,       // rounds are left for the next sample
  kStateNotFinite = 1u << 3,   // the state before the step is held
  kEventsLeft = 1u << 4,       // more than max_events; the rest is left to the next sample
  kResetLost = 1u << 5,        // reinit of a variable that is no state of the mode
  kStateJumped = 1u << 6,      // a mode was entered that an impulse would have to lead into
  kModelTerminated = 1u << 7,  // terminate() of the model
};

// What happened at one instant, for a log.
struct RealtimeEvent {
  double time = 0.0;
  std::size_t from = 0;  // modes
  std::size_t to = 0;
  int rounds = 0;
  std::vector<std::size_t> relations;  // that fired
};

// Runs a system that comes from text with a fixed step. The constructor prepares: it finds the
// start, and rehearses the run to the stop time, so that every mode it meets is analysed, reduced
// and compiled. After that step() works with what is there: it neither allocates nor throws nor
// calls the system, and its work is bounded.
//
// An event is a relation that has changed at the end of a step. It is located by halving, the
// instant settled by rounds as offline (relations, discrete equations, mode, point; then pre), and
// the rest of the sample taken from there, so that samples stay on their grid.
class RealtimeEngine {
 public:
  // Throws Error that says what cannot be prepared, and why. The system must come from build().
  RealtimeEngine(const HybridSystem& system, const RealtimeOptions& options);
  ~RealtimeEngine();
  RealtimeEngine(const RealtimeEngine&) = delete;
  RealtimeEngine& operator=(const RealtimeEngine&) = delete;

  // Back to the start; the same steps give the same numbers, to the last bit.
  void restart() noexcept;
  // One sample. Returns RealtimeStatus flags.
  unsigned step() noexcept;
  double time() const noexcept { return time_at(0); }
  // Values of outputs() at the present time.
  void read_outputs(double* values) noexcept;

  const std::vector<std::string>& output_names() const { return output_names_; }
  std::size_t sample() const { return sample_; }
  std::size_t present_mode() const { return mode_; }
  const FlatMode& mode(std::size_t index) const;
  bool is_prepared(std::size_t index) const { return prepared_[index] != nullptr; }
  const PreparedMode& prepared(std::size_t index) const { return *prepared_[index]; }
  std::size_t mode_count() const { return prepared_.size(); }
  std::size_t prepared_count() const;
  const std::string& relation_text(std::size_t relation) const;
  // Called at every event, inside of step(); what it does is not bounded by the engine.
  std::function<void(const RealtimeEvent&)> on_event;
  // Why the model ended the run. Pre: it has.
  const std::string& message() const { return model_.terminations[terminated_by_].message; }

 private:
  struct Formulas {
    Formulas() = default;
    Formulas(const std::vector<Expr>& expressions, const std::vector<std::vector<Expr>>& inputs)
        : tape(expressions, inputs), registers(tape.make_workspace()), values(expressions.size()) {}
    Tape tape;
    Tape::Workspace registers;
    std::vector<double> values;
  };
  struct Level {
    std::vector<std::size_t> items;  // relations, then discrete equations
    Formulas formulas;
  };
  enum class Zero : unsigned char { kAway, kFired, kWasThere };

  void refuse_unsupported() const;
  void compile();
  void find_start();
  void rehearse(double stop_time);
  PreparedMode* prepare(std::size_t mode, double t, const SystemState& state);
  ModeId flat_mode(std::size_t index);

  double time_at(std::size_t tick) const noexcept;
  bool find_violated(double t) noexcept;
  std::size_t locate(std::size_t tick, std::size_t length, double t) noexcept;
  std::size_t ticks_to_sample(double t, std::size_t most) const noexcept;
  bool fire_samples(double t) noexcept;
  void settle(double t) noexcept;
  bool agree(double t, bool once) noexcept;
  void arm(const std::vector<double>& values) noexcept;
  std::size_t find_mode(double t) noexcept;
  void take_values(double t) noexcept;
  bool relation_value(std::size_t relation, double value) const noexcept;
  bool reinitialise(double t) noexcept;
  bool accept_values() noexcept;
  bool leave_zero(double t) noexcept;
  void look_beyond_zero(double t) noexcept;
  bool look_ahead(double t) noexcept;
  void evaluate(Formulas& formulas, double t, const SystemState& at) noexcept;
  double& slot(const Expr& symbol) noexcept { return slots_[symbol.node()->slot().index()]; }

  HybridSystem system_;
  std::shared_ptr<const FlatSystem> flat_;
  const FlatModel& model_;
  RealtimeOptions options_;
  std::vector<double> parameters_;
  double start_time_ = 0.0;
  std::vector<std::string> output_names_;
  RealtimeFormulas formulas_;
  std::vector<std::string> warnings_;
  std::unique_ptr<EventIteration> events_;
  std::map<std::size_t, std::unique_ptr<ModeRun>> start_runs_;
  std::vector<ModeId> flat_modes_;
  std::vector<std::unique_ptr<PreparedMode>> prepared_;
  bool is_rehearsing_ = true;
  std::string refusal_;    // met while rehearsing
  std::string objection_;  // why the last mode tried in vain cannot be prepared
  std::map<std::size_t, std::string> objections_;  // by mode

  Formulas relation_sizes_, reinits_, terminations_, samples_;
  std::vector<Level> levels_;
  std::vector<bool> is_continuous_;

  // The run.
  SystemState start_state_;
  std::size_t start_mode_ = 0;
  std::size_t sample_ = 0;
  std::size_t mode_ = 0;
  bool is_pending_ = false;  // relations are violated, or rounds are left, where the sample begins
  bool is_terminated_ = false;
  std::size_t terminated_by_ = 0;
  unsigned status_ = 0;
  std::size_t jumped_ = 0;  // the variable of kStateJumped

  // Of the instant at hand.
  SystemState state_, base_, left_;
  std::vector<double> slots_;
  std::vector<double> values_, before_, ahead_, sizes_;  // by relation
  std::vector<Zero> at_zero_;
  std::vector<bool> fired_, located_;
  std::vector<bool> armed_;  // has left zero since the last event, on the side its slot says
  bool keeps_at_zero_ = false;
  bool entered_mode_ = false;
  bool crossing_is_past_ = false;
  std::vector<bool> reset_done_, reset_pending_;
  std::vector<std::size_t> reset_place_;  // by reinit: in formulas_.reset
  std::vector<double> reset_values_;
  std::vector<std::vector<double>> history_;
  std::vector<double> entry_slots_;
  RealtimeEvent event_;
};

}  // namespace saltus
