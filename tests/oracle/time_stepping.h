#pragma once

#include "oracle/network.h"

namespace saltus::oracle {

struct Stepped {
  Motion motion;
  double speed_error = 0.0;  // largest difference between the steps h and h/2
  double angle_error = 0.0;
  double step = 0.0;    // h/2
  bool failed = false;  // a box problem without a solution was met
};

// Moreau's time stepping on velocity level: the impulses of a step keep the speeds at its end
// within the laws of all elements at once. Knows no events and no modes. Of first order at events,
// of second order elsewhere. `step` is rounded so that the output times are hit.
Motion time_stepping(const Network& network, const std::vector<double>& times, double step,
                     bool& failed);

// With h and h/2; refined tenfold where they differ by more than `goal` of the
// range.
Stepped time_stepping_reference(const Network& network, const std::vector<double>& times,
                                double step = 2e-4, double goal = 0.02);

}  // namespace saltus::oracle
