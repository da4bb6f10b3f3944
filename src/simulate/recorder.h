#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expr/tape.h"
#include "model/system.h"
#include "simulate/bounds_watch.h"
#include "simulate/mode_run.h"
#include "simulate/trajectory.h"

namespace saltus {

// Turns states into stored points: a grid of times and both sides of every event, or every step.
class Recorder {
 public:
  // Points go to `sink`, or to trajectory() if it is null. `interval` 0 stores every step. The
  // system must outlive the recorder.
  Recorder(const HybridSystem& system, double start, double stop, double interval,
           ResultSink* sink);

  // One point, whatever the grid says: the start, both sides of an event, the end.
  void store(double t, ModeId mode, const SystemState& state);
  // The grid points of the mode's last step (interval 0: its end). If an event ends it, the end is
  // left out: the event stores both its sides. `state` gives the values held in this mode.
  void store_step(ModeRun& run, const SystemState& state, bool ends_in_event);

  // Takes in the modes and variables the system has got since. Points stored before have NaN for
  // them.
  void follow_growth();

  // From now on; pre: nothing is stored yet.
  void watch_bounds(const std::vector<Bounds>& bounds, double tolerance);
  const std::vector<std::string>& bound_warnings() const { return bounds_.warnings(); }

  // The state as results show it: NaN for variables that do not exist in the mode.
  const SystemState& shown(ModeId mode, const SystemState& state);

  // With a sink it holds names and sources, but no points.
  Trajectory& trajectory() { return trajectory_; }
  // Of the last point; NaN: there is none.
  double last_time() const { return last_time_; }
  // What the sink said when it failed; nothing is stored from then on. Empty: it has not.
  const std::string& failure() const { return failure_; }

 private:
  template <class Action>
  void tell_sink(const Action& action);
  void store_row(double t, ModeId mode);
  void append_rows(const double* lanes, std::span<const double> times, ModeId mode);
  void begin_step(ModeRun& run, const SystemState& state);
  void store_inside(ModeRun& run, std::array<double, kLanes>& times, std::size_t count);
  void add_signal(SignalInfo info, const Expr& value);
  void evaluate_constants();
  void compile();

  const HybridSystem& system_;
  double start_;
  double stop_;
  double interval_;
  std::size_t next_ = 1;  // index of the next grid time
  ResultSink* sink_;
  SystemState point_, shown_;
  std::vector<std::optional<std::vector<std::size_t>>> absent_;  // by mode: variables
  std::size_t variables_seen_ = 0;
  std::vector<Expr> columns_;  // what is stored
  std::unordered_map<const Node*, std::size_t> column_of_;
  std::vector<std::pair<std::size_t, Expr>> constants_;  // signals that read parameters only
  Tape tape_;
  Tape::Workspace registers_;
  CoreColumns* formulas_ = nullptr;  // of the step at hand; null: there are none
  std::vector<double> row_;          // one point of the columns
  double last_time_ = std::numeric_limits<double>::quiet_NaN();
  std::string failure_;
  BoundsWatch bounds_;
  Trajectory trajectory_;
};

// Variables whose derivative occurs in some mode, in order of declaration.
std::vector<VariableId> differentiated_variables(const HybridSystem& system);

}  // namespace saltus
