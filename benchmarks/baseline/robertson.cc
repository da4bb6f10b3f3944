#include "baseline/baseline.h"

namespace saltus {
namespace {

void residual(double, const double* y, const double* dy, double* r) {
  const double decay = 0.04 * y[0];
  const double exchange = 1e4 * y[1] * y[2];
  r[0] = dy[0] + decay - exchange;
  r[1] = dy[1] - decay + exchange + 3e7 * y[1] * y[1];
  r[2] = y[0] + y[1] + y[2] - 1.0;
}

void jacobian(double, double c, const double* y, const double*, double* j) {
  j[0] = c + 0.04;
  j[1] = -0.04;
  j[2] = 1.0;

  j[3] = -1e4 * y[2];
  j[4] = c + 1e4 * y[2] + 6e7 * y[1];
  j[5] = 1.0;

  j[6] = -1e4 * y[1];
  j[7] = 1e4 * y[1];
  j[8] = 1.0;
}

}  // namespace

BaselineProblem robertson_baseline() {
  return {.name = "robertson",
          .t_end = 1e11,
          .start = {1.0, 0.0, 0.0},
          .slope = {-0.04, 0.04, 0.0},
          .differential = {1, 1, 0},
          .residual = residual,
          .jacobian = jacobian};
}

}  // namespace saltus
