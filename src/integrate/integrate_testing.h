#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analysis/analysed_mode.h"
#include "integrate/integrator.h"
#include "model/system.h"

namespace saltus {

// The first mode of a system, compiled, with the memory to evaluate it.
struct Compiled {
  explicit Compiled(HybridSystem s)
      : system(std::move(s)), mode(analyse(system, ModeId(0))), data(mode->dae->make_data()) {}

  const Dae& dae() const { return *mode->dae; }

  HybridSystem system;
  std::unique_ptr<const AnalysedMode> mode;
  DaeData data;
};

// A solution known in closed form: x(t) and x'(t), in the order of the unknowns.
struct ExactPoint {
  std::vector<double> x;
  std::vector<double> dx;
};

// y' = y z, z^3 + y z = c(t) with c chosen such that y = exp(sin t), z = cos t: nonlinear, index 1
// (d/dz = 3 z^2 + y > 0).
inline HybridSystem curved_system() {
  HybridSystem system("curved");
  const Expr y = system.variable("y", {.start = 1.0});
  const Expr z = system.variable("z", {.start = 1.0});
  const Expr t = system.time();
  Mode& on = system.mode("on");
  on.equations = {der(y) == y * z, z * z * z + y * z == pow(cos(t), 3) + exp(sin(t)) * cos(t)};
  return system;
}

inline ExactPoint curved_solution(double t) {
  const double y = std::exp(std::sin(t));
  return {{y, std::cos(t)}, {y * std::cos(t), -std::sin(t)}};
}

inline IntegratorOptions with_tolerance(double tolerance, std::size_t unknowns) {
  IntegratorOptions options;
  options.tolerance = tolerance;
  options.absolute_tolerance.assign(unknowns, tolerance);
  return options;
}

// Steps until t_end; the outcome of the last step.
inline StepOutcome advance(Integrator& integrator, double t_end) {
  StepOutcome outcome;
  while (integrator.time() < t_end && outcome.ok()) outcome = integrator.step(t_end);
  return outcome;
}

// Slope of the least-squares line through (log h, log error).
inline double fitted_order(std::span<const double> h, std::span<const double> error) {
  const auto n = static_cast<double>(h.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double x = std::log(h[i]);
    const double y = std::log(error[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace saltus
