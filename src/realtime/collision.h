#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace saltus {

// A mass on a spring and a damper that hold it at `rest` (RE Figure 54).
struct CollidingMass {
  double m = 1.0;     // kg
  double c = 0.0;     // N/m
  double d = 0.0;     // N s/m
  double rest = 0.0;  // m
  double x = 0.0;     // m, at the start
  double v = 0.0;     // m/s
};

// Masses on a line, in their order, each of which can hit its neighbours.
struct CollisionCase {
  std::string name;
  std::string description;
  std::vector<CollidingMass> masses;
  double restitution = 1.0;  // c_r of RE (105)
  double separation = 1.0;   // k_s of RE (128): force on the pushing mass over that on the other
  double step = 0.1;         // s
  double stop_time = 20.0;   // s
};

// Cases 1 to 7 of RE Tables 13 and 14, and `cradle`: several masses that collide in one sample.
std::vector<CollisionCase> collision_cases();

enum class CollisionMethod {
  kFree,   // no collisions: what time is measured by (RE 4.4.2)
  kDelta,  // RE (129) to (133): steps cut on the line between their ends, then a longer one
  kExact,  // partial steps to the impacts themselves, contact as a constraint
};
inline constexpr std::array kCollisionMethods = {CollisionMethod::kFree, CollisionMethod::kDelta,
                                                 CollisionMethod::kExact};
std::string_view to_string(CollisionMethod method);

struct CollisionPoint {
  double t = 0.0;
  std::vector<double> x;  // m, by mass
  std::vector<double> v;  // m/s
  double energy = 0.0;    // J, of masses and springs
};

struct Impact {
  double t = 0.0;
  std::size_t left = 0;  // it hits the next one
  double loss = 0.0;     // J, RE (106)
};

struct CollisionRun {
  CollisionMethod method = CollisionMethod::kExact;
  std::string refused;  // why there are no numbers
  std::vector<CollisionPoint> points;
  std::vector<Impact> impacts;
  std::size_t contact_steps = 0;  // in which a separation force acted at the end
  double overlap = 0.0;           // m, the largest at the points
  double seconds = 0.0;           // processor time of a step on average; 0: not measured
  double impact_seconds = 0.0;    // of the first step with an impact; 0: none, or not measured
};

// Runs a case with a fixed step. No impact is postponed: all of a sample are taken in it. Throws
// Error for wrong numbers; what a method does not do is told in `refused`.
CollisionRun run_collisions(const CollisionCase& what, CollisionMethod method, bool measure_time);

}  // namespace saltus
