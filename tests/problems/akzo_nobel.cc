#include "problems/problem.h"

namespace saltus {

Problem akzo_nobel() {
  HybridSystem system("akzo_nobel");
  const double ks = 115.83;
  const Expr y1 = system.variable("y1", {.start = 0.444, .fixed = true, .nominal = 0.1});
  const Expr y2 = system.variable("y2", {.start = 0.00123, .fixed = true, .nominal = 1e-3});
  const Expr y3 = system.variable("y3", {.start = 0.0, .fixed = true, .nominal = 0.1});
  const Expr y4 = system.variable("y4", {.start = 0.007, .fixed = true, .nominal = 1e-3});
  const Expr y5 = system.variable("y5", {.start = 0.0, .fixed = true, .nominal = 0.01});
  const Expr y6 = system.variable("y6", {.start = 0.35999964, .nominal = 0.01});

  const Expr r1 = 18.7 * pow(y1, 4) * sqrt(y2);
  const Expr r2 = 0.58 * y3 * y4;
  const Expr r3 = 0.58 / 34.4 * y1 * y5;
  const Expr r4 = 0.09 * y1 * y4 * y4;
  const Expr r5 = 0.42 * y6 * y6 * sqrt(y2);
  const Expr inflow = 3.3 * (0.9 / 737.0 - y2);
  system.mode("reacting").equations = {
      der(y1) == -2 * r1 + r2 - r3 - r4, der(y2) == -0.5 * r1 - r4 - 0.5 * r5 + inflow,
      der(y3) == r1 - r2 + r3,           der(y4) == -r2 + r3 - 2 * r4,
      der(y5) == r2 - r3 + r5,           ks * y1 * y4 == y6,
  };
  return make_problem(system, 180.0,
                      {1.1507949206617022e-01, 1.2038314715677151e-03, 1.6115628874079742e-01,
                       3.6561564212492830e-04, 1.7080108852644041e-02, 4.8735313103074551e-03});
}

}  // namespace saltus
