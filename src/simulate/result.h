#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/level_residuals.h"
#include "simulate/mode_report.h"
#include "simulate/trajectory.h"

namespace saltus {

// One hop of an event. Kinds in order of precedence: zeno, sliding-entry, sliding-exit,
// instantaneous, jump, switch, tie, time, grazing, discrete. `tags` lists all that apply.
struct Event {
  double time = 0.0;
  std::string kind;
  std::vector<std::string> tags;
  // MO's class, JSON field "class": "mythical" (left at once, state unchanged), "pinnacle" (its
  // projection was cut short), "continuous interior", "continuous boundary" (left after no time),
  // "continuous sliding".
  std::string ontology;
  std::string from;
  std::string to;
  std::vector<std::string> causes;                         // the guards, readable
  std::map<std::string, std::pair<double, double>> jumps;  // variable: before, after
  std::map<std::string, double> impulses;
  std::map<std::string, std::pair<double, double>> discrete;  // variable: before, after
  int iterations = 1;
  std::optional<double> fraction;  // of its projection that a pinnacle carried out
  // Of the guard that fired, dS/dt along the solution just before; and by how many seconds the time
  // of the event moves if all unknowns change by 100 %, to first order (infinite where dS/dt = 0).
  // NaN where no guard fired.
  double slope = std::numeric_limits<double>::quiet_NaN();
  double condition = std::numeric_limits<double>::quiet_NaN();
};

enum class StopReason {
  kStopTime,
  kTerminated,   // a guard without successor
  kInterrupted,  // should_stop
  kStepSizeTooSmall,
  kNewtonFailed,
  kSingular,
  kNotFinite,
  kInconsistent,  // no consistent point after an event or at the start
  kChattering,    // and SimulateOptions::chattering says stop, or there is no mixture
  kEventStorm,    // a guard that never clears, or too many events
  kLimit,         // max_steps, max_events, max_seconds
  kOutputFailed,  // the sink could not store a point
  kAssertion,     // an assertion of the model does not hold
};
const char* to_string(StopReason reason);

struct SimulateResult {
  std::string model;
  std::string method;
  std::string formulation;
  double tolerance = 0.0;
  StopReason reason = StopReason::kStopTime;
  std::string message;  // one sentence: what happened, at which time, in which mode, which equation
  double time = 0.0;    // reached
  std::map<std::string, double> final;  // every variable; NaN: it does not exist in the last mode
  std::vector<Event> events;
  std::vector<ModeReport> modes;  // visited, in order of first visit
  std::vector<std::string> warnings;
  std::vector<std::string> drawing;  // what the report moves, from the model (Experiment)
  std::map<std::string, std::map<std::string, double>> sensitivities;
  Statistics statistics;
  LevelResiduals residuals;  // of the constraints, if SimulateOptions asked for them
  Trajectory trajectory;

  // Reached the stop time, or the model ended the run.
  bool completed() const {
    return reason == StopReason::kStopTime || reason == StopReason::kTerminated;
  }
};

}  // namespace saltus
