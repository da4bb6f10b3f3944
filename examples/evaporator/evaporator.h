#pragma once

#include "model/system.h"

namespace saltus {

// An evaporator vessel whose outflow opens above a threshold of the level (KM Example 18).
HybridSystem make_evaporator();

}  // namespace saltus
