// What a transition does to the state: jumps by the impulse rule, sequences at one instant, and
// what is refused. Expected values come from balances of momentum and charge, solved by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "model/disjoint.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

const Event& event_at(const SimulateResult& result, std::size_t k) {
  EXPECT_LT(k, result.events.size()) << result.message;
  static const Event none;
  return k < result.events.size() ? result.events[k] : none;
}

double after(const Event& event, const std::string& name) {
  const auto found = event.jumps.find(name);
  EXPECT_NE(found, event.jumps.end()) << name << " did not jump";
  return found == event.jumps.end() ? std::nan("") : found->second.second;
}

double impulse(const Event& event, const std::string& name) {
  const auto found = event.impulses.find(name);
  EXPECT_NE(found, event.impulses.end()) << name << " has no impulse";
  return found == event.impulses.end() ? std::nan("") : found->second;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << '"' << text << "\" lacks \"" << part << '"';
}

// A guard that fires at t = 1.
Guard at_one(const HybridSystem& system, const std::string& to, std::vector<Assignment> set = {}) {
  return {.name = "switch", .value = 1.0 - system.time(), .to = to, .set = std::move(set)};
}

// Two shafts, free until t = 1, then one.
HybridSystem clutch(std::vector<Assignment> (*set)(const Expr& w1, const Expr& w2) = nullptr) {
  HybridSystem system("clutch");
  const Expr w1 = system.variable("w1", {.start = 10.0});
  const Expr w2 = system.variable("w2");
  const Expr tau = system.variable("tau");
  Mode& open = system.mode("open");
  open.equations = {1.0 * der(w1) == tau, 2.0 * der(w2) == -tau, tau == 0.0};
  open.guards = {
      at_one(system, "locked", set != nullptr ? set(w1, w2) : std::vector<Assignment>{})};
  system.mode("locked").equations = {1.0 * der(w1) == tau, 2.0 * der(w2) == -tau, w1 == w2};
  return system;
}

TEST(Transfer, ClutchConservesAngularMomentum) {
  for (const Method method : {Method::kRadau, Method::kBdf}) {
    const SimulateResult result = simulate(clutch(), {.stop_time = 2.0, .method = method});
    ASSERT_TRUE(result.completed()) << result.message;
    const Event& lock = event_at(result, 0);
    EXPECT_EQ(lock.kind, "jump");
    EXPECT_EQ(lock.ontology, "continuous interior");
    EXPECT_NEAR(after(lock, "w1"), 10.0 / 3.0, 1e-12);
    EXPECT_NEAR(after(lock, "w2"), 10.0 / 3.0, 1e-12);
    EXPECT_NEAR(impulse(lock, "tau"), -20.0 / 3.0, 1e-12);
    EXPECT_NEAR(result.final.at("w1"), 10.0 / 3.0, 1e-11);
    EXPECT_TRUE(result.warnings.empty());
  }
}

