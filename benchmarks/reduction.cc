// Claims: analysing a mechanical chain of 1,000 unknowns, index 3, takes at most 2 s and grows at
// most like n^1.3; a step of its reduced form costs at most 1.5 times a step of the index-1 form
// that is reduced by hand, from one mass to 200 masses (1,000 unknowns).
//
// Processor time, best of several runs; exit status 1 if a limit is exceeded.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/state_selector.h"
#include "simulate/simulate.h"

namespace {

using namespace saltus;

constexpr double kAnalysisLimit = 2.0;  // s
constexpr double kGrowthLimit = 1.3;    // exponent
constexpr double kStepCostLimit = 1.5;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Unit masses on massless rods of unit length, hanging from the origin, released from a bent line.
// `by_hand`: the constraints are differentiated twice with pencil and paper, and the accelerations
// put in.
HybridSystem chain(int masses, bool by_hand) {
  constexpr double kGravity = 9.81;
  HybridSystem system("chain");
  std::vector<Expr> x, y, u, v, force;
  double place_x = 0.0;
  double place_y = 0.0;
  for (int k = 0; k < masses; ++k) {
    const double angle = 0.5 + 0.3 * std::sin(0.7 * k);
    place_x += std::sin(angle);
    place_y -= std::cos(angle);
    const std::string name = std::to_string(k);
    x.push_back(system.variable("x" + name, {.start = place_x}));
    y.push_back(system.variable("y" + name, {.start = place_y}));
    u.push_back(system.variable("u" + name));
    v.push_back(system.variable("v" + name));
    force.push_back(system.variable("f" + name, {.nominal = 10.0}));
  }
  Mode& mode = system.mode("swinging");
  Expr before[4] = {0.0, 0.0, 0.0, 0.0};  // x, y, u, v of the mass before
  Expr before_a[2] = {0.0, 0.0};          // its acceleration
  for (int k = 0; k < masses; ++k) {
    const Expr dx = x[k] - before[0];
    const Expr dy = y[k] - before[1];
    Expr ax = -force[k] * dx;
    Expr ay = -force[k] * dy - kGravity;
    if (k + 1 < masses) {
      ax += force[k + 1] * (x[k + 1] - x[k]);
      ay += force[k + 1] * (y[k + 1] - y[k]);
    }
    mode.equations.push_back(der(x[k]) == u[k]);
    mode.equations.push_back(der(y[k]) == v[k]);
    mode.equations.push_back(der(u[k]) == ax);
    mode.equations.push_back(der(v[k]) == ay);
    if (by_hand) {
      const Expr du = u[k] - before[2];
      const Expr dv = v[k] - before[3];
      mode.equations.push_back(
          du * du + dv * dv + dx * (ax - before_a[0]) + dy * (ay - before_a[1]) == 0.0);
    } else {
      mode.equations.push_back(dx * dx + dy * dy == 1.0);
    }
    const Expr now[4] = {x[k], y[k], u[k], v[k]};
    std::copy(now, now + 4, before);
    before_a[0] = ax;
    before_a[1] = ay;
  }
  return system;
}

// Structure, reduction, compilation and the first choice of states.
double analysis_seconds(int unknowns) {
  double best = 1e300;
  for (int run = 0; run < 3; ++run) {
    const HybridSystem system = chain(unknowns / 5, false);
    const double begin = processor_seconds();
    const auto mode = analyse(system, ModeId(0));
    StateSelector selector(*mode->reduced);
    DaeData data = mode->dae->make_data();
    std::vector<double> values;
    const SystemState start = start_state(system);
    for (const Expr& symbol : mode->dae->definition().unknowns)
      values.push_back(symbol.node()->order == 0 ? start.value_of(symbol) : 0.0);
    const std::vector<double> slopes(values.size(), 0.0);
    if (selector.select(data, 0.0, values.data(), slopes.data()).empty()) return 1e300;
    best = std::min(best, processor_seconds() - begin);
  }
  return best;
}

// Processor seconds a step, building the mode apart, with the same steps in both forms. In turns,
// so that both meet the same machine.
struct StepCost {
  double reduced = 1e300;
  double by_hand = 1e300;
};

StepCost step_seconds(int masses) {
  StepCost best;
  // Long enough for quiet moments on a busy machine.
  constexpr int kFewestRuns = 10;
  constexpr double kShortest = 1.5;  // s
  const double begin = processor_seconds();
  for (int run = 0; run < kFewestRuns || processor_seconds() - begin < kShortest; ++run) {
    for (const bool by_hand : {false, true}) {
      SimulateOptions options;
      options.stop_time = 1.0;
      options.tolerance = 1e-5;
      options.first_step = options.max_step = 2e-3;
      options.interval = 1.0;
      const SimulateResult result = simulate(chain(masses, by_hand), options);
      if (!result.completed()) return {};
      double& seconds = by_hand ? best.by_hand : best.reduced;
      seconds = std::min(seconds, result.statistics.integrate_seconds /
                                      static_cast<double>(result.statistics.steps));
    }
  }
  return best;
}

}  // namespace

int main() {
  bool ok = true;
  const auto report = [&](const std::string& what, double value, double limit) {
    const bool within = value <= limit;
    ok = ok && within;
    fmt::print("{:<58} {:>9.4g}  limit {:g}{}\n", what, value, limit, within ? "" : "  EXCEEDED");
  };
  std::vector<double> seconds;
  const std::vector<int> sizes = {1000, 2000, 4000, 8000};
  for (const int n : sizes) seconds.push_back(analysis_seconds(n));
  report("analysis of a chain of 1,000 unknowns, s", seconds.front(), kAnalysisLimit);
  for (std::size_t k = 1; k < sizes.size(); ++k)
    fmt::print("  {} unknowns: {:.4g} s\n", sizes[k], seconds[k]);
  report("its growth to 8,000 unknowns, exponent",
         std::log(seconds.back() / seconds.front()) / std::log(8.0), kGrowthLimit);
  for (const int masses : {1, 4, 8, 20, 40, 41, 80, 200}) {
    const StepCost cost = step_seconds(masses);
    report(fmt::format("step cost, {} masses: reduced {:.3g} us over by hand {:.3g} us", masses,
                       1e6 * cost.reduced, 1e6 * cost.by_hand),
           cost.reduced / cost.by_hand, kStepCostLimit);
  }
  return ok ? 0 : 1;
}
