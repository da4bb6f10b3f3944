#include "integrate/derivative_array_method.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "analysis/analysed_mode.h"
#include "integrate/integrate_testing.h"

// Expected values: closed forms.

namespace saltus {
namespace {

// A bead on the unit circle driven by s = exp(-t) along it: its angle is 2 t + exp(-t) - 1.
HybridSystem driven_bead() {
  HybridSystem system("bead");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr y = system.variable("y");
  const Expr u = system.variable("u");
  const Expr v = system.variable("v", {.start = 1.0});
  const Expr radial = system.variable("radial", {.start = -1.0});
  const Expr s = system.variable("s", {.start = 1.0});
  system.mode("on").equations = {
      der(x) == u,          der(y) == v, der(u) == radial * x - s * y, der(v) == radial * y + s * x,
      x * x + y * y == 1.0, der(s) == -s};
  return system;
}

struct Array {
  Array(HybridSystem s, double tolerance, double first_step = 0.0)
      : system(std::move(s)),
        state(start_state(system)),
        mode(analyse_by_numbers(system, ModeId(0), 0.0, state)),
        data(mode->dae->make_data()) {
    const DaeDefinition& def = mode->dae->definition();
    IntegratorOptions options = with_tolerance(tolerance, def.unknowns.size());
    options.first_step = first_step;
    const std::size_t n = mode->unknowns.size();
    std::vector<bool> controlled(def.controlled.begin(),
                                 def.controlled.begin() + static_cast<std::ptrdiff_t>(n));
    integrator = std::make_unique<DerivativeArrayMethod>(system.graph(), mode->written,
                                                         mode->values, controlled, data, options);
    // A consistent point: the given values, the rest of the array by least change.
    std::vector<double> point(def.unknowns.size(), 0.0), slope(def.unknowns.size(), 0.0);
    for (std::size_t j = 0; j < n; ++j) point[j] = state.values[mode->unknowns[j].index()];
    std::vector<std::size_t> rows(mode->projected->array_rows);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    ConsistentSolver solver(mode->dae->with_equations(rows), def.controlled);
    EXPECT_TRUE(solver.solve(data, 0.0, point.data(), slope.data()).ok());
    integrator->restart(0.0, point, slope, 0.0);
  }

  HybridSystem system;
  SystemState state;
  std::unique_ptr<const AnalysedMode> mode;
  DaeData data;
  std::unique_ptr<DerivativeArrayMethod> integrator;
};

TEST(DerivativeArrayMethod, ConvergesWithTheToleranceOnAnIndexOneDae) {
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    Array run(curved_system(), tolerance);
    ASSERT_TRUE(advance(*run.integrator, 1.0).ok());
    const ExactPoint end = curved_solution(1.0);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(run.integrator->x()[j], end.x[j], 10.0 * tolerance) << tolerance;
  }
}

TEST(DerivativeArrayMethod, KeepsAllLevelsOfAPositionConstraint) {
  Array run(driven_bead(), 1e-6);
  EXPECT_EQ(run.mode->values.mu, 2);
  while (run.integrator->time() < 2.0) {
    ASSERT_TRUE(run.integrator->step(2.0).ok());
    const auto z = run.integrator->x();
    // x, y, u, v, radial, s, then their derivatives.
    EXPECT_NEAR(z[0] * z[0] + z[1] * z[1], 1.0, 1e-12);
    EXPECT_NEAR(z[0] * z[2] + z[1] * z[3], 0.0, 1e-12);
    EXPECT_NEAR(z[0] * z[8] + z[1] * z[9] + z[2] * z[2] + z[3] * z[3], 0.0, 1e-11);
  }
  const double angle = 3.0 + std::exp(-2.0);
  EXPECT_NEAR(run.integrator->x()[0], std::cos(angle), 1e-5);
  EXPECT_NEAR(run.integrator->x()[1], std::sin(angle), 1e-5);
  EXPECT_NEAR(run.integrator->x()[5], std::exp(-2.0), 1e-5);
}

TEST(DerivativeArrayMethod, RetakesAStepWithItsAccuracy) {
  Array whole(curved_system(), 0.1, 0.01);
  Array cut(curved_system(), 0.1, 0.01);
  ASSERT_TRUE(whole.integrator->step(0.005).ok());
  ASSERT_TRUE(cut.integrator->step(1.0).ok());
  ASSERT_EQ(cut.integrator->time(), 0.01);
  ASSERT_TRUE(cut.integrator->retake(0.005).ok());
  for (std::size_t j = 0; j < 2; ++j)
    EXPECT_NEAR(cut.integrator->x()[j], whole.integrator->x()[j], 1e-8);
}

}  // namespace
}  // namespace saltus
