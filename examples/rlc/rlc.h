#pragma once

#include "model/system.h"

namespace saltus {

// A damped oscillating circuit that feeds a loop of three capacitors.
HybridSystem make_rlc();

}  // namespace saltus
