#include "analysis/eliminate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "expr/differentiate.h"
#include "expr/graph.h"

namespace saltus {
namespace {

// Two masses m on one rigid link, x2 = x1 + L, the first on a spring: reduced by hand to all its
// levels, with accelerations and the force as unknowns.
struct LinkedMasses {
  Graph graph;
  Expr time = graph.time();
  Expr m = graph.new_parameter("m");
  Expr k = graph.new_parameter("k");
  Expr L = graph.new_slot("L");
  Expr x1 = graph.new_variable("x1"), x2 = graph.new_variable("x2");
  Expr v1 = graph.new_variable("v1"), v2 = graph.new_variable("v2");
  Expr a1 = graph.new_variable("a1"), a2 = graph.new_variable("a2");
  Expr f = graph.new_variable("f");
  DaeDefinition definition;

  LinkedMasses() {
    for (const Expr& x : {x1, x2, v1, v2, a1, a2, f}) {
      definition.unknowns.push_back(x);
      definition.derivatives.push_back(der(x));
      definition.unknown_names.push_back(to_string(x));
      definition.nominal.push_back(1.0);
    }
    definition.controlled = {true, true, true, true, false, false, false};
    definition.time = time;
    definition.parameters = {m, k};
    definition.held = {L};
    for (const Expr& e : {m * a1 + k * x1 - f, m * a2 + f - sin(time), x2 - x1 - L, v2 - v1,
                          a2 - a1, der(x1) - v1, der(v1) - a1}) {
      definition.residuals.push_back(e);
      definition.equation_names.push_back(to_string(e));
    }
  }
};

std::vector<std::size_t> all_rows(const DaeDefinition& definition) {
  std::vector<std::size_t> rows(definition.residuals.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

TEST(Eliminate, LeavesThePositionsAndVelocitiesThatAreFree) {
  const LinkedMasses masses;
  const auto form = eliminate(masses.definition, all_rows(masses.definition), 5, {2.0, 50.0});
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->kept, (std::vector<std::size_t>{0, 2}));  // x1, v1
  EXPECT_EQ(form->eliminated.size(), 5U);
  EXPECT_TRUE(form->constant_mass);

  // By hand: 2 m a = sin t - k x1, f = m a + k x1.
  DaeData data = form->core->make_data();
  data.held = {0.3};
  const double t = 0.7;
  const double x[] = {0.1, -0.4};
  const double a = (std::sin(t) - 50.0 * x[0]) / 4.0;
  const double dx[] = {x[1], a};
  double residual[2];
  form->core->residual(data, t, x, dx, residual);
  EXPECT_NEAR(residual[0], 0.0, 1e-14);
  EXPECT_NEAR(residual[1], 0.0, 1e-14);
  const double* inputs[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  Tape::Workspace registers = form->recover.make_workspace();
  double recovered[5];
  form->recover.evaluate(inputs, registers, recovered);
  const double expected[] = {x[0] + 0.3, x[1], a, a, 2.0 * a + 50.0 * x[0]};  // x2 v2 a1 a2 f
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(recovered[i], expected[i], 1e-13) << i;
}

TEST(Eliminate, SolvesOnlyTheRowsItMaySolve) {
  const LinkedMasses masses;
  const auto form = eliminate(masses.definition, all_rows(masses.definition), 3, {2.0, 50.0});
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->eliminated.size(), 3U);
  for (const std::size_t row : form->equations) EXPECT_GE(row, 3U);
}

// y = z^2 + x, z = y^2 + x: each is a formula for its unknown, but only one of them can be put into
// the other.
TEST(Eliminate, DoesNotGoRoundInCircles) {
  Graph graph;
  const Expr x = graph.new_variable("x"), y = graph.new_variable("y"), z = graph.new_variable("z");
  DaeDefinition definition;
  definition.unknowns = {x, y, z};
  definition.derivatives = {der(x), der(y), der(z)};
  definition.unknown_names = {"x", "y", "z"};
  definition.nominal = {1.0, 1.0, 1.0};
  definition.controlled = {true, false, false};
  definition.time = graph.time();
  definition.residuals = {der(x) + y * z, y - z * z - x, z - y * y - x};
  definition.equation_names = {"a", "b", "c"};
  const auto form = eliminate(definition, {0, 1, 2}, 3, {});
  ASSERT_NE(form, nullptr);
  ASSERT_EQ(form->eliminated.size(), 1U);
  ASSERT_EQ(form->core->unknown_count(), 2U);
  // At x = 0 the point y = z = 1 solves both.
  DaeData data = form->core->make_data();
  const double t = 0.0;
  const double at[] = {0.0, 1.0};
  const double slope[] = {-1.0, 0.0};
  double residual[2];
  form->core->residual(data, t, at, slope, residual);
  EXPECT_NEAR(residual[0], 0.0, 1e-15);
  EXPECT_NEAR(residual[1], 0.0, 1e-15);
}

TEST(Eliminate, KeepsWhatIsUnderADerivativeAndWhatHasAVaryingCoefficient) {
  Graph graph;
  const Expr x = graph.new_variable("x"), y = graph.new_variable("y");
  DaeDefinition definition;
  definition.unknowns = {x, y};
  definition.derivatives = {der(x), der(y)};
  definition.unknown_names = {"x", "y"};
  definition.nominal = {1.0, 1.0};
  definition.controlled = {true, false};
  definition.time = graph.time();
  definition.residuals = {der(x) - y, x * y - 1.0};
  definition.equation_names = {"a", "b"};
  EXPECT_EQ(eliminate(definition, {0, 1}, 0, {}), nullptr);
  const auto form = eliminate(definition, {0, 1}, 2, {});  // y = der(x)
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->kept, (std::vector<std::size_t>{0}));
  EXPECT_TRUE(form->reads_slopes);
  EXPECT_FALSE(form->constant_mass);
}

// A massless node between a spring and a force: its position follows the force in time, which the
// error control could not see in x alone.
TEST(Eliminate, DoesNotSolveBalancesOfForcesForPositions) {
  Graph graph;
  const Expr x = graph.new_variable("x"), node = graph.new_variable("node");
  const Expr f = graph.new_variable("f");
  DaeDefinition definition;
  definition.unknowns = {x, node, f};
  definition.derivatives = {der(x), der(node), der(f)};
  definition.unknown_names = {"x", "node", "f"};
  definition.nominal = {1.0, 1.0, 1.0};
  definition.controlled = {true, true, false};
  definition.time = graph.time();
  definition.residuals = {f - 100.0 * (node - x), f - sin(graph.time()), der(x) - f};
  definition.equation_names = {"spring", "balance", "motion"};
  const auto form = eliminate(definition, {0, 1, 2}, 2, {});
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->kept, (std::vector<std::size_t>{0, 1}));
}

// A chain of shafts: the rates d of angles are known as speeds w and as sums of all rates r'
// before. Summed, they would fill half a matrix.
TEST(Eliminate, KeepsAChainSparse) {
  constexpr std::size_t kShafts = 40;
  Graph graph;
  DaeDefinition definition;
  definition.time = graph.time();
  const auto add = [&](const std::string& name, std::size_t k, bool controlled) {
    const Expr symbol = graph.new_variable(name + std::to_string(k));
    definition.unknowns.push_back(symbol);
    definition.derivatives.push_back(der(symbol));
    definition.unknown_names.push_back(name + std::to_string(k));
    definition.nominal.push_back(1.0);
    definition.controlled.push_back(controlled);
    return symbol;
  };
  Expr before = cos(graph.time());
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < kShafts; ++k) {
    const Expr r = add("r", k, true), w = add("w", k, true), d = add("d", k, false);
    for (const Expr& residual : {der(r) - d + before, d - w, der(w) + r + der(r)}) {
      rows.push_back(definition.residuals.size());
      definition.residuals.push_back(residual);
      definition.equation_names.push_back("e" + std::to_string(rows.back()));
    }
    before = d;
  }
  const auto form = eliminate(definition, rows, rows.size(), {});
  ASSERT_NE(form, nullptr);
  const DaeDefinition& core = form->core->definition();
  EXPECT_EQ(core.residuals.size(), 2 * kShafts);
  EXPECT_LE(jacobian(core.residuals, core.derivatives).size(), 4 * kShafts);
}

}  // namespace
}  // namespace saltus
