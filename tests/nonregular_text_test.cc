// Pinnacles, sliding, hysteresis and derivatives in models read from Modelica text.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
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

// x_i' = -c_i s_i + (s_1 + ... + s_n) / 5 + i / 10, c_i = 1.5 + i / 4, s_i = sign(x_i). On the
// surfaces where it slides s_i = (sum / 5 + i / 10) / c_i, so the sum of all follows from the
// others.
struct CoupledRelays {
  std::vector<double> x = {1.0, 0.6, -0.8, 0.3};
  std::vector<bool> slides = std::vector<bool>(4, false);
  double time = 0.0;

  std::vector<double> signs() const {
    double sum = 0.0;
    double part = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      sum += slides[i] ? 0.1 * double(i + 1) / c(i) : std::copysign(1.0, x[i]);
      part += slides[i] ? 0.2 / c(i) : 0.0;
    }
    sum /= 1.0 - part;
    std::vector<double> s;
    for (std::size_t i = 0; i < 4; ++i)
      s.push_back(slides[i] ? (0.2 * sum + 0.1 * double(i + 1)) / c(i) : std::copysign(1.0, x[i]));
    return s;
  }
  // To the next surface, where it begins to slide.
  void advance() {
    const std::vector<double> s = signs();
    double sum = 0.0;
    for (const double v : s) sum += v;
    std::vector<double> rate(4);
    std::size_t next = 4;
    double dt = 1e9;
    for (std::size_t i = 0; i < 4; ++i) {
      rate[i] = -c(i) * s[i] + 0.2 * sum + 0.1 * double(i + 1);
      if (slides[i] || !(-x[i] / rate[i] > 0.0) || -x[i] / rate[i] > dt) continue;
      dt = -x[i] / rate[i];
      next = i;
    }
    for (std::size_t i = 0; i < 4; ++i) x[i] = slides[i] ? 0.0 : x[i] + dt * rate[i];
    time += dt;
    slides[next] = true;
    x[next] = 0.0;
  }
  static double c(std::size_t i) { return 1.5 + 0.25 * double(i + 1); }
};

TEST(SlidingText, FourCoupledSurfacesSlideAtOnce) {
  for (const char* sign : {"sign(x[i])", "if x[i] > 0 then 1 else -1"}) {
    const SimulateResult result = simulate(
        load("model Four Real x[4](start = {1, 0.6, -0.8, 0.3}, each fixed = true); Real s[4];"
             "equation for i in 1:4 loop s[i] = " +
             std::string(sign) +
             "; der(x[i]) = -(1.5 + 0.25*i)*s[i] + 0.2*sum(s) + 0.1*i; end for; end Four;"),
        {.stop_time = 5.0});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    ASSERT_EQ(result.events.size(), 4U);
    CoupledRelays exact;
    for (const Event& event : result.events) {
      exact.advance();
      EXPECT_EQ(event.kind, "sliding-entry");
      EXPECT_NEAR(event.time, exact.time, 1e-8);
    }
    const std::vector<double> s = exact.signs();
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string index = "[" + std::to_string(i + 1) + "]";
      EXPECT_NEAR(result.final.at("x" + index), 0.0, 1e-10);
      EXPECT_NEAR(result.final.at("s" + index), s[i], 1e-10);
    }
  }
}

