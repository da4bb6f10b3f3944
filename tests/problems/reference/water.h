#pragma once

#include <cstdio>

#include "explicit.h"

// Water tube system: 18 flows and the pressures of the two buffers (nodes 5 and 8) as states. The
// other 11 pressures follow from the differentiated balances of their nodes, the friction factors
// from Colebrook's equation. The regime of each pipe is frozen between the instants at which its
// Reynolds number passes 2300; those are located to the last digits.
class WaterTube {
 public:
  static constexpr int kPipes = 18;
  static constexpr int kNodes = 13;

  WaterTube(int columns, Real tolerance, Real max_step)
      : ode_{.name = "water_tube",
             .end = 17 * 3600,
             .start = Vector(kPipes + 2, 0),
             .floor = Vector(kPipes + 2, 1e-5Q),
             .slope = [this](Real t, const Vector& y, Vector& dy,
                             Vector& rest) { slope(t, y, dy, rest); }},
        gragg_(ode_, columns, tolerance),
        max_step_(max_step) {
    ode_.start[kPipes] = ode_.start[kPipes + 1] = 109800;
    ode_.floor[kPipes] = ode_.floor[kPipes + 1] = 1;
  }

  // The end state; `rest` has the 18 friction factors and 13 pressures.
  Vector integrate(Vector& rest) {
    Vector y = ode_.start, next, dy(y.size());
    Real t = 0, h = 1;
    while (t < ode_.end) {
      bool last = t + h >= ode_.end;
      if (last) h = ode_.end - t;
      const Real factor = gragg_.step(t, y, h, next);
      if (factor < 1) {
        h *= 0.9Q * factor;
        continue;
      }
      // The first pipe to leave its regime ends the step.
      int leaves = -1;
      for (int i = 0; i < kPipes; ++i) {
        if (margin(i, next) >= 0) continue;
        leaves = i;
        last = false;
        for (int k = 0; k < 60 && magnitude(margin(i, next)) > 1e-30Q; ++k) {
          slope(t + h, next, dy, rest);
          const Real sign = (next[i] < 0 ? -1 : 1) * (turbulent_[i] ? 1 : -1);
          h -= margin(i, next) / (sign * dy[i]);
          gragg_.step(t, y, h, next);
        }
      }
      t = last ? ode_.end : t + h;
      y = next;
      ++steps;
      if (leaves >= 0) change_regime(t, y, leaves);
      h *= factor < 2 ? factor : 2;
      if (leaves >= 0) h = 1;
      if (h > max_step_) h = max_step_;
    }
    slope(ode_.end, y, dy, rest);
    return y;
  }

  long steps = 0;
  std::vector<std::pair<Real, int>> events;  // time, pipe (from 1; negative: turns laminar)

 private:
  static constexpr Real kNu = 1.31e-6Q, kRho = 1000, kLength = 1000, kArea = M_PIq / 4;
  static constexpr Real kCritical = 2300 * kNu * kArea;  // flow at Re = 2300
  static constexpr int kFrom[kPipes] = {1, 2, 2, 3, 3, 4, 5, 6, 7, 7, 8, 8, 9, 11, 11, 12, 12, 13};
  static constexpr int kTo[kPipes] = {2, 3, 6, 4, 5, 5, 10, 5, 4, 8, 5, 10, 8, 9, 12, 7, 8, 11};

  // Positive while the pipe is in its regime. Pipes 13 and 14 are in series, as are 3 and 8: one
  // stands for both.
  Real margin(int pipe, const Vector& y) const {
    if (pipe == 13 || pipe == 7) return 1;
    const Real excess = magnitude(y[pipe]) - kCritical;
    return turbulent_[pipe] ? excess : -excess;
  }

  void change_regime(Real t, const Vector& y, int pipe) {
    Vector dy(y.size()), rest;
    slope(t, y, dy, rest);
    const Real before = dy[pipe];
    turbulent_[pipe] = !turbulent_[pipe];
    if (pipe == 12) turbulent_[13] = turbulent_[12];
    if (pipe == 2) turbulent_[7] = turbulent_[2];
    slope(t, y, dy, rest);
    events.emplace_back(t, turbulent_[pipe] ? pipe + 1 : -pipe - 1);
    if (before * dy[pipe] <= 0) std::printf("  pipe %d slides at %.6f\n", pipe + 1, double(t));
  }

  static Real friction(Real reynolds) {
    Real s = 4.6Q;  // 1 / sqrt(lambda)
    for (int k = 0; k < 60; ++k) {
      const Real inner = 4e-4Q + 18.7Q * s / reynolds;
      const Real f = s - 1.74Q + 2 * log10q(inner);
      const Real move = f / (1 + 2 * 18.7Q / (reynolds * inner * M_LN10q));
      s -= move;
      if (magnitude(move) < 1e-32Q) break;
    }
    return 1 / (s * s);
  }

  void slope(Real t, const Vector& y, Vector& dy, Vector& rest) const {
    const Real inertia = kRho * kLength / kArea, capacity = 200 / (kRho * 9.8Q);
    const Real s = t / 3600, ds = 1 / 3600.0Q, inner = expq(-s) - 1;
    const Real feed = 1 - cosq(inner), dfeed = -sinq(inner) * expq(-s) * ds;
    const Real take = s * s * (3 * s * s - 92 * s + 720) / 1e6Q;
    const Real dtake = (12 * s * s * s - 276 * s * s + 1440 * s) / 1e6Q * ds;
    Vector net(kNodes + 1, 0), dnet(kNodes + 1, 0);
    net[1] = feed / 200, dnet[1] = dfeed / 200;
    net[13] = feed / 80, dnet[13] = dfeed / 80;
    net[10] = -take, dnet[10] = -dtake;
    rest.assign(kPipes + kNodes, 0);
    Vector drop(kPipes);
    for (int i = 0; i < kPipes; ++i) {
      net[kFrom[i]] -= y[i];
      net[kTo[i]] += y[i];
      const Real reynolds = magnitude(y[i]) / (kNu * kArea);
      rest[i] = friction(turbulent_[i] ? reynolds : Real(2300));
      drop[i] = turbulent_[i] ? rest[i] * kRho * kLength * y[i] * y[i] / (kArea * kArea)
                              : 32 * kNu * kRho * kLength * y[i] / kArea;
    }
    // Pressures: d/dt of the balance vanishes at every node but 5 and 8, which are given.
    Matrix a(kNodes);
    Vector p(kNodes, 0);
    for (int i = 0; i < kPipes; ++i) {
      const int from = kFrom[i] - 1, to = kTo[i] - 1;
      a(from, from) += 1, a(from, to) -= 1, a(to, to) += 1, a(to, from) -= 1;
      p[from] += drop[i], p[to] -= drop[i];
    }
    for (int n = 0; n < kNodes; ++n) p[n] += dnet[n + 1] * inertia;
    for (const int n : {4, 7}) {
      for (int j = 0; j < kNodes; ++j) a(n, j) = n == j;
      p[n] = y[n == 4 ? kPipes : kPipes + 1];
    }
    Factors(a).solve(p);
    for (int i = 0; i < kPipes; ++i) dy[i] = (p[kFrom[i] - 1] - p[kTo[i] - 1] - drop[i]) / inertia;
    dy[kPipes] = net[5] / capacity;
    dy[kPipes + 1] = net[8] / capacity;
    for (int n = 0; n < kNodes; ++n) rest[kPipes + n] = p[n];
  }

  Ode ode_;
  Gragg gragg_;
  Real max_step_;
  bool turbulent_[kPipes] = {};
};
