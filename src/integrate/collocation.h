#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <span>

#include "integrate/stage_kernels.h"

namespace saltus {

// Weights w with q(s) = x0 + sum w_i Z_i on the collocation polynomial with increments Z, and of
// its derivative by s.
struct CollocationWeights {
  double value[3];
  double slope[3];

  double value_of(const double* z) const {
    return value[0] * z[0] + value[1] * z[1] + value[2] * z[2];
  }
  double slope_of(const double* z) const {
    return slope[0] * z[0] + slope[1] * z[1] + slope[2] * z[2];
  }
};

// The collocation formula of Radau IIA with three stages.
struct Collocation {
  Collocation();

  CollocationWeights weights(double s) const;
  // Of the values alone, at four fractions of a step.
  StageKernels::Matrix value_weights(std::span<const double, 4> s) const;

  double c[3];              // nodes
  double denominator[3];    // of the weights
  Eigen::Matrix3d inverse;  // A^-1
  double real_eigenvalue;   // of A^-1
};

const Collocation& radau_collocation();

// A step of the formula: four numbers an unknown in `stages`, of which the first three are the
// increments at the nodes.
struct CollocationStep {
  double t0 = 0.0;
  double t1 = 0.0;
  double h = 0.0;
  std::span<const double> x0;
  std::span<const double> stages;
};

// The fractions of the step that these times are.
std::array<double, 4> fractions_of(const CollocationStep& step, std::span<const double, 4> times);

// Values of the listed unknowns on the polynomial at four times, four numbers an unknown.
void collocation_lanes(const CollocationStep& step, std::span<const double, 4> times,
                       std::span<const std::uint32_t> unknowns, double* x);

}  // namespace saltus
