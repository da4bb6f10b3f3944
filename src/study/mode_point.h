#pragma once

#include <memory>

#include "simulate/run.h"
#include "simulate/simulate.h"

namespace saltus {

// A run that was carried to some time, and the mode in force there with its point made consistent
// (ModeRun::point() and slope()).
struct ModePoint {
  // Throws Error if the run ends before that time.
  ModePoint(const HybridSystem& system, double at, const SimulateOptions& options);

  std::unique_ptr<Run> simulation;
  ModeRun* run = nullptr;
  double time = 0.0;
  SystemState state;
};

}  // namespace saltus
