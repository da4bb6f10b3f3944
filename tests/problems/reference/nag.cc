// Switch times of the gearbox NAG (examples/nag) from its equations of motion in minimal
// coordinates, worked out by hand: nothing is shared with Saltus but the parameters.
//
// A mode is a matrix T with omega = T u: planetary sets by sun and ring, a locked clutch by one
// speed, a locked brake by none. Then (T' J T) u' = T' M; phi' = T u for every body, so offsets
// need no care. A shaft node without mass gives its own speed,
//   n C omega_n = C sum omega_i - D (n phi_n - sum phi_i) + M_ext;
// open free wheels carry no torque and are left out. The multiplier of a locked element is what
// its disc has left over: M_a - J omega_a'.
//
// Gragg's midpoint rule with 2, 4, 6, 8 substeps, extrapolated to order 8, with steps so short that
// it is stable for the fastest shaft mode; the last step to a switch is found by Newton's method on
// its length. `nag STEP C1_k1` prints the switches; halving the step shows the digits.

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Real = long double;
constexpr int kBodies = 21;
constexpr int kAngles = 30;  // phi_22 ... phi_24 unused

const Real kPi = acosl(-1.0L);
const Real D = 1e5L, C = 150.0L, kTheta = 0.5L;
const Real i1 = 3.59L, i2 = 2.19L, i3 = 1.41L;

struct Element {
  const char* name;
  int a, b;
  Real capacity;
};
std::array<Element, 5> elements = {{{"k1", 13, 14, 650.0L},
                                    {"k2", 15, 16, 700.0L},
                                    {"k3", 17, 18, 1000.0L},
                                    {"b1", 19, 0, 300.0L},
                                    {"b2", 20, 0, 2000.0L}}};

Real inertia(int body) {
  static const std::array<Real, 22> j = {
      0,     0.003L,  0.01L,  0.2L,   0.0002L, 0.002L, 17.0L,  0.01L,  0.0002L, 0.002L, 0.008L,
      0.01L, 0.0002L, 0.005L, 0.005L, 0.005L,  0.005L, 0.005L, 0.005L, 0.004L,  0.004L, 0.004L};
  return j[body];
}

// The node at the other end of a body's shaft; 0: none (output, planets).
int node_of(int body) {
  static const std::array<int, 22> node = {0,  27, 26, 25, 0,  29, 0,  28, 0,  30, 28,
                                           26, 0,  27, 26, 25, 28, 29, 30, 27, 29, 28};
  return node[body];
}

Real ramp(Real x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  return x * x * x * (10 - 15 * x + 6 * x * x);
}

Real capacity(int e, Real t) {
  const Real load1 = ramp((t - 2) / 0.2L), open1 = 1 - ramp((t - 2) / 0.1L);
  const Real load2 = ramp((t - 4) / 0.2L), open2 = 1 - ramp((t - 4) / 0.1L);
  const Real load3 = ramp((t - 6) / 0.2L), open3 = ramp((t - 6) / 0.1L);
  const Real pressure[5] = {load1, load2 - open3, open2 + load3, open1, 1};
  return elements[e].capacity * pressure[e];
}

struct State {
  std::array<Real, kAngles + 1> phi{};
  std::array<Real, kBodies + 1> omega{};
};

