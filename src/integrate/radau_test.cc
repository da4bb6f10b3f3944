#include "integrate/radau.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "integrate/integrate_testing.h"

namespace saltus {
namespace {

constexpr std::array<std::uint32_t, 2> kBoth = {0, 1};

struct FixedStepErrors {
  std::array<double, 2> at_steps{};  // largest over the step ends, by unknown
  std::array<double, 2> inside{};    // largest over points inside the steps
};

// Taking a step again to its own end continues Newton's iteration: what is left is the error of the
// formula.
void polish(Radau& radau) {
  for (int k = 0; k < 6; ++k) {
    const StepOutcome outcome = radau.retake(radau.time());
    EXPECT_TRUE(outcome.ok());
  }
}

// The curved problem over [0, 2] in equal steps; the tolerance follows h^4, the order of the error
// estimate, so that every step is accepted.
FixedStepErrors run_fixed(int steps) {
  const double h = 2.0 / steps;
  Compiled curved(curved_system());
  const double internal = 0.5 * std::pow(h, 4);
  IntegratorOptions options = with_tolerance(std::pow(10.0 * internal, 1.5), 2);
  options.max_step = h;
  Radau radau(curved.dae(), curved.data, options);
  const ExactPoint start = curved_solution(0.0);
  radau.restart(0.0, start.x, start.dx, h);
  FixedStepErrors errors;
  while (radau.time() < 2.0) {
    if (!radau.step(2.0).ok()) {
      ADD_FAILURE() << "step failed at t = " << radau.time();
      break;
    }
    polish(radau);
    const ExactPoint end = curved_solution(radau.time());
    for (std::size_t j = 0; j < 2; ++j)
      errors.at_steps[j] = std::max(errors.at_steps[j], std::abs(radau.x()[j] - end.x[j]));
    for (int k = 1; k < 20; ++k) {
      const double t = radau.previous_time() + k * (radau.time() - radau.previous_time()) / 20.0;
      std::array<double, 2> x{}, dx{};
      radau.interpolate(t, kBoth, x.data(), dx.data());
      const ExactPoint exact = curved_solution(t);
      for (std::size_t j = 0; j < 2; ++j)
        errors.inside[j] = std::max(errors.inside[j], std::abs(x[j] - exact.x[j]));
    }
  }
  EXPECT_EQ(radau.counts().steps, static_cast<std::size_t>(steps));
  EXPECT_EQ(radau.counts().rejected, 0U);
  return errors;
}

struct Orders {
  std::array<double, 2> at_steps{};
  std::array<double, 2> inside{};
};

Orders measure_orders() {
  std::vector<double> h;
  std::array<std::vector<double>, 2> at_steps, inside;
  for (const int steps : {8, 12, 16, 24, 32, 48, 64}) {
    h.push_back(2.0 / steps);
    const FixedStepErrors errors = run_fixed(steps);
    for (std::size_t j = 0; j < 2; ++j) {
      at_steps[j].push_back(errors.at_steps[j]);
      inside[j].push_back(errors.inside[j]);
    }
  }
  Orders orders;
  for (std::size_t j = 0; j < 2; ++j) {
    orders.at_steps[j] = fitted_order(h, at_steps[j]);
    orders.inside[j] = fitted_order(h, inside[j]);
  }
  return orders;
}

TEST(Radau, HasOrderFiveOnNonlinearIndexOneDae) {
  const Orders orders = measure_orders();
  EXPECT_NEAR(orders.at_steps[0], 5.0, 0.3) << "differential unknown";
  EXPECT_NEAR(orders.at_steps[1], 5.0, 0.3) << "algebraic unknown";
}

TEST(Radau, ContinuousOutputHasOrderFour) {
  const Orders orders = measure_orders();
  EXPECT_GE(orders.inside[0], 3.7) << "differential unknown";
  EXPECT_GE(orders.inside[1], 3.7) << "algebraic unknown";
  // Less than the order at the ends, or the test would not look inside the steps.
  EXPECT_LE(orders.inside[0], 4.5);
}

// y' = q'(t) + (y z - q r) / 4, z + y^2 / 4 = r + q^2 / 4 with y = q, z = r.
HybridSystem polynomial_system(const std::vector<double>& q, const std::vector<double>& r) {
  HybridSystem system("polynomial");
  const Expr y = system.variable("y");
  const Expr z = system.variable("z");
  const auto horner = [&](const std::vector<double>& coefficients) {
    Expr value = 0.0;
    for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c)
      value = value * system.time() + *c;
    return value;
  };
  const Expr qt = horner(q);
  const Expr rt = horner(r);
  Mode& on = system.mode("on");
  on.equations = {der(y) == der(qt) + 0.25 * (y * z - qt * rt),
                  z + 0.25 * y * y == rt + 0.25 * qt * qt};
  return system;
}

double at(const std::vector<double>& coefficients, double t) {
  double value = 0.0;
  for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) value = value * t + *c;
  return value;
}

