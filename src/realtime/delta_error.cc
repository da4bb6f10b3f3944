#include "realtime/delta_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "realtime/affine_motion.h"

namespace saltus {
namespace {

using Matrix = std::array<double, 4>;  // by rows

// Phi(t) - I of the oscillator.
Matrix change(const DeltaErrorOptions& o, double t) {
  const AffineMotion from_x(o.m, o.d, o.c, 0.0, 1.0, 0.0);
  const AffineMotion from_v(o.m, o.d, o.c, 0.0, 0.0, 1.0);
  return {from_x.position(t) - 1.0, from_v.position(t), from_x.velocity(t),
          from_v.velocity(t) - 1.0};
}

Matrix product(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}

// The larger singular value: s1^2 + s2^2 and s1 s2 are known.
double norm(const Matrix& a) {
  const double squares = a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3];
  const double determinant = std::abs(a[0] * a[3] - a[1] * a[2]);
  const double sum = std::sqrt(squares + 2.0 * determinant);
  const double difference = std::sqrt(std::max(0.0, squares - 2.0 * determinant));
  return 0.5 * (sum + difference);
}

double single_error(const DeltaErrorOptions& o, double step, double eta) {
  const Matrix exact = change(o, eta * step);
  const Matrix whole = change(o, step);
  Matrix error{};
  for (std::size_t i = 0; i < 4; ++i) error[i] = exact[i] - eta * whole[i];
  return norm(error);
}

double double_error(const DeltaErrorOptions& o, double step, double eta) {
  const Matrix whole = change(o, step);
  return std::abs(-1.0 + 2.0 * eta - eta * eta) * norm(product(whole, whole));
}

double order_of(double error, double half_error) {
  return half_error > 1e-15 ? std::log2(error / half_error)
                            : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<DeltaErrorRow> delta_errors(const DeltaErrorOptions& o, int divisions) {
  if (!(o.m > 0.0) || !(o.d >= 0.0) || !(o.c >= 0.0) || !std::isfinite(o.m + o.d + o.c))
    throw Error("the oscillator needs a mass above 0, and damping and stiffness of at least 0");
  std::vector<DeltaErrorRow> rows;
  for (const double step : o.steps) {
    if (!(step > 0.0) || !std::isfinite(step)) throw Error("steps must be positive");
    for (int k = 0; k <= 2 * divisions; ++k) {
      const double eta = static_cast<double>(k) / divisions;
      const double single = single_error(o, step, eta);
      const double twice = double_error(o, step, eta);
      if (!std::isfinite(single + twice))
        throw Error("the motion of this oscillator is beyond the range of numbers");
      rows.push_back({step, eta, single, twice, order_of(single, single_error(o, 0.5 * step, eta)),
                      order_of(twice, double_error(o, 0.5 * step, eta))});
    }
  }
  return rows;
}

}  // namespace saltus
