#pragma once

#include "analysis/derivative_array.h"
#include "analysis/structure.h"

namespace saltus {

// mu, d and a as far as structure tells; v and u are zero. Pre: offsets.solvable.
CharacteristicValues structural_values(const Offsets& offsets);

}  // namespace saltus
