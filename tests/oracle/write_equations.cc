#include "oracle/write_equations.h"

#include <fmt/format.h>

namespace saltus::oracle {

Written write_equations(const Network& network, WriteElement write_element) {
  const std::size_t n = network.bodies.size();
  Written written;
  std::string declarations;
  std::string equations;
  std::vector<std::string> balance(n);
  std::vector<bool> driven(n, false);  // its speed follows from a gear
  for (const Element& e : network.elements)
    if (e.is_rigid()) driven[e.b] = true;
  for (std::size_t i = 0; i < n; ++i) {
    const Body& body = network.bodies[i];
    written.speeds.push_back(fmt::format("w{}", i));
    written.angles.push_back(fmt::format("phi{}", i));
    declarations +=
        fmt::format("  Real w{}(start = {}{}), phi{}(start = 0, fixed = true);\n", i,
                    number_text(body.start_speed), driven[i] ? "" : ", fixed = true", i);
    balance[i] = fmt::format("{}*der(w{}) = {}", number_text(body.inertia), i, body.torque.text());
  }
  for (std::size_t k = 0; k < network.elements.size(); ++k) {
    const Element& e = network.elements[k];
    const std::string tau = fmt::format("tau{}", k);
    const std::string slip =
        e.a == kHousing ? fmt::format("w{}", e.b) : fmt::format("(w{} - w{})", e.b, e.a);
    declarations += fmt::format("  Real {};\n", tau);
    if (e.kind == Kind::kGear) {
      equations += fmt::format("  w{} = {}*w{};\n", e.a, number_text(e.ratio), e.b);
      balance[e.a] += " - " + tau;
      balance[e.b] += fmt::format(" + {}*{}", number_text(e.ratio), tau);
      continue;
    }
    if (e.kind == Kind::kPlanetary) {
      equations += fmt::format("  {}*w{} = w{} + {}*w{};\n", number_text(1.0 + e.ratio), e.a, e.b,
                               number_text(e.ratio), e.c);
      balance[e.a] += fmt::format(" - {}*{}", number_text(1.0 + e.ratio), tau);
      balance[e.b] += " + " + tau;
      balance[e.c] += fmt::format(" + {}*{}", number_text(e.ratio), tau);
      continue;
    }
    if (e.a != kHousing) balance[e.a] += " + " + tau;
    balance[e.b] += " - " + tau;
    if (e.kind == Kind::kSpring) {
      const std::string angle =
          e.a == kHousing ? fmt::format("phi{}", e.b) : fmt::format("(phi{} - phi{})", e.b, e.a);
      equations += fmt::format("  {} = {}*{} + {}*{};\n", tau, number_text(e.stiffness), angle,
                               number_text(e.damping), slip);
      continue;
    }
    const ElementText text = write_element(network, static_cast<int>(k), tau, slip);
    declarations += text.declarations;
    equations += text.equations;
  }
  for (std::size_t i = 0; i < n; ++i)
    equations += fmt::format("  der(phi{}) = w{};\n  {};\n", i, i, balance[i]);
  written.text = fmt::format("model M\n{}equation\n{}end M;\n", declarations, equations);
  return written;
}

namespace {

// The free wheel starts free; it locks at once if its slip becomes negative just after the start.
ElementText free_wheel(int k, const std::string& tau, const std::string& slip) {
  return {fmt::format("  Boolean locked{}(start = false, fixed = true);\n", k),
          fmt::format("  if locked{0} then {2} = 0; else {1} = 0; end if;\n"
                      "  when not pre(locked{0}) and {2} < 0 then locked{0} = true;\n"
                      "  elsewhen pre(locked{0}) and {1} > 0 then locked{0} = false; end when;\n",
                      k, tau, slip)};
}

// side: 1 in contact at the upper end, -1 at the lower, 0 free.
ElementText backlash(const Network& network, int k, const std::string& tau,
                     const std::string& slip) {
  const Element& e = network.elements[k];
  const double share =
      network.bodies[e.a].inertia / (network.bodies[e.a].inertia + network.bodies[e.b].inertia);
  return {fmt::format("  Integer side{0}(start = 0, fixed = true);\n  Real gap{0}, slip{0};\n", k),
          fmt::format(
              "  gap{0} = phi{3} - phi{4};\n  slip{0} = {2};\n"
              "  if side{0} <> 0 then slip{0} = 0; else {1} = 0; end if;\n"
              "  when gap{0} > {5} then\n"
              "    side{0} = if {6}*pre(slip{0}) <= {7} then 1 else 0;\n"
              "    reinit(w{3}, pre(w{3}) - {8}*(1 + (if {6}*pre(slip{0}) <= {7} then 0 else "
              "{6}))*pre(slip{0}));\n"
              "    reinit(w{4}, pre(w{4}) + {9}*(1 + (if {6}*pre(slip{0}) <= {7} then 0 else "
              "{6}))*pre(slip{0}));\n"
              "  elsewhen gap{0} < -{5} then\n"
              "    side{0} = if -{6}*pre(slip{0}) <= {7} then -1 else 0;\n"
              "    reinit(w{3}, pre(w{3}) - {8}*(1 + (if -{6}*pre(slip{0}) <= {7} then 0 else "
              "{6}))*pre(slip{0}));\n"
              "    reinit(w{4}, pre(w{4}) + {9}*(1 + (if -{6}*pre(slip{0}) <= {7} then 0 else "
              "{6}))*pre(slip{0}));\n"
              "  elsewhen pre(side{0}) == 1 and {1} < 0 or pre(side{0}) == -1 and {1} > 0 then\n"
              "    side{0} = 0;\n"
              "  end when;\n",
              k, tau, slip, e.b, e.a, number_text(0.5 * e.clearance), number_text(e.restitution),
              number_text(e.slowest), number_text(share), number_text(1.0 - share))};
}

}  // namespace

ElementText write_sign(const Network& network, int k, const std::string& tau,
                       const std::string& slip) {
  const Element& e = network.elements[k];
  if (e.kind == Kind::kFreeWheel) return free_wheel(k, tau, slip);
  if (e.kind == Kind::kBacklash) return backlash(network, k, tau, slip);
  return {"", fmt::format("  {} = {}*sign({});\n", tau, e.capacity.text(), slip)};
}

// Starts slipping, forward where the slip is zero: it locks at once if the slip then falls.
ElementText write_when(const Network& network, int k, const std::string& tau,
                       const std::string& slip) {
  const Element& e = network.elements[k];
  if (e.kind == Kind::kFreeWheel) return free_wheel(k, tau, slip);
  if (e.kind == Kind::kBacklash) return backlash(network, k, tau, slip);
  const double start =
      network.bodies[e.b].start_speed - (e.a == kHousing ? 0.0 : network.bodies[e.a].start_speed);
  return {fmt::format("  Boolean locked{0}(start = false, fixed = true);\n"
                      "  Integer dir{0}(start = {1}, fixed = true);\n  Real cap{0} = {2};\n",
                      k, start < 0.0 ? -1 : 1, e.capacity.text()),
          fmt::format(
              "  if locked{0} then {2} = 0; else {1} = dir{0}*cap{0}; end if;\n"
              "  when not pre(locked{0}) and (pre(dir{0}) > 0 and {2} < 0 or pre(dir{0}) < 0 and "
              "{2} > 0) then\n"
              "    locked{0} = true; dir{0} = pre(dir{0});\n"
              "  elsewhen pre(locked{0}) and {1} > cap{0} then\n"
              "    locked{0} = false; dir{0} = 1;\n"
              "  elsewhen pre(locked{0}) and {1} < -cap{0} then\n"
              "    locked{0} = false; dir{0} = -1;\n"
              "  end when;\n",
              k, tau, slip)};
}

ElementText write_diode(const Network& network, int k, const std::string& tau,
                        const std::string& slip) {
  if (network.elements[k].kind != Kind::kFreeWheel) return write_sign(network, k, tau, slip);
  return {fmt::format("  Real s{0};\n  Boolean over{0};\n", k),
          fmt::format("  over{0} = s{0} > 0;\n"
                      "  {2} = if over{0} then s{0} else 0;\n"
                      "  {1} = if over{0} then 0 else s{0};\n",
                      k, tau, slip)};
}

// sa runs along the torque while locked and the acceleration while slip begins. mode: 1 forward,
// -1 backward, 0 stuck, 2 free, 3 unknown.
ElementText write_msl(const Network& network, int k, const std::string& tau,
                      const std::string& slip) {
  const Element& e = network.elements[k];
  if (e.kind == Kind::kFreeWheel)
    return {fmt::format("  Real v{0}, a{0}, sa{0};\n"
                        "  Boolean sF{0}(start = false, fixed = true), locked{0}(start = false),\n"
                        "    stuck{0}(start = true, fixed = true);\n",
                        k),
            fmt::format("  v{0} = {2};\n  a{0} = der(v{0});\n"
                        "  sF{0} = pre(stuck{0}) and (sa{0} > 0 or pre(sF{0}) and sa{0} > 0)"
                        " or initial() and v{0} > 0;\n"
                        "  locked{0} = pre(stuck{0}) and not sF{0};\n"
                        "  a{0} = if locked{0} then 0 else sa{0};\n"
                        "  {1} = if locked{0} then sa{0} else 0;\n"
                        "  stuck{0} = locked{0} or v{0} <= 0;\n",
                        k, tau, slip)};
  return {
      fmt::format(
          "  Real v{0}, a{0}, sa{0}, cap{0} = {1};\n"
          "  Boolean sF{0}(start = false, fixed = true), sB{0}(start = false, fixed = true),\n"
          "    locked{0}(start = false), free{0};\n"
          "  Integer mode{0}(start = 3, fixed = true);\n",
          k, e.capacity.text()),
      fmt::format(
          "  v{0} = {2};\n  a{0} = der(v{0});\n  free{0} = cap{0} <= 0;\n"
          "  sF{0} = pre(mode{0}) == 0 and (sa{0} > cap{0} or pre(sF{0}) and sa{0} > cap{0})"
          " or initial() and v{0} > 0;\n"
          "  sB{0} = pre(mode{0}) == 0 and (sa{0} < -cap{0} or pre(sB{0}) and sa{0} < -cap{0})"
          " or initial() and v{0} < 0;\n"
          "  locked{0} = not free{0} and not (pre(mode{0}) == 1 or sF{0} or pre(mode{0}) == -1 or "
          "sB{0});\n"
          "  a{0} = if locked{0} then 0 elseif free{0} then sa{0} elseif sF{0} then sa{0} - "
          "cap{0}\n"
          "    elseif sB{0} then sa{0} + cap{0} elseif pre(mode{0}) == 1 then sa{0} - cap{0}\n"
          "    else sa{0} + cap{0};\n"
          "  {1} = if locked{0} then sa{0} elseif free{0} then 0 elseif sF{0} then cap{0}\n"
          "    elseif sB{0} then -cap{0} elseif pre(mode{0}) == 1 then cap{0} else -cap{0};\n"
          "  mode{0} = if free{0} then 2\n"
          "    elseif (pre(mode{0}) == 1 or pre(mode{0}) == 2 or sF{0}) and v{0} > 0 then 1\n"
          "    elseif (pre(mode{0}) == -1 or pre(mode{0}) == 2 or sB{0}) and v{0} < 0 then -1\n"
          "    else 0;\n",
          k, tau, slip)};
}

}  // namespace saltus::oracle
