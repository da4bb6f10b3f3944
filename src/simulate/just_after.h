#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/flow_series.h"
#include "model/system.h"
#include "model/system_state.h"

namespace saltus {

class ModeRun;

// Kept by a mode: its flow, and what has been asked along it. Made for one choice of states.
struct ModeFlow {
  ModeFlow(const Dae& dae, std::vector<std::size_t> of_states)
      : series(dae), states(std::move(of_states)) {}
  FlowSeries series;
  std::vector<std::size_t> states;
  std::unordered_map<const Node*, FlowSeries::Watched> watched;
};

// What values do just after an instant: expressions along the flow of a mode, from a point that has
// been made consistent with it. One threshold decides what is zero, for relations of flat models
// and guards of listed modes alike.
class JustAfter {
 public:
  // Magnitudes that say what rounding of the states can be: the largest so far.
  void note_magnitudes(const HybridSystem& system, const SystemState& state);

  // What is asked from now on is about the flow of this mode, from the point it was made consistent
  // at last; `at` holds the values of everything there.
  void stand_at(ModeRun& mode, double t, const SystemState& at);
  // From now on there is no flow to ask.
  void forget() { mode_ = nullptr; }
  ModeRun* mode() const { return mode_; }

  // The flow up to this power, 0 to ask only whether there is one; false if the equations of the
  // mode do not determine one.
  bool expand(int highest);

  // How the value is asked for. What cannot be told from rounding is no sign: `must_move` is for
  // values that came to zero a moment ago.
  struct Question {
    bool must_move = false;
    bool reads_unknowns = true;
    double rounding = 1e-11;  // of the absolute terms of a derivative: what is less is none
  };
  // The sign of the first derivative that does not vanish of a value that counts as zero; 0 if it
  // stays zero, none if nothing tells. `slots` may differ from those of the point.
  std::optional<int> sign(const Expr& value, const std::vector<double>& slots, Question question);
  // d/dt of the value; none if it has none.
  std::optional<double> rate(const Expr& value, const std::vector<double>& slots);

 private:
  ModeRun* mode_ = nullptr;   // null: there is no point
  ModeFlow* flow_ = nullptr;  // expanded last; null: there is none
  int order_ = -1;            // expanded so far; -1: not yet
  double time_ = 0.0;
  SystemState at_, largest_;
  std::vector<double> slots_;  // that the flow is expanded with
};

}  // namespace saltus
