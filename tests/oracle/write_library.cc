#include "oracle/write_library.h"

#include <fmt/format.h>

namespace saltus::oracle {
namespace {

const char* level_name(Level level) {
  switch (level) {
    case Level::kPosition:
      return "position";
    case Level::kVelocity:
      return "velocity";
    case Level::kAcceleration:
      return "acceleration";
  }
  return "";
}

}  // namespace

Written write_library(const Network& network) {
  const std::size_t n = network.bodies.size();
  Written written;
  std::string declarations;
  std::string equations;
  std::vector<std::string> inner(n);   // flange towards the elements
  std::vector<std::string> start(n);   // of the speed
  std::vector<bool> inside(n, false);  // a side of a backlash
  std::vector<bool> driven(n, false);  // its speed follows from a gear
  written.speeds.resize(n);
  written.angles.resize(n);
  for (const Element& e : network.elements) {
    if (e.kind == Kind::kBacklash) inside[e.a] = inside[e.b] = true;
    if (e.is_rigid()) driven[e.b] = true;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Body& body = network.bodies[i];
    const char* fixed = driven[i] ? "" : ", fixed = true";
    start[i] = fmt::format("start = {}{}", number_text(body.start_speed), fixed);
    if (inside[i]) continue;
    inner[i] = fmt::format("i{}.flange_b", i);
    written.speeds[i] = fmt::format("i{}.w", i);
    written.angles[i] = fmt::format("i{}.phi", i);
    declarations += fmt::format("  Inertia i{}(J = {}, phi(start = 0{}), w({}));\n", i,
                                number_text(body.inertia), fixed, start[i]);
  }
  for (std::size_t k = 0; k < network.elements.size(); ++k) {
    const Element& e = network.elements[k];
    if (e.kind != Kind::kBacklash) continue;
    declarations += fmt::format(
        "  Backlash e{}(b = {}, e = {}, w_min = {}, J_a = {}, J_b = {},\n"
        "    flange_a(phi(start = 0, fixed = true)), flange_b(phi(start = 0, fixed = true)),\n"
        "    w_a({}), w_b({}));\n",
        k, e.clearance, e.restitution, e.slowest, network.bodies[e.a].inertia,
        network.bodies[e.b].inertia, start[e.a], start[e.b]);
    inner[e.a] = fmt::format("e{}.flange_a", k);
    inner[e.b] = fmt::format("e{}.flange_b", k);
    written.speeds[e.a] = fmt::format("e{}.w_a", k);
    written.speeds[e.b] = fmt::format("e{}.w_b", k);
    written.angles[e.a] = fmt::format("e{}.flange_a.phi", k);
    written.angles[e.b] = fmt::format("e{}.flange_b.phi", k);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Signal& torque = network.bodies[i].torque;
    if (torque.pieces.size() == 1 && torque.pieces[0].is_zero()) continue;
    declarations += fmt::format("  Torque t{};\n", i);
    equations += fmt::format("  t{}.tau = {};\n  connect(t{}.flange, {});\n", i, torque.text(), i,
                             inside[i] ? inner[i] : fmt::format("i{}.flange_a", i));
  }
  for (std::size_t k = 0; k < network.elements.size(); ++k) {
    const Element& e = network.elements[k];
    switch (e.kind) {
      case Kind::kBrake:
      case Kind::kClutch:
        declarations +=
            fmt::format("  {} e{}(c_f = 1, level = Types.LockingLevel.{}{});\n",
                        e.kind == Kind::kBrake ? "Brake" : "Clutch", k, level_name(e.level),
                        e.start_locked ? ", startLocked = true" : "");
        equations += fmt::format("  e{}.pressure = {};\n", k, e.capacity.text());
        break;
      case Kind::kFreeWheel:
        declarations +=
            fmt::format("  FreeWheel e{}{};\n", k, e.start_locked ? "(startLocked = true)" : "");
        break;
      case Kind::kSpring:
        declarations += fmt::format("  SpringDamper e{}(c = {}, d = {});\n", k,
                                    number_text(e.stiffness), number_text(e.damping));
        break;
      case Kind::kGear:
        declarations += fmt::format("  IdealGear e{}(ratio = {});\n", k, number_text(e.ratio));
        break;
      case Kind::kPlanetary:
        declarations += fmt::format("  IdealPlanetary e{}(ratio = {});\n", k, number_text(e.ratio));
        equations += fmt::format(
            "  connect({}, e{}.carrier);\n  connect({}, e{}.sun);\n  connect({}, e{}.ring);\n",
            inner[e.a], k, inner[e.b], k, inner[e.c], k);
        continue;
      case Kind::kBacklash:
        continue;
    }
    if (e.kind == Kind::kSpring && e.a == kHousing) {
      declarations += fmt::format("  Fixed f{};\n", k);
      equations +=
          fmt::format("  connect(f{}.flange, e{}.flange_a);\n  connect(e{}.flange_b, {});\n", k, k,
                      k, inner[e.b]);
      continue;
    }
    if (e.kind == Kind::kBrake)
      equations += fmt::format("  connect({}, e{}.flange_a);\n", inner[e.b], k);
    else
      equations += fmt::format("  connect({}, e{}.flange_a);\n  connect(e{}.flange_b, {});\n",
                               inner[e.a], k, k, inner[e.b]);
  }
  written.text = fmt::format("model M\n  import Saltus.Drivetrain.*;\n{}equation\n{}end M;\n",
                             declarations, equations);
  return written;
}

}  // namespace saltus::oracle
