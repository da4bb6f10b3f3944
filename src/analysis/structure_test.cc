#include "analysis/structure.h"

#include <gtest/gtest.h>

#include "expr/graph.h"

namespace saltus {
namespace {

std::vector<VariableId> ids(std::initializer_list<Expr> variables) {
  std::vector<VariableId> result;
  for (const Expr& v : variables) result.push_back(v.node()->variable());
  return result;
}

TEST(Offsets, AreZeroForAnOrdinaryDifferentialEquation) {
  Graph g;
  const Expr x = g.new_variable("x");
  const Expr residuals[] = {der(x) + x};
  const Offsets o = find_offsets(signature_of(residuals, ids({x})));
  EXPECT_TRUE(o.solvable);
  EXPECT_EQ(o.c, std::vector<int>{0});
  EXPECT_EQ(o.d, std::vector<int>{1});
}

TEST(Offsets, OfTheCartesianPendulumDifferentiateTheConstraintTwice) {
  Graph g;
  const Expr x = g.new_variable("x");
  const Expr y = g.new_variable("y");
  const Expr u = g.new_variable("u");
  const Expr v = g.new_variable("v");
  const Expr lambda = g.new_variable("lambda");
  const Expr residuals[] = {der(x) - u, der(y) - v, der(u) + lambda * x, der(v) + lambda * y + 9.81,
                            x * x + y * y - 1.0};
  const Offsets o = find_offsets(signature_of(residuals, ids({x, y, u, v, lambda})));
  EXPECT_TRUE(o.solvable);
  EXPECT_EQ(o.c, (std::vector<int>{1, 1, 0, 0, 2}));
  EXPECT_EQ(o.d, (std::vector<int>{2, 2, 1, 1, 0}));
}

TEST(Offsets, OfAnIntegratorChainRunBackwards) {
  // x1 = f(t), x2 = x1', x3 = x2': index 3.
  Graph g;
  const Expr a = g.new_variable("a");
  const Expr b = g.new_variable("b");
  const Expr c = g.new_variable("c");
  const Expr residuals[] = {a - sin(g.time()), b - der(a), c - der(b)};
  const Offsets o = find_offsets(signature_of(residuals, ids({a, b, c})));
  EXPECT_EQ(o.c, (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(o.d, (std::vector<int>{2, 1, 0}));
}

TEST(Offsets, NameWhatIsMissingAndWhatIsTooMuch) {
  Graph g;
  const Expr x = g.new_variable("x");
  const Expr y = g.new_variable("y");
  const Expr z = g.new_variable("z");
  const Expr residuals[] = {x - 1.0, der(x) - x, y + z + x};
  const Offsets o = find_offsets(signature_of(residuals, ids({x, y, z})));
  EXPECT_FALSE(o.solvable);
  EXPECT_EQ(o.excess_equations, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(o.unknowns_of_excess, std::vector<std::size_t>{0});
  ASSERT_EQ(o.free_unknowns.size(), 1U);
  ASSERT_EQ(o.rivals.size(), 1U);  // y or z, one of them free and the other its rival
  EXPECT_EQ(o.free_unknowns[0] + o.rivals[0], 3U);
}

}  // namespace
}  // namespace saltus
