#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "realtime/realtime_engine.h"

namespace saltus {

// Inputs over time from a CSV file: a first line with "time" and names of inputs, then rows of
// numbers with times that do not decrease. A value holds from its time on until the next; before
// the first row, and where the file does not name an input, the start value holds.
class InputTable {
 public:
  // Throws Error with file and line if the file cannot be read or names what is no input.
  InputTable(const std::string& path, const std::vector<RealtimeInput>& inputs);

  // The values at time t, by input. Pre: the times asked for do not decrease, but for reset().
  const double* at(double t) noexcept;
  void reset() noexcept;

 private:
  std::vector<double> times_;
  std::vector<double> values_;  // by row, then input; row 0 is before the first time
  std::size_t width_ = 0;
  std::size_t row_ = 0;
};

}  // namespace saltus
