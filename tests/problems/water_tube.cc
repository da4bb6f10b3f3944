#include <array>
#include <numbers>

#include "problems/problem.h"

namespace saltus {
namespace {

constexpr int kPipes = 18;
constexpr int kNodes = 13;
constexpr std::array<int, kPipes> kFrom = {1, 2, 2, 3, 3,  4,  5,  6,  7,
                                           7, 8, 8, 9, 11, 11, 12, 12, 13};
constexpr std::array<int, kPipes> kTo = {2, 3, 6, 4, 5, 5, 10, 5, 4, 8, 5, 10, 8, 9, 12, 7, 8, 11};

// Pipes 3 and 8 are in series, as are 13 and 14: one regime for both.
constexpr int regime_of(int pipe) { return pipe == 7 ? 2 : pipe == 13 ? 12 : pipe; }

std::string pipe_name(const char* what, int pipe) {
  return what + std::to_string(kFrom[pipe]) + "_" + std::to_string(kTo[pipe]);
}

}  // namespace

// The friction law jumps where the Reynolds number of a pipe passes 2300, so its regime is a
// variable that only events change.
Problem water_tube() {
  const double nu = 1.31e-6, gravity = 9.8, rho = 1000.0, critical = 2300.0, length = 1000.0;
  const double roughness = 2e-4, diameter = 1.0, area = std::numbers::pi / 4;
  const double critical_flow = critical * nu * area / diameter;
  HybridSystem system("water_tube");
  std::vector<Expr> flow;
  std::vector<Expr> friction;
  std::vector<Expr> pressure(kNodes + 1);
  std::vector<Expr> turbulent(kPipes);
  for (int i = 0; i < kPipes; ++i)
    flow.push_back(
        system.variable(pipe_name("flow", i), {.fixed = true, .nominal = 1e-3, .unit = "m3/s"}));
  for (int i = 0; i < kPipes; ++i)
    friction.push_back(system.variable(pipe_name("friction", i),
                                       {.start = 0.047519404529185290, .nominal = 0.05}));
  for (const int n : {5, 8, 1, 2, 3, 4, 6, 7, 9, 10, 11, 12, 13})
    pressure[n] = system.variable(
        "p" + std::to_string(n),
        {.start = 109800.0, .fixed = n == 5 || n == 8, .nominal = 1e5, .unit = "Pa"});
  for (int i = 0; i < kPipes; ++i)
    turbulent[i] = regime_of(i) == i ? system.variable(pipe_name("turbulent", i), {.fixed = true})
                                     : turbulent[regime_of(i)];

  const Expr hours = system.time() / 3600;
  const Expr feed = 1 - cos(exp(-hours) - 1);
  std::vector<Expr> inflow(kNodes + 1);
  inflow[1] = feed / 200;
  inflow[13] = feed / 80;
  inflow[10] = -hours * hours * (3 * hours * hours - 92 * hours + 720) / 1e6;

  Mode& mode = system.mode("flowing");
  for (int i = 0; i < kPipes; ++i) {
    const Expr is_turbulent = turbulent[i] > 0.5;
    const Expr reynolds = select(is_turbulent, abs(flow[i]) * diameter / (nu * area), critical);
    const Expr drop = select(
        is_turbulent, friction[i] * rho * length / (area * area * diameter) * flow[i] * flow[i],
        32 * nu * rho * length / (area * diameter * diameter) * flow[i]);
    const Expr root = sqrt(friction[i]);
    mode.equations.push_back(
        {pipe_name("momentum of pipe ", i),
         rho * length / area * der(flow[i]) == pressure[kFrom[i]] - pressure[kTo[i]] - drop});
    mode.equations.push_back(
        {pipe_name("friction of pipe ", i),
         1 / root - 1.74 + 2 * log10(2 * roughness / diameter + 18.7 / (reynolds * root)) == 0});
    inflow[kFrom[i]] -= flow[i];
    inflow[kTo[i]] += flow[i];
    if (regime_of(i) != i) continue;
    mode.equations.push_back(der(turbulent[i]) == 0);
    const Expr excess = flow[i] * flow[i] / (critical_flow * critical_flow) - 1;
    mode.guards.push_back({.name = pipe_name("regime of pipe ", i),
                           .value = (2 * turbulent[i] - 1) * excess,
                           .to = "flowing",
                           .set = {{turbulent[i], 1 - turbulent[i]}}});
  }
  for (int n = 1; n <= kNodes; ++n) {
    const bool buffer = n == 5 || n == 8;
    const Expr stored = buffer ? 200 / (rho * gravity) * der(pressure[n]) : Expr(0.0);
    mode.equations.push_back({"balance of node " + std::to_string(n), stored == inflow[n]});
  }
  return make_problem(system, 17 * 3600.0,
                      {2.2984882964774303e-03,
                       1.1889846507485752e-03,
                       1.1095036457288551e-03,
                       1.5896201003944048e-04,
                       1.0300226407091348e-03,
                       8.7106063066969431e-04,
                       3.2435714808302578e-03,
                       1.1095036457288551e-03,
                       7.1209862063025377e-04,
                       6.4146139639775475e-04,
                       9.4169785490219333e-04,
                       3.4034285191697419e-03,
                       2.3976393107398037e-03,
                       2.3976393107398037e-03,
                       3.3485814304537718e-03,
                       1.3535600170280085e-03,
                       1.9950214134257633e-03,
                       5.7462207411935759e-03,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       4.3111967788221572e-02,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       4.2492174335738507e-02,
                       4.7323364396093942e-02,
                       4.7323364396093942e-02,
                       4.2700021188683990e-02,
                       4.7519404529185287e-02,
                       4.7519404529185287e-02,
                       3.6514270266756563e-02,
                       1.1112685914781126e+05,
                       1.1112700455923947e+05,
                       1.1112710787302586e+05,
                       1.1112698519298628e+05,
                       1.1112692553553422e+05,
                       1.1112693226580510e+05,
                       1.1112692217039877e+05,
                       1.1112701211406982e+05,
                       1.1112744195158144e+05,
                       1.1112551588810934e+05,
                       1.1112787934392340e+05,
                       1.1112709951716485e+05,
                       1.1112983389717864e+05,
                       0.0,
                       0.0,
                       0.0,
                       0.0,
                       0.0,
                       0.0,
                       1.0,
                       0.0,
                       0.0,
                       0.0,
                       1.0,
                       1.0,
                       1.0,
                       0.0,
                       0.0,
                       1.0});
}

}  // namespace saltus
