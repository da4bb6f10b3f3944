#include "realtime/collision.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "realtime/affine_motion.h"
#include "realtime/mass_line.h"

namespace saltus {
namespace {

void check(const CollisionCase& what) {
  if (what.masses.size() < 2) throw Error("collisions need at least two masses");
  if (!(what.step > 0.0) || !std::isfinite(what.step)) throw Error("the step must be positive");
  if (!(what.stop_time >= 0.0)) throw Error("the stop time must not be negative");
  if (!(what.stop_time / what.step <= 1e7)) throw Error("more than 1e7 steps");
  if (what.stop_time > 0.0 && what.step > what.stop_time)
    throw Error("the step is longer than the run");
  if (!(what.restitution >= 0.0 && what.restitution <= 1.0))
    throw Error("restitution lies between 0 and 1");
  if (!(what.separation > 0.0)) throw Error("the separation factor must be positive");
  for (std::size_t i = 0; i < what.masses.size(); ++i) {
    const CollidingMass& mass = what.masses[i];
    if (!(mass.m > 0.0) || !(mass.c >= 0.0) || !(mass.d >= 0.0))
      throw Error(fmt::format("mass {} needs m > 0, c >= 0 and d >= 0", i + 1));
    if (i > 0 && mass.x < what.masses[i - 1].x)
      throw Error(fmt::format("mass {} lies left of mass {} at the start", i + 1, i));
  }
}

double energy(const CollisionCase& what, const std::vector<double>& x,
              const std::vector<double>& v) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const CollidingMass& mass = what.masses[i];
    sum += 0.5 * mass.m * v[i] * v[i] + 0.5 * mass.c * (x[i] - mass.rest) * (x[i] - mass.rest);
  }
  return sum;
}

// One mass over a whole step: Phi - I, what its rest position adds, and the response to a force of
// 1 N that is held (the columns of H_c that RE (133) reads).
struct Oscillator {
  double xx, xv, vx, vv, off_x, off_v, force_x, force_v;

  Oscillator(const CollidingMass& mass, double step) {
    const AffineMotion from_x(mass.m, mass.d, mass.c, 0.0, 1.0, 0.0);
    const AffineMotion from_v(mass.m, mass.d, mass.c, 0.0, 0.0, 1.0);
    const AffineMotion from_force(mass.m, mass.d, mass.c, 1.0, 0.0, 0.0);
    xx = from_x.position(step) - 1.0;
    vx = from_x.velocity(step);
    xv = from_v.position(step);
    vv = from_v.velocity(step) - 1.0;
    force_x = from_force.position(step);
    force_v = from_force.velocity(step);
    off_x = force_x * mass.c * mass.rest;
    off_v = force_v * mass.c * mass.rest;
  }
  double change_x(double x, double v) const { return xx * x + xv * v + off_x; }
  double change_v(double x, double v) const { return vx * x + vv * v + off_v; }
};

double sign(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : 0.0; }

// Two masses by RE 4.3. Letters as there: eta is the length of a step over T.
class DeltaPair {
 public:
  explicit DeltaPair(const CollisionCase& what)
      : what_(what),
        left_(what.masses[0], what.step),
        right_(what.masses[1], what.step),
        x_{what.masses[0].x, what.masses[1].x},
        v_{what.masses[0].v, what.masses[1].v} {}

