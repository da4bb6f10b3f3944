// The examples of library/Saltus/Examples against those written in C++ or exact values.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "examples/examples.h"
#include "model/build.h"
#include "modelica/library.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const std::string& name, SimulateOptions options = {}) {
  SimulateResult result = simulate(
      build(load_modelica("Saltus.Examples." + name,
                          {.libraries = {SALTUS_LIBRARY_FOLDER}, .use_modelica_path = false})),
      options);
  EXPECT_EQ(result.reason, StopReason::kStopTime) << name << ": " << result.message;
  return result;
}

SimulateResult run_bundled(const std::string& name, SimulateOptions options = {}) {
  for (const Example& example : examples())
    if (example.name == name) return simulate(example.build(), options);
  ADD_FAILURE() << "no example " << name;
  return {};
}

using Names = std::vector<std::pair<std::string, std::string>>;  // in text, in C++

bool at_an_event(const std::vector<double>& time, std::size_t i) {
  return (i > 0 && time[i - 1] == time[i]) || (i + 1 < time.size() && time[i + 1] == time[i]);
}

// At the points both have stored, left and right limits at events apart.
void expect_same(const SimulateResult& text, const SimulateResult& bundled, const Names& names,
                 double tolerance) {
  ASSERT_EQ(bundled.reason, StopReason::kStopTime) << bundled.message;
  for (const auto& [mine, theirs] : names) {
    const std::vector<double> x = text.trajectory.column(mine);
    const std::vector<double> y = bundled.trajectory.column(theirs);
    double size = 0.0;
    for (const double v : y) size = std::max(size, std::abs(v));
    std::size_t compared = 0;
    double worst = 0.0;
    double when = 0.0;
    for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
      const double s = text.trajectory.time[i];
      const double t = bundled.trajectory.time[j];
      if (s == t && !at_an_event(text.trajectory.time, i) &&
          !at_an_event(bundled.trajectory.time, j)) {
        ++compared;
        if (std::abs(x[i] - y[j]) > worst) {
          worst = std::abs(x[i] - y[j]);
          when = s;
        }
      }
      if (s <= t) ++i;
      if (t <= s) ++j;
    }
    EXPECT_GE(compared, 100U) << mine;
    EXPECT_LE(worst, tolerance * size) << mine << " at t = " << when;
  }
}

const SimulateOptions kFine{.tolerance = 1e-10};

TEST(ModelicaExamples, EveryOneIsDocumentedAndRunsAsItIs) {
  Library library;
  library.add_folder(SALTUS_LIBRARY_FOLDER);
  const ClassDefinition& package = library.get("Saltus.Examples");
  const std::vector<std::string> names = library.child_names(&package);
  EXPECT_GE(names.size(), 15U);
  for (const std::string& name : names) {
    const ClassDefinition* c = library.child(&package, name);
    ASSERT_NE(c, nullptr) << name;
    EXPECT_FALSE(c->comment.text.empty()) << name;
    if (name.starts_with("NAG")) continue;  // has tests of its own
    const SimulateResult result = run(name);
    EXPECT_EQ(result.time, result.trajectory.time.back()) << name;
  }
}

TEST(ModelicaExamples, SmoothOnesAreThoseInCpp) {
  expect_same(run("SliderCrank", kFine), run_bundled("slider_crank", kFine),
              {{"phi1", "phi1"}, {"w1", "w1"}, {"x3", "x3"}, {"pin_x", "pin_x"}}, 1e-6);
  const SimulateResult text = run("Robertson", kFine);
  const SimulateResult bundled = run_bundled("robertson", kFine);
  for (const char* name : {"y1", "y2", "y3"})
    EXPECT_NEAR(text.final.at(name) / bundled.final.at(name), 1.0, 1e-6) << name;
}

TEST(ModelicaExamples, SwitchedOnesAreThoseInCpp) {
  expect_same(run("Tanks", kFine), run_bundled("tanks", kFine), {{"h1", "h1"}, {"h2", "h2"}}, 1e-6);
  expect_same(run("Rectifier", kFine), run_bundled("rectifier", kFine), {{"i", "i"}, {"u", "u"}},
              1e-6);
  expect_same(run("IdealClutch", kFine), run_bundled("clutch", kFine),
              {{"w1", "w1"}, {"w2", "w2"}, {"tau", "tau"}}, 1e-8);
  const SimulateResult cylinder = run("Cylinder", kFine);
  expect_same(cylinder, run_bundled("cylinder", kFine), {{"v", "v"}, {"f_rel", "f_rel"}}, 1e-7);
  // The intake closes: the impulse of pressure opens relief before anything has moved, then piston
  // and oil get one speed.
  const double v = -0.5 * (1.0 - std::exp(-200.0 * 0.02));
  ASSERT_EQ(cylinder.events.size(), 4U);
  EXPECT_EQ(cylinder.events[0].time, 0.02);
  EXPECT_EQ(cylinder.events[0].ontology, "pinnacle");
  EXPECT_EQ(cylinder.events[0].kind, "instantaneous");
  EXPECT_EQ(cylinder.events[0].fraction, 0.0);
  EXPECT_TRUE(cylinder.events[0].jumps.empty());
  EXPECT_EQ(cylinder.events[1].time, 0.02);
  EXPECT_NEAR(cylinder.events[1].jumps.at("v").second, v * 5.0 / 6.0, 1e-8);
}

