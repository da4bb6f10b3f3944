#include "oracle/write_machine.h"

#include <fmt/format.h>

namespace saltus::oracle {
namespace {

constexpr const char* kClasses = R"(package P
  connector Shaft
    Real w;
    flow Real tau;
  end Shaft;
  model Body
    parameter Real J;
    input Real u;
    Shaft s;
    Real w, phi;
  equation
    w = s.w;
    der(phi) = w;
    J*der(w) = u + s.tau;
  end Body;
  model Housing
    Shaft s;
  equation
    s.w = 0;
  end Housing;
  model Spring
    parameter Real c, d;
    Shaft a, b;
    Real angle(start = 0, fixed = true), tau;
  equation
    der(angle) = b.w - a.w;
    tau = c*angle + d*(b.w - a.w);
    b.tau = tau;
    a.tau = -tau;
  end Spring;
  model Gear
    parameter Real ratio;
    Shaft a, b;
  equation
    a.w = ratio*b.w;
    0 = ratio*a.tau + b.tau;
  end Gear;
  model Planetary
    parameter Real ratio;
    Shaft a, b, c;
  equation
    (1 + ratio)*a.w = b.w + ratio*c.w;
    c.tau = ratio*b.tau;
    a.tau = -(1 + ratio)*b.tau;
  end Planetary;
  model Slips
    input Real tau;
    Shaft a, b;
    Real slip;
  equation
    slip = b.w - a.w;
    b.tau = tau;
    a.tau = -tau;
  end Slips;
  model Sticks
    Shaft a, b;
    Real torque;
  equation
    0 = b.w - a.w;
    b.tau = torque;
    a.tau = -torque;
  end Sticks;
end P;
)";

}  // namespace

Written write_machine(const Network& network) {
  const std::size_t n = network.bodies.size();
  Written written;
  std::string declarations;
  std::string equations;
  std::vector<bool> driven(n, false);  // its speed follows from a gear
  bool housing = false;
  for (const Element& e : network.elements) {
    if (e.is_rigid()) driven[e.b] = true;
    housing = housing || e.a == kHousing;
  }
  if (housing) declarations += "  P.Housing ground;\n";
  std::vector<double> speeds;
  for (std::size_t i = 0; i < n; ++i) {
    const Body& body = network.bodies[i];
    speeds.push_back(body.start_speed);
    written.speeds.push_back(fmt::format("i{}.w", i));
    written.angles.push_back(fmt::format("i{}.phi", i));
    declarations += fmt::format(
        "  P.Body i{}(J = {}, w(start = {}{}), phi(start = 0, fixed = true), u = {});\n", i,
        number_text(body.inertia), number_text(body.start_speed), driven[i] ? "" : ", fixed = true",
        body.torque.text());
  }
  for (std::size_t k = 0; k < network.elements.size(); ++k) {
    const Element& e = network.elements[k];
    const std::string a = e.a == kHousing ? "ground.s" : fmt::format("i{}.s", e.a);
    const std::string b = fmt::format("i{}.s", e.b);
    const auto add = [&](const std::string& type, const std::string& name,
                         const std::string& modifiers) {
      declarations += fmt::format("  P.{} {}{};\n", type, name, modifiers);
      equations += fmt::format("  connect({}, {}.a);\n  connect({}.b, {});\n", a, name, name, b);
    };
    if (e.kind == Kind::kSpring) {
      add("Spring", fmt::format("e{}", k),
          fmt::format("(c = {}, d = {})", number_text(e.stiffness), number_text(e.damping)));
    } else if (e.kind == Kind::kGear) {
      add("Gear", fmt::format("e{}", k), fmt::format("(ratio = {})", number_text(e.ratio)));
    } else if (e.kind == Kind::kPlanetary) {
      add("Planetary", fmt::format("e{}", k), fmt::format("(ratio = {})", number_text(e.ratio)));
      equations += fmt::format("  connect(e{}.c, i{}.s);\n", k, e.c);
    } else if (e.kind == Kind::kFreeWheel) {
      add("Slips", fmt::format("free{}", k), "(tau = 0)");
      add("Sticks", fmt::format("stuck{}", k), "");
      equations += fmt::format(
          "  initialState({1}{0});\n"
          "  transition(free{0}, stuck{0}, free{0}.slip < 0);\n"
          "  transition(stuck{0}, free{0}, stuck{0}.torque > 0);\n",
          k, e.start_locked ? "stuck" : "free");
    } else {
      declarations += fmt::format("  Real cap{} = {};\n", k, e.capacity.text());
      add("Slips", fmt::format("forward{}", k), fmt::format("(tau = cap{})", k));
      add("Slips", fmt::format("backward{}", k), fmt::format("(tau = -cap{})", k));
      add("Sticks", fmt::format("stuck{}", k), "");
      equations += fmt::format(
          "  initialState({1}{0});\n"
          "  transition(forward{0}, stuck{0}, forward{0}.slip < 0);\n"
          "  transition(backward{0}, stuck{0}, backward{0}.slip > 0);\n"
          "  transition(stuck{0}, forward{0}, stuck{0}.torque > cap{0});\n"
          "  transition(stuck{0}, backward{0}, stuck{0}.torque < -cap{0});\n",
          k,
          e.start_locked                  ? "stuck"
          : network.slip(e, speeds) < 0.0 ? "backward"
                                          : "forward");
    }
  }
  written.text =
      fmt::format("{}model M\n{}equation\n{}end M;\n", kClasses, declarations, equations);
  return written;
}

}  // namespace saltus::oracle
