#pragma once

#include <cstddef>
#include <vector>

#include "base/id.h"
#include "locate/guard_watch.h"
#include "model/system.h"
#include "simulate/result.h"

namespace saltus {

struct Run;
struct AnalysedMode;
struct Termination;

// An instant: what happens where guards have fired.

// Enters the first mode at a consistent point made from the start values.
void enter_initial_mode(Run& run);
// Successor, transition, consistent point, next mode; repeated while the state is outside it.
void settle(Run& run, const Firing& firing);
// The event in which terminal() is true, if the stop time was reached and the model asks for it.
void settle_end(Run& run);
// Guards that have touched zero without a switch.
void log_grazings(Run& run);

// Parts. The hops of one instant, from what fired first.
void settle_hops(Run& run, const Firing& first);
// What the mode just entered is left by, if it is left at once.
const Firing& next_firing(Run& run);
// The run has stopped on the way into another mode: the state is the one it had before.
void stay_in(Run& run, ModeId id);
// Of guards that fire at one instant, the one whose transition is taken.
std::size_t first_by_priority(const std::vector<Guard>& guards,
                              const std::vector<std::size_t>& fired);
// Adds an event to the log. A hop that follows another makes that one instantaneous.
void log_event(SimulateResult& result, Event event, bool hop_follows_event);
// The run is in the mode that the event leads to: stores the point, and logs the event with what
// has changed since the left limits.
void log_entry(Run& run, Event event, bool hop_follows_event, const AnalysedMode* from = nullptr);

// Flat models (flat_events.cc): modes come from conditions, and the event iteration settles.
// False if the run has stopped. `end`: the model ends the run at once.
bool enter_initial_flat_mode(Run& run, const Termination*& end);
// One event iteration: the right limit is stored, and one event is logged. False if the run has
// stopped.
bool take_flat_event(Run& run, const Firing& firing, bool hop_follows_event);
void check_assertions(Run& run);
// The values of the modes as they were written, before aliases were eliminated.
void describe_flat_modes(Run& run);

}  // namespace saltus
