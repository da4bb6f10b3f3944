// Guard location through simulate(): every switch inside one integrator step, and nothing else.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "simulate/simulate.h"

namespace saltus {
namespace {

constexpr double kStep = 1.0;

// One step covers the whole run, unless an event cuts it.
SimulateOptions in_one_step() {
  SimulateOptions options;
  options.stop_time = kStep;
  options.first_step = kStep;
  options.max_step = kStep;
  options.interval = 0.0;
  return options;
}

// x' = 1, so x = time.
struct Clock {
  HybridSystem system{"clock"};
  Expr x = system.variable("x");
};

Expr product(const Expr& x, double factor, const std::vector<double>& roots) {
  Expr value = factor;
  for (const double r : roots) value = value * (x - r);
  return value;
}

struct Case {
  std::vector<double> simple;  // increasing; two of them may be 1e-6 apart
  std::vector<double> twice;   // at most one
  double factor = 1.0;         // makes the guard positive at 0
};

Case random_case(std::mt19937& random) {
  std::uniform_real_distribution<> place(0.02, 0.98);
  const int kind = std::uniform_int_distribution<>(0, 2)(random);  // plain, double, close pair
  const int degree = std::uniform_int_distribution<>(kind == 0 ? 1 : 2, 6)(random);
  std::vector<double> places;
  const int count = kind == 0 ? degree : degree - 1;
  while (static_cast<int>(places.size()) < count) {
    const double r = place(random) * kStep;
    const bool apart = std::all_of(places.begin(), places.end(), [&](double other) {
      return std::abs(r - other) >= 0.0201 * kStep;
    });
    if (apart) places.push_back(r);
  }
  Case c;
  if (kind == 1) {
    c.twice.push_back(places.back());
    places.pop_back();
  }
  if (kind == 2) places.push_back(places.back() + 1e-6 * kStep);
  std::sort(places.begin(), places.end());
  c.simple = places;
  c.factor = std::exp(std::uniform_real_distribution<>(-7.0, 7.0)(random));
  if (places.size() % 2 == 1) c.factor = -c.factor;
  return c;
}

// Mode `above` holds while the guard is positive, `below` while it is negative, so that every
// simple root is a switch and no double root is.
TEST(Guards, FindEveryRootOfRandomProducts) {
  std::mt19937 random(20);
  double worst_switch = 0.0;
  double worst_grazing = 0.0;
  for (int k = 0; k < 1000; ++k) {
    const Case c = random_case(random);
    Clock clock;
    std::vector<double> roots = c.simple;
    for (const double r : c.twice) roots.insert(roots.end(), {r, r});
    const Expr value = product(clock.x, c.factor, roots);
    Mode& above = clock.system.mode("above");
    above.equations = {der(clock.x) == 1.0};
    above.guards = {{.name = "falls", .value = value, .to = "below"}};
    Mode& below = clock.system.mode("below");
    below.equations = {der(clock.x) == 1.0};
    below.guards = {{.name = "rises", .value = -value, .to = "above"}};
    const SimulateResult result = simulate(clock.system, in_one_step());
    EXPECT_EQ(result.reason, StopReason::kStopTime)
        << "case " << k << ", roots " << testing::PrintToString(roots) << " factor " << c.factor
        << ": " << result.message;
    std::vector<double> switches;
    std::vector<double> grazings;
    for (const Event& e : result.events) {
      if (e.kind == "grazing") {
        grazings.push_back(e.time);
      } else {
        switches.push_back(e.time);
        EXPECT_EQ(e.kind, "switch");
      }
    }
    EXPECT_EQ(switches.size(), c.simple.size()) << "case " << k;
    EXPECT_EQ(grazings.size(), c.twice.size()) << "case " << k;
    if (switches.size() != c.simple.size() || grazings.size() != c.twice.size()) continue;
    for (std::size_t i = 0; i < switches.size(); ++i)
      worst_switch = std::max(worst_switch, std::abs(switches[i] - c.simple[i]));
    for (std::size_t i = 0; i < grazings.size(); ++i)
      worst_grazing = std::max(worst_grazing, std::abs(grazings[i] - c.twice[i]));
  }
  EXPECT_LE(worst_switch, 1e-9 * kStep);
  EXPECT_LE(worst_grazing, 1e-9 * kStep);
}

// The first switch alone, with the step still uncut: one step, one event.
TEST(Guards, FirstFallingRootEndsTheOneStep) {
  std::mt19937 random(21);
  for (int k = 0; k < 200; ++k) {
    const Case c = random_case(random);
    Clock clock;
    std::vector<double> roots = c.simple;
    for (const double r : c.twice) roots.insert(roots.end(), {r, r});
    Mode& on = clock.system.mode("on");
    on.equations = {der(clock.x) == 1.0};
    on.guards = {{.name = "end", .value = product(clock.x, c.factor, roots)}};
    const SimulateResult result = simulate(clock.system, in_one_step());
    ASSERT_EQ(result.statistics.steps, 1U) << "case " << k;
    if (c.simple.empty()) {
      EXPECT_EQ(result.reason, StopReason::kStopTime);
    } else {
      ASSERT_EQ(result.reason, StopReason::kTerminated) << "case " << k;
      EXPECT_NEAR(result.time, c.simple.front(), 1e-9 * kStep) << "case " << k;
      EXPECT_EQ(result.time, result.events.back().time);
    }
    const auto passed =
        std::count_if(c.twice.begin(), c.twice.end(), [&](double r) { return r < result.time; });
    const auto grazings = std::count_if(result.events.begin(), result.events.end(),
                                        [](const Event& e) { return e.kind == "grazing"; });
    EXPECT_EQ(grazings, passed) << "case " << k;
  }
}

// Runs `value` as the only guard of a clock; its firing ends the run.
SimulateResult run_clock(Clock& clock, const Expr& value) {
  Mode& on = clock.system.mode("on");
  on.equations = {der(clock.x) == 1.0};
  on.guards = {{.name = "end", .value = value}};
  return simulate(clock.system, in_one_step());
}

TEST(Guards, ClosePairSwitchesAtItsFirstRoot) {
  Clock clock;
  const double r = 0.37;
  const SimulateResult result = run_clock(clock, (clock.x - r) * (clock.x - (r + 1e-6)));
  ASSERT_EQ(result.reason, StopReason::kTerminated) << result.message;
  EXPECT_NEAR(result.time, r, 1e-9);
}

TEST(Guards, DoubleRootIsGrazingAndNoSwitch) {
  Clock clock;
  const SimulateResult result = run_clock(clock, (clock.x - 0.37) * (clock.x - 0.37));
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].kind, "grazing");
  EXPECT_NEAR(result.events[0].time, 0.37, 1e-9);
}

