#pragma once

#include "model/system.h"

namespace saltus {

// A rigid slider crank in redundant coordinates, turning by its own inertia.
HybridSystem make_slider_crank();

}  // namespace saltus