class Gearbox {
 public:
  // The speeds that are free, and omega = T u.
  void lock(unsigned mask) {
    locked = mask;
    columns.clear();
    const auto is_locked = [&](int e) { return (mask >> e & 1U) != 0; };
    for (const int sun : {1, 5, 9}) {
      const Real k = sun == 1 ? i2 / (i1 - i2) : sun == 5 ? 1 / (i3 - 1) : i3 / (i2 - i3);
      // With r_s = 1, r_h = k: 2 r_t = 1 + k, 2 r_p = k - 1.
      columns.push_back({{sun, 1}, {sun + 1, 1 / (1 + k)}, {sun + 3, -1 / (k - 1)}});
      columns.push_back({{sun + 2, 1}, {sun + 1, k / (1 + k)}, {sun + 3, k / (k - 1)}});
    }
    for (int e = 0; e < 5; ++e) {
      const auto [name, a, b, c] = elements[e];
      if (is_locked(e) && b != 0) columns.push_back({{a, 1}, {b, 1}});
      if (!is_locked(e)) {
        columns.push_back({{a, 1}});
        if (b != 0) columns.push_back({{b, 1}});
      }
    }
    columns.push_back({{21, 1}});
    const std::size_t n = columns.size();
    mass.assign(n, std::vector<Real>(n, 0));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (const auto& [body, f] : columns[i])
          for (const auto& [other, g] : columns[j])
            if (body == other) mass[i][j] += f * inertia(body) * g;
    // Cholesky, kept.
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i) {
        for (std::size_t k = 0; k < j; ++k) mass[i][j] -= mass[i][k] * mass[j][k];
        mass[i][j] = i == j ? sqrtl(mass[i][j]) : mass[i][j] / mass[j][j];
      }
  }

  // Torques of the shafts on the bodies, and the speeds of the nodes.
  void torques(Real t, const State& s, std::array<Real, kBodies + 1>& torque,
               std::array<Real, kAngles + 1>& node_speed) const {
    std::array<Real, kAngles + 1> count{}, sum{};
    for (int body = 1; body <= kBodies; ++body)
      if (const int node = node_of(body); node != 0) {
        count[node] += 1;
        sum[node] += C * s.omega[body] + D * (s.phi[body] - s.phi[node]);
      }
    sum[25] += 180 * ramp(t / 0.5L);
    for (int node = 25; node <= 30; ++node) node_speed[node] = sum[node] / (count[node] * C);
    for (int body = 1; body <= kBodies; ++body) {
      const int node = node_of(body);
      torque[body] =
          node == 0 ? 0 : -D * (s.phi[body] - s.phi[node]) - C * (s.omega[body] - node_speed[node]);
    }
    torque[6] -= 60 * ramp(t / 3);
  }

  void slope(Real t, const State& s, State& d) const {
    std::array<Real, kBodies + 1> torque{};
    torques(t, s, torque, d.phi);
    for (int body = 1; body <= kBodies; ++body) d.phi[body] = s.omega[body];
    for (int e = 0; e < 5; ++e) {
      if ((locked >> e & 1U) != 0) continue;
      const auto [name, a, b, c] = elements[e];
      const Real x = kTheta * slip(e, s);
      const Real friction = capacity(e, t) * (2 * x / (1 + x * x) + 2 / kPi * atanl(x));
      torque[a] -= friction;
      if (b != 0) torque[b] += friction;
    }
    const std::size_t n = columns.size();
    std::vector<Real> u(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& [body, f] : columns[i]) u[i] += f * torque[body];
      for (std::size_t k = 0; k < i; ++k) u[i] -= mass[i][k] * u[k];
      u[i] /= mass[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) u[i] -= mass[k][i] * u[k];
      u[i] /= mass[i][i];
    }
    d.omega.fill(0);
    for (std::size_t i = 0; i < n; ++i)
      for (const auto& [body, f] : columns[i]) d.omega[body] += f * u[i];
  }

  Real slip(int e, const State& s) const {
    const auto [name, a, b, c] = elements[e];
    return s.omega[a] - (b != 0 ? s.omega[b] : 0);
  }

  // What a lock carries or would carry: equal discs share the rest of their torques evenly.
  Real transmitted(int e, Real t, const State& s) const {
    std::array<Real, kBodies + 1> torque{};
    std::array<Real, kAngles + 1> node_speed{};
    torques(t, s, torque, node_speed);
    const auto [name, a, b, c] = elements[e];
    return b != 0 ? (torque[a] - torque[b]) / 2 : torque[a];
  }

  // Order 8.
  State step(Real t, const State& s, Real h) const {
    State table[4];
    for (int column = 0; column < 4; ++column) {
      const int substeps = 2 * (column + 1);
      const Real k = h / substeps;
      State before = s, now, d;
      slope(t, s, d);
      now = add(s, d, k);
      for (int i = 1; i < substeps; ++i) {
        slope(t + i * k, now, d);
        State next = add(before, d, 2 * k);
        before = now;
        now = next;
      }
      slope(t + h, now, d);
      State smooth = add(before, d, k);
      for (std::size_t i = 0; i < now.phi.size(); ++i)
        smooth.phi[i] = (smooth.phi[i] + now.phi[i]) / 2;
      for (std::size_t i = 0; i < now.omega.size(); ++i)
        smooth.omega[i] = (smooth.omega[i] + now.omega[i]) / 2;
      table[column] = smooth;
      for (int j = column - 1; j >= 0; --j) {
        const Real ratio = static_cast<Real>(substeps) / (2 * (j + 1));
        const Real factor = 1 / (ratio * ratio - 1);
        for (std::size_t i = 0; i < now.phi.size(); ++i)
          table[j].phi[i] = table[j + 1].phi[i] + factor * (table[j + 1].phi[i] - table[j].phi[i]);
        for (std::size_t i = 0; i < now.omega.size(); ++i)
          table[j].omega[i] =
              table[j + 1].omega[i] + factor * (table[j + 1].omega[i] - table[j].omega[i]);
      }
    }
    return table[0];
  }

  static State add(const State& s, const State& d, Real h) {
    State r = s;
    for (std::size_t i = 0; i < r.phi.size(); ++i) r.phi[i] += h * d.phi[i];
    for (std::size_t i = 0; i < r.omega.size(); ++i) r.omega[i] += h * d.omega[i];
    return r;
  }

  unsigned locked = 0;

 private:
  std::vector<std::vector<std::pair<int, Real>>> columns;  // of T
  std::vector<std::vector<Real>> mass;
};

}  // namespace

