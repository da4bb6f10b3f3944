#include "integrate/half_explicit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "integrate/integrate_testing.h"
#include "integrate/radau.h"

// Expected values: the pendulum by elliptic integrals and energy, curved_solution() in closed form.

namespace saltus {
namespace {

constexpr double kGravity = 9.81;
constexpr double kAngle = 1.0;

// A pendulum of length 1 released at kAngle.
HybridSystem pendulum() {
  HybridSystem system("pendulum");
  const Expr x = system.variable("x", {.start = std::sin(kAngle)});
  const Expr y = system.variable("y", {.start = -std::cos(kAngle)});
  const Expr u = system.variable("u");
  const Expr v = system.variable("v");
  const Expr force = system.variable("force", {.start = kGravity * std::cos(kAngle)});
  system.mode("swing").equations = {der(x) == u, der(y) == v, der(u) == -force * x,
                                    der(v) == -force * y - kGravity, x * x + y * y == 1.0};
  return system;
}

// By the arithmetic-geometric mean.
double quarter_period() {
  double a = 1.0;
  double b = std::cos(0.5 * kAngle);
  for (int k = 0; k < 10; ++k) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return 0.5 * M_PI / std::sqrt(kGravity) / a;
}

struct Swing {
  explicit Swing(const IntegratorOptions& options)
      : system(pendulum()),
        reduced(analyse(system, ModeId(0))),
        mode(separate_levels(system, *reduced, objection)),
        data(mode->dae->make_data()),
        integrator(*mode->dae, data, options, mode->formulated->levels) {
    const double x[] = {std::sin(kAngle), -std::cos(kAngle), 0.0, 0.0, kGravity * std::cos(kAngle)};
    const double dx[] = {0.0, 0.0, -x[4] * x[0], -x[4] * x[1] - kGravity, 0.0};
    integrator.restart(0.0, x, dx, 0.0);
  }