TEST(Guards, RootAtTheEndOfAStepFires) {
  Clock clock;
  Mode& on = clock.system.mode("on");
  on.equations = {der(clock.x) == 1.0};
  on.guards = {{.name = "end", .value = (kStep - clock.x) * (2.0 + clock.x)}};
  SimulateOptions options = in_one_step();
  options.stop_time = 2.0 * kStep;
  const SimulateResult result = simulate(clock.system, options);
  ASSERT_EQ(result.reason, StopReason::kTerminated) << result.message;
  EXPECT_NEAR(result.time, kStep, 1e-15);
}

// g(0) = 0 with g' > 0, then a root later.
TEST(Guards, AtZeroLeavingFeasiblyIsNotFired) {
  Clock clock;
  const SimulateResult result = run_clock(clock, clock.x * (0.6 - clock.x));
  ASSERT_EQ(result.reason, StopReason::kTerminated) << result.message;
  EXPECT_NEAR(result.time, 0.6, 1e-12);
  ASSERT_EQ(result.events.size(), 1U);
}

TEST(Guards, AtZeroLeavingFeasiblyNeverFiresWithoutAnotherRoot) {
  Clock clock;
  const SimulateResult result = run_clock(clock, clock.x * (1.5 - clock.x));
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_TRUE(result.events.empty());
}

