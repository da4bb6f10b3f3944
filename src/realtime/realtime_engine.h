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

// How modes advance.
enum class RealtimeMethod {
  kExact,     // affine modes by exact matrices, others linearly implicitly
  kImplicit,  // all modes linearly implicitly: order 2, L-stable
};

struct RealtimeOptions {
  double step = 1e-3;                     // s
  std::optional<double> start_time = {};  // s; not given: the system's own experiment decides
  std::optional<double> stop_time = {};   // s, of the rehearsal
  RealtimeMethod method = RealtimeMethod::kExact;
  StepAdjustment adjustment = StepAdjustment::kExact;
  InstantRounds rounds = InstantRounds::kFull;
  int max_events = 8;                     // in one sample; the rest is left to the next
  std::vector<std::string> outputs = {};  // names of variables; empty: all
  std::size_t neighbours = 0;             // modes prepared besides those that the rehearsal meets
  std::string rehearsal_inputs = {};      // CSV file (input_table.h); empty: start values
  double prepare_seconds = 120.0;         // wall time that the preparation may take
};

// What a step had to do, or could not; several may apply.
enum RealtimeStatus : unsigned {
  kStepDone = 0,
  kEventTaken = FS_EVENT_TAKEN,
  kModeUnprepared = FS_MODE_UNPREPARED,
  kNotSettled = FS_NOT_SETTLED,
  kStateNotFinite = FS_STATE_NOT_FINITE,
  kEventsLeft = FS_EVENTS_LEFT,
  kResetLost = FS_RESET_LOST,
  kStateJumped = FS_STATE_JUMPED,
  kModelTerminated = FS_TERMINATED,
  kInputRefused = FS_INPUT_REFUSED,
  kStepRough = FS_STEP_ROUGH,
};

// What happened at one instant, for a log.
struct RealtimeEvent {
  double time = 0.0;
  std::size_t from = 0;  // modes
  std::size_t to = 0;
  int rounds = 0;
  std::vector<std::size_t> relations;  // that fired
};

// An input of the model: `input Real u` of its top level, where it was loaded to be fed.
struct RealtimeInput {
  std::string name;
  bool is_discrete = false;  // Boolean, Integer or an enumeration
  double start = 0.0;
};

// Runs a system that comes from text with a fixed step. The constructor prepares: it finds the
// start, and rehearses the run to the stop time, so that every mode it meets is analysed, reduced
// and compiled. After that step() works with what is there (fixed_step.h): it neither allocates nor
// throws nor calls the system, and its work is bounded.
class RealtimeEngine {
 public:
  // Throws Error that says what cannot be prepared, and why. The system must come from build().
  RealtimeEngine(const HybridSystem& system, const RealtimeOptions& options);
  ~RealtimeEngine();
  RealtimeEngine(const RealtimeEngine&) = delete;
  RealtimeEngine& operator=(const RealtimeEngine&) = delete;

  // Back to the start; the same steps give the same numbers, to the last bit.
  void restart() noexcept;
  // One sample, with the inputs held over it; null: as they were. Returns RealtimeStatus flags.
  unsigned step(const double* inputs = nullptr) noexcept { return fs_step(&engine_, inputs); }
  double time() const noexcept { return fs_time(&engine_); }
  // Values of outputs() at the present time.
  void read_outputs(double* values) noexcept { fs_outputs(&engine_, values); }

  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::vector<RealtimeInput>& inputs() const { return inputs_; }
  std::size_t sample() const { return engine_.sample; }
  std::size_t present_mode() const { return engine_.mode; }
  const FlatMode& mode(std::size_t index) const;
  bool is_prepared(std::size_t index) const { return prepared_[index] != nullptr; }
  const PreparedMode& prepared(std::size_t index) const { return *prepared_[index]; }
  std::size_t mode_count() const { return prepared_.size(); }
  std::size_t prepared_count() const;
  const std::string& relation_text(std::size_t relation) const;
  // Called at every event, inside of step(); what it does is not bounded by the engine.
  std::function<void(const RealtimeEvent&)> on_event;
  // Why the model ended the run. Pre: it has.
  const std::string& message() const { return model_.terminations[engine_.terminated_by].message; }

  // What the steps work with, for C code: tables and, behind them, formulas.
  const fs_model& tables() const { return tables_; }
  const fs_engine& memory() const { return engine_; }
  const std::string& name() const { return system_.name(); }

