#include <array>
#include <numbers>
#include <string>

#include "problems/problem.h"

namespace saltus {

Problem diode_ring() {
  constexpr std::size_t kNodes = 8;
  // F and Ohm from node to ground; a node without a capacitor is algebraic.
  constexpr std::array<double, kNodes> kCapacitance = {1e-6, 1e-8, 0, 0, 1e-7, 1e-9, 0, 0};
  constexpr std::array<double, kNodes> kResistance = {1e4, 5e3, 2e3, 1e3, 1e4, 5e3, 2e3, 1e3};
  // V; those of the nodes 3 and 4 solve Kirchhoff's law for empty capacitors at t = 0.
  constexpr std::array<double, kNodes> kStart = {
      0, 0, 6.3690381027089077e-01, 3.0102577014605353e-01, 0, 0, 0, 0};

  HybridSystem system("diode_ring");
  std::vector<Expr> v;
  for (std::size_t i = 0; i < kNodes; ++i) {
    v.push_back(system.variable(
        "v" + std::to_string(i + 1),
        {.start = kStart[i], .fixed = kCapacitance[i] > 0.0, .nominal = 0.1, .unit = "V"}));
  }

  // Current out of each node.
  std::vector<Expr> out(kNodes);
  for (std::size_t i = 0; i < kNodes; ++i) {
    const std::size_t next = (i + 1) % kNodes;
    const Expr diode = 1e-9 * (exp((v[i] - v[next]) / 0.026) - 1.0);
    out[i] += v[i] / kResistance[i] + diode;
    out[next] -= diode;
  }
  const double pi = std::numbers::pi;
  out[0] += (v[0] - 3.0 * sin(2000.0 * pi * system.time())) / 100.0;
  out[2] += (v[2] - 1.0 - 2.0 * sin(5000.0 * pi * system.time())) / 500.0;

  Mode& on = system.mode("on");
  for (std::size_t i = 0; i < kNodes; ++i) {
    on.equations.push_back(kCapacitance[i] > 0.0 ? kCapacitance[i] * der(v[i]) == -out[i]
                                                 : out[i] == 0.0);
  }
  return make_problem(system, 5e-3,
                      {-9.8163494528864604e-1, -1.7173814445204338e-3, 6.6586105045966255e-1,
                       3.3506507298854178e-1, 1.8834776485339713e-1, -5.7188568009985504e-2,
                       -3.1398336362652181e-1, -6.2808596470477190e-1});
}

}  // namespace saltus
