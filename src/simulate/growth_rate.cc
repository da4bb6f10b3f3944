#include "simulate/growth_rate.h"

#include <cmath>
#include <limits>
#include <vector>

#include "linalg/dense.h"

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
  const PencilEigenvalues eigen = eigenvalues(-by_x, by_dx, true);
  if (!eigen.converged) return std::nullopt;
  const double smallest = 1e-10 * by_dx.lpNorm<Eigen::Infinity>();
  Growth growth;
  for (Eigen::Index k = 0; k < size; ++k) {
    if (!(std::abs(eigen.beta(k)) > smallest)) continue;
    const double rate = eigen.alpha(k).real() / eigen.beta(k);
    if (!(rate > growth.rate) || !std::isfinite(rate)) continue;
    growth.rate = rate;
    Eigen::Index shows = 0;
    eigen.vectors.col(k).cwiseAbs().maxCoeff(&shows);
    growth.unknown = static_cast<std::size_t>(shows);
  }
  if (growth.rate == 0.0) return std::nullopt;
  return growth;
}

}  // namespace saltus
