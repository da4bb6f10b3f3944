#pragma once

#include "model/system.h"

namespace saltus {

// A block on a moving belt, held by a spring, with dry friction that weakens with sliding speed.
HybridSystem make_stick_slip();

}  // namespace saltus
