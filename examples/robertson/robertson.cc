#include "examples/robertson/robertson.h"

namespace saltus {

HybridSystem make_robertson() {
  HybridSystem robertson("robertson");
  const Expr k1 = robertson.parameter("k1", 0.04, {.unit = "1/s", .description = "A -> B"});
  const Expr k2 = robertson.parameter("k2", 3e7, {.unit = "1/s", .description = "B + B -> C + B"});
  const Expr k3 = robertson.parameter("k3", 1e4, {.unit = "1/s", .description = "B + C -> A + C"});
  const Expr y1 = robertson.variable(
      "y1", {.start = 1.0, .fixed = true, .unit = "1", .description = "fraction of A"});
  const Expr y2 = robertson.variable(
      "y2", {.fixed = true, .nominal = 1e-4, .unit = "1", .description = "fraction of B"});
  const Expr y3 = robertson.variable("y3", {.unit = "1", .description = "fraction of C"});

  robertson.mode("reacting").equations = {{"A", der(y1) == -k1 * y1 + k3 * y2 * y3},
                                          {"B", der(y2) == k1 * y1 - k3 * y2 * y3 - k2 * y2 * y2},
                                          {"mass", y1 + y2 + y3 == 1.0}};

  // Eleven decades of time: only the steps themselves are a sensible grid.
  robertson.experiment = {.stop_time = 1e11, .tolerance = 1e-8, .interval = 0.0};
  return robertson;
}

}  // namespace saltus
