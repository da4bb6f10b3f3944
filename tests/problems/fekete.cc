#include <cmath>
#include <numbers>

#include "problems/problem.h"

namespace saltus {

Problem fekete() {
  constexpr int kPoints = 20;
  constexpr double kPi = std::numbers::pi;
  HybridSystem system("fekete");
  std::vector<double> start;
  const auto ring = [&](int count, int first, double offset, double beta) {
    for (int i = first; i < first + count; ++i) {
      const double alpha = 2 * kPi * i / count + offset;
      start.push_back(std::cos(alpha) * std::cos(beta));
      start.push_back(std::sin(alpha) * std::cos(beta));
      start.push_back(std::sin(beta));
    }
  };
  ring(3, 1, kPi / 13, 3 * kPi / 8);
  ring(7, 1, kPi / 29, kPi / 8);
  ring(6, 1, kPi / 7, -2 * kPi / 15);
  ring(4, 0, kPi / 17, -3 * kPi / 10);

  std::vector<Expr> p;
  std::vector<Expr> q;
  std::vector<Expr> lambda;
  std::vector<Expr> mu;
  for (int i = 0; i < 3 * kPoints; ++i)
    p.push_back(system.variable("p" + std::to_string(i + 1), {.start = start[i], .fixed = true}));
  for (int i = 0; i < 3 * kPoints; ++i)
    q.push_back(system.variable("q" + std::to_string(i + 1), {.fixed = true}));
  for (int i = 0; i < kPoints; ++i)
    lambda.push_back(system.variable("lambda" + std::to_string(i + 1), {.start = -4.75}));
  for (int i = 0; i < kPoints; ++i) mu.push_back(system.variable("mu" + std::to_string(i + 1)));

  std::vector<Expr> force;
  for (const Expr& rate : q) force.push_back(-0.5 * rate);
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < i; ++j) {
      Expr square = 0.0;
      for (int k = 0; k < 3; ++k) square += pow(p[3 * i + k] - p[3 * j + k], 2);
      for (int k = 0; k < 3; ++k) {
        const Expr push = (p[3 * i + k] - p[3 * j + k]) / square;
        force[3 * i + k] += push;
        force[3 * j + k] -= push;
      }
    }
  }
  Mode& mode = system.mode("spreading");
  for (int i = 0; i < 3 * kPoints; ++i)
    mode.equations.push_back(der(p[i]) == q[i] + 2 * mu[i / 3] * p[i]);
  for (int i = 0; i < 3 * kPoints; ++i)
    mode.equations.push_back(der(q[i]) == force[i] + 2 * lambda[i / 3] * p[i]);
  for (int i = 0; i < 3 * kPoints; i += 3)
    mode.equations.push_back(p[i] * p[i] + p[i + 1] * p[i + 1] + p[i + 2] * p[i + 2] == 1);
  for (int i = 0; i < 3 * kPoints; i += 3)
    mode.equations.push_back(2 * (p[i] * q[i] + p[i + 1] * q[i + 1] + p[i + 2] * q[i + 2]) == 0);

  std::vector<double> reference = {
      -4.0702633803312871e-01, 3.4637587728172031e-01,  8.4519424500209417e-01,
      7.7529347524638220e-02,  -2.6286627199499435e-01, 9.6171228718357216e-01,
      7.1005778333431513e-01,  1.2129480555943528e-01,  6.9361770051712024e-01,
      2.3482677445649464e-01,  7.4492779769356088e-01,  6.2445092859389661e-01,
      -4.3411147387728027e-01, 8.7854304422729523e-01,  1.9927204442151972e-01,
      -9.5150596003105070e-01, 2.2035087628037145e-01,  2.1466694982661180e-01,
      -6.3851916436167999e-01, -4.3108332593675325e-01, 6.3754250277308488e-01,
      -1.4641750879265170e-01, -9.3808716352194932e-01, 3.1393372987670065e-01,
      5.6669740650605160e-01,  -6.7392218850719043e-01, 4.7400731354800196e-01,
      9.8432595384383725e-01,  -1.6969953578330543e-01, -4.8005042905412604e-02,
      1.4641750879265170e-01,  9.3808716352194932e-01,  -3.1393372987670065e-01,
      -7.0927575499713869e-01, 5.2640626371368282e-01,  -4.6885429388695965e-01,
      -8.6657318192899513e-01, -4.8138780597487246e-01, -1.3159293529728411e-01,
      -2.3478977787097116e-01, -8.5943404080212915e-01, -4.5414412879373911e-01,
      5.5309769400657227e-01,  -7.6743702656296608e-01, -3.2422731400177474e-01,
      7.7110509699045127e-01,  6.3570418165685805e-01,  3.5736855196436830e-02,
      7.1039512093842871e-01,  2.4035704312558920e-01,  -6.6148867259145028e-01,
      -3.0382087386571451e-02, 4.5019232936191939e-01,  -8.9241458714530419e-01,
      -5.7729961581070866e-01, -1.7667634149841485e-01, -7.9718920209668154e-01,
      2.4144817669673546e-01,  -3.4164568183980676e-01, -9.0828465034373207e-01};
  reference.resize(6 * kPoints, 0.0);
  reference.resize(7 * kPoints, -4.75);
  reference.resize(8 * kPoints, 0.0);
  return make_problem(system, 1000.0, reference);
}

}  // namespace saltus
