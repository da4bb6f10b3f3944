#pragma once

#include <cstddef>
#include <vector>

#include "model/dae.h"

namespace saltus {

// Unknowns that the equations leave free at a point without any effect on the motion: how two
// brakes that both hold one shaft share the torque. Empty if nothing is free, if what is free is
// differentiated, or if an equation says nothing there (0 = 0), so that something else is missing.
std::vector<std::size_t> shared_forces(const Dae& dae, DaeData& data, double t, const double* x,
                                       const double* dx);

}  // namespace saltus
