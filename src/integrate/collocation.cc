#include "integrate/collocation.h"

#include <Eigen/Eigenvalues>
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
  const Eigen::EigenSolver<Eigen::Matrix3d> eigen(inverse, false);
  for (int k = 0; k < 3; ++k)
    if (std::abs(eigen.eigenvalues()(k).imag()) < 1e-8)
      real_eigenvalue = eigen.eigenvalues()(k).real();
}

CollocationWeights Collocation::weights(double s) const {
  CollocationWeights w{};
  for (int i = 0; i < 3; ++i) {
    const double p = c[(i + 1) % 3];
    const double q = c[(i + 2) % 3];
    const double denominator = c[i] * (c[i] - p) * (c[i] - q);
    w.value[i] = s * (s - p) * (s - q) / denominator;
    w.slope[i] = ((s - p) * (s - q) + s * (s - q) + s * (s - p)) / denominator;
  }
  return w;
}

const Collocation& radau_collocation() {
  static const Collocation instance;
  return instance;
}

void collocation_lanes(const CollocationStep& step, std::span<const double, 4> times,
                       std::span<const std::uint32_t> unknowns, double* x) {
  double w[3][4];
  for (std::size_t lane = 0; lane < 4; ++lane) {
    const CollocationWeights at = radau_collocation().weights(
        times[lane] == step.t1 ? 1.0 : (times[lane] - step.t0) / step.h);
    for (std::size_t i = 0; i < 3; ++i) w[i][lane] = at.value[i];
  }
  for (const std::uint32_t j : unknowns) {
    const double* z = &step.stages[4 * std::size_t{j}];
    for (std::size_t lane = 0; lane < 4; ++lane)
      x[4 * std::size_t{j} + lane] =
          step.x0[j] + (w[0][lane] * z[0] + w[1][lane] * z[1] + w[2][lane] * z[2]);
  }
}

}  // namespace saltus
