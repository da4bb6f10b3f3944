#pragma once

#include "oracle/network.h"
#include "oracle/writings.h"

namespace saltus::oracle {

// How a network ran with a fixed step.
struct FixedStepRun {
  double deviation = 0.0;  // largest of a speed, over the largest speed of its body, at least 1
  double longest = 0.0;    // step, s of processor time
};

HybridSystem load(const Written& written);

// Throws Error if the model cannot be prepared or the run ends early.
FixedStepRun run_fixed_steps(const Network& network, const Written& written, const Motion& motion,
                             double step);

}  // namespace saltus::oracle
