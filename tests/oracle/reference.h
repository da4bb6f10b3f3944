#pragma once

#include "oracle/judge.h"

namespace saltus::oracle {

// The motion of the network, its own error, and whether it is well-posed for runs at `tolerance`.
// Event-driven; by time stepping where that fails, and with `check` compared with it.
Reference make_reference(const Network& network, double tolerance, bool check = false);

}  // namespace saltus::oracle
