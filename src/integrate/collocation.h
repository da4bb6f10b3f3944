#pragma once

#include <Eigen/Core>

namespace saltus {

// The collocation formula of Radau IIA with three stages.
struct Collocation {
  Collocation();

  double c[3];              // nodes
  Eigen::Matrix3d inverse;  // A^-1
};

const Collocation& radau_collocation();

}  // namespace saltus
