#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

namespace saltus {

// Weights w with q(s) = x0 + sum w_i Z_i on the collocation polynomial with increments Z, and of
// its derivative by s.
struct CollocationWeights {
  double value[3];
  double slope[3];
};

// The collocation formula of Radau IIA with three stages.
struct Collocation {
  Collocation();

  CollocationWeights weights(double s) const;

  double c[3];              // nodes
  Eigen::Matrix3d inverse;  // A^-1
  double real_eigenvalue;   // of A^-1
};

const Collocation& radau_collocation();

// A step of the formula: the increments at the nodes lie one after another in `stages`.
struct CollocationStep {
  double t0 = 0.0;
  double t1 = 0.0;
  double h = 0.0;
  std::span<const double> x0;
  std::span<const double> stages;
};

// Values of the listed unknowns on the polynomial, a full-length row of x for each time.
void collocation_values(const CollocationStep& step, std::span<const double> times,
                        std::span<const std::uint32_t> unknowns, double* x);

}  // namespace saltus
