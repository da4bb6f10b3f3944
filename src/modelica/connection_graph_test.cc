#include "modelica/connection_graph.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "modelica/instance.h"

namespace saltus {
namespace {

// a - b = c - d, and d = a closes the loop: one connection too many.
TEST(ConnectionGraph, BreaksOneConnectionOfALoop) {
  Instance a, b, c, d;
  ConnectionGraph graph;
  graph.add_root(a, {});
  graph.add_branch(a, b, {});
  graph.add_branch(c, d, {});
  const std::size_t first = graph.add_connection(b, c, {});
  const std::size_t second = graph.add_connection(d, a, {});
  graph.solve();
  EXPECT_NE(graph.is_broken(first), graph.is_broken(second));
  EXPECT_TRUE(graph.is_root(a));
  EXPECT_FALSE(graph.is_root(c));
  EXPECT_TRUE(graph.is_rooted(a, {}));
  EXPECT_FALSE(graph.is_rooted(b, {}));
  EXPECT_TRUE(graph.is_rooted(c, {}));  // b = c is taken first, so c is nearer than d
}

TEST(ConnectionGraph, TakesThePotentialRootOfLowestPriorityWhereThereIsNoOther) {
  Instance a, b, c;
  ConnectionGraph graph;
  graph.add_potential_root(a, 10.0);
  graph.add_potential_root(b, 1.0);
  graph.add_connection(a, b, {});
  graph.add_root(c, {});
  graph.solve();
  EXPECT_FALSE(graph.is_root(a));
  EXPECT_TRUE(graph.is_root(b));
  EXPECT_TRUE(graph.is_root(c));
}

TEST(ConnectionGraph, RefusesALoopOfBranchesAndAComponentWithoutRoot) {
  Instance a, b;
  ConnectionGraph loop;
  loop.add_root(a, {});
  loop.add_root(b, {});
  loop.add_branch(a, b, {});
  EXPECT_THROW(loop.solve(), Error);
  ConnectionGraph rootless;
  rootless.add_connection(a, b, {});
  EXPECT_THROW(rootless.solve(), Error);
}

}  // namespace
}  // namespace saltus
