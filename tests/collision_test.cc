#include "realtime/collision.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "realtime/delta_error.h"
#include "realtime/realtime_run.h"
#include "simulate/simulate.h"

// Collisions with a fixed step (RE chapter 4) against the event-driven solution of the same masses
// in Modelica, and RE's own scheme against its matrices written out here.

namespace saltus {
namespace {

CollisionCase case_named(const std::string& name) {
  for (const CollisionCase& what : collision_cases())
    if (what.name == name) return what;
  throw Error("no such case");
}

// `slowest`: rebounds below it end in contact, m/s.
HybridSystem as_modelica(const CollisionCase& what, double slowest) {
  const CollidingMass& a = what.masses[0];
  const CollidingMass& b = what.masses[1];
  const std::string text =
      "model Pair\n  extends Saltus.Examples.Collision(m1 = " + std::to_string(a.m) +
      ", m2 = " + std::to_string(b.m) + ", c1 = " + std::to_string(a.c) +
      ", c2 = " + std::to_string(b.c) + ", d1 = " + std::to_string(a.d) +
      ", d2 = " + std::to_string(b.d) + ", c_r = " + std::to_string(what.restitution) +
      ", v_min = " + std::to_string(slowest) + ", x1(start = " + std::to_string(a.x) +
      "), v1(start = " + std::to_string(a.v) + "));\nend Pair;\n";
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  return build(load_modelica_text(text, {}, options));
}

class EqualForces : public testing::TestWithParam<const char*> {};

TEST_P(EqualForces, ExactStepsFollowTheEventDrivenSolution) {
  CollisionCase what = case_named(GetParam());
  const CollisionRun run = run_collisions(what, CollisionMethod::kExact, false);
  ASSERT_TRUE(run.refused.empty());
  ASSERT_FALSE(run.impacts.empty());
  EXPECT_LT(run.overlap, 1e-12);
  SimulateOptions options;
  options.tolerance = 1e-10;
  options.stop_time = what.stop_time;
  const SimulateResult offline = simulate(as_modelica(what, 1e-6), options);
  ASSERT_TRUE(offline.completed()) << offline.message;
  const CollisionPoint& end = run.points.back();
  EXPECT_NEAR(end.x[0], offline.final.at("x1"), 1e-6);
  EXPECT_NEAR(end.x[1], offline.final.at("x2"), 1e-6);
  EXPECT_NEAR(end.v[0], offline.final.at("v1"), 1e-6);
  EXPECT_NEAR(end.v[1], offline.final.at("v2"), 1e-6);
  for (const Impact& impact : run.impacts) {
    // Impacts that accumulate are carried over their limit offline.
    if (what.restitution < 1.0 && impact.loss < 1e-5 * run.points.front().energy) continue;
    double nearest = 1e9;
    for (const Event& event : offline.events)
      nearest = std::min(nearest, std::abs(event.time - impact.t));
    EXPECT_LT(nearest, 2e-6) << impact.t;
  }
  // The engine of fixed steps sees a rebound that leaves the band around zero, so it takes a model
  // that does without the others.
  const HybridSystem system = as_modelica(what, 1e-3);
  const SimulateResult same = simulate(system, options);
  RealtimeRunOptions fixed;
  fixed.engine.step = what.step;
  fixed.engine.stop_time = what.stop_time;
  fixed.engine.max_events = 16;
  const RealtimeResult engine = run_realtime(system, fixed);
  EXPECT_TRUE(engine.run.completed());
  EXPECT_NEAR(engine.run.final.at("x1"), same.final.at("x1"), 1e-6);
  EXPECT_NEAR(engine.run.final.at("x2"), same.final.at("x2"), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Collisions, EqualForces, testing::Values("1", "2", "3", "5", "7"));

// RE (111) to (133) with 4 x 4 matrices: Phi and H_c from one power series.
struct Matrices {
  using Matrix = std::array<std::array<double, 4>, 4>;
  Matrix phi{}, h_c{};

  explicit Matrices(const CollisionCase& what) {
    const CollidingMass& p = what.masses[0];
    const CollidingMass& q = what.masses[1];
    const Matrix a = {{{0, 1, 0, 0},
                       {-p.c / p.m, -p.d / p.m, 0, 0},
                       {0, 0, 0, 1},
                       {0, 0, -q.c / q.m, -q.d / q.m}}};
    const std::array<double, 4> b_c = {1.0, 1.0 / p.m, 1.0, 1.0 / q.m};  // (121)
    Matrix term{};
    for (std::size_t i = 0; i < 4; ++i) term[i][i] = 1.0;
    for (int k = 0; k < 40; ++k) {  // term = (A T)^k / k!
      Matrix next{};
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
          phi[i][j] += term[i][j];
          h_c[i][j] += term[i][j] * what.step / (k + 1) * b_c[j];
          for (std::size_t l = 0; l < 4; ++l)
            next[i][j] += a[i][l] * term[l][j] * what.step / (k + 1);
        }
      term = next;
    }
  }
};

class UnequalForces : public testing::TestWithParam<const char*> {};

TEST_P(UnequalForces, DeltaStepsAreThoseOfReiter) {
  const CollisionCase what = case_named(GetParam());
  const CollisionRun run = run_collisions(what, CollisionMethod::kDelta, false);
  const Matrices m(what);
  const double m1 = what.masses[0].m;
  const double m2 = what.masses[1].m;
  using Vector = std::array<double, 4>;
  Vector x = {what.masses[0].x, what.masses[0].v, what.masses[1].x, what.masses[1].v};
  double allowed = 1.0;
  double t = 0.0;
  std::size_t collisions = 0, separations = 0;
  for (std::size_t k = 1; k < run.points.size(); ++k) {
    Vector change{};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) change[i] += m.phi[i][j] * x[j];
      change[i] -= x[i];
    }
    const double gap = x[2] - x[0];
    const double predicted = gap + allowed * (change[2] - change[0]);
    double eta = allowed;
    if (gap > 1e-12 && predicted < 0.0) {
      ++collisions;
      eta = gap / (gap - (gap + change[2] - change[0]));  // (119)
      for (std::size_t i = 0; i < 4; ++i) x[i] += eta * change[i];
      const double v1 = x[1];
      const double v2 = x[3];
      const double p = m1 * v1 + m2 * v2;
      x[1] = (p - m2 * (v1 - v2) * what.restitution) / (m1 + m2);  // (107)
      x[3] = (p - m1 * (v2 - v1) * what.restitution) / (m1 + m2);  // (108)
    } else if (std::abs(gap) <= 1e-12 && predicted < -1e-12) {
      ++separations;
      const auto sign = [](double a) { return (a > 0.0) - (a < 0.0); };
      int direction = sign(sign(x[1]) + sign(x[3]));
      if (direction == 0) direction = sign(x[1] * x[1] * m1 - x[3] * x[3] * m2);
      const Vector c_s = {0.0, direction > 0 ? what.separation : 1.0, 0.0,
                          direction < 0 ? -what.separation : -1.0};  // (128)
      Vector pushed{};
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) pushed[i] += m.h_c[i][j] * c_s[j];
      const double tau =  // (133)
          (-(x[2] - x[0]) / eta - (change[2] - change[0])) / (pushed[2] - pushed[0]);
      for (std::size_t i = 0; i < 4; ++i) x[i] += eta * (change[i] + pushed[i] * tau);  // (130)
    } else {
      for (std::size_t i = 0; i < 4; ++i) x[i] += eta * change[i];
    }
    t += eta;
    const double rest = allowed - eta;
    allowed = rest + 1.0 <= 2.0 ? rest + 1.0 : rest;
    const CollisionPoint& point = run.points[k];
    ASSERT_NEAR(point.t, t * what.step, 1e-9);
    ASSERT_NEAR(point.x[0], x[0], 1e-9) << point.t;
    ASSERT_NEAR(point.v[0], x[1], 1e-9) << point.t;
    ASSERT_NEAR(point.x[1], x[2], 1e-9) << point.t;
    ASSERT_NEAR(point.v[1], x[3], 1e-9) << point.t;
  }
  EXPECT_EQ(collisions, run.impacts.size());
  EXPECT_EQ(separations, run.contact_steps);
  EXPECT_GT(collisions, 0U);
}

