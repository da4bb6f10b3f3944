// Pinnacles, sliding, hysteresis and derivatives in models read from Modelica text.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

HybridSystem load(const std::string& text) { return build(load_modelica_text(text)); }

double difference(const std::function<double(double)>& f, double p, double h) {
  return (f(p - 2.0 * h) - 8.0 * f(p - h) + 8.0 * f(p + h) - f(p + 2.0 * h)) / (12.0 * h);
}

const char* const kRelay =
    "model Relay Real x(start = 1, fixed = true); equation "
    "der(x) = -sign(x) + 1.5*sin(time); end Relay;";

// x' = -+1 + 1.5 sin t in closed form: slides where |1.5 sin t| < 1, leaves where it is 1.
std::vector<double> relay_times(double stop) {
  const auto root = [](const std::function<double(double)>& f, double a, double b) {
    for (int k = 0; k < 200; ++k) {
      const double m = 0.5 * (a + b);
      (f(a) * f(m) <= 0.0 ? b : a) = m;
    }
    return 0.5 * (a + b);
  };
  std::vector<double> times;
  double t0 = 0.0, x0 = 1.0, side = 1.0;
  for (;;) {
    const auto x = [&](double t) {
      return x0 - side * (t - t0) - 1.5 * (std::cos(t) - std::cos(t0));
    };
    double t = t0 + 0.1;
    while (side * x(t) > 0.0 && t < stop) t += 0.01;
    if (t >= stop) return times;
    t0 = root(x, t - 0.01, t);
    times.push_back(t0);
    // Slides until 1.5 |sin t| reaches 1 from below.
    const auto excess = [](double s) { return 1.5 * std::abs(std::sin(s)) - 1.0; };
    t = t0;
    while (excess(t) < 0.0 && t < stop) t += 0.001;
    if (t >= stop) return times;
    t0 = root(excess, t - 0.001, t);
    times.push_back(t0);
    side = std::sin(t0) > 0.0 ? 1.0 : -1.0;
    x0 = 0.0;
  }
}

// Two inertias (1 and 2 kg m2) at 10 and 0 rad/s that lock at t = 1: their common speed would be
// 10/3, so on the way there w1 = 10 - 20/3 s and w2 = 10/3 s at the fraction s.
SimulateResult lock_until(const std::string& condition, const std::string& whens) {
  return simulate(load("model Lock Real w1(start = 10, fixed = true), w2(start = 0, fixed = true);"
                       "Real tau; Boolean locked(start = false, fixed = true);"
                       "Boolean open = " +
                       condition +
                       "; equation der(w1) = -tau; 2*der(w2) = tau;"
                       "if locked then w1 = w2; else tau = 0; end if;" +
                       whens + "end Lock;"),
                  {.stop_time = 2.0});
}

TEST(PinnacleText, ProjectionEndsWhereItLeavesTheRegion) {
  const char* const first =
      "when time >= 1 then locked = true; elsewhen open then locked = false; "
      "end when;";
  const char* const last =
      "when open then locked = false; elsewhen time >= 1 then locked = true; "
      "end when;";
  struct Case {
    const char* condition;
    double fraction;
  };
  // w1 = 5 after 3/4 of the way; the second is left and entered again, first at w1 = 6.5.
  for (const Case c : {Case{"w1 < 5", 0.75}, Case{"(w1 - 6)^2 < 0.25", 0.525}}) {
    for (const char* whens : {first, last}) {
      const SimulateResult result = lock_until(c.condition, whens);
      ASSERT_TRUE(result.completed()) << result.message;
      ASSERT_EQ(result.events.size(), 2U) << c.condition;
      const Event& cut = result.events[0];
      EXPECT_EQ(cut.ontology, "pinnacle");
      EXPECT_EQ(cut.kind, "instantaneous");
      EXPECT_NEAR(cut.fraction.value(), c.fraction, 1e-12);
      EXPECT_NEAR(cut.impulses.at("tau"), 20.0 / 3.0 * c.fraction, 1e-11);
      EXPECT_NEAR(cut.jumps.at("w2").second, 10.0 / 3.0 * c.fraction, 1e-11);
      EXPECT_TRUE(result.events[1].jumps.empty());
      EXPECT_NEAR(result.final.at("w1"), 10.0 - 20.0 / 3.0 * c.fraction, 1e-11);
      EXPECT_NEAR(result.final.at("w1") + 2.0 * result.final.at("w2"), 10.0, 1e-12 * 10.0);
    }
  }
}

