#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "expr/tape.h"
#include "simulate/event_log.h"
#include "simulate/zeno.h"

namespace saltus {

class Simulation;

// Zeno behaviour of flat models: `when h <= 0 then reinit(v, -e * pre(v))` lets a ball bounce ever
// lower, until it no longer rises above what a relation can tell from zero and would fall through.
// Where a reset leaves the state that near, the relation is held at zero from the accumulation
// point of the bounces on (see make_limit_mode), until its multiplier turns negative. Several
// relations may be held at once; other events happen meanwhile. Internal to Simulation.
class FlatContacts {
 public:
  explicit FlatContacts(Simulation& run) : run_(run) {}

  // An event in a flat mode has been settled. `taken`: reinits it carried out; `fired`: relations
  // that fired.
  void note_event(std::size_t flat_mode, const std::vector<std::size_t>& fired,
                  const std::vector<std::size_t>& taken, const SystemState& left,
                  const SystemState& right);

  // An impact that follows from others at this instant: a contact at rest that was struck, or one
  // that the reset of another closes again. It is made ready to fire; null if there is none.
  // Impacts happen one after the other, the hardest first, each by its own reset.
  const Firing* next_impact();

  // All events of this instant are settled: begins to hold what has come to rest.
  void follow();

  bool holding() const { return !held_.empty(); }
  // The firing of a guard that watches a multiplier: goes on without that contact, true. False: an
  // ordinary event.
  bool release(const Firing& firing, bool hop_follows_event);
  // The flat mode with what is held now.
  ModeId mode_for(std::size_t flat_mode);
  // After an event iteration came to this flat mode: enters it, with the contacts that are still
  // closed. False if the run has stopped.
  bool enter_after_event(std::size_t flat_mode);

 private:
  struct Reset {
    std::size_t relation = 0;
    double sign = 1.0;  // sign * value of the relation is positive away from the contact
    std::vector<std::size_t> reinits;
    std::vector<double> jumps;    // by reinit: of its variable, at the last reset that changed it
    double rate_before = 0.0;     // of sign * value
    bool reverses = false;        // it left the relation with no rate towards the contact
    double rest = 0.0;            // time at which the bounces accumulate; 0: not known
    std::vector<double> times{};  // of the last resets, the newest last
    std::vector<double> after{}, previous{};  // values after the last one and the one before it
  };
  struct Formulas {  // of a relation: value, size
    Tape tape;
    Tape::Workspace registers;
  };
  struct Motion {
    double value = 0.0, rate = 0.0, size = 0.0;
  };
  struct Made {
    std::size_t flat_mode = 0;
    std::vector<Reset> contacts;
    bool directions_are_constant = false;
    ModeId limit;
    std::vector<VariableId> multipliers;  // by contact
  };

  bool may_be_held(std::size_t relation);
  Motion place_of(std::size_t relation, double t, const SystemState& state);
  Motion motion_of(std::size_t relation, std::size_t flat_mode, double t, const SystemState& state);
  void remember(Reset reset, const SystemState& right);
  // Several relations that are reset in turns (flat_turns.cc).
  std::vector<Reset> taking_turns(std::size_t relation);
  void follow_turns();
  // Several impacts at one instant (flat_impacts.cc).
  double approach_of(const Reset& reset, std::size_t flat_mode);
  bool is_beyond_another(const std::vector<Reset>& contacts, double t, const SystemState& later);
  static bool is_near(const Reset& reset, const Motion& motion);
  Firing changed_on_the_way();
  bool is_closed(const Reset& reset) const;
  bool is_struck(const Reset& reset, std::size_t flat_mode);
  std::vector<Reset> pressed();
  bool hold(const std::vector<Reset>& contacts, double rest, const std::vector<double>& values);
  bool comes_to_rest(Reset& reset, SystemState& later);
  bool carry_on(const Reset& reset, double flight, const SystemState& landing, SystemState& later);
  bool changes_meanwhile(const Reset& reset, double t, const SystemState& state);
  const Made* limit_for(std::size_t flat_mode, const std::vector<Reset>& contacts);
  bool enter(std::size_t flat_mode);
  const Made* enter_limit(std::size_t flat_mode);
  bool log_entry(Event event, bool hop_follows_event);

  Simulation& run_;
  std::map<std::size_t, Reset> resets_;  // by relation: its last
  std::vector<std::size_t> now_;         // relations that fired at this instant with a reset
  bool reset_now_ = false;
  bool probed_ = false;
  bool went_ahead_ = false;  // to where flights accumulate
  double impact_time_ = -std::numeric_limits<double>::infinity();
  double hardest_ = 0.0;     // impact at that time: its rate
  std::size_t impacts_ = 0;  // that followed from it
  Firing impact_;
  std::vector<Reset> held_;
  std::vector<std::unique_ptr<Made>> made_;
  std::map<std::size_t, std::optional<Formulas>> formulas_;  // none: it cannot be held
};

}  // namespace saltus
