#pragma once

#include "oracle/writings.h"

namespace saltus::oracle {

// A HybridSystem in C++ with a mode for each combination of slipping and sticking elements; empty
// if the network has more than two that can stick.
std::optional<Written> write_system(const Network& network);

}  // namespace saltus::oracle