  // Returns the length over T. `length`: as long as it may be.
  double step(double length, bool collides, double t, std::vector<Impact>& impacts) {
    const double dx1 = left_.change_x(x_[0], v_[0]);
    const double dx2 = right_.change_x(x_[1], v_[1]);
    double dv1 = left_.change_v(x_[0], v_[0]);
    double dv2 = right_.change_v(x_[1], v_[1]);
    separates_ = false;
    const double gap = x_[1] - x_[0];                     // (118)
    const double predicted = gap + length * (dx2 - dx1);  // (117)
    const double noise = 1e-13 * (std::abs(x_[0]) + std::abs(x_[1]) + std::abs(dx1));
    if (!collides || predicted > noise || (gap > 0.0 && predicted >= 0.0)) {
      take(length, dx1, dv1, dx2, dv2);
      return length;
    }
    if (gap > 0.0) {
      const double eta = gap / (dx1 - dx2);  // (119)
      take(eta, dx1, dv1, dx2, dv2);
      x_[1] = x_[0];
      impact(t + eta * what_.step, impacts);
      return eta;
    }
    if (predicted < -noise) {
      double on_left = 1.0;
      double on_right = 1.0;
      double direction = sign(sign(v_[0]) + sign(v_[1]));  // (126), (127)
      if (direction == 0.0)
        direction = sign(v_[0] * v_[0] * what_.masses[0].m - v_[1] * v_[1] * what_.masses[1].m);
      if (direction > 0.0) on_left = what_.separation;  // (128)
      if (direction < 0.0) on_right = what_.separation;
      // (133) with gap = 0: dx1 + on_left h1 tau = dx2 - on_right h2 tau.
      const double tau = (dx2 - dx1) / (on_left * left_.force_x + on_right * right_.force_x);
      const double shared = dx1 + on_left * left_.force_x * tau;
      dv1 += on_left * left_.force_v * tau;
      dv2 -= on_right * right_.force_v * tau;
      take(length, shared, dv1, shared, dv2);
      separates_ = true;
    } else {
      take(length, dx1, dv1, dx2, dv2);
    }
    x_[1] = x_[0];
    return length;
  }

  const std::vector<double>& x() const { return x_; }
  const std::vector<double>& v() const { return v_; }
  bool separates() const { return separates_; }

 private:
  void take(double eta, double dx1, double dv1, double dx2, double dv2) {  // (115), (130)
    x_[0] += eta * dx1;
    v_[0] += eta * dv1;
    x_[1] += eta * dx2;
    v_[1] += eta * dv2;
  }

  void impact(double t, std::vector<Impact>& impacts) {  // (106) to (108)
    const double m1 = what_.masses[0].m;
    const double m2 = what_.masses[1].m;
    const double approach = v_[0] - v_[1];
    const double common = (m1 * v_[0] + m2 * v_[1]) / (m1 + m2);
    v_[0] = common - m2 / (m1 + m2) * what_.restitution * approach;
    v_[1] = common + m1 / (m1 + m2) * what_.restitution * approach;
    impacts.push_back({t, 0,
                       0.5 * m1 * m2 / (m1 + m2) * approach * approach *
                           (1.0 - what_.restitution * what_.restitution)});
  }

  const CollisionCase& what_;
  Oscillator left_, right_;
  std::vector<double> x_, v_;
  bool separates_ = false;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Time of `work`, repeated until it lasts long enough to be measured; of five the least.
template <typename Work>
double time_of(Work work) {
  double best = 1e9;
  for (int k = 0; k < 5; ++k) {
    int count = 0;
    const double begin = now();
    double passed = 0.0;
    do {
      work();
      ++count;
      passed = now() - begin;
    } while (passed < 2e-3);
    best = std::min(best, passed / count);
  }
  return best;
}

void note(const CollisionCase& what, double t, const std::vector<double>& x,
          const std::vector<double>& v, CollisionRun& run) {
  run.points.push_back({t, x, v, energy(what, x, v)});
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    run.overlap = std::max(run.overlap, x[i] - x[i + 1]);
}

void run_line(const CollisionCase& what, bool measure_time, CollisionRun& run) {
  const auto samples = static_cast<std::size_t>(what.stop_time / what.step + 1e-9);
  MassLine line(what);
  note(what, 0.0, line.x(), line.v(), run);
  for (std::size_t k = 0; k < samples; ++k) {
    const MassLine before = line;
    const double t = static_cast<double>(k) * what.step;
    const bool was_free = run.impacts.empty();
    line.advance(t, what.step, run.impacts);
    note(what, t + what.step, line.x(), line.v(), run);
    if (line.has_contact()) ++run.contact_steps;
    if (measure_time && was_free && !run.impacts.empty()) {
      std::vector<Impact> impacts;
      run.impact_seconds = time_of([&] {
        MassLine again = before;
        impacts.clear();
        again.advance(t, what.step, impacts);
      });
    }
  }
  if (!measure_time) return;
  run.seconds = time_of([&] {
                  MassLine again(what);
                  std::vector<Impact> impacts;
                  for (std::size_t k = 0; k < samples; ++k)
                    again.advance(static_cast<double>(k) * what.step, what.step, impacts);
                }) /
                static_cast<double>(samples);
}

void run_pair(const CollisionCase& what, bool measure_time, CollisionRun& run) {
  const bool collides = run.method == CollisionMethod::kDelta;
  DeltaPair pair(what);
  note(what, 0.0, pair.x(), pair.v(), run);
  double t = 0.0;  // over T
  double length = 1.0;
  std::size_t steps = 0;
  const double end = what.stop_time / what.step * (1.0 - 1e-9);
  const auto next_length = [](double allowed, double taken) {
    // Back on the grid, one sample later; two steps in one would be longer than RE allows.
    const double rest = allowed - taken;
    return rest + 1.0 <= 2.0 ? rest + 1.0 : rest;
  };
  for (; t < end; ++steps) {
    const DeltaPair before = pair;
    const bool was_free = run.impacts.empty();
    const double taken = pair.step(length, collides, t * what.step, run.impacts);
    if (measure_time && was_free && !run.impacts.empty()) {
      std::vector<Impact> impacts;
      run.impact_seconds = time_of([&] {
        DeltaPair again = before;
        impacts.clear();
        again.step(length, collides, 0.0, impacts);
      });
    }
    length = next_length(length, taken);
    t += taken;
    note(what, t * what.step, pair.x(), pair.v(), run);
    if (pair.separates()) ++run.contact_steps;
  }
  if (!measure_time) return;
  run.seconds = time_of([&] {
                  DeltaPair again(what);
                  std::vector<Impact> impacts;
                  double at = 0.0;
                  double allowed = 1.0;
                  while (at < end) {
                    const double taken = again.step(allowed, collides, 0.0, impacts);
                    allowed = next_length(allowed, taken);
                    at += taken;
                  }
                }) /
                static_cast<double>(steps);
}

}  // namespace

