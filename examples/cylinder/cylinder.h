#pragma once

#include "model/system.h"

namespace saltus {

// A hydraulic cylinder with an intake and a relief valve: four modes, instantaneous sequences (MO).
HybridSystem make_cylinder();
// The same with oil that is compressed (C_oil, R_oil): what is an impulse there takes time here.
HybridSystem make_cylinder_oil();

}  // namespace saltus
