#pragma once

#include "explicit.h"

// Mechanisms M(q) q'' + G^T lambda = f(q, q'), g(q) = 0, solved for q'' and lambda with the twice
// differentiated constraint. Parameters and their sources: ../README.md.

// A constraint: constant + sum of factor * q + sum of factor * sin(sum of angles + quarters pi/2).
struct Constraint {
  struct Linear {
    std::size_t q;
    Real factor;
  };
  struct Wave {
    Real factor;
    int quarters;  // 0: sine, 1: cosine
    std::vector<std::size_t> angles;
  };
  Real constant = 0;
  std::vector<Linear> linear;
  std::vector<Wave> waves;

  // Value, gradient, and the part of the second derivative without q''.
  void evaluate(const Real* q, const Real* v, Real& value, Vector& gradient,
                Real& quadratic) const {
    value = constant;
    quadratic = 0;
    gradient.assign(gradient.size(), 0);
    for (const Linear& a : linear) {
      value += a.factor * q[a.q];
      gradient[a.q] += a.factor;
    }
    for (const Wave& w : waves) {
      Real angle = w.quarters * M_PI_2q, rate = 0;
      for (const std::size_t k : w.angles) angle += q[k], rate += v[k];
      value += w.factor * sinq(angle);
      quadratic -= w.factor * sinq(angle) * rate * rate;
      for (const std::size_t k : w.angles) gradient[k] += w.factor * cosq(angle);
    }
  }
};

struct Mechanism {
  std::vector<Constraint> constraints;
  std::function<void(const Real* q, const Real* v, Matrix& mass, Vector& force)> dynamics;

  void slope(const Vector& y, Vector& dy, Vector& lambda) const {
    const std::size_t n = y.size() / 2, m = constraints.size();
    const Real* q = y.data();
    const Real* v = q + n;
    Matrix mass(n), all(n + m);
    Vector rhs(n), gradient(n);
    dynamics(q, v, mass, rhs);
    rhs.resize(n + m);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) all(i, j) = mass(i, j);
    }
    for (std::size_t c = 0; c < m; ++c) {
      Real value, quadratic;
      constraints[c].evaluate(q, v, value, gradient, quadratic);
      for (std::size_t j = 0; j < n; ++j) all(n + c, j) = all(j, n + c) = gradient[j];
      rhs[n + c] = -quadratic;
    }
    Factors(all).solve(rhs);
    for (std::size_t i = 0; i < n; ++i) dy[i] = v[i], dy[n + i] = rhs[i];
    lambda.assign(rhs.begin() + static_cast<std::ptrdiff_t>(n), rhs.end());
  }

  // Solves the constraints for the coordinates other than `fixed`, then the rates likewise.
  void make_consistent(Vector& y, std::size_t fixed) const {
    const std::size_t n = y.size() / 2;
    Vector gradient(n);
    for (int iteration = 0; iteration < 30; ++iteration) {
      Matrix g(n);
      Vector change(n, 0), rates(n, 0);
      Real quadratic;
      g(n - 1, fixed) = 1;
      rates[n - 1] = y[n + fixed];
      for (std::size_t c = 0; c + 1 < n; ++c) {
        constraints[c].evaluate(y.data(), y.data() + n, change[c], gradient, quadratic);
        for (std::size_t j = 0; j < n; ++j) g(c, j) = gradient[j];
      }
      const Factors factors(g);
      factors.solve(change);
      factors.solve(rates);
      for (std::size_t j = 0; j < n; ++j) y[j] -= change[j], y[n + j] = rates[j];
    }
  }
};

inline Ode as_ode(std::string name, Mechanism mechanism, Real end, Vector start, Vector floor) {
  return {.name = std::move(name),
          .end = end,
          .start = std::move(start),
          .floor = std::move(floor),
          .slope = [m = std::move(mechanism)](Real, const Vector& y, Vector& dy, Vector& rest) {
            m.slope(y, dy, rest);
          }};
}

