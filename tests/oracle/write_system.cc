#include "oracle/write_system.h"

#include <fmt/format.h>

#include "model/system.h"

namespace saltus::oracle {
namespace {

Expr expression(const Signal& signal, const Expr& time) {
  const auto piece = [&](const Piece& p) {
    Expr value = p.value;
    if (p.slope != 0.0) value += p.slope * (time - p.begin);
    if (p.amplitude != 0.0) value += p.amplitude * sin(p.omega * time + p.phase);
    return value;
  };
  Expr value = piece(signal.pieces.back());
  for (std::size_t i = signal.pieces.size() - 1; i-- > 0;)
    value = select(time < signal.pieces[i + 1].begin, piece(signal.pieces[i]), value);
  return value;
}

// Answers of the elements that can stick: 1, -1 (slipping that way) or 0.
using Answers = std::vector<int>;

std::string mode_name(const Answers& answers) {
  std::string name = "mode";
  for (const int a : answers) name += a == 0 ? " stuck" : a > 0 ? " forward" : " backward";
  return name;
}

HybridSystem make(const Network& network) {
  HybridSystem s(network.name);
  const int n = static_cast<int>(network.bodies.size());
  std::vector<bool> driven(n, false);
  for (const Element& e : network.elements)
    if (e.is_rigid()) driven[e.b] = true;
  std::vector<Expr> w;
  std::vector<Expr> phi;
  std::vector<double> speeds;
  for (int i = 0; i < n; ++i) {
    speeds.push_back(network.bodies[i].start_speed);
    w.push_back(s.variable(fmt::format("w{}", i), {.start = speeds.back(), .fixed = !driven[i]}));
    phi.push_back(s.variable(fmt::format("phi{}", i), {.fixed = true}));
  }
  std::vector<Expr> sums;
  for (const Body& body : network.bodies) sums.push_back(expression(body.torque, s.time()));
  std::vector<Equation> common;
  struct Sticking {
    const Element* element;
    Expr tau, slip, capacity;
  };
  std::vector<Sticking> sticking;
  for (std::size_t k = 0; k < network.elements.size(); ++k) {
    const Element& e = network.elements[k];
    const Expr tau = s.variable(fmt::format("tau{}", k));
    const Expr slip = e.a == kHousing ? w[e.b] : w[e.b] - w[e.a];
    if (e.is_rigid()) {
      Expr kept = 0.0;
      for (const auto& [body, factor] : e.factors()) {
        kept += factor * w[body];
        sums[body] -= factor * tau;
      }
      common.push_back(kept == 0.0);
      continue;
    }
    if (e.a != kHousing) sums[e.a] += tau;
    sums[e.b] -= tau;
    if (e.kind == Kind::kSpring)
      common.push_back(tau == e.stiffness * (e.a == kHousing ? phi[e.b] : phi[e.b] - phi[e.a]) +
                                  e.damping * slip);
    else
      sticking.push_back({&e, tau, slip, expression(e.capacity, s.time())});
  }
  for (int i = 0; i < n; ++i) {
    common.push_back(der(phi[i]) == w[i]);
    common.push_back(network.bodies[i].inertia * der(w[i]) == sums[i]);
  }
  // All combinations.
  std::vector<Answers> all = {{}};
  for (const Sticking& e : sticking) {
    std::vector<Answers> longer;
    for (const Answers& answers : all)
      for (const int a : {1, 0, -1}) {
        if (a < 0 && e.element->kind == Kind::kFreeWheel) continue;
        longer.push_back(answers);
        longer.back().push_back(a);
      }
    all = longer;
  }
  for (const Answers& answers : all) {
    Mode& mode = s.mode(mode_name(answers));
    mode.equations = common;
    for (std::size_t k = 0; k < sticking.size(); ++k) {
      const Sticking& e = sticking[k];
      const bool free_wheel = e.element->kind == Kind::kFreeWheel;
      const auto to = [&](int answer) {
        Answers next = answers;
        next[k] = answer;
        return mode_name(next);
      };
      if (answers[k] == 0) {
        mode.equations.push_back(e.slip == 0.0);
        if (free_wheel) {
          mode.guards.push_back(
              {.name = fmt::format("overruns {}", k), .value = -e.tau, .to = to(1)});
        } else {
          mode.guards.push_back({.name = fmt::format("slips forward {}", k),
                                 .value = e.capacity - e.tau,
                                 .to = to(1)});
          mode.guards.push_back({.name = fmt::format("slips backward {}", k),
                                 .value = e.capacity + e.tau,
                                 .to = to(-1)});
        }
      } else {
        mode.equations.push_back(e.tau == (free_wheel ? Expr(0.0) : answers[k] * e.capacity));
        mode.guards.push_back(
            {.name = fmt::format("sticks {}", k), .value = answers[k] * e.slip, .to = to(0)});
      }
    }
  }
  Answers start;
  for (const Sticking& e : sticking)
    start.push_back(e.element->start_locked ? 0 : network.slip(*e.element, speeds) < 0.0 ? -1 : 1);
  s.initial_mode = mode_name(start);
  return s;
}

}  // namespace

std::optional<Written> write_system(const Network& network) {
  int count = 0;
  for (const Element& e : network.elements) {
    if (e.kind == Kind::kBacklash) return {};
    if (e.is_friction() || e.kind == Kind::kFreeWheel) ++count;
  }
  if (count == 0 || count > 4) return {};  // 3^4 modes
  Written written;
  for (std::size_t i = 0; i < network.bodies.size(); ++i) {
    written.speeds.push_back(fmt::format("w{}", i));
    written.angles.push_back(fmt::format("phi{}", i));
  }
  written.system = [network] { return make(network); };
  written.text = "// written in C++: write_system.cc\n";
  return written;
}

}  // namespace saltus::oracle
