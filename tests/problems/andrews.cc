#include "expr/differentiate.h"
#include "problems/problem.h"

namespace saltus {

// Symbols as in the IVP test set: points A, B, C; lengths d, e, rr, ss, u, zf, zt; distances of
// centres of mass da, ea, fa, ra, sa ... ub; c0 and l0 belong to the spring.
Problem andrews() {
  HybridSystem system("andrews");
  const char* names[] = {"beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"};
  const double start[] = {-0.0617138900142764496, 0.0,
                          0.455279819163070380,   0.222668390165885885,
                          0.487364979543842550,   -0.222668390165885885,
                          1.23054744454982119};
  std::vector<Expr> q;
  std::vector<Expr> v;
  std::vector<Expr> lambda;
  for (int i = 0; i < 7; ++i)
    q.push_back(system.variable(names[i], {.start = start[i], .fixed = true, .unit = "rad"}));
  for (int i = 0; i < 7; ++i)
    v.push_back(system.variable(std::string("rate_") + names[i],
                                {.fixed = true, .nominal = 100.0, .unit = "rad/s"}));
  for (int i = 0; i < 6; ++i)
    lambda.push_back(
        system.variable("lambda" + std::to_string(i + 1), {.nominal = 100.0, .unit = "N"}));
  const Expr &beta = q[0], &theta = q[1], &gamma = q[2], &phi = q[3], &delta = q[4], &omega = q[5],
             &epsilon = q[6];

  const double m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.0705, m6 = 0.00706,
               m7 = 0.05498;
  const double i1 = 2.194e-6, i2 = 4.410e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5,
               i6 = 5.667e-7, i7 = 1.912e-5;
  const double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072;
  const double c0 = 4530, l0 = 0.07785, drive = 0.033;
  const double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092;
  const double ss = 0.035, sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02;
  const double ta = 0.02308, tb = 0.00916, u = 0.04, ua = 0.01228, ub = 0.00449;
  const double zf = 0.02, zt = 0.04, fa = 0.01421;

  const Expr crank_x = rr * cos(beta) - d * cos(beta + theta);
  const Expr crank_y = rr * sin(beta) - d * sin(beta + theta);
  const std::vector<Expr> loops = {
      crank_x - ss * sin(gamma) - xb,
      crank_y + ss * cos(gamma) - yb,
      crank_x - e * sin(phi + delta) - zt * cos(delta) - xa,
      crank_y + e * cos(phi + delta) - zt * sin(delta) - ya,
      crank_x - zf * cos(omega + epsilon) - u * sin(epsilon) - xa,
      crank_y - zf * sin(omega + epsilon) + u * cos(epsilon) - ya,
  };

  Expr mass[7][7];
  mass[0][0] = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * cos(theta) + da * da) + i1 + i2;
  mass[0][1] = mass[1][0] = m2 * (da * da - da * rr * cos(theta)) + i2;
  mass[1][1] = m2 * da * da + i2;
  mass[2][2] = m3 * (sa * sa + sb * sb) + i3;
  mass[3][3] = m4 * (e - ea) * (e - ea) + i4;
  mass[3][4] = mass[4][3] = m4 * ((e - ea) * (e - ea) + zt * (e - ea) * sin(phi)) + i4;
  mass[4][4] = m4 * (zt * zt + 2 * zt * (e - ea) * sin(phi) + (e - ea) * (e - ea)) +
               m5 * (ta * ta + tb * tb) + i4 + i5;
  mass[5][5] = m6 * (zf - fa) * (zf - fa) + i6;
  mass[5][6] = mass[6][5] = m6 * ((zf - fa) * (zf - fa) - u * (zf - fa) * sin(omega)) + i6;
  mass[6][6] = m6 * ((zf - fa) * (zf - fa) - 2 * u * (zf - fa) * sin(omega) + u * u) +
               m7 * (ua * ua + ub * ub) + i6 + i7;

  const Expr spring_x = sd * cos(gamma) + sc * sin(gamma) + xb - xc;
  const Expr spring_y = sd * sin(gamma) - sc * cos(gamma) + yb - yc;
  const Expr length = sqrt(spring_x * spring_x + spring_y * spring_y);
  const Expr pull = -c0 * (length - l0) / length;
  const Expr force[] = {
      drive - m2 * da * rr * v[1] * (v[1] + 2 * v[0]) * sin(theta),
      m2 * da * rr * v[0] * v[0] * sin(theta),
      pull * (spring_x * (sc * cos(gamma) - sd * sin(gamma)) +
              spring_y * (sd * cos(gamma) + sc * sin(gamma))),
      m4 * zt * (e - ea) * v[4] * v[4] * cos(phi),
      -m4 * zt * (e - ea) * v[3] * (v[3] + 2 * v[4]) * cos(phi),
      -m6 * u * (zf - fa) * v[6] * v[6] * cos(omega),
      m6 * u * (zf - fa) * v[5] * (v[5] + 2 * v[6]) * cos(omega),
  };

  Mode& mode = system.mode("squeezing");
  for (int i = 0; i < 7; ++i) mode.equations.push_back(der(q[i]) == v[i]);
  for (int i = 0; i < 7; ++i) {
    Expr inertia = 0.0;
    Expr reaction = 0.0;
    for (int j = 0; j < 7; ++j) inertia += mass[i][j] * der(v[j]);
    for (int j = 0; j < 6; ++j) reaction += partial(loops[j], q[i]) * lambda[j];
    mode.equations.push_back(inertia + reaction == force[i]);
  }
  for (const Expr& loop : loops) mode.equations.push_back(loop == 0);
  return make_problem(system, 0.03,
                      {1.5810771195153707e+01,  -1.5756371058411839e+01, 4.0822240119645803e-02,
                       -5.3473011634207956e-01, 5.2440996587995403e-01,  5.3473011634207956e-01,
                       1.0480807410419379e+00,  1.1399203022591062e+03,  -1.4243792951775401e+03,
                       1.1032911910618594e+01,  1.9293374105032040e+01,  5.7356991482950248e-01,
                       -1.9293374105032040e+01, 3.2317914924913088e-01,  1.9917534810453864e+02,
                       -2.9755309974971762e+01, 2.3066543611622151e+01,  3.1452725275771137e+01,
                       2.2642494786394380e+01,  1.1617392352611256e+01});
}

}  // namespace saltus
