#include "analysis/consistent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "analysis/analysed_mode.h"
#include "expr/graph.h"

namespace saltus {
namespace {

// A mode as its solver sees it: guesses in, consistent point out.
struct Start {
  explicit Start(const HybridSystem& system) : mode(analyse(system, ModeId(0))) {
    x.resize(mode->dae->unknown_count());
    dx.resize(mode->dae->unknown_count());
  }

  ConsistentOutcome solve(double t = 0.0) {
    const Dae& dae = *mode->dae;
    DaeData data = dae.make_data();
    ConsistentSolver solver(dae);
    const ConsistentOutcome outcome = solver.solve(data, t, x.data(), dx.data());
    residual.resize(dae.equation_count());
    dae.residual(data, t, x.data(), dx.data(), residual.data());
    return outcome;
  }

  std::unique_ptr<const AnalysedMode> mode;
  std::vector<double> x, dx, residual;
};

// Source 5 V, resistor 1 kOhm, diode to ground, 1 uF at the source through 10 kOhm. The diode's
// voltage solves (5 - v) / 1000 = 1e-12 (exp(v / 0.026) - 1).
HybridSystem diode() {
  HybridSystem system("diode");
  const Expr u = system.variable("u");
  const Expr v = system.variable("v");
  const Expr i = system.variable("i", {.nominal = 1e-3});
  system.mode("on").equations = {1e-6 * der(u) == (5.0 - u) / 1e4, i == (5.0 - v) / 1e3,
                                 i == 1e-12 * (exp(v / 0.026) - 1.0)};
  return system;
}

double diode_voltage() {
  double low = 0.0;
  double high = 1.0;
  for (int k = 0; k < 100; ++k) {
    const double v = 0.5 * (low + high);
    ((5.0 - v) / 1e3 > 1e-12 * (std::exp(v / 0.026) - 1.0) ? low : high) = v;
  }
  return low;
}

TEST(Consistent, SolvesADiodeFromPoorGuesses) {
  const HybridSystem system = diode();
  for (const double guess : {0.0, 0.3, 0.9, -2.0, 1.5}) {
    Start start(system);
    start.x = {1.25, guess, 0.0};
    ASSERT_TRUE(start.solve().ok()) << "from " << guess;
    EXPECT_NEAR(start.x[1], diode_voltage(), 1e-12) << "from " << guess;
    EXPECT_NEAR(start.x[2], (5.0 - diode_voltage()) / 1e3, 1e-15) << "from " << guess;
  }
}

// Points are remembered; time, parameters and what is held are part of the question.
// The force changes by 1, the speed it gives by 1000: after the first step the loss is off by 1e6
// where nothing was off by more than 1 before. Exact solution.
TEST(Consistent, ProductsOfWhatChangesDoNotHoldBackTheRest) {
  HybridSystem system("loss");
  const Expr w = system.variable("w");
  const Expr force = system.variable("force");
  const Expr speed = system.variable("speed");
  const Expr loss = system.variable("loss");
  system.mode("on").equations = {der(w) == -w, force == 2.0, 1e-3 * speed == force - 1.0,
                                 loss == speed * speed};
  Start start(system);
  start.x = {1.0, 1.0, 0.0, 0.0};
  ASSERT_TRUE(start.solve().ok());
  EXPECT_EQ(start.x[0], 1.0);
  EXPECT_DOUBLE_EQ(start.x[1], 2.0);
  EXPECT_DOUBLE_EQ(start.x[2], 1e3);
  EXPECT_DOUBLE_EQ(start.x[3], 1e6);
}

TEST(Consistent, SolvesAgainWhenAnyNumberHasChanged) {
  Graph graph;
  const Expr y = graph.new_variable("y");
  const Expr p = graph.new_parameter("p");
  const Expr s = graph.new_slot("s");
  DaeDefinition sum;
  sum.unknowns = {y};
  sum.derivatives = {der(y)};
  sum.unknown_names = {"y"};
  sum.nominal = {1.0};
  sum.residuals = {y - (graph.time() + p + s)};
  sum.equation_names = {"sum"};
  sum.time = graph.time();
  sum.parameters = {p};
  sum.held = {s};
  const Dae dae(sum);
  DaeData data = dae.make_data();
  ConsistentSolver solver(dae);
  const auto solve = [&](double t, double guess) {
    double dx = 0.0;
    EXPECT_TRUE(solver.solve(data, t, &guess, &dx).ok());
    return guess;
  };
  EXPECT_EQ(solve(1.0, 7.0), 1.0);
  EXPECT_EQ(solve(1.0, 7.0), 1.0);
  EXPECT_EQ(solve(2.0, 7.0), 2.0);
  EXPECT_EQ(solve(2.0, 2.0), 2.0);
  data.held = {4.0};
  EXPECT_EQ(solve(2.0, 7.0), 6.0);
  EXPECT_EQ(solve(2.0, 2.0), 6.0);
  data.parameters = {16.0};
  EXPECT_EQ(solve(2.0, 2.0), 22.0);
}

// 5 + 1e-15 plus 5 is rounded, so the first step of Newton ends beside -5.
TEST(Consistent, FindsNumbersThatAreWrittenExactly) {
  HybridSystem system("number");
  const Expr y = system.variable("y");
  system.mode("on").equations = {y == -5.0};
  for (const double guess : {5.0 + 1e-15, 5.0 - 1e-15, 0.3, 1e10}) {
    Start start(system);
    start.x = {guess};
    ASSERT_TRUE(start.solve().ok());
    EXPECT_EQ(start.x[0], -5.0) << "from " << guess;
  }
}

TEST(Consistent, KeepsWhatIsUnderDerExactly) {
  Start start(diode());
  start.x = {0.1 + 0.2, 0.0, 0.0};
  ASSERT_TRUE(start.solve().ok());
  EXPECT_EQ(start.x[0], 0.1 + 0.2);
  EXPECT_NEAR(start.dx[0], (5.0 - (0.1 + 0.2)) / 1e-2, 1e-10);
}

// Nodes a and b joined by C = 1, each with a resistor: C (a' - b') = -a, C (a' - b') = b, so
// a + b = 0 is hidden and only a' - b' is determined. From (3, 1) the nearest point is (1, -1).
TEST(Consistent, ChangesCoupledCapacitorsAsLittleAsPossible) {
  HybridSystem system("coupled");
  const Expr a = system.variable("a");
  const Expr b = system.variable("b");
  system.mode("on").equations = {der(a) - der(b) == -a, der(a) - der(b) == b};
  Start start(system);
  start.x = {3.0, 1.0};
  ASSERT_TRUE(start.solve().ok());
  EXPECT_NEAR(start.x[0], 1.0, 1e-12);
  EXPECT_NEAR(start.x[1], -1.0, 1e-12);
  EXPECT_NEAR(start.dx[0] - start.dx[1], -1.0, 1e-12);
  EXPECT_NEAR(start.dx[0] + start.dx[1], 0.0, 1e-12) << "least norm";
}

TEST(Consistent, LeavesAConsistentPointOfCoupledCapacitorsAlone) {
  HybridSystem system("coupled");
  const Expr a = system.variable("a");
  const Expr b = system.variable("b");
  system.mode("on").equations = {der(a) - der(b) == -a, der(a) - der(b) == b};
  Start start(system);
  start.x = {2.0, -2.0};
  ASSERT_TRUE(start.solve().ok());
  EXPECT_NEAR(start.x[0], 2.0, 1e-14);
  EXPECT_NEAR(start.x[1], -2.0, 1e-14);
}

// The second and third equation contradict one another.
TEST(Consistent, ReportsContradictoryEquations) {
  HybridSystem system("contradiction");
  const Expr x = system.variable("x");
  const Expr a = system.variable("a");
  const Expr b = system.variable("b");
  system.mode("on").equations = {der(x) == a, a + b == 1.0, a + b == 2.0};
  Start start(system);
  start.x = {0.5, 0.0, 0.0};
  const ConsistentOutcome outcome = start.solve();
  EXPECT_EQ(outcome.status, ConsistentStatus::kNotConverged);
  EXPECT_TRUE(outcome.index == 1 || outcome.index == 2) << outcome.index;
  EXPECT_EQ(start.x, (std::vector<double>{0.5, 0.0, 0.0})) << "the guesses come back";
}

// a^2 = -1 has no real solution; x' = 1 is not to blame.
TEST(Consistent, ReportsAnEquationWithoutSolution) {
  HybridSystem system("no root");
  const Expr x = system.variable("x");
  const Expr a = system.variable("a");
  system.mode("on").equations = {der(x) == 1.0, a * a + 1.0 == 0.0};
  Start start(system);
  start.x = {0.0, 0.7};
  const ConsistentOutcome outcome = start.solve();
  EXPECT_EQ(outcome.status, ConsistentStatus::kNotConverged);
  EXPECT_EQ(outcome.index, 1U);
}

TEST(Consistent, ReportsTheEquationThatIsNotFinite) {
  HybridSystem system("nan");
  const Expr x = system.variable("x");
  const Expr a = system.variable("a");
  system.mode("on").equations = {der(x) == 1.0, a == sqrt(x)};
  Start start(system);
  start.x = {-1.0, 0.0};
  const ConsistentOutcome outcome = start.solve();
  EXPECT_EQ(outcome.status, ConsistentStatus::kNotFinite);
  EXPECT_EQ(outcome.index, 1U);
}

// Full Newton steps leave the domain of the logarithm from here: log(a) = 1 from a = 20 goes to
// 20 (1 - log 20 + 1) < 0.
TEST(Consistent, ShortensStepsThatLeaveTheDomain) {
  HybridSystem system("log");
  const Expr x = system.variable("x");
  const Expr a = system.variable("a");
  system.mode("on").equations = {der(x) == a, log(a) == 1.0};
  Start start(system);
  start.x = {0.0, 20.0};
  ASSERT_TRUE(start.solve().ok());
  EXPECT_NEAR(start.x[1], std::exp(1.0), 1e-14);
}

}  // namespace
}  // namespace saltus
