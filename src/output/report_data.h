#pragma once

#include <string>
#include <vector>

#include "simulate/result.h"

namespace saltus {

// What the script of a report page draws, in two texts that are safe inside a <script> element.
// `head`: JSON with the number of points, signals, names of modes, times of events, panes to begin
// with. `points`: time, mode and every stored column as doubles, sorted by byte, deflated, in
// base64.
struct ReportData {
  std::string head;
  std::string points;
};

inline constexpr std::size_t kMostPanels = 6;  // more can be added on the page

ReportData report_data(const SimulateResult& result);

// What to call each mode of the trajectory: its name; for modes that the program numbered (m1, m2,
// ...), also the conditions in which it differs from others.
std::vector<std::string> mode_labels(const SimulateResult& result);

}  // namespace saltus
