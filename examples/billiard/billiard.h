#pragma once

#include "model/system.h"

namespace saltus {

// A ball that passes another one at rest so that they just touch.
HybridSystem make_billiard();

}  // namespace saltus
