#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/build.h"
#include "modelica/library.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

// The examples of library/Saltus/Drivetrain against solutions written down by hand.

namespace saltus {
namespace {

using Overrides = std::vector<std::pair<std::string, std::string>>;

SimulateResult run(const std::string& example, double stop_time, const Overrides& overrides = {},
                   double tolerance = 1e-9) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}, .overrides = overrides};
  options.use_modelica_path = false;
  SimulateResult result =
      simulate(build(load_modelica("Saltus.Drivetrain.Examples." + example, options)),
               {.stop_time = stop_time, .tolerance = tolerance});
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  return result;
}

// Values at `stop_time`; the tolerance of the run is 1e-9, errors grow over the run.
void expect_values(const SimulateResult& result, const std::map<std::string, double>& expected) {
  for (const auto& [name, value] : expected) {
    const auto found = result.final.find(name);
    if (found == result.final.end()) {
      ADD_FAILURE() << "no variable " << name;
      continue;
    }
    EXPECT_NEAR(found->second, value, 1e-6 * (1 + std::abs(value))) << name;
  }
}

TEST(Drivetrain, EveryClassIsDocumented) {
  Library library;
  library.add_folder(SALTUS_LIBRARY_FOLDER);
  const ClassDefinition& drivetrain = library.get("Saltus.Drivetrain");
  const std::vector<std::string> names = library.child_names(&drivetrain);
  EXPECT_GE(names.size(), 27U);
  for (const std::string& name : names) {
    const ClassDefinition* c = library.child(&drivetrain, name);
    ASSERT_NE(c, nullptr) << name;
    EXPECT_FALSE(c->comment.text.empty()) << name;
    if (c->kind == ClassKind::kPackage) continue;
    ASSERT_NE(c->annotation(), nullptr) << name;
    EXPECT_NE(c->annotation()->find("Documentation"), nullptr) << name;
  }
}

TEST(Drivetrain, OscillatorDecays) {
  // phi'' + 0.4 phi' + 4 phi = 0 from (1, 0)
  const double t = 5;
  const double s = 0.2;
  const double o = std::sqrt(4 - s * s);
  expect_values(run("Oscillator", t),
                {{"inertia.phi", std::exp(-s * t) * (std::cos(o * t) + s / o * std::sin(o * t))},
                 {"inertia.w", -std::exp(-s * t) * 4 / o * std::sin(o * t)}});
}

TEST(Drivetrain, SpringsAtANodeAddTheirCompliances) {
  const double t = 3;
  expect_values(run("Node", t),
                {{"inertia.phi", std::cos(2 * t)}, {"node.phi", std::cos(2 * t) / 2}});
}

TEST(Drivetrain, PiecewiseSpringHasAClearance) {
  // Half a second to the knot, half a period of 2 pi/3 on the spring, and back.
  const double back = 0.5 + std::numbers::pi / 3 + 0.5;
  expect_values(run("Clearance", back), {{"inertia.phi", 0.0}, {"inertia.w", -2.0}});
  expect_values(run("Clearance", 0.5 + std::numbers::pi / 6),
                {{"inertia.phi", 1.0 + 2.0 / 3.0}, {"inertia.w", 0.0}});
}

TEST(Drivetrain, PiecewiseDamperChangesItsSlope) {
  // w > 1: w' = -(1 + 2 (w - 1)); below: w' = -w
  const double to_one = std::log(5.0) / 2;
  expect_values(run("TwoSlopes", 2.0), {{"inertia.w", std::exp(to_one - 2.0)}});
  expect_values(run("TwoSlopes", 0.5), {{"inertia.w", 0.5 + 2.5 * std::exp(-1.0)}});
}

TEST(Drivetrain, GearReflectsInertia) {
  const double a = 6.0 / (1.0 + 8.0 / 4.0);
  expect_values(run("Gear", 1.0), {{"fast.w", a}, {"slow.w", a / 2}, {"fast.phi", a / 2}});
}

