#include "integrate/collocation.h"

#include <Eigen/LU>
#include <cmath>

namespace saltus {

Collocation::Collocation() {
  const double root6 = std::sqrt(6.0);
  c[0] = (4.0 - root6) / 10.0;
  c[1] = (4.0 + root6) / 10.0;
  c[2] = 1.0;
  // A V = W with V_jk = c_j^(k-1), W_ik = c_i^k / k.
  Eigen::Matrix3d v, w;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      v(i, k) = std::pow(c[i], k);
      w(i, k) = std::pow(c[i], k + 1) / (k + 1);
    }
  }
  inverse = v * w.inverse();
}

const Collocation& radau_collocation() {
  static const Collocation instance;
  return instance;
}

}  // namespace saltus
