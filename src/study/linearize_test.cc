#include "study/linearize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "base/error.h"
#include "study/steady.h"

namespace saltus {
namespace {

constexpr double kExact = 1e-8;

std::size_t place(const std::vector<std::string>& names, const std::string& name) {
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k] == name) return k;
  ADD_FAILURE() << "no " << name;
  return 0;
}

// A series circuit: L i' = U - R i - v, C v' = i.
HybridSystem circuit() {
  HybridSystem s("circuit");
  const Expr i = s.variable("i"), v = s.variable("v"), u_r = s.variable("u_R");
  const Expr R = s.parameter("R", 2.0), L = s.parameter("L", 0.5), C = s.parameter("C", 0.1);
  const Expr U = s.parameter("U", 12.0);
  s.mode("on").equations = {L * der(i) == U - u_r - v, C * der(v) == i, u_r == R * i};
  return s;
}

TEST(Linearize, SeriesCircuitHasItsExactMatrices) {
  const Linearization l = linearize(circuit(), 0.3, {"U"}, {"u_R", "v + i"});
  ASSERT_EQ(l.states.size(), 2U);
  const std::size_t i = place(l.states, "i"), v = place(l.states, "v");
  EXPECT_NEAR(l.a.at(i, i), -4.0, kExact);
  EXPECT_NEAR(l.a.at(i, v), -2.0, kExact);
  EXPECT_NEAR(l.a.at(v, i), 10.0, kExact);
  EXPECT_NEAR(l.a.at(v, v), 0.0, kExact);
  EXPECT_NEAR(l.b.at(i, 0), 2.0, kExact);
  EXPECT_NEAR(l.b.at(v, 0), 0.0, kExact);
  EXPECT_NEAR(l.c.at(0, i), 2.0, kExact);
  EXPECT_NEAR(l.c.at(1, v), 1.0, kExact);
  EXPECT_NEAR(l.d.at(0, 0), 0.0, kExact);
  // s^2 + 4 s + 20 = 0
  for (const auto& pole : l.poles)
    EXPECT_NEAR(std::abs(pole - std::complex<double>(-2.0, std::copysign(4.0, pole.imag()))), 0.0,
                kExact);
  // u_R / U = R C s / (L C s^2 + R C s + 1)
  const std::complex<double> s(0.0, 3.0);
  EXPECT_NEAR(std::abs(l.transfer(s)[0] - 0.2 * s / (0.05 * s * s + 0.2 * s + 1.0)), 0.0, kExact);
  const Linearization siso = linearize(circuit(), 0.3, {"U"}, {"u_R"});
  ASSERT_EQ(siso.zeros.size(), 1U);
  EXPECT_NEAR(std::abs(siso.zeros[0]), 0.0, kExact);
}

TEST(Linearize, StepAndImpulseResponsesAreExact) {
  const Linearization l = linearize(circuit(), 0.0, {"U"}, {"i"});
  const DenseMatrix step = l.step_response(0, 0.01, 101);
  const DenseMatrix impulse = l.impulse_response(0, 0.01, 101);
  // i = 1/(4 L) e^(-2 t) sin(4 t) for a unit step; its derivative for an impulse.
  for (std::size_t k = 0; k < 101; ++k) {
    const double t = 0.01 * static_cast<double>(k);
    EXPECT_NEAR(step.at(k, 0), 0.5 * std::exp(-2 * t) * std::sin(4 * t), 1e-12);
    EXPECT_NEAR(impulse.at(k, 0), std::exp(-2 * t) * (2.0 * std::cos(4 * t) - std::sin(4 * t)),
                1e-12);
  }
}

