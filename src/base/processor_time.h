#pragma once

#include <ctime>

namespace saltus {

// Processor time of this thread, s: unlike wall time it does not count what others compute.
inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Adds the processor time of its life to a total, however the scope is left.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), begun_(processor_seconds()) {}
  ~Stopwatch() { total_ += processor_seconds() - begun_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  double begun_;
};

}  // namespace saltus