TEST(PinnacleText, ImpulseBeyondABoundLeavesTheStateAsItWas) {
  const SimulateResult result = lock_until(
      "tau > 3", "when time >= 1 then locked = true; elsewhen open then locked = false; end when;");
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.events.size(), 2U);
  EXPECT_EQ(result.events[0].ontology, "pinnacle");
  EXPECT_EQ(result.events[0].fraction, 0.0);
  EXPECT_EQ(result.final.at("w1"), 10.0);
  EXPECT_EQ(result.final.at("w2"), 0.0);
}

TEST(PinnacleText, WhatChangesNoModeDoesNotStopAProjection) {
  const SimulateResult result =
      lock_until("w1 < 5", "when time >= 1 then locked = true; end when;");
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].ontology, "continuous interior");
  EXPECT_NEAR(result.final.at("w1"), 10.0 / 3.0, 1e-12);
}

TEST(SlidingText, RelayEntersAndLeavesInTimeAtEveryTolerance) {
  const std::vector<double> exact = relay_times(20.0);
  ASSERT_EQ(exact.size(), 12U);
  for (const Method method : {Method::kRadau, Method::kBdf}) {
    for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
      const SimulateResult result =
          simulate(load(kRelay), {.stop_time = 20.0, .tolerance = tolerance, .method = method});
      ASSERT_EQ(result.reason, StopReason::kStopTime) << tolerance << ": " << result.message;
      ASSERT_EQ(result.events.size(), exact.size()) << tolerance;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const bool enters = i % 2 == 0;
        EXPECT_EQ(result.events[i].kind, enters ? "sliding-entry" : "sliding-exit");
        // It leaves where a weight that depends on time only reaches its bound. Before it enters,
        // errors add up over the run, those of BDF more so.
        const double factor = method == Method::kBdf ? 50.0 : 10.0;
        const double error = enters ? std::max(factor * tolerance, 1e-8) : 1e-8;
        EXPECT_NEAR(result.events[i].time, exact[i], error) << i << " at " << tolerance;
      }
    }
  }
}

// With y' = sign(x) the equations give y = x0 - x + 0.5 t: on the surface y' = 0.5. Hysteresis
// keeps |x| within its width, so y is off by no more.
const char* const kChatter =
    "model Chatter Real x(start = 1, fixed = true); Real y(start = 0, fixed = true); equation "
    "der(x) = -sign(x) + 0.5; der(y) = sign(x); end Chatter;";

TEST(HysteresisText, ConvergesWithFirstOrder) {
  std::vector<double> reach;
  for (const double width : {4e-2, 2e-2, 1e-2}) {
    const SimulateResult result =
        simulate(load(kChatter), {.stop_time = 4.0,
                                  .tolerance = 1e-8,
                                  .interval = 1e-3,
                                  .chattering = ChatteringAnswer::kHysteresis,
                                  .hysteresis = width});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    const std::vector<double> x = result.trajectory.column("x");
    double largest = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (result.trajectory.time[i] > 2.2) largest = std::max(largest, std::abs(x[i]));
    EXPECT_LE(largest, width * (1.0 + 1e-6));
    EXPECT_NEAR(result.final.at("y"), 1.0 + 0.5 * 4.0 - result.final.at("x"), 1e-8);
    EXPECT_NEAR(result.final.at("y"), 3.0, 1.01 * width);
    reach.push_back(largest);
  }
  EXPECT_NEAR(reach[0] / reach[1], 2.0, 0.1);
  EXPECT_NEAR(reach[1] / reach[2], 2.0, 0.1);
}