// An input may be a variable that an equation gives as a function of time.
TEST(Linearize, VariablesOfTimeAreInputs) {
  HybridSystem s("driven");
  const Expr x = s.variable("x"), u = s.variable("u");
  s.mode("m").equations = {der(x) == -3.0 * x + 2.0 * u, 5.0 * u == sin(s.time())};
  const Linearization l = linearize(s, 0.5, {"u"}, {"x", "u", "x + 4*u"});
  EXPECT_NEAR(l.a.at(0, 0), -3.0, kExact);
  EXPECT_NEAR(l.b.at(0, 0), 2.0, kExact);
  EXPECT_NEAR(l.c.at(0, 0), 1.0, kExact);
  EXPECT_NEAR(l.d.at(0, 0), 0.0, kExact);
  EXPECT_NEAR(l.d.at(1, 0), 1.0, kExact);
  EXPECT_NEAR(l.d.at(2, 0), 4.0, kExact);
}

// Index 3, in Cartesian coordinates; l = m = 1.
HybridSystem pendulum(double x0) {
  HybridSystem s("pendulum");
  const Expr x = s.variable("x", {.start = x0, .fixed = true});
  const Expr y = s.variable("y", {.start = -std::sqrt(1.0 - x0 * x0)});
  const Expr vx = s.variable("vx"), vy = s.variable("vy"), lambda = s.variable("lambda");
  const Expr g = s.parameter("g", 9.81), push = s.parameter("push", 0.0);
  s.mode("swinging").equations = {der(x) == vx, der(y) == vy, der(vx) == -lambda * x + push,
                                  der(vy) == -lambda * y - g, x * x + y * y == 1.0};
  return s;
}

// With c = -y: x'' = -g x c - x x'^2 / c^2 + c^2 push.
TEST(Linearize, MovingPendulumOfIndexThreeHasItsExactMatrix) {
  const Linearization l =
      linearize(pendulum(0.3), 0.4, {"push"}, {"x", "vx", "lambda", "y"}, {.tolerance = 1e-10});
  ASSERT_EQ(l.states.size(), 2U);
  const std::size_t ix = place(l.states, "x");
  const double x = l.output_values[0], v = l.output_values[1];
  const double c = std::sqrt(1.0 - x * x);
  ASSERT_GT(std::abs(v), 0.1);  // it moves
  EXPECT_NEAR(l.output_values[3], -c, 1e-10);
  const std::size_t iv = 1 - ix;
  // The other state is x' under one of its names.
  EXPECT_NEAR(l.a.at(ix, ix), 0.0, kExact);
  EXPECT_NEAR(l.a.at(ix, iv), 1.0, kExact);
  EXPECT_NEAR(
      l.a.at(iv, ix),
      -9.81 * c + 9.81 * x * x / c - v * v / (c * c) - 2.0 * x * x * v * v / (c * c * c * c),
      kExact);
  EXPECT_NEAR(l.a.at(iv, iv), -2.0 * x * v / (c * c), kExact);
  EXPECT_NEAR(l.b.at(ix, 0), 0.0, kExact);
  EXPECT_NEAR(l.b.at(iv, 0), c * c, kExact);
  // y = -c, so dy/dx = x / c.
  EXPECT_NEAR(l.c.at(3, ix), x / c, kExact);
  EXPECT_NEAR(l.c.at(3, iv), 0.0, kExact);
}

// An engine and a vehicle behind a gear of ratio 3: w1 = 3 w2 couples the inertias.
TEST(Linearize, GearOfAConstraintAddsInertias) {
  HybridSystem s("gear");
  const Expr w1 = s.variable("w1"), w2 = s.variable("w2"), t1 = s.variable("t1");
  const Expr M = s.parameter("M", 5.0);
  s.mode("locked").equations = {0.2 * der(w1) == M - t1, 1.5 * der(w2) == 3.0 * t1 - 0.7 * w2,
                                w1 == 3.0 * w2};
  const Linearization l = linearize(s, 0.1, {"M"}, {"w2", "t1"});
  ASSERT_EQ(l.states.size(), 1U);
  // (1.5 + 9 0.2) w2' = 3 M - 0.7 w2
  const double inertia = 3.3;
  EXPECT_NEAR(l.poles[0].real(), -0.7 / inertia, kExact);
  // Transfer functions do not depend on which speed is the state.
  const std::complex<double> p(0.0, 0.5);
  const std::complex<double> w = 3.0 / (inertia * p + 0.7);
  EXPECT_NEAR(std::abs(l.transfer(p)[0] - w), 0.0, kExact);
  EXPECT_NEAR(std::abs(l.transfer(p)[1] - (1.0 - 0.6 * p * w)), 0.0, kExact);
}

