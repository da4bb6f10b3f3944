#include "analysis/report.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

CharacteristicValues values(int mu, int d, int a, int v, int u) { return {mu, d, a, v, u}; }

TEST(Report, WritesHiddenConstraintsInModelNames) {
  HybridSystem system("chain");
  const Expr x = system.variable("x");
  const Expr v = system.variable("v");
  const Expr force = system.variable("force");
  const Expr m = system.parameter("m", 2.0);
  Mode& mode = system.mode("prescribed");
  mode.equations = {
      {"motion", der(x) == v}, {"newton", m * der(v) == force}, {"path", x == sin(system.time())}};
  mode.guards = {{.name = "strong", .value = 3.0 - force}};
  const SystemAnalysis analysis = analyse_modes(system, 64);
  ASSERT_EQ(analysis.modes.size(), 1U);
  const ModeAnalysis& found = analysis.modes[0];
  EXPECT_EQ(found.values, values(2, 0, 3, 0, 0));
  EXPECT_EQ(found.hidden,
            (std::vector<std::string>{"v - cos(time) = 0", "force/m + sin(time) = 0"}));
  EXPECT_EQ(found.differentiated,
            (std::vector<std::pair<std::string, int>>{{"motion", 1}, {"path", 2}}));
  EXPECT_EQ(found.guards, std::vector<std::string>{"strong: 3 - force > 0, then the run ends"});
  EXPECT_EQ(found.note, "");
}

// Structure sees two equations for two unknowns of index 1; in truth their sum is a constraint on x
// alone, whose derivative is hidden in them.
TEST(Report, NumbersHaveTheLastWordAndTheNoteSaysSo) {
  HybridSystem system("cancelling");
  const Expr x = system.variable("x");
  const Expr y = system.variable("y");
  Mode& mode = system.mode("only");
  mode.equations = {{"first", der(x) + der(y) == y}, {"second", der(x) + der(y) == -x}};
  const ModeAnalysis found = analyse_modes(system, 64).modes[0];
  // y = -x, so x' + y' = 0 and x = y = 0.
  EXPECT_EQ(found.values, values(1, 0, 2, 0, 0));
  EXPECT_NE(found.note.find("structure alone says mu = 0, d = 2"), std::string::npos) << found.note;
}

TEST(Report, NamesFreeUnknownsAndRedundantEquations) {
  HybridSystem system("odd");
  const Expr x = system.variable("x");
  const Expr u = system.variable("u");
  system.mode("free").equations = {{"only", der(x) == u}};
  Mode& twice = system.mode("twice");
  twice.equations = {{"decay", der(x) == -x}, {"copy", 2.0 * der(x) == -2.0 * x}};
  const SystemAnalysis analysis = analyse_modes(system, 64);
  EXPECT_EQ(analysis.modes[0].values.u, 1);
  EXPECT_EQ(analysis.modes[0].free, std::vector<std::string>{"u"});
  EXPECT_EQ(analysis.modes[1].values, values(0, 1, 0, 1, 0));
  EXPECT_EQ(analysis.modes[1].redundant, (std::vector<std::string>{"decay", "copy"}));
}

TEST(Report, ListsTheInitialModeFirstAndStopsAtTheLimit) {
  HybridSystem system("three");
  const Expr x = system.variable("x");
  for (const char* name : {"a", "b", "c"}) system.mode(name).equations = {der(x) == 1.0};
  system.initial_mode = "b";
  const SystemAnalysis analysis = analyse_modes(system, 2);
  ASSERT_EQ(analysis.modes.size(), 2U);
  EXPECT_EQ(analysis.modes[0].name, "b");
  EXPECT_EQ(analysis.modes[1].name, "a");
  EXPECT_EQ(analysis.left_out, 1U);
}

}  // namespace
}  // namespace saltus
