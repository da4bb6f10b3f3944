#include "problems/problem.h"

namespace saltus {

Problem car_axis() {
  HybridSystem system("car_axis");
  const auto position = [&](const char* name, double start) {
    return system.variable(name, {.start = start, .fixed = true, .nominal = 0.1, .unit = "m"});
  };
  const auto velocity = [&](const char* name, double start) {
    return system.variable(name, {.start = start, .fixed = true, .nominal = 0.1, .unit = "m/s"});
  };
  const Expr xl = position("xl", 0.0);
  const Expr yl = position("yl", 0.5);
  const Expr xr = position("xr", 1.0);
  const Expr yr = position("yr", 0.5);
  const Expr ul = velocity("ul", -0.5);
  const Expr vl = velocity("vl", 0.0);
  const Expr ur = velocity("ur", -0.5);
  const Expr vr = velocity("vr", 0.0);
  const Expr lambda1 = system.variable("lambda1", {.nominal = 1e-2});
  const Expr lambda2 = system.variable("lambda2", {.nominal = 1e-2});

  const double k = 5e-4;  // eps^2 M / 2
  const Expr yb = 0.1 * sin(10 * system.time());
  const Expr xb = sqrt(1 - yb * yb);
  const Expr left = sqrt(xl * xl + yl * yl);
  const Expr right = sqrt((xr - xb) * (xr - xb) + (yr - yb) * (yr - yb));
  system.mode("driving").equations = {
      der(xl) == ul,
      der(yl) == vl,
      der(xr) == ur,
      der(yr) == vr,
      k * der(ul) == (0.5 - left) * xl / left + lambda1 * xb + 2 * lambda2 * (xl - xr),
      k * der(vl) == (0.5 - left) * yl / left + lambda1 * yb + 2 * lambda2 * (yl - yr) - k,
      k * der(ur) == (0.5 - right) * (xr - xb) / right - 2 * lambda2 * (xl - xr),
      k * der(vr) == (0.5 - right) * (yr - yb) / right - 2 * lambda2 * (yl - yr) - k,
      xl * xb + yl * yb == 0,
      (xl - xr) * (xl - xr) + (yl - yr) * (yl - yr) == 1,
  };
  return make_problem(
      system, 3.0,
      {0.49345578427524092e-1, 0.49698946023000811, 0.10417425248854261e1, 0.37391102726536582,
       -0.77058368403592084e-1, 0.74468665920684165e-2, 0.17556815753541737e-1, 0.77034104377960106,
       -0.47368865908533265e-2, -0.11046803312595658e-2});
}

}  // namespace saltus
