// Derivatives of the end state through switches, against exact formulas and differences of runs.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "examples/clutch/clutch.h"
#include "examples/pendulum/pendulum.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

// Of fourth order, from four runs or evaluations.
double difference(const std::function<double(double)>& f, double p, double h) {
  return (f(p - 2.0 * h) - 8.0 * f(p - h) + 8.0 * f(p + h) - f(p + 2.0 * h)) / (12.0 * h);
}

// Every listed derivative of every final value against differences of tight runs.
void expect_like_differences(const HybridSystem& system, const std::vector<std::string>& names,
                             double stop, double tolerance) {
  SimulateOptions options;
  options.stop_time = stop;
  options.tolerance = 1e-12;
  options.sensitivities = names;
  const SimulateResult result = simulate(system, options);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  options.sensitivities.clear();
  for (const std::string& name : names) {
    double base = std::nan("");
    for (const Parameter& p : system.parameters())
      if (p.name == name) base = p.value;
    for (const Variable& v : system.variables())
      if (v.name == name) base = v.start.is_number() ? v.start.number() : std::nan("");
    const double h = 1e-3 * (base == 0.0 ? 1.0 : std::abs(base));
    std::array<std::map<std::string, double>, 4> ends;
    const double places[] = {-2.0, -1.0, 1.0, 2.0};
    for (int k = 0; k < 4; ++k) {
      HybridSystem changed = system;
      changed.set(name, base + places[k] * h);
      ends[k] = simulate(changed, options).final;
    }
    for (const auto& [variable, value] : result.sensitivities.at(name)) {
      const double reference = (ends[0].at(variable) - 8.0 * ends[1].at(variable) +
                                8.0 * ends[2].at(variable) - ends[3].at(variable)) /
                               (12.0 * h);
      EXPECT_NEAR(value, reference, tolerance * (1.0 + std::abs(reference)))
          << "d " << variable << " / d " << name;
    }
  }
}

struct BallEnd {
  double h, v;
};

// Closed form: after the first fall every flight begins with e times the speed of the one before.
BallEnd exact_ball(double g, double e, double h0, double stop) {
  double t = std::sqrt(2.0 * h0 / g);
  if (t > stop) return {h0 - g / 2.0 * stop * stop, -g * stop};
  double v = e * g * t;
  while (t + 2.0 * v / g < stop) {
    t += 2.0 * v / g;
    v *= e;
  }
  const double s = stop - t;
  return {v * s - g / 2.0 * s * s, v - g * s};
}

TEST(Sensitivity, BallMatchesTheDerivativeOfItsClosedForm) {
  HybridSystem ball("ball");
  const Expr g = ball.parameter("g", 9.81);
  const Expr e = ball.parameter("e", 0.7);
  const Expr h = ball.variable("h", {.start = 1.0});
  const Expr v = ball.variable("v");
  Mode& flying = ball.mode("flying");
  flying.equations = {der(h) == v, der(v) == -g};
  flying.guards = {{.name = "impact", .value = h, .to = "flying", .set = {{v, -e * v}}}};
  for (const double stop : {0.3, 1.0, 2.0, 2.4}) {  // 0, 1, 4 and 8 impacts
    const SimulateResult result =
        simulate(ball, {.stop_time = stop, .sensitivities = {"g", "e", "h"}});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    const auto check = [&](const char* name, const std::function<BallEnd(double)>& f, double p) {
      const double by_h = difference([&](double q) { return f(q).h; }, p, 1e-4);
      const double by_v = difference([&](double q) { return f(q).v; }, p, 1e-4);
      EXPECT_NEAR(result.sensitivities.at(name).at("h"), by_h, 1e-6) << name << " at " << stop;
      EXPECT_NEAR(result.sensitivities.at(name).at("v"), by_v, 1e-6) << name << " at " << stop;
    };
    check(
        "g", [&](double q) { return exact_ball(q, 0.7, 1.0, stop); }, 9.81);
    check(
        "e", [&](double q) { return exact_ball(9.81, q, 1.0, stop); }, 0.7);
    check(
        "h", [&](double q) { return exact_ball(9.81, 0.7, q, stop); }, 1.0);
  }
}

