#pragma once

#include "oracle/writings.h"

namespace saltus::oracle {

// With a continuous state machine for each element: forward, stuck, backward; or free, stuck.
Written write_machine(const Network& network);

}  // namespace saltus::oracle