INSTANTIATE_TEST_SUITE_P(Collisions, UnequalForces, testing::Values("4", "6"));

TEST(Collisions, SeveralMassesMeetInOneSample) {
  const CollisionCase what = case_named("cradle");
  const CollisionRun run = run_collisions(what, CollisionMethod::kExact, false);
  ASSERT_GE(run.impacts.size(), 3U);
  // The first impact: half a swing of an undamped oscillator.
  EXPECT_NEAR(run.impacts[0].t, std::acos(0.0) / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(run.impacts[0].left, 0U);
  EXPECT_EQ(run.impacts[1].left, 1U);
  EXPECT_EQ(run.impacts[2].left, 2U);
  EXPECT_LT(run.impacts[2].t, 1.2);
  EXPECT_LT(run.overlap, 1e-12);
  double lost = 0.0;
  for (const Impact& impact : run.impacts) lost += impact.loss;
  EXPECT_NEAR(run.points.front().energy, run.points.back().energy + lost, 1e-9);
}

TEST(Collisions, WrongNumbersAreRefused) {
  CollisionCase what = case_named("1");
  what.restitution = 1.5;
  EXPECT_THROW(run_collisions(what, CollisionMethod::kExact, false), Error);
  what = case_named("1");
  what.masses[1].x = -1.0;
  EXPECT_THROW(run_collisions(what, CollisionMethod::kDelta, false), Error);
}

// RE (152): what is left of the series begins with A^2 T^2.
TEST(DeltaErrors, AreOfSecondOrder) {
  DeltaErrorOptions options;
  options.steps = {1e-4};
  for (const DeltaErrorRow& row : delta_errors(options)) {
    if (row.eta == 0.0 || row.eta == 1.0) {
      EXPECT_LT(row.single, 1e-15);
      continue;
    }
    EXPECT_NEAR(row.order, 2.0, 0.01) << row.eta;
    EXPECT_NEAR(row.order_twice, 2.0, 0.01) << row.eta;
    // |eta^2 - eta| / 2 ||A^2|| T^2 with A^2 = [-10 -5; 50 15], whose norm is 53.35.
    EXPECT_NEAR(row.single, 0.5 * std::abs(row.eta * row.eta - row.eta) * 53.35e-8,
                1e-3 * 53.35e-8);
  }
}

}  // namespace
}  // namespace saltus
