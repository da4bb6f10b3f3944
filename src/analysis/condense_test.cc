#include "analysis/condense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/analysed_mode.h"
#include "model/system.h"

namespace saltus {
namespace {

// Two discs with inertia, as components of a library write them: a = der(w) beside J a = tau, a
// clutch with its own angle, speed and acceleration, an output that reads the last.
HybridSystem discs(bool locked) {
  HybridSystem system("discs");
  const Expr phi_a = system.variable("phi_a");
  const Expr w_a = system.variable("w_a");
  const Expr a_a = system.variable("a_a");
  const Expr phi_b = system.variable("phi_b");
  const Expr w_b = system.variable("w_b");
  const Expr a_b = system.variable("a_b");
  const Expr phi_rel = system.variable("phi_rel");
  const Expr w_rel = system.variable("w_rel");
  const Expr a_rel = system.variable("a_rel");
  const Expr tau = system.variable("tau");
  const Expr s = system.variable("s");
  const Expr J = system.parameter("J", 2.0);
  system.mode("mode").equations = {
      w_a == der(phi_a),
      a_a == der(w_a),
      J * a_a == 6.0 - tau,
      w_b == der(phi_b),
      a_b == der(w_b),
      J * a_b == tau,
      w_rel == der(phi_rel),
      a_rel == der(w_rel),
      phi_rel == phi_b - phi_a,
      s == tau + J * a_rel,
      locked ? Equality{phi_rel, 0.5} : Equality{tau, J * w_rel},
  };
  return system;
}

CondensedMode condensed(const HybridSystem& system) {
  const Mode& mode = system.modes().front();
  const std::vector<VariableId> unknowns = unknowns_of(system, mode);
  const auto result = condense(write_out(system, mode, unknowns), unknowns);
  EXPECT_TRUE(result.has_value());
  return result.value_or(CondensedMode{});
}

std::vector<std::string> names(const CondensedMode& mode) { return mode.definition.unknown_names; }

std::string replacement(const CondensedMode& mode, const std::string& name) {
  for (std::size_t k = 0; k < mode.replaced.size(); ++k)
    if (to_string(mode.replaced[k]) == name) return to_string(mode.replacements[k]);
  return "";
}

TEST(Condense, LeavesPositionsAndVelocitiesOfBodies) {
  const HybridSystem system = discs(false);
  const CondensedMode mode = condensed(system);
  EXPECT_EQ(names(mode), (std::vector<std::string>{"phi_a", "w_a", "phi_b", "w_b"}));
  EXPECT_EQ(mode.definition.residuals.size(), 4u);
  EXPECT_EQ(replacement(mode, "w_rel"), "w_b - w_a");
  EXPECT_EQ(replacement(mode, "der(w_rel)"), "der(w_b) - der(w_a)");
  EXPECT_EQ(replacement(mode, "a_rel"), "der(w_b) - der(w_a)");
}

TEST(Condense, LeavesConstraintsAndTheirMultipliers) {
  const HybridSystem system = discs(true);
  const CondensedMode mode = condensed(system);
  EXPECT_EQ(names(mode), (std::vector<std::string>{"phi_a", "w_a", "phi_b", "w_b", "tau"}));
  EXPECT_EQ(mode.definition.residuals.size(), 5u);
}

// HM (33)-(38): 30 angles and speeds, less is not possible; here two shafts on a node.
TEST(Condense, LeavesOneSpeedToANodeWithoutInertia) {
  HybridSystem system("node");
  const Expr node = system.variable("node");
  const Expr c = system.parameter("c", 100.0);
  std::vector<Equation> equations;
  Expr sum = 0.0;
  for (const std::string k : {"1", "2"}) {
    const Expr phi = system.variable("phi" + k);
    const Expr w = system.variable("w" + k);
    const Expr rel = system.variable("rel" + k);
    const Expr w_rel = system.variable("w_rel" + k);
    const Expr tau = system.variable("tau" + k);
    for (const Equality& e : {w == der(phi), c * der(w) == tau, rel == node - phi,
                              w_rel == der(rel), tau == c * rel + c * w_rel})
      equations.emplace_back(e);
    sum += tau;
  }
  equations.emplace_back(sum == 0.0);
  system.mode("mode").equations = equations;
  const CondensedMode mode = condensed(system);
  EXPECT_EQ(mode.definition.unknowns.size(), 6u);  // two bodies, the node and one speed of it
  EXPECT_EQ(mode.definition.residuals.size(), 6u);
}

TEST(Condense, HasNothingToDoForEquationsOfMotion) {
  HybridSystem system("pendulum");
  const Expr x = system.variable("x");
  const Expr y = system.variable("y");
  const Expr u = system.variable("u");
  const Expr v = system.variable("v");
  const Expr force = system.variable("force");
  system.mode("swing").equations = {der(x) == u, der(y) == v, der(u) == -force * x,
                                    der(v) == -force * y - 9.81, x * x + y * y == 1.0};
  const Mode& mode = system.modes().front();
  const std::vector<VariableId> unknowns = unknowns_of(system, mode);
  EXPECT_FALSE(condense(write_out(system, mode, unknowns), unknowns).has_value());
}

}  // namespace
}  // namespace saltus
