#pragma once

#include "model/system.h"

namespace saltus {

// A pendulum in Hamiltonian form whose guard is its own energy: the flow lies in the surface.
HybridSystem make_km16();

}  // namespace saltus