// w1 is set; w2 has to follow, and the momentum that takes comes from outside.
TEST(Transfer, KeepsWhatATransitionSets) {
  const SimulateResult result = simulate(clutch([](const Expr& w1, const Expr&) {
                                           return std::vector<Assignment>{{w1, 0.5 * w1}};
                                         }),
                                         {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(after(event_at(result, 0), "w1"), 5.0);
  EXPECT_NEAR(after(event_at(result, 0), "w2"), 5.0, 1e-14);
  EXPECT_NEAR(impulse(event_at(result, 0), "tau"), -10.0, 1e-12);
}

// (3, 6) is not on w1 = w2; the nearest point is (4.5, 4.5).
TEST(Transfer, ChangesContradictoryAssignmentsLeastAndWarns) {
  const SimulateResult result = simulate(clutch([](const Expr& w1, const Expr& w2) {
                                           return std::vector<Assignment>{{w1, 3.0}, {w2, 6.0}};
                                         }),
                                         {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(result.final.at("w1"), 4.5, 1e-12);
  EXPECT_NEAR(result.final.at("w2"), 4.5, 1e-12);
  ASSERT_EQ(result.warnings.size(), 1U);
  expect_contains(result.warnings[0], "'w1' from 3 to 4.5");
  expect_contains(result.warnings[0], "'w2' from 6 to 4.5");
}

// Ratio 3 from J1 = 2 to J2 = 5: w1 = 3 w2. With the tooth force f: 2 (w1+ - 7) = -F,
// 5 (w2+ + 1) = 3 F, so w2+ = (3 * 2 * 7 - 5) / (9 * 2 + 5) = 37 / 23.
TEST(Transfer, GearEngagesWithItsRatio) {
  HybridSystem system("gear");
  const Expr w1 = system.variable("w1", {.start = 7.0});
  const Expr w2 = system.variable("w2", {.start = -1.0});
  const Expr f = system.variable("f");
  Mode& free = system.mode("free");
  free.equations = {2.0 * der(w1) == 0.0, 5.0 * der(w2) == 0.0};
  free.guards = {at_one(system, "engaged")};
  system.mode("engaged").equations = {2.0 * der(w1) == -f, 5.0 * der(w2) == 3.0 * f,
                                      w1 == 3.0 * w2};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(after(event_at(result, 0), "w2"), 37.0 / 23.0, 1e-13);
  EXPECT_NEAR(after(event_at(result, 0), "w1"), 111.0 / 23.0, 1e-13);
  EXPECT_NEAR(impulse(event_at(result, 0), "f"), 2.0 * (7.0 - 111.0 / 23.0), 1e-12);
}

// Positions are unknowns too; they stay, and the masses stick together where they meet.
TEST(Transfer, CollidingMassesKeepTheirPositions) {
  HybridSystem system("collision");
  const Expr x1 = system.variable("x1", {.start = 0.0});
  const Expr x2 = system.variable("x2", {.start = 3.0});
  const Expr v1 = system.variable("v1", {.start = 4.0});
  const Expr v2 = system.variable("v2", {.start = -2.0});
  const Expr f = system.variable("f");
  const Expr m1 = system.parameter("m1", 1.5);
  const Expr m2 = system.parameter("m2", 0.7);
  Mode& apart = system.mode("apart");
  apart.equations = {der(x1) == v1, der(x2) == v2, m1 * der(v1) == 0.0, m2 * der(v2) == 0.0};
  apart.guards = {{.name = "contact", .value = x2 - x1, .to = "together"}};
  system.mode("together").equations = {der(x1) == v1, der(x2) == v2, m1 * der(v1) == -f,
                                       m2 * der(v2) == f, x1 == x2};
  const SimulateResult result = simulate(system, {.stop_time = 1.0});
  ASSERT_TRUE(result.completed()) << result.message;
  const Event& contact = event_at(result, 0);
  EXPECT_NEAR(contact.time, 0.5, 1e-12);
  const double v = (1.5 * 4.0 - 0.7 * 2.0) / 2.2;
  EXPECT_NEAR(after(contact, "v1"), v, 1e-12);
  EXPECT_NEAR(after(contact, "v2"), v, 1e-12);
  EXPECT_NEAR(impulse(contact, "f"), 1.5 * (4.0 - v), 1e-11);
  EXPECT_NEAR(result.final.at("x1"), 2.0 + 0.5 * v, 1e-10);
}

// u+ = (C1 u1 + C2 u2) / (C1 + C2); the charge that flows is C1 (u1 - u+).
TEST(Transfer, SwitchedCapacitorsConserveCharge) {
  HybridSystem system("capacitors");
  const Expr u1 = system.variable("u1", {.start = 12.0});
  const Expr u2 = system.variable("u2", {.start = 3.0});
  const Expr i = system.variable("i", {.nominal = 1e-3});
  const double c1 = 4.7e-6;
  const double c2 = 1e-6;
  Mode& open = system.mode("open");
  open.equations = {c1 * der(u1) == -i, c2 * der(u2) == i, i == 0.0};
  open.guards = {at_one(system, "closed")};
  system.mode("closed").equations = {c1 * der(u1) == -i, c2 * der(u2) == i, u1 == u2};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  const double u = (c1 * 12.0 + c2 * 3.0) / (c1 + c2);
  const Event& close = event_at(result, 0);
  EXPECT_NEAR(after(close, "u1"), u, 1e-12 * u);
  EXPECT_NEAR(after(close, "u2"), u, 1e-12 * u);
  EXPECT_NEAR(impulse(close, "i"), c1 * (12.0 - u), 1e-12 * c1 * (12.0 - u));
}

// C(u) = 1 + u: the charge q(u) = u + u^2 / 2 is conserved, q1 + q2 = 2 q(u+).
// C1 = 1 uF at 5 V and C2 = 2 uF at 0 V are joined; C3 = 4 uF behind an open switch must not take
// part. Charges are small against the unit of the currents.
TEST(Transfer, OpenSwitchBesideSmallCapacitorsStaysOpen) {
  HybridSystem system("three capacitors");
  const Expr u1 = system.variable("u1", {.start = 5.0});
  const Expr u2 = system.variable("u2", {.start = 0.0});
  const Expr u3 = system.variable("u3", {.start = -2.0});
  const Expr i12 = system.variable("i12");
  const Expr i23 = system.variable("i23");
  const Expr through = system.variable("through");  // the open switch
  for (const bool closed : {false, true}) {
    Mode& mode = system.mode(closed ? "closed" : "open");
    mode.equations = {1e-6 * der(u1) == -i12, 2e-6 * der(u2) == i12 - i23,
                      4e-6 * der(u3) == i23,  through == 2.0 * i23,
                      through == 0.0,         closed ? u1 == u2 : i12 == 0.0};
    if (!closed) mode.guards = {{.name = "close", .value = 1.0 - system.time(), .to = "closed"}};
  }
  system.initial_mode = "open";
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(result.final.at("u1"), 5.0 / 3.0, 1e-12);
  EXPECT_NEAR(result.final.at("u2"), 5.0 / 3.0, 1e-12);
  EXPECT_EQ(result.final.at("u3"), -2.0);
  EXPECT_NEAR(result.events[0].impulses.at("i12"), 10.0 / 3.0 * 1e-6, 1e-12 * 1e-6);
}

TEST(Transfer, NonlinearCapacitorsConserveCharge) {
  HybridSystem system("varactors");
  const Expr u1 = system.variable("u1", {.start = 4.0});
  const Expr u2 = system.variable("u2", {.start = 1.0});
  const Expr i = system.variable("i");
  Mode& open = system.mode("open");
  open.equations = {(1.0 + u1) * der(u1) == -i, (1.0 + u2) * der(u2) == i, i == 0.0};
  open.guards = {at_one(system, "closed")};
  system.mode("closed").equations = {(1.0 + u1) * der(u1) == -i, (1.0 + u2) * der(u2) == i,
                                     u1 == u2};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  const double q = 0.5 * (4.0 + 8.0 + 1.0 + 0.5);
  const double u = std::sqrt(1.0 + 2.0 * q) - 1.0;
  EXPECT_NEAR(after(event_at(result, 0), "u1"), u, 1e-12);
  EXPECT_NEAR(after(event_at(result, 0), "u2"), u, 1e-12);
  EXPECT_NEAR(impulse(event_at(result, 0), "i"), 12.0 - q, 1e-11);
}

// The switch beside the second coil opens: both carry one current, and the flux of the loop stays.
TEST(Transfer, InductorsInSeriesConserveFlux) {
  HybridSystem system("coils");
  const Expr i1 = system.variable("i1", {.start = 6.0});
  const Expr i2 = system.variable("i2", {.start = -1.0});
  const Expr u = system.variable("u");
  Mode& bypassed = system.mode("bypassed");
  bypassed.equations = {0.2 * der(i1) == -u, 0.3 * der(i2) == u, u == 0.0};
  bypassed.guards = {at_one(system, "in series")};
  system.mode("in series").equations = {0.2 * der(i1) == -u, 0.3 * der(i2) == u, i1 == i2};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  const double i = (0.2 * 6.0 + 0.3 * -1.0) / 0.5;
  EXPECT_NEAR(after(event_at(result, 0), "i1"), i, 1e-13);
  EXPECT_NEAR(after(event_at(result, 0), "i2"), i, 1e-13);
}

// A mass flies until the string is taut: the velocity along the string is lost, the rest kept.
TEST(Transfer, TautStringTakesTheVelocityAlongIt) {
  HybridSystem system("string");
  const Expr x = system.variable("x", {.start = 0.3});
  const Expr y = system.variable("y", {.start = -0.1});
  const Expr vx = system.variable("vx", {.start = 1.0});
  const Expr vy = system.variable("vy", {.start = 0.5});
  const Expr lambda = system.variable("lambda");
  Mode& loose = system.mode("loose");
  loose.equations = {der(x) == vx, der(y) == vy, 2.0 * der(vx) == 0.0, 2.0 * der(vy) == -19.62};
  loose.guards = {{.name = "taut", .value = 1.0 - x * x - y * y, .to = "taut"}};
  system.mode("taut").equations = {der(x) == vx, der(y) == vy, 2.0 * der(vx) == -2.0 * x * lambda,
                                   2.0 * der(vy) == -19.62 - 2.0 * y * lambda,
                                   x * x + y * y == 1.0};
  const SimulateResult result = simulate(system, {.stop_time = 1.0});
  ASSERT_TRUE(result.completed()) << result.message;
  const Event& taut = event_at(result, 0);
  EXPECT_EQ(taut.jumps.count("x"), 0u);
  EXPECT_EQ(taut.jumps.count("y"), 0u);
  const double t = taut.time;
  const double px = 0.3 + t;
  const double py = -0.1 + 0.5 * t - 4.905 * t * t;
  EXPECT_NEAR(px * px + py * py, 1.0, 1e-9);
  const double wx = taut.jumps.at("vx").first;
  const double wy = taut.jumps.at("vy").first;
  const double along = (px * wx + py * wy) / (px * px + py * py);
  EXPECT_NEAR(after(taut, "vx"), wx - along * px, 1e-9);
  EXPECT_NEAR(after(taut, "vy"), wy - along * py, 1e-9);
  // The moment of momentum about the pivot is that of before, with the positions of the solution.
  EXPECT_NEAR(impulse(taut, "lambda"), along, 1e-9);
}

// Two masses on a common arm whose inertia depends on its position s: (1 + s^2) w' + 2 s s' w = 0.
// A mass matrix that depends on x, evaluated where the jump happens.
TEST(Transfer, UsesTheMassMatrixOfThePresentPosition) {
  HybridSystem system("arm");
  const Expr s = system.variable("s", {.start = 1.0});
  const Expr w = system.variable("w", {.start = 5.0});
  const Expr r = system.variable("r", {.start = 1.0});
  const Expr tau = system.variable("tau");
  const Expr inertia = 1.0 + s * s;
  Mode& open = system.mode("open");
  open.equations = {der(s) == 1.0, inertia * der(w) == -2.0 * s * der(s) * w - tau,
                    3.0 * der(r) == tau, tau == 0.0};
  open.guards = {at_one(system, "locked")};
  system.mode("locked").equations = {der(s) == 1.0, inertia * der(w) == -2.0 * s * der(s) * w - tau,
                                     3.0 * der(r) == tau, w == r};
  const SimulateResult result = simulate(system, {.stop_time = 1.5, .tolerance = 1e-11});
  ASSERT_TRUE(result.completed()) << result.message;
  // s = 2, w = 2 * 5 / 5 = 2 just before.
  EXPECT_NEAR(after(event_at(result, 0), "w"), (5.0 * 2.0 + 3.0 * 1.0) / 8.0, 1e-9);
  const Event& lock = event_at(result, 0);
  const double left = lock.jumps.at("w").first;
  EXPECT_NEAR(5.0 * (after(lock, "w") - left), -impulse(lock, "tau"), 1e-12 * 10.0);
}

TEST(Transfer, DifferentialEquationBecomesAnAssignmentAndBack) {
  HybridSystem system("ramp");
  const Expr x = system.variable("x");
  Mode& ramp = system.mode("ramp");
  ramp.equations = {der(x) == 10.0};
  ramp.guards = {{.name = "hold", .value = 0.5 - system.time(), .to = "held"}};
  Mode& held = system.mode("held");
  held.equations = {x == -5.0};
  held.guards = {{.name = "go on", .value = 0.75 - system.time(), .to = "ramp again"}};
  system.mode("ramp again").equations = {der(x) == 10.0};
  const SimulateResult result = simulate(system, {.stop_time = 1.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(result.time, 1.0);
  EXPECT_NEAR(event_at(result, 0).jumps.at("x").first, 5.0, 1e-12);
  EXPECT_EQ(after(event_at(result, 0), "x"), -5.0);
  EXPECT_TRUE(event_at(result, 1).jumps.empty());
  EXPECT_NEAR(result.final.at("x"), -2.5, 1e-12);
}

// y was held at 7 for long; it is no unknown under der() in the new mode and must not pull at x.
TEST(Transfer, IgnoresOldValuesOfAlgebraicUnknowns) {
  HybridSystem system("stale");
  const Expr x1 = system.variable("x1", {.start = 1.0});
  const Expr x2 = system.variable("x2", {.start = 2.0});
  const Expr y = system.variable("y", {.start = 7.0});
  const Expr v = system.variable("v", {.start = 7.0});
  Mode& first = system.mode("first");
  first.equations = {der(x1) == 0.0, der(x2) == 0.0};
  first.guards = {at_one(system, "second")};
  // y is differentiated by the analysis, not by the model.
  system.mode("second").equations = {der(x1) + der(x2) == v, y == x1 + x2, x1 == x2, v == -y};
  const SimulateResult result = simulate(system, {.stop_time = 1.5});
  ASSERT_TRUE(result.completed()) << result.message;
  // der(x1 + x2) is bounded, so the sum stays 3.
  EXPECT_NEAR(after(event_at(result, 0), "x1"), 1.5, 1e-12);
  EXPECT_NEAR(result.final.at("y"), 3.0 * std::exp(-0.5), 1e-6);
}

HybridSystem locking_angles(bool set) {
  HybridSystem system("angles");
  const Expr p1 = system.variable("phi1", {.start = 0.4});
  const Expr p2 = system.variable("phi2");
  const Expr w1 = system.variable("w1");
  const Expr w2 = system.variable("w2");
  const Expr tau = system.variable("tau");
  Mode& open = system.mode("open");
  open.equations = {der(p1) == w1, der(p2) == w2, der(w1) == 0.0, der(w2) == 0.0};
  open.guards = {at_one(system, "locked",
                        set ? std::vector<Assignment>{{p1, p2}} : std::vector<Assignment>{})};
  system.mode("locked").equations = {der(p1) == w1, der(p2) == w2, der(w1) == tau, der(w2) == -tau,
                                     p1 == p2};
  return system;
}

TEST(Transfer, RefusesAnAngleThatWouldHaveToJump) {
  const SimulateResult result = simulate(locking_angles(false), {.stop_time = 2.0});
  EXPECT_EQ(result.reason, StopReason::kInconsistent);
  expect_contains(result.message, "'phi");
  expect_contains(result.message, "at t = 1 in mode 'locked'");
  expect_contains(result.message, "would have to jump");
  EXPECT_EQ(result.time, 1.0);
}

TEST(Transfer, LetsATransitionMakeAnAngleJump) {
  const SimulateResult result = simulate(locking_angles(true), {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(result.final.at("phi1"), 0.0);
  EXPECT_TRUE(result.warnings.empty());
}

TEST(Transfer, RefusesWhereNoConsistentPointExists) {
  HybridSystem system("impossible");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr z = system.variable("z");
  Mode& first = system.mode("first");
  first.equations = {der(x) == 0.0};
  first.guards = {at_one(system, "second")};
  system.mode("second").equations = {der(x) == 0.0, {"circle", z * z == -1.0 - x * x}};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  EXPECT_EQ(result.reason, StopReason::kInconsistent);
  expect_contains(result.message, "'circle'");
  expect_contains(result.message, "in mode 'second'");
}

// The power through the clutch is no finite number during the jump and must not disturb it.
TEST(Transfer, ResultsThatAreNotAffineFollow) {
  HybridSystem system("power");
  const Expr w1 = system.variable("w1", {.start = 10.0});
  const Expr w2 = system.variable("w2");
  const Expr tau = system.variable("tau");
  const Expr slip = system.variable("slip");
  const Expr p = system.variable("p");
  Mode& open = system.mode("open");
  open.equations = {der(w1) == -tau, 2.0 * der(w2) == tau, tau == 0.0, slip == w1 - w2,
                    p == tau * tau * slip};
  open.guards = {at_one(system, "locked")};
  system.mode("locked").equations = {der(w1) == -tau, 2.0 * der(w2) == tau, w1 == w2,
                                     slip == w1 - w2, p == tau * tau * slip};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(after(event_at(result, 0), "w1"), 10.0 / 3.0, 1e-12);
  EXPECT_NEAR(impulse(event_at(result, 0), "tau"), 20.0 / 3.0, 1e-12);
}

// Two brakes stop one shaft: one motion, the impulse and the torque shared with least norm.
TEST(Transfer, TwoBrakesShareTheirImpulse) {
  HybridSystem system("brakes");
  const Expr w = system.variable("w", {.start = 6.0});
  const Expr b1 = system.variable("b1");
  const Expr b2 = system.variable("b2");
  Mode& free = system.mode("free");
  free.equations = {2.0 * der(w) == 8.0 - b1 - b2, b1 == 1.0, b2 == 0.0};
  free.guards = {at_one(system, "locked")};
  system.mode("locked").equations = {{"shaft", 2.0 * der(w) == 8.0 - b1 - b2},
                                     {"first brake", w == 0.0},
                                     {"second brake", w == 0.0}};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  const Event& stop = event_at(result, 0);
  const double left = 6.0 + 3.5;
  EXPECT_NEAR(stop.jumps.at("w").first, left, 1e-9);
  EXPECT_NEAR(impulse(stop, "b1"), left, 1e-9);
  EXPECT_NEAR(impulse(stop, "b2"), left, 1e-9);
  EXPECT_NEAR(result.final.at("b1"), 4.0, 1e-9);
  EXPECT_NEAR(result.final.at("b2"), 4.0, 1e-9);
  EXPECT_NEAR(result.final.at("w"), 0.0, 1e-12);
  ASSERT_EQ(result.warnings.size(), 1U);
  expect_contains(result.warnings[0], "'b1', 'b2'");
}

// A transition to the same mode that sets nothing changes nothing but the step sizes.
TEST(Transfer, IdentityTransitionDoesNotDisturbTheSolution) {
  const auto run = [](bool with_events) {
    HybridSystem system("oscillator");
    const Expr x = system.variable("x", {.start = 1.0});
    const Expr y = system.variable("y");
    const Expr f = system.variable("f");
    Mode& only = system.mode("only");
    only.equations = {der(x) == y, der(y) == -f, f == x + 0.3 * x * x * x};
    if (with_events) {
      Mode& other = system.mode("other");
      other.equations = only.equations;
      only.guards = {{.name = "away", .value = x - 0.3, .to = "other"}};
      other.guards = {{.name = "back", .value = 0.3 - x, .to = "only"}};
    }
    return simulate(system, {.stop_time = 20.0, .tolerance = 1e-8});
  };
  const SimulateResult plain = run(false);
  const SimulateResult hybrid = run(true);
  ASSERT_TRUE(hybrid.completed()) << hybrid.message;
  EXPECT_GT(hybrid.events.size(), 4u);
  for (const char* name : {"x", "y"})
    EXPECT_NEAR(plain.final.at(name), hybrid.final.at(name), 10.0 * 1e-8) << name;
  for (const Event& event : hybrid.events) EXPECT_TRUE(event.jumps.empty());
}

// The way from x = 3 to x = 0 leaves x > 1 after two thirds.
TEST(Sequence, ProjectionIsCutShortWhereItLeavesTheRegion) {
  HybridSystem system("pinnacle");
  const Expr x = system.variable("x", {.start = 3.0});
  const Expr y = system.variable("y", {.start = -3.0});
  const Expr f = system.variable("f");
  Mode& free = system.mode("free");
  free.equations = {der(x) == 0.0, der(y) == 0.0};
  free.guards = {at_one(system, "joined")};
  Mode& joined = system.mode("joined");
  joined.equations = {der(x) == -f, der(y) == f, x == y};
  joined.guards = {{.name = "too low", .value = x - 1.0, .to = "torn"}};
  system.mode("torn").equations = {der(x) == 0.0, der(y) == 0.0};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.events.size(), 2u);
  const Event& cut = result.events[0];
  EXPECT_EQ(cut.ontology, "pinnacle");
  EXPECT_EQ(cut.kind, "instantaneous");
  ASSERT_TRUE(cut.fraction.has_value());
  EXPECT_NEAR(*cut.fraction, 2.0 / 3.0, 1e-9);
  EXPECT_NEAR(impulse(cut, "f"), 2.0, 1e-8);
  EXPECT_NEAR(result.final.at("x"), 1.0, 1e-9);
  EXPECT_NEAR(result.final.at("y"), -1.0, 1e-9);
  EXPECT_EQ(result.events[1].from, "joined");
  EXPECT_EQ(result.events[1].to, "torn");
}

// A lock that holds no impulse in one direction: it opens before anything has moved.
TEST(Sequence, ImpulseOfTheWrongSignEndsTheModeAtOnce) {
  HybridSystem system("ratchet");
  const Expr w1 = system.variable("w1", {.start = 4.0});
  const Expr w2 = system.variable("w2");
  const Expr tau = system.variable("tau");
  Mode& open = system.mode("open");
  open.equations = {der(w1) == -tau, der(w2) == tau, tau == 0.0};
  open.guards = {at_one(system, "locked")};
  Mode& locked = system.mode("locked");
  locked.equations = {der(w1) == -tau, der(w2) == tau, w1 == w2};
  locked.guards = {{.name = "overload", .value = 100.0 - tau, .to = "slipping"}};
  system.mode("slipping").equations = {der(w1) == -tau, der(w2) == tau, tau == 1.0};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.events.size(), 2u);
  EXPECT_EQ(result.events[0].ontology, "pinnacle");
  EXPECT_EQ(*result.events[0].fraction, 0.0);
  EXPECT_TRUE(result.events[0].jumps.empty());
  EXPECT_NEAR(result.final.at("w1"), 3.0, 1e-10);
  EXPECT_NEAR(result.final.at("w2"), 1.0, 1e-10);
}

TEST(Sequence, ModeThatTheStateIsOutsideOfIsMythical) {
  HybridSystem system("mythical");
  const Expr x = system.variable("x", {.start = 2.0});
  const Expr y = system.variable("y", {.start = 1.0});
  const Expr f = system.variable("f");
  Mode& free = system.mode("free");
  free.equations = {der(x) == 0.0, der(y) == 0.0};
  free.guards = {at_one(system, "joined")};
  Mode& joined = system.mode("joined");
  joined.equations = {der(x) == -f, der(y) == f, x == y};
  joined.guards = {{.name = "not here", .value = x - 10.0, .to = "last"}};
  system.mode("last").equations = {der(x) == 1.0, der(y) == 0.0};
  const SimulateResult result = simulate(system, {.stop_time = 2.0});
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.events.size(), 2u);
  EXPECT_EQ(result.events[0].ontology, "mythical");
  EXPECT_NEAR(result.final.at("x"), 3.0, 1e-12);
  EXPECT_NEAR(result.final.at("y"), 1.0, 1e-12);
}

TEST(Sequence, CycleIsReportedWithItsModesAndGuards) {
  HybridSystem system("cycle");
  const Expr x = system.variable("x", {.start = 1.0});
  Mode& a = system.mode("a");
  a.equations = {der(x) == -1.0};
  a.guards = {{.name = "down", .value = x - 0.5, .to = "b"}};
  Mode& b = system.mode("b");
  b.equations = {der(x) == -2.0};
  b.guards = {{.name = "on", .value = x - 0.6, .to = "c"}};
  Mode& c = system.mode("c");
  c.equations = {der(x) == -3.0};
  c.guards = {{.name = "over", .value = x - 0.7, .to = "b"}};
  const SimulateResult result = simulate(system);
  EXPECT_EQ(result.reason, StopReason::kEventStorm);
  expect_contains(result.message, "'b' --on--> 'c' --over--> 'b'");
  EXPECT_LE(result.events.size(), 6u);
}

TEST(Tie, PriorityThenOrderDecides) {
  for (const bool declared : {false, true}) {
    HybridSystem system("tie");
    const Expr x = system.variable("x", {.start = 1.0});
    const Expr y = system.variable("y", {.start = 2.0});
    Mode& only = system.mode("only");
    only.equations = {der(x) == -1.0, der(y) == -2.0};
    only.guards = {{.name = "first", .value = x, .to = "one"},
                   {.name = "second", .value = y, .to = "two", .priority = declared ? 0 : 1}};
    system.mode("one").equations = {der(x) == 0.0, der(y) == 0.0};
    system.mode("two").equations = {der(x) == 0.0, der(y) == 0.0};
    const SimulateResult result = simulate(system, {.stop_time = 2.0});
    ASSERT_TRUE(result.completed()) << result.message;
    ASSERT_EQ(result.events.size(), 1u);
    EXPECT_EQ(result.events[0].to, declared ? "two" : "one");
    EXPECT_EQ(result.events[0].tags, (std::vector<std::string>{"switch", "tie"}));
  }
}

// HM section 2: "first and second" is a condition of its own; alone, each guard acts as before.
TEST(Tie, DisjointConditionsGiveATieItsOwnTransition) {
  for (const double y0 : {1.6, 2.0, 2.4}) {
    HybridSystem system("disjoint");
    const Expr x = system.variable("x", {.start = 1.0});
    const Expr y = system.variable("y", {.start = y0});
    Mode& only = system.mode("only");
    only.equations = {der(x) == -1.0, der(y) == -2.0};
    only.guards = {{.name = "first", .value = x, .to = "one"},
                   {.name = "second", .value = y, .to = "two"}};
    make_disjoint(only, {{.first = "first", .second = "second", .to = "both", .set = {{x, 7.0}}}});
    for (const char* name : {"one", "two", "both"})
      system.mode(name).equations = {der(x) == 0.0, der(y) == 0.0};
    const SimulateResult result = simulate(system, {.stop_time = 2.0});
    ASSERT_TRUE(result.completed()) << result.message;
    ASSERT_EQ(result.events.size(), 1u);
    EXPECT_EQ(result.events[0].to, y0 == 2.0 ? "both" : y0 < 2.0 ? "two" : "one");
    EXPECT_NEAR(result.final.at("x"), y0 == 2.0 ? 7.0 : y0 < 2.0 ? 0.2 : 0.0, 1e-9);
  }
  Mode mode{"m", {}, {}};
  EXPECT_THROW(make_disjoint(mode, {{.first = "none", .second = "none", .to = "m"}}), Error);
}

}  // namespace
}  // namespace saltus
