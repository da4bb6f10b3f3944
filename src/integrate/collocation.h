#pragma once

#include <Eigen/Core>

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

  double c[3];              // nodes
  Eigen::Matrix3d inverse;  // A^-1
  double real_eigenvalue;   // of A^-1
};

const Collocation& radau_collocation();

}  // namespace saltus
