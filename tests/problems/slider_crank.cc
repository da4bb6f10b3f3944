#include <cmath>

#include "expr/differentiate.h"
#include "problems/problem.h"

namespace saltus {

Problem slider_crank() {
  HybridSystem system("slider_crank");
  const double crank = 0.075, rod = 0.15;  // half lengths
  // The start: crank at 0.75 rad with 20 rad/s, slider on the right.
  const double a1 = 0.75, a2 = -std::asin(std::sin(a1) / 2);
  const double w1 = 20.0, w2 = -w1 * std::cos(a1) / (2 * std::cos(a2));
  const double x1 = crank * std::cos(a1), y1 = crank * std::sin(a1);
  const double x2 = 2 * x1 + rod * std::cos(a2);
  const double u1 = -y1 * w1, v1 = x1 * w1;
  const double u2 = 2 * u1 - rod * std::sin(a2) * w2;
  const double start[] = {x1, y1, a1, x2, y1, a2, x2 + rod * std::cos(a2), 0.0, 0.0};
  const double start_rate[] = {u1, v1, w1, u2, v1, w2, u2 - rod * std::sin(a2) * w2, 0.0, 0.0};

  std::vector<Expr> q;
  std::vector<Expr> v;
  std::vector<Expr> lambda;
  const char* coordinates[] = {"x", "y", "angle"};
  for (int i = 0; i < 9; ++i)
    q.push_back(
        system.variable(coordinates[i % 3] + std::to_string(i / 3 + 1),
                        {.start = start[i], .fixed = true, .nominal = i % 3 == 2 ? 1.0 : 0.1}));
  for (int i = 0; i < 9; ++i)
    v.push_back(system.variable(
        std::string("rate_") + coordinates[i % 3] + std::to_string(i / 3 + 1),
        {.start = start_rate[i], .fixed = true, .nominal = i % 3 == 2 ? 10.0 : 1.0}));
  for (int i = 0; i < 8; ++i)
    lambda.push_back(system.variable("lambda" + std::to_string(i + 1), {.nominal = 1.0}));

  const std::vector<Expr> joints = {
      q[0] - crank * cos(q[2]),
      q[1] - crank * sin(q[2]),
      q[0] + crank * cos(q[2]) - q[3] + rod * cos(q[5]),
      q[1] + crank * sin(q[2]) - q[4] + rod * sin(q[5]),
      q[3] + rod * cos(q[5]) - q[6],
      q[4] + rod * sin(q[5]) - q[7],
      q[7],
      q[8],
  };
  const double mass[] = {0.36, 0.151104, 0.075552};
  const double inertia[] = {0.002727, 0.0045339259, 1e-4};
  Mode& mode = system.mode("turning");
  for (int i = 0; i < 9; ++i) mode.equations.push_back(der(q[i]) == v[i]);
  for (int i = 0; i < 9; ++i) {
    Expr reaction = 0.0;
    for (int j = 0; j < 8; ++j) reaction += partial(joints[j], q[i]) * lambda[j];
    const double m = i % 3 == 2 ? inertia[i / 3] : mass[i / 3];
    mode.equations.push_back(m * der(v[i]) + reaction == (i % 3 == 1 ? -9.81 * m : 0.0));
  }
  for (const Expr& joint : joints) mode.equations.push_back(joint == 0);
  return make_problem(system, 1.0,
                      {-6.3835541976617104e-03,
                       -7.4727841102266004e-02,
                       2.3476727742738191e+01,
                       1.1729345351409816e-01,
                       -7.4727841102266004e-02,
                       5.2150495946718445e-01,
                       2.4735401542351976e-01,
                       0.0,
                       0.0,
                       1.7360448231968157e+00,
                       -1.4829996497932907e-01,
                       2.3231566677016890e+01,
                       3.3868821395541264e+00,
                       -1.4829996497932907e-01,
                       1.1402377692525272e+00,
                       3.3016746327146214e+00,
                       0.0,
                       0.0,
                       -2.9311306907515231e+00,
                       -2.9806811625138849e+01,
                       4.7593417862847982e+00,
                       1.1493913368501687e+01,
                       2.7633514617249828e+00,
                       3.8073795402491815e+00,
                       3.0662144202491817e+00,
                       0.0});
}

}  // namespace saltus
