#include "oracle/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "oracle/random.h"

namespace saltus::oracle {
namespace {

class Generator {
 public:
  Generator(Family family, std::uint64_t seed)
      : family_(family), random_(seed * 8 + static_cast<std::uint64_t>(family)) {
    whole_ = family == Family::kDegenerate || (family != Family::kRandom && random_.chance(0.3));
    network_.name = fmt::format("{}_{}", families()[static_cast<int>(family)].first, seed);
  }

  Network make() {
    if (family_ == Family::kBacklash)
      make_backlash();
    else if (family_ == Family::kShapes)
      make_shapes();
    else
      make_tree();
    // What starts without slip may be written as locked.
    for (Element& e : network_.elements) {
      e.start_locked = slip_at_start(e) == 0.0 && random_.chance(0.5);
      e.level = static_cast<Level>(random_.integer(0, 2));
    }
    return network_;
  }

 private:
  // A number between the bounds: an integer where the family says so.
  double number(double from, double to) {
    if (!whole_) return random_.uniform(from, to);
    return random_.integer(static_cast<int>(std::ceil(from)), static_cast<int>(std::floor(to)));
  }
  double positive(double from, double to) {
    if (!whole_) return random_.logarithmic(from, to);
    return random_.integer(1, std::max(1, std::min(4, static_cast<int>(to))));
  }
  double switch_time() {
    if (whole_) return random_.integer(1, 4);
    return random_.chance(0.5) ? random_.integer(1, 9) * 0.5 : random_.uniform(0.2, 4.8);
  }

  Signal torque() {
    const double kind = random_.unit();
    if (kind < (whole_ ? 0.35 : 0.25)) return Signal::constant(0.0);
    const double size = 5.0;
    if (kind < 0.5) return Signal::constant(number(-size, size));
    if (kind < 0.7) {  // steps
      Signal s = Signal::constant(number(-size, size));
      std::vector<double> times;
      for (int i = random_.integer(1, 3); i > 0; --i) times.push_back(switch_time());
      std::sort(times.begin(), times.end());
      times.erase(std::unique(times.begin(), times.end()), times.end());
      for (const double t : times) s.pieces.push_back({.begin = t, .value = number(-size, size)});
      return s;
    }
    if (kind < 0.85) {  // a ramp between two levels
      const double first = number(-size, size);
      const double begin = switch_time();
      const double length = whole_ ? 1.0 : random_.uniform(0.1, 2.0);
      const double slope = number(-4.0, 4.0);
      return {{{.value = first},
               {.begin = begin, .value = first, .slope = slope},
               {.begin = begin + length, .value = first + slope * length}}};
    }
    Signal s = Signal::constant(number(-2.0, 2.0));
    s.pieces[0].amplitude = number(1.0, size);
    s.pieces[0].omega = whole_ ? random_.integer(1, 6) : random_.uniform(0.5, 10.0);
    s.pieces[0].phase = whole_ ? 0.0 : random_.uniform(0.0, 6.28);
    return s;
  }

