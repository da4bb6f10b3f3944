#pragma once

#include "model/system.h"

namespace saltus {

// A ball dropped on a floor that returns a fraction of its speed.
HybridSystem make_ball();

}  // namespace saltus
