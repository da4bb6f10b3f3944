#pragma once

#include "dae.h"

// A DAE solved by hand for derivatives and algebraic unknowns:
// y' = slope(t, y), rest = algebraic unknowns(t, y).
struct Ode {
  std::string name;
  Real end = 0;
  Vector start;
  Vector floor;
  std::function<void(Real t, const Vector& y, Vector& dy, Vector& rest)> slope;

  Dae as_dae() const {
    return {.name = name,
            .end = end,
            .start = start,
            .floor = floor,
            .residual = [f = slope](Real t, const Vector& y, const Vector& dy, Vector& r) {
              Vector rest;
              f(t, y, r, rest);
              for (std::size_t i = 0; i < y.size(); ++i) r[i] = dy[i] - r[i];
            }};
  }
  Vector rest(Real t, const Vector& y) const {
    Vector dy(y.size()), result;
    slope(t, y, dy, result);
    return result;
  }
};

// Gragg's midpoint rule with 2, 4, .. 2K substeps, extrapolated to order 2K: explicit, so it has
// nothing in common with collocation.
class Gragg {
 public:
  Gragg(const Ode& ode, int columns, Real tolerance)
      : ode_(ode), columns_(columns), tolerance_(tolerance) {}

  Vector integrate(Real first_step) {
    Vector y = ode_.start;
    Vector next;
    Real t = 0;
    Real h = first_step;
    while (t < ode_.end) {
      const bool last = t + 1.0000001Q * h >= ode_.end;
      if (last) h = ode_.end - t;
      const Real factor = step(t, y, h, next);
      if (factor >= 1) {
        t = last ? ode_.end : t + h;
        y = next;
        ++steps;
      }
      h *= 0.9Q * factor;
    }
    return y;
  }

  // Takes a step of any length; returns by what factor h may grow to meet the tolerance, < 1 if
  // the step fails it.
  Real step(Real t, const Vector& y, Real h, Vector& next) {
    std::vector<Vector> row, above;
    for (int k = 1; k <= columns_; ++k) {
      row = {midpoint(t, y, h, 2 * k)};
      for (int j = 1; j < k; ++j) {
        const Real ratio = Real(k) / (k - j);
        Vector better(y.size());
        for (std::size_t i = 0; i < y.size(); ++i) {
          better[i] = row[j - 1][i] + (row[j - 1][i] - above[j - 1][i]) / (ratio * ratio - 1);
        }
        row.push_back(better);
      }
      above = row;
    }
    next = row[columns_ - 1];
    Real worst = 1e-40Q;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Real e = magnitude(next[i] - row[columns_ - 2][i]) / (magnitude(y[i]) + ode_.floor[i]);
      if (!(e <= worst)) worst = e;
    }
    const Real factor = powq(worst / tolerance_, -1.0Q / (2 * columns_ - 1));
    return factor > 2 ? 2 : factor > 0.2Q ? factor : 0.2Q;
  }

  long steps = 0;

 private:
  Vector midpoint(Real t, const Vector& y, Real h, int substeps) {
    const Real s = h / substeps;
    Vector before = y, now = y, slope(y.size()), rest;
    ode_.slope(t, y, slope, rest);
    for (std::size_t i = 0; i < y.size(); ++i) now[i] += s * slope[i];
    for (int k = 1; k < substeps; ++k) {
      ode_.slope(t + k * s, now, slope, rest);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const Real after = before[i] + 2 * s * slope[i];
        before[i] = now[i];
        now[i] = after;
      }
    }
    return now;
  }

  const Ode& ode_;
  int columns_;
  Real tolerance_;
};
