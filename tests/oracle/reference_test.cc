#include <gtest/gtest.h>

#include <cmath>

#include "oracle/event_driven.h"
#include "oracle/generate.h"
#include "oracle/network.h"
#include "oracle/time_stepping.h"

// The references against motions that can be written down.

namespace saltus::oracle {
namespace {

Element friction(int a, int b, double capacity) {
  Element e;
  e.kind = a == kHousing ? Kind::kBrake : Kind::kClutch;
  e.a = a;
  e.b = b;
  e.capacity = Signal::constant(capacity);
  return e;
}

// A brake of capacity 1, load -4: -5 rad/s2 until t = 0.2, then -3.
Network brake_reversal() {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 1.0, .torque = Signal::constant(-4.0)}};
  network.elements = {friction(kHousing, 0, 1.0)};
  network.stop_time = 2.0;
  return network;
}

// The slip falls by 6 rad/s2 until t = 1/6 and goes on falling by 2.
Network clutch_reversal() {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 0.0, .torque = Signal::constant(0.0)},
                    {.inertia = 1.0, .start_speed = 1.0, .torque = Signal::constant(-4.0)}};
  network.elements = {friction(0, 1, 1.0)};
  network.stop_time = 2.0;
  return network;
}

TEST(TimeStepping, PassesZeroWhereTheBrakeIsTooWeak) {
  const Network network = brake_reversal();
  const Stepped s = time_stepping_reference(network, output_times(network));
  EXPECT_FALSE(s.failed);
  EXPECT_NEAR(s.motion.speeds.back()[0], -5.4, 2e-3);
  EXPECT_LE(std::abs(s.motion.speeds.back()[0] + 5.4), 10.0 * s.speed_error + 1e-9);
}

TEST(TimeStepping, PassesZeroWhereTheClutchIsTooWeak) {
  const Network network = clutch_reversal();
  const Stepped s = time_stepping_reference(network, output_times(network));
  EXPECT_FALSE(s.failed);
  EXPECT_NEAR(s.motion.speeds.back()[1], -16.0 / 3.0, 2e-3);
}

// Exact but for rounding: the accuracy claimed for the series.
TEST(EventDriven, PassesZeroWhereFrictionIsTooWeak) {
  const Network brake = brake_reversal();
  const EventDrivenResult one = event_driven(brake, output_times(brake));
  ASSERT_FALSE(one.failed) << one.message;
  EXPECT_EQ(one.reversals, 1);
  EXPECT_NEAR(one.motion.speeds.back()[0], -5.4, 1e-12);
  const Network clutch = clutch_reversal();
  const EventDrivenResult two = event_driven(clutch, output_times(clutch));
  ASSERT_FALSE(two.failed) << two.message;
  EXPECT_NEAR(two.motion.speeds.back()[1], -16.0 / 3.0, 1e-12);
}

// A spring loads a shaft that a brake of 0.747 holds; the spring never gives more than 0.404. The
// other shaft swings about 0.202/34 with J w^2 = c.
TEST(EventDriven, HoldsAtRestWhatTheBrakeCanHold) {
  Network network;
  network.bodies = {{.inertia = 0.362, .start_speed = 0.0, .torque = Signal::constant(0.202)},
                    {.inertia = 2.151, .start_speed = 0.0, .torque = Signal::constant(0.0)}};
  Element spring;
  spring.kind = Kind::kSpring;
  spring.a = 0;
  spring.b = 1;
  spring.stiffness = 34.0;
  network.elements = {spring, friction(kHousing, 1, 0.747)};
  const EventDrivenResult r = event_driven(network, output_times(network));
  ASSERT_FALSE(r.failed) << r.message;
  const double omega = std::sqrt(34.0 / 0.362);
  for (std::size_t k = 0; k < r.motion.times.size(); ++k) {
    EXPECT_NEAR(r.motion.speeds[k][1], 0.0, 1e-14);
    EXPECT_NEAR(r.motion.angles[k][0], 0.202 / 34.0 * (1.0 - std::cos(omega * r.motion.times[k])),
                1e-12);
  }
}

// Two equal inertias at slip 1 in a clearance of 1, restitution 1/2: impacts at t = 0.5, 2.5, 6.5.
TEST(EventDriven, BouncesInAClearance) {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 0.0, .torque = Signal::constant(0.0)},
                    {.inertia = 1.0, .start_speed = 1.0, .torque = Signal::constant(0.0)}};
  Element e;
  e.kind = Kind::kBacklash;
  e.a = 0;
  e.b = 1;
  e.clearance = 1.0;
  e.restitution = 0.5;
  e.slowest = 1e-3;
  network.elements = {e};
  const EventDrivenResult r = event_driven(network, output_times(network));
  ASSERT_FALSE(r.failed) << r.message;
  EXPECT_EQ(r.events, 2);
  // After 2.5 s the slip is 1/4; both add up to 1.
  EXPECT_NEAR(r.motion.speeds.back()[1] - r.motion.speeds.back()[0], 0.25, 1e-12);
  EXPECT_NEAR(r.motion.speeds.back()[1] + r.motion.speeds.back()[0], 1.0, 1e-12);
  EXPECT_NEAR(r.motion.angles.back()[1] - r.motion.angles.back()[0], -0.5 + 0.25 * 2.5, 1e-12);
}

// Two brakes hold one shaft: only the sum of their capacities counts, 1 + 2 against 2.5 t.
TEST(EventDriven, AddsTheCapacitiesOfTwoBrakes) {
  Network network;
  network.bodies = {{.inertia = 1.0,
                     .start_speed = 0.0,
                     .torque = Signal{{Piece{.begin = 0.0, .value = 0.0, .slope = 2.5}}}}};
  network.elements = {friction(kHousing, 0, 1.0), friction(kHousing, 0, 2.0)};
  network.stop_time = 2.0;
  const EventDrivenResult r = event_driven(network, output_times(network));
  ASSERT_FALSE(r.failed) << r.message;
  EXPECT_NEAR(r.motion.speeds.back()[0], 1.25 * (2.0 - 1.2) * (2.0 - 1.2), 1e-12);
}

// Neither knows what the other does at an event.
class References : public testing::TestWithParam<int> {};

TEST_P(References, Agree) {
  const Family family = families()[GetParam()].second;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Network network = generate(family, seed);
    const std::vector<double> times = output_times(network);
    const EventDrivenResult exact = event_driven(network, times);
    ASSERT_FALSE(exact.failed) << network.name << ": " << exact.message;
    const Stepped stepped = time_stepping_reference(network, times, 1e-3);
    ASSERT_FALSE(stepped.failed) << network.name;
    const Difference d = difference(exact.motion, stepped.motion);
    const Range r = range(exact.motion);
    EXPECT_LE(d.angle, 10.0 * stepped.angle_error + 5e-3 * r.angle + 1e-9) << network.name;
    if (family != Family::kBacklash) {  // whose speeds jump
      EXPECT_LE(d.speed, 10.0 * stepped.speed_error + 5e-3 * r.speed + 1e-9) << network.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, References, testing::Range(0, 5),
                         [](const auto& cell) { return families()[cell.param].first; });

}  // namespace
}  // namespace saltus::oracle
