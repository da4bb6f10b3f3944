#pragma once

#include <cstddef>
#include <optional>

#include "model/dae.h"

namespace saltus {

// How fast the fastest of the small changes of a point at rest grows.
struct Growth {
  double rate = 0.0;  // 1/s; the largest real part of an eigenvalue of the linearised equations
  std::size_t unknown = 0;  // that shows it most
};

// None where the equations are not square, too many for dense matrices, or all changes die away.
std::optional<Growth> fastest_growth(const Dae& dae, DaeData& data, double t, const double* x,
                                     const double* dx);

}  // namespace saltus