std::string_view to_string(CollisionMethod method) {
  switch (method) {
    case CollisionMethod::kFree:
      return "free";
    case CollisionMethod::kDelta:
      return "delta";
    case CollisionMethod::kExact:
      return "exact";
  }
  return "";
}

std::vector<CollisionCase> collision_cases() {
  const auto pair = [](const char* name, const char* description, CollidingMass a, CollidingMass b,
                       double k_s, double c_r, double step) {
    return CollisionCase{name, description, {a, b}, c_r, k_s, step, 20.0};
  };
  return {
      pair("1", "equal systems, elastic", {10, 20, 0, 0, -0.5, 0}, {10, 20, 0, 0, 0, 0}, 1, 1, 0.1),
      pair("2", "equal systems, plastic", {10, 20, 0, 0, -0.5, 0}, {10, 20, 0, 0, 0, 0}, 1, 0, 0.1),
      pair("3", "the right spring twice as stiff, plastic", {10, 20, 0, 0, -0.5, 0},
           {10, 40, 0, 0, 0, 0}, 1, 0, 0.1),
      pair("4", "as 3, unequal separation forces", {10, 20, 0, 0, -0.5, 0}, {10, 40, 0, 0, 0, 0},
           10, 0, 0.1),
      pair("5", "four times the mass pushes", {40, 10, 0, 0, -0.5, 1}, {10, 40, 0, 0, 0, 0}, 1, 0,
           0.2),
      pair("6", "five times the mass is pushed, unequal separation forces",
           {20, 20, 1, 0, -0.3, 0.1}, {100, 20, 0, 0, 0, 0}, 10, 0.9, 0.1),
      pair("7", "a hundred times the mass pushes", {10, 5, 1, 0, -0.3, 0.1}, {0.1, 5, 0.1, 0, 0, 0},
           1, 0.1, 0.1),
      {"cradle",
       "four masses, all of them meet in one sample",
       {{10, 20, 0, 0, -0.5, 0},
        {10, 20, 0, 0, 0, 0},
        {10, 20, 0, 0.01, 0.01, 0},
        {10, 20, 0, 0.02, 0.02, 0}},
       0.8,
       1,
       0.1,
       20}};
}

CollisionRun run_collisions(const CollisionCase& what, CollisionMethod method, bool measure_time) {
  check(what);
  CollisionRun run;
  run.method = method;
  if (method == CollisionMethod::kExact) {
    if (what.separation != 1.0)
      run.refused = "contact as a constraint has equal forces (separation 1)";
    else
      run_line(what, measure_time, run);
  } else if (what.masses.size() != 2) {
    run.refused = "Reiter's scheme is for two masses (RE 4.6.2)";
  } else {
    run_pair(what, measure_time, run);
  }
  return run;
}

}  // namespace saltus
