#pragma once

#include "analysis/characteristic_values.h"
#include "analysis/structure.h"

namespace saltus {

// mu, d and a as far as structure tells; v and u are zero. Pre: offsets.solvable.
CharacteristicValues structural_values(const Offsets& offsets);

}  // namespace saltus