int main(int argc, char** argv) {
  const Real longest = argc > 1 ? strtold(argv[1], nullptr) : 2e-5L;
  if (argc > 2) elements[0].capacity = strtold(argv[2], nullptr);
  Gearbox gearbox;
  gearbox.lock(0b11100);  // k3, b1, b2
  State s;
  Real t = 0;
  // Positive while the element stays as it is.
  const auto guard = [&](int e, Real time, const State& at, Real sign) {
    if ((gearbox.locked >> e & 1U) != 0)
      return capacity(e, time) - fabsl(gearbox.transmitted(e, time, at));
    return sign * gearbox.slip(e, at);
  };
  const Real corners[] = {0.5L, 2, 2.1L, 2.2L, 3, 4, 4.1L, 4.2L, 6, 6.1L, 6.2L, 7};
  std::array<Real, 5> sign{};
  sign.fill(0);
  while (t < 7) {
    // The friction of a loaded element near zero slip is the fastest part.
    Real rate = 4e4L;
    for (int e = 0; e < 5; ++e)
      if ((gearbox.locked >> e & 1U) == 0 && fabsl(gearbox.slip(e, s)) < 20)
        rate += 1.4L * capacity(e, t) * kTheta / inertia(elements[e].a);
    Real h = longest * 4e4L / rate;
    for (const Real corner : corners)
      if (t < corner && corner < t + h) h = corner - t;
    const State next = gearbox.step(t, s, h);
    int fired = -1;
    Real when = h;
    for (int e = 0; e < 5; ++e) {
      if ((gearbox.locked >> e & 1U) == 0 && sign[e] == 0) {
        sign[e] = gearbox.slip(e, next) < 0 ? -1 : 1;
        continue;
      }
      if (guard(e, t + h, next, sign[e]) > 0) continue;
      // Secant on the length of the step.
      Real low = 0, high = h, f_low = guard(e, t, s, sign[e]),
           f_high = guard(e, t + h, next, sign[e]);
      for (int k = 0; k < 60 && high - low > 1e-17L; ++k) {
        Real middle = high - f_high * (high - low) / (f_high - f_low);
        if (k % 3 == 2) middle = (low + high) / 2;
        const Real f = guard(e, t + middle, gearbox.step(t, s, middle), sign[e]);
        (f > 0 ? low : high) = middle;
        (f > 0 ? f_low : f_high) = f;
      }
      if (high < when || fired < 0) {
        when = high;
        fired = e;
      }
    }
    if (fired < 0) {
      s = next;
      t += h;
      continue;
    }
    s = gearbox.step(t, s, when);
    t += when;
    const bool was_locked = (gearbox.locked >> fired & 1U) != 0;
    const Real through = gearbox.transmitted(fired, t, s);
    if (!was_locked && fabsl(through) >= capacity(fired, t)) {
      sign[fired] = -sign[fired];
      printf("%.13Lf %s passes zero\n", t, elements[fired].name);
      continue;
    }
    gearbox.lock(gearbox.locked ^ (1U << fired));
    if (was_locked) sign[fired] = through > 0 ? 1 : -1;
    if (!was_locked && elements[fired].b != 0) {
      const Real mean = (s.omega[elements[fired].a] + s.omega[elements[fired].b]) / 2;
      s.omega[elements[fired].a] = s.omega[elements[fired].b] = mean;
    }
    if (!was_locked && elements[fired].b == 0) s.omega[elements[fired].a] = 0;
    printf("%.13Lf %s %s\n", t, elements[fired].name, was_locked ? "opens" : "locks");
  }
  printf("omega3 %.13Lf omega6 %.13Lf\n", s.omega[3], s.omega[6]);
}