  HybridSystem system;
  std::string objection;
  std::unique_ptr<const AnalysedMode> reduced, mode;
  DaeData data;
  HalfExplicit integrator;
};

// Steps of one size: the tolerance lets every error pass.
IntegratorOptions fixed_step(double h, std::size_t unknowns) {
  IntegratorOptions options = with_tolerance(0.9, unknowns);
  options.first_step = options.max_step = h;
  return options;
}

TEST(HalfExplicit, HasOrderThreeInPositionsVelocitiesAndMultipliers) {
  const double end = quarter_period();
  const double speed = std::sqrt(2.0 * kGravity * (1.0 - std::cos(kAngle)));
  std::vector<double> h, position, velocity, multiplier;
  for (const int steps : {40, 80, 160, 320}) {
    h.push_back(end / steps);
    Swing swing(fixed_step(h.back(), 5));
    ASSERT_TRUE(advance(swing.integrator, end).ok());
    ASSERT_EQ(swing.integrator.counts().steps, static_cast<std::size_t>(steps));
    const auto x = swing.integrator.x();
    position.push_back(std::abs(x[0]));
    velocity.push_back(std::abs(x[2] + speed));
    multiplier.push_back(std::abs(x[4] - speed * speed - kGravity));
  }
  EXPECT_NEAR(fitted_order(h, position), 3.0, 0.3);
  EXPECT_NEAR(fitted_order(h, velocity), 3.0, 0.3);
  EXPECT_NEAR(fitted_order(h, multiplier), 3.0, 0.3);
}

TEST(HalfExplicit, SatisfiesConstraintsOnAllLevelsAtEveryStep) {
  Swing swing(with_tolerance(1e-4, 5));
  double worst[3] = {0.0, 0.0, 0.0};
  while (swing.integrator.time() < 3.0) {
    ASSERT_TRUE(swing.integrator.step(3.0).ok());
    const auto x = swing.integrator.x();
    const double level[] = {x[0] * x[0] + x[1] * x[1] - 1.0, x[0] * x[2] + x[1] * x[3],
                            x[2] * x[2] + x[3] * x[3] - x[4] - x[1] * kGravity};
    for (int k = 0; k < 3; ++k) worst[k] = std::max(worst[k], std::abs(level[k]));
  }
  for (int k = 0; k < 3; ++k) EXPECT_LE(worst[k], 1e-13) << "level " << k;
}

// The multiplier follows from the velocities by energy: what is inside a step shows the order of
// the continuous extension.
TEST(HalfExplicit, ContinuousExtensionHasOrderThreeForMultipliersToo) {
  std::vector<double> h, errors;
  for (const double step : {0.08, 0.04, 0.02, 0.01}) {
    Swing swing(fixed_step(step, 5));
    double worst = 0.0;
    while (swing.integrator.time() < 0.4) {
      ASSERT_TRUE(swing.integrator.step(0.4).ok());
      const std::uint32_t all[] = {0, 1, 2, 3, 4};
      double x[5], dx[5];
      for (const double s : {0.2, 0.5, 0.85}) {
        const double t0 = swing.integrator.previous_time();
        swing.integrator.interpolate(t0 + s * (swing.integrator.time() - t0), all, x, dx);
        worst = std::max(worst, std::abs(x[2] * x[2] + x[3] * x[3] -
                                         2.0 * kGravity * (-x[1] - std::cos(kAngle))));
        worst = std::max(
            worst, std::abs(x[4] + 3.0 * kGravity * x[1] + 2.0 * kGravity * std::cos(kAngle)));
        worst = std::max(worst, std::abs(dx[0] - x[2]));
      }
    }
    h.push_back(step);
    errors.push_back(worst);
  }
  EXPECT_NEAR(fitted_order(h, errors), 3.0, 0.3);
}

TEST(HalfExplicit, RetakesAStepWithItsAccuracy) {
  Swing whole(fixed_step(0.02, 5));
  Swing cut(fixed_step(0.02, 5));
  ASSERT_TRUE(whole.integrator.step(0.015).ok());
  ASSERT_TRUE(cut.integrator.step(1.0).ok());
  ASSERT_TRUE(cut.integrator.retake(0.015).ok());
  EXPECT_EQ(cut.integrator.time(), 0.015);
  for (std::size_t j = 0; j < 5; ++j)
    EXPECT_NEAR(cut.integrator.x()[j], whole.integrator.x()[j], 1e-14) << j;
}

TEST(HalfExplicit, IntegratesModesOfIndexOneWithinTheTolerance) {
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    Compiled mode(curved_system());
    HalfExplicit integrator(mode.dae(), mode.data, with_tolerance(tolerance, 2), {});
    const ExactPoint start = curved_solution(0.0);
    integrator.restart(0.0, start.x, start.dx, 0.0);
    ASSERT_TRUE(advance(integrator, 1.0).ok());
    const ExactPoint end = curved_solution(1.0);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(integrator.x()[j], end.x[j], 10.0 * tolerance) << tolerance;
  }
}

TEST(HalfExplicit, NamesAnEquationThatIsNotFinite) {
  HybridSystem system("wall");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr y = system.variable("y", {.start = 1.0});
  system.mode("on").equations = {der(y) == 1.0, der(x) == sqrt(1.5 - y)};
  Compiled mode(std::move(system));
  HalfExplicit integrator(mode.dae(), mode.data, with_tolerance(1e-6, 2), {});
  const double start[] = {1.0, 1.0};
  const double slope[] = {std::sqrt(0.5), 1.0};
  integrator.restart(0.0, start, slope, 0.0);
  const StepOutcome outcome = advance(integrator, 2.0);
  EXPECT_EQ(outcome.status, StepStatus::kNotFinite);
  EXPECT_EQ(outcome.index, 1u);
  EXPECT_NEAR(integrator.time(), 0.5, 1e-3);
}

}  // namespace
}  // namespace saltus