inline Ode andrews() {
  // Angles: beta, theta, gamma, phi, delta, omega, epsilon.
  enum : std::size_t { be, th, ga, ph, de, om, ep };
  const Real rr = 7e-3Q, d = 28e-3Q, ss = 35e-3Q, e = 20e-3Q, zt = 40e-3Q, zf = 20e-3Q, u = 40e-3Q;
  const Real xa = -0.06934Q, ya = -0.00227Q, xb = -0.03635Q, yb = 0.03273Q;
  Mechanism m;
  const auto loop = [&](int cosine, Real constant, std::vector<Constraint::Wave> rest) {
    rest.push_back({rr, cosine, {be}});
    rest.push_back({-d, cosine, {be, th}});
    m.constraints.push_back({constant, {}, rest});
  };
  loop(1, -xb, {{-ss, 0, {ga}}});
  loop(0, -yb, {{ss, 1, {ga}}});
  loop(1, -xa, {{-e, 0, {ph, de}}, {-zt, 1, {de}}});
  loop(0, -ya, {{e, 1, {ph, de}}, {-zt, 0, {de}}});
  loop(1, -xa, {{-zf, 1, {om, ep}}, {-u, 0, {ep}}});
  loop(0, -ya, {{-zf, 0, {om, ep}}, {u, 1, {ep}}});
  m.dynamics = [=](const Real* q, const Real* v, Matrix& mass, Vector& f) {
    const Real m1 = 0.04325Q, m2 = 0.00365Q, m3 = 0.02373Q, m4 = 0.00706Q, m5 = 0.07050Q,
               m6 = 0.00706Q, m7 = 0.05498Q;
    const Real i1 = 2.194e-6Q, i2 = 4.410e-7Q, i3 = 5.255e-6Q, i4 = 5.667e-7Q, i5 = 1.169e-5Q,
               i6 = 5.667e-7Q, i7 = 1.912e-5Q;
    const Real xc = 0.014Q, yc = 0.072Q, c0 = 4530, l0 = 0.07785Q, mom = 0.033Q;
    const Real da = 0.0115Q, ra = 0.00092Q, sa = 0.01874Q, sb = 0.01043Q, sc = 0.018Q, sd = 0.02Q;
    const Real ta = 0.02308Q, tb = 0.00916Q, ua = 0.01228Q, ub = 0.00449Q;
    const Real e1 = e - 0.01421Q, z1 = zf - 0.01421Q;
    mass(0, 0) = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * cosq(q[th]) + da * da) + i1 + i2;
    mass(1, 0) = mass(0, 1) = m2 * (da * da - da * rr * cosq(q[th])) + i2;
    mass(1, 1) = m2 * da * da + i2;
    mass(2, 2) = m3 * (sa * sa + sb * sb) + i3;
    mass(3, 3) = m4 * e1 * e1 + i4;
    mass(4, 3) = mass(3, 4) = m4 * (e1 * e1 + zt * e1 * sinq(q[ph])) + i4;
    mass(4, 4) =
        m4 * (zt * zt + 2 * zt * e1 * sinq(q[ph]) + e1 * e1) + m5 * (ta * ta + tb * tb) + i4 + i5;
    mass(5, 5) = m6 * z1 * z1 + i6;
    mass(6, 5) = mass(5, 6) = m6 * (z1 * z1 - u * z1 * sinq(q[om])) + i6;
    mass(6, 6) =
        m6 * (z1 * z1 - 2 * u * z1 * sinq(q[om]) + u * u) + m7 * (ua * ua + ub * ub) + i6 + i7;
    const Real dx = sd * cosq(q[ga]) + sc * sinq(q[ga]) + xb - xc;
    const Real dy = sd * sinq(q[ga]) - sc * cosq(q[ga]) + yb - yc;
    const Real length = sqrtq(dx * dx + dy * dy), pull = -c0 * (length - l0) / length;
    f[0] = mom - m2 * da * rr * v[th] * (v[th] + 2 * v[be]) * sinq(q[th]);
    f[1] = m2 * da * rr * v[be] * v[be] * sinq(q[th]);
    f[2] = pull * dx * (sc * cosq(q[ga]) - sd * sinq(q[ga])) +
           pull * dy * (sd * cosq(q[ga]) + sc * sinq(q[ga]));
    f[3] = m4 * zt * e1 * v[de] * v[de] * cosq(q[ph]);
    f[4] = -m4 * zt * e1 * v[ph] * (v[ph] + 2 * v[de]) * cosq(q[ph]);
    f[5] = -m6 * u * z1 * v[ep] * v[ep] * cosq(q[om]);
    f[6] = m6 * u * z1 * v[om] * (v[om] + 2 * v[ep]) * cosq(q[om]);
  };
  Vector start = {-0.0617138900142764496Q, 0,
                  0.455279819163070380Q,   0.222668390165885885Q,
                  0.487364979543842550Q,   -0.222668390165885885Q,
                  1.23054744454982119Q};
  start.resize(14, 0);
  m.make_consistent(start, th);
  Vector floor(14, 0.01Q);
  for (std::size_t i = 7; i < 14; ++i) floor[i] = 10;
  return as_ode("andrews", m, 0.03Q, start, floor);
}

