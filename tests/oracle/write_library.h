#pragma once

#include "oracle/writings.h"

namespace saltus::oracle {

// With the components of Saltus.Drivetrain.
Written write_library(const Network& network);

}  // namespace saltus::oracle