// KM 18 with the sign of the first guard as mechanics has it: below the threshold mode 1 holds.
HybridSystem evaporator() {
  HybridSystem system("evaporator");
  const Expr rb = system.parameter("R_b", 1.0);
  const Expr rp = system.parameter("R_p", 0.5);
  const Expr inertia = system.parameter("I", 0.5);
  const Expr c = system.parameter("C", 15.0);
  const Expr inflow = system.parameter("f_in", 0.25);
  const Expr threshold = system.parameter("L_th", 0.08);
  const Expr p = system.variable("p", {.start = 0.05, .nominal = 0.1});
  const Expr l = system.variable("L", {.start = 0.06, .nominal = 0.1});
  Mode& low = system.mode("low");
  low.equations = {inertia * der(p) == -rp * p, c * der(l) == -l / rb + inflow};
  low.guards = {{.name = "overflows", .value = threshold - l, .to = "high"}};
  Mode& high = system.mode("high");
  high.equations = {inertia * der(p) == -rp * p + l, c * der(l) == -p / inertia - l / rb + inflow};
  return system;
}

// The saltation matrix of the crossing, by hand: mode 1 is decoupled and linear, the jump of p' at
// the threshold is L_th / I and that of L' is -p / (I C).
TEST(Sensitivity, EvaporatorMatchesTheExactSaltationMatrix) {
  const HybridSystem system = evaporator();
  // L = f + (L0 - f) exp(-t / C), p = p0 exp(-t) until L = L_th.
  const double crossing = 15.0 * std::log((0.06 - 0.25) / (0.08 - 0.25));
  const double p = 0.05 * std::exp(-crossing);
  const double rate = (0.25 - 0.08) / 15.0;  // L' before
  const double by_l0 = std::exp(-crossing / 15.0);
  const double dt = -by_l0 / rate;  // of the crossing, with respect to L0
  const double just_after = crossing + 1e-9;
  const SimulateResult result =
      simulate(system, {.stop_time = just_after, .tolerance = 1e-10, .sensitivities = {"L", "p"}});
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_NEAR(result.events[0].time, crossing, 1e-9);
  // S = I + (f+ - f-) dS/dx / S': applied to the tangent before.
  EXPECT_NEAR(result.sensitivities.at("L").at("p"), -(0.08 / 0.5) * dt, 1e-6);
  EXPECT_NEAR(result.sensitivities.at("L").at("L"), by_l0 + (p / 0.5 / 15.0) * dt, 1e-6);
  EXPECT_NEAR(result.sensitivities.at("p").at("p"), std::exp(-crossing), 1e-6);
  EXPECT_NEAR(result.sensitivities.at("p").at("L"), 0.0, 1e-6);
}

TEST(Sensitivity, EvaporatorMatchesDifferencesOfRuns) {
  expect_like_differences(evaporator(), {"R_b", "R_p", "I", "f_in", "L_th", "p", "L"}, 3.0, 1e-6);
}

// Index 3, then flight, then index 1; the string breaks where a multiplier reaches its limit.
TEST(Sensitivity, BreakingPendulumMatchesDifferencesOfRuns) {
  expect_like_differences(make_pendulum(), {"g", "S_max", "beta"}, 4.8, 1e-6);
}

// Friction slows shaft 1 and drives shaft 2 until their speeds meet; from there they are one.
TEST(Sensitivity, ClutchMatchesTheClosedForm) {
  HybridSystem clutch("clutch");
  const Expr j1 = clutch.parameter("J1", 1.0);
  const Expr j2 = clutch.parameter("J2", 2.0);
  const Expr torque = clutch.parameter("torque", 5.0);
  const Expr drive = clutch.parameter("drive", 1.5);
  const Expr w1 = clutch.variable("w1", {.start = 10.0});
  const Expr w2 = clutch.variable("w2");
  const Expr tau = clutch.variable("tau");
  Mode& slipping = clutch.mode("slipping");
  slipping.equations = {j1 * der(w1) == drive - tau, j2 * der(w2) == tau, tau == torque};
  slipping.guards = {{.name = "locks", .value = w1 - w2, .to = "locked"}};
  Mode& locked = clutch.mode("locked");
  locked.equations = {j1 * der(w1) == drive - tau, j2 * der(w2) == tau, w1 == w2};
  const double stop = 4.0;
  const SimulateResult result =
      simulate(clutch, {.stop_time = stop, .sensitivities = {"J1", "J2", "torque", "drive", "w1"}});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  // Locked at T with w; momentum is J1 w10 + drive T throughout, so the speed at the end is
  // (J1 w10 + drive stop) / (J1 + J2), whatever the friction torque.
  const auto end = [&](double a, double b, double d, double w) {
    return (a * w + d * stop) / (a + b);
  };
  const auto expect = [&](const char* name, double value) {
    EXPECT_NEAR(result.sensitivities.at(name).at("w1"), value, 1e-6) << name;
    EXPECT_NEAR(result.sensitivities.at(name).at("w2"), value, 1e-6) << name;
  };
  expect("J1", difference([&](double q) { return end(q, 2.0, 1.5, 10.0); }, 1.0, 1e-3));
  expect("J2", difference([&](double q) { return end(1.0, q, 1.5, 10.0); }, 2.0, 1e-3));
  expect("drive", stop / 3.0);
  expect("w1", 1.0 / 3.0);
  expect("torque", 0.0);
}

