#pragma once

#include <vector>

#include "model/system.h"

namespace saltus {

// The start values of all variables, by VariableId, with the parameters as they are set. Throws
// Error naming the variable if one is not finite.
std::vector<double> start_values(const HybridSystem& system);

}  // namespace saltus
