#pragma once

#include <complex>
#include <string>
#include <vector>

#include "model/system.h"
#include "simulate/simulate.h"

namespace saltus {

// A point at which a mode stands still: all equations hold with every derivative zero.
struct SteadyState {
  std::string model;
  std::string mode;
  double time = 0.0;       // at which time-dependent equations were taken
  double simulated = 0.0;  // how long the system was followed before Newton's method took over, s
  std::vector<SignalInfo> names;  // all results, in order
  std::vector<double> values;
  double residual = 0.0;  // largest, relative to the terms of its equation
  // Some unknowns could be moved without leaving the equilibrium (a free position): the one nearest
  // to where the search began was taken.
  bool is_unique = true;
  std::vector<std::complex<double>> poles;  // of the linearised mode; empty if it has no states
  bool is_stable() const;                   // all poles in the left half plane, up to rounding
};

// Newton's method from the point of the run at time `at`. Where it fails, or leads out of the mode,
// the run is followed for a longer time, ten times as long each time up to `longest`: what tends to
// an equilibrium gets there. Throws Error if there is none to be found.
SteadyState find_steady_state(const HybridSystem& system, double at, double longest,
                              const SimulateOptions& options = {});

}  // namespace saltus
