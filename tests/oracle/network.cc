#include "oracle/network.h"

#include <algorithm>
#include <cmath>

#include "oracle/random.h"

namespace saltus::oracle {

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::kClutch:
      return "clutch";
    case Kind::kBrake:
      return "brake";
    case Kind::kFreeWheel:
      return "free wheel";
    case Kind::kSpring:
      return "spring";
    case Kind::kGear:
      return "gear";
    case Kind::kPlanetary:
      return "planetary set";
    case Kind::kBacklash:
      return "backlash";
  }
  return "";
}

std::vector<std::pair<int, double>> Element::factors() const {
  if (kind == Kind::kGear) return {{a, 1.0}, {b, -ratio}};
  if (kind == Kind::kPlanetary) return {{a, 1.0 + ratio}, {b, -1.0}, {c, -ratio}};
  return {};
}

std::vector<double> Network::break_times() const {
  std::vector<double> times;
  const auto add = [&](const Signal& signal) {
    for (const Piece& p : signal.pieces)
      if (p.begin > 0.0 && p.begin < stop_time) times.push_back(p.begin);
  };
  for (const Body& body : bodies) add(body.torque);
  for (const Element& e : elements) add(e.capacity);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

bool Network::has(Kind kind) const {
  return std::any_of(elements.begin(), elements.end(),
                     [&](const Element& e) { return e.kind == kind; });
}

Network perturbed(const Network& network, double relative, std::uint64_t seed) {
  Network result = network;
  Random random(seed);
  const auto change = [&](double& x) { x *= 1.0 + relative * (2.0 * random.unit() - 1.0); };
  const auto change_signal = [&](Signal& signal) {
    for (Piece& p : signal.pieces) {
      // A capacity stays non-negative: value, slope and amplitude change together.
      const double factor = 1.0 + relative * (2.0 * random.unit() - 1.0);
      p.value *= factor;
      p.slope *= factor;
      p.amplitude *= factor;
    }
  };
  for (Body& body : result.bodies) {
    change(body.inertia);
    change_signal(body.torque);
  }
  for (Element& e : result.elements) {
    change(e.stiffness);
    change(e.damping);
    change_signal(e.capacity);
  }
  return result;
}

Difference difference(const Motion& one, const Motion& other) {
  Difference d;
  const auto look = [](double x, double y, double& worst) {
    const double e = std::abs(x - y);
    if (e <= worst) return false;  // false for NaN too, which must win
    worst = std::isnan(e) ? HUGE_VAL : e;
    return true;
  };
  for (std::size_t k = 0; k < one.times.size(); ++k)
    for (std::size_t i = 0; i < one.speeds[k].size(); ++i) {
      if (look(one.speeds[k][i], other.speeds[k][i], d.speed)) {
        d.speed_body = static_cast<int>(i);
        d.speed_time = one.times[k];
      }
      if (look(one.angles[k][i], other.angles[k][i], d.angle)) {
        d.angle_body = static_cast<int>(i);
        d.angle_time = one.times[k];
      }
    }
  return d;
}

Range range(const Motion& motion) {
  Range r;
  for (std::size_t k = 0; k < motion.times.size(); ++k)
    for (std::size_t i = 0; i < motion.speeds[k].size(); ++i) {
      r.speed = std::max(r.speed, std::abs(motion.speeds[k][i]));
      r.angle = std::max(r.angle, std::abs(motion.angles[k][i]));
    }
  return r;
}

std::vector<double> output_times(const Network& network, int count) {
  std::vector<double> times;
  for (int k = 0; k <= count; ++k) times.push_back(network.stop_time * k / count);
  return times;
}

}  // namespace saltus::oracle