// Largest error of one step over [0, 1/4], its inside included. `tolerance` must let it pass.
double one_step_error(const std::vector<double>& q, const std::vector<double>& r,
                      double tolerance) {
  Compiled compiled(polynomial_system(q, r));
  Radau radau(compiled.dae(), compiled.data, with_tolerance(tolerance, 2));
  const std::vector<double> x = {q[0], r[0]};
  const std::vector<double> dx = {q[1], r[1]};
  radau.restart(0.0, x, dx, 0.25);
  EXPECT_TRUE(radau.step(0.25).ok());
  polish(radau);
  EXPECT_EQ(radau.time(), 0.25);
  EXPECT_EQ(radau.counts().steps, 1U);
  double worst = 0.0;
  for (const double t : {0.05, 0.15, 0.25}) {
    std::array<double, 2> point{}, slope{};
    radau.interpolate(t, kBoth, point.data(), slope.data());
    worst = std::max({worst, std::abs(point[0] - at(q, t)), std::abs(point[1] - at(r, t))});
  }
  return worst;
}

TEST(Radau, IntegratesCubicsExactlyInOneStep) {
  EXPECT_LT(one_step_error({0.5, 1.0}, {0.25, -1.0}, 1e-4), 1e-13);
  EXPECT_LT(one_step_error({0.5, 1.0, -2.0}, {0.25, -1.0, 1.0}, 1e-4), 1e-13);
  EXPECT_LT(one_step_error({0.5, 1.0, -2.0, 3.0}, {0.25, -1.0, 1.0, 2.0}, 1e-4), 1e-13);
}

TEST(Radau, InterpolatesAtFourTimesAsAtEach) {
  Compiled curved(curved_system());
  Radau radau(curved.dae(), curved.data, with_tolerance(1e-4, 2));
  const ExactPoint start = curved_solution(0.5);
  radau.restart(0.5, start.x, start.dx, 0.1);
  std::array<double, 8> lanes{};
  EXPECT_FALSE(radau.interpolate_lanes(std::array{0.5, 0.5, 0.5, 0.5}, kBoth, lanes.data()));
  ASSERT_TRUE(radau.step(2.0).ok());
  const double t0 = radau.previous_time();
  const double h = radau.time() - t0;
  const std::array times = {t0, t0 + 0.1 * h, t0 + 0.7 * h, radau.time()};
  ASSERT_TRUE(radau.interpolate_lanes(times, kBoth, lanes.data()));
  for (std::size_t k = 0; k < times.size(); ++k) {
    std::array<double, 2> x{}, dx{};
    radau.interpolate(times[k], kBoth, x.data(), dx.data());
    EXPECT_EQ(lanes[k], x[0]) << k;
    EXPECT_EQ(lanes[4 + k], x[1]) << k;
  }
}

