#pragma once

#include "dae.h"

// The test problems once more, written for quadruple precision and on purpose not shared with the
// files of Saltus. Parameters and their sources: ../README.md.

inline Dae robertson() {
  return {.name = "robertson",
          .end = 1e11Q,
          .start = {1, 0, 0},
          .floor = {1e-9Q, 1e-13Q, 1e-6Q},
          .residual = [](Real, const Vector& y, const Vector& dy, Vector& r) {
            const Real a = 0.04Q * y[0], b = 1e4Q * y[1] * y[2], c = 3e7Q * y[1] * y[1];
            r[0] = dy[0] + a - b;
            r[1] = dy[1] - a + b + c;
            r[2] = y[0] + y[1] + y[2] - 1;
          }};
}

inline Dae akzo_nobel() {
  const Real ks = 115.83Q;
  return {.name = "akzo_nobel",
          .end = 180,
          .start = {0.444Q, 0.00123Q, 0, 0.007Q, 0, ks * 0.444Q * 0.007Q},
          .floor = {1e-3Q, 1e-4Q, 1e-3Q, 1e-5Q, 1e-3Q, 1e-4Q},
          .residual = [ks](Real, const Vector& y, const Vector& dy, Vector& r) {
            const Real k1 = 18.7Q, k2 = 0.58Q, k3 = 0.09Q, k4 = 0.42Q, kk = 34.4Q, kla = 3.3Q;
            const Real root = sqrtq(y[1]);
            const Real r1 = k1 * y[0] * y[0] * y[0] * y[0] * root;
            const Real r2 = k2 * y[2] * y[3];
            const Real r3 = k2 / kk * y[0] * y[4];
            const Real r4 = k3 * y[0] * y[3] * y[3];
            const Real r5 = k4 * y[5] * y[5] * root;
            const Real inflow = kla * (0.9Q / 737 - y[1]);
            r[0] = dy[0] + 2 * r1 - r2 + r3 + r4;
            r[1] = dy[1] + r1 / 2 + r4 + r5 / 2 - inflow;
            r[2] = dy[2] - r1 + r2 - r3;
            r[3] = dy[3] + r2 - r3 + 2 * r4;
            r[4] = dy[4] - r2 + r3 - r5;
            r[5] = ks * y[0] * y[3] - y[5];
          }};
}

inline Dae transistor_amplifier() {
  const Real ub = 6;
  return {.name = "transistor_amplifier",
          .end = 0.2Q,
          .start = {0, ub / 2, ub / 2, ub, ub / 2, ub / 2, ub, 0},
          .floor = Vector(8, 0.01Q),
          .residual = [ub](Real t, const Vector& y, const Vector& dy, Vector& r) {
            const Real r0 = 1000, rk = 9000, alpha = 0.99Q;
            const auto g = [](Real u) { return 1e-6Q * (expq(u / 0.026Q) - 1); };
            const Real ue = 0.1Q * sinq(200 * M_PIq * t);
            const Real g1 = g(y[1] - y[2]), g2 = g(y[4] - y[5]);
            const Real c1 = 1e-6Q * (dy[1] - dy[0]), c2 = -2e-6Q * dy[2];
            const Real c3 = 3e-6Q * (dy[4] - dy[3]), c4 = -4e-6Q * dy[5];
            const Real c5 = 5e-6Q * (dy[7] - dy[6]);
            r[0] = c1 - (y[0] - ue) / r0;
            r[1] = -c1 - (2 * y[1] - ub) / rk - (1 - alpha) * g1;
            r[2] = c2 + g1 - y[2] / rk;
            r[3] = c3 - (y[3] - ub) / rk - alpha * g1;
            r[4] = -c3 - (2 * y[4] - ub) / rk - (1 - alpha) * g2;
            r[5] = c4 + g2 - y[5] / rk;
            r[6] = c5 - (y[6] - ub) / rk - alpha * g2;
            r[7] = -c5 - y[7] / rk;
          }};
}