// x_i' = -2 sign(x_i): each surface adds one weight, so any number can be held.
TEST(SlidingText, ManySurfacesSlideAtOnce) {
  const SimulateResult result =
      simulate(load("model Many Real x[9](start = {0.1*i for i in 1:9}, each fixed = true);"
                    "equation for i in 1:9 loop der(x[i]) = -2*sign(x[i]); end for; end Many;"),
               {.stop_time = 0.51});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_TRUE(result.warnings.empty());
  ASSERT_EQ(result.events.size(), 9U);
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(result.events[i].time, 0.05 * static_cast<double>(i + 1), 1e-9) << i;
  for (int i = 1; i <= 9; ++i)
    EXPECT_LE(std::abs(result.final.at("x[" + std::to_string(i) + "]")), 1e-12) << i;
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

// x^2 + y^2 is constant where the relation is false: it must not fire by the errors of integration,
// alone or while another part slides.
TEST(FirstIntegralText, RelationThatIsConstantDoesNotFire) {
  const std::string circle =
      "Real x(start = 1, fixed = true), y(start = 0, fixed = true); equation der(x) = y; "
      "der(y) = if x^2 + y^2 > 1 then -4*x else -x;";
  const SimulateResult alone =
      simulate(load("model M " + circle + " end M;"), {.stop_time = 100.0});
  ASSERT_TRUE(alone.completed()) << alone.message;
  EXPECT_TRUE(alone.events.empty());
  const SimulateResult both = simulate(load("model M Real z(start = 1, fixed = true); " + circle +
                                            "der(z) = -sign(z) + 1.5*sin(time); end M;"),
                                       {.stop_time = 20.0});
  ASSERT_TRUE(both.completed()) << both.message;
  const std::vector<double> exact = relay_times(20.0);
  ASSERT_EQ(both.events.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_NEAR(both.events[i].time, exact[i], 1e-5) << i;
  for (const SimulateResult* result : {&alone, &both}) {
    const double t = result->time;
    EXPECT_NEAR(result->final.at("x"), std::cos(t), 1e-4);
    const std::vector<double> x = result->trajectory.column("x");
    const std::vector<double> y = result->trajectory.column("y");
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i] * x[i] + y[i] * y[i], 1.0, 1e-10) << i;
  }
}

// KM Example 16 with the energy as a variable of its own, and its parts as others: no writing may
// switch by the errors of integration.
TEST(FirstIntegralText, EnergyThatIsAVariableDoesNotFire) {
  const std::string parts =
      "Real kinetic = 0.5*p^2, potential = -cos(q), H = kinetic + potential; ";
  const std::string head = "model M Real q(start = 1, fixed = true), p(start = 0, fixed = true); " +
                           parts +
                           "Boolean damped(start = false, fixed = true); equation "
                           "der(q) = p; der(p) = -sin(q) - (if damped then p else 0); ";
  const std::string machine =
      "model M model A Real q(start = 1, fixed = true), p(start = 0, fixed = true); " + parts +
      "equation der(q) = p; der(p) = -sin(q); end A;"
      "model B Real q, p; equation der(q) = p; der(p) = -sin(q) - p; end B;"
      "A a; B b; equation initialState(a); transition(a, b, ";
  for (const std::string relation : {"H < -cos(1)", "H > -cos(1)"})
    for (const std::string& text :
         {head + "damped = " + relation + "; end M;",
          head + "when " + relation + " then damped = true; end when; end M;",
          machine + "a." + relation + "); end M;"})
      for (const double tolerance : {1e-4, 1e-6}) {
        const SimulateResult result =
            simulate(load(text), {.stop_time = 20.0, .tolerance = tolerance});
        ASSERT_TRUE(result.completed()) << result.message;
        EXPECT_TRUE(result.events.empty()) << tolerance << "\n" << text;
        const std::string prefix = text.starts_with(machine) ? "a." : "";
        const double p = result.final.at(prefix + "p");
        EXPECT_NEAR(0.5 * p * p - std::cos(result.final.at(prefix + "q")), -std::cos(1.0), 1e-8);
      }
}

// Newton's method converges at once where the solution is nearly straight, which says nothing of
// the circle beside it: its phase keeps to the tolerance. Exact: x = cos t.
TEST(FirstIntegralText, NewtonIsNotTrustedForAnEasyStepBefore) {
  for (const double tolerance : {1e-5, 1e-8}) {
    const SimulateResult result =
        simulate(load("model M Real z(start = 1, fixed = true); Real x(start = 1, fixed = true), "
                      "y(start = 0, fixed = true); equation der(x) = y; "
                      "der(y) = if x^2 + y^2 > 1 then -4*x else -x; "
                      "der(z) = -sign(z) + 1.5*sin(time); end M;"),
                 {.stop_time = 20.0, .tolerance = tolerance});
    ASSERT_TRUE(result.completed()) << result.message;
    EXPECT_NEAR(result.final.at("x"), std::cos(20.0), 10.0 * tolerance);
  }
}

