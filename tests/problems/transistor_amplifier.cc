#include <numbers>

#include "problems/problem.h"

namespace saltus {
namespace {

constexpr double kUb = 6.0;      // V, supply
constexpr double kR0 = 1000.0;   // Ohm, of the source
constexpr double kR = 9000.0;    // Ohm, of all others
constexpr double kAlpha = 0.99;  // current amplification
constexpr double kC1 = 1e-6;     // F
constexpr double kC2 = 2e-6;
constexpr double kC3 = 3e-6;
constexpr double kC4 = 4e-6;
constexpr double kC5 = 5e-6;

Expr emitter_current(const Expr& u) { return 1e-6 * (exp(u / 0.026) - 1.0); }

Expr source(const HybridSystem& system) {
  return 0.1 * sin(200.0 * std::numbers::pi * system.time());
}

}  // namespace

Problem transistor_amplifier() {
  HybridSystem system("transistor_amplifier");
  const auto node = [&](const char* name, double start, bool fixed) {
    return system.variable(name, {.start = start, .fixed = fixed, .unit = "V"});
  };
  // Five capacitors, five conditions; the other three values follow from Kirchhoff's law.
  const Expr y1 = node("y1", 0.0, true);
  const Expr y2 = node("y2", kUb / 2, false);
  const Expr y3 = node("y3", kUb / 2, true);
  const Expr y4 = node("y4", kUb, true);
  const Expr y5 = node("y5", kUb / 2, false);
  const Expr y6 = node("y6", kUb / 2, true);
  const Expr y7 = node("y7", kUb, true);
  const Expr y8 = node("y8", 0.0, false);

  const Expr g1 = emitter_current(y2 - y3);
  const Expr g2 = emitter_current(y5 - y6);
  system.mode("on").equations = {
      -kC1 * der(y1) + kC1 * der(y2) == (y1 - source(system)) / kR0,
      kC1 * der(y1) - kC1 * der(y2) == (2.0 * y2 - kUb) / kR + (1.0 - kAlpha) * g1,
      -kC2 * der(y3) == y3 / kR - g1,
      -kC3 * der(y4) + kC3 * der(y5) == (y4 - kUb) / kR + kAlpha * g1,
      kC3 * der(y4) - kC3 * der(y5) == (2.0 * y5 - kUb) / kR + (1.0 - kAlpha) * g2,
      -kC4 * der(y6) == y6 / kR - g2,
      -kC5 * der(y7) + kC5 * der(y8) == (y7 - kUb) / kR + kAlpha * g2,
      kC5 * der(y7) - kC5 * der(y8) == y8 / kR,
  };
  return make_problem(
      system, 0.2,
      {-5.5621450122622744e-3, 3.0065224719030427e+0, 2.8499587886081285e+0, 2.9264225362062415e+0,
       2.7046178650105546e+0, 2.7618377783931441e+0, 4.7709276316167722e+0, 1.2369958680915475e+0});
}

Problem transistor_amplifier_semi_explicit() {
  HybridSystem system("transistor_amplifier_semi_explicit");
  const auto differential = [&](const char* name, double start) {
    return system.variable(name, {.start = start, .fixed = true, .unit = "V"});
  };
  const auto algebraic = [&](const char* name, double start) {
    return system.variable(name, {.start = start, .unit = "V"});
  };
  const Expr u1 = differential("u1", -kUb / 2);  // y1 - y2, across C1
  const Expr y2 = algebraic("y2", kUb / 2);
  const Expr y3 = differential("y3", kUb / 2);
  const Expr u3 = differential("u3", kUb / 2);  // y4 - y5, across C3
  const Expr y5 = algebraic("y5", kUb / 2);
  const Expr y6 = differential("y6", kUb / 2);
  const Expr u5 = differential("u5", kUb);  // y7 - y8, across C5
  const Expr y8 = algebraic("y8", 0.0);

  const Expr g1 = emitter_current(y2 - y3);
  const Expr g2 = emitter_current(y5 - y6);
  const Expr into_base1 = (2.0 * y2 - kUb) / kR + (1.0 - kAlpha) * g1;
  const Expr into_base2 = (2.0 * y5 - kUb) / kR + (1.0 - kAlpha) * g2;
  system.mode("on").equations = {
      kC1 * der(u1) == into_base1,
      kC2 * der(y3) == g1 - y3 / kR,
      kC3 * der(u3) == into_base2,
      kC4 * der(y6) == g2 - y6 / kR,
      kC5 * der(u5) == y8 / kR,
      (u1 + y2 - source(system)) / kR0 + into_base1 == 0.0,
      (u3 + y5 - kUb) / kR + kAlpha * g1 + into_base2 == 0.0,
      (u5 + y8 - kUb) / kR + kAlpha * g2 + y8 / kR == 0.0,
  };
  return make_problem(
      system, 0.2,
      {-3.0120846169153049e+0, 3.0065224719030427e+0, 2.8499587886081285e+0, 2.2180467119568692e-1,
       2.7046178650105546e+0, 2.7618377783931441e+0, 3.5339317635252246e+0, 1.2369958680915475e+0});
}

}  // namespace saltus
