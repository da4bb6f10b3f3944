#pragma once

#include "model/system.h"

namespace saltus {

// A hydraulic cylinder with an intake and a relief valve: four modes, instantaneous sequences (MO).
HybridSystem make_cylinder();

}  // namespace saltus
