#pragma once

#include <optional>

#include "dae.h"

// Radau IIA collocation with s stages (order 2s - 1), the step controlled by step doubling.
class Radau {
 public:
  Radau(const Dae& dae, int stages, Real tolerance)
      : dae_(dae), s_(stages), tolerance_(tolerance), nodes_(radau_nodes(stages)), inverse_(s_) {
    // Collocation in the values Y_0 = y, Y_1 .. Y_s: derivative of the interpolation polynomial on
    // 0, c_1 .. c_s at c_i. No Runge-Kutta matrix has to be inverted.
    Vector x = {0};
    x.insert(x.end(), nodes_.begin(), nodes_.end());
    for (int i = 0; i < s_; ++i) {
      for (int j = 0; j < s_; ++j) inverse_(i, j) = lagrange_slope(x, j + 1, x[i + 1]);
    }
    for (int j = 0; j <= s_; ++j) slope_at_start_.push_back(lagrange_slope(x, j, 0));
  }

  Vector integrate(Real first_step) {
    Vector y = dae_.start;
    Real t = 0;
    Real h = first_step;
    while (t < dae_.end) {
      const bool last = t + 1.0000001Q * h >= dae_.end;
      if (last) h = dae_.end - t;
      const auto whole = step(t, y, h);
      const auto half = whole ? step(t, y, h / 2) : std::nullopt;
      const auto halves = half ? step(t + h / 2, half->back(), h / 2) : std::nullopt;
      if (!halves) {
        h /= 4;
        continue;
      }
      Vector difference(dae_.size());
      for (std::size_t i = 0; i < y.size(); ++i) {
        difference[i] = halves->back()[i] - whole->back()[i];
      }
      const Real error = weighted(dae_, difference, y) / tolerance_;
      const Real factor = 0.85Q * powq(error + 1e-30Q, -1.0Q / (2 * s_));
      if (error <= 1) {
        t = last ? dae_.end : t + h;
        y = halves->back();
        ++steps;
      }
      h *= factor > 3 ? 3 : factor < 0.2Q ? 0.2Q : factor;
    }
    return y;
  }

  // y'(0) of the solution through the consistent point y(0), from one very short step.
  Vector start_slope(Real h) {
    const auto stages = step(0, dae_.start, h);
    if (!stages) throw std::runtime_error("no step from the start of " + dae_.name);
    Vector slope(dae_.size());
    for (std::size_t i = 0; i < slope.size(); ++i) {
      slope[i] = slope_at_start_[0] * dae_.start[i];
      for (int j = 0; j < s_; ++j) slope[i] += slope_at_start_[j + 1] * (*stages)[j][i];
      slope[i] /= h;
    }
    return slope;
  }

  long steps = 0;

 private:
  // Zeros of P_s - P_(s-1) on [0, 1] by Newton's method with deflation.
  static Vector radau_nodes(int s) {
    Vector found = {1};
    for (int k = 1; k < s; ++k) {
      Real x = cosq((2 * k) * M_PIq / (2 * s - 1));
      for (int sweep = 0; sweep < 200; ++sweep) {
        Real p0 = 1, p1 = x, d0 = 0, d1 = 1;
        for (int j = 2; j <= s; ++j) {
          const Real p2 = ((2 * j - 1) * x * p1 - (j - 1) * p0) / j;
          const Real d2 = d0 + (2 * j - 1) * p1;
          p0 = p1, p1 = p2, d0 = d1, d1 = d2;
        }
        const Real f = p1 - p0;
        Real slope = (d1 - d0) / f;
        for (const Real z : found) slope -= 1 / (x - z);
        const Real move = 1 / slope;
        if (f == 0 || magnitude(move) < 1e-33Q) break;
        x -= move;
      }
      found.push_back(x);
    }
    Vector c;
    for (int k = s; k-- > 0;) c.push_back((1 + found[k]) / 2);
    return c;
  }

  // Derivative at `at` of the Lagrange polynomial that is 1 at x[j].
  static Real lagrange_slope(const Vector& x, std::size_t j, Real at) {
    Real sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (k == j) continue;
      Real term = 1 / (x[j] - x[k]);
      for (std::size_t m = 0; m < x.size(); ++m) {
        if (m != j && m != k) term *= (at - x[m]) / (x[j] - x[m]);
      }
      sum += term;
    }
    return sum;
  }

  // The stage values of one step; nothing if Newton's method fails.
  std::optional<std::vector<Vector>> step(Real t, const Vector& y, Real h) {
    const std::size_t n = dae_.size();
    std::vector<Vector> stage(s_, y);
    std::optional<Factors> factors;
    Vector rhs(n * s_), part(n), slope(n);
    Real previous = 1e30Q;
    const auto slope_of = [&](int i) {
      for (std::size_t k = 0; k < n; ++k) {
        slope[k] = 0;
        for (int j = 0; j < s_; ++j) slope[k] += inverse_(i, j) * (stage[j][k] - y[k]);
        slope[k] /= h;
      }
    };
    for (int iteration = 0; iteration < 40; ++iteration) {
      if (!factors) {
        Matrix all(n * s_);
        for (int i = 0; i < s_; ++i) {
          slope_of(i);
          const auto [fy, fdy] = jacobians(dae_, t + nodes_[i] * h, stage[i], slope);
          for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b < n; ++b) {
              all(i * n + a, i * n + b) += fy(a, b);
              for (int j = 0; j < s_; ++j) {
                all(i * n + a, j * n + b) += fdy(a, b) * inverse_(i, j) / h;
              }
            }
          }
        }
        factors.emplace(std::move(all));
      }
      for (int i = 0; i < s_; ++i) {
        slope_of(i);
        dae_.residual(t + nodes_[i] * h, stage[i], slope, part);
        for (std::size_t k = 0; k < n; ++k) rhs[i * n + k] = part[k];
      }
      factors->solve(rhs);
      Real change = 0;
      for (int i = 0; i < s_; ++i) {
        for (std::size_t k = 0; k < n; ++k) {
          part[k] = rhs[i * n + k];
          stage[i][k] -= part[k];
        }
        const Real c = weighted(dae_, part, y);
        if (!(c <= change)) change = c;
      }
      if (!(change < 1e6Q)) return std::nullopt;
      if (settled(change, previous)) return stage;
      if (change > 1e-3Q * previous || iteration == 0) factors.reset();
      previous = change;
    }
    return std::nullopt;
  }

  const Dae& dae_;
  int s_;
  Real tolerance_;
  Vector nodes_;
  Matrix inverse_;
  Vector slope_at_start_;
};
