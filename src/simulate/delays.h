#pragma once

#include <vector>

#include "expr/tape.h"
#include "model/build.h"
#include "model/system_state.h"
#include "simulate/mode_run.h"

namespace saltus {

// Keeps the past of the signals that a flat model reads by delay(): stores each accepted step, and
// lets what is not smooth (the start, events, arrivals from other delays) arrive again.
class Delays {
 public:
  // Throws Error if a delay is not positive, or if another run uses the same model.
  Delays(const HybridSystem& system, double start_time, double tolerance);
  ~Delays();
  Delays(const Delays&) = delete;
  Delays& operator=(const Delays&) = delete;

  // A step that is longer would read what it has not computed yet.
  double longest_step() const { return longest_step_; }
  // `start`: the state before the step just taken.
  void store_step(ModeRun& run, const SystemState& start);
  // An event is at t: delayed signals take their right limits.
  void begin_event(double t);
  // It is settled with this state, which is told when the next breaks arrive. `only_arrivals`:
  // nothing else caused it.
  void end_event(double t, bool only_arrivals, SystemState& state);

 private:
  const HybridSystem& system_;
  const std::vector<Delay>& delays_;
  Tape values_;
  Tape::Workspace registers_;
  std::vector<double> parameters_;
  std::vector<double> courses_;  // by point of a step, by delay
  std::vector<double> sizes_;    // largest values so far
  SystemState point_;
  double tolerance_;
  double longest_step_;
  int arrived_ = -1;  // least order of what arrived with the event under way
};

}  // namespace saltus
