#pragma once

#include "model/system.h"

namespace saltus {

// A small capacitor carries charge from a source to a large one, through ideal switches.
HybridSystem make_capacitors();

}  // namespace saltus
