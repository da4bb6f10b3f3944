#pragma once

#include "model/system.h"

namespace saltus {

// A planar arm of two links, the second driven through an elastic joint, that follows a prescribed
// path (after Campbell): the torques are unknowns.
HybridSystem make_arm();

}  // namespace saltus