// The speeds jump to the common one by an impulse that keeps J1 w1 + J2 w2; the drag brakes both.
TEST(Sensitivity, ClutchThatClosesByAnImpulseMatchesTheClosedForm) {
  const double stop = 1.2;  // closes at 0.5
  const SimulateResult result = simulate(
      make_clutch(),
      {.stop_time = stop, .tolerance = 1e-10, .sensitivities = {"J1", "J2", "d", "t_close", "w1"}});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  ASSERT_EQ(result.events[0].impulses.count("tau"), 1U);
  const auto end = [&](double j1, double j2, double d, double t, double w) {
    return j1 * w / (j1 + j2) * std::exp(-d * (stop - t) / (j1 + j2));
  };
  const auto expect = [&](const char* name, const std::function<double(double)>& f, double p) {
    const double value = difference(f, p, 1e-3);
    EXPECT_NEAR(result.sensitivities.at(name).at("w1"), value, 1e-6) << name;
    EXPECT_NEAR(result.sensitivities.at(name).at("w2"), value, 1e-6) << name;
  };
  expect(
      "J1", [&](double q) { return end(q, 2.0, 1.0, 0.5, 10.0); }, 1.0);
  expect(
      "J2", [&](double q) { return end(1.0, q, 1.0, 0.5, 10.0); }, 2.0);
  expect(
      "d", [&](double q) { return end(1.0, 2.0, q, 0.5, 10.0); }, 1.0);
  expect(
      "t_close", [&](double q) { return end(1.0, 2.0, 1.0, q, 10.0); }, 0.5);
  expect(
      "w1", [&](double q) { return end(1.0, 2.0, 1.0, 0.5, q); }, 10.0);
}

// x falls with a and slides on 0 from T = x0 / a on, where y' is the mixture (b - a) / (a + b) of
// 1 (above) and -1 (below): x does not depend on anything there, y by T and by the mixture.
TEST(Sensitivity, SlidingEntryMatchesTheClosedForm) {
  HybridSystem system("sliding");
  const Expr a = system.parameter("a", 2.0);
  const Expr b = system.parameter("b", 1.0);
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr y = system.variable("y");
  Mode& above = system.mode("above");
  above.equations = {der(x) == -a, der(y) == 1.0};
  above.guards = {{.name = "falls", .value = x, .to = "below"}};
  Mode& below = system.mode("below");
  below.equations = {der(x) == b, der(y) == -1.0};
  below.guards = {{.name = "rises", .value = -x, .to = "above"}};
  const double stop = 2.0;
  const SimulateResult result =
      simulate(system, {.stop_time = stop, .tolerance = 1e-10, .sensitivities = {"a", "b", "x"}});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].kind, "sliding-entry");
  const auto end = [&](double p, double q, double x0) {
    return x0 / p + (stop - x0 / p) * (q - p) / (p + q);
  };
  const auto& by = result.sensitivities;
  const auto expect = [&](const char* name, double value) {
    EXPECT_NEAR(by.at(name).at("y"), value, 1e-6) << name;
    EXPECT_NEAR(by.at(name).at("x"), 0.0, 1e-6) << name;
  };
  expect("a", difference([&](double q) { return end(q, 1.0, 1.0); }, 2.0, 1e-3));
  expect("b", difference([&](double q) { return end(2.0, q, 1.0); }, 1.0, 1e-3));
  expect("x", difference([&](double q) { return end(2.0, 1.0, q); }, 1.0, 1e-3));
}

// x' = 1 until t = p, then x' = -2: at the end x = p - 2 (T - p).
TEST(Sensitivity, TimeOfATimeEventMayDependOnAParameter) {
  HybridSystem system("timed");
  const Expr p = system.parameter("p", 0.4);
  const Expr x = system.variable("x");
  Mode& up = system.mode("up");
  up.equations = {der(x) == 1.0};
  up.guards = {{.name = "turn", .value = p - system.time(), .to = "down"}};
  system.mode("down").equations = {der(x) == -2.0};
  const SimulateResult result = simulate(system, {.stop_time = 1.0, .sensitivities = {"p"}});
  EXPECT_NEAR(result.sensitivities.at("p").at("x"), 3.0, 1e-9);
}

TEST(Sensitivity, UnknownNameIsRefusedWithASuggestion) {
  try {
    simulate(evaporator(), {.stop_time = 1.0, .sensitivities = {"R_q"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'R_"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace saltus
