#pragma once

#include <string>

namespace saltus {

// n inertias with springs that have a clearance: 13 n + 2 equations.
inline std::string spring_chain(int n) {
  std::string text = R"(
connector Flange Real phi; flow Real tau; end Flange;
model Inertia
  parameter Real J = 1;
  Flange a, b;
  Real phi(start = 0, fixed = true), w(start = 0, fixed = true);
equation
  a.phi = phi;
  b.phi = phi;
  der(phi) = w;
  J*der(w) = a.tau + b.tau;
end Inertia;
model Spring
  parameter Real c = 100, d = 1;
  Flange a, b;
  Real s, v, tau;
equation
  s = b.phi - a.phi;
  v = der(s);
  tau = if s > 0.1 then c*s + d*v else d*v;
  b.tau = tau;
  a.tau = -tau;
end Spring;
model Fixed Flange a; equation a.phi = 0; end Fixed;
model Chain
  Fixed f;
)";
  std::string connections = "equation\n  connect(f.a, s1.a);\n";
  for (int k = 1; k <= n; ++k) {
    const std::string i = std::to_string(k);
    text += "  Inertia i" + i + ";\n  Spring s" + i + ";\n";
    connections += "  connect(s" + i + ".b, i" + i + ".a);\n";
    if (k < n) connections += "  connect(i" + i + ".b, s" + std::to_string(k + 1) + ".a);\n";
  }
  return text + connections + "end Chain;\n";
}

}  // namespace saltus