TEST(Guards, AtZeroLeavingTheWrongWayFiresAtOnce) {
  Clock clock;
  const SimulateResult result = run_clock(clock, -clock.x * (2.0 - clock.x));
  ASSERT_EQ(result.reason, StopReason::kTerminated) << result.message;
  EXPECT_EQ(result.time, 0.0);
}

TEST(Guards, NegativeAtTheStartFiresAtOnce) {
  Clock clock;
  const SimulateResult result = run_clock(clock, clock.x - 0.5);
  ASSERT_EQ(result.reason, StopReason::kTerminated) << result.message;
  EXPECT_EQ(result.time, 0.0);
}

TEST(Guards, WithoutSuccessorEndTheRun) {
  Clock clock;
  const SimulateResult result = run_clock(clock, 0.25 - clock.x);
  EXPECT_EQ(result.reason, StopReason::kTerminated);
  EXPECT_TRUE(result.completed());
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].tags, std::vector<std::string>{"terminate"});
  EXPECT_NEAR(result.final.at("x"), 0.25, 1e-15);
}

// Time guards a + b t: the event is at the double nearest to what -a / b gives.
TEST(Guards, TimeEventsAreHitExactly) {
  struct Line {
    double a, b;
  };
  for (const Line line : {Line{0.1, -1.0}, Line{1.0, -3.0}, Line{0.1, -0.7}, Line{1e-3, -7.0},
                          Line{12345.678, -1.0}, Line{1e6 / 7.0, -0.3}}) {
    HybridSystem system("timer");
    const Expr x = system.variable("x");
    const double expected = -line.a / line.b;
    Mode& before = system.mode("before");
    before.equations = {der(x) == cos(system.time())};
    before.guards = {{.name = "bell", .value = line.a + line.b * system.time(), .to = "after"}};
    system.mode("after").equations = {der(x) == 0.0};
    SimulateOptions options;
    options.start_time = expected - 0.05;
    options.stop_time = expected + 1.0;
    const SimulateResult result = simulate(system, options);
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    ASSERT_EQ(result.events.size(), 1U) << line.a << " " << line.b;
    EXPECT_EQ(result.events[0].time, expected) << line.a << " + " << line.b << " t";
    EXPECT_EQ(result.events[0].tags, (std::vector<std::string>{"switch", "time"}));
  }
}

TEST(Guards, TimeEventInThePastFiresAtTheStart) {
  HybridSystem system("timer");
  const Expr x = system.variable("x");
  Mode& before = system.mode("before");
  before.equations = {der(x) == 1.0};
  before.guards = {{.name = "bell", .value = 0.5 - system.time(), .to = "after"}};
  system.mode("after").equations = {der(x) == 0.0};
  SimulateOptions options;
  options.start_time = 2.0;
  options.stop_time = 3.0;
  const SimulateResult result = simulate(system, options);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].time, 2.0);
  EXPECT_EQ(result.final.at("x"), 0.0);
}

// Three guards with the same zero and different scales.
std::string winner(int first, int second, int third) {
  Clock clock;
  Mode& on = clock.system.mode("on");
  on.equations = {der(clock.x) == 1.0};
  on.guards = {{.name = "a", .value = 0.5 - clock.x, .to = "A", .priority = first},
               {.name = "b", .value = 3.0 * (0.5 - clock.x), .to = "B", .priority = second},
               {.name = "c", .value = 0.125 - clock.x * 0.25, .to = "C", .priority = third}};
  for (const char* name : {"A", "B", "C"})
    clock.system.mode(name).equations = {der(clock.x) == 1.0};
  const SimulateResult result = simulate(clock.system, in_one_step());
  EXPECT_EQ(result.events.size(), 1U);
  if (result.events.empty()) return "none";
  const Event& event = result.events[0];
  EXPECT_EQ(event.causes.size(), 3U);
  EXPECT_EQ(event.tags, (std::vector<std::string>{"switch", "tie"}));
  EXPECT_NEAR(event.time, 0.5, 1e-15);
  return event.to;
}

