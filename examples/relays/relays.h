#pragma once

#include "model/system.h"

namespace saltus {

// Two relays that act on each other and slide on both their surfaces at once.
HybridSystem make_relays();

}  // namespace saltus
