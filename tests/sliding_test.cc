// Chattering: sliding modes (generalized Filippov), hysteresis, and the end of the run.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "examples/evaporator/evaporator.h"
#include "examples/km17/km17.h"
#include "examples/relays/relays.h"
#include "examples/stick_slip/stick_slip.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

std::vector<Event> of_kind(const SimulateResult& result, const std::string& kind) {
  std::vector<Event> found;
  for (const Event& event : result.events)
    if (event.kind == kind) found.push_back(event);
  return found;
}

SimulateOptions tight(double stop) {
  SimulateOptions options;
  options.stop_time = stop;
  options.tolerance = 1e-10;
  return options;
}

void expect_km17(const SimulateResult& result, const std::string& x1) {
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 2U);
  EXPECT_EQ(result.events[0].kind, "sliding-entry");
  EXPECT_EQ(result.events[0].ontology, "continuous sliding");
  EXPECT_NEAR(result.events[0].time, 0.0, 1e-8);
  EXPECT_EQ(result.events[1].kind, "sliding-exit");
  EXPECT_NEAR(result.events[1].time, 1.0, 1e-8);
  EXPECT_EQ(result.events[1].to, "mode 2");
  const std::vector<double> alpha = result.trajectory.column("alpha");
  const std::vector<double> x = result.trajectory.column(x1);
  const std::vector<double> x2 = result.trajectory.column("x2");
  std::size_t seen = 0;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    const double t = result.trajectory.time[i];
    EXPECT_EQ(x2[i], 1.0) << t;
    const std::string& mode = result.trajectory.mode_names[result.trajectory.mode[i].index()];
    if (!mode.starts_with("sliding")) continue;
    ++seen;
    EXPECT_NEAR(alpha[i], (1.0 - t * t) / (2.0 - t * t), 1e-8) << t;
    EXPECT_NEAR(x[i], 0.0, 1e-12) << t;
  }
  EXPECT_GT(seen, 50U);
  // x1' = 1 - t^2 from 0 at t = 1.
  EXPECT_NEAR(result.trajectory.column(x1 == "x1" ? "x1" : "x1_2").back(), 1.0 - (8.0 - 1.0) / 3.0,
              1e-8);
}

TEST(Sliding, FollowsExample17OfKunkelAndMehrmann) {
  expect_km17(simulate(make_km17(), {.tolerance = 1e-10}), "x1");
}

TEST(Sliding, MixesModesThatShareNoUnknownsThroughTheirTransitions) {
  HybridSystem system("km17");
  const Expr x11 = system.variable("x1_1", {.start = 1.0});
  const Expr x2 = system.variable("x2", {.start = 1.0});
  const Expr x12 = system.variable("x1_2");
  const Expr t = system.time();
  Mode& first = system.mode("mode 1");
  first.equations = {der(x11) == -1.0, der(x2) == 0.0};
  first.guards = {{.name = "down", .value = x11, .to = "mode 2", .set = {{x12, x11}}}};
  Mode& second = system.mode("mode 2");
  second.equations = {der(x12) == 1.0 - t * t};
  second.guards = {{.name = "up", .value = -x12, .to = "mode 1", .set = {{x11, x12}, {x2, 0.0}}}};
  system.experiment.start_time = -1.0;
  system.experiment.stop_time = 2.0;
  expect_km17(simulate(system, {.tolerance = 1e-10}), "x1_1");
}

// x' = -sign(x) + 1.5 sin t, x(0) = 1.
HybridSystem make_relay() {
  HybridSystem system("relay");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr force = 1.5 * sin(system.time());
  Mode& positive = system.mode("positive");
  positive.equations = {der(x) == -1.0 + force};
  positive.guards = {{.name = "falls", .value = x, .to = "negative"}};
  Mode& negative = system.mode("negative");
  negative.equations = {der(x) == 1.0 + force};
  negative.guards = {{.name = "rises", .value = -x, .to = "positive"}};
  return system;
}

