// What holds just after an instant. The values are exact: pieces with constant acceleration.

#include <gtest/gtest.h>

#include <cmath>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

HybridSystem load(const std::string& text) { return build(load_modelica_text(text)); }

constexpr double kTolerances[] = {1e-4, 1e-6, 1e-9};
constexpr Method kMethods[] = {Method::kRadau, Method::kBdf};

// The brake cannot hold the load: the speed passes zero at t = 0.2 with 5, then 3 rad/s2.
TEST(Instant, BrakeThatCannotHoldIsPassed) {
  const char* const writings[] = {
      "model M Real w(start = 1, fixed = true); equation der(w) = -4 - sign(w); end M;",
      "model M Real w(start = 1, fixed = true), tau; Boolean locked(start = false, fixed = true);"
      "Integer dir(start = 1, fixed = true); equation der(w) = -4 - tau;"
      "if locked then w = 0; else tau = dir; end if;"
      "when not pre(locked) and (pre(dir) > 0 and w < 0 or pre(dir) < 0 and w > 0) then"
      "  locked = true; dir = pre(dir);"
      "elsewhen pre(locked) and tau > 1 then locked = false; dir = 1;"
      "elsewhen pre(locked) and tau < -1 then locked = false; dir = -1; end when; end M;"};
  for (const char* text : writings)
    for (const Method method : kMethods)
      for (const double tolerance : kTolerances) {
        const SimulateResult result =
            simulate(load(text), {.stop_time = 2.0, .tolerance = tolerance, .method = method});
        ASSERT_TRUE(result.completed()) << text << result.message;
        EXPECT_NEAR(result.final.at("w"), -5.4, 10.0 * tolerance) << text;
      }
}

TEST(Instant, ClutchThatCannotHoldIsPassed) {
  for (const double tolerance : kTolerances) {
    const SimulateResult result =
        simulate(load("model M Real a(start = 0, fixed = true), b(start = 1, fixed = true);"
                      "equation der(a) = sign(b - a); der(b) = -4 - sign(b - a); end M;"),
                 {.stop_time = 2.0, .tolerance = tolerance});
    ASSERT_TRUE(result.completed()) << result.message;
    EXPECT_NEAR(result.final.at("b"), -16.0 / 3.0, 10.0 * tolerance);
  }
}

// The spring never carries more than 0.404, the brake holds 0.747.
TEST(Instant, FrictionAtRestHolds) {
  for (const double stop : {1.0, 1.7, 20.0})
    for (const double tolerance : kTolerances) {
      const SimulateResult result = simulate(
          load("model M Real w0(start = 0, fixed = true), w1(start = 0, fixed = true),"
               "ph(start = 0, fixed = true); equation der(ph) = w1 - w0;"
               "0.362*der(w0) = 0.202 + 34*ph; 2.151*der(w1) = -34*ph - 0.747*sign(w1); end M;"),
          {.stop_time = stop, .tolerance = tolerance});
      ASSERT_TRUE(result.completed()) << result.message;
      EXPECT_NEAR(result.final.at("w1"), 0.0, 1e-12);
    }
}

// The free wheel opens because of the torque that it has while the brake sticks.
TEST(Instant, ConditionsAreJudgedOnTheMotionThatIsHeld) {
  const SimulateResult result =
      simulate(load("model M Real w0(start = 1, fixed = true), w1(start = 1, fixed = true), tau0;"
                    "Boolean locked(start = true, fixed = true); equation"
                    " der(w0) = tau0 - 0.5;"
                    " der(w1) = -tau0 - 10*sign(w1) + (if time < 1 then -1 else 4*(time - 1));"
                    " if locked then w1 = w0; else tau0 = 0; end if;"
                    " when w1 - w0 < 0 then locked = true;"
                    " elsewhen pre(locked) and tau0 > 0 then locked = false; end when; end M;"),
               {.stop_time = 1.0, .tolerance = 1e-9});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(result.final.at("w0"), -19.0 / 46.0, 1e-8);
}