TEST(ModelicaExamples, SlidingOnesAreThoseInCpp) {
  expect_same(run("Evaporator", kFine), run_bundled("evaporator", kFine), {{"p", "p"}, {"L", "L"}},
              1e-7);
  expect_same(run("StickSlip", kFine), run_bundled("stick_slip", kFine), {{"x", "x"}, {"v", "v"}},
              1e-6);
  expect_same(run("Relays", kFine), run_bundled("relays", kFine), {{"x", "x"}, {"y", "y"}}, 1e-7);
}

TEST(ModelicaExamples, BallComesToRest) {
  const SimulateResult result = run("Ball", {.stop_time = 1.2, .tolerance = 1e-10});
  const double fall = std::sqrt(2.0 / 9.81);
  const double left = 1.2 - fall * (1.0 + 2.0 * 0.7);
  EXPECT_NEAR(result.final.at("h"), 0.49 * 9.81 * fall * left - 0.5 * 9.81 * left * left, 1e-8);
  const SimulateResult rest = run("Ball");
  EXPECT_NEAR(rest.final.at("h"), 0.0, 1e-8);
  EXPECT_NEAR(rest.final.at("v"), 0.0, 1e-8);
}

TEST(ModelicaExamples, PendulumChangesItsIndexTwice) {
  const SimulateResult text = run("Pendulum", kFine);
  const SimulateResult bundled = run_bundled("pendulum", kFine);
  ASSERT_EQ(text.modes.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(text.modes[k].name, bundled.modes[k].name);
    EXPECT_EQ(text.modes[k].mu, bundled.modes[k].mu);
  }
  std::vector<double> switches;
  for (const Event& event : text.events)
    if (event.from != event.to) switches.push_back(event.time);
  ASSERT_EQ(switches.size(), 2U);
  EXPECT_NEAR(switches[0], bundled.events[0].time, 1e-7);
  EXPECT_NEAR(switches[1], bundled.events[1].time, 1e-7);
  for (const char* name : {"x", "y", "vx", "vy", "u"})
    EXPECT_NEAR(text.final.at(std::string("steered.") + name), bundled.final.at(name), 1e-6)
        << name;
}

TEST(ModelicaExamples, ClutchesMoveAlike) {
  SimulateOptions options{.tolerance = 1e-9, .interval = 0.1};
  const SimulateResult automaton = run("AutomatonClutch", options);
  const Names speeds = {{"w1", "w1"}, {"w2", "w2"}};
  expect_same(run("TwoMassClutch", options), automaton, speeds, 1e-7);
  expect_same(run("PositionClutch", options), automaton, speeds, 1e-7);
}

// Together, 3 w = 3 sin(2 t), until the torque 4 cos(2 t) on the load ends at pi/4 with w = 1. Then
// the load keeps its speed, the driver has 3 sin(2 t) - 2 and comes back to it at 3 pi/4 + pi/2...
TEST(ModelicaExamples, FreeWheelOverruns) {
  const double pi = std::acos(-1.0);
  const SimulateResult result = run("FreeWheel", {.stop_time = 3.0, .tolerance = 1e-10});
  EXPECT_NEAR(result.final.at("w2"), 1.0, 1e-8);
  EXPECT_NEAR(result.final.at("w1"), 3.0 * std::sin(6.0) - 2.0, 1e-7);
  // 3 sin(2 t) - 2 = 1 again at t = 5 pi/4, where the torque is zero: they go on together and part
  // at once.
  const SimulateResult later = run("FreeWheel", {.stop_time = 6.0, .tolerance = 1e-10});
  EXPECT_NEAR(later.final.at("w2"), 1.0, 1e-6);
  EXPECT_NEAR(later.final.at("w1"), 3.0 * std::sin(12.0) - 2.0, 1e-5);
  ASSERT_GT(result.events.size(), 0U);
  double parted = 0.0;
  for (const Event& event : result.events)
    if (event.discrete.count("locked") == 1 && parted == 0.0) parted = event.time;
  EXPECT_NEAR(parted, pi / 4.0, 1e-7);
}

}  // namespace
}  // namespace saltus
