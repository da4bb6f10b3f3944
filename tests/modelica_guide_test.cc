// The models quoted in docs/guide/modelica.md.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

// All lines of the page that are set as code.
std::string quoted_text() {
  std::ifstream page(SALTUS_MODELICA_GUIDE);
  std::string text;
  bool in_model = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("    model ")) in_model = true;
    if (in_model) text += line + "\n";
    if (line.starts_with("    end ")) in_model = false;
  }
  return text;
}

SimulateResult run(const std::string& model) {
  return simulate(build(load_modelica_text(quoted_text(), model, {.use_modelica_path = false})),
                  {.stop_time = 4.0, .tolerance = 1e-9});
}

TEST(ModelicaGuide, UnknownBecomesAConstant) {
  const SimulateResult result = run("Leap");
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_DOUBLE_EQ(result.final.at("x"), -5.0);
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_DOUBLE_EQ(result.events[0].time, 0.5);
}

// 10 - 3 t = 3 t / 2 at t = 20/9; momentum 10 over inertia 3.
TEST(ModelicaGuide, ClutchLocks) {
  const SimulateResult result = run("Clutch");
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_NEAR(result.final.at("w1"), 10.0 / 3.0, 1e-8);
  EXPECT_NEAR(result.final.at("w2"), 10.0 / 3.0, 1e-8);
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_NEAR(result.events[0].time, 20.0 / 9.0, 1e-8);
  ASSERT_EQ(result.modes.size(), 2u);
  EXPECT_EQ(result.modes[0].mu, 0);
  EXPECT_EQ(result.modes[1].mu, 1);
}

// One analysis serves all combinations: x decays at rate 1 to i/20 and at rate 2 from there.
TEST(ModelicaGuide, EquallyStructuredBranchesAreOneMode) {
  const SimulateResult result = run("OneMode");
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(result.modes.size(), 1u);
  for (int i = 1; i <= 10; ++i)
    EXPECT_NEAR(result.final.at("x[" + std::to_string(i) + "]"), std::exp(i / 20.0 - 8.0), 1e-9);
}

TEST(ModelicaGuide, StateMachineComesToRest) {
  const SimulateResult result = run("Drop");
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_NEAR(result.events[0].time, std::sqrt(2.0 / 9.81), 1e-8);
  EXPECT_EQ(result.final.at("rest.v"), 0.0);
}

TEST(Messages, GiveTheValuesOfVariables) {
  const char* const text = R"(
model M
  Real x(start = 0, fixed = true), y = 2*x;
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when sample(0.1, 0.1) then
    n = pre(n) + 1;
  end when;
  when x > 0.5625 then
    terminate("y is " + String(y) + ", n is " + String(n) + ", at " + String(time));
  end when;
end M;
)";
  const SimulateResult result = simulate(
      build(load_modelica_text(text, "", {.use_modelica_path = false})), {.tolerance = 1e-9});
  EXPECT_EQ(result.reason, StopReason::kTerminated);
  EXPECT_TRUE(result.message.starts_with("y is 1.125, n is 5, at 0.5625")) << result.message;
}

}  // namespace
}  // namespace saltus
