#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/system.h"
#include "model/system_state.h"

// Zeno behaviour (KM 5.1, case 3): infinitely many switches before a finite time t*. It is told
// from the sequence itself: a cycle of events repeats and its length shrinks geometrically. The run
// goes on at t* in a limit mode, the user's or one made here.

namespace saltus {

// Which guard of which mode fired.
struct EventKey {
  ModeId mode;
  std::size_t guard = 0;
  friend bool operator==(const EventKey&, const EventKey&) = default;
};

// Where a sequence of events accumulates.
struct Accumulation {
  double time = 0.0;
  double ratio = 0.0;           // of the lengths of successive cycles
  std::vector<EventKey> cycle;  // the events of one cycle, in order
  std::vector<double> values;   // by VariableId, at `time`
  // By event of the cycle and VariableId: what the last one changed.
  std::vector<std::vector<double>> jumps;
};

class ZenoWatch {
 public:
  // Sequences are followed until a cycle changes no variable by more than `tolerance` of its size.
  explicit ZenoWatch(double tolerance);

  // One event: all variables before and after it. `condition` is that of its time, see Event.
  void record(double time, EventKey key, double condition, const std::vector<double>& before,
              const std::vector<double>& after);
  void clear();

  // The accumulation of a guard that fires again without any time between, if its last event was
  // the newest and changed something: a reset that leaves nothing to reset.
  std::optional<Accumulation> at_once(EventKey key, double time) const;

  // The end of the present sequence, if it has one near enough: extrapolated geometrically in time
  // and in the variables marked in `moving`; the others keep their last values.
  std::optional<Accumulation> predict(const std::vector<Variable>& variables,
                                      const std::vector<bool>& moving) const;

 private:
  struct Occurrence {
    double time = 0.0;
    EventKey key;
    double condition = 0.0;
  };
  struct Change {
    std::vector<double> jump;
    std::vector<double> after;
  };
  static constexpr std::size_t kLongestCycle = 4;
  static constexpr std::size_t kRatios = 2;          // successive ones that must agree
  static constexpr std::size_t kLongestStride = 40;  // cycles

  std::optional<Accumulation> predict(std::size_t period, const std::vector<Variable>& variables,
                                      const std::vector<bool>& moving) const;
  std::size_t matching_cycles(std::size_t period) const;
  bool is_close(std::size_t event) const;
  bool is_followed_far_enough(std::size_t period, const std::vector<Variable>& variables,
                              const std::vector<bool>& moving) const;

  double tolerance_;
  std::deque<Occurrence> events_;  // the newest last
  std::deque<Change> changes_;     // of the last of them
};

// A guard that is to be held at zero, and what its transition changed last in the variables it sets
// (by assignment): only the direction counts.
struct Contact {
  std::size_t guard = 0;
  std::vector<double> direction;

  bool same_as(const Contact& other, bool compare_directions) const;
};

struct LimitMode {
  Mode mode;
  // Some direction could not be told as a function of the state: the mode serves only where the
  // contacts have these directions.
  bool directions_are_constant = false;
};

// The mode in which the given guards stay at zero: der(x) is replaced by der(x) - d * multiplier
// in the equations, where x are the variables the guard's transition sets and d the limit
// direction of their jump at the present state. New guards lead back to the mode when a
// multiplier falls through zero; the other guards stay. Adds the multipliers to the system. None
// if a transition sets no variable that the equations differentiate.
std::optional<LimitMode> make_limit_mode(HybridSystem& system, const Mode& mode,
                                         const std::vector<Contact>& contacts, double time,
                                         const SystemState& state);

}  // namespace saltus