TEST(Guards, TiesGoByPriorityThenDeclaration) {
  EXPECT_EQ(winner(1, 1, 1), "A");
  EXPECT_EQ(winner(2, 1, 1), "B");
  EXPECT_EQ(winner(3, 2, 1), "C");
  EXPECT_EQ(winner(1, 2, 0), "C");
}

// x = cos t, v = -sin t, e = x^2 algebraic. At this tolerance the continuous extension is about
// 1e-5 off inside a step, the guard must vanish on the solution.
struct Located {
  double time = 0.0;
  double value = 0.0;  // of the guard, from the stored left limit
  std::size_t steps = 0;
};

Located locate(double tolerance, Expr (*guard)(const Expr& x, const Expr& v, const Expr& e),
               double (*value)(double x, double v, double e, double dv)) {
  HybridSystem system("swing");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr v = system.variable("v", {.start = 0.0});
  const Expr e = system.variable("e", {.start = 1.0});
  Mode& on = system.mode("on");
  on.equations = {der(x) == v, der(v) == -x, e * (2.0 + e) == x * x * (2.0 + x * x)};
  on.guards = {{.name = "mark", .value = guard(x, v, e)}};
  SimulateOptions options;
  options.stop_time = 10.0;
  options.tolerance = tolerance;
  options.interval = 0.0;
  const SimulateResult result = simulate(system, options);
  EXPECT_EQ(result.reason, StopReason::kTerminated) << result.message;
  const Trajectory& stored = result.trajectory;
  const std::size_t last = stored.size() - 1;
  const auto at = [&](const char* name) { return stored.value(last, stored.find(name)); };
  return {result.time, value(at("x"), at("v"), at("e"), at("der(v)")), result.statistics.steps};
}

TEST(Guards, VanishOnTheSolutionNotOnTheExtension) {
  for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
    const Located found = locate(
        tolerance,
        [](const Expr& x, const Expr& v, const Expr&) { return exp(x) - exp(v * 0.5) + x * v; },
        [](double x, double v, double, double) { return std::exp(x) - std::exp(0.5 * v) + x * v; });
    // The exact time by bisection on the closed solution.
    double low = 0.0;
    double high = 3.0;
    for (int k = 0; k < 100; ++k) {
      const double t = 0.5 * (low + high);
      const double x = std::cos(t);
      const double v = -std::sin(t);
      (std::exp(x) - std::exp(0.5 * v) + x * v > 0.0 ? low : high) = t;
    }
    EXPECT_NEAR(found.time, low, 10.0 * tolerance);
    EXPECT_LE(std::abs(found.value), 1e-12);
  }
}

// x' = sin t from 1e-9: x = 1e-9 + 1 - cos t never falls, but a cubic through it that has a step as
// long as this falls at first, by about 1e-8.
TEST(Guards, StartThatIsFlatterThanTheExtensionIsNoRoot) {
  HybridSystem system("flat start");
  const Expr x = system.variable("x", {.start = 1e-9, .fixed = true});
  Mode& rising = system.mode("rising");
  rising.equations = {der(x) == sin(system.time())};
  rising.guards = {{.name = "fallen", .value = x, .to = ""}};
  SimulateOptions options;
  options.stop_time = 1.0;
  options.first_step = 0.3;
  options.tolerance = 1e-4;
  const SimulateResult result = simulate(system, options);
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_TRUE(result.events.empty());
  EXPECT_NEAR(result.final.at("x"), 1.0 - std::cos(1.0), 1e-4);
}

