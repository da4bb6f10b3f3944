#pragma once

#include <string>
#include <vector>

#include "model/system.h"

namespace saltus {

// The system called MODEL on the command line, with every NAME=VALUE of `settings` applied to its
// parameters and start values. Throws Error that says what would have been right.
HybridSystem load_model(const std::string& model, const std::vector<std::string>& settings);

}  // namespace saltus
