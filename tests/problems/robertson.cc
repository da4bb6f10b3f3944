#include "problems/problem.h"

namespace saltus {

Problem robertson() {
  HybridSystem system("robertson");
  // Over eleven decades of time y1 falls to 2e-8 and y2 to 8e-14; nominals of the size of the start
  // would let a solver lose them, and a negative y2 makes the problem unstable.
  const Expr y1 = system.variable("y1", {.start = 1.0, .fixed = true, .nominal = 1e-4});
  const Expr y2 = system.variable("y2", {.start = 0.0, .fixed = true, .nominal = 1e-8});
  const Expr y3 = system.variable("y3", {.start = 0.0, .nominal = 1.0});

  const Expr decay = 0.04 * y1;
  const Expr exchange = 1e4 * y2 * y3;
  system.mode("reacting").equations = {
      der(y1) == -decay + exchange,
      der(y2) == decay - exchange - 3e7 * y2 * y2,
      y1 + y2 + y3 == 1.0,
  };
  return make_problem(system, 1e11,
                      {2.0833401497012942e-08, 8.3333607703347834e-14, 9.9999997916651517e-01});
}

}  // namespace saltus
