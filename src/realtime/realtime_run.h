#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "realtime/input_link.h"
#include "realtime/realtime_engine.h"
#include "simulate/result.h"

namespace saltus {

struct RealtimeRunOptions {
  RealtimeOptions engine;
  bool paced = false;            // by the clock: a sample begins when its time has come
  bool is_realtime = false;      // ask for SCHED_FIFO and locked memory; a warning if refused
  bool store = true;             // keep every sample
  bool compare_offline = false;  // also simulate with error control and compare
  std::string input_file;        // inputs over time (input_table.h); empty: none
  InputLinkOptions link;         // inputs from a control unit
  const std::atomic<bool>* stop_requested = nullptr;
};

// Times of steps, s: the computation alone, and apart from it how late the system woke the program.
struct Latency {
  std::size_t steps = 0;
  double median = 0.0;
  double p999 = 0.0;  // 99.9 % of the steps are quicker
  double most = 0.0;
  double event_median = 0.0;  // of the steps with an event; 0: there are none
  std::size_t event_steps = 0;
  std::size_t overruns = 0;     // steps whose own computation was longer than the period
  std::size_t interrupted = 0;  // of paced runs: longer only because the system ran something else
  double late_median = 0.0;     // of paced runs
  double late_most = 0.0;
  std::vector<std::size_t> histogram;  // bin k: from 100 ns x 2^(k/2) on
};

struct Deviation {
  std::string variable;
  double largest = 0.0;   // |x - offline| at the samples
  double relative = 0.0;  // over the largest |x| of the offline solution
  double time = 0.0;      // where
};

struct RealtimeResult {
  SimulateResult run;  // method "fixed-step"; tolerance 0
  double step = 0.0;
  std::size_t prepared = 0;  // modes
  std::size_t affine = 0;    // of them
  std::size_t states = 0;    // the most of a mode
  Latency latency;
  std::size_t unprepared = 0, unsettled = 0, left = 0, jumped = 0, not_finite = 0, rough = 0,
              refused = 0;          // steps with that status
  std::vector<std::string> inputs;  // names
  LinkCounts link;
  std::vector<Deviation> deviations;  // largest relative first; empty: not asked for
};

// Prepares a system, then runs it with a fixed step. Throws Error if it cannot be prepared.
RealtimeResult run_realtime(const HybridSystem& system, const RealtimeRunOptions& options);

}  // namespace saltus