inline Ode slider_crank() {
  // Centres and angles of crank, rod and slider.
  enum : std::size_t { x1, y1, a1, x2, y2, a2, x3, y3, a3 };
  const Real crank = 0.15Q / 2, rod = 0.30Q / 2;  // half lengths
  Mechanism m;
  m.constraints = {
      {0, {{x1, 1}}, {{-crank, 1, {a1}}}},
      {0, {{y1, 1}}, {{-crank, 0, {a1}}}},
      {0, {{x1, 1}, {x2, -1}}, {{crank, 1, {a1}}, {rod, 1, {a2}}}},
      {0, {{y1, 1}, {y2, -1}}, {{crank, 0, {a1}}, {rod, 0, {a2}}}},
      {0, {{x2, 1}, {x3, -1}}, {{rod, 1, {a2}}}},
      {0, {{y2, 1}, {y3, -1}}, {{rod, 0, {a2}}}},
      {0, {{y3, 1}}, {}},
      {0, {{a3, 1}}, {}},
  };
  m.dynamics = [](const Real*, const Real*, Matrix& mass, Vector& f) {
    const Real masses[3] = {0.36Q, 0.151104Q, 0.075552Q},
               inertia[3] = {0.002727Q, 0.0045339259Q, 1e-4Q};
    for (std::size_t b = 0; b < 3; ++b) {
      mass(3 * b, 3 * b) = mass(3 * b + 1, 3 * b + 1) = masses[b];
      mass(3 * b + 2, 3 * b + 2) = inertia[b];
      f[3 * b] = f[3 * b + 2] = 0;
      f[3 * b + 1] = -9.81Q * masses[b];
    }
  };
  Vector start(18, 0);
  start[a1] = 0.75Q;
  start[a2] = -0.35Q;  // picks the slider on the right
  start[9 + a1] = 20;
  m.make_consistent(start, a1);
  Vector floor(18, 0.1Q);
  for (std::size_t i = 9; i < 18; ++i) floor[i] = 1;
  return as_ode("slider_crank", m, 1, start, floor);
}

// 20 points on the unit sphere. The multipliers lambda follow from the twice differentiated
// constraint; those of the stabilization, mu, are zero.
inline Ode fekete() {
  Vector start;
  const auto ring = [&](int count, int first, Real offset, Real beta) {
    for (int i = 0; i < count; ++i) {
      const Real alpha = 2 * M_PIq * (i + first) / count + offset;
      start.push_back(cosq(alpha) * cosq(beta));
      start.push_back(sinq(alpha) * cosq(beta));
      start.push_back(sinq(beta));
    }
  };
  ring(3, 1, M_PIq / 13, 3 * M_PIq / 8);
  ring(7, 1, M_PIq / 29, M_PIq / 8);
  ring(6, 1, M_PIq / 7, -2 * M_PIq / 15);
  ring(4, 0, M_PIq / 17, -3 * M_PIq / 10);
  start.resize(120, 0);
  return {.name = "fekete",
          .end = 1000,
          .start = start,
          .floor = Vector(120, 0.1Q),
          .slope = [](Real, const Vector& y, Vector& dy, Vector& lambda) {
            lambda.assign(20, 0);
            for (int i = 0; i < 60; ++i) dy[i] = y[60 + i], dy[60 + i] = -0.5Q * y[60 + i];
            for (int i = 0; i < 20; ++i) {
              for (int j = 0; j < i; ++j) {
                Real d[3], square = 0;
                for (int k = 0; k < 3; ++k) {
                  d[k] = y[3 * i + k] - y[3 * j + k];
                  square += d[k] * d[k];
                }
                for (int k = 0; k < 3; ++k) {
                  dy[60 + 3 * i + k] += d[k] / square;
                  dy[60 + 3 * j + k] -= d[k] / square;
                }
              }
            }
            for (int i = 0; i < 20; ++i) {
              Real pf = 0, qq = 0, pp = 0;
              for (int k = 0; k < 3; ++k) {
                const Real p = y[3 * i + k], q = y[60 + 3 * i + k];
                pf += p * dy[60 + 3 * i + k], qq += q * q, pp += p * p;
              }
              lambda[i] = -(pf + qq) / (2 * pp);
              for (int k = 0; k < 3; ++k) dy[60 + 3 * i + k] += 2 * lambda[i] * y[3 * i + k];
            }
          }};
}
