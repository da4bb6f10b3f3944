#include "analysis/reduce.h"

#include <gtest/gtest.h>

#include "analysis/state_selector.h"
#include "expr/graph.h"
#include "model/dae.h"

namespace saltus {
namespace {

// A mass on a spring whose velocity is known under a second name that is never differentiated:
// u = y', y = x + p. Whichever of the equal symbols v, u, x', y' remains, two states are needed.
TEST(ReducedForm, KeepsTheEquationThatIntegratesOneOfTwoEqualSymbols) {
  for (const bool algebraic_first : {true, false}) {
    Graph g;
    const Expr first = g.new_variable("first");
    const Expr second = g.new_variable("second");
    const Expr x = g.new_variable("x");
    const Expr y = g.new_variable("y");
    const Expr p = g.new_parameter("p");
    const Expr& u = algebraic_first ? first : second;
    const Expr& v = algebraic_first ? second : first;
    DaeDefinition mode;
    mode.unknowns = {first, second, x, y};
    mode.residuals = {der(x) - v, der(v) + x, y - x - p, u - der(y)};
    mode.time = g.time();
    mode.parameters = {p};
    std::vector<VariableId> ids;
    for (const Expr& unknown : mode.unknowns) {
      mode.derivatives.push_back(der(unknown));
      mode.nominal.push_back(1.0);
      mode.unknown_names.push_back(to_string(unknown));
      mode.equation_names.push_back(to_string(mode.residuals[ids.size()]));
      ids.push_back(unknown.node()->variable());
    }
    const Signature signature = signature_of(mode.residuals, ids);
    const Offsets offsets = find_offsets(signature);
    ASSERT_TRUE(offsets.solvable);
    const ReducedForm form = reduce(g, mode, ids, signature, offsets);
    const Dae dae(form.definition);
    DaeData data = dae.make_data();
    data.parameters = {0.5};
    const std::vector<double> zeros(dae.unknown_count(), 0.0);
    StateSelector selector(form);
    const auto states = selector.select(data, 0.0, zeros.data(), zeros.data());
    // One of x and y is chosen; v is never in doubt.
    EXPECT_EQ(states.size(), 1u) << "algebraic first: " << algebraic_first;
    EXPECT_EQ(form.states, 1u);
    EXPECT_EQ(form.candidates.size(), 2u);
  }
}

// x' = v, v' = -x, y = 2 x + 1, u = y': v is u/2 and y'/2, so it is half as small as y is said to
// be.
TEST(Reduce, SymbolsTakeTheSizeOfWhatTheyStandFor) {
  Graph g;
  const Expr x = g.new_variable("x");
  const Expr v = g.new_variable("v");
  const Expr y = g.new_variable("y");
  const Expr u = g.new_variable("u");
  DaeDefinition mode;
  mode.unknowns = {x, v, y, u};
  mode.residuals = {der(x) - v, der(v) + x, y - 2.0 * x - 1.0, u - der(y)};
  mode.nominal = {1.0, 1.0, 1e-4, 1.0};
  mode.time = g.time();
  std::vector<VariableId> ids;
  for (const Expr& unknown : mode.unknowns) {
    mode.derivatives.push_back(der(unknown));
    mode.unknown_names.push_back(to_string(unknown));
    mode.equation_names.push_back(to_string(mode.residuals[ids.size()]));
    ids.push_back(unknown.node()->variable());
  }
  const Signature signature = signature_of(mode.residuals, ids);
  const ReducedForm form = reduce(g, mode, ids, signature, find_offsets(signature));
  bool found = false;
  for (std::size_t j = 0; j < form.definition.unknowns.size(); ++j) {
    if (form.definition.unknown_names[j] != "v") continue;
    found = true;
    EXPECT_DOUBLE_EQ(form.definition.nominal[j], 0.5e-4);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace saltus
