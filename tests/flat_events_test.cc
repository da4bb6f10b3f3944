// Event iterations that ordinary models lead to: each of these once ended a run, or went wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/build.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

// eta is 0 as a guess, and 1 / eta occurs; it is 0.5 as soon as its own equation is looked at.
TEST(FlatEvents, ExplicitUnknownsAreEvaluatedWhereGuessesAreNotFinite) {
  FlatModel model("efficiency");
  HybridSystem& s = model.system;
  const Expr loss = s.variable("loss");
  const Expr eta = s.variable("eta");
  const Expr table = s.variable("table");
  const Expr x = s.variable("x", {.start = 1.0, .fixed = true});
  model.equations = {Equation(loss == (1.0 - 1.0 / eta) * x), Equation(eta == table * table),
                     Equation(table == sqrt(0.5) + 0.0 * x), Equation(der(x) == loss)};
  const SimulateResult result = simulate(build(model), {.stop_time = 1.0, .tolerance = 1e-8});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("x"), std::exp(-1.0), 1e-7);
}

// floor((time - 55) / 50) at t = 5, where the bound of the next whole number is 5 but for rounding.
TEST(FlatEvents, BoundsInTimeThatAreEqualButForRoundingDoNotAlternate) {
  FlatModel model("pulse");
  HybridSystem& s = model.system;
  const Expr x = s.variable("x", {.fixed = true});
  const Expr k = model.discrete("k", {.type = DiscreteType::kInteger, .start = -2.0});
  const Expr value = (s.time() - 55.0) / 50.0;
  const Expr above = model.relation(value - model.pre(k), Strict::kNo, "above");
  const Expr below = model.relation(model.pre(k) + 1.0 - value, Strict::kYes, "below");
  model.discrete_equations.push_back(
      {k, select(below, select(above, model.pre(k), model.pre(k) - 1.0), model.pre(k) + 1.0), {}});
  model.equations = {Equation(der(x) == k)};
  const SimulateResult result = simulate(build(model), {.stop_time = 60.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("x"), -2.0 * 5.0 - 50.0, 1e-9);
  EXPECT_EQ(result.events.size(), 2u);
}

// A diode with s = i while it conducts and s = v while it does not, in series with an inductance:
// what is zero to rounding as a current is 1e5 times as much as a voltage.
TEST(FlatEvents, DiodeBlocksWhereCurrentAndVoltageHaveDifferentSizes) {
  FlatModel model("diode");
  HybridSystem& s = model.system;
  const Expr i = s.variable("i", {.fixed = true});
  const Expr v = s.variable("v");
  const Expr u = s.variable("s");
  const Expr off = model.discrete("off");
  model.discrete_equations.push_back({off, model.relation(-u, Strict::kYes, "s < 0"), {}});
  model.equations = {Equation(1e-3 * der(i) == 100.0 * sin(100.0 * s.time()) - v - 0.1 * i),
                     Equation(v == u * select(off, 1.0, 1e-5)),
                     Equation(i == u * select(off, 1e-6, 1.0))};
  const SimulateResult result = simulate(build(model), {.stop_time = 0.3, .tolerance = 1e-7});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  // It blocks and conducts in turn, never the same twice.
  std::vector<double> states;
  for (const Event& event : result.events)
    if (event.discrete.count("off") == 1) states.push_back(event.discrete.at("off").second);
  ASSERT_GE(states.size(), 8u);
  for (std::size_t k = 1; k < states.size(); ++k) EXPECT_NE(states[k], states[k - 1]) << k;
  const std::size_t column = result.trajectory.find("i");
  for (std::size_t k = 0; k < result.trajectory.size(); ++k)
    EXPECT_GE(result.trajectory.value(k, column), -2e-4) << result.trajectory.time[k];
}

// A one-way clutch whose acceleration counts from tau0 but which begins to slide beyond tau0_max:
// with the load of inertia 3 no discrete values agree with each other unless pre() says that it has
// begun. Torque t on it: it slides from t = tau0_max on, with 3 w' = t - tau0.
TEST(FlatEvents, CrossingLeadsOnWhereNoDiscreteValuesAgree) {
  FlatModel model("one-way clutch");
  HybridSystem& s = model.system;
  constexpr double kTau0 = 1.0;
  constexpr double kTau0Max = 1.5;
  const Expr w = s.variable("w", {.fixed = true});
  const Expr a = s.variable("a");
  const Expr sa = s.variable("sa");
  const Expr tau = s.variable("tau");
  const Expr start = model.discrete("start");
  const Expr stuck = model.discrete("stuck", {.start = 1.0});
  const Expr locked = model.discrete("locked", {.start = 1.0});
  const Expr beyond = model.relation(sa - kTau0Max, Strict::kYes, "sa > tau0_max");
  const Expr still = model.relation(sa - kTau0, Strict::kYes, "sa > tau0");
  model.discrete_equations.push_back(
      {start, model.pre(stuck) && (beyond || (model.pre(start) && still)), {}});
  model.discrete_equations.push_back({locked, model.pre(stuck) && !start, {}});
  model.discrete_equations.push_back(
      {stuck, locked || !model.relation(w, Strict::kYes, "w > 0"), {}});
  model.equations = {Equation(der(w) == a), Equation(3.0 * a == s.time() - tau),
                     Equation(a == select(locked, 0.0, sa - kTau0)),
                     Equation(tau == select(locked, sa, kTau0))};
  const SimulateResult result = simulate(build(model), {.stop_time = 2.5, .tolerance = 1e-8});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const double begin = kTau0Max;
  const double exact = ((2.5 * 2.5 - begin * begin) / 2.0 - kTau0 * (2.5 - begin)) / 3.0;
  EXPECT_NEAR(result.final.at("w"), exact, 1e-6);
  EXPECT_EQ(result.final.at("stuck"), 0.0);
}

// Two brakes on one shaft hold it both from t = 1 on: how they share the torque is open, that the
// shaft stands is not.
TEST(FlatEvents, BrakesThatHoldOneShaftShareTheTorque) {
  FlatModel model("two brakes");
  HybridSystem& s = model.system;
  const Expr phi = s.variable("phi", {.fixed = true});
  const Expr w = s.variable("w", {.fixed = true});
  const Expr a = s.variable("a");
  const Expr late = model.relation(s.time() - 1.0, Strict::kNo, "time >= 1");
  model.equations = {Equation(der(phi) == w), Equation(a == der(w))};
  Expr sum = 0.0;
  for (const char* name : {"1", "2"}) {
    const Expr sa = s.variable(std::string("sa") + name);
    const Expr tau = s.variable(std::string("tau") + name);
    const Expr locked = model.discrete(std::string("locked") + name);
    model.discrete_equations.push_back({locked, late, {}});
    model.equations.emplace_back(Equation(a == select(locked, 0.0, sa)));
    model.equations.emplace_back(Equation(tau == select(locked, sa, 0.0)));
    sum += tau;
  }
  model.equations.emplace_back(Equation(2.0 * a == 1.0 - 2.0 * s.time() - sum));
  const SimulateResult result = simulate(build(model), {.stop_time = 2.0, .tolerance = 1e-8});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  // w = (t - t^2) / 2 up to t = 1, where it is at rest again.
  EXPECT_NEAR(result.final.at("w"), 0.0, 1e-7);
  EXPECT_NEAR(result.final.at("phi"), 1.0 / 12.0, 1e-7);
  EXPECT_NEAR(result.final.at("tau1") + result.final.at("tau2"), 1.0 - 2.0 * 2.0, 1e-6);
  EXPECT_TRUE(std::ranges::any_of(result.warnings, [](const std::string& warning) {
    return warning.find("split") != std::string::npos;
  }));
}

// Such a start was once ignored in silence.
TEST(FlatEvents, StartsThatContradictEachOtherAreRefusedByName) {
  const auto message = [](double fixed, double initial, double other) {
    FlatModel model("start");
    HybridSystem& s = model.system;
    const Expr x = s.variable("x", {.start = 1.0, .fixed = true});
    const Expr y = s.variable("y", {.start = fixed, .fixed = true});
    const Expr z = s.variable("z");
    model.equations = {Equation(der(x) == -x), Equation(y == 2.0 * x + 1.0),
                       Equation(der(z) == -z)};
    model.initial_equations = {Equation(z == initial), Equation(2.0 * z == other)};
    const SimulateResult result = simulate(build(model), {.stop_time = 1.0});
    if (result.reason == StopReason::kStopTime) return std::string();
    EXPECT_EQ(result.reason, StopReason::kInconsistent);
    return result.message;
  };
  EXPECT_EQ(message(3.0, 2.0, 4.0), "");
  EXPECT_NE(message(5.0, 2.0, 4.0).find("y = 2*x + 1"), std::string::npos)
      << message(5.0, 2.0, 4.0);
  EXPECT_NE(message(3.0, 2.0, 6.0).find("initial equation 2*z = 6"), std::string::npos)
      << message(3.0, 2.0, 6.0);
}

// Chua's circuit is chaotic and passes its kinks at any angle; the loss is bilinear, so a step from
// an old Jacobian or a bad guess may need another. Where the voltage crosses +-1 to the last digit,
// two points next to each other tell nothing of its slope.
TEST(FlatEvents, KinksOfAChaoticCircuitAreLocatedAtEveryTolerance) {
  FlatModel model("chua");
  HybridSystem& s = model.system;
  const Expr v1 = s.variable("v1", {.start = 4.0, .fixed = true});
  const Expr v2 = s.variable("v2", {.fixed = true});
  const Expr i = s.variable("i", {.fixed = true});
  const Expr g = s.variable("g");
  const Expr n = s.variable("n");
  const Expr loss = s.variable("loss");
  constexpr double kInner = -0.757576, kOuter = -0.409091;
  const Expr low = model.relation(-1.0 - v1, Strict::kYes, "v1 < -1");
  const Expr high = model.relation(v1 - 1.0, Strict::kYes, "v1 > 1");
  model.equations = {Equation(18.0 * der(i) == v2 - 0.0125 * i),
                     Equation(g == 0.565 * (v2 - v1)),
                     Equation(loss == (v2 - v1) * g),
                     Equation(n == select(low, kOuter * (v1 + 1.0) - kInner,
                                          select(high, kOuter * (v1 - 1.0) + kInner, kInner * v1))),
                     Equation(10.0 * der(v1) == g - n),
                     Equation(100.0 * der(v2) == -g - i)};
  const HybridSystem system = build(model);
  const double rounding = 4.0 * 2.2e-16 * 5e4 * 0.5;  // of time, times the largest slope
  for (int k = 1; k <= 24; ++k) {
    const SimulateResult result =
        simulate(system, {.stop_time = 5e4, .tolerance = 1e-5 * std::pow(0.8, k)});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << k << ": " << result.message;
    const std::vector<double> voltage = result.trajectory.column("v1");
    int switches = 0;
    for (std::size_t p = 1; p < voltage.size(); ++p) {
      if (result.trajectory.time[p] != result.trajectory.time[p - 1]) continue;
      EXPECT_NEAR(std::abs(voltage[p]), 1.0, rounding) << k << " at " << result.trajectory.time[p];
      ++switches;
    }
    EXPECT_GT(switches, 50) << k;
  }
}

}  // namespace
}  // namespace saltus
