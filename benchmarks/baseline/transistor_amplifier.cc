#include <cmath>
#include <numbers>

#include "baseline/baseline.h"

namespace saltus {
namespace {

constexpr double kUb = 6.0;
constexpr double kG0 = 1.0 / 1000.0;
constexpr double kG = 1.0 / 9000.0;
constexpr double kAlpha = 0.99;
constexpr double kBeta = 1e-6;
constexpr double kUf = 0.026;
constexpr double kC1 = 1e-6;
constexpr double kC2 = 2e-6;
constexpr double kC3 = 3e-6;
constexpr double kC4 = 4e-6;
constexpr double kC5 = 5e-6;

void residual(double t, const double* y, const double* dy, double* r) {
  const double source = 0.1 * std::sin(200.0 * std::numbers::pi * t);
  const double g1 = kBeta * (std::exp((y[1] - y[2]) / kUf) - 1.0);
  const double g2 = kBeta * (std::exp((y[4] - y[5]) / kUf) - 1.0);
  const double i1 = kC1 * (dy[1] - dy[0]);
  const double i3 = kC3 * (dy[4] - dy[3]);
  const double i5 = kC5 * (dy[7] - dy[6]);
  r[0] = i1 - (y[0] - source) * kG0;
  r[1] = -i1 - (2.0 * y[1] - kUb) * kG - (1.0 - kAlpha) * g1;
  r[2] = -kC2 * dy[2] + g1 - y[2] * kG;
  r[3] = i3 - (y[3] - kUb) * kG - kAlpha * g1;
  r[4] = -i3 - (2.0 * y[4] - kUb) * kG - (1.0 - kAlpha) * g2;
  r[5] = -kC4 * dy[5] + g2 - y[5] * kG;
  r[6] = i5 - (y[6] - kUb) * kG - kAlpha * g2;
  r[7] = -i5 - y[7] * kG;
}

void jacobian(double, double c, const double* y, const double*, double* j) {
  constexpr int kN = 8;
  const auto at = [j](int row, int column) -> double& { return j[column * kN + row]; };
  const double d1 = kBeta / kUf * std::exp((y[1] - y[2]) / kUf);
  const double d2 = kBeta / kUf * std::exp((y[4] - y[5]) / kUf);
  at(0, 0) = -c * kC1 - kG0;
  at(0, 1) = c * kC1;
  at(1, 0) = c * kC1;
  at(1, 1) = -c * kC1 - 2.0 * kG - (1.0 - kAlpha) * d1;
  at(1, 2) = (1.0 - kAlpha) * d1;
  at(2, 1) = d1;
  at(2, 2) = -c * kC2 - d1 - kG;
  at(3, 1) = -kAlpha * d1;
  at(3, 2) = kAlpha * d1;
  at(3, 3) = -c * kC3 - kG;
  at(3, 4) = c * kC3;
  at(4, 3) = c * kC3;
  at(4, 4) = -c * kC3 - 2.0 * kG - (1.0 - kAlpha) * d2;
  at(4, 5) = (1.0 - kAlpha) * d2;
  at(5, 4) = d2;
  at(5, 5) = -c * kC4 - d2 - kG;
  at(6, 4) = -kAlpha * d2;
  at(6, 5) = kAlpha * d2;
  at(6, 6) = -c * kC5 - kG;
  at(6, 7) = c * kC5;
  at(7, 6) = c * kC5;
  at(7, 7) = -c * kC5 - kG;
}

// Unknowns u1 = y1 - y2, y2, y3, u3 = y4 - y5, y5, y6, u5 = y7 - y8, y8; the five equations of the
// capacitors first, as in the problem set.
void semi_explicit_residual(double t, const double* z, const double* dz, double* r) {
  const double source = 0.1 * std::sin(200.0 * std::numbers::pi * t);
  const double g1 = kBeta * (std::exp((z[1] - z[2]) / kUf) - 1.0);
  const double g2 = kBeta * (std::exp((z[4] - z[5]) / kUf) - 1.0);
  const double base1 = (2.0 * z[1] - kUb) * kG + (1.0 - kAlpha) * g1;
  const double base2 = (2.0 * z[4] - kUb) * kG + (1.0 - kAlpha) * g2;
  r[0] = kC1 * dz[0] - base1;
  r[1] = kC2 * dz[2] - g1 + z[2] * kG;
  r[2] = kC3 * dz[3] - base2;
  r[3] = kC4 * dz[5] - g2 + z[5] * kG;
  r[4] = kC5 * dz[6] - z[7] * kG;
  r[5] = (z[0] + z[1] - source) * kG0 + base1;
  r[6] = (z[3] + z[4] - kUb) * kG + kAlpha * g1 + base2;
  r[7] = (z[6] + 2.0 * z[7] - kUb) * kG + kAlpha * g2;
}

void semi_explicit_jacobian(double, double c, const double* z, const double*, double* j) {
  constexpr int kN = 8;
  const auto at = [j](int row, int column) -> double& { return j[column * kN + row]; };
  const double d1 = kBeta / kUf * std::exp((z[1] - z[2]) / kUf);
  const double d2 = kBeta / kUf * std::exp((z[4] - z[5]) / kUf);
  at(0, 0) = c * kC1;
  at(0, 1) = -2.0 * kG - (1.0 - kAlpha) * d1;
  at(0, 2) = (1.0 - kAlpha) * d1;
  at(1, 1) = -d1;
  at(1, 2) = c * kC2 + d1 + kG;
  at(2, 3) = c * kC3;
  at(2, 4) = -2.0 * kG - (1.0 - kAlpha) * d2;
  at(2, 5) = (1.0 - kAlpha) * d2;
  at(3, 4) = -d2;
  at(3, 5) = c * kC4 + d2 + kG;
  at(4, 6) = c * kC5;
  at(4, 7) = -kG;
  at(5, 0) = kG0;
  at(5, 1) = kG0 + 2.0 * kG + (1.0 - kAlpha) * d1;
  at(5, 2) = -(1.0 - kAlpha) * d1;
  at(6, 1) = kAlpha * d1;
  at(6, 2) = -kAlpha * d1;
  at(6, 3) = kG;
  at(6, 4) = 3.0 * kG + (1.0 - kAlpha) * d2;
  at(6, 5) = -(1.0 - kAlpha) * d2;
  at(7, 4) = kAlpha * d2;
  at(7, 5) = -kAlpha * d2;
  at(7, 6) = kG;
  at(7, 7) = 2.0 * kG;
}

}  // namespace

BaselineProblem transistor_amplifier_baseline() {
  return {
      .name = "transistor_amplifier",
      .t_end = 0.2,
      .start = {0.0, kUb / 2, kUb / 2, kUb, kUb / 2, kUb / 2, kUb, 0.0},
      .slope = {51.339276517180721, 51.339276517180721, -166.66666666666667, -24.970328515406329,
                -24.970328515406329, -83.333333333333333, -10.000276402456339, -10.000276402456339},
      .differential = {1, 1, 1, 1, 1, 1, 1, 1},
      .residual = residual,
      .jacobian = jacobian};
}

BaselineProblem transistor_amplifier_semi_explicit_baseline() {
  return {.name = "transistor_amplifier_semi_explicit",
          .t_end = 0.2,
          .start = {-kUb / 2, kUb / 2, kUb / 2, kUb / 2, kUb / 2, kUb / 2, kUb, 0.0},
          .slope = {0.0, 51.339276517180721, -166.66666666666667, 0.0, -24.970328515406329,
                    -83.333333333333333, 0.0, -10.000276402456339},
          .differential = {1, 0, 1, 1, 0, 1, 1, 0},
          .residual = semi_explicit_residual,
          .jacobian = semi_explicit_jacobian};
}

}  // namespace saltus
