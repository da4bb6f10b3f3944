// The gearbox NAG (examples/nag): switch times against equations of motion in minimal coordinates
// (problems/reference/nag.cc), transmissions against HM Table 3, constraints on all levels from
// the stored values by hand.

#include "examples/nag/nag.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "examples/nag/nag_table.h"
#include "expr/graph.h"
#include "nag_testing.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const HybridSystem& nag, double tolerance, Method method = Method::kRadau,
                   std::optional<double> interval = {},
                   Formulation formulation = Formulation::kReduced) {
  SimulateOptions options;
  options.formulation = formulation;
  options.tolerance = tolerance;
  options.method = method;
  options.interval = interval;
  return simulate(nag, options);
}

class Transmission : public testing::TestWithParam<std::pair<const char*, double>> {};

// HM Table 3; the ratios of the reverse gears follow from those of the first three.
TEST_P(Transmission, IsThatOfTheGear) {
  const auto [gear, ratio] = GetParam();
  NagOptions options;
  options.gear = gear;
  options.shifts.clear();
  if (ratio < 0.0) {
    options.load[0].torque *= -1.0;    // against the motion
    options.engine[0].torque = 100.0;  // more than b3 can hold would make it slip
  }
  options.stop_time = 2.0;
  const SimulateResult result = run(make_nag(options), 1e-6);
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_TRUE(switch_times(result).empty());
  const double measured = result.final.at("omega3") / result.final.at("omega6");
  EXPECT_NEAR(measured / ratio, 1.0, 1e-3);
  // The rigid gearbox has the same.
  const auto speeds = nag_speeds(find_nag_gear(gear).locked);
  EXPECT_NEAR(1.0 / speeds[kNagOutput] / ratio, 1.0, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Nag, Transmission,
                         testing::Values(std::pair("1", 3.59), std::pair("2", 2.19),
                                         std::pair("3", 1.41), std::pair("4", 1.0),
                                         std::pair("5", 0.83), std::pair("R1", -3.119),
                                         std::pair("R2", -1.902)),
                         [](const auto& gear) { return "Gear" + std::string(gear.param.first); });

TEST(Nag, LeavesTheOutputAtRestInNeutral) {
  NagOptions options;
  options.gear = "N";
  options.shifts.clear();
  options.load.clear();
  options.stop_time = 1.0;
  const SimulateResult result = run(make_nag(options), 1e-6);
  ASSERT_TRUE(result.completed()) << result.message;
  // Only inertia couples them: the vehicle takes a thousandth of the speed.
  EXPECT_GT(result.final.at("omega3"), 100.0);
  EXPECT_LT(std::abs(result.final.at("omega6")), 2e-3 * result.final.at("omega3"));
}

TEST(Nag, SwitchesAsTheMinimalEquationsDo) {
  const SimulateResult result = run(make_nag(), 1e-6);
  expect_switches(result, 1e-6);
  for (const Event& event : result.events) EXPECT_EQ(event.kind, "switch") << event.time;
}

TEST(Nag, SwitchTimesConverge) { expect_switches(run(make_nag(), 1e-10), 1e-9); }

TEST(Nag, BdfFindsTheSameSwitches) {
  const SimulateResult result = run(make_nag(), 1e-10, Method::kBdf);
  expect_switches(result, 1e-9);
  // Its first steps after a switch are so short that time hardly resolves them; the guard that has
  // just switched is near zero there and must not be taken for a contact.
  for (const Event& event : result.events) EXPECT_EQ(event.kind, "switch") << event.time;
}

TEST(Nag, BdfSwitchesAsTheMinimalEquationsDo) {
  for (const Formulation f : {Formulation::kReduced, Formulation::kAcceleration,
                              Formulation::kBaumgarte, Formulation::kMinimal})
    expect_switches(run(make_nag(), 1e-6, Method::kBdf, {}, f), 1e-6);
}

TEST(Nag, GoesThroughTheSameModesAtALooseTolerance) {
  for (const double tolerance : {3e-2, 5e-3, 1e-3, 1e-4, 1e-5})
    EXPECT_EQ(sequence(run(make_nag(), tolerance)), kSequence) << tolerance;
}

struct Form {
  Formulation formulation;
  // With three elements locked, and with two (HM A.3; d and a follow from 21 bodies and 9 nodes):
  std::size_t unknowns[2], equations[2];
  int mu, d[2], a[2], v[2];
};
class Formulations : public testing::TestWithParam<Form> {
 protected:
  static SimulateResult run_at(double tolerance) {
    return run(make_nag(), tolerance, Method::kRadau, {}, GetParam().formulation);
  }
};

TEST_P(Formulations, HaveTheDimensionsOfThePaper) {
  const Form& form = GetParam();
  const SystemAnalysis analysis = analyse_modes(make_nag(), 100, form.formulation);
  int found = 0;
  for (const ModeAnalysis& mode : analysis.modes) {
    const bool in_run = std::ranges::find(kSequence, mode.name) != kSequence.end();
    if (!in_run) continue;
    ++found;
    const int k = mode.name.size() == 3 ? 1 : 0;
    EXPECT_EQ(mode.unknowns, form.unknowns[k]) << mode.name;
    EXPECT_EQ(mode.equations, form.equations[k]) << mode.name;
    EXPECT_EQ(mode.values.mu, form.mu) << mode.name;
    EXPECT_EQ(mode.values.d, form.d[k]) << mode.name;
    EXPECT_EQ(mode.values.a, form.a[k]) << mode.name;
    EXPECT_EQ(mode.values.v, form.v[k]) << mode.name;
    EXPECT_EQ(mode.values.u, 0) << mode.name;
  }
  EXPECT_EQ(found, 6);
}

TEST_P(Formulations, GoThroughTheSameModesAtALooseTolerance) {
  const SimulateResult result = run_at(1e-3);
  EXPECT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(sequence(result), kSequence);
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
}

TEST_P(Formulations, SwitchAtTheSameTimes) {
  expect_switches(run_at(1e-6), 1e-6);
  // Two such runs differ by 2e-9 s at most.
  if (GetParam().formulation != Formulation::kPosition) expect_switches(run_at(1e-10), 1e-9);
}

// The overdetermined form has no hidden constraints; that 18 of its equations are redundant shows
// after one differentiation, which is what mu = 1 says.
INSTANTIATE_TEST_SUITE_P(
    Nag, Formulations,
    testing::Values(
        Form{Formulation::kPosition, {69, 68}, {69, 68}, 2, {33, 35}, {36, 33}, {0, 0}},
        Form{Formulation::kVelocity, {69, 68}, {69, 68}, 1, {42, 43}, {27, 25}, {0, 0}},
        Form{Formulation::kAcceleration, {69, 68}, {69, 68}, 0, {51, 51}, {18, 17}, {0, 0}},
        Form{Formulation::kBaumgarte, {69, 68}, {69, 68}, 0, {51, 51}, {18, 17}, {0, 0}},
        Form{Formulation::kGgl, {78, 76}, {78, 76}, 1, {33, 35}, {45, 41}, {0, 0}},
        Form{Formulation::kOverdetermined, {69, 68}, {87, 84}, 1, {33, 35}, {36, 33}, {18, 16}},
        Form{Formulation::kMinimal, {78, 75}, {78, 75}, 0, {33, 35}, {45, 40}, {0, 0}}),
    [](const auto& form) { return std::string(to_string(form.param.formulation)); });

// The restart after a switch finds its step size at once: transients decay within 10 ms.
TEST(Nag, SpendsNoMoreThanAFifthOfItsStepsAfterSwitches) {
  for (const Method method : {Method::kRadau, Method::kBdf}) {
    const SimulateResult result = run(make_nag(), 1e-6, method, 0.0);
    ASSERT_TRUE(result.completed()) << result.message;
    std::size_t steps = 0, after_switch = 0;
    double previous = -1.0;
    for (const double t : result.trajectory.time) {
      if (t == previous) continue;  // both sides of a switch
      previous = t;
      ++steps;
      for (const double s : switch_times(result)) after_switch += t > s && t <= s + 0.01 ? 1 : 0;
    }
    EXPECT_GE(steps, result.statistics.steps);
    EXPECT_LE(static_cast<double>(after_switch), 0.2 * static_cast<double>(steps));
  }
}

// HM: 69 unknowns, 33 degrees of freedom with three elements locked; an element that slips has one
// multiplier less and one degree of freedom more, in angle and in speed.
TEST(Nag, HasTheCharacteristicValuesOfTheConstrainedMotion) {
  const SimulateResult result = run(make_nag(), 1e-4);
  ASSERT_EQ(result.modes.size(), 6u);
  for (const ModeReport& mode : result.modes) {
    const bool slips = mode.name.size() == 3;
    EXPECT_EQ(mode.unknowns, slips ? 68u : 69u) << mode.name;
    EXPECT_EQ(mode.mu, 2) << mode.name;
    EXPECT_EQ(mode.d, slips ? 35 : 33) << mode.name;
    EXPECT_EQ(mode.a, slips ? 33 : 36) << mode.name;
    EXPECT_EQ(mode.v, 0) << mode.name;
    EXPECT_EQ(mode.u, 0) << mode.name;
  }
}

// Sums of terms that must vanish: residual against the sum of magnitudes.
struct Sum {
  double value = 0.0;
  double size = 0.0;
  void add(double term) {
    value += term;
    size += std::abs(term);
  }
};

TEST(Nag, SatisfiesConstraintsOnAllLevelsAtEveryStepAndSwitch) {
  const SimulateResult result = run(make_nag(), 1e-6, Method::kRadau, 0.0);
  ASSERT_TRUE(result.completed()) << result.message;
  const Trajectory& points = result.trajectory;
  double worst[3] = {0.0, 0.0, 0.0};
  for (std::size_t p = 0; p < points.size(); ++p) {
    const std::string& mode = points.mode_names[points.mode[p].index()];
    const std::string low = mode.substr(1, 1);
    NagElements locked = find_nag_gear(low).locked;
    if (mode.size() == 3) locked &= find_nag_gear(mode.substr(2)).locked;
    for (int level = 0; level < 3; ++level) {
      const auto of = [&](int body) {
        const std::string number = std::to_string(body);
        const std::string name = level == 0   ? "phi" + number
                                 : level == 1 ? "omega" + number
                                              : "der(omega" + number + ")";
        return body == 0 ? 0.0 : points.value(p, points.find(name));
      };
      const auto check = [&](const Sum& sum) {
        // Where all terms are rounding of nothing (at rest, or a brake's own speed) there is
        // nothing to compare with.
        if (sum.size > 1e-9) worst[level] = std::max(worst[level], std::abs(sum.value) / sum.size);
      };
      for (const NagSet& set : nag_sets()) {
        Sum carrier;
        carrier.add((1.0 + set.ratio) * of(set.sun + 1));
        carrier.add(-of(set.sun));
        carrier.add(-set.ratio * of(set.sun + 2));
        check(carrier);
        Sum planets;
        planets.add((set.ratio - 1.0) * of(set.sun + 3));
        planets.add(of(set.sun));
        planets.add(-set.ratio * of(set.sun + 2));
        check(planets);
      }
      for (std::size_t e = 0; e < nag_elements().size(); ++e) {
        if ((locked >> e & 1U) == 0) continue;
        const NagElement& element = nag_elements()[e];
        Sum lock;
        lock.add(of(element.a));
        lock.add(-of(element.b));
        if (level == 0)
          lock.add(-points.value(p, points.find("Delta_" + std::string(element.name))));
        check(lock);
      }
    }
  }
  for (int level = 0; level < 3; ++level) EXPECT_LE(worst[level], 1e-8) << "level " << level;
}

TEST(Nag, FollowsAWeakClutchThatSlipsAndLocksAgain) {
  HybridSystem nag = make_nag();
  nag.set("C1_k1", 400.0);
  const SimulateResult result = run(nag, 1e-6);
  ASSERT_TRUE(result.completed()) << result.message;
  // It slips while k3 synchronizes, too.
  const std::vector<std::string> expected = {"M1", "M12", "M2", "M23", "M3", "M32",
                                             "b2", "M23", "M2", "M21", "M2"};
  ASSERT_EQ(sequence(result), expected);
  const std::vector<double> reference = {2.0792558797259, 2.1646859508007, 4.0827244095643,
                                         4.1531635727087, 6.0492598984096, 6.0937247680169,
                                         6.1009823767695, 6.1011771624723, 6.1069993219226,
                                         6.1212125719258};  // problems/reference/nag.cc
  const std::vector<double> times = switch_times(result);
  for (std::size_t k = 0; k < times.size(); ++k) EXPECT_NEAR(times[k], reference[k], 1e-6) << k;
}

// Held by f1 alone, first gear transmits drive torque; while coasting the sun of P1 overruns.
TEST(Nag, OverrunsTheFreeWheelWhileCoasting) {
  const SimulateResult result = run(make_nag_coast(), 1e-6);
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_LT(result.events.size(), 100u);
  const Trajectory& points = result.trajectory;
  const std::vector<double> sun = points.column("omega22");
  const std::vector<double> in = points.column("omega3");
  const std::vector<double> out = points.column("omega6");
  double most = 0.0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    EXPECT_GE(sun[p], -1e-6) << points.time[p];
    most = std::max(most, sun[p]);
    if (points.time[p] > 1.0 && points.time[p] < 1.5) {
      EXPECT_NEAR(in[p] / out[p], 3.59, 0.02) << points.time[p];
    }
  }
  EXPECT_GT(most, 1.0);
  EXPECT_NEAR(result.final.at("omega3") / result.final.at("omega6"), 3.59, 0.0036);
}

// Every run makes variables of its own in the graph it shares with the system.
TEST(Nag, RunningAgainAddsNothingToTheSystem) {
  const HybridSystem nag = make_nag();
  const SimulateResult first = run(nag, 1e-6);
  const std::size_t variables = nag.graph().variable_count();
  const SimulateResult second = run(nag, 1e-6);
  EXPECT_EQ(nag.graph().variable_count(), variables);
  EXPECT_EQ(first.final, second.final);
}

TEST(Nag, NamesAGearThatDoesNotExist) {
  NagOptions options;
  options.shifts = {{2.0, "7"}};
  try {
    make_nag(options);
    FAIL() << "gear 7 was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1, 2, 3, 4, 5, N, R1, R2"), std::string::npos);
  }
}

}  // namespace
}  // namespace saltus