  // Non-negative.
  Signal capacity() {
    const double full = positive(0.3, 10.0);
    const double kind = random_.unit();
    if (kind < 0.4) return Signal::constant(full);
    if (kind < 0.6) {  // steps, some to zero
      Signal s = Signal::constant(random_.chance(0.3) ? 0.0 : full);
      std::vector<double> times;
      for (int i = random_.integer(1, 3); i > 0; --i) times.push_back(switch_time());
      std::sort(times.begin(), times.end());
      times.erase(std::unique(times.begin(), times.end()), times.end());
      for (const double t : times)
        s.pieces.push_back({.begin = t, .value = random_.chance(0.3) ? 0.0 : positive(0.3, 10.0)});
      return s;
    }
    if (kind < 0.8) {  // closes from zero, or opens to zero, and back
      const double begin = switch_time();
      const double length = whole_ ? 1.0 : random_.uniform(0.1, 1.5);
      const double slope = full / length;
      if (random_.chance(0.4))
        return {{{.value = 0.0},
                 {.begin = begin, .slope = slope},
                 {.begin = begin + length, .value = full}}};
      Signal s{{{.value = full},
                {.begin = begin, .value = full, .slope = -slope},
                {.begin = begin + length, .value = 0.0}}};
      if (random_.chance(0.5)) {  // opens through zero and closes at once
        s.pieces.back() = {.begin = begin + length, .slope = slope};
        s.pieces.push_back({.begin = begin + 2.0 * length, .value = full});
      }
      return s;
    }
    const double amplitude = whole_ ? full : random_.uniform(0.1, 1.0) * full;
    Signal s = Signal::constant(full + (whole_ && random_.chance(0.5) ? 1.0 : 0.0));
    if (!whole_ && amplitude > 0.9 * full) s.pieces[0].value = 1.5 * amplitude;
    s.pieces[0].amplitude = amplitude;
    s.pieces[0].omega = whole_ ? random_.integer(1, 6) : random_.uniform(0.5, 10.0);
    s.pieces[0].phase = whole_ ? 0.0 : random_.uniform(0.0, 6.28);
    if (whole_ && s.pieces[0].value <= amplitude) s.pieces[0].value = amplitude + 1.0;
    return s;
  }

  double slip_at_start(const Element& e) const {
    return network_.bodies[e.b].start_speed -
           (e.a == kHousing ? 0.0 : network_.bodies[e.a].start_speed);
  }

  void add_body() {
    Body body;
    if (twin_ && !network_.bodies.empty() && random_.chance(0.6)) {
      body = network_.bodies.back();  // equal parameters
    } else {
      body.inertia = positive(0.02, 10.0);
      const bool rest = family_ == Family::kRest || random_.chance(still_);
      body.start_speed = rest ? 0.0 : number(-6.0, 6.0);
      body.torque = torque();
    }
    network_.bodies.push_back(body);
  }

  void make_tree() {
    twin_ = family_ == Family::kDegenerate ? random_.chance(0.5) : random_.chance(0.05);
    still_ = random_.chance(0.2) ? 1.0 : 0.2;  // the whole network at rest, or some of it
    const int n = family_ == Family::kBrakes ? random_.integer(2, 6) : random_.integer(2, 12);
    const bool chain = random_.chance(0.5);
    Element model;
    for (int i = 0; i < n; ++i) {
      add_body();
      if (i == 0) continue;
      const int parent = chain ? i - 1 : random_.integer(0, i - 1);
      connect(parent, i);
    }
    const int brakes = family_ == Family::kBrakes ? random_.integer(3, 5) : -1;
    if (brakes > 0) {
      for (int i = 0; i < brakes; ++i) add_brake(random_.integer(0, n - 1));
    } else {
      for (int i = 0; i < n; ++i)
        if (random_.chance(0.2)) add_brake(i);
    }
    const int cycles = family_ == Family::kBrakes          ? random_.integer(0, 2)
                       : random_.chance(n > 2 ? 0.2 : 0.1) ? 1
                                                           : 0;
    for (int i = 0; i < cycles; ++i) {
      const int a = random_.integer(0, n - 1);
      const int b = random_.integer(0, n - 1);
      if (a == b) continue;
      Element e;
      e.a = a;
      e.b = b;
      e.kind = random_.chance(0.8) ? Kind::kClutch : Kind::kFreeWheel;
      add_friction(e);
    }
  }

  void add_brake(int body) {
    Element e;
    e.kind = Kind::kBrake;
    e.a = kHousing;
    e.b = body;
    add_friction(e);
  }

  // A clutch, brake or free wheel; turns a free wheel round that would start against its direction.
  void add_friction(Element e) {
    if (e.kind == Kind::kFreeWheel) {
      if (slip_at_start(e) < 0.0 || (slip_at_start(e) == 0.0 && random_.chance(0.5)))
        std::swap(e.a, e.b);
      e.capacity = Signal::constant(0.0);
    } else if (twin_ && random_.chance(0.6) && !last_capacity_.pieces.empty() &&
               !last_capacity_.pieces[0].is_zero()) {
      e.capacity = last_capacity_;
    } else {
      e.capacity = capacity();
      last_capacity_ = e.capacity;
    }
    network_.elements.push_back(e);
  }