TEST(Guards, MayReadDerivatives) {
  const Located found = locate(
      1e-6, [](const Expr&, const Expr& v, const Expr&) { return 0.3 - der(v); },
      [](double, double, double, double dv) { return 0.3 - dv; });
  EXPECT_NEAR(found.time, std::acos(-0.3), 1e-5);
  EXPECT_LE(std::abs(found.value), 1e-12);
}

TEST(Guards, MayReadAlgebraicUnknowns) {
  const Located found = locate(
      1e-6, [](const Expr&, const Expr&, const Expr& e) { return e - 0.25; },
      [](double, double, double e, double) { return e - 0.25; });
  EXPECT_NEAR(found.time, std::acos(0.5), 1e-5);
  EXPECT_LE(std::abs(found.value), 1e-12);
}

// A force that jumps at t = 1 beyond what holds a mass: m v' = f - 1 from there. Whichever side of
// the jump `<` and `<=` give it at t = 1 itself, the mass is let go just after.
TEST(Guards, WhatJumpsByTimeAloneIsJudgedJustAfter) {
  for (const bool strict : {true, false}) {
    HybridSystem s("held");
    const Expr v = s.variable("v");
    const Expr f = s.variable("f");
    const Expr tau = s.variable("tau");
    const Equation force(f == select(strict ? s.time() < 1.0 : s.time() <= 1.0, 0.5, 3.0));
    Mode& held = s.mode("held");
    held.equations = {force, der(v) == f - tau, v == 0.0};
    held.guards = {{.name = "slips", .value = 1.0 - tau, .to = "slips"}};
    Mode& slips = s.mode("slips");
    slips.equations = {force, der(v) == f - tau, tau == 1.0};
    slips.guards = {{.name = "sticks", .value = v, .to = "held"}};
    const SimulateResult result = simulate(s, {.stop_time = 2.0, .tolerance = 1e-8});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    ASSERT_EQ(result.events.size(), 1u);
    EXPECT_NEAR(result.events[0].time, 1.0, 1e-14);
    EXPECT_EQ(result.events[0].to, "slips");
    EXPECT_NEAR(result.final.at("v"), 2.0, 1e-7);
  }
}

// Three modes of which each sends the state to the next, and a fourth in which it may stay: the
// guard that leads there falls, too, but is declared later.
TEST(Guards, CircleIsLeftForAModeThatLasts) {
  HybridSystem s("circle");
  const Expr x = s.variable("x", {.start = -1.0, .fixed = true});
  const Expr y = s.variable("y");
  const auto add = [&](const std::string& name, double slope, double value,
                       std::vector<Guard> guards) {
    Mode& mode = s.mode(name);
    mode.equations = {der(x) == slope, y == value};
    mode.guards = std::move(guards);
  };
  add("before", 1.0, 0.0, {{.name = "arrives", .value = -x, .to = "a"}});
  add("a", 1.0, 1.0, {{.name = "to b", .value = -x, .to = "b"}});
  add("b", 1.0, 2.0,
      {{.name = "to c", .value = -x, .to = "c"},
       {.name = "to rest", .value = -2.0 * x, .to = "rest"}});
  add("c", 1.0, 3.0, {{.name = "to a", .value = -x, .to = "a"}});
  add("rest", 0.0, 4.0, {});
  const SimulateResult result = simulate(s, {.stop_time = 3.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_FALSE(result.events.empty());
  EXPECT_EQ(result.events.back().to, "rest");
  EXPECT_LE(result.events.size(), 3u);  // the way round is no part of the log
  EXPECT_NEAR(result.final.at("x"), 0.0, 1e-12);
  for (const ModeReport& mode : result.modes) EXPECT_LE(mode.visits, 1u) << mode.name;
}

}  // namespace
}  // namespace saltus