// After a step cut short by an event its polynomial says nothing of one a million times as long:
// following it would start Newton from amplified rounding.
TEST(Radau, GoesOnAfterAVeryShortStepAsIfThereHadBeenNone) {
  Compiled curved(curved_system());
  Radau radau(curved.dae(), curved.data, with_tolerance(1e-6, 2));
  const ExactPoint start = curved_solution(0.5);
  radau.restart(0.5, start.x, start.dx, 0.02);
  ASSERT_TRUE(radau.step(0.5 + 1e-9).ok());
  ASSERT_TRUE(radau.step(2.0).ok());
  EXPECT_EQ(radau.counts().rejected, 0U);
  EXPECT_GT(radau.time(), 0.51);
}

TEST(Radau, DoesNotIntegrateDegreeSixExactly) {
  EXPECT_GT(one_step_error({0.5, 1.0, -2.0, 3.0, 0.0, 0.0, 1.0}, {0.25, -1.0}, 1e-2), 1e-6);
}

// y' = (k + 1) t^k over [0, 1] in one step is the quadrature of Radau's three points: exact up to
// k = 4. The next has the error 6 * integral (t - c1)^2 (t - c2)^2 (t - 1) = -6 / 600.
double one_step_power(int k) {
  HybridSystem system("power");
  const Expr y = system.variable("y");
  system.mode("on").equations = {der(y) == (k + 1) * pow(system.time(), k)};
  Compiled compiled(std::move(system));
  IntegratorOptions options = with_tolerance(1e-3, 1);
  options.absolute_tolerance = {1e6};  // no error test: this is about the formula
  Radau radau(compiled.dae(), compiled.data, options);
  const std::vector<double> zero = {0.0};
  const std::vector<double> slope = {k == 0 ? 1.0 : 0.0};
  radau.restart(0.0, zero, slope, 1.0);
  EXPECT_TRUE(radau.step(1.0).ok());
  EXPECT_EQ(radau.counts().steps, 1U);
  return radau.x()[0];
}

TEST(Radau, IsTheQuadratureOfOrderFive) {
  for (const int k : {1, 2, 3, 4}) EXPECT_NEAR(one_step_power(k), 1.0, 1e-14) << k;
  EXPECT_NEAR(one_step_power(5), 1.01, 1e-13);
}

// End points are polished far below the tolerance of 1e-8.
TEST(Radau, EndPointSatisfiesTheEquations) {
  Compiled curved(curved_system());
  Radau radau(curved.dae(), curved.data, with_tolerance(1e-8, 2));
  const ExactPoint start = curved_solution(0.0);
  radau.restart(0.0, start.x, start.dx, 0.0);
  std::array<double, 2> residual{};
  while (radau.time() < 2.0) {
    ASSERT_TRUE(radau.step(2.0).ok());
    curved.dae().residual(curved.data, radau.time(), radau.x().data(), radau.dx().data(),
                          residual.data());
    EXPECT_LT(std::abs(residual[1]), 1e-10) << "at t = " << radau.time();
  }
}

// A point inside a long step, from the extension and from the step taken again.
TEST(Radau, RetakeGivesFullAccuracy) {
  Compiled curved(curved_system());
  const double h = 0.2;
  const IntegratorOptions options = with_tolerance(1e-4, 2);
  Radau radau(curved.dae(), curved.data, options);
  const ExactPoint start = curved_solution(0.5);
  radau.restart(0.5, start.x, start.dx, h);
  ASSERT_TRUE(radau.step(0.5 + h).ok());
  ASSERT_EQ(radau.time(), 0.5 + h);
  const double t = 0.5 + 0.6 * h;
  std::array<double, 2> x{}, dx{};
  radau.interpolate(t, kBoth, x.data(), dx.data());
  ASSERT_TRUE(radau.retake(t).ok());
  EXPECT_EQ(radau.time(), t);
  EXPECT_EQ(radau.previous_time(), 0.5);
  EXPECT_EQ(radau.counts().steps, 1U);
  const ExactPoint exact = curved_solution(t);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_LT(std::abs(radau.x()[j] - exact.x[j]), 1e-6) << j;
    EXPECT_GT(std::abs(x[j] - exact.x[j]), 10.0 * std::abs(radau.x()[j] - exact.x[j])) << j;
  }
  // It goes on from there as from any other point.
  ASSERT_TRUE(advance(radau, 2.0).ok());
  const ExactPoint end = curved_solution(2.0);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(radau.x()[j], end.x[j], 1e-3) << j;
}

