#pragma once

#include <string>

#include "oracle/network.h"

namespace saltus::oracle {

struct EventDrivenResult {
  Motion motion;
  bool failed = false;
  std::string message;
  int events = 0;
  int reversals = 0;          // instants at which the slip of a friction element changes its sign
  int ties = 0;               // instants that needed more than the accelerations
  int undecided = 0;          // ... and that all derivatives left open
  double worst_excess = 0.0;  // of a held torque over its bound, relative
};

// The motion by Taylor series between events. Torques, capacities and springs are analytic between
// events, so a series of order 20 has the accuracy of the machine, guards are polynomials whose
// roots are all found, and the question what holds just after an instant is answered by the
// coefficients: a box problem on accelerations, for what it leaves tied the same on their
// derivatives, and so on.
EventDrivenResult event_driven(const Network& network, const std::vector<double>& times);

}  // namespace saltus::oracle