  void connect(int parent, int child) {
    Element e;
    e.a = parent;
    e.b = child;
    const double kind = random_.unit();
    const bool springs = family_ == Family::kRest;
    if (kind < (springs ? 0.3 : 0.45)) {
      e.kind = Kind::kClutch;
      add_friction(e);
    } else if (kind < (springs ? 0.45 : 0.67)) {
      e.kind = Kind::kFreeWheel;
      add_friction(e);
    } else if (kind < 0.92) {
      e.kind = Kind::kSpring;
      e.stiffness = whole_ ? random_.integer(1, 50) : random_.logarithmic(3.0, 300.0);
      if (random_.chance(0.6)) e.damping = whole_ ? 1.0 : random_.logarithmic(0.02, 2.0);
      network_.elements.push_back(e);
    } else {
      e.kind = Kind::kGear;
      e.ratio = whole_ ? random_.integer(1, 3) : random_.uniform(0.5, 3.0);
      if (random_.chance(0.3)) e.ratio = -e.ratio;
      network_.bodies[child].start_speed = network_.bodies[parent].start_speed / e.ratio;
      network_.elements.push_back(e);
    }
  }

  // Pairs with clearance between springs, as Saltus.Drivetrain.Backlash asks for.
  void make_backlash() {
    still_ = random_.chance(0.2) ? 1.0 : 0.2;
    const int pairs = random_.integer(1, 2);
    add_body();
    for (int i = 0; i < pairs; ++i) {
      const int before = static_cast<int>(network_.bodies.size()) - 1;
      for (int k = 0; k < 3; ++k) add_body();
      // No torque from outside on the two sides.
      network_.bodies[before + 1].torque = Signal::constant(0.0);
      network_.bodies[before + 2].torque = Signal::constant(0.0);
      add_spring(before, before + 1);
      Element e;
      e.kind = Kind::kBacklash;
      e.a = before + 1;
      e.b = before + 2;
      e.clearance = whole_ ? 1.0 : random_.logarithmic(0.01, 0.5);
      e.restitution = whole_ ? 0.5 : random_.uniform(0.0, 0.8);
      e.slowest = 1e-3;
      network_.elements.push_back(e);
      add_spring(before + 2, before + 3);
    }
    for (int i = 0; i < static_cast<int>(network_.bodies.size()); i += 3)
      if (random_.chance(0.3)) add_brake(i);
  }

  void make_shapes() {
    twin_ = random_.chance(0.2);
    still_ = random_.chance(0.2) ? 1.0 : 0.2;
    const int n = random_.integer(3, 8);
    for (int i = 0; i < n; ++i) {
      add_body();
      if (i > 0) join(i);
    }
    for (int i = 0; i < n; ++i) {
      if (random_.chance(0.2)) add_spring(kHousing, i);
      if (random_.chance(0.25)) add_brake(i);
      if (!random_.chance(0.1)) continue;
      // A brake behind a spring.
      add_body();
      const int last = static_cast<int>(network_.bodies.size()) - 1;
      add_spring(i, last);
      add_brake(last);
    }
  }

  // Joins body i to those before it.
  void join(int i) {
    const int before = random_.integer(0, i - 1);
    const double kind = random_.unit();
    Body& body = network_.bodies[i];
    const auto speed = [&](int k) { return network_.bodies[k].start_speed; };
    Element e;
    e.a = before;
    e.b = i;
    if (kind < 0.25 && i > 1) {
      e.kind = Kind::kPlanetary;
      e.c = random_.integer(0, i - 2);
      if (e.c >= e.a) ++e.c;
      e.ratio = whole_ ? random_.integer(1, 3) : random_.uniform(1.2, 3.5);
      body.start_speed = (1.0 + e.ratio) * speed(e.a) - e.ratio * speed(e.c);
      network_.elements.push_back(e);
    } else if (kind < 0.45) {
      e.kind = Kind::kGear;
      e.ratio = random_.chance(0.5) ? -1.0 : number(1.0, 3.0) * (random_.chance(0.3) ? -1.0 : 1.0);
      body.start_speed = speed(e.a) / e.ratio;
      network_.elements.push_back(e);
    } else if (kind < 0.55) {
      // One free wheel each way: together they are rigid.
      body.start_speed = speed(e.a);
      e.kind = Kind::kFreeWheel;
      e.capacity = Signal::constant(0.0);
      network_.elements.push_back(e);
      std::swap(e.a, e.b);
      network_.elements.push_back(e);
    } else if (kind < 0.7) {
      add_spring(e.a, e.b);
    } else {
      e.kind = kind < 0.85 ? Kind::kClutch : Kind::kFreeWheel;
      add_friction(e);
    }
  }

