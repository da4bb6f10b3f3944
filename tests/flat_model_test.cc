// Flat models written in C++: events, modes that conditions choose, start values.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "model/build.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

double last(const SimulateResult& result, const std::string& name) { return result.final.at(name); }

// Exact: free fall from h = 1, impacts at t1 and t1 + 2 e v1 / g, rebound speed e times impact
// speed.
TEST(FlatModel, BallBouncesByReinit) {
  FlatModel model("ball");
  HybridSystem& s = model.system;
  const Expr g = s.parameter("g", 9.81);
  const Expr e = s.parameter("e", 0.7);
  const Expr h = s.variable("h", {.start = 1.0, .fixed = true});
  const Expr v = s.variable("v", {.fixed = true});
  const Expr impact = model.discrete("impact");
  model.equations = {Equation(der(h) == v), Equation(der(v) == -g)};
  model.discrete_equations.push_back({impact, model.relation(-h, Strict::kNo), {}});
  model.reinits.push_back({model.edge(impact), v, -e * v, {}});
  const SimulateResult result = simulate(build(model), {.stop_time = 1.2, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;

  const double fall = std::sqrt(2.0 / 9.81);
  const double speed = 9.81 * fall;
  const double second = fall + 2.0 * 0.7 * speed / 9.81;
  const double left = 1.2 - second;
  const double height = 0.49 * speed * left - 0.5 * 9.81 * left * left;
  EXPECT_NEAR(last(result, "h"), height, 1e-8);
  std::vector<double> impacts;
  for (const Event& event : result.events)
    if (event.jumps.count("v") == 1) impacts.push_back(event.time);
  ASSERT_EQ(impacts.size(), 2u);
  EXPECT_NEAR(impacts[0], fall, 1e-9);
  EXPECT_NEAR(impacts[1], second, 1e-9);
  EXPECT_EQ(result.modes.size(), 1u);
}

// The force vanishes once the string is broken, so no value of `broken` agrees with the force it
// brings about: it has to be read as a sequence. Exact: let go at the horizontal, the string pulls
// with 3 g s at depth s, where the speed is sqrt(2 g s).
TEST(FlatModel, ConditionWithMemoryMayDependOnWhatItSwitchesOff) {
  FlatModel model("string");
  HybridSystem& s = model.system;
  const double g = 9.81;
  const Expr x = s.variable("x", {.start = 1.0, .fixed = true});
  const Expr y = s.variable("y", {.start = 0.0});
  const Expr vx = s.variable("vx", {.start = 0.0});
  const Expr vy = s.variable("vy", {.start = 0.0, .fixed = true});
  const Expr force = s.variable("F");
  const Expr broken = model.discrete("broken");
  const Expr strained = model.relation(force - 25.0, Strict::kYes, "F > 25");
  model.discrete_equations.push_back({broken, max(model.pre(broken), strained), {}});
  model.equations = {
      Equation(der(x) == vx), Equation(der(y) == vy),
      IfEquation{{broken},
                 {{Equation(der(vx) == 0.0), Equation(der(vy) == -g), Equation(force == 0.0)},
                  {Equation(der(vx) == -force * x), Equation(der(vy) == -force * y - g),
                   Equation(x * x + y * y == 1.0)}}}};
  const SimulateResult result = simulate(build(model), {.stop_time = 1.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(last(result, "broken"), 1.0);
  ASSERT_EQ(result.events.size(), 1u);
  const double depth = 25.0 / (3.0 * g);
  const double speed = std::sqrt(2.0 * g * depth);
  const double flown = 1.0 - result.events[0].time;
  EXPECT_NEAR(last(result, "vx"), -speed * depth, 1e-7);
  EXPECT_NEAR(last(result, "x"), std::sqrt(1.0 - depth * depth) - speed * depth * flown, 1e-7);
}

TEST(FlatModel, StateBecomesAlgebraicAtATimeEvent) {
  FlatModel model("m");
  const Expr x = model.system.variable("x", {.fixed = true});
  const Expr early = model.relation(0.5 - model.system.time(), Strict::kYes, "time < 0.5");
  model.equations = {IfEquation{{early}, {{Equation(der(x) == 10.0)}, {Equation(x == -5.0)}}}};
  const SimulateResult result = simulate(build(model), {.stop_time = 1.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(last(result, "x"), -5.0);
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_EQ(result.events[0].time, 0.5);
  ASSERT_EQ(result.modes.size(), 2u);
  EXPECT_EQ(result.modes[0].d, 1);
  EXPECT_EQ(result.modes[1].d, 0);
  EXPECT_EQ(result.modes[0].conditions, std::vector<std::string>{"time < 0.5"});
  double before = 0.0;
  for (std::size_t i = 0; i < result.trajectory.size(); ++i)
    if (result.trajectory.time[i] == 0.5) {
      before = result.trajectory.value(i, result.trajectory.find("x"));
      break;
    }
  EXPECT_NEAR(before, 5.0, 1e-12);
}

TEST(FlatModel, SamplesAreCountedAtTheirInstants) {
  FlatModel model("m");
  const Expr x = model.system.variable("x", {.fixed = true});
  const Expr tick = model.edge(model.sample(0.0, 0.1));
  const Expr n = model.discrete("n", {.type = DiscreteType::kInteger, .fixed = true});
  const Expr held = model.discrete("held", {.type = DiscreteType::kReal});
  model.equations = {Equation(der(x) == 1.0)};
  model.discrete_equations.push_back({n, select(tick, model.pre(n) + 1.0, model.pre(n)), {}});
  model.discrete_equations.push_back({held, select(tick, x, model.pre(held)), {}});
  const SimulateResult result = simulate(build(model), {.stop_time = 1.05});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(last(result, "n"), 11.0);  // 0, 0.1, ..., 1.0
  EXPECT_NEAR(last(result, "held"), 1.0, 1e-12);
  EXPECT_EQ(result.events.size(), 11u);
}

// Exact: x = 3 - exp(-t).
TEST(FlatModel, AliasesStayAvailableAndCountAsUnknowns) {
  FlatModel model("m");
  HybridSystem& s = model.system;
  const Expr x = s.variable("x");
  const Expr y = s.variable("y", {.start = -2.0, .fixed = true});
  const Expr z = s.variable("z");
  const Expr c = s.variable("c");
  const Expr p = s.parameter("p", 3.0);
  model.equations = {Equation(der(x) == -x + c), Equation(x == -y), Equation(z == x),
                     Equation(c == p)};
  const HybridSystem system = build(model);
  EXPECT_EQ(system.variables().size(), 1u);
  const SimulateResult result = simulate(system, {.stop_time = 1.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const double exact = 3.0 - std::exp(-1.0);
  EXPECT_NEAR(last(result, "x"), exact, 1e-8);
  EXPECT_NEAR(last(result, "y"), -exact, 1e-8);
  EXPECT_NEAR(last(result, "z"), exact, 1e-8);
  EXPECT_EQ(last(result, "c"), 3.0);
  ASSERT_EQ(result.modes.size(), 1u);
  EXPECT_EQ(result.modes[0].unknowns, 4u);
  EXPECT_EQ(result.modes[0].d, 1);
  EXPECT_EQ(result.modes[0].a, 3);
  EXPECT_NO_THROW(result.trajectory.find("z"));
}

// An ideal diode feeds a capacitor with a load, both 1, from sin(t). Exact: u = sin(t) until the
// current sin(t) + cos(t) ends at 3 pi / 4, then exponential decay until the second period. While
// it conducts the voltage of the capacitor is given: the index changes with the diode.
TEST(FlatModel, IdealDiodeRectifies) {
  FlatModel model("rectifier");
  HybridSystem& s = model.system;
  const Expr u = s.variable("u", {.fixed = true});
  const Expr i = s.variable("i");
  const Expr v = s.variable("v");
  const Expr along = s.variable("s");
  const Expr off = model.relation(-along, Strict::kYes, "s < 0");
  model.equations = {Equation(v == sin(s.time()) - u), Equation(der(u) == i - u),
                     Equation(v == select(off, along, 0.0)),
                     Equation(i == select(off, 0.0, along))};
  const SimulateResult result = simulate(build(model), {.stop_time = 6.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const double end = 3.0 * std::numbers::pi / 4.0;
  EXPECT_NEAR(last(result, "u"), std::sin(end) * std::exp(-(6.0 - end)), 1e-8);
  ASSERT_EQ(result.modes.size(), 2u);
  EXPECT_EQ(result.modes[0].mu, 1);
  EXPECT_EQ(result.modes[0].d, 0);
  EXPECT_EQ(result.modes[1].mu, 0);
  EXPECT_EQ(result.modes[1].d, 1);
}

// Exact: the voltage over the load is |source|.
TEST(FlatModel, BridgeOfIdealDiodesGivesTheAbsoluteValue) {
  FlatModel model("bridge");
  HybridSystem& s = model.system;
  const Expr u = s.variable("u");
  const Expr up = s.variable("up");
  const Expr down = s.variable("down");
  const Expr source = sin(s.time() + 0.1);
  // Source between nodes up and down, load between `u` and ground.
  std::vector<Expr> current;
  const auto diode = [&](const std::string& name, const Expr& voltage) {
    const Expr along = s.variable(name);
    const Expr i = s.variable(name + ".i");
    const Expr off = model.relation(-along, Strict::kYes, name + " < 0");
    model.equations.push_back(Equation(voltage == select(off, along, 0.0)));
    model.equations.push_back(Equation(i == select(off, 0.0, along)));
    current.push_back(i);
  };
  diode("d1", up - u);
  diode("d2", down - u);
  diode("d3", -up);
  diode("d4", -down);
  model.equations.push_back(Equation(up - down == source));
  model.equations.push_back(Equation(u == current[0] + current[1]));
  // What the source takes from one node it gives to the other.
  model.equations.push_back(Equation(current[2] - current[0] == current[1] - current[3]));
  const SimulateResult result = simulate(build(model), {.stop_time = 10.0, .interval = 0.1});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<double> voltage = result.trajectory.column("u");
  for (std::size_t k = 0; k < voltage.size(); ++k)
    EXPECT_NEAR(voltage[k], std::abs(std::sin(result.trajectory.time[k] + 0.1)), 1e-9)
        << result.trajectory.time[k];
  EXPECT_GE(result.events.size(), 3u);
}

TEST(FlatModel, TerminatesAndAssertsByName) {
  FlatModel model("m");
  const Expr x = model.system.variable("x", {.fixed = true});
  model.equations = {Equation(der(x) == 1.0)};
  model.terminations.push_back({model.relation(x - 2.0, Strict::kNo), "x is large", {}});
  const SimulateResult ended = simulate(build(model), {.stop_time = 5.0});
  EXPECT_EQ(ended.reason, StopReason::kTerminated);
  EXPECT_NEAR(ended.time, 2.0, 1e-9);
  EXPECT_NE(ended.message.find("x is large"), std::string::npos);

  model.assertions.push_back({x < 1.0, "x must stay small", false, {"m.mo", 7, 3}});
  const SimulateResult failed = simulate(build(model), {.stop_time = 5.0, .max_step = 0.01});
  EXPECT_EQ(failed.reason, StopReason::kAssertion);
  EXPECT_NEAR(failed.time, 1.0, 0.011);
  EXPECT_NE(failed.message.find("m.mo:7:3"), std::string::npos) << failed.message;
}

// der(x) = -x + u, u' = 0 with x at rest: u = x follows from the initial equation.
TEST(FlatModel, InitialEquationsDetermineStartValues) {
  FlatModel model("m");
  const Expr x = model.system.variable("x", {.start = 3.0, .fixed = true});
  const Expr y = model.system.variable("y");
  model.equations = {Equation(der(x) == y - x), Equation(der(y) == 0.0)};
  model.initial_equations = {Equation(der(x) == 0.0)};
  const SimulateResult result = simulate(build(model), {.stop_time = 1.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(last(result, "y"), 3.0, 1e-12);
  EXPECT_NEAR(last(result, "x"), 3.0, 1e-9);
}

}  // namespace
}  // namespace saltus
