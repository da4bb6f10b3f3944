#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "expr/tape.h"
#include "locate/guard_watch.h"
#include "model/system_state.h"
#include "simulate/zeno.h"

namespace saltus {

struct Run;

// Zeno behaviour of flat models: `when h <= 0 then reinit(v, -e * pre(v))` lets a ball bounce ever
// lower, until it no longer rises above what a relation can tell from zero and would fall through.
// Where a reset leaves the state that near, the relation is held at zero from the accumulation
// point of the bounces on (see make_limit_mode), until its multiplier turns negative. Several
// relations may be held at once; other events happen meanwhile.

// A relation that fired and was followed by a reset.
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

struct FlatContacts {
  struct Formulas {  // of a relation: value, size
    Tape tape;
    Tape::Workspace registers;
  };
  struct Made {
    std::size_t flat_mode = 0;
    std::vector<Reset> contacts;
    bool directions_are_constant = false;
    ModeId limit;
    std::vector<VariableId> multipliers;  // by contact
  };

  std::map<std::size_t, Reset> resets;  // by relation: its last
  std::vector<std::size_t> now;         // relations that fired at this instant with a reset
  bool reset_now = false;
  bool probed = false;
  bool went_ahead = false;  // to where flights accumulate
  double impact_time = -std::numeric_limits<double>::infinity();
  double hardest = 0.0;     // impact at that time: its rate
  std::size_t impacts = 0;  // that followed from it
  Firing impact;
  std::vector<Reset> held;
  std::vector<std::unique_ptr<Made>> made;
  std::map<std::size_t, std::optional<Formulas>> formulas;  // none: it cannot be held
};

// An event in a flat mode has been settled. `taken`: reinits it carried out; `fired`: relations
// that fired.
void note_resets(Run& run, std::size_t flat_mode, const std::vector<std::size_t>& fired,
                 const std::vector<std::size_t>& taken, const SystemState& left,
                 const SystemState& right);

// An impact that follows from others at this instant: a contact at rest that was struck, or one
// that the reset of another closes again. It is made ready to fire; null if there is none.
// Impacts happen one after the other, the hardest first, each by its own reset.
const Firing* next_impact(Run& run);

// All events of this instant are settled: begins to hold what has come to rest.
void follow_contacts(Run& run);

// The firing of a guard that watches a multiplier: goes on without that contact, true. False: an
// ordinary event.
bool release_contacts(Run& run, const Firing& firing, bool hop_follows_event);
// The flat mode with what is held now.
ModeId mode_with_contacts(Run& run, std::size_t flat_mode);
// Enters a flat mode with the contacts that are held, as far as they press. False if the run has
// stopped.
bool enter_with_contacts(Run& run, std::size_t flat_mode);
// The same after an event iteration came to it: contacts that it opens or strikes are let go.
bool enter_flat_mode(Run& run, std::size_t flat_mode);

// Parts, for the files flat_contacts.cc, flat_impacts.cc (several impacts at one instant) and
// flat_turns.cc (several relations that are reset in turns, and how any begins to be held).

// How a relation moves; `rate` is NaN where it cannot be told.
struct RelationMotion {
  double value = 0.0, rate = 0.0, size = 0.0;
  double speed = 0.0;  // what the rate is the difference of
};
// What moves continuously has a rate at every point.
bool may_be_held(Run& run, std::size_t relation);
// All but the rate.
RelationMotion position_of(Run& run, std::size_t relation, double t, const SystemState& state);
RelationMotion motion_of(Run& run, std::size_t relation, std::size_t flat_mode, double t,
                         const SystemState& state);
bool is_near(const Reset& reset, const RelationMotion& motion);
bool is_closed(const Run& run, const Reset& reset);
bool is_struck(Run& run, const Reset& reset, std::size_t flat_mode);
// Whether something else would be beyond its own contact at the time these come to rest.
bool is_beyond_another(Run& run, const std::vector<Reset>& contacts, double t,
                       const SystemState& later);
// Relations that no longer have their values after flights have been passed over.
Firing changed_on_the_way(Run& run);
// What is still pressed together after impacts that no longer count, or are too many.
std::vector<Reset> pressed_contacts(Run& run);
void remember_reset(Run& run, Reset reset, const SystemState& right);
// Holds relations that are reset in turns and have come to rest.
void follow_turns(Run& run);
// Goes on at the time `rest`, where the resets accumulate, with these contacts closed. False if the
// run has stopped.
bool hold_contacts(Run& run, const std::vector<Reset>& contacts, double rest,
                   const std::vector<double>& values);

}  // namespace saltus