TEST(Drivetrain, PlanetaryGearsReflectInertia) {
  const double ideal = 10.0 / (1.0 + 36.0 / 9.0);
  expect_values(run("PlanetaryWithoutInertia", 1.0),
                {{"input_shaft.w", ideal}, {"output_shaft.w", ideal / 3}});
  // Ring fixed: w_c = w_s r_s/(2 r_c), w_p = -w_s r_s/(2 r_p), with r_c = 2, r_p = 1.
  const double a = 10.0 / (1.0 + 16.0 / 16.0 + 4.0 / 4.0);
  expect_values(run("PlanetaryWithInertia", 1.0),
                {{"gear.w_s", a}, {"gear.w_c", a / 4}, {"gear.w_p", -a / 2}, {"gear.w_r", 0.0}});
}

TEST(Drivetrain, RavigneauxTurnsItsSunsAgainstEachOther) {
  // Carrier fixed: w_1 = 3 w_r, w_2 = -2 w_r.
  const double a = 14.0 / (1.0 + 9.0 * 4.0 / 9.0 + 18.0 / 9.0);
  expect_values(run("TwoSuns", 1.0),
                {{"small.w", a}, {"large.w", -2 * a / 3}, {"output_shaft.w", a / 3}});
}

TEST(Drivetrain, ClutchLocksAtEveryLevel) {
  // Slip 6 - 2 t (1 + 1/2) ends at t = 2 with the common speed 4.
  for (const std::string level : {"position", "velocity", "acceleration"}) {
    const SimulateResult result =
        run("Engagement", 4.0, {{"clutch.level", "Saltus.Drivetrain.Types.LockingLevel." + level}});
    expect_values(result, {{"left.w", 4.0},
                           {"right.w", 4.0},
                           {"left.phi", 4.0 + 8.0},
                           {"right.phi", 12.0 - 2.0 + 8.0},
                           {"clutch.mode", 0.0},
                           {"clutch.tau", 0.0}});
    if (level == "acceleration") continue;
    // a_rel needs the second derivative of phi_rel = phi_b - phi_a, slipping and locked. Two angles
    // and two speeds are free while slipping; locking takes the slip, on position level the angle
    // between the shafts as well.
    ASSERT_EQ(result.modes.size(), 2U) << level;
    EXPECT_EQ(result.modes[0].mu, 2) << level;
    EXPECT_EQ(result.modes[1].mu, 2) << level;
    EXPECT_EQ(result.modes[0].d, 4) << level;
    EXPECT_EQ(result.modes[1].d, level == "position" ? 2 : 3) << level;
  }
}

TEST(Drivetrain, ClutchFollowsItsLaw) {
  const double viscous = 6.0 * std::exp(-2.0 * 1.5 * 0.5);
  expect_values(
      run("Engagement", 0.5, {{"clutch.law", "Saltus.Drivetrain.Types.FrictionLaw.viscous"}}),
      {{"clutch.w_rel", viscous}, {"left.w", (12.0 - 2.0 * viscous) / 3.0}});
  // Momentum is conserved, and the torque is that of the formula.
  const SimulateResult smooth =
      run("Engagement", 0.5, {{"clutch.law", "Saltus.Drivetrain.Types.FrictionLaw.smooth"}});
  const double x = 10.0 * smooth.final.at("clutch.w_rel");
  expect_values(smooth, {{"clutch.tau",
                          2.0 * (2.0 * x / (1.0 + x * x) + 2.0 / std::numbers::pi * std::atan(x))},
                         {"left.w", 12.0 - 2.0 * smooth.final.at("right.w")}});
}

TEST(Drivetrain, ClutchBreaksAwayAtItsStaticCapacity) {
  // Locked, tau = 4 t/2 up to 3 at t = 1.5; then 2.
  const SimulateResult result = run("BreakAway", 2.0);
  ASSERT_FALSE(result.events.empty());
  EXPECT_NEAR(result.events.front().time, 1.5, 1e-8);
  // Until then both have w = t^2; later left' = 2, right' = 4 t - 2.
  expect_values(
      result,
      {{"left.w", 2.25 + 1.0}, {"right.w", 2.25 + 2.0 * (4.0 - 2.25) - 1.0}, {"clutch.mode", 1.0}});
}

TEST(Drivetrain, BrakeStopsAndHolds) {
  // w = 3 - t/2 until t = 6, phi = 9; then the brake holds against the torque 1.
  expect_values(run("Braking", 8.0),
                {{"inertia.w", 0.0}, {"inertia.phi", 9.0}, {"brake.tau", 1.0}});
}

