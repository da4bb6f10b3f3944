#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/dae.h"

namespace saltus {

enum class StepStatus {
  kSuccess,
  kStepTooSmall,  // the error test or Newton wants a step below rounding
  kSingular,      // the iteration matrix is singular at every step size tried
  kNotFinite,     // an equation gives NaN or infinity
  kRanksChanged,  // the characteristic values of the mode changed inside it
  kPole,          // a term of time alone goes to infinity there
};

// What a step came to. `index` is the offending equation (kNotFinite) or unknown (kSingular: the
// dependent one; kStepTooSmall: the one with the largest error).
struct StepOutcome {
  StepStatus status = StepStatus::kSuccess;
  std::size_t index = 0;
  bool ok() const { return status == StepStatus::kSuccess; }
};

struct IntegratorOptions {
  double tolerance = 1e-6;                 // relative
  std::vector<double> absolute_tolerance;  // an unknown
  double max_step = std::numeric_limits<double>::infinity();
  double first_step = 0.0;  // 0: chosen from the slope
  // Unknowns that guards read: even where the error control does not look at them, the continuous
  // extension has to show their course.
  std::vector<std::uint32_t> watched;
};

struct IntegratorCounts {
  std::size_t steps = 0;
  std::size_t rejected = 0;
  std::size_t residuals = 0;
  std::size_t jacobians = 0;
  std::size_t factorizations = 0;
  std::size_t newton_iterations = 0;

  IntegratorCounts& operator+=(const IntegratorCounts& other) {
    steps += other.steps;
    rejected += other.rejected;
    residuals += other.residuals;
    jacobians += other.jacobians;
    factorizations += other.factorizations;
    newton_iterations += other.newton_iterations;
    return *this;
  }
};

// Advances F(t, x, x') = 0 within one mode. Pre: the mode is strangeness-free and the start is
// consistent. Nothing here prints or throws.
class Integrator {
 public:
  virtual ~Integrator() = default;

  // Starts from a consistent point. `step` is the step size to try first; 0 lets the integrator
  // choose.
  virtual void restart(double t, std::span<const double> x, std::span<const double> dx,
                       double step) = 0;

  // One accepted step that ends at or before `limit` (exactly at it if it is near).
  virtual StepOutcome step(double limit) = 0;

  // Takes the last step again so that it ends at t, previous_time() < t <= the end it had: a point
  // of full accuracy, not an interpolated one. The integrator then stands at t.
  virtual StepOutcome retake(double t) = 0;

  // The solution has a kink where the last step ends: methods of several steps begin anew there.
  virtual void pass_kink() {}

  // Values of the listed unknowns on the continuous extension of the last step (t within it);
  // x and dx are full-length, only the listed places are written.
  virtual void interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                           double* dx) const = 0;

  // The values alone, the same numbers, at four times: x has four numbers an unknown. False, with
  // nothing written, where this would be no faster.
  virtual bool interpolate_lanes(std::span<const double, 4> /*times*/,
                                 std::span<const std::uint32_t> /*unknowns*/, double* /*x*/) const {
    return false;
  }

  // What is integrated determines all else by formulas. Where it does not, the three functions
  // below return false and write nothing.
  virtual bool gives_all_else() const { return false; }

  // As interpolate() for all unknowns, made consistent.
  virtual bool interpolate_consistently(double /*t*/, double* /*x*/, double* /*dx*/) {
    return false;
  }

  // The same for what is integrated alone, in the order of the integrator, at four times: four
  // numbers an unknown.
  virtual bool interpolate_states(std::span<const double, 4> /*times*/, double* /*x*/,
                                  double* /*dx*/) {
    return false;
  }

  // The same from the values of what is integrated, which x holds, at any time: writes all other
  // values and the derivatives of what is integrated.
  virtual bool complete(double /*t*/, double* /*x*/, double* /*dx*/) { return false; }

  // Polynomial degree of the continuous extension.
  virtual int extension_degree() const = 0;

  virtual double previous_time() const = 0;
  virtual double time() const = 0;
  virtual std::span<const double> x() const = 0;
  virtual std::span<const double> dx() const = 0;
  // The step size the error control would try next, not cut by limits.
  virtual double suggested_step() const = 0;
  virtual const IntegratorCounts& counts() const = 0;
};

}  // namespace saltus