TEST(Radau, RestartsWithTheRememberedStep) {
  Compiled curved(curved_system());
  Radau radau(curved.dae(), curved.data, with_tolerance(1e-6, 2));
  const ExactPoint start = curved_solution(0.0);
  radau.restart(0.0, start.x, start.dx, 0.0);
  ASSERT_TRUE(advance(radau, 1.0).ok());
  const double remembered = 0.5 * radau.suggested_step();
  ASSERT_GT(remembered, 0.01);
  const ExactPoint again = curved_solution(1.0);
  const std::size_t rejected = radau.counts().rejected;
  radau.restart(1.0, again.x, again.dx, remembered);
  EXPECT_EQ(radau.time(), 1.0);
  ASSERT_TRUE(radau.step(10.0).ok());
  EXPECT_NEAR(radau.time() - 1.0, remembered, 1e-15);
  EXPECT_EQ(radau.counts().rejected, rejected);
}

// A limit far below the natural step must not be taken for a difficulty of the solution.
TEST(Radau, RecoversItsStepAfterALimit) {
  Compiled curved(curved_system());
  Radau radau(curved.dae(), curved.data, with_tolerance(1e-6, 2));
  const ExactPoint start = curved_solution(0.0);
  radau.restart(0.0, start.x, start.dx, 0.0);
  ASSERT_TRUE(advance(radau, 1.0).ok());
  const double natural = radau.suggested_step();
  ASSERT_TRUE(radau.step(1.0 + 1e-6).ok());
  EXPECT_EQ(radau.time(), 1.0 + 1e-6);
  EXPECT_GE(radau.suggested_step(), 0.5 * natural);
}

// y' = lambda (y - cos t) - sin t: y = cos t + (y0 - 1) exp(lambda t).
TEST(Radau, NeedsFewStepsWhenStiff) {
  for (const double start : {1.0, 2.0}) {
    HybridSystem system("stiff");
    const Expr y = system.variable("y");
    const Expr t = system.time();
    system.mode("on").equations = {der(y) == -1e6 * (y - cos(t)) - sin(t)};
    Compiled compiled(std::move(system));
    Radau radau(compiled.dae(), compiled.data, with_tolerance(1e-6, 1));
    const std::vector<double> x = {start};
    const std::vector<double> dx = {-1e6 * (start - 1.0)};
    radau.restart(0.0, x, dx, 0.0);
    ASSERT_TRUE(advance(radau, 10.0).ok());
    EXPECT_NEAR(radau.x()[0], std::cos(10.0), 1e-5);
    EXPECT_LT(radau.counts().steps, 100U) << "from " << start;
  }
}

TEST(Radau, KeepsTheJacobianOfALinearProblem) {
  HybridSystem system("linear");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr v = system.variable("v");
  system.mode("on").equations = {der(x) == v, der(v) == -x};
  Compiled compiled(std::move(system));
  Radau radau(compiled.dae(), compiled.data, with_tolerance(1e-8, 2));
  const std::vector<double> start = {1.0, 0.0};
  const std::vector<double> slope = {0.0, -1.0};
  radau.restart(0.0, start, slope, 0.0);
  ASSERT_TRUE(advance(radau, 20.0).ok());
  EXPECT_NEAR(radau.x()[0], std::cos(20.0), 1e-6);
  EXPECT_LE(radau.counts().jacobians, 1 + radau.counts().rejected);
}