 private:
  // How a mode is recognised: the values of its structural conditions, and those that the variables
  // that name it had.
  struct Way {
    std::vector<std::pair<Expr, double>> conditions;
    std::set<std::vector<double>> names;
    bool is_special = false;  // made for one set of held values
  };
  struct Level {
    std::vector<std::size_t> items;  // relations, then discrete equations
    TapeFormulas formulas;
  };

  void refuse_unsupported() const;
  [[noreturn]] void refuse_to_go_on() const;
  void compile();
  void compile_levels(const std::vector<std::vector<Expr>>& inputs, const std::vector<Expr>& sizes);
  void list_outputs();
  void list_samples();
  void compile_resets(const std::vector<std::vector<Expr>>& inputs);
  ModeRun* start_run(std::size_t index, bool by_numbers_too);
  void find_start();
  void rehearse(double stop_time);
  std::size_t add_mode(std::size_t flat);
  std::size_t prepare(std::size_t flat, double t);
  void prepare_by_structure(std::size_t mode, double t);
  std::size_t prepare_by_numbers(std::size_t flat, double t);
  bool enters(std::size_t mode, double t);
  void take_core(std::size_t mode, ModeCore core, double t, const SystemState& near);
  SystemState base_state() const;
  ModeId flat_mode(std::size_t index);
  std::size_t find_or_prepare(double t) noexcept;
  void make_room();
  void prepare_neighbours();
  void note_way(std::size_t mode);
  void compile_lookup();
  void make_handover(double t) noexcept;
  void add_handover(std::size_t mode, double t, const SystemState& point,
                    const std::vector<unsigned char>& asked);
  void tell_event(double t, std::size_t from, std::size_t to, int rounds) noexcept;
  void watch_for_chattering(double t) noexcept;

  HybridSystem system_;
  std::shared_ptr<const FlatSystem> flat_;
  const FlatModel& model_;
  RealtimeOptions options_;
  std::vector<double> parameters_;
  std::vector<std::string> output_names_;
  std::vector<RealtimeInput> inputs_;
  RealtimeFormulas formulas_;
  std::vector<std::string> warnings_;
  std::unique_ptr<EventIteration> events_;
  struct StartRun {
    std::unique_ptr<ModeRun> run;
    bool is_unsettled = false;  // by structure
    bool is_refused = false;
  };
  std::map<std::size_t, StartRun> start_runs_;
  std::vector<ModeId> flat_modes_;
  // By mode of the engine. A mode of the model may have several: one for all held values, and some
  // for values with which that one is singular.
  std::vector<std::unique_ptr<PreparedMode>> prepared_;
  std::vector<std::size_t> flat_of_;
  std::map<std::size_t, std::size_t> general_;  // by mode of the model: the one for all values
  std::map<std::size_t, Way> ways_;             // by mode of the engine
  std::string refusal_;                         // met while rehearsing
  bool is_late_ = false;                        // the preparation has had its time
  std::string objection_;  // why the last mode tried in vain cannot be prepared
  std::map<std::size_t, std::string> objections_;  // by mode of the engine
  std::map<std::pair<std::size_t, std::vector<double>>, std::string> singular_;  // by held values
  std::set<std::pair<std::size_t, std::string>> tried_handovers_;  // with what reinit sets

  // The tables, and what they point at.
  fs_model tables_{};
  fs_engine engine_{};
  SystemState start_state_;
  TapeFormulas relation_sizes_, reinits_, entrance_values_, terminations_, lefts_, conditions_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::vector<fs_relation> relation_table_;
  std::vector<fs_level> level_table_;
  std::vector<std::size_t> equation_slots_, reset_place_, reset_variables_, machine_slots_,
      left_slots_, row_modes_;
  std::vector<fs_entrance> entrance_table_;
  std::vector<fs_discrete> discrete_table_;
  std::vector<fs_sample> sample_table_;
  std::vector<fs_input> input_table_;
  std::vector<const fs_mode*> mode_table_;
  std::vector<double> rows_;
  std::vector<double> model_numbers_, mode_numbers_;
  std::vector<unsigned char> model_flags_;
  std::vector<std::size_t> mode_indices_;
  RealtimeEvent event_;
  // By relation: changes within a moment.
  struct Changes {
    double since = -std::numeric_limits<double>::infinity();
    int count = 0;
  };
  std::vector<Changes> changes_;
  std::optional<std::size_t> chattering_;
};

}  // namespace saltus
