#pragma once

#include <string>
#include <vector>

#include "analysis/analysed_mode.h"
#include "locate/guard_watch.h"
#include "model/system_state.h"
#include "simulate/result.h"
#include "simulate/transfer.h"

namespace saltus {

class ModeRun;

// An event that has just begun: its time, mode and causes. MO's class is "continuous interior"
// until something else is found.
Event begin_event(double time, const Mode& from, const Firing& firing);
Event begin_event(double time, const Mode& in, std::string cause);

// Notes which values the event changed: unknowns that are differential in the mode entered or left
// (`from`, if given) as jumps, variables that are held in the mode entered as discrete. `set`, by
// VariableId: what the transition sets exactly; resets of flat models are known.
void note_changes(const HybridSystem& system, const ModeRun& entered, const SystemState& left,
                  const SystemState& right, Event& event, const AnalysedMode* from = nullptr,
                  const std::vector<bool>& set = {});

// Notes that the projection into the mode entered was cut short by its guards.
void note_pinnacle(const Mode& entered, const TransferOutcome& transfer, Event& event);

// Slope and condition of the guard behind the event; tags it as grazing if it is tangential.
void note_motion(const GuardMotion& motion, Event& event);

// Adds the tags that follow from what is noted in the event ("jump", "switch", "discrete"), orders
// all tags by precedence and makes the first the kind. Other tags are added before.
void classify(Event& event);

// Every hop but the last at one instant is "instantaneous", which only the next hop can tell; it is
// mythical if it left the state as it was, else on the boundary of its mode unless a pinnacle.
void mark_instantaneous(Event& event);

}  // namespace saltus