// Unknown a beyond t = 1/2 is the root of a negative number, in the second equation.
TEST(Radau, NamesTheEquationThatIsNotFinite) {
  HybridSystem system("nan");
  const Expr y = system.variable("y");
  const Expr a = system.variable("a");
  const Expr t = system.time();
  system.mode("on").equations = {der(y) == 1.0 + 0.1 * a,
                                 a == select(t < 0.5, 1.0, sqrt(-1.0 - y * y))};
  Compiled compiled(std::move(system));
  Radau radau(compiled.dae(), compiled.data, with_tolerance(1e-6, 2));
  const std::vector<double> x = {0.0, 1.0};
  const std::vector<double> dx = {1.1, 0.0};
  radau.restart(0.0, x, dx, 0.0);
  const StepOutcome outcome = advance(radau, 1.0);
  EXPECT_EQ(outcome.status, StepStatus::kNotFinite);
  EXPECT_EQ(outcome.index, 1U);
  // It stands at its last good point.
  EXPECT_LE(radau.time(), 0.5);
  EXPECT_GT(radau.time(), 0.4999);
  EXPECT_NEAR(radau.x()[0], 1.1 * radau.time(), 1e-9);
}

// Only the sum of a and b is determined.
TEST(Radau, NamesTheUnknownThatIsNotDetermined) {
  HybridSystem system("singular");
  const Expr y = system.variable("y");
  const Expr a = system.variable("a");
  const Expr b = system.variable("b");
  system.mode("on").equations = {der(y) == 1.0, a + b == y, 2.0 * a + 2.0 * b == 2.0 * y};
  Compiled compiled(std::move(system));
  Radau radau(compiled.dae(), compiled.data, with_tolerance(1e-6, 3));
  const std::vector<double> x = {0.0, 0.0, 0.0};
  const std::vector<double> dx = {1.0, 0.0, 0.0};
  radau.restart(0.0, x, dx, 0.0);
  const StepOutcome outcome = radau.step(1.0);
  EXPECT_EQ(outcome.status, StepStatus::kSingular);
  EXPECT_TRUE(outcome.index == 1 || outcome.index == 2) << outcome.index;
}

// A step cut to rounding says nothing about a long one: y' = -y^3, whose iteration would diverge
// from a cubic extended a billion times.
TEST(Radau, RetakesALongStepAfterATinyOne) {
  HybridSystem system("cubic");
  const Expr y = system.variable("y");
  system.mode("on").equations = {der(y) == -y * y * y};
  Compiled compiled(std::move(system));
  Radau radau(compiled.dae(), compiled.data, with_tolerance(1e-8, 1));
  const std::vector<double> x = {1.0};
  const std::vector<double> dx = {-1.0};
  radau.restart(0.0, x, dx, 0.01);
  ASSERT_TRUE(radau.step(0.01).ok());
  ASSERT_EQ(radau.time(), 0.01);
  ASSERT_TRUE(radau.retake(1e-14).ok());
  ASSERT_TRUE(radau.retake(0.005).ok());
  EXPECT_NEAR(radau.x()[0], 1.0 / std::sqrt(1.01), 1e-9);
}

// y' = y^2 from y(0) = 1 blows up at t = 1.
TEST(Radau, StopsBeforeABlowUp) {
  HybridSystem system("blow up");
  const Expr w = system.variable("w");
  const Expr y = system.variable("y");
  system.mode("on").equations = {der(w) == 1.0, der(y) == y * y};
  Compiled compiled(std::move(system));
  Radau radau(compiled.dae(), compiled.data, with_tolerance(1e-6, 2));
  const std::vector<double> x = {0.0, 1.0};
  const std::vector<double> dx = {1.0, 1.0};
  radau.restart(0.0, x, dx, 0.0);
  const StepOutcome outcome = advance(radau, 2.0);
  EXPECT_EQ(outcome.status, StepStatus::kStepTooSmall);
  EXPECT_EQ(outcome.index, 1U);
  EXPECT_NEAR(radau.time(), 1.0, 1e-4);
}

}  // namespace
}  // namespace saltus
