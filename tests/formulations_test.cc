#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "examples/four_bar/four_bar.h"
#include "simulate/simulate.h"

// Every formulation of HM Appendix A.3 has the same solution. Expected values: periods by elliptic
// integrals, accelerations by hand, a run at the tightest tolerance where there is nothing better.

namespace saltus {
namespace {

constexpr double kGravity = 9.81;

std::string name_of(const testing::TestParamInfo<Formulation>& info) {
  return to_string(info.param);
}

// A unit pendulum that starts at rest at this angle from the vertical.
constexpr double kAngle = 0.6;
HybridSystem swinging_pendulum() {
  HybridSystem system("pendulum");
  const Expr x = system.variable("x", {.start = std::sin(kAngle)});
  const Expr y = system.variable("y", {.start = -std::cos(kAngle)});
  const Expr u = system.variable("u");
  const Expr v = system.variable("v");
  const Expr force = system.variable("force", {.nominal = 10.0});
  system.mode("swing").equations = {der(x) == u, der(y) == v, der(u) == -force * x,
                                    der(v) == -force * y - kGravity, x * x + y * y == 1.0};
  return system;
}

double period(double angle = kAngle) {
  double a = 1.0;
  double b = std::cos(0.5 * angle);
  for (int k = 0; k < 10; ++k) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return 2.0 * M_PI / std::sqrt(kGravity) / a;
}

// Two inertias that a position constraint locks, through a relative angle that has no equation of
// its own, and a third that a velocity constraint locks to them: all turn with the same
// acceleration tau / (J1 + J2 + J3). A node without inertia hangs on the first by spring and
// damper.
HybridSystem locked_shafts() {
  HybridSystem system("shafts");
  const Expr phi1 = system.variable("phi1");
  const Expr phi2 = system.variable("phi2");
  const Expr node = system.variable("node", {.start = 1.0});
  const Expr rel = system.variable("rel");
  const Expr w1 = system.variable("w1");
  const Expr w2 = system.variable("w2");
  const Expr w3 = system.variable("w3");
  const Expr w_node = system.variable("w_node");
  const Expr pin = system.variable("pin");
  const Expr clutch = system.variable("clutch");
  system.mode("locked").equations = {{"speed 1", der(phi1) == w1},
                                     {"speed 2", der(phi2) == w2},
                                     {"speed of the node", der(node) == w_node},
                                     {"torque 1", 2.0 * der(w1) == 12.0 - pin - clutch},
                                     {"torque 2", 3.0 * der(w2) == pin},
                                     {"torque 3", 1.0 * der(w3) == clutch},
                                     {"node", 4.0 * (node - phi1) + 2.0 * (w_node - w1) == 0.0},
                                     {"relative angle", rel == phi1 - phi2},
                                     {"pin", rel == 0.0},
                                     {"clutch", w1 == w3}};
  return system;
}

class EachFormulation : public testing::TestWithParam<Formulation> {};
INSTANTIATE_TEST_SUITE_P(All, EachFormulation, testing::ValuesIn(kFormulations), name_of);

TEST_P(EachFormulation, BringsThePendulumBackAfterOnePeriod) {
  const HybridSystem system = swinging_pendulum();
  for (const double tolerance : {1e-6, 1e-8}) {
    const SimulateResult result = simulate(
        system, {.stop_time = period(), .tolerance = tolerance, .formulation = GetParam()});
    ASSERT_TRUE(result.completed()) << result.message;
    EXPECT_EQ(result.formulation, to_string(GetParam()));
    const double bound = 100.0 * tolerance;
    EXPECT_NEAR(result.final.at("x"), std::sin(kAngle), bound) << tolerance;
    EXPECT_NEAR(result.final.at("y"), -std::cos(kAngle), bound) << tolerance;
    EXPECT_NEAR(result.final.at("u"), 0.0, bound) << tolerance;
    EXPECT_NEAR(result.final.at("v"), 0.0, bound) << tolerance;
  }
}

TEST_P(EachFormulation, HandlesRelativeAnglesVelocityConstraintsAndNodesWithoutInertia) {
  const HybridSystem system = locked_shafts();
  const SimulateResult result =
      simulate(system, {.stop_time = 1.0, .tolerance = 1e-8, .formulation = GetParam()});
  ASSERT_TRUE(result.completed()) << result.message;
  for (const char* speed : {"w1", "w2", "w3"})
    EXPECT_NEAR(result.final.at(speed), 2.0, 1e-6) << speed;
  EXPECT_NEAR(result.final.at("phi1"), 1.0, 1e-6);
  EXPECT_NEAR(result.final.at("phi2"), 1.0, 1e-6);
  EXPECT_NEAR(result.final.at("pin"), 6.0, 1e-4);
  EXPECT_NEAR(result.final.at("clutch"), 2.0, 1e-4);
  // node - phi1 = exp(-2 t)
  EXPECT_NEAR(result.final.at("node"), 1.0 + std::exp(-2.0), 1e-6);
}

TEST_P(EachFormulation, OfTheFourBarLinkageAgreesWithATightRun) {
  HybridSystem system = make_four_bar();
  const SimulateResult tight = simulate(system, {.stop_time = 0.5, .tolerance = 1e-12});
  ASSERT_TRUE(tight.completed()) << tight.message;
  const SimulateResult result =
      simulate(system, {.stop_time = 0.5, .tolerance = 1e-8, .formulation = GetParam()});
  ASSERT_TRUE(result.completed()) << result.message;
  for (const Variable& v : system.variables()) {
    if (v.unit == "N") continue;  // forces are less accurate in forms of index 3
    const double exact = tight.final.at(v.name);
    EXPECT_NEAR(result.final.at(v.name), exact, 1e-6 * (std::abs(exact) + v.nominal)) << v.name;
  }
}

// The levels on which a formulation states constraints are those on which they hold.
TEST_P(EachFormulation, KeepsTheConstraintsItStates) {
  const SimulateResult result = simulate(make_four_bar(), {.stop_time = 0.5,
                                                           .tolerance = 1e-6,
                                                           .formulation = GetParam(),
                                                           .measure_constraints = true});
  ASSERT_TRUE(result.completed()) << result.message;
  std::vector<bool> stated;
  switch (GetParam()) {
    case Formulation::kPosition:
      stated = {true, false, false};
      break;
    case Formulation::kVelocity:
      stated = {false, true, false};
      break;
    case Formulation::kAcceleration:
      stated = {false, false, true};
      break;
    case Formulation::kBaumgarte:
      stated = {false, false, false};
      break;
    case Formulation::kGgl:
      stated = {true, true, false};
      break;
    default:
      stated = {true, true, true};
  }
  for (std::size_t level = 0; level < 3; ++level) {
    const double residual = result.residuals.at_steps[level];
    if (stated[level])
      EXPECT_LE(residual, 1e-9) << level;
    else
      EXPECT_GT(residual, 1e-12) << level << ": what is not stated cannot hold so well";
    EXPECT_LE(residual, 1e-2) << level;
  }
}

struct Size {
  std::size_t unknowns, equations;
};

// HM A.3: GGL adds a multiplier for each constraint, the overdetermined form two equations, the
// minimal extension two unknowns and equations.
TEST(Formulations, HaveTheDimensionsOfThePaper) {
  const auto size_of = [](const HybridSystem& system, Formulation formulation) {
    const SimulateResult result =
        simulate(system, {.stop_time = 1e-3, .tolerance = 1e-4, .formulation = formulation});
    return Size{result.modes.front().form_unknowns, result.modes.front().form_equations};
  };
  const auto expect = [&](const HybridSystem& system, Formulation f, Size wanted) {
    const Size size = size_of(system, f);
    EXPECT_EQ(size.unknowns, wanted.unknowns) << system.name() << ", " << to_string(f);
    EXPECT_EQ(size.equations, wanted.equations) << system.name() << ", " << to_string(f);
  };
  for (const Formulation f : {Formulation::kPosition, Formulation::kVelocity,
                              Formulation::kAcceleration, Formulation::kBaumgarte}) {
    expect(swinging_pendulum(), f, {5, 5});
    expect(make_four_bar(), f, {14, 14});
  }
  expect(swinging_pendulum(), Formulation::kGgl, {6, 6});
  expect(swinging_pendulum(), Formulation::kOverdetermined, {5, 7});
  expect(swinging_pendulum(), Formulation::kMinimal, {7, 7});
  expect(make_four_bar(), Formulation::kGgl, {18, 18});
  expect(make_four_bar(), Formulation::kOverdetermined, {14, 22});
  expect(make_four_bar(), Formulation::kMinimal, {22, 22});
}

TEST(Formulations, OfIndexOneAreIntegratedByBdf) {
  const HybridSystem system = swinging_pendulum();
  for (const Formulation f : {Formulation::kReduced, Formulation::kAcceleration,
                              Formulation::kBaumgarte, Formulation::kMinimal}) {
    const SimulateResult result = simulate(
        system,
        {.stop_time = period(), .tolerance = 1e-8, .method = Method::kBdf, .formulation = f});
    ASSERT_TRUE(result.completed()) << to_string(f) << ": " << result.message;
    EXPECT_NEAR(result.final.at("x"), std::sin(kAngle), 1e-5) << to_string(f);
  }
}

// The unknowns of the minimal extension are chosen anew before the form becomes singular: a swing
// by 2.5 rad to either side passes points where either choice fails. Period by elliptic integral.
TEST(Formulations, MinimalExtensionFollowsLargeSwings) {
  const double angle = 2.5;
  HybridSystem system = swinging_pendulum();
  system.set("x", std::sin(angle));
  system.set("y", -std::cos(angle));
  const SimulateResult result = simulate(system, {.stop_time = period(angle),
                                                  .tolerance = 1e-8,
                                                  .formulation = Formulation::kMinimal,
                                                  .measure_constraints = true});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_TRUE(result.events.empty());
  EXPECT_EQ(result.modes.size(), 1U);
  EXPECT_NEAR(result.final.at("x"), std::sin(angle), 1e-6);
  EXPECT_NEAR(result.final.at("y"), -std::cos(angle), 1e-6);
  for (const double residual : result.residuals.at_steps) EXPECT_LE(residual, 1e-8);
}

TEST(Formulations, OfHigherIndexAreRefusedForBdf) {
  for (const Formulation f : {Formulation::kPosition, Formulation::kVelocity, Formulation::kGgl,
                              Formulation::kOverdetermined}) {
    try {
      simulate(swinging_pendulum(), {.method = Method::kBdf, .formulation = f});
      FAIL() << to_string(f);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(to_string(f)), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("radau"), std::string::npos);
    }
  }
}

TEST(Formulations, LeaveModesAloneThatAreNotMechanical) {
  // A chain of derivatives of a known function: index 4.
  HybridSystem chain("chain");
  const Expr a = chain.variable("a");
  const Expr b = chain.variable("b");
  const Expr c = chain.variable("c");
  const Expr d = chain.variable("d");
  chain.mode("only").equations = {
      {"first", a == sin(chain.time())}, der(a) == b, der(b) == c, der(c) == d};
  const SimulateResult result =
      simulate(chain, {.stop_time = 1.0, .formulation = Formulation::kGgl});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(result.final.at("d"), -std::cos(1.0), 1e-8);
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_NE(result.warnings[0].find("'first'"), std::string::npos) << result.warnings[0];
  EXPECT_NE(result.warnings[0].find("ggl"), std::string::npos) << result.warnings[0];
  EXPECT_EQ(result.modes.front().form, "reduced");
}

// Energy gives the speed of the linkage at each angle, and thus the time of a turn as an integral.
TEST(FourBar, TurnsInTheTimeThatEnergyGives) {
  const double l1 = 0.10, l2 = 0.35, l3 = 0.30, d = 0.40;
  const double m1 = 0.5, J1 = 0.01, m2 = 0.8, J2 = 0.01, m3 = 0.7, J3 = 0.02, w0 = 20.0;
  struct Shape {
    double inertia, height;  // kinetic energy over w1^2 / 2; potential energy
  };
  const auto shape_at = [&](double phi1) {
    const double ax = l1 * std::cos(phi1), ay = l1 * std::sin(phi1);
    const double reach = std::hypot(d - ax, -ay);
    const double tilt = std::atan2(-ay, d - ax);
    const double phi2 = tilt + std::acos((l2 * l2 + reach * reach - l3 * l3) / (2.0 * l2 * reach));
    const double phi3 = std::atan2(ay + l2 * std::sin(phi2), ax + l2 * std::cos(phi2) - d);
    const double w2 = l1 * std::sin(phi3 - phi1) / (l2 * std::sin(phi2 - phi3));
    const double w3 = l1 * std::sin(phi2 - phi1) / (l3 * std::sin(phi2 - phi3));
    const double vx = -ay - 0.5 * l2 * std::sin(phi2) * w2;
    const double vy = ax + 0.5 * l2 * std::cos(phi2) * w2;
    return Shape{J1 + m2 * (vx * vx + vy * vy) + J2 * w2 * w2 + J3 * w3 * w3,
                 kGravity * (0.5 * m1 * ay + m2 * (ay + 0.5 * l2 * std::sin(phi2)) +
                             0.5 * m3 * l3 * std::sin(phi3))};
  };
  const Shape first = shape_at(0.0);
  const double energy = 0.5 * first.inertia * w0 * w0 + first.height;
  const int n = 2000;  // the integrand is periodic: the trapezoidal rule converges at once
  double turn = 0.0;
  for (int k = 0; k < n; ++k) {
    const Shape shape = shape_at(2.0 * M_PI * k / n);
    turn += 2.0 * M_PI / n / std::sqrt(2.0 * (energy - shape.height) / shape.inertia);
  }
  const SimulateResult result =
      simulate(make_four_bar(), {.stop_time = 3.0 * turn, .tolerance = 1e-10});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(result.final.at("phi1"), 6.0 * M_PI, 1e-7);
  EXPECT_NEAR(result.final.at("w1"), w0, 1e-6);
}

}  // namespace
}  // namespace saltus
