#pragma once

#include <cstddef>

#include "model/system.h"
#include "model/system_state.h"
#include "simulate/mode_run.h"

namespace saltus {

// Whether a guard of a mode is a first integral (KM 5.1, case 4a): constant along every solution,
// so that it cannot fire but by rounding. Its derivative is formed by formula and evaluated at
// random consistent points around the state: an identity holds at all of them, anything else at
// none. False for guards that are no functions of the states (see in_states), and for those that
// the mode's own constraints keep at zero, since they need no further one. Leaves the mode's point
// at one of those; make it consistent again before it is used.
bool is_first_integral(const HybridSystem& system, ModeRun& run, std::size_t guard, double t,
                       const SystemState& state);

// A guard with algebraic unknowns replaced by what equations of the mode say they are, such as the
// energy E in "E = T + V; E > E0".
Expr in_states(const ModeRun& run, const Expr& guard);

// Whether a guard depends on the variables in another way than linearly.
bool is_curved(const Expr& guard);

// The mode with these guards as constraints, KM (23): they cannot fire any more.
Mode constrain(const Mode& mode, const std::vector<std::size_t>& guards);

}  // namespace saltus
