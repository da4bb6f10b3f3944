#pragma once

#include <cstddef>

#include "simulate/trajectory.h"

namespace saltus {

// Points of a run for pictures: all of them while they are few, later every second, every fourth
// and so on, so that memory is bounded however long the run is. Both sides of events stay as long
// as there is room for them.
class SampledPoints {
 public:
  // At most so many numbers are kept.
  explicit SampledPoints(std::size_t most_numbers = 4'000'000) : most_numbers_(most_numbers) {}

  void begin(const Trajectory& layout);
  void store(double time, ModeId mode, const double* columns);
  // The points with what the layout says; the time stays as it is if there are none.
  void move_to(Trajectory& trajectory);

 private:
  bool is_side_of_event(std::size_t point) const;
  void thin_out();

  std::size_t most_numbers_;
  std::size_t stride_ = 1;
  std::size_t since_kept_ = 0;        // points since the last one that is kept for good
  bool last_is_provisional_ = false;  // it goes when the next point comes, unless times are equal
  Trajectory points_;
};

}  // namespace saltus
