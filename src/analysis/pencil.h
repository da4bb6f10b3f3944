#pragma once

#include <Eigen/Core>
#include <optional>

#include "analysis/derivative_array.h"
#include "model/dae.h"

namespace saltus {

// Characteristic values of E x' + A x = f (HM Hypothesis 10 with constant coefficients), E and A of
// the same size. None if the hypothesis fails up to `max_levels` differentiations: the pencil is
// singular.
std::optional<CharacteristicValues> pencil_values(const Eigen::MatrixXd& e,
                                                  const Eigen::MatrixXd& a, int max_levels = 4);

// The same for a Dae linearised at a point.
std::optional<CharacteristicValues> pencil_values(const Dae& dae, DaeData& data, double t,
                                                  const double* x, const double* dx);

}  // namespace saltus
