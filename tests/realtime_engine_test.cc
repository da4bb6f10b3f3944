#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "realtime/pwa_spring.h"
#include "realtime/realtime_run.h"
#include "simulate/simulate.h"

// The fixed-step engine on Modelica text, against solutions written down by hand.

namespace saltus {
namespace {

HybridSystem from_text(const std::string& text) { return build(load_modelica_text(text)); }

HybridSystem from_library(const std::string& name) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  return build(load_modelica(name, options));
}

HybridSystem from_library_text(const std::string& text) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  return build(load_modelica_text(text, {}, options));
}

RealtimeResult run(const HybridSystem& system, RealtimeOptions engine) {
  RealtimeRunOptions options;
  options.engine = std::move(engine);
  return run_realtime(system, options);
}

std::string refusal(const HybridSystem& system, const RealtimeOptions& engine) {
  try {
    run(system, engine);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

// Rebounds at a constant acceleration a: each lasts e times the one before and rises by e^2. The
// last ones, here down to 1e-10 m, are far below the band around zero of a relation of 1 m.
TEST(Realtime, ReboundsOfAnyHeightAreSeen) {
  const HybridSystem system = from_text(R"(model Rattle
  parameter Real a = 80, e = 0.5, wall = 1;
  Real x(start = 0.99, fixed = true), v(start = 0, fixed = true);
  Integer impacts(start = 0, fixed = true);
  Boolean rest(start = false, fixed = true);
equation
  der(x) = v;
  der(v) = if rest then 0 else a;
  when x > wall then
    rest = e*pre(v) < 1e-4;
    reinit(v, if e*pre(v) < 1e-4 then 0 else -e*pre(v));
    impacts = pre(impacts) + 1;
  end when;
end Rattle;)");
  for (const double step : {0.0001, 0.001, 0.003}) {
    const RealtimeResult result = run(system, {.step = step, .stop_time = 0.3, .max_events = 40});
    EXPECT_TRUE(result.run.completed());
    // e^n sqrt(2 a 0.01) < 1e-4
    EXPECT_EQ(result.run.final.at("impacts"), 14.0) << step;
    EXPECT_NEAR(result.run.final.at("x"), 1.0, 1e-9) << step;
    EXPECT_EQ(result.run.final.at("v"), 0.0) << step;
  }
}

// Two inertias, 1 and 2 kg m2, capacity 2 N m, slip 6 rad/s: it ends after 6 / (2/1 + 2/2) = 2 s at
// 12/3 rad/s, whatever the step.
TEST(Realtime, LocksAtTheExactTimeInsideOfASample) {
  const HybridSystem system = from_library("Saltus.Drivetrain.Examples.Engagement");
  for (const double step : {0.01, 0.13, 0.7}) {
    const RealtimeResult result = run(system, {.step = step, .stop_time = 4.0});
    EXPECT_TRUE(result.run.completed());
    ASSERT_EQ(result.run.events.size(), 1U) << step;
    EXPECT_NEAR(result.run.events[0].time, 2.0, 1e-6) << step;
    EXPECT_NEAR(result.run.final.at("left.w"), 4.0, 1e-9) << step;
    EXPECT_NEAR(result.run.final.at("right.w"), 4.0, 1e-9) << step;
    EXPECT_EQ(result.affine, result.prepared);
  }
}

// Three inertias of 1, 2, 3 at 6, 0, 1 rad/s are locked in a cycle at 1 s: one lock is redundant,
// and they share 9 kg m2/s.
TEST(Realtime, LocksInACycleShareTheMomentum) {
  const RealtimeResult result = run(from_text(R"(model Cycle
  Real a(start = 6, fixed = true), b(start = 0, fixed = true), c(start = 1, fixed = true);
  Real ab, bc, ca;
  Boolean locked = time > 1;
equation
  der(a) = -ab + ca;
  2*der(b) = ab - bc;
  3*der(c) = bc - ca;
  if locked then a = b; b = c; c = a; else ab = 0; bc = 0; ca = 0; end if;
end Cycle;)"),
                                    {.step = 0.013, .stop_time = 2.0});
  EXPECT_TRUE(result.run.completed()) << result.run.message;
  for (const char* w : {"a", "b", "c"}) EXPECT_NEAR(result.run.final.at(w), 1.5, 1e-12) << w;
}

// w1' = -3 - w1, w2' = 1.5 from 5 and 0: w1 = 8 e^-t - 3, so the slip ends where that is 1.5 t.
const char* const kCurved = R"(model Curved
  Real w1(start = 5, fixed = true), w2(start = 0, fixed = true), tau;
  Boolean locked(start = false, fixed = true);
equation
  der(w1) = -w1 - tau;
  2*der(w2) = tau;
  locked = pre(locked) or w1 - w2 < 0;
  if locked then w1 = w2; else tau = 3; end if;
end Curved;)";

double curved_lock_time() {
  double low = 0.0, high = 2.0;  // 8 e^-t - 3 - 1.5 t
  for (int k = 0; k < 200; ++k) {
    const double t = 0.5 * (low + high);
    (8.0 * std::exp(-t) - 3.0 - 1.5 * t > 0.0 ? low : high) = t;
  }
  return low;
}

double lock_time(const HybridSystem& system, double step, StepAdjustment adjustment) {
  const RealtimeResult result =
      run(system, {.step = step, .stop_time = 2.0, .adjustment = adjustment});
  return result.run.events.empty() ? NAN : result.run.events[0].time;
}

TEST(Realtime, LockTimesAreExactByPartialStepsAndOfOrderTwoByDelta) {
  const HybridSystem system = from_text(kCurved);
  const double exact = curved_lock_time();
  const auto largest = [&](double step, StepAdjustment adjustment) {
    double error = 0.0;  // over places of the event in its sample
    for (int k = 0; k < 12; ++k)
      error =
          std::max(error, std::abs(lock_time(system, step * (1.0 + 0.04 * k), adjustment) - exact));
    return error;
  };
  EXPECT_LT(largest(0.1, StepAdjustment::kExact), 1e-7);
  const double coarse = largest(0.2, StepAdjustment::kDelta);
  const double fine = largest(0.05, StepAdjustment::kDelta);
  EXPECT_NEAR(std::log(coarse / fine) / std::log(4.0), 2.0, 0.35);
  EXPECT_GT(largest(0.1, StepAdjustment::kNone), 0.01);
}

// RE Table 5 at T = 0.1 s, against the closed formulas of the spring by itself.
TEST(Realtime, PiecewiseSpringIsExactAtTheSamples) {
  const HybridSystem system = from_text(R"(model Spring
  Real x(start = 0.3, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -0.5*v - (if x > 0.15 then 20*x - 2.985 elseif x < -0.15 then 20*x + 2.985 else 0.1*x);
end Spring;)");
  const RealtimeResult result = run(system, {.step = 0.1, .stop_time = 10.0});
  SpringStepper spring({.damping = 0.5, .force = {{0.0, 0.15}, {0.1, 20.0}}, .x = 0.3},
                       SpringMethod::kSwitchingExact, {.step = 0.1});
  const std::vector<SpringPoint> points = run_spring(spring, 10.0, {});
  const std::size_t x = result.run.trajectory.find("x");
  ASSERT_EQ(result.run.trajectory.size(), points.size());
  for (std::size_t k = 0; k < points.size(); ++k)
    EXPECT_NEAR(result.run.trajectory.value(k, x), points[k].x, 1e-9) << points[k].t;
}

TEST(Realtime, NonlinearModesHaveOrderTwo) {
  const HybridSystem system = from_text(R"(model Swing
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -sin(x);
end Swing;)");
  const SimulateResult reference = simulate(system, {.stop_time = 2.0, .tolerance = 1e-12});
  const auto error = [&](double step) {
    return std::abs(run(system, {.step = step, .stop_time = 2.0}).run.final.at("x") -
                    reference.final.at("x"));
  };
  EXPECT_NEAR(std::log2(error(0.02) / error(0.01)), 2.0, 0.3);
}

TEST(Realtime, StiffNonlinearModesAreStable) {
  const HybridSystem system = from_text(R"(model Stiff
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -1e7*(x^3 - y - 1);
  der(y) = x - y;
end Stiff;)");
  const RealtimeResult result = run(system, {.step = 0.05, .stop_time = 10.0});
  // At rest: y = x and x^3 = x + 1.
  EXPECT_NEAR(result.run.final.at("x"), 1.3247179572447460, 1e-3);
}

// OT: one round a sample. The automaton needs a few samples more and then does the same.
TEST(Realtime, PropagatedRoundsFollowFullOnesWithinSamples) {
  const HybridSystem system = from_library("Saltus.Examples.AutomatonClutch");
  const RealtimeResult full = run(system, {.step = 1e-3, .stop_time = 6.0});
  const RealtimeResult propagated = run(system, {.step = 1e-3,
                                                 .stop_time = 6.0,
                                                 .adjustment = StepAdjustment::kNone,
                                                 .rounds = InstantRounds::kPropagated});
  EXPECT_NEAR(full.run.final.at("w1"), propagated.run.final.at("w1"), 0.05);
  const SimulateResult offline = simulate(system, {.stop_time = 6.0, .tolerance = 1e-9});
  EXPECT_NEAR(full.run.final.at("w1"), offline.final.at("w1"), 1e-4);
  std::size_t apart = 0;  // samples with another state
  const std::size_t s = full.run.trajectory.find("state");
  for (std::size_t k = 0; k < full.run.trajectory.size(); ++k)
    if (full.run.trajectory.value(k, s) != propagated.run.trajectory.value(k, s)) ++apart;
  EXPECT_GT(apart, 0U);
  EXPECT_LT(apart, 60U);
}

// 5 N m against a brake of 2 N m on 1 kg m2: w' = 7 from -3 up to zero at 3/7 s, and w' = 3 after
// it. The brake locks at zero, cannot hold, and slips on in the other direction at the same
// instant.
TEST(Realtime, SlipPassesThroughZeroWhereTheTorqueIsBeyondTheCapacity) {
  const HybridSystem system = from_library_text(R"(model Through
  import Saltus.Drivetrain.*;
  ConstantTorque torque(tau = 5);
  Inertia inertia(J = 1, phi(start = 0, fixed = true), w(start = -3, fixed = true));
  Brake brake(c_f = 2);
equation
  brake.pressure = 1;
  connect(inertia.flange_b, brake.flange_a);
  connect(torque.flange, brake.flange_b);
end Through;)");
  for (const double step : {0.01, 0.1}) {
    const RealtimeResult result = run(system, {.step = step, .stop_time = 1.0});
    EXPECT_TRUE(result.run.completed());
    EXPECT_NEAR(result.run.final.at("inertia.w"), 12.0 / 7.0, 1e-8) << step;
  }
}

// 1 kg m2 against a brake of 1 N m with 0.5 t N m and w = 0.5 at the start: w = 0.5 - t + t^2/4
// until it locks at 2 - sqrt(2) s, and w = (t - 2)^2/4 from 2 s on. A lock that keeps accelerations
// only leaves a slip of the last digits, which must not count as slip in the other direction when
// it lets go.
TEST(Realtime, ALockThatKeepsAccelerationsLetsGoOnce) {
  for (const char* level : {"position", "velocity", "acceleration"}) {
    const HybridSystem system = from_library_text(std::string(R"(model LetsGo
  import Saltus.Drivetrain.*;
  Torque torque;
  Inertia inertia(J = 1, phi(start = 0, fixed = true), w(start = 0.5, fixed = true));
  Brake brake(c_f = 1, level = Types.LockingLevel.)") +
                                                  level + R"();
equation
  torque.tau = 0.5*time;
  brake.pressure = 1;
  connect(torque.flange, inertia.flange_a);
  connect(inertia.flange_b, brake.flange_a);
end LetsGo;)");
    for (const double step : {1e-3, 0.07}) {
      const RealtimeResult result = run(system, {.step = step, .stop_time = 4.2});
      EXPECT_TRUE(result.run.completed());
      ASSERT_EQ(result.run.events.size(), 2U) << level << step;
      EXPECT_NEAR(result.run.events[0].time, 2.0 - std::sqrt(2.0), 1e-8);
      EXPECT_NEAR(result.run.events[1].time, 2.0, 1e-6);
      const double slipped = result.run.time - 2.0;
      EXPECT_NEAR(result.run.final.at("inertia.w"), 0.25 * slipped * slipped, 1e-8);
    }
  }
}

// The ratios follow from the kinematics of the two wheel sets, written down by hand.
TEST(Realtime, FourSpeedGearboxRunsThroughAllGears) {
  const HybridSystem system = from_library("Saltus.FourSpeed.FullLoad");
  for (const double step : {1e-3, 1e-2}) {
    const RealtimeResult result = run(system, {.step = step, .stop_time = 20.0});
    EXPECT_TRUE(result.run.completed()) << step;
    const Trajectory& points = result.run.trajectory;
    const auto ratio = [&](double t) {
      const auto k = static_cast<std::size_t>(std::lround(t / step));
      return points.value(k, points.find("gearbox.turbine.w")) /
             points.value(k, points.find("gearbox.ring.w"));
    };
    EXPECT_NEAR(ratio(4.5), 2.8, 1e-6) << step;
    EXPECT_NEAR(ratio(8.5), 2.8 * 1.8 / 2.8, 1e-6) << step;
    EXPECT_NEAR(ratio(13.5), 2.8 - 1.8 * 3.0 / 4.0, 1e-6) << step;
    EXPECT_NEAR(ratio(19.5), 1.0, 1e-6) << step;
  }
}

// Slip that has just begun leaves zero by less than the last digits of a partial step. Each event
// is still located once.
TEST(Realtime, SlipThatBeginsIsOneEvent) {
  const RealtimeResult result =
      run(from_library("Saltus.Examples.AutomatonClutch"), {.step = 2e-3, .stop_time = 20.0});
  EXPECT_EQ(result.left, 0U);
  for (const Event& event : result.run.events) EXPECT_FALSE(event.causes.empty()) << event.time;
}

// The ratios follow from the slips that the locked elements make zero: 5 in the first gear, 2 in
// the second. The offline engine has the same equations, and nothing else in common.
TEST(Realtime, HybridDrivetrainShiftsAsOffline) {
  const HybridSystem system = from_library("Saltus.FutureHybrid.Reduced");
  RealtimeRunOptions options;
  options.engine = {.step = 1e-3, .stop_time = 8.0};
  options.compare_offline = true;
  const RealtimeResult result = run_realtime(system, options);
  EXPECT_EQ(result.states, 6U);
  const Trajectory& points = result.run.trajectory;
  const auto at = [&](double t, const char* name) {
    return points.value(static_cast<std::size_t>(std::lround(t / 1e-3)), points.find(name));
  };
  EXPECT_NEAR(at(2.5, "w_m") / at(2.5, "w_f"), 5.0, 1e-9);
  EXPECT_NEAR(at(4.5, "w_m") / at(4.5, "w_f"), 2.0, 1e-9);
  EXPECT_NEAR(at(7.5, "w_e") / at(7.5, "w_m"), 1.0, 1e-9);
  for (const Deviation& d : result.deviations) {
    if (!d.variable.starts_with("w_") && d.variable != "dphi") continue;
    EXPECT_LT(d.relative, 1e-6) << d.variable;
  }
}

TEST(Realtime, TheSameStepsGiveTheSameNumbersToTheLastBit) {
  for (const char* name : {"Saltus.Examples.TwoMassClutch", "Saltus.Drivetrain.Examples.Discs"}) {
    const HybridSystem system = from_library(name);
    RealtimeEngine engine(system, {.step = 0.01, .stop_time = 4.0});
    std::vector<double> first, row(engine.output_names().size());
    for (int pass = 0; pass < 2; ++pass) {
      engine.restart();
      std::size_t place = 0;
      for (int k = 0; k < 400; ++k) {
        engine.step();
        engine.read_outputs(row.data());
        for (const double value : row) {
          if (pass == 0)
            first.push_back(value);
          else
            ASSERT_EQ(first[place], value) << name << " step " << k;
          ++place;
        }
      }
    }
  }
}

TEST(Realtime, MoreEventsThanASampleMayHaveAreLeftToTheNext) {
  const HybridSystem system = from_text(R"(model Crossings
  Real x(start = 0.05, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  n = (if x > 0.1 then 1 else 0) + (if x > 0.2 then 1 else 0) + (if x > 0.3 then 1 else 0);
end Crossings;)");
  const RealtimeResult one = run(system, {.step = 1.0, .stop_time = 3.0, .max_events = 1});
  EXPECT_GT(one.left, 0U);
  EXPECT_EQ(one.run.final.at("n"), 3.0);
  const RealtimeResult all = run(system, {.step = 1.0, .stop_time = 3.0});
  EXPECT_EQ(all.left, 0U);
  ASSERT_EQ(all.run.events.size(), 3U);
  EXPECT_NEAR(all.run.events[2].time, 0.25, 1e-6);
}

// Two shafts of 1 kg m2, each with a brake (0.4 and 1 N m), and a clutch of 0.8 N m between them:
// three locks for two speeds. With tau = t on the first shaft nothing can move below 0.4 + 0.8 N m,
// however the locks share it; then the first shaft slips, w = (t - 1.2)^2/2, and from 2 s on, with
// tau = 4 - t, w = 0.32 + 2.8(t - 2) - (t^2 - 4)/2, until it is zero at 2.8 + sqrt(1.28) s.
TEST(Realtime, LocksThatFormACycleHoldWhatTheyCanTogether) {
  for (const char* levels : {"position velocity acceleration", "velocity velocity velocity",
                             "acceleration acceleration acceleration",
                             "acceleration position velocity", "position position position"}) {
    std::istringstream list(levels);
    std::string first, second, third;
    list >> first >> second >> third;
    std::string text = R"(model Cycle
  import Saltus.Drivetrain.*;
  Torque torque;
  Inertia i1(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
  Inertia i2(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
  Brake b1(c_f = 0.4, startLocked = true, level = Types.LockingLevel.)";
    text += first;
    text += R"();
  Brake b2(c_f = 1, startLocked = true, level = Types.LockingLevel.)";
    text += second;
    text += R"();
  Clutch clutch(c_f = 0.8, startLocked = true, level = Types.LockingLevel.)";
    text += third;
    text += R"();
equation
  torque.tau = if time < 2 then time else 4 - time;
  b1.pressure = 1;
  b2.pressure = 1;
  clutch.pressure = 1;
  connect(torque.flange, i1.flange_a);
  connect(i1.flange_b, b1.flange_a);
  connect(i1.flange_b, clutch.flange_a);
  connect(clutch.flange_b, i2.flange_a);
  connect(i2.flange_b, b2.flange_a);
end Cycle;)";
    const HybridSystem system = from_library_text(text);
    for (const double step : {1e-3, 0.03}) {
      const RealtimeResult result = run(system, {.step = step, .stop_time = 4.2});
      EXPECT_TRUE(result.run.completed()) << levels;
      const Trajectory& points = result.run.trajectory;
      for (std::size_t k = 0; k < points.size(); ++k) {
        const double t = points.time[k];
        const double w = t < 1.2                     ? 0.0
                         : t < 2.0                   ? 0.5 * (t - 1.2) * (t - 1.2)
                         : t < 2.8 + std::sqrt(1.28) ? 0.32 + 2.8 * (t - 2) - 0.5 * (t * t - 4)
                                                     : 0.0;
        ASSERT_NEAR(points.value(k, points.find("i1.w")), w, 2e-6) << levels << " at " << t;
        ASSERT_NEAR(points.value(k, points.find("i2.w")), 0.0, 2e-6) << levels << " at " << t;
      }
    }
  }
}

// Inertias 1 and 2 that a lock without bound joins share their momentum: (1 * 10 + 2 * 0) / 3.
TEST(Realtime, ALockWithoutBoundSharesMomentum) {
  const HybridSystem system = from_text(R"(model Join
  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), rel, a, tau;
equation
  rel = w1 - w2;
  a = der(rel);
  der(w1) = -tau;
  2*der(w2) = tau;
  if time > 0.105 then
    rel = 0;
  else
    tau = 0.1*a;
  end if;
end Join;)");
  for (const StepAdjustment adjustment : {StepAdjustment::kExact, StepAdjustment::kNone}) {
    const RealtimeResult result =
        run(system, {.step = 0.01, .stop_time = 0.5, .adjustment = adjustment});
    EXPECT_TRUE(result.run.completed());
    EXPECT_NEAR(result.run.final.at("w1"), 10.0 / 3.0, 1e-9);
    EXPECT_NEAR(result.run.final.at("w2"), 10.0 / 3.0, 1e-9);
  }
}

// Reiter 3.1.3 and 3.1.4, offline and with a fixed step. x and v of the first after 40 s: by the
// classical Runge-Kutta method in steps of 0.2 ms; where the second comes to rest: by its exact
// first half swing in steps of 10 us.
TEST(Realtime, DampersOfReiterFollowIndependentIntegration) {
  const HybridSystem pieces = from_library("Saltus.Examples.NonlinearDamper");
  const SimulateResult offline = simulate(pieces, {.tolerance = 1e-8});
  const RealtimeResult fixed = run(pieces, {.step = 0.01});
  for (const auto& final : {offline.final, fixed.run.final}) {
    EXPECT_NEAR(final.at("x"), 0.0604228145, 1e-6);
    EXPECT_NEAR(final.at("v"), -0.0967613867, 1e-6);
  }
  const SimulateResult rest =
      simulate(from_library("Saltus.Examples.FrictionDamper"), {.tolerance = 1e-8});
  ASSERT_TRUE(rest.completed());
  EXPECT_NEAR(rest.final.at("x"), 0.04002, 2e-5);
  EXPECT_EQ(rest.final.at("v"), 0.0);
}

// Reiter 4.5: the shaft never twists beyond its clearance, elastic impacts rattle and plastic ones
// do not, and the inertias that meet end at one speed.
TEST(Realtime, AClearanceInADrivetrainIsNeverPassed) {
  for (const auto& [number, largest, impacts] :
       {std::tuple{"1", 1e-4, 26.0}, {"2", 1e-4, 2.0}, {"3", 2e-3, 2.0}})
    for (const double step : {0.001, 0.004}) {
      const RealtimeResult result =
          run(from_library(std::string("Saltus.FutureHybrid.ClearanceCases.Case") + number),
              {.step = step, .stop_time = 4.0, .max_events = 100});
      EXPECT_TRUE(result.run.completed());
      const Trajectory& points = result.run.trajectory;
      for (std::size_t k = 0; k < points.size(); ++k)
        ASSERT_LT(points.value(k, points.find("dphi_z")), largest + 1e-9) << number << ' ' << k;
      // How many elastic ones there are before rattling is too slow to tell hangs on the last
      // digits.
      if (impacts > 2.0)
        EXPECT_GT(result.run.final.at("impacts"), 10.0) << step;
      else
        EXPECT_EQ(result.run.final.at("impacts"), impacts) << number << ' ' << step;
      EXPECT_NEAR(result.run.final.at("w_w"), result.run.final.at("w_z"), 1e-6) << number;
    }
}

// What reinit does not set follows as offline, whatever the states are: w2 is kept where w1 is set
// (its torque is finite); both give way where their difference is set.
TEST(Realtime, WhatReinitLeavesAloneFollowsAsOffline) {
  for (const std::string set :
       {"reinit(w1, pre(w1) + 1)", "reinit(w2, 0.5*pre(w2))", "reinit(rel, -pre(rel))"}) {
    std::string text = R"(model Slip
  Real w1(start = 3, fixed = true), w2(start = 0, fixed = true), rel, a, tau;
  Real phi(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  rel = w1 - w2;
  a = der(rel);
  der(w1) = -tau;
  2*der(w2) = tau;
  tau = 0.3*rel + 0.01*a;
  der(phi) = rel;
  when phi > 1.5*(pre(n) + 1) then
    REINIT;
    n = pre(n) + 1;
  end when;
end Slip;)";
    text.replace(text.find("REINIT"), 6, set);
    const HybridSystem system = from_text(text);
    const SimulateResult offline = simulate(system, {.stop_time = 3.0, .tolerance = 1e-9});
    const RealtimeResult result = run(system, {.step = 0.01, .stop_time = 3.0});
    ASSERT_TRUE(offline.completed() && result.run.completed()) << set;
    EXPECT_GT(result.run.final.at("n"), 0.0);
    for (const std::string name : {"w1", "w2", "rel", "phi", "n"})
      EXPECT_NEAR(result.run.final.at(name), offline.final.at(name), 1e-6) << set << name;
  }
}

TEST(Realtime, WhatCannotBePreparedIsRefusedByName) {
  // A speed that would have to jump by an impulse that friction would have to bear.
  const std::string jump = refusal(from_text(R"(model Struck
  Real w1(start = 3, fixed = true), w2(start = 0, fixed = true), tau;
  Boolean locked(start = false, fixed = true), passed;
equation
  der(w1) = -tau;
  2*der(w2) = tau;
  passed = tau > 5;
  locked = time > 0.1 and not pre(passed);
  if locked then
    w1 = w2;
  else
    tau = 0;
  end if;
end Struck;)"),
                                   {.step = 0.01});
  EXPECT_NE(jump.find("impulse"), std::string::npos) << jump;
  // Chattering that remembers: it crossed zero to and fro some 20 times and then left it.
  const std::string storm = refusal(from_text(R"(model Flip
  Real x(start = 1, fixed = true);
  Boolean up(start = false, fixed = true);
equation
  der(x) = if up then 1 else -2;
  when x < 0 then
    up = true;
  elsewhen x > 0 then
    up = false;
  end when;
end Flip;)"),
                                    {.step = 0.01, .stop_time = 3.0});
  EXPECT_NE(storm.find("keeps changing"), std::string::npos) << storm;
  const std::string late = refusal(from_text(R"(model Late
  Real x(start = 1, fixed = true);
equation
  der(x) = -delay(x, 0.5);
end Late;)"),
                                   {.step = 0.01});
  EXPECT_NE(late.find("delay"), std::string::npos) << late;
  const HybridSystem clutch = from_library("Saltus.Drivetrain.Examples.Engagement");
  EXPECT_NE(refusal(clutch, {.step = 0.01, .prepare_seconds = 1e-9}).find("took longer"),
            std::string::npos);
  EXPECT_NE(refusal(clutch, {.step = 0.0}), "");
  EXPECT_NE(refusal(clutch, {.step = 1e-12}), "");
}

}  // namespace
}  // namespace saltus
