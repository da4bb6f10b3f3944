#pragma once

#include "model/system.h"

namespace saltus {

// Two tanks in cascade: a weir between them, an overflow valve with hysteresis on the second.
HybridSystem make_tanks();

}  // namespace saltus
