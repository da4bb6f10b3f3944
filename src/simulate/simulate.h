#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analysis/formulation.h"
#include "model/system.h"
#include "simulate/method.h"
#include "simulate/result.h"
#include "simulate/trajectory.h"

namespace saltus {

// What to do when two modes send the state to each other across one surface.
enum class ChatteringAnswer {
  kFilippov,    // slide on the surface, in the mixture of both flows that stays on it
  kHysteresis,  // switch only when the surface has been passed by a width
  kStop,        // end the run and say so
};

struct SimulateOptions {
  // Where not given, the system's own experiment decides.
  std::optional<double> start_time = {};  // s
  std::optional<double> stop_time = {};   // s
  std::optional<double> tolerance = {};   // relative
  std::optional<double> interval = {};    // of stored points, s; 0: every accepted step
  // Absolute tolerance of every unknown; default: tolerance x nominal of the variable.
  std::optional<double> absolute_tolerance = {};
  Method method = Method::kRadau;
  // How modes with constraints are written before they are integrated; modes without, and modes
  // that are not mechanical, keep the default. The default is what suits the method.
  Formulation formulation = Formulation::kReduced;
  double baumgarte = 10.0;           // 1/s: alpha = beta of that formulation
  bool measure_constraints = false;  // fill SimulateResult::residuals
  // Parameters and variables (for their start values) with respect to which the end state is
  // differentiated; see SimulateResult::sensitivities.
  std::vector<std::string> sensitivities = {};
  double first_step = 0.0;  // 0: chosen
  double max_step = std::numeric_limits<double>::infinity();

  ChatteringAnswer chattering = ChatteringAnswer::kFilippov;
  // Width of hysteresis in the guard's unit; default: 1e-4 of what the guard is at nominal values.
  std::optional<double> hysteresis = {};
  // Cycles of modes on intervals up to this are flagged as numerical chattering (HM Definition 15),
  // s; default: 1e-5 of the run.
  std::optional<double> chattering_interval = {};

  // Limits; reaching one ends the run with what there is.
  std::size_t max_steps = 100'000'000;
  std::size_t max_events = 1'000'000;
  std::size_t max_hops = 100;  // events at one instant
  double max_seconds = std::numeric_limits<double>::infinity();

  // Receives the points instead of SimulateResult::trajectory.
  ResultSink* sink = nullptr;
  // Polled once a step; the run ends cleanly when it becomes true.
  const std::atomic<bool>* stop_requested = nullptr;
  // Called after every step with the time reached.
  std::function<void(double time)> progress = {};
  // Called with what the model prints, at the time it does, and the name of a file it is meant for;
  // empty: for the terminal.
  std::function<void(const std::string& text, const std::string& file)> print = {};
};

// Runs a hybrid system (HM Algorithm 20):
//
//   enter the initial mode at a consistent point made from the start values
//   while t < stop time:
//     step the integrator of the mode, not beyond the next time event, the stop time or the next
//     kink that time alone causes (expr/break_times.h)
//     isolate all guard roots on the step's continuous extension
//     if one is a switch: take the step again so that it ends where the guard itself vanishes
//     store the points of the step
//     if a guard fired: settle (successor, transition, consistent point, next mode), restart
//
// Guards that are zero when a mode starts are judged by what they do just after: those that rise
// are armed, those that fall switch at once (KM Remark 12).
//
// Throws Error for wrong input before integration starts. Everything that happens later is in the
// result: reason, message, and all points up to there.
SimulateResult simulate(const HybridSystem& system, const SimulateOptions& options = {});

}  // namespace saltus