// x = 2 t - t^2 touches 1 at t = 1 and turns, in steps that do not end there.
TEST(GrazingText, RelationThatTouchesZeroIsReported) {
  const SimulateResult result =
      simulate(load("model Touch Real x(start = 0, fixed = true), v(start = 2, fixed = true);"
                    "Integer n(start = 0, fixed = true); equation der(x) = v; der(v) = -2;"
                    "when x > 1 then n = pre(n) + 1; end when; end Touch;"),
               {.stop_time = 3.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(result.final.at("n"), 0.0);
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_EQ(result.events[0].kind, "grazing");
  EXPECT_NEAR(result.events[0].time, 1.0, 1e-6);
}

// w = 3 - t comes to 1 at t = 2, when the clock runs out as well; whoever has priority goes on.
TEST(TieText, TimeAndStateAtOneInstantAreATie) {
  for (const bool clock_first : {true, false}) {
    const SimulateResult result = simulate(
        load("model Tie model S Real w(start = 3); equation der(w) = -1; end S;"
             "model T Real w; equation der(w) = 0; end T; S s; T late; T met; equation "
             "initialState(s); transition(s, late, time >= 2, priority = " +
             std::string(clock_first ? "1" : "2") + "); transition(s, met, s.w <= 1, priority = " +
             std::string(clock_first ? "2" : "1") + "); end Tie;"),
        {.stop_time = 3.0});
    ASSERT_TRUE(result.completed()) << result.message;
    ASSERT_EQ(result.events.size(), 1U);
    EXPECT_EQ(result.events[0].to, clock_first ? "late" : "met");
    EXPECT_NE(std::find(result.events[0].tags.begin(), result.events[0].tags.end(), "tie"),
              result.events[0].tags.end());
  }
}

// The impulse that makes the rope taut exceeds the force it is said to hold, but the rope is at its
// length all the same: it becomes taut, 3 v1 + 5 v2 = 1 being conserved.
TEST(PinnacleText, CutsThatLeadBackAreNotMade) {
  const SimulateResult result = simulate(
      load("model Rope Real x1(start = 0, fixed = true), v1(start = 2, fixed = true);"
           "Real x2(start = 1, fixed = true), v2(start = -1, fixed = true), F;"
           "Boolean taut(start = false, fixed = true); equation der(x1) = v1; der(x2) = v2;"
           "3*der(v1) = F; 5*der(v2) = -F;"
           "taut = if pre(taut) then F > -10 else x1 - x2 >= 1;"
           "if taut then v1 = v2; else F = 0; end if; end Rope;"),
      {.stop_time = 3.0});
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_NEAR(result.events[0].time, 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(result.final.at("v1"), 0.125, 1e-12);
  EXPECT_NEAR(result.final.at("v2"), 0.125, 1e-12);
}

const std::string kDiode =
    "model Diode Real u, i, s; Boolean off = s < 0; equation u = if off then s else 0;"
    "i = if off then 0 else s; end Diode;";

// i' = 100 sin(10 t + phase) - 20 i from i at angle a to angle b: the particular solution is
// 4 sin - 2 cos.
double driven(double i, double a, double b) {
  const auto forced = [](double angle) { return 4.0 * std::sin(angle) - 2.0 * std::cos(angle); };
  return forced(b) + (i - forced(a)) * std::exp(-2.0 * (b - a));
}

// Two ideal diodes and an inductor whose current never ceases: u = max(U, 0) with
// U = 10 sin(10 t + phase). Where U is zero, both could conduct for that instant, at the start too.
TEST(DiodesText, CommutateWhereTheSourcePassesThroughZero) {
  const double half = std::acos(-1.0);
  for (const Method method : {Method::kRadau, Method::kBdf})
    for (const double phase : {0.0, 0.1}) {
      const SimulateResult result = simulate(
          load("model Freewheel " + kDiode + " parameter Real phase = " + std::to_string(phase) +
               "; Diode a, b; Real i(start = 0, fixed = true), u; equation 0.1*der(i) = u - 2*i;"
               "a.i + b.i = i; a.u = 10*sin(10*time + phase) - u; b.u = -u; end Freewheel;"),
          {.stop_time = 0.8, .tolerance = 1e-9, .method = method});
      ASSERT_TRUE(result.completed()) << phase << ": " << result.message;
      EXPECT_TRUE(result.warnings.empty());
      const double freewheeled = driven(0.0, phase, half) * std::exp(-2.0 * half);
      EXPECT_NEAR(result.final.at("i"), driven(freewheeled, 2.0 * half, 8.0 + phase), 1e-7);
      EXPECT_EQ(result.events.size(), 2U);
    }
}

// The same with a bridge: u = |U|, and two diodes take over from two others at one instant.
TEST(DiodesText, BridgesCommutate) {
  const double half = std::acos(-1.0);
  for (const double phase : {0.0, 0.1}) {
    const SimulateResult result = simulate(
        load("model Bridge " + kDiode + " parameter Real phase = " + std::to_string(phase) +
             "; Diode d[4]; Real i(start = 0, fixed = true), va, vb, vp, source; equation"
             " va - vb = 10*sin(10*time + phase); d[1].u = va - vp; d[2].u = vb - vp;"
             "d[3].u = -va; d[4].u = -vb; d[1].i = d[3].i + source; d[2].i + source = d[4].i;"
             "d[1].i + d[2].i = i; 0.1*der(i) = vp - 2*i; end Bridge;"),
        {.stop_time = 0.8, .tolerance = 1e-9});
    ASSERT_TRUE(result.completed()) << phase << ": " << result.message;
    EXPECT_TRUE(result.warnings.empty());
    double i = driven(driven(0.0, phase, half), 0.0, half);
    i = driven(i, 0.0, 8.0 + phase - 2.0 * half);
    EXPECT_NEAR(result.final.at("i"), i, 1e-7) << phase;
    EXPECT_EQ(result.events.size(), 2U);
  }
}

// A switch that shorts a source where its voltage is zero: nothing is wrong at that instant, and no
// current satisfies the equations afterwards.
TEST(DiodesText, ContradictionsThatBeginLaterEndTheRun) {
  const SimulateResult result = simulate(
      load("model Short Real i, U, x(start = 0, fixed = true); Boolean closed = time >= 1; equation"
           " U = sin(3.14159265358979323846*time); U = if closed then 0 else 5*i; der(x) = i;"
           "end Short;"),
      {.stop_time = 2.0});
  EXPECT_EQ(result.reason, StopReason::kSingular);
  // At that instant two equations for U agree, and none is left for the current.
  EXPECT_NE(result.message.find("nothing determines 'i'"), std::string::npos) << result.message;
  EXPECT_NE(result.message.find("just after, these equations contradict each other: equation 'U ="),
            std::string::npos)
      << result.message;
  EXPECT_NEAR(result.time, 1.0, 1e-2);
}

// Only F could move x, and no finite impulse of F does so at once: what was reached is kept.
TEST(TransferText, RefusedJumpsLeaveTheLastState) {
  const SimulateResult result =
      simulate(load("model Refused Real x(start = 0, fixed = true), v(start = 0, fixed = true), F;"
                    "equation der(x) = v; der(v) = F; if time < 0.5 then F = 1; else x = 3; end if;"
                    "end Refused;"),
               {.stop_time = 1.0});
  EXPECT_EQ(result.reason, StopReason::kInconsistent);
  EXPECT_NEAR(result.final.at("x"), 0.125, 1e-9);
  EXPECT_NEAR(result.final.at("v"), 0.5, 1e-9);
  EXPECT_EQ(result.final.at("F"), 1.0);
}

// x = sin(100 t) passes 0.5 and -0.5 all the time, and nothing follows from it.
TEST(LimitsText, EventsThatChangeNothingCountAsEvents) {
  const SimulateResult result = simulate(
      load("model Silent Real x(start = 0, fixed = true), y(start = 1, fixed = true);"
           "Real z(start = 0, fixed = true); equation der(x) = 100*y; der(y) = -100*x;"
           "der(z) = 1; when x > 0.5 and x < -0.5 then reinit(z, 0); end when; end Silent;"),
      {.stop_time = 10.0, .max_events = 50});
  EXPECT_EQ(result.reason, StopReason::kLimit);
  EXPECT_LT(result.time, 2.0);  // four in each 0.0628 s
  EXPECT_NE(result.message.find("'x"), std::string::npos) << result.message;
}

TEST(LimitsText, EventsCanBeInterrupted) {
  const std::atomic<bool> stop{true};
  const SimulateResult result =
      simulate(load("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;"),
               {.stop_time = 1.0, .stop_requested = &stop});
  EXPECT_EQ(result.reason, StopReason::kInterrupted);
  EXPECT_EQ(result.time, 0.0);
}

}  // namespace
}  // namespace saltus