inline Dae diode_ring() {
  Dae dae{.name = "diode_ring",
          .end = 5e-3Q,
          .start = Vector(8, 0),
          .floor = Vector(8, 0.01Q),
          .residual = [](Real t, const Vector& v, const Vector& dv, Vector& r) {
            const Real capacitance[8] = {1e-6Q, 1e-8Q, 0, 0, 1e-7Q, 1e-9Q, 0, 0};
            const Real resistance[8] = {1e4Q, 5e3Q, 2e3Q, 1e3Q, 1e4Q, 5e3Q, 2e3Q, 1e3Q};
            const Real source1 = 3 * sinq(2000 * M_PIq * t);
            const Real source3 = 1 + 2 * sinq(5000 * M_PIq * t);
            for (int i = 0; i < 8; ++i) r[i] = capacitance[i] * dv[i] + v[i] / resistance[i];
            for (int i = 0; i < 8; ++i) {
              const int j = (i + 1) % 8;
              const Real current = 1e-9Q * (expq((v[i] - v[j]) / 0.026Q) - 1);
              r[i] += current;
              r[j] -= current;
            }
            r[0] += (v[0] - source1) / 100;
            r[2] += (v[2] - source3) / 500;
          }};
  // The capacitors start empty; the nodes without one follow from Kirchhoff's law there.
  Vector zero(8, 0), residual(8);
  for (int iteration = 0; iteration < 200; ++iteration) {
    Matrix a = jacobians(dae, 0, dae.start, zero).first;
    dae.residual(0, dae.start, zero, residual);
    for (const int fixed : {0, 1, 4, 5}) {
      for (int j = 0; j < 8; ++j) a(fixed, j) = fixed == j;
      residual[fixed] = 0;
    }
    Factors(a).solve(residual);
    for (int i = 0; i < 8; ++i) dae.start[i] -= residual[i];
  }
  return dae;
}

// Index 3 in the test set; here both constraints are differentiated twice, which leaves index 1.
inline Dae car_axis() {
  return {.name = "car_axis",
          .end = 3,
          .start = {0, 0.5Q, 1, 0.5Q, -0.5Q, 0, -0.5Q, 0, 0, 0},
          .floor = {1e-2Q, 1e-2Q, 1e-2Q, 1e-2Q, 1e-2Q, 1e-2Q, 1e-2Q, 1e-2Q, 1e-4Q, 1e-4Q},
          .residual = [](Real t, const Vector& y, const Vector& dy, Vector& r) {
            const Real k = 5e-4Q, l0 = 0.5Q, w = 10, h = 0.1Q;
            const Real yb = h * sinq(w * t), yb1 = h * w * cosq(w * t), yb2 = -w * w * yb;
            const Real xb = sqrtq(1 - yb * yb), xb1 = -yb * yb1 / xb;
            const Real xb2 = -(yb1 * yb1 + yb * yb2 + xb1 * xb1) / xb;
            const Real ll = sqrtq(y[0] * y[0] + y[1] * y[1]);
            const Real ex = y[2] - xb, ey = y[3] - yb, lr = sqrtq(ex * ex + ey * ey);
            const Real dx = y[0] - y[2], height = y[1] - y[3];
            const Real f[4] = {(l0 - ll) * y[0] / ll + y[8] * xb + 2 * y[9] * dx,
                               (l0 - ll) * y[1] / ll + y[8] * yb + 2 * y[9] * height - k,
                               (l0 - lr) * ex / lr - 2 * y[9] * dx,
                               (l0 - lr) * ey / lr - 2 * y[9] * height - k};
            for (int i = 0; i < 4; ++i) {
              r[i] = dy[i] - y[4 + i];
              r[4 + i] = dy[4 + i] - f[i] / k;
            }
            r[8] = f[0] / k * xb + 2 * y[4] * xb1 + y[0] * xb2 + f[1] / k * yb + 2 * y[5] * yb1 +
                   y[1] * yb2;
            const Real vx = y[4] - y[6], vy = y[5] - y[7];
            r[9] = vx * vx + vy * vy + dx * (f[0] - f[2]) / k + height * (f[1] - f[3]) / k;
          }};
}
