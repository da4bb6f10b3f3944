#pragma once

#include "model/system.h"

namespace saltus {

// Full-bridge rectifier with ideal diodes, smoothing capacitor and resistive load.
HybridSystem make_rectifier();

}  // namespace saltus
