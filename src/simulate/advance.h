#pragma once

#include "integrate/integrator.h"
#include "locate/guard_watch.h"

namespace saltus {

struct Run;

// A step of the present mode, and what is asked between steps.
StepOutcome take_step(Run& run);
// The guards that end the step just taken.
const Firing& watch_guards(Run& run);
// Stores the points of the step.
void accept_step(Run& run, const Firing& firing);
// Reads the point at the present time, where that was put off. The integrator stands there, or has
// taken a step from there that came to nothing.
void catch_up(Run& run);
void check_limits(Run& run);
void stop_for(Run& run, const StepOutcome& outcome);

}  // namespace saltus
