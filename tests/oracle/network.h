#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "oracle/signal.h"

// Drivetrains as the oracle sees them: inertias and what connects them, without any of Saltus.

namespace saltus::oracle {

constexpr int kHousing = -1;

struct Body {
  double inertia = 1.0;      // kg m2
  double start_speed = 0.0;  // rad/s; all angles start at 0
  Signal torque;             // N m, from outside
};

enum class Kind { kClutch, kBrake, kFreeWheel, kSpring, kGear, kPlanetary, kBacklash };
const char* to_string(Kind kind);

// What a locked friction element of Saltus.Drivetrain keeps; the motion does not depend on it.
enum class Level { kPosition, kVelocity, kAcceleration };

// Between the bodies a and b. slip = w_b - w_a. The torque tau acts on b as -tau, on a as +tau.
//   clutch      |tau| <= capacity, tau = capacity sign(slip) while it slips
//   brake       the same, a is the housing: slip = w_b
//   free wheel  slip >= 0, tau <= 0, tau slip = 0
//   spring      tau = stiffness (phi_b - phi_a) + damping slip
//   gear        w_a = ratio w_b, without loss
//   planetary   (1 + ratio) w_a = w_b + ratio w_c: carrier, sun, ring; without loss
//   backlash    |phi_b - phi_a| <= clearance/2; at an end slip+ = -restitution slip-, and both
//   sides
//               stay together if that is less than slowest
struct Element {
  Kind kind = Kind::kClutch;
  int a = kHousing;
  int b = 0;
  int c = 0;  // of a planetary set alone
  Signal capacity;
  double stiffness = 0.0;
  double damping = 0.0;
  double ratio = 1.0;
  double clearance = 0.0;
  double restitution = 0.0;
  double slowest = 0.0;
  bool start_locked = false;  // how a writing may begin where the slip is zero
  Level level = Level::kVelocity;

  bool is_friction() const { return kind == Kind::kClutch || kind == Kind::kBrake; }
  // A constraint that always holds: the factor of each body's speed in it.
  bool is_rigid() const { return kind == Kind::kGear || kind == Kind::kPlanetary; }
  std::vector<std::pair<int, double>> factors() const;
};

struct Network {
  std::string name;
  std::vector<Body> bodies;
  std::vector<Element> elements;
  double stop_time = 5.0;

  double slip(const Element& e, const std::vector<double>& speeds) const {
    return speeds[e.b] - (e.a == kHousing ? 0.0 : speeds[e.a]);
  }
  // Times inside the run at which a signal begins a new piece, ascending.
  std::vector<double> break_times() const;
  bool has(Kind kind) const;
};

// All parameters and start speeds changed by about `relative`, with numbers that `seed` determines.
// Equal parameters and ties are broken by it; starts at rest and free signals stay.
Network perturbed(const Network& network, double relative, std::uint64_t seed);

// The motion at `times`: speeds and angles by [time][body].
struct Motion {
  std::vector<double> times;
  std::vector<std::vector<double>> speeds;
  std::vector<std::vector<double>> angles;
};

// Largest difference of the speeds and of the angles.
struct Difference {
  double speed = 0.0;
  double angle = 0.0;
  int speed_body = 0;
  int angle_body = 0;
  double speed_time = 0.0;
  double angle_time = 0.0;
};
Difference difference(const Motion& one, const Motion& other);

// Largest magnitudes.
struct Range {
  double speed = 0.0;
  double angle = 0.0;
};
Range range(const Motion& motion);

// `count` + 1 times from 0 to the stop time.
std::vector<double> output_times(const Network& network, int count = 50);

}  // namespace saltus::oracle
