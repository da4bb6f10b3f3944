#pragma once

#include <array>

namespace saltus {

// Largest residuals of the constraints of a run on position, velocity and acceleration level, each
// over the largest sum of magnitudes of its terms in its mode, and as they are, in the unit of the
// constraint. Not a number: no constraint there.
struct LevelResiduals {
  using Levels = std::array<double, 3>;
  Levels at_steps;     // accepted steps
  Levels at_switches;  // both sides of every switch
  Levels absolute_at_steps;
  Levels absolute_at_switches;
  LevelResiduals();
  LevelResiduals& operator|=(const LevelResiduals& other);  // the larger of both
};

}  // namespace saltus
