#include "expr/break_times.h"

#include <gtest/gtest.h>

#include "expr/graph.h"
#include "expr/table.h"

namespace saltus {
namespace {

TEST(BreakTimes, AreWhereLimitsOfARampAreReached) {
  Graph graph;
  const Expr t = graph.time();
  const Expr begin = graph.new_parameter("begin");
  const Expr x = graph.new_variable("x");
  const Expr s = min(max((t - begin) / 0.5, 0.0), 1.0);
  const Expr values[] = {x + s * s * s, x * abs(t - 7.0)};
  const double parameters[] = {2.0};
  EXPECT_EQ(break_times(values, parameters),
            (std::vector<BreakTime>{{2.0, false}, {2.5, false}, {7.0, false}}));
}

TEST(BreakTimes, AreJumpsWhereARelationTurns) {
  Graph graph;
  const Expr t = graph.time();
  const Expr x = graph.new_variable("x");
  const Expr values[] = {select(t < 4.0, x, max(t, 1.0)), sign(t - 2.0), min(t, 4.0)};
  EXPECT_EQ(break_times(values, {}),
            (std::vector<BreakTime>{{1.0, false}, {2.0, true}, {4.0, true}}));
}

TEST(BreakTimes, AreTheKnotsOfTables) {
  Graph graph;
  const Expr t = graph.time();
  const auto table = make_table("speed", {0.0, 1.0, 4.0}, {0.0, 1.0, 0.0});
  const Expr values[] = {lookup(table, 2.0 * t - 1.0)};
  EXPECT_EQ(break_times(values, {}),
            (std::vector<BreakTime>{{0.5, false}, {1.0, false}, {2.5, false}}));
}

TEST(BreakTimes, AreNotLookedForInWhatDependsOnUnknownsOrIsCurved) {
  Graph graph;
  const Expr t = graph.time();
  const Expr x = graph.new_variable("x");
  const Expr values[] = {max(x - t, 0.0), abs(sin(t)), x * t};
  EXPECT_TRUE(break_times(values, {}).empty());
}

}  // namespace
}  // namespace saltus
