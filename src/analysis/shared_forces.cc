#include "analysis/shared_forces.h"

#include <cmath>

#include "analysis/consistent.h"
#include "linalg/dense.h"

namespace saltus {

std::vector<std::size_t> shared_forces(const Dae& dae, DaeData& data, double t, const double* x,
                                       const double* dx) {
  constexpr double kRankTolerance = 1e-11;
  constexpr double kTakesPart = 1e-8;
  const Pattern& pattern = dae.pattern();
  if (pattern.columns == 0 || static_cast<std::size_t>(pattern.columns) > kLargestLeastChange)
    return {};
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  std::vector<double> values(2 * nonzeros);
  dae.jacobian(data, t, x, dx, values.data());
  // F_x above F_x': what neither sees.
  Eigen::MatrixXd both = Eigen::MatrixXd::Zero(2 * Eigen::Index{pattern.rows}, pattern.columns);
  for (int j = 0; j < pattern.columns; ++j)
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      const double nominal = dae.definition().nominal[static_cast<std::size_t>(j)];
      both(pattern.row[k], j) = nominal * values[static_cast<std::size_t>(k)];
      both(pattern.rows + pattern.row[k], j) =
          nominal * values[nonzeros + static_cast<std::size_t>(k)];
    }
  if (!both.allFinite()) return {};
  for (int i = 0; i < pattern.rows; ++i) {
    const double size = std::max(both.row(i).cwiseAbs().maxCoeff(),
                                 both.row(pattern.rows + i).cwiseAbs().maxCoeff());
    if (size == 0.0) return {};
    both.row(i) /= size;
    both.row(pattern.rows + i) /= size;
  }
  const FullLu lu(both, kRankTolerance);
  if (lu.rank() == pattern.columns) return {};
  const Eigen::MatrixXd free = lu.kernel();
  std::vector<std::size_t> found;
  for (int j = 0; j < pattern.columns; ++j) {
    if (free.row(j).cwiseAbs().maxCoeff() <= kTakesPart * free.cwiseAbs().maxCoeff()) continue;
    if (dae.is_differential(static_cast<std::size_t>(j))) return {};
    found.push_back(static_cast<std::size_t>(j));
  }
  return found;
}

}  // namespace saltus
