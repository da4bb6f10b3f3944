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

// Marks a scope in which this thread builds what it will compute with (modes analysed, formulas
// compiled), so that the two can be told apart. Scopes may be nested.
class BuildingTime {
 public:
  BuildingTime() : begun_(depth_++ == 0 ? processor_seconds() : 0.0) {}
  ~BuildingTime() {
    if (--depth_ == 0) total_ += processor_seconds() - begun_;
  }
  BuildingTime(const BuildingTime&) = delete;
  BuildingTime& operator=(const BuildingTime&) = delete;

  // Processor time of this thread in such scopes, s, since it began.
  static double total() { return total_; }

 private:
  inline static thread_local int depth_ = 0;
  inline static thread_local double total_ = 0.0;
  double begun_;
};

}  // namespace saltus
