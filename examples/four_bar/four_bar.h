#pragma once

#include "model/system.h"

namespace saltus {

// A planar four-bar linkage in redundant coordinates: index 3, one degree of freedom.
HybridSystem make_four_bar();

}  // namespace saltus
