#include "integrate/ida.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "integrate/integrate_testing.h"
#include "integrate/radau.h"

namespace saltus {
namespace {

constexpr std::array<std::uint32_t, 2> kBoth = {0, 1};

TEST(Ida, FollowsTheToleranceOnAnIndexOneDae) {
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    Compiled curved(curved_system());
    const auto ida = make_ida(curved.dae(), curved.data, with_tolerance(tolerance, 2));
    const ExactPoint start = curved_solution(0.0);
    ida->restart(0.0, start.x, start.dx, 0.0);
    ASSERT_TRUE(advance(*ida, 2.0).ok());
    EXPECT_EQ(ida->time(), 2.0);
    const ExactPoint end = curved_solution(2.0);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_LT(std::abs(ida->x()[j] - end.x[j]), 100.0 * tolerance) << tolerance;
  }
}

TEST(Ida, AgreesWithRadauAtEveryStep) {
  const double tolerance = 1e-7;
  Compiled for_ida(curved_system());
  Compiled for_radau(curved_system());
  const auto ida = make_ida(for_ida.dae(), for_ida.data, with_tolerance(tolerance, 2));
  Radau radau(for_radau.dae(), for_radau.data, with_tolerance(tolerance, 2));
  const ExactPoint start = curved_solution(0.0);
  ida->restart(0.0, start.x, start.dx, 0.0);
  radau.restart(0.0, start.x, start.dx, 0.0);
  while (ida->time() < 2.0) {
    ASSERT_TRUE(ida->step(2.0).ok());
    ASSERT_TRUE(advance(radau, ida->time()).ok());
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(ida->x()[j], radau.x()[j], 100.0 * tolerance) << "t = " << ida->time();
  }
}

TEST(Ida, InterpolatesInsideAStep) {
  Compiled curved(curved_system());
  const auto ida = make_ida(curved.dae(), curved.data, with_tolerance(1e-8, 2));
  const ExactPoint start = curved_solution(0.0);
  ida->restart(0.0, start.x, start.dx, 0.0);
  while (ida->time() < 2.0) {
    ASSERT_TRUE(ida->step(2.0).ok());
    const double t = 0.5 * (ida->previous_time() + ida->time());
    std::array<double, 2> x{}, dx{};
    ida->interpolate(t, kBoth, x.data(), dx.data());
    const ExactPoint exact = curved_solution(t);
    for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(x[j], exact.x[j], 1e-6) << "t = " << t;
  }
}

TEST(Ida, RetakeGivesAConsistentPoint) {
  Compiled curved(curved_system());
  const auto ida = make_ida(curved.dae(), curved.data, with_tolerance(1e-8, 2));
  const ExactPoint start = curved_solution(0.0);
  ida->restart(0.0, start.x, start.dx, 0.0);
  ASSERT_TRUE(advance(*ida, 1.0).ok());
  const double t = 0.5 * (ida->previous_time() + ida->time());
  ASSERT_TRUE(ida->retake(t).ok());
  EXPECT_EQ(ida->time(), t);
  std::array<double, 2> residual{};
  curved.dae().residual(curved.data, t, ida->x().data(), ida->dx().data(), residual.data());
  for (const double r : residual) EXPECT_LT(std::abs(r), 1e-13);
  const ExactPoint exact = curved_solution(t);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(ida->x()[j], exact.x[j], 1e-6);
}

TEST(Ida, CountsOverRestarts) {
  Compiled curved(curved_system());
  const auto ida = make_ida(curved.dae(), curved.data, with_tolerance(1e-6, 2));
  const ExactPoint start = curved_solution(0.0);
  ida->restart(0.0, start.x, start.dx, 0.0);
  ASSERT_TRUE(advance(*ida, 1.0).ok());
  const IntegratorCounts once = ida->counts();
  ida->restart(0.0, start.x, start.dx, 0.0);
  ASSERT_TRUE(advance(*ida, 1.0).ok());
  EXPECT_EQ(ida->counts().steps, 2 * once.steps);
  EXPECT_GT(ida->counts().residuals, once.residuals);
  EXPECT_GT(once.steps, 5U);
}

// As in the test of Radau: y = cos t + (y0 - 1) exp(-1e6 t).
TEST(Ida, NeedsFewStepsWhenStiff) {
  HybridSystem system("stiff");
  const Expr y = system.variable("y");
  const Expr t = system.time();
  system.mode("on").equations = {der(y) == -1e6 * (y - cos(t)) - sin(t)};
  Compiled compiled(std::move(system));
  const auto ida = make_ida(compiled.dae(), compiled.data, with_tolerance(1e-6, 1));
  const std::vector<double> x = {2.0};
  const std::vector<double> dx = {-1e6};
  ida->restart(0.0, x, dx, 0.0);
  ASSERT_TRUE(advance(*ida, 10.0).ok());
  EXPECT_NEAR(ida->x()[0], std::cos(10.0), 1e-4);
  EXPECT_LT(ida->counts().steps, 1000U);
}

TEST(Ida, NamesTheEquationThatIsNotFinite) {
  HybridSystem system("nan");
  const Expr y = system.variable("y");
  const Expr a = system.variable("a");
  const Expr t = system.time();
  system.mode("on").equations = {der(y) == 1.0 + 0.1 * a,
                                 a == select(t < 0.5, 1.0, sqrt(-1.0 - y * y))};
  Compiled compiled(std::move(system));
  const auto ida = make_ida(compiled.dae(), compiled.data, with_tolerance(1e-6, 2));
  const std::vector<double> x = {0.0, 1.0};
  const std::vector<double> dx = {1.1, 0.0};
  ida->restart(0.0, x, dx, 0.0);
  const StepOutcome outcome = advance(*ida, 1.0);
  EXPECT_EQ(outcome.status, StepStatus::kNotFinite);
  EXPECT_EQ(outcome.index, 1U);
  EXPECT_LE(ida->time(), 0.5);
}

}  // namespace
}  // namespace saltus
