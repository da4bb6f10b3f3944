#include <cmath>

#include "baseline/baseline.h"

namespace saltus {
namespace {

constexpr double kK1 = 18.7;
constexpr double kK2 = 0.58;
constexpr double kK3 = 0.09;
constexpr double kK4 = 0.42;
constexpr double kK2ByK = 0.58 / 34.4;
constexpr double kKla = 3.3;
constexpr double kKs = 115.83;
constexpr double kInflow = kKla * 0.9 / 737.0;

void residual(double, const double* y, const double* dy, double* r) {
  const double root = std::sqrt(y[1]);
  const double square = y[0] * y[0];
  const double r1 = kK1 * square * square * root;
  const double r2 = kK2 * y[2] * y[3];
  const double r3 = kK2ByK * y[0] * y[4];
  const double r4 = kK3 * y[0] * y[3] * y[3];
  const double r5 = kK4 * y[5] * y[5] * root;
  r[0] = dy[0] + 2.0 * r1 - r2 + r3 + r4;
  r[1] = dy[1] + 0.5 * r1 + r4 + 0.5 * r5 - kInflow + kKla * y[1];
  r[2] = dy[2] - r1 + r2 - r3;
  r[3] = dy[3] + r2 - r3 + 2.0 * r4;
  r[4] = dy[4] - r2 + r3 - r5;
  r[5] = kKs * y[0] * y[3] - y[5];
}

void jacobian(double, double c, const double* y, const double*, double* j) {
  const double root = std::sqrt(y[1]);
  const double cube = y[0] * y[0] * y[0];
  const double r1_y1 = 4.0 * kK1 * cube * root;
  const double r1_y2 = 0.5 * kK1 * cube * y[0] / root;
  const double r2_y3 = kK2 * y[3];
  const double r2_y4 = kK2 * y[2];
  const double r3_y1 = kK2ByK * y[4];
  const double r3_y5 = kK2ByK * y[0];
  const double r4_y1 = kK3 * y[3] * y[3];
  const double r4_y4 = 2.0 * kK3 * y[0] * y[3];
  const double r5_y2 = 0.5 * kK4 * y[5] * y[5] / root;
  const double r5_y6 = 2.0 * kK4 * y[5] * root;

  double* y1 = j;
  y1[0] = c + 2.0 * r1_y1 + r3_y1 + r4_y1;
  y1[1] = 0.5 * r1_y1 + r4_y1;
  y1[2] = -r1_y1 - r3_y1;
  y1[3] = -r3_y1 + 2.0 * r4_y1;
  y1[4] = r3_y1;
  y1[5] = kKs * y[3];

  double* y2 = j + 6;
  y2[0] = 2.0 * r1_y2;
  y2[1] = c + 0.5 * r1_y2 + 0.5 * r5_y2 + kKla;
  y2[2] = -r1_y2;
  y2[4] = -r5_y2;

  double* y3 = j + 12;
  y3[0] = -r2_y3;
  y3[2] = c + r2_y3;
  y3[3] = r2_y3;
  y3[4] = -r2_y3;

  double* y4 = j + 18;
  y4[0] = -r2_y4 + r4_y4;
  y4[1] = r4_y4;
  y4[2] = r2_y4;
  y4[3] = c + r2_y4 + 2.0 * r4_y4;
  y4[4] = -r2_y4;
  y4[5] = kKs * y[0];

  double* y5 = j + 24;
  y5[0] = r3_y5;
  y5[2] = -r3_y5;
  y5[3] = -r3_y5;
  y5[4] = c + r3_y5;

  double* y6 = j + 30;
  y6[1] = 0.5 * r5_y6;
  y6[4] = -r5_y6;
  y6[5] = -1.0;
}

}  // namespace

BaselineProblem akzo_nobel_baseline() {
  return {.name = "akzo_nobel",
          .t_end = 180.0,
          .start = {0.444, 0.00123, 0.0, 0.007, 0.0, 0.35999964},
          .slope = {-5.0976817652165768e-02, -1.3729322308134245e-02, 2.5487429806082884e-02,
                    -3.91608e-06, 1.9090002227229194e-03, -4.1533911719154126e-02},
          .differential = {1, 1, 1, 1, 1, 0},
          .residual = residual,
          .jacobian = jacobian};
}

}  // namespace saltus
