#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/id.h"
#include "model/system_state.h"

namespace saltus {

struct Run;

// Makes the state consistent with the mode and starts its integrator. On the way from another mode,
// `run.instant.set` marks what a transition has set; `run.instant.transfer` tells what became of
// the state, and the integrator stands still if the mode is left at once. False if the run has
// stopped.
bool enter(Run& run, ModeId id, bool at_start = false);

// A run that starts at rest, as far as the tolerance tells, has nothing to measure its steps by. If
// the rest is unstable, rounding and what is below the tolerance decide when it ends.
void warn_of_unstable_rest(Run& run);

// Sensitivities. What an event of a flat model did with the tangents, as far as it can be repeated;
// and what the entry of the present mode from `before` does with them.
void differentiate_flat_event(Run& run);
void differentiate_entry(Run& run, const SystemState& before, const std::vector<bool>& set,
                         bool at_start);

}  // namespace saltus
