#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace saltus {

// A line on the terminal that says how far a run is and how long it may still take: from one second
// on, ten times a second, erased at the end. Shows nothing where standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine(double start_time, double stop_time, bool wanted);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `what` comes first, if anything.
  void update(double time, std::string_view what = {});

 private:
  using Clock = std::chrono::steady_clock;

  double start_time_;
  double stop_time_;
  bool enabled_;
  bool shown_ = false;
  std::size_t calls_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};

}  // namespace saltus