TEST(Linearize, TakesTheModeInForce) {
  HybridSystem s("switch");
  const Expr x = s.variable("x", {.start = 1.0});
  Mode& fast = s.mode("fast");
  fast.equations = {der(x) == -5.0 * x};
  fast.guards = {{.name = "low", .value = x - 0.5, .to = "slow"}};
  s.mode("slow").equations = {der(x) == -x};
  EXPECT_NEAR(linearize(s, 0.1, {}, {}).poles[0].real(), -5.0, kExact);
  EXPECT_NEAR(linearize(s, 0.5, {}, {}).poles[0].real(), -1.0, kExact);
  EXPECT_EQ(linearize(s, 0.5, {}, {}).mode, "slow");
}

TEST(Linearize, RefusesWhatCannotBe) {
  EXPECT_THROW((void)linearize(circuit(), 0.0, {"u"}, {}), Error);
  EXPECT_THROW((void)linearize(circuit(), 0.0, {}, {"volts"}), Error);
  EXPECT_THROW((void)linearize(circuit(), 0.0, {"i"}, {}), Error);  // a state is no input
  // x = p with der(x) in use: p' would be the input.
  HybridSystem s("moved");
  const Expr x = s.variable("x"), v = s.variable("v"), f = s.variable("f");
  const Expr p = s.parameter("p", 0.0);
  s.mode("m").equations = {der(x) == v, der(v) == f, x == p};
  EXPECT_THROW((void)linearize(s, 0.0, {"p"}, {"f"}), Error);
}

TEST(Steady, CircuitAndPendulumComeToRest) {
  const SteadyState rest = find_steady_state(circuit(), 0.0, 100.0);
  for (std::size_t k = 0; k < rest.names.size(); ++k)
    EXPECT_NEAR(rest.values[k], rest.names[k].name == "v" ? 12.0 : 0.0, 1e-12);
  EXPECT_TRUE(rest.is_stable());
  EXPECT_TRUE(rest.is_unique);
  const SteadyState hanging = find_steady_state(pendulum(0.3), 0.0, 100.0);
  ASSERT_EQ(hanging.poles.size(), 2U);
  EXPECT_NEAR(std::abs(hanging.poles[0].imag()), std::sqrt(9.81), kExact);
  EXPECT_FALSE(hanging.is_stable());  // it swings for ever
  for (std::size_t k = 0; k < hanging.names.size(); ++k) {
    if (hanging.names[k].name == "y") {
      EXPECT_NEAR(hanging.values[k], -1.0, 1e-12);
    } else if (hanging.names[k].name == "lambda") {
      EXPECT_NEAR(hanging.values[k], 9.81, 1e-10);
    }
  }
}

// The equilibrium x = -1 of the first mode is not in it: the system goes on to the second.
TEST(Steady, FollowsTheSystemIntoTheModeThatHasAnEquilibrium) {
  HybridSystem s("switch");
  const Expr x = s.variable("x", {.start = 1.0});
  Mode& first = s.mode("first");
  first.equations = {der(x) == -1.0 - x};
  first.guards = {{.name = "zero", .value = x, .to = "second"}};
  s.mode("second").equations = {der(x) == -2.0 * x - 0.5};
  s.experiment.stop_time = 10.0;
  const SteadyState rest = find_steady_state(s, 0.0, 1000.0);
  EXPECT_EQ(rest.mode, "second");
  EXPECT_NEAR(rest.values[0], -0.25, 1e-12);
}

TEST(Steady, SaysThatThereIsNone) {
  HybridSystem s("drift");
  const Expr x = s.variable("x");
  s.mode("m").equations = {der(x) == 1.0};
  EXPECT_THROW((void)find_steady_state(s, 0.0, 10.0), Error);
}

}  // namespace
}  // namespace saltus
