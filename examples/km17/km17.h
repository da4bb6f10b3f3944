#pragma once

#include "model/system.h"

namespace saltus {

// Two modes with different unknowns whose flows point at each other (KM Example 17).
HybridSystem make_km17();

}  // namespace saltus
