#pragma once

#include "oracle/judge.h"

namespace saltus::oracle {

// The motion of the network, its own error, and whether it is well-posed for runs at `tolerance`.
Reference make_reference(const Network& network, double tolerance);

}  // namespace saltus::oracle
