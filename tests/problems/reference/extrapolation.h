#pragma once

#include <optional>

#include "dae.h"

// Implicit Euler with 1, 2, 3 .. K substeps, extrapolated to order K (Aitken-Neville in h).
class Extrapolation {
 public:
  Extrapolation(const Dae& dae, int order, Real tolerance)
      : dae_(dae), order_(order), tolerance_(tolerance) {}

  Vector integrate(Real first_step) {
    Vector y = dae_.start;
    Real t = 0;
    Real h = first_step;
    while (t < dae_.end) {
      const bool last = t + 1.0000001Q * h >= dae_.end;
      if (last) h = dae_.end - t;
      Vector next;
      const auto error = big_step(t, y, h, next);
      if (!error) {
        h /= 4;
        continue;
      }
      const Real scaled = *error / tolerance_;
      const Real factor = 0.8Q * powq(scaled + 1e-30Q, -1.0Q / order_);
      if (scaled <= 1) {
        t = last ? dae_.end : t + h;
        y = next;
        ++steps;
      }
      h *= factor > 3 ? 3 : factor < 0.2Q ? 0.2Q : factor;
    }
    return y;
  }

  long steps = 0;

 private:
  // Extrapolated value in `next`; returns the weighted difference to the one of order K - 1.
  std::optional<Real> big_step(Real t, const Vector& y, Real h, Vector& next) {
    std::vector<Vector> row, above;
    for (int k = 1; k <= order_; ++k) {
      Vector value = y;
      for (int i = 0; i < k; ++i) {
        if (!euler(t + (i + 1) * h / k, h / k, value)) return std::nullopt;
      }
      row = {value};
      for (int j = 1; j < k; ++j) {
        const Real ratio = Real(k) / (k - j);
        Vector better(y.size());
        for (std::size_t i = 0; i < y.size(); ++i) {
          better[i] = row[j - 1][i] + (row[j - 1][i] - above[j - 1][i]) / (ratio - 1);
        }
        row.push_back(better);
      }
      above = row;
    }
    next = row[order_ - 1];
    Vector difference(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) difference[i] = next[i] - row[order_ - 2][i];
    return weighted(dae_, difference, y);
  }

  // One implicit Euler step to time t, in place.
  bool euler(Real t, Real h, Vector& y) {
    const Vector old = y;
    Vector slope(y.size(), 0), change(y.size());
    std::optional<Factors> factors;
    Real previous = 1e30Q;
    for (int iteration = 0; iteration < 40; ++iteration) {
      for (std::size_t i = 0; i < y.size(); ++i) slope[i] = (y[i] - old[i]) / h;
      if (!factors) {
        auto [fy, fdy] = jacobians(dae_, t, y, slope);
        for (std::size_t i = 0; i < fy.entries.size(); ++i) fy.entries[i] += fdy.entries[i] / h;
        factors.emplace(std::move(fy));
      }
      dae_.residual(t, y, slope, change);
      factors->solve(change);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] -= change[i];
      const Real size = weighted(dae_, change, old);
      if (!(size < 1e6Q)) return false;
      if (settled(size, previous)) return true;
      if (size > 1e-3Q * previous || iteration == 0) factors.reset();
      previous = size;
    }
    return false;
  }

  const Dae& dae_;
  int order_;
  Real tolerance_;
};