  void add_spring(int a, int b) {
    Element e;
    e.kind = Kind::kSpring;
    e.a = a;
    e.b = b;
    e.stiffness = whole_ ? random_.integer(1, 50) : random_.logarithmic(3.0, 100.0);
    if (random_.chance(0.6)) e.damping = whole_ ? 1.0 : random_.logarithmic(0.02, 1.0);
    network_.elements.push_back(e);
  }

  Family family_;
  Random random_;
  bool whole_ = false;
  bool twin_ = false;
  double still_ = 0.0;
  Signal last_capacity_;
  Network network_;
};

}  // namespace

const std::vector<std::pair<std::string, Family>>& families() {
  static const std::vector<std::pair<std::string, Family>> all = {
      {"random", Family::kRandom},     {"degenerate", Family::kDegenerate},
      {"brakes", Family::kBrakes},     {"rest", Family::kRest},
      {"backlash", Family::kBacklash}, {"shapes", Family::kShapes}};
  return all;
}

Network generate(Family family, std::uint64_t seed) { return Generator(family, seed).make(); }

std::map<std::string, int> census(const Network& network) {
  std::map<std::string, int> count;
  ++count["networks"];
  count["inertias"] += static_cast<int>(network.bodies.size());
  bool rest = true;
  std::vector<double> speeds;
  for (std::size_t i = 0; i < network.bodies.size(); ++i) {
    const Body& body = network.bodies[i];
    speeds.push_back(body.start_speed);
    rest = rest && body.start_speed == 0.0;
    if (body.torque.pieces.size() == 1 && body.torque.pieces[0].is_zero()) ++count["zero torques"];
    if (i > 0 && body.inertia == network.bodies[i - 1].inertia) ++count["equal inertias"];
  }
  if (rest) ++count["networks at rest"];
  std::vector<double> times;
  for (const Element& e : network.elements) {
    ++count[fmt::format("{}s", to_string(e.kind))];
    if ((e.is_friction() || e.kind == Kind::kFreeWheel) && network.slip(e, speeds) == 0.0)
      ++count["elements without slip at the start"];
    if (e.kind == Kind::kSpring && e.a == kHousing) ++count["springs at the housing"];
    if (e.kind == Kind::kSpring && e.damping > 0.0) ++count["springs with dampers"];
    if (e.kind == Kind::kGear && e.ratio == -1.0) ++count["gears with ratio -1"];
    if (e.kind == Kind::kFreeWheel)
      for (const Element& other : network.elements)
        if (other.kind == Kind::kFreeWheel && other.a == e.b && other.b == e.a && e.a < e.b)
          ++count["free wheels both ways"];
    if (!e.is_friction()) continue;
    if (e.capacity.pieces.size() > 1) ++count["capacities in pieces"];
    if (e.capacity.pieces[0].amplitude != 0.0) ++count["capacities that swing"];
    for (const Piece& p : e.capacity.pieces)
      if (p.at(p.begin) == 0.0) {
        ++count["capacities with a zero"];
        break;
      }
  }
  const auto add = [&](const Signal& s) {
    for (std::size_t i = 1; i < s.pieces.size(); ++i) times.push_back(s.pieces[i].begin);
  };
  for (const Body& body : network.bodies) add(body.torque);
  for (const Element& e : network.elements) add(e.capacity);
  std::sort(times.begin(), times.end());
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] == times[i - 1]) ++count["simultaneous steps"];
  return count;
}

}  // namespace saltus::oracle