TEST(Drivetrain, DiscsBecomeOneBody) {
  // Momentum is conserved; the pressure rises from 0.5 s to 1.5 s with a mean of one half.
  const double common = 6.0 * 2.005 / 3.01;
  expect_values(run("Discs", 5.0), {{"left.w", common},
                                    {"clutch.disc_a.w", common},
                                    {"clutch.disc_b.w", common},
                                    {"right.w", common},
                                    {"clutch.clutch.mode", 0.0},
                                    {"course.y", 1.0},
                                    {"x", 5.0 - 0.5 - 0.5}});
}

// The pressure leaves zero like t^3: between the nodes of a step the polynomial that stands for it
// is on the other side of zero.
TEST(Drivetrain, DiscsCloseAtEveryTolerance) {
  const double common = 6.0 * 2.005 / 3.01;
  for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
    const SimulateResult result = run("Discs", 5.0, {}, tolerance);
    EXPECT_NEAR(result.final.at("right.w"), common, 100.0 * tolerance * common) << tolerance;
    EXPECT_EQ(result.final.at("clutch.clutch.mode"), 0.0) << tolerance;
    EXPECT_LE(result.events.size(), 4u) << tolerance;
  }
}

TEST(Drivetrain, DiscBrakeStopsItsDisc) {
  const SimulateResult result = run("DiscStops", 6.0);
  expect_values(result, {{"inertia.w", 0.0},
                         {"brake.disc.w", 0.0},
                         {"brake.shaft.tau", 0.0},
                         {"brake.brake.mode", 0.0},
                         {"inertia.phi", result.final.at("brake.disc.phi")}});
  // No torque is larger than 2*(1 + 2/pi*pi/2) = 4, so it takes more than 3*2.004/4 s.
  EXPECT_GT(result.events.back().time, 3.0 * 2.004 / 4.0);
}

// Every component and block is part of an example, directly or inside another.
TEST(Drivetrain, EveryClassHasAnExample) {
  Library library;
  library.add_folder(SALTUS_LIBRARY_FOLDER);
  const ClassDefinition& drivetrain = library.get("Saltus.Drivetrain");
  std::set<std::string> used;
  for (const auto& example : library.get("Saltus.Drivetrain.Examples").classes)
    for (const Component& component : example->components) used.insert(component.type.text());
  for (const std::string& name : library.child_names(&drivetrain)) {
    const ClassKind kind = library.child(&drivetrain, name)->kind;
    if (kind == ClassKind::kPackage || kind == ClassKind::kType) continue;
    EXPECT_TRUE(used.contains(name)) << name;
  }
}

TEST(Drivetrain, FreeWheelOverruns) {
  expect_values(run("Overrun", 2.0),
                {{"driver.w", 1.0 - 1.0}, {"load.w", 1.0}, {"wheel.tau", 0.0}});
  expect_values(run("Overrun", 0.5), {{"driver.w", 0.5}, {"load.w", 0.5}, {"wheel.tau", -2.0}});
}

TEST(Drivetrain, OneWayClutchOverrunsAgainstFriction) {
  // Locked, the load would need -2 * 2/3 from t = 1 on: beyond the capacity 0.5.
  expect_values(run("OverrunAgainstFriction", 2.0),
                {{"driver.w", 1.0 - 1.5}, {"load.w", 1.0 - 0.25}});
}

TEST(Drivetrain, BacklashKeepsMomentumAndRestitution) {
  // Meets at t = 0.5 with slip 1, at -0.5 again 2 s later.
  expect_values(run("Rattle", 1.5), {{"backlash.w_rel", -0.5},
                                     {"backlash.w_a", 0.75 + 0.375},
                                     {"backlash.w_b", 0.75 - 0.125},
                                     {"backlash.phi_rel", 0.0}});
  expect_values(run("Rattle", 3.0), {{"backlash.w_rel", 0.25}, {"backlash.phi_rel", -0.5 + 0.125}});
}

TEST(Drivetrain, BacklashStaysInContactWhileItIsPressed) {
  // Plastic impact at t = 1, common acceleration 1/2 until the torque turns at t = 2, then free.
  expect_values(run("Reversal", 1.5), {{"backlash.w_a", 0.75},
                                       {"backlash.w_b", 0.75},
                                       {"backlash.side", 1.0},
                                       {"backlash.tau", 0.5}});
  expect_values(run("Reversal", 3.0), {{"backlash.w_a", 1.0},
                                       {"backlash.w_b", 0.0},
                                       {"backlash.phi_rel", 0.0},
                                       {"backlash.side", 0.0}});
  // At the other end, t = 2 + sqrt(2), they meet again.
  expect_values(run("Reversal", 4.0), {{"backlash.side", -1.0}, {"backlash.w_rel", 0.0}});
}

