#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simulate/trajectory.h"

namespace saltus {

// Signals drawn against time in one frame: same unit, comparable size.
struct Panel {
  std::string unit;
  std::vector<std::size_t> signals;
};

inline constexpr std::size_t kSeriesColors = 6;  // most signals in one panel

// Groups the signals for plotting: those of the model itself, of its components, derivatives. At
// most `most` panels; signals that find no place are left out.
std::vector<Panel> choose_panels(const Trajectory& trajectory, std::size_t most);

}  // namespace saltus
