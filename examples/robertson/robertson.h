#pragma once

#include "model/system.h"

namespace saltus {

// Robertson's three reactions, whose rates span nine decades.
HybridSystem make_robertson();

}  // namespace saltus
