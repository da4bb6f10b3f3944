#include "simulate/growth_rate.h"

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <vector>

namespace saltus {

std::optional<Growth> fastest_growth(const Dae& dae, DaeData& data, double t, const double* x,
                                     const double* dx) {
  constexpr std::size_t kMostUnknowns = 60;
  const std::size_t n = dae.unknown_count();
  if (n == 0 || n > kMostUnknowns || dae.equation_count() != n) return std::nullopt;
  const Pattern& pattern = dae.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  std::vector<double> values(2 * nonzeros);
  dae.jacobian(data, t, x, dx, values.data());
  const auto size = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd by_x = Eigen::MatrixXd::Zero(size, size);
  Eigen::MatrixXd by_dx = Eigen::MatrixXd::Zero(size, size);
  for (int j = 0; j < pattern.columns; ++j)
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      by_x(pattern.row[k], j) = values[static_cast<std::size_t>(k)];
      by_dx(pattern.row[k], j) = values[nonzeros + static_cast<std::size_t>(k)];
    }
  if (!by_x.allFinite() || !by_dx.allFinite()) return std::nullopt;
  // exp(rate t) v solves the linearised equations if (rate dF/dx' + dF/dx) v = 0. Algebraic
  // unknowns give infinite rates, which are none.
  const Eigen::GeneralizedEigenSolver<Eigen::MatrixXd> eigen(-by_x, by_dx, true);
  if (eigen.info() != Eigen::Success) return std::nullopt;
  const double smallest = 1e-10 * by_dx.lpNorm<Eigen::Infinity>();
  Growth growth;
  for (Eigen::Index k = 0; k < size; ++k) {
    if (!(std::abs(eigen.betas()(k)) > smallest)) continue;
    const double rate = eigen.alphas()(k).real() / eigen.betas()(k);
    if (!(rate > growth.rate) || !std::isfinite(rate)) continue;
    growth.rate = rate;
    Eigen::Index shows = 0;
    eigen.eigenvectors().col(k).cwiseAbs().maxCoeff(&shows);
    growth.unknown = static_cast<std::size_t>(shows);
  }
  if (growth.rate == 0.0) return std::nullopt;
  return growth;
}

}  // namespace saltus
