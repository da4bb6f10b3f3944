#pragma once

#include "model/system.h"

namespace saltus {

// Two shafts that an ideal clutch joins for a while: their speeds jump to a common one.
HybridSystem make_clutch();

}  // namespace saltus
