// Dry friction: the acceleration-level writing of the Modelica Standard Library and equations that
// change their kind must move alike.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "friction_model.h"
#include "model/build.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

enum class Writing { kLibrary, kVelocity, kPosition };

struct Drive {
  Expr torque(const HybridSystem& s) const {
    return sinusoidal ? 3.0 + 12.0 * sin(2.0 * s.time()) : Expr(3.0);
  }
  bool sinusoidal = false;
};

HybridSystem two_masses(Writing writing, const Drive& drive) {
  FlatModel model("clutch");
  HybridSystem& s = model.system;
  const Expr phi1 = s.variable("phi1", {.fixed = true});
  const Expr phi2 = s.variable("phi2", {.fixed = true});
  const Expr w1 = s.variable("w1", {.start = 10.0, .fixed = true});
  const Expr w2 = s.variable("w2", {.fixed = true});
  const Expr tau = writing == Writing::kLibrary
                       ? add_friction(model, "clutch", w1, w2, 4.0)
                       : add_structural_clutch(model, "clutch", phi1, phi2, w1, w2, 4.0,
                                               writing == Writing::kVelocity ? Locking::kVelocity
                                                                             : Locking::kPosition);
  model.equations.push_back(Equation(der(phi1) == w1));
  model.equations.push_back(Equation(der(phi2) == w2));
  model.equations.push_back(Equation(der(w1) == drive.torque(s) - tau));
  model.equations.push_back(Equation(2.0 * der(w2) == tau));
  return build(model);
}

// Without those that last for the width of the band around zero only.
std::vector<double> modes_of(const SimulateResult& result) {
  const std::vector<double> modes = result.trajectory.column("clutch.mode");
  const std::vector<double>& time = result.trajectory.time;
  std::vector<double> sequence;
  std::size_t since = 0;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    if (modes[i] != modes[since]) since = i;
    const bool lasts = time[i] - time[since] > 1e-6;
    if (lasts && (sequence.empty() || sequence.back() != modes[i])) sequence.push_back(modes[i]);
  }
  return sequence;
}

class Clutch : public testing::TestWithParam<Writing> {};

// Exact: w1 = 10 - t, w2 = 2 t until both are 20/3 at 10/3 s; then (1 + 2) w' = 3.
TEST_P(Clutch, LocksWhereTheSlipComesToZero) {
  const SimulateResult result =
      simulate(two_masses(GetParam(), {}), {.stop_time = 5.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const double locked = 10.0 / 3.0;
  const double w = 20.0 / 3.0 + (5.0 - locked);
  EXPECT_NEAR(result.final.at("w1"), w, 1e-8);
  EXPECT_NEAR(result.final.at("w2"), w, 1e-8);
  EXPECT_NEAR(result.final.at("clutch.tau"), 2.0, 1e-8);
  EXPECT_EQ(result.final.at("clutch.mode"), 0.0);
  bool found = false;
  for (const Event& event : result.events)
    found = found || (std::abs(event.time - locked) < 1e-9 && event.discrete.count("clutch.mode"));
  EXPECT_TRUE(found);
}

// Against the library's writing: the same motion and the same sequence of modes.
TEST_P(Clutch, MovesLikeTheLibraryUnderAnAlternatingTorque) {
  const SimulateOptions options{.stop_time = 10.0, .tolerance = 1e-9, .interval = 0.05};
  const SimulateResult reference = simulate(two_masses(Writing::kLibrary, {true}), options);
  const SimulateResult result = simulate(two_masses(GetParam(), {true}), options);
  ASSERT_EQ(reference.reason, StopReason::kStopTime) << reference.message;
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_GE(modes_of(result).size(), 4u);
  EXPECT_EQ(modes_of(result), modes_of(reference));
  for (const char* name : {"w1", "w2", "phi1", "phi2"})
    EXPECT_NEAR(result.final.at(name), reference.final.at(name), 1e-6) << name;
}

std::string name_of(const testing::TestParamInfo<Writing>& info) {
  return info.param == Writing::kLibrary    ? "Library"
         : info.param == Writing::kVelocity ? "Velocity"
                                            : "Position";
}
INSTANTIATE_TEST_SUITE_P(Writings, Clutch,
                         testing::Values(Writing::kLibrary, Writing::kVelocity, Writing::kPosition),
                         name_of);

TEST(ClutchModes, IndexDependsOnTheWayOfLocking) {
  const SimulateOptions options{.stop_time = 5.0};
  const SimulateResult library = simulate(two_masses(Writing::kLibrary, {}), options);
  ASSERT_EQ(library.modes.size(), 1u);
  const SimulateResult velocity = simulate(two_masses(Writing::kVelocity, {}), options);
  ASSERT_EQ(velocity.modes.size(), 2u);
  EXPECT_EQ(velocity.modes[0].mu, 0);
  EXPECT_EQ(velocity.modes[1].mu, 1);
  EXPECT_EQ(velocity.modes[1].d, 3);
  const SimulateResult position = simulate(two_masses(Writing::kPosition, {}), options);
  ASSERT_EQ(position.modes.size(), 2u);
  EXPECT_EQ(position.modes[1].mu, 2);
  EXPECT_EQ(position.modes[1].d, 2);
}

HybridSystem row_of_clutches(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(0.0, 1.0);
  FlatModel model("row");
  HybridSystem& s = model.system;
  std::vector<Expr> w;
  double start = 0.0;
  std::vector<Expr> torque;
  for (int i = 0; i <= count; ++i) {
    const std::string k = std::to_string(i);
    // Every third starts at the speed of its neighbour: clutches that stick from the beginning.
    if (i % 3 != 1) start = 4.0 * any(random) - 2.0;
    w.push_back(s.variable("w" + k, {.start = start, .fixed = true}));
    torque.push_back(6.0 * (any(random) - 0.5) +
                     8.0 * (any(random) - 0.5) * sin((1.0 + 4.0 * any(random)) * s.time()));
  }
  for (int i = 0; i < count; ++i) {
    const Expr tau = add_friction(model, "c" + std::to_string(i), w[i], w[i + 1],
                                  0.2 + 3.0 * any(random), 1.0 + 0.3 * any(random));
    torque[i] -= tau;
    torque[i + 1] += tau;
  }
  for (int i = 0; i <= count; ++i)
    model.equations.push_back(Equation((0.5 + any(random)) * der(w[i]) == torque[i] - 0.1 * w[i]));
  return build(model);
}

// There is always a configuration: the accelerations minimise a convex function.
TEST(ClutchRow, TwentyClutchesReachTheirStopTimeForTwoHundredSeeds) {
  std::size_t events = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const SimulateResult result = simulate(row_of_clutches(20, seed), {.stop_time = 2.0});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << "seed " << seed << ": " << result.message;
    ASSERT_EQ(result.modes.size(), 1u);
    events += result.events.size();
  }
  EXPECT_GT(events, 2000u);
}

}  // namespace
}  // namespace saltus
