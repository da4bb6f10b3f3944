#pragma once

#include "model/system.h"

namespace saltus {

// A pendulum pushed along its circle until the string breaks, then free and thrust-controlled
// flight (HM Examples 1, 9, 21, 22).
HybridSystem make_pendulum();

}  // namespace saltus
