#pragma once

#include <string>
#include <vector>

#include "simulate/simulate.h"

// The shifts 1-2-3-2 of the gearbox, whichever front door it comes through.

namespace saltus {

// The modes a run goes through, events within a mode left out.
inline std::vector<std::string> sequence(const SimulateResult& result) {
  std::vector<std::string> modes;
  for (const Event& event : result.events) {
    if (event.from == event.to) continue;
    if (modes.empty()) modes.push_back(event.from);
    modes.push_back(event.to);
  }
  return modes;
}

inline std::vector<double> switch_times(const SimulateResult& result) {
  std::vector<double> times;
  for (const Event& event : result.events)
    if (event.from != event.to) times.push_back(event.time);
  return times;
}

inline const std::vector<std::string> kSequence = {"M1", "M12", "M2", "M23", "M3", "M32", "M2"};
// problems/reference/nag.cc.
inline const std::vector<double> kSwitches = {2.0703151447327, 2.1356276172122, 4.0827234968600,
                                              4.1530855764272, 6.0492597000080, 6.1011683071584};

}  // namespace saltus