TEST(HysteresisText, StopEndsTheRunAtTheSurface) {
  const SimulateResult result =
      simulate(load(kChatter), {.stop_time = 4.0, .chattering = ChatteringAnswer::kStop});
  EXPECT_EQ(result.reason, StopReason::kChattering);
  EXPECT_NEAR(result.time, 2.0, 1e-9);
  EXPECT_NE(result.message.find("hysteresis"), std::string::npos) << result.message;
}

// Three surfaces at once: two slide, the third is crossed with hysteresis, and the run says so.
TEST(SlidingText, ThirdSurfaceIsCrossedWithHysteresis) {
  const SimulateResult result = simulate(
      load("model Three Real x(start = 1, fixed = true); Real y(start = 0.5, fixed = true); Real "
           "z(start = 0.25, fixed = true); equation der(x) = -2*sign(x) + 0.5*sign(y); der(y) = "
           "-2*sign(y) - 0.5*sign(x); der(z) = -2*sign(z) + 0.3*sign(x); end Three;"),
      {.stop_time = 2.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(), [](const std::string& w) {
    return w.find("hysteresis") != std::string::npos;
  }));
  for (const char* name : {"x", "y", "z"}) EXPECT_LE(std::abs(result.final.at(name)), 2e-4) << name;
}

// Derivatives, against differences of tight runs.
void expect_like_differences(const std::string& text, const std::vector<std::string>& names,
                             const std::vector<std::string>& ends, double stop) {
  const HybridSystem system = load(text);
  SimulateOptions options{.stop_time = stop, .tolerance = 1e-11};
  options.sensitivities = names;
  const SimulateResult result = simulate(system, options);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  for (const std::string& warning : result.warnings)
    EXPECT_EQ(warning.find("no sensitivities"), std::string::npos) << warning;
  options.sensitivities.clear();
  for (const std::string& name : names) {
    double base = 0.0;
    for (const Parameter& p : system.parameters())
      if (p.name == name) base = p.value;
    for (const Variable& v : system.variables())
      if (v.name == name) base = v.start.number();
    for (const std::string& end : ends) {
      const auto at = [&](double value) {
        HybridSystem changed = system;
        changed.set(name, value);
        return simulate(changed, options).final.at(end);
      };
      const double reference = difference(at, base, 1e-3 * (base == 0.0 ? 1.0 : std::abs(base)));
      EXPECT_NEAR(result.sensitivities.at(name).at(end), reference,
                  1e-6 * (1.0 + std::abs(reference)))
          << "d " << end << " / d " << name;
    }
  }
}

// The fall takes sqrt(2 h0 / g); after it h = v1 s - g s^2 / 2 with v1 = e sqrt(2 g h0).
TEST(SensitivityText, BallMatchesItsClosedForm) {
  const HybridSystem ball = load(
      "model Ball parameter Real e = 0.7; parameter Real g = 9.81; Real h(start = 1, fixed = "
      "true); Real v(start = 0, fixed = true); equation der(h) = v; der(v) = -g; when h <= 0 then "
      "reinit(v, -e*pre(v)); end when; end Ball;");
  const SimulateResult result =
      simulate(ball, {.stop_time = 1.0, .tolerance = 1e-10, .sensitivities = {"e", "g", "h"}});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const auto end = [](double e, double g, double h0) {
    const double s = 1.0 - std::sqrt(2.0 * h0 / g);
    return e * std::sqrt(2.0 * g * h0) * s - 0.5 * g * s * s;
  };
  const auto& by = result.sensitivities;
  EXPECT_NEAR(by.at("e").at("h"),
              difference([&](double q) { return end(q, 9.81, 1.0); }, 0.7, 1e-4), 1e-6);
  EXPECT_NEAR(by.at("g").at("h"),
              difference([&](double q) { return end(0.7, q, 1.0); }, 9.81, 1e-4), 1e-6);
  EXPECT_NEAR(by.at("h").at("h"),
              difference([&](double q) { return end(0.7, 9.81, q); }, 1.0, 1e-4), 1e-6);
}

TEST(SensitivityText, BallMatchesDifferencesOverSeveralBounces) {
  expect_like_differences(
      "model Ball parameter Real e = 0.7; parameter Real g = 9.81; parameter Real h0 = 1; Real "
      "h(start = h0, fixed = true); Real v(start = 0, fixed = true); equation der(h) = v; der(v) = "
      "-g; when h < 0 then reinit(v, -e*pre(v)); end when; end Ball;",
      {"e", "g", "h0"}, {"h", "v"}, 2.0);
}

