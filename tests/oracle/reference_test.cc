#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace saltus::oracle
