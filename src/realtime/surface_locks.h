#pragma once

#include "model/system.h"

namespace saltus {

// Friction written as a jump, tau = c*sign(w), holds w at zero for as long as c can; so does every
// jump at a surface g = 0 that decides where g goes (KM 5.2). Between samples of a fixed length
// such a surface must be a constraint, or it is crossed to and fro without end.
//
// The system with every such surface written as an element that locks, in the manner of
// Saltus.Drivetrain: what the equations have on one side or the other becomes a force f, which is
// the bound of its side while g moves, and whatever keeps g = 0 while it is held. Beyond the bound
// it lets go. A surface is left as it is where nothing jumps, where the jump does not act on the
// first derivative of g, and where it decides which equations there are. Pre: the system comes from
// build().
HybridSystem lock_surfaces(const HybridSystem& system);

}  // namespace saltus