// Two inertias that a clutch joins at t_c: speeds jump to the common one, J1 w1 + J2 w2 is kept.
const char* const kClutch =
    "model Clutch parameter Real J1 = 1; parameter Real J2 = 2; parameter Real d = 1; parameter "
    "Real tc = 0.5; Real w1(start = 10, fixed = true); Real w2(start = 1, fixed = true); Real tau; "
    "equation J1*der(w1) = -tau; J2*der(w2) = tau - d*w2; if time < tc then tau = 0; else w1 = w2; "
    "end if; end Clutch;";

TEST(SensitivityText, ClutchThatClosesMatchesItsClosedForm) {
  const SimulateResult result = simulate(
      load(kClutch),
      {.stop_time = 1.5, .tolerance = 1e-10, .sensitivities = {"J1", "J2", "d", "tc", "w1", "w2"}});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const auto end = [](double j1, double j2, double d, double tc, double w1, double w2) {
    const double joined = (j1 * w1 + j2 * w2 * std::exp(-d * tc / j2)) / (j1 + j2);
    return joined * std::exp(-d * (1.5 - tc) / (j1 + j2));
  };
  const auto expect = [&](const char* name, const std::function<double(double)>& f, double p) {
    const double reference = difference(f, p, 1e-3);
    EXPECT_NEAR(result.sensitivities.at(name).at("w1"), reference, 1e-6) << name;
    EXPECT_NEAR(result.sensitivities.at(name).at("w2"), reference, 1e-6) << name;
  };
  expect(
      "J1", [&](double q) { return end(q, 2, 1, 0.5, 10, 1); }, 1.0);
  expect(
      "J2", [&](double q) { return end(1, q, 1, 0.5, 10, 1); }, 2.0);
  expect(
      "d", [&](double q) { return end(1, 2, q, 0.5, 10, 1); }, 1.0);
  expect(
      "tc", [&](double q) { return end(1, 2, 1, q, 10, 1); }, 0.5);
  expect(
      "w1", [&](double q) { return end(1, 2, 1, 0.5, q, 1); }, 10.0);
  expect(
      "w2", [&](double q) { return end(1, 2, 1, 0.5, 10, q); }, 1.0);
}

// KM 18: crosses the threshold at 1.67 s, then slides.
const char* const kEvaporator =
    "model Evaporator parameter Real Rb = 1; parameter Real Rp = 0.5; parameter Real I = 0.5; "
    "parameter Real C = 15; parameter Real f = 0.25; parameter Real Lth = 0.08; Real p(start = "
    "0.05, fixed = true, nominal = 0.1); Real L(start = 0.06, fixed = true, nominal = 0.1); "
    "equation if L > Lth then I*der(p) = -Rp*p + L; C*der(L) = -p/I - L/Rb + f; else I*der(p) = "
    "-Rp*p; C*der(L) = -L/Rb + f; end if; end Evaporator;";

TEST(SensitivityText, EvaporatorMatchesDifferencesBeforeAndOnTheSlidingSurface) {
  for (const double stop : {1.8, 4.0})
    expect_like_differences(kEvaporator, {"Rb", "Rp", "f", "Lth", "p", "L"}, {"p", "L"}, stop);
}

// Where a number taken at an event would have to be differentiated the run says so.
TEST(SensitivityText, ValuesThatEventsKeepAreRefusedByName) {
  const SimulateResult result = simulate(
      load("model Keep Real x(start = 1, fixed = true); discrete Real k(start = 0, fixed = true); "
           "equation der(x) = -x + k; when x < 0.5 then k = x; end when; end Keep;"),
      {.stop_time = 2.0, .sensitivities = {"x"}});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_TRUE(std::isnan(result.sensitivities.at("x").at("x")));
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(), [](const std::string& w) {
    return w.find("no sensitivities: 'k'") != std::string::npos;
  }));
}

}  // namespace
}  // namespace saltus