double bisect(const std::function<double(double)>& f, double low, double high) {
  const bool rising = f(high) > 0.0;
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    ((f(middle) > 0.0) == rising ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

// Exact: x moves by -s t - 1.5 cos t between events; it sticks to 0 while |1.5 sin t| < 1 and
// leaves where 1.5 |sin t| = 1.
std::vector<double> relay_events(double stop) {
  std::vector<double> times;
  const double leave = std::asin(1.0 / 1.5);
  // Until x = 0 the first time.
  const auto from_start = [](double t) { return 1.0 - t + 1.5 * (1.0 - std::cos(t)); };
  double t = 0.0;
  // The first zero, found by a scan and bisection.
  for (double s = 0.0; s < stop; s += 1e-3)
    if (from_start(s) > 0.0 && from_start(s + 1e-3) <= 0.0) {
      t = bisect(from_start, s, s + 1e-3);
      break;
    }
  while (t > 0.0 && t < stop) {
    times.push_back(t);
    // Is it sticking, or does it cross?
    double sign = 0.0;
    if (std::abs(1.5 * std::sin(t)) < 1.0) {
      const double next = std::ceil((t - leave) / M_PI) * M_PI + leave;
      if (next > stop) break;
      times.push_back(next);
      t = next;
      sign = std::sin(next + 1e-6) > 0.0 ? 1.0 : -1.0;
    } else {
      sign = std::sin(t) > 0.0 ? 1.0 : -1.0;
    }
    const double from = t;
    const auto x = [=](double s) {
      return -sign * (s - from) + 1.5 * (std::cos(from) - std::cos(s));
    };
    t = 0.0;
    for (double s = from + 1e-3; s < stop; s += 1e-3)
      if (sign * x(s) > 0.0 && sign * x(s + 1e-3) <= 0.0) {
        t = bisect(x, s, s + 1e-3);
        break;
      }
  }
  return times;
}

TEST(Sliding, EntersAndLeavesTheRelayWhereTheExactSolutionDoes) {
  const double stop = 20.0;
  const SimulateResult result = simulate(make_relay(), tight(stop));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<double> exact = relay_events(stop);
  ASSERT_GE(exact.size(), 6U);
  ASSERT_EQ(result.events.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_NEAR(result.events[i].time, exact[i], 1e-8) << i << result.events[i].kind;
  EXPECT_GE(of_kind(result, "sliding-entry").size(), 3U);
}

TEST(Sliding, SlidesTheSameWayWhenARunIsRepeated) {
  const HybridSystem system = make_relay();
  const SimulateResult first = simulate(system, tight(10.0));
  const SimulateResult second = simulate(system, tight(10.0));
  ASSERT_EQ(first.events.size(), second.events.size());
  EXPECT_EQ(first.final, second.final);
}

// Both modes leave the surface the wrong way, one of them tangentially: 1 - t^2 is 0 at t = -1.
TEST(Sliding, StartsWhereOneFlowIsTangential) {
  HybridSystem system = make_km17();
  system.set("x1", 0.0);
  const SimulateResult result = simulate(system, {.tolerance = 1e-10});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<Event> exits = of_kind(result, "sliding-exit");
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_NEAR(exits[0].time, 1.0, 1e-8);
  EXPECT_LE(result.events.size(), 5U);
}

// The relay with its guard and its force as algebraic unknowns.
TEST(Sliding, MixesAlgebraicUnknownsAndTakesGuardsOnThem) {
  HybridSystem system("relay");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr r = system.variable("r");
  const Expr f = system.variable("f");
  const Expr force = 1.5 * sin(system.time());
  Mode& positive = system.mode("positive");
  positive.equations = {der(x) == f + force, r == 2.0 * x, f == -1.0};
  positive.guards = {{.name = "falls", .value = r, .to = "negative"}};
  Mode& negative = system.mode("negative");
  negative.equations = {der(x) == f + force, r == 2.0 * x, f == 1.0};
  negative.guards = {{.name = "rises", .value = -r, .to = "positive"}};
  const SimulateResult result = simulate(system, tight(20.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<double> exact = relay_events(20.0);
  ASSERT_EQ(result.events.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_NEAR(result.events[i].time, exact[i], 1e-8) << i << result.events[i].kind;
  const std::vector<double> forces = result.trajectory.column("f");
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const std::string& mode = result.trajectory.mode_names[result.trajectory.mode[i].index()];
    if (mode.starts_with("sliding")) {
      EXPECT_NEAR(forces[i], -1.5 * std::sin(result.trajectory.time[i]), 1e-8);
    }
  }
}

// A bead on a circle, x^2 + y^2 = 1 (index 3), with dry friction: its angular velocity obeys the
// equation of the relay.
TEST(Sliding, MixesModesOfHigherIndexThatShareTheirConstraints) {
  HybridSystem system("bead");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr y = system.variable("y");
  const Expr u = system.variable("u");
  const Expr v = system.variable("v", {.start = 1.0});
  const Expr lambda = system.variable("lambda");
  const Expr spin = x * v - y * u;
  for (const double sign : {1.0, -1.0}) {
    Mode& mode = system.mode(sign > 0.0 ? "forward" : "backward");
    const Expr torque = -sign + 1.5 * sin(system.time());
    mode.equations = {der(x) == u, der(y) == v, der(u) == -2.0 * x * lambda - y * torque,
                      der(v) == -2.0 * y * lambda + x * torque, x * x + y * y == 1.0};
    mode.guards = {
        {.name = "stops", .value = sign * spin, .to = sign > 0.0 ? "backward" : "forward"}};
  }
  const SimulateResult result = simulate(system, tight(8.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<double> exact = relay_events(8.0);
  ASSERT_EQ(result.events.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_NEAR(result.events[i].time, exact[i], 1e-8) << i << result.events[i].kind;
}

struct Point {
  double t, p, level;
};

// Mode 2 is linear: y' = A (y - y*), y* = (0.1, 0.05), A = [-1 2; -2/15 -1/15].
Point evaporator_entry() {
  const double t1 = 15.0 * std::log(19.0 / 17.0);
  const double p1 = 0.05 * std::exp(-t1);
  const double a = -8.0 / 15.0;
  const double w = std::sqrt(1.0 / 3.0 - 64.0 / 225.0);
  const auto at = [=](double t) {
    const double s = t - t1;
    const double p = p1 - 0.1;
    const double level = 0.08 - 0.05;
    const double c = std::cos(w * s);
    const double d = std::sin(w * s) / w;
    const double e = std::exp(a * s);
    return Point{t, 0.1 + e * (c * p + d * ((-1.0 - a) * p + 2.0 * level)),
                 0.05 + e * (c * level + d * (-2.0 / 15.0 * p + (-1.0 / 15.0 - a) * level))};
  };
  double s = t1 + 1e-3;
  while (at(s).level > 0.08) s += 1e-3;
  return at(bisect([&](double t) { return at(t).level - 0.08; }, s - 1e-3, s));
}

TEST(Sliding, EntersExample18WhereTheExactSolutionReachesTheThreshold) {
  const SimulateResult result = simulate(make_evaporator(), tight(20.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_LE(result.events.size(), 5U);
  const std::vector<Event> entries = of_kind(result, "sliding-entry");
  ASSERT_EQ(entries.size(), 1U);
  const Point exact = evaporator_entry();
  EXPECT_NEAR(entries[0].time, exact.t, 1e-8);
  const Trajectory& points = result.trajectory;
  const auto place = std::find(points.time.begin(), points.time.end(), entries[0].time);
  ASSERT_NE(place, points.time.end());
  const auto i = static_cast<std::size_t>(place - points.time.begin());
  EXPECT_NEAR(points.value(i, points.find("p")), exact.p, 1e-8);
  EXPECT_NEAR(points.value(i, points.find("L")), exact.level, 1e-8);
  // On the surface p' = -p + 2 (1 - alpha) L with (1 - alpha) p = 0.085, so (p^2)' = 0.0272 - 2
  // p^2.
  const double at_end =
      std::sqrt(0.0136 + (exact.p * exact.p - 0.0136) * std::exp(-2.0 * (20.0 - exact.t)));
  EXPECT_NEAR(result.final.at("p"), at_end, 1e-8);
}

TEST(Hysteresis, ConvergesToTheSlidingSolutionWithFirstOrder) {
  const Point exact = evaporator_entry();
  std::vector<double> errors;
  for (const double width : {8e-4, 4e-4, 2e-4, 1e-4}) {
    SimulateOptions options = tight(20.0);
    options.chattering = ChatteringAnswer::kHysteresis;
    options.hysteresis = width;
    const SimulateResult result = simulate(make_evaporator(), options);
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    const std::vector<double> p = result.trajectory.column("p");
    const std::vector<double> level = result.trajectory.column("L");
    double error = 0.0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double t = result.trajectory.time[i];
      if (t < exact.t) continue;
      EXPECT_LE(std::abs(level[i] - 0.08), width * (1.0 + 1e-6)) << t;
      const double sliding =
          std::sqrt(0.0136 + (exact.p * exact.p - 0.0136) * std::exp(-2.0 * (t - exact.t)));
      error = std::max(error, std::abs(p[i] - sliding));
    }
    errors.push_back(error);
  }
  const double order = std::log2(errors.front() / errors.back()) / 3.0;
  EXPECT_NEAR(order, 1.0, 0.3) << errors.front() << " " << errors.back();
}

TEST(Hysteresis, IsFlaggedAsNumericalChatteringOnShortIntervals) {
  SimulateOptions options = tight(2.0);
  options.chattering = ChatteringAnswer::kHysteresis;
  options.hysteresis = 1e-6;
  HybridSystem system = make_relay();
  system.set("x", 1e-3);
  options.stop_time = 1.2e-3;
  options.chattering_interval = 5e-6;
  const SimulateResult result = simulate(system, options);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings[0].find("numerical chattering"), std::string::npos);
}

// x_i' = -2 sign(x_i) + push_i from 1, 1/2, 1/4, ...
HybridSystem make_many(int n, const std::vector<double>& push) {
  HybridSystem system("many");
  std::vector<Expr> x;
  for (int i = 0; i < n; ++i)
    x.push_back(system.variable("x" + std::to_string(i), {.start = 1.0 / (1 << i)}));
  const auto name = [](int bits) { return "m" + std::to_string(bits); };
  for (int bits = (1 << n) - 1; bits >= 0; --bits) {
    Mode& mode = system.mode(name(bits));
    for (int i = 0; i < n; ++i) {
      const double sign = (bits >> i & 1) != 0 ? 1.0 : -1.0;
      mode.equations.emplace_back(der(x[i]) == -2.0 * sign + push[i]);
      mode.guards.push_back({.name = "s" + std::to_string(i),
                             .value = sign > 0.0 ? x[i] : -x[i],
                             .to = name(bits ^ (1 << i))});
    }
  }
  return system;
}

TEST(Sliding, HoldsThreeSurfacesAtOnce) {
  const std::vector<double> push = {0.5, -0.25, 1.0};
  const SimulateResult result = simulate(make_many(3, push), tight(2.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 3U);
  const double enters[] = {0.5 / 2.25, 0.25, 1.0 / 1.5};  // of x1, x2, x0
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(result.events[k].kind, "sliding-entry");
    EXPECT_NEAR(result.events[k].time, enters[k], 1e-8);
  }
  // A weight w makes 2 (1 - 2 w) + push vanish.
  const char* const weights[] = {"alpha3", "alpha", "alpha2"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.final.at("x" + std::to_string(i)), 0.0, 1e-10);
    EXPECT_NEAR(result.final.at(weights[i]), 0.5 + 0.25 * push[i], 1e-10);
  }
}

// There is no mixture for five surfaces, and the run says so; hysteresis goes on.
TEST(Chattering, FifthSurfaceEndsTheRunWithAdvice) {
  const HybridSystem system = make_many(5, std::vector<double>(5, 0.0));
  const SimulateResult stopped = simulate(system, {.stop_time = 2.0});
  EXPECT_EQ(stopped.reason, StopReason::kChattering) << stopped.message;
  EXPECT_NEAR(stopped.time, 0.5, 1e-6);
  EXPECT_NE(stopped.message.find("hysteresis"), std::string::npos) << stopped.message;
  const SimulateResult result = simulate(
      system, {.stop_time = 0.6, .chattering = ChatteringAnswer::kHysteresis, .hysteresis = 0.01});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  for (int i = 0; i < 5; ++i) EXPECT_LE(std::abs(result.final.at("x" + std::to_string(i))), 0.0101);
}

TEST(Chattering, EndsTheRunIfAskedTo) {
  SimulateOptions options = tight(20.0);
  options.chattering = ChatteringAnswer::kStop;
  const SimulateResult result = simulate(make_evaporator(), options);
  EXPECT_EQ(result.reason, StopReason::kChattering);
  EXPECT_NEAR(result.time, evaporator_entry().t, 1e-8);
}

TEST(Sliding, HoldsTwoSurfacesAtOnce) {
  const SimulateResult result = simulate(make_relays(), tight(3.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(result.events.size(), 3U);
  EXPECT_EQ(result.events[0].kind, "sliding-entry");
  EXPECT_NEAR(result.events[0].time, 0.2, 1e-8);
  EXPECT_EQ(result.events[1].kind, "sliding-entry");
  EXPECT_NEAR(result.events[1].time, 9.0 / 17.0, 1e-8);
  EXPECT_EQ(result.events[2].kind, "sliding-exit");
  EXPECT_NEAR(result.events[2].time, 2.0625, 1e-8);
  const std::vector<double> x = result.trajectory.column("x");
  const std::vector<double> y = result.trajectory.column("y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = result.trajectory.time[i];
    if (t >= 0.2) {
      EXPECT_NEAR(y[i], 0.0, 1e-8) << t;
    }
    if (t >= 9.0 / 17.0) {
      EXPECT_NEAR(x[i], std::pow(std::max(0.0, t - 2.0625), 2), 1e-8) << t;
    }
  }
}

// From the corner itself no region lets the flow in: it slides on both surfaces at once.
TEST(Sliding, StartsInACorner) {
  HybridSystem system = make_relays();
  system.set("x", 0.0);
  system.set("y", 0.0);
  const SimulateResult result = simulate(system, tight(3.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("x"), 0.87890625, 1e-8);
  EXPECT_NEAR(result.final.at("y"), 0.0, 1e-8);
  const std::vector<Event> exits = of_kind(result, "sliding-exit");
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_NEAR(exits[0].time, 2.0625, 1e-8);
}

// Slipping of the block, slower than the belt, from the moment it breaks loose until it sticks
// again: classical Runge-Kutta, the last step by bisection.
struct Slip {
  double duration, x;
};
Slip slip_by_runge_kutta() {
  using State = std::array<double, 2>;
  const auto slope = [](const State& s) {
    return State{s[1], -s[0] + 1.0 / (1.0 + 3.0 * (0.2 - s[1]))};
  };
  const auto step = [&](const State& s, double h) {
    const auto moved = [&](const State& k, double f) {
      return State{s[0] + f * k[0], s[1] + f * k[1]};
    };
    const State a = slope(s);
    const State b = slope(moved(a, 0.5 * h));
    const State c = slope(moved(b, 0.5 * h));
    const State d = slope(moved(c, h));
    return State{s[0] + h / 6.0 * (a[0] + 2.0 * b[0] + 2.0 * c[0] + d[0]),
                 s[1] + h / 6.0 * (a[1] + 2.0 * b[1] + 2.0 * c[1] + d[1])};
  };
  constexpr double kStep = 1e-4;
  State s = {1.0, 0.2};
  double t = 0.0;
  for (State next = step(s, kStep); t < kStep || next[1] < 0.2; next = step(s, kStep)) {
    s = next;
    t += kStep;
  }
  const double last = bisect([&](double h) { return step(s, h)[1] - 0.2; }, 0.0, kStep);
  return {t + last, step(s, last)[0]};
}

TEST(Sliding, SticksToTheBeltUntilTheSpringWins) {
  const SimulateResult result = simulate(make_stick_slip(), tight(30.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<Event> entries = of_kind(result, "sliding-entry");
  const std::vector<Event> exits = of_kind(result, "sliding-exit");
  ASSERT_GE(entries.size(), 3U);
  ASSERT_GE(exits.size(), 3U);
  ASSERT_EQ(result.events.size(), entries.size() + exits.size());
  const Slip slip = slip_by_runge_kutta();
  const Trajectory& points = result.trajectory;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto at = static_cast<std::size_t>(
        std::find(points.time.begin(), points.time.end(), exits[k].time) - points.time.begin());
    ASSERT_LT(at, points.size());
    EXPECT_NEAR(points.value(at, points.find("x")), 1.0, 1e-8);
    EXPECT_EQ(exits[k].to, "slower");
    if (k == 0) continue;
    EXPECT_NEAR(entries[k].time - exits[k - 1].time, slip.duration, 1e-8);
    EXPECT_NEAR(exits[k].time - entries[k].time, (1.0 - slip.x) / 0.2, 1e-7);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string& mode = points.mode_names[points.mode[i].index()];
    if (!mode.starts_with("sliding")) continue;
    EXPECT_NEAR(points.value(i, points.find("v")), 0.2, 1e-10);
    EXPECT_NEAR(points.value(i, points.find("F")), points.value(i, points.find("x")), 1e-10);
  }
}

// sign(x) as text is translated: two relations on one surface, and a third value on it.
Expr sign_of(FlatModel& model, const Expr& x) {
  return select(model.relation(x, Strict::kYes), 1.0,
                select(model.relation(-x, Strict::kYes), -1.0, 0.0));
}

TEST(FlatSliding, EntersAndLeavesTheRelayWhereTheExactSolutionDoes) {
  FlatModel model("relay");
  const Expr x = model.system.variable("x", {.start = 1.0, .fixed = true});
  model.equations = {Equation(der(x) == -sign_of(model, x) + 1.5 * sin(model.system.time()))};
  const SimulateResult result = simulate(build(model), tight(20.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  std::vector<double> times;
  for (const Event& event : result.events)
    if (event.kind.starts_with("sliding")) times.push_back(event.time);
  std::vector<double> exact;
  const std::vector<double> all = relay_events(20.0);
  // Where it sticks, and where it leaves; crossings are not listed.
  for (const double t : all)
    if (std::abs(1.5 * std::sin(t)) < 1.0 + 1e-12) exact.push_back(t);
  ASSERT_EQ(times.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(times[i], exact[i], 1e-8) << i;
  EXPECT_LE(result.events.size(), 2 * all.size());
}

TEST(FlatSliding, HoldsTwoSurfacesAtOnce) {
  FlatModel model("relays");
  const Expr x = model.system.variable("x", {.start = 1.0, .fixed = true});
  const Expr y = model.system.variable("y", {.start = 0.5, .fixed = true});
  const Expr t = model.system.time();
  const Expr s1 = sign_of(model, x);
  const Expr s2 = sign_of(model, y);
  const Expr late = model.relation(t - 1.0, Strict::kYes);
  model.equations = {Equation(der(x) == -2.0 * s1 + 0.5 * s2 + select(late, 2.0 * (t - 1.0), 0.0)),
                     Equation(der(y) == -0.5 * s1 - 2.0 * s2)};
  const SimulateResult result = simulate(build(model), tight(3.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<Event> entries = of_kind(result, "sliding-entry");
  ASSERT_GE(entries.size(), 2U);
  EXPECT_NEAR(entries[0].time, 0.2, 1e-8);
  EXPECT_NEAR(entries[1].time, 9.0 / 17.0, 1e-8);
  const std::vector<Event> exits = of_kind(result, "sliding-exit");
  ASSERT_GE(exits.size(), 1U);
  EXPECT_NEAR(exits.back().time, 2.0625, 1e-8);
  const std::vector<double> xs = result.trajectory.column("x");
  const std::vector<double> ys = result.trajectory.column("y");
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double time = result.trajectory.time[i];
    if (time >= 9.0 / 17.0) {
      EXPECT_NEAR(xs[i], std::pow(std::max(0.0, time - 2.0625), 2), 1e-8) << time;
      EXPECT_NEAR(ys[i], 0.0, 1e-8) << time;
    }
  }
}

// A Boolean that follows from the relation slides with it; one that remembers does not.
TEST(FlatSliding, LeavesConditionsWithMemoryAlone) {
  for (const bool remembers : {false, true}) {
    FlatModel model("switch");
    const Expr x = model.system.variable("x", {.start = 0.5, .fixed = true});
    const Expr on = model.discrete("on");
    const Expr above = model.relation(x, Strict::kYes);
    // With memory: a thermostat, on below 0 and off above 1.
    model.discrete_equations.push_back(
        {on,
         remembers ? !above || (model.pre(on) && !model.relation(x - 1.0, Strict::kYes)) : !above,
         {}});
    model.equations = {Equation(der(x) == select(on, 1.0, -1.0))};
    const SimulateResult result = simulate(build(model), tight(4.0));
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    EXPECT_EQ(of_kind(result, "sliding-entry").size(), remembers ? 0U : 1U);
    // Slides from 0.5 on; or is at 0 at 0.5, at 1 at 1.5, at 0 at 2.5, at 1 at 3.5.
    EXPECT_NEAR(result.final.at("x"), remembers ? 0.5 : 0.0, 1e-8);
  }
}

// The same two models as text.
TEST(FlatSliding, SlidesInModelsReadFromText) {
  const std::string folder = SALTUS_SLIDING_SOURCES;
  const SimulateResult relay = simulate(build(load_modelica(folder + "/Relay.mo")));
  ASSERT_EQ(relay.reason, StopReason::kStopTime) << relay.message;
  std::vector<double> times;
  for (const Event& event : relay.events)
    if (event.kind.starts_with("sliding")) times.push_back(event.time);
  std::vector<double> exact = relay_events(20.0);
  std::erase_if(exact, [](double t) { return std::abs(1.5 * std::sin(t)) > 1.0 + 1e-12; });
  ASSERT_EQ(times.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(times[i], exact[i], 1e-8) << i;

  const SimulateResult relays = simulate(build(load_modelica(folder + "/Relays.mo")));
  ASSERT_EQ(relays.reason, StopReason::kStopTime) << relays.message;
  const std::vector<Event> entries = of_kind(relays, "sliding-entry");
  ASSERT_GE(entries.size(), 2U);
  EXPECT_NEAR(entries[0].time, 0.2, 1e-8);
  EXPECT_EQ(entries[0].to, "sliding on y = 0");
  EXPECT_NEAR(entries[1].time, 9.0 / 17.0, 1e-8);
  EXPECT_NEAR(of_kind(relays, "sliding-exit").back().time, 2.0625, 1e-8);
  EXPECT_NEAR(relays.final.at("x"), 0.87890625, 1e-8);
  // alpha weighs the positive side: s2 = -1/4 at the end, s1 = 1.
  EXPECT_NEAR(relays.final.at("alpha"), 0.375, 1e-8);
  EXPECT_EQ(relays.final.at("alpha2"), 1.0);
}

// A sample that falls into sliding is an event like any other; sliding goes on at the same instant.
TEST(FlatSliding, GoesOnAfterAnEventThatChangesNothingAboutIt) {
  FlatModel model("sampled");
  const Expr x = model.system.variable("x", {.start = 1.0, .fixed = true});
  const Expr n = model.discrete("n", {.type = DiscreteType::kReal});
  const Expr tick = model.sample(0.3, 0.3);
  model.discrete_equations.push_back({n, select(tick, model.pre(n) + 1.0, model.pre(n)), {}});
  model.equations = {Equation(der(x) == select(model.relation(x, Strict::kYes), -1.0, 1.0))};
  const SimulateResult result = simulate(build(model), tight(3.1));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(result.final.at("n"), 10.0);
  EXPECT_NEAR(result.final.at("x"), 0.0, 1e-12);
  EXPECT_NEAR(result.final.at("alpha"), 0.5, 1e-12);
  // The ticks change nothing about what is held.
  EXPECT_EQ(of_kind(result, "sliding-entry").size(), 1U);
  const auto sliding =
      std::count_if(result.modes.begin(), result.modes.end(),
                    [](const ModeReport& mode) { return mode.name.starts_with("sliding"); });
  EXPECT_EQ(sliding, 1);
}

// A relation that is held has the value as written at zero for whatever remembers it: the edge is
// seen once.
TEST(FlatSliding, HeldRelationsAreSeenAsWrittenAtZero) {
  FlatModel model("counter");
  const Expr x = model.system.variable("x", {.start = 1.0, .fixed = true});
  const Expr n = model.discrete("n", {.type = DiscreteType::kReal});
  const Expr above = model.relation(x, Strict::kYes);
  model.discrete_equations.push_back(
      {n, select(model.edge(!above), model.pre(n) + 1.0, model.pre(n)), {}});
  model.equations = {Equation(der(x) == select(above, -1.0, 1.0))};
  const SimulateResult result = simulate(build(model), tight(2.0));
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(result.final.at("n"), 1.0);
  EXPECT_NEAR(result.final.at("x"), 0.0, 1e-12);
}

}  // namespace
}  // namespace saltus