// What reads a held relation sees it as written at zero, and sees it once.
TEST(Instant, WhenBesideSignFiresOnce) {
  const SimulateResult result =
      simulate(load("model M Real w(start = 1, fixed = true); Integer n(start = 0, fixed = true);"
                    "equation der(w) = -2*sign(w) + 0.5*sin(5*time);"
                    "when w <= 0 then n = pre(n) + 1; end when; end M;"),
               {.stop_time = 10.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(result.final.at("n"), 1.0);
  EXPECT_NEAR(result.final.at("w"), 0.0, 1e-12);
}

// Without capacity a clutch has no answer: it neither holds nor fires.
TEST(Instant, FrictionWithoutCapacityIsFree) {
  const SimulateResult result = simulate(
      load("model M Real w(start = 1, fixed = true); equation"
           " der(w) = 1 - (if time < 1 then 3 elseif time < 2 then 0 else 3)*sign(w); end M;"),
      {.stop_time = 3.0, .tolerance = 1e-9});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(result.final.at("w"), 0.0, 1e-9);  // held from 0.5, free from 1, held from 2.5
  EXPECT_EQ(result.events.size(), 4U);
}

// Locks on acceleration level are chosen by terms, not by equations: a split of torques that two
// brakes on one shaft leave open is found for the terms in force. They let go together, where the
// torque reaches the sum of their capacities.
TEST(Instant, BrakesThatTermsLockShareTheTorque) {
  const SimulateResult result = simulate(
      load(
          " model M"
          " Real w(start = 0, fixed = true), a, s[2], tau[2];"
          " parameter Real cap[2] = {1, 2};"
          " Boolean forward[2](each start = false, each fixed = true), backward[2](each start = "
          "false, each fixed = true), locked[2];"
          " Integer mode[2](each start = 0, each fixed = true);"
          " equation"
          " der(w) = 4*time - tau[1] - tau[2];"
          " a = der(w);"
          " for k in 1:2 loop"
          " forward[k] = pre(mode[k]) == 0 and (s[k] > cap[k] or pre(forward[k]) and s[k] > "
          "cap[k]);"
          " backward[k] = pre(mode[k]) == 0 and (s[k] < -cap[k] or pre(backward[k]) and s[k] < "
          "-cap[k]);"
          " locked[k] = not (forward[k] or backward[k] or pre(mode[k]) == 1 or pre(mode[k]) == -1);"
          " a = if locked[k] then 0 elseif forward[k] or pre(mode[k]) == 1 then s[k] - cap[k] else "
          "s[k] + cap[k];"
          " tau[k] = if locked[k] then s[k] elseif forward[k] or pre(mode[k]) == 1 then cap[k] "
          "else -cap[k];"
          " mode[k] = if (pre(mode[k]) == 1 or forward[k]) and w > 0 then 1"
          " elseif (pre(mode[k]) == -1 or backward[k]) and w < 0 then -1 else 0;"
          " end for;"
          " end M;"),
      {.stop_time = 2.0, .tolerance = 1e-9});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(result.final.at("w"), 3.125, 1e-8);
  ASSERT_EQ(result.events.size(), 1U);
  EXPECT_NEAR(result.events.front().time, 0.75, 1e-9);
}

// The slip of a locked clutch is the difference of two multiples of one speed: what rounding leaves
// of it grows with that speed and is no event.
TEST(Instant, ASlipThatConstraintsKeepAtZeroDoesNotFire) {
  const SimulateResult result =
      simulate(load(" model M"
                    " Real w0(start = 0, fixed = true), w1, w2, tau0, tau1;"
                    " Boolean locked(start = true, fixed = true);"
                    " equation"
                    " w0 = -2.8184*w1;"
                    " 0.1794*der(w0) = -2.6337 - tau0 + tau1;"
                    " 2.3721*der(w1) = -2.8184*tau0;"
                    " 0.1766*der(w2) = 0.2127 - tau1;"
                    " if locked then w2 = w0; else tau1 = 3; end if;"
                    " when not pre(locked) and w2 - w0 < 0 then locked = true;"
                    " elsewhen pre(locked) and tau1 > 5 then locked = false; end when;"
                    " end M;"),
               {.stop_time = 2.0, .tolerance = 1e-9});
  ASSERT_TRUE(result.completed()) << result.message;
  const double inertia = 0.1794 + 0.1766 + 2.3721 / (2.8184 * 2.8184);
  EXPECT_NEAR(result.final.at("w2"), 2.0 * (0.2127 - 2.6337) / inertia, 1e-8);
  EXPECT_TRUE(result.events.empty());
}

// The clutch lets go alone: no value of `locked` agrees with the torque. What happens besides, in a
// when-clause of its own, happens as a whole: the reset reads what the clause has assigned.
TEST(Instant, WhatOneClauseAssignsAndResetsIsTakenTogether) {
  const SimulateResult result =
      simulate(load(" model M"
                    " Real w(start = 0, fixed = true), tau, load, x(start = 1, fixed = true);"
                    " Boolean locked(start = true, fixed = true);"
                    " discrete Real after(start = 0, fixed = true);"
                    " equation"
                    " der(x) = 0;"
                    " load = if time < 1 then 0 else 2;"
                    " der(w) = load - tau;"
                    " if locked then w = 0; else tau = 0.5; end if;"
                    " locked = if pre(locked) then not tau > 1 else false;"
                    " when time >= 1 then"
                    " after = 2*pre(x);"
                    " reinit(x, after);"
                    " end when;"
                    " end M;"),
               {.stop_time = 2.0, .tolerance = 1e-9});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(result.final.at("after"), 2.0);
  EXPECT_NEAR(result.final.at("x"), 2.0, 1e-12);
  EXPECT_NEAR(result.final.at("w"), 1.5, 1e-8);
  EXPECT_EQ(result.final.at("locked"), 0.0);
}

// A free wheel as an ideal diode in slip and torque. Speeds that are fixed apart make it start
// free, though its curve parameter starts at zero, which reads as locked; without slip the loads
// decide.
TEST(Instant, FixedSpeedsDecideHowAFreeWheelStarts) {
  struct Case {
    const char *w0, *load;
    double w0_end, w1_end;  // at t = 0.4
  };
  const Case cases[] = {{"-1", "4", -0.2, 0.0},            // overruns all the time
                        {"-0.2", "4", 0.4, 0.4},           // until t = 0.1, then locked: 4/3 rad/s2
                        {"0", "4", 1.6 / 3.0, 1.6 / 3.0},  // locked all the time
                        {"0", "-4", -0.8, 0.0}};           // without slip, overruns at once
  for (const Case& c : cases)
    for (const Method method : kMethods)
      for (const double tolerance : kTolerances) {
        const SimulateResult result =
            simulate(load("model M Real w0(start = " + std::string(c.w0) +
                          ", fixed = true), w1(start = 0, fixed = true), s, tau; equation"
                          " w1 - w0 = if s > 0 then s else 0; tau = if s > 0 then 0 else s;"
                          " 2*der(w0) = " +
                          c.load + " + tau; der(w1) = -tau; end M;"),
                     {.stop_time = 0.4, .tolerance = tolerance, .method = method});
        ASSERT_TRUE(result.completed()) << result.message;
        EXPECT_NEAR(result.final.at("w0"), c.w0_end, 10.0 * tolerance) << c.w0 << ' ' << c.load;
        EXPECT_NEAR(result.final.at("w1"), c.w1_end, 10.0 * tolerance) << c.w0 << ' ' << c.load;
      }
}

// No mode keeps both fixed speeds: that is said.
TEST(Instant, FixedStartValuesThatNoModeKeepsAreRefused) {
  const SimulateResult result =
      simulate(load("model M Real w0(start = 1, fixed = true), w1(start = 0, fixed = true), tau;"
                    "equation if time < 1 then w1 = w0; else tau = 0; end if;"
                    " 2*der(w0) = tau; der(w1) = -tau; end M;"),
               {.stop_time = 2.0});
  EXPECT_FALSE(result.completed());
  EXPECT_NE(result.message.find("fixed start value of 'w"), std::string::npos) << result.message;
}

// What is set is exact: a change below the tolerance is no error of the steps.
TEST(Instant, ASmallResetIsAnEvent) {
  for (const double tolerance : {1e-2, 1e-3, 1e-6}) {
    const SimulateResult result =
        simulate(load("model M Real x(start = 1, fixed = true); equation der(x) = 0;"
                      " when time > 0.5 then reinit(x, pre(x) + 1e-7); end when; end M;"),
                 {.stop_time = 1.0, .tolerance = tolerance});
    ASSERT_EQ(result.events.size(), 1U) << tolerance;
    EXPECT_EQ(result.events.front().jumps.at("x"), std::pair(1.0, 1.0 + 1e-7));
  }
}

// The guard that catches a string is its constraint. What the constraint keeps at zero is no first
// integral to be added: the projection then moved the mass along the circle.
TEST(Instant, AStringThatIsCaughtKeepsThePosition) {
  for (const double tolerance : kTolerances) {
    const SimulateResult result = simulate(
        load(
            "model M Real x(start = 0, fixed = true), y(start = -1), vx(start = 6.2, fixed = true),"
            " vy(start = 0), F(start = 10); Boolean taut(start = true, fixed = true); equation"
            " der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 9.81;"
            " if taut then x^2 + y^2 = 1; else F = 0; end if; when F < 0 then taut = false;"
            " elsewhen not pre(taut) and x^2 + y^2 > 1 then taut = true; end when; end M;"),
        {.stop_time = 2.0, .tolerance = tolerance});
    ASSERT_TRUE(result.completed()) << result.message;
    EXPECT_TRUE(result.warnings.empty());
    ASSERT_EQ(result.events.size(), 2U);
    const Event& caught = result.events.back();
    const auto moved = [&](const char* name) {
      const auto found = caught.jumps.find(name);
      return found == caught.jumps.end() ? 0.0 : found->second.second - found->second.first;
    };
    EXPECT_NEAR(moved("x"), 0.0, 100.0 * tolerance);
    EXPECT_NEAR(moved("y"), 0.0, 100.0 * tolerance);
    // The radial speed is lost, the other is kept. Free flight began where the string went slack,
    // at the height where 6.2^2 - 2 g (1 + y) = g y.
    const double height = (6.2 * 6.2 - 2.0 * 9.81) / (3.0 * 9.81);
    const double speed = std::sqrt(9.81 * height);
    const double across = std::sqrt(1.0 - height * height);
    // (across - speed*height*t)^2 + (height + speed*across*t - g t^2/2)^2 = 1 at t = 4 speed
    // across/g.
    const double flight = 4.0 * speed * across / 9.81;
    const double x = across - speed * height * flight;
    const double y = height + speed * across * flight - 0.5 * 9.81 * flight * flight;
    const double vx = -speed * height;
    const double vy = speed * across - 9.81 * flight;
    EXPECT_NEAR(x * x + y * y, 1.0, 1e-12);
    EXPECT_NEAR(caught.jumps.at("vx").second, vx - (x * vx + y * vy) * x, 1e3 * tolerance);
    EXPECT_NEAR(caught.jumps.at("vy").second, vy - (x * vx + y * vy) * y, 1e3 * tolerance);
  }
}

// A brake holds what a slipping clutch of the same capacity pulls at: its torque is at its bound
// all the time, and along a step the torque is interpolated while the bound is not. Steps were cut
// until the crossing of the slip beside it was missed. 3 w10' = cap until w10 = 0, where both stay.
TEST(Instant, AnEqualBoundDoesNotHideACrossing) {
  for (const double tolerance : kTolerances) {
    const SimulateResult result = simulate(
        load("model M Real w7(start = 0, fixed = true), w10(start = -0.15, fixed = true);"
             " Real tau9, tau10, cap = 2 + sin(5*time + 17);"
             " Boolean locked9(start = false, fixed = true), locked10(start = true, fixed = true);"
             " Integer dir10(start = -1, fixed = true); equation"
             " if locked9 then w10 - w7 = 0; else tau9 = -cap; end if;"
             " when not pre(locked9) and w10 - w7 > 0 then locked9 = true;"
             " elsewhen pre(locked9) and abs(tau9) > cap then locked9 = false; end when;"
             " if locked10 then w7 = 0; else tau10 = dir10*cap; end if;"
             " when not pre(locked10) and (pre(dir10) > 0 and w7 < 0 or pre(dir10) < 0 and w7 > 0)"
             " then locked10 = true; dir10 = pre(dir10);"
             " elsewhen pre(locked10) and tau10 > cap then locked10 = false; dir10 = 1;"
             " elsewhen pre(locked10) and tau10 < -cap then locked10 = false; dir10 = -1;"
             " end when; 4*der(w7) = tau9 - tau10; 3*der(w10) = -tau9; end M;"),
        {.stop_time = 1.0, .tolerance = tolerance});
    ASSERT_TRUE(result.completed()) << result.message;
    EXPECT_NEAR(result.final.at("w10"), 0.0, 10.0 * tolerance);
    EXPECT_NEAR(result.final.at("w7"), 0.0, 10.0 * tolerance);
    EXPECT_LT(result.statistics.steps, 500U);
  }
}

}  // namespace
}  // namespace saltus
