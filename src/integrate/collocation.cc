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

void collocation_values(const CollocationStep& step, std::span<const double> times,
                        std::span<const std::uint32_t> unknowns, double* x) {
  const std::size_t n = step.x0.size();
  const double* const x0 = step.x0.data();
  const double* const z0 = step.stages.data();
  const double* const z1 = z0 + n;
  const double* const z2 = z1 + n;
  for (std::size_t k = 0; k < times.size(); ++k) {
    double* const row = x + k * n;
    // At the ends the weights are zeros and a one.
    if (times[k] == step.t0) {
      for (const std::uint32_t j : unknowns) row[j] = x0[j];
      continue;
    }
    if (times[k] == step.t1) {
      for (const std::uint32_t j : unknowns) row[j] = x0[j] + z2[j];
      continue;
    }
    const CollocationWeights w = radau_collocation().weights((times[k] - step.t0) / step.h);
    for (const std::uint32_t j : unknowns)
      row[j] = x0[j] + w.value[0] * z0[j] + w.value[1] * z1[j] + w.value[2] * z2[j];
  }
}

}  // namespace saltus
