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
  for (int i = 0; i < 3; ++i)
    denominator[i] = c[i] * (c[i] - c[(i + 1) % 3]) * (c[i] - c[(i + 2) % 3]);
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
    w.value[i] = s * (s - p) * (s - q) / denominator[i];
    w.slope[i] = ((s - p) * (s - q) + s * (s - q) + s * (s - p)) / denominator[i];
  }
  return w;
}

StageKernels::Matrix Collocation::value_weights(std::span<const double, 4> s) const {
  StageKernels::Matrix result;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t lane = 0; lane < 4; ++lane)
      result.column[i][lane] =
          s[lane] * (s[lane] - c[(i + 1) % 3]) * (s[lane] - c[(i + 2) % 3]) / denominator[i];
  return result;
}

const Collocation& radau_collocation() {
  static const Collocation instance;
  return instance;
}

std::array<double, 4> fractions_of(const CollocationStep& step, std::span<const double, 4> times) {
  std::array<double, 4> s;
  for (std::size_t lane = 0; lane < 4; ++lane)
    s[lane] = times[lane] == step.t1 ? 1.0 : (times[lane] - step.t0) / step.h;
  return s;
}

void collocation_lanes(const CollocationStep& step, std::span<const double, 4> times,
                       std::span<const std::uint32_t> unknowns, double* x) {
  const StageKernels::Matrix weights = radau_collocation().value_weights(fractions_of(step, times));
  stage_kernels().interpolate(unknowns.size(), unknowns.data(), step.x0.data(), weights,
                              step.stages.data(), x);
}

}  // namespace saltus
