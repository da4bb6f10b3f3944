#pragma once

#include <string>
#include <vector>

#include "model/system.h"

namespace saltus {

// A C2 ramp from the torque before to `torque` that starts at `time` and takes `rise`.
struct NagTorque {
  double time = 0.0;    // s
  double torque = 0.0;  // N m
  double rise = 0.5;    // s
};

// From `time` on the elements of the other gear are loaded and those it does not need are opened.
struct NagShift {
  double time = 0.0;  // s
  std::string gear;   // "1" ... "5", "N", "R1", "R2"
};

// A run of the gearbox. The defaults are the run of HM section 6 on [0, 7] s.
struct NagOptions {
  std::string name = "nag";
  std::string gear = "1";  // at the start, at rest
  std::vector<NagShift> shifts = {{2.0, "2"}, {4.0, "3"}, {6.0, "2"}};
  std::vector<NagTorque> engine = {{0.0, 180.0, 0.5}};
  std::vector<NagTorque> load = {{0.0, 60.0, 3.0}};  // brakes forward motion
  bool free_wheels = false;  // f1 and f2 lock and overrun; otherwise they are open as in HM
  std::vector<std::string> released = {};  // elements that get no pressure even where a gear asks
  double stop_time = 7.0;                  // s
};

// The automatic gearbox NAG of Hamann and Mehrmann (HM section 6 and Appendix A), in the position
// form (33)-(38): a mode for every set of locked elements, 60 + 6 + (locked elements) unknowns.
// Throws Error if the options name an unknown gear or element.
HybridSystem make_nag(const NagOptions& options);
HybridSystem make_nag();

// First gear held by the free wheel f1 alone: tip-in, coast (f1 overruns), tip-in.
HybridSystem make_nag_coast();

}  // namespace saltus
