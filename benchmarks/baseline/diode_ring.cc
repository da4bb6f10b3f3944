#include <array>
#include <cmath>
#include <numbers>

#include "baseline/baseline.h"

namespace saltus {
namespace {

constexpr int kN = 8;
constexpr double kSaturation = 1e-9;
constexpr double kThermal = 0.026;
constexpr double kSource1Conductance = 1.0 / 100.0;
constexpr double kSource3Conductance = 1.0 / 500.0;
constexpr std::array<double, kN> kCapacitance = {1e-6, 1e-8, 0, 0, 1e-7, 1e-9, 0, 0};
constexpr std::array<double, kN> kConductance = {1e-4, 2e-4, 5e-4, 1e-3, 1e-4, 2e-4, 5e-4, 1e-3};

void residual(double t, const double* v, const double* dv, double* r) {
  double before = kSaturation * (std::exp((v[kN - 1] - v[0]) / kThermal) - 1.0);
  for (int i = 0; i < kN; ++i) {
    const double after = kSaturation * (std::exp((v[i] - v[(i + 1) % kN]) / kThermal) - 1.0);
    r[i] = kCapacitance[i] * dv[i] + kConductance[i] * v[i] + after - before;
    before = after;
  }
  r[0] += kSource1Conductance * (v[0] - 3.0 * std::sin(2000.0 * std::numbers::pi * t));
  r[2] += kSource3Conductance * (v[2] - 1.0 - 2.0 * std::sin(5000.0 * std::numbers::pi * t));
}

void jacobian(double, double c, const double* v, const double*, double* j) {
  const auto at = [j](int row, int column) -> double& { return j[column * kN + row]; };
  for (int i = 0; i < kN; ++i) at(i, i) = c * kCapacitance[i] + kConductance[i];
  for (int i = 0; i < kN; ++i) {
    const int next = (i + 1) % kN;
    const double slope = kSaturation / kThermal * std::exp((v[i] - v[next]) / kThermal);
    at(i, i) += slope;
    at(i, next) -= slope;
    at(next, i) -= slope;
    at(next, next) += slope;
  }
  at(0, 0) += kSource1Conductance;
  at(2, 2) += kSource3Conductance;
}

}  // namespace

BaselineProblem diode_ring_baseline() {
  return {.name = "diode_ring",
          .t_end = 5e-3,
          .start = {0, 0, 6.3690381027089077e-01, 3.0102577014605353e-01, 0, 0, 0, 0},
          .slope = {0, 0.1, 1.0413574735461919e+04, 8.0671169214547324e+03, 1.0671370417671956e+03,
                    0, 0, 0},
          .differential = {1, 1, 0, 0, 1, 1, 0, 0},
          .residual = residual,
          .jacobian = jacobian};
}

}  // namespace saltus