TEST(Drivetrain, EngineFollowsItsMap) {
  // 0.5 w' = 100 - w/2
  expect_values(run("RunUp", 1.0), {{"engine.w", 200.0 * (1.0 - std::exp(-1.0))}});
}

TEST(Drivetrain, ConverterStalls) {
  // 0.5 w' = 12 - 3e-3 w^2: w = sqrt(12/3e-3) tanh(sqrt(12 * 3e-3) t/0.5)
  const double w = std::sqrt(4000.0) * std::tanh(std::sqrt(0.036) * 5.0 / 0.5);
  expect_values(run("Stall", 5.0), {{"pump.w", w}, {"converter.turbine.tau", -2.0 * 3e-3 * w * w}});
}

TEST(Drivetrain, VehicleCoasts) {
  // 1200 v' = -0.6 v^2, the rim adding 50/0.5^2.
  expect_values(run("CoastDown", 10.0), {{"vehicle.v", 50.0 / (1.0 + 0.6 / 1200.0 * 50.0 * 10.0)},
                                         {"rim.w", 100.0 / (1.0 + 0.6 / 1200.0 * 50.0 * 10.0)}});
  // Without drag, on a slope: 1200 v' = -1000 g sin(slope).
  expect_values(run("CoastDown", 10.0, {{"vehicle.c_w", "0"}, {"vehicle.slope", "0.1"}}),
                {{"vehicle.v", 50.0 - 10.0 * 9.81 * std::sin(0.1) / 1.2}});
}

TEST(Drivetrain, TyreObeysPacejka) {
  const SimulateResult result = run("SpinningWheel", 2.0);
  const double w = result.final.at("rim.w");
  const double v = result.final.at("vehicle.v");
  const double k = (0.3 * w - v) / v;
  const double x = 10.0 * k;
  expect_values(result,
                {{"tyre.slip", k},
                 {"tyre.F", 4000.0 * std::sin(1.65 * std::atan(x - 0.95 * (x - std::atan(x))))},
                 // What the torque gave is in the two bodies.
                 {"rim.w", 50.0 + (600.0 * 2.0 - 0.3 * 500.0 * (v - 15.0)) / 2.0}});
}

TEST(Drivetrain, PressuresFollowTheirSchedule) {
  expect_values(run("Ramp", 3.0), {{"x", 2.0 * (0.25 + 0.5 + 0.125)}, {"ramp.y", 0.0}});
  expect_values(run("Ramp", 1.25), {{"ramp.y", 1.0}});
  // Element 1: open from 1, closed from 2, open from 3. Element 3: closed from 1.
  expect_values(run("ThreeGears", 4.0), {{"x[1]", 1.0 + 0.05 + 0.9 + 0.05},
                                         {"x[2]", 2.0 + 0.05 + 0.9},
                                         {"x[3]", 2.9},
                                         {"schedule.gear", 2.0}});
  expect_values(run("ThreeGears", 1.05), {{"schedule.y[1]", 0.5}, {"schedule.y[3]", 0.25}});
}

// Shaft speeds by the Willis equations of its two sets; a shift begins at 5, 9 and 14 s. The
// rolling resistance is a tanh of thousands.
TEST(Drivetrain, FourSpeedGearboxShiftsThroughAllGears) {
  const std::pair<double, double> gears[] = {{4.0, 2.8},
                                             {8.0, 2.8 * 1.8 / (1.0 + 1.8)},
                                             {13.0, 2.8 - (2.8 - 1.0) * 3.0 / (1.0 + 3.0)},
                                             {20.0, 1.0}};
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  const HybridSystem system = build(load_modelica("Saltus.FourSpeed.FullLoad", options));
  for (const auto& [time, ratio] : gears) {
    const SimulateResult result = simulate(system, {.stop_time = time, .tolerance = 1e-8});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    EXPECT_NEAR(result.final.at("gearbox.turbine.w") / result.final.at("gearbox.ring.w"), ratio,
                1e-6);
  }
}

}  // namespace
}  // namespace saltus
