#pragma once

#include <string>
#include <vector>

namespace saltus {

struct GearboxRun {
  bool finished = false;
  double seconds = 0.0;  // processor time of integration and switches, set-up of modes apart
  long steps = 0;
  std::vector<double> switches;  // s
  std::string message;
};

// The run of the gearbox NAG on [0, 7] s as a SUNDIALS user would write it: residual and exact
// sparse Jacobian by hand, IDA with KLU, acceleration form (HM A.3.2, EoM_1), multipliers scaled,
// events by IDA's root finding, consistent restarts by IDACalcIC. Independent of Saltus.
GearboxRun run_ida_gearbox(double tolerance, bool suppress_algebraic);

}  // namespace saltus
