#pragma once

#include <string>

#include "analysis/analysed_mode.h"
#include "model/system_state.h"
#include "simulate/guard_watch.h"
#include "simulate/result.h"

namespace saltus {

// An event that has just begun: its time, mode and causes. MO's class is "continuous" until
// something else is found.
Event begin_event(double time, const Mode& from, const Firing& firing);
Event begin_event(double time, const Mode& in, std::string cause);

// Notes which values the event changed: differential unknowns of the mode entered as jumps,
// variables that are held in it as discrete.
void note_changes(const HybridSystem& system, const AnalysedMode& entered, const SystemState& left,
                  const SystemState& right, Event& event);

// Adds the tags that follow from what is noted in the event ("jump", "switch", "discrete"), orders
// all tags by precedence and makes the first the kind. Other tags are added before.
void classify(Event& event);

// Every hop but the last at one instant is "instantaneous", which only the next hop can tell; it is
// mythical if it left the state as it was.
void mark_instantaneous(Event& event);

}  // namespace saltus
