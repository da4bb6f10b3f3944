// The methods of HM Table 2 beside Radau and BDF, and the comparison of all of them. Expected
// values: the period of the pendulum by elliptic integrals, the gearbox in minimal coordinates
// (problems/reference/nag.cc), closed forms; elsewhere a tight run of another method.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "examples/four_bar/four_bar.h"
#include "examples/nag/nag.h"
#include "examples/pendulum/pendulum.h"
#include "nag_testing.h"
#include "output/comparison.h"
#include "simulate/compare.h"

namespace saltus {
namespace {

void expect_gear_shifts(Method method, double tolerance, double accuracy) {
  const SimulateResult result = simulate(
      make_nag(),
      {.tolerance = tolerance, .interval = 0.0, .method = method, .measure_constraints = true});
  expect_switches(result, accuracy);
  for (const double residual : result.residuals.at_steps) EXPECT_LE(residual, 1e-10);
}

TEST(HalfExplicit, ShiftsTheGearboxAsTheMinimalEquationsDo) {
  expect_gear_shifts(Method::kHalfExplicit, 1e-3, 1e-4);
}

TEST(DerivativeArray, ShiftsTheGearboxAsTheMinimalEquationsDo) {
  expect_gear_shifts(Method::kDerivativeArray, 1e-3, 1e-3);
}

class EachMethod : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(All, EachMethod, testing::ValuesIn(kMethods), [](const auto& method) {
  std::string name = to_string(method.param);
  std::erase(name, '-');
  return name;
});

TEST_P(EachMethod, MovesTheFourBarLinkageAsATightRunDoes) {
  // BDF adds up more error; the formulations have their own tests.
  const double accuracy = GetParam() == Method::kBdf ? 1e-5 : 1e-6;
  const HybridSystem system = make_four_bar();
  const SimulateResult tight = simulate(system, {.stop_time = 0.5, .tolerance = 1e-12});
  const SimulateResult result = simulate(
      system,
      {.stop_time = 0.5, .tolerance = 1e-8, .method = GetParam(), .measure_constraints = true});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(result.method, to_string(GetParam()));
  for (const Variable& v : system.variables()) {
    const double exact = tight.final.at(v.name);
    EXPECT_NEAR(result.final.at(v.name), exact, accuracy * (std::abs(exact) + v.nominal)) << v.name;
  }
  for (const double residual : result.residuals.at_steps) EXPECT_LE(residual, 1e-11);
}

// Two inertias locked through a relative angle without an equation of its own, a third by a
// velocity constraint, a node without inertia: w = 2 t, node - phi1 = exp(-2 t).
TEST_P(EachMethod, HandlesRelativeAnglesVelocityConstraintsAndNodesWithoutInertia) {
  HybridSystem system("shafts");
  const Expr phi1 = system.variable("phi1");
  const Expr phi2 = system.variable("phi2");
  const Expr node = system.variable("node", {.start = 1.0});
  const Expr rel = system.variable("rel");
  const Expr w1 = system.variable("w1");
  const Expr w2 = system.variable("w2");
  const Expr w3 = system.variable("w3");
  const Expr w_node = system.variable("w_node");
  const Expr pin = system.variable("pin");
  const Expr clutch = system.variable("clutch");
  system.mode("locked").equations = {der(phi1) == w1,
                                     der(phi2) == w2,
                                     der(node) == w_node,
                                     2.0 * der(w1) == 12.0 - pin - clutch,
                                     3.0 * der(w2) == pin,
                                     1.0 * der(w3) == clutch,
                                     4.0 * (node - phi1) + 2.0 * (w_node - w1) == 0.0,
                                     rel == phi1 - phi2,
                                     rel == 0.0,
                                     w1 == w3};
  const SimulateResult result =
      simulate(system, {.stop_time = 1.0, .tolerance = 1e-8, .method = GetParam()});
  ASSERT_TRUE(result.completed()) << result.message;
  for (const char* speed : {"w1", "w2", "w3"})
    EXPECT_NEAR(result.final.at(speed), 2.0, 1e-6) << speed;
  EXPECT_NEAR(result.final.at("phi1"), 1.0, 1e-6);
  EXPECT_NEAR(result.final.at("phi2"), 1.0, 1e-6);
  EXPECT_NEAR(result.final.at("pin"), 6.0, 1e-6);
  EXPECT_NEAR(result.final.at("clutch"), 2.0, 1e-6);
  EXPECT_NEAR(result.final.at("node"), 1.0 + std::exp(-2.0), 1e-6);
}

// Three integrators that have to follow sin(t): no mechanical system.
HybridSystem prescribed_chain() {
  HybridSystem system("chain");
  const Expr a = system.variable("a");
  const Expr b = system.variable("b", {.start = 1.0});
  const Expr c = system.variable("c");
  const Expr input = system.variable("input", {.start = -1.0});
  system.mode("driven").equations = {{"first", der(a) == b},
                                     {"second", der(b) == c},
                                     {"third", der(c) == input},
                                     {"path", a == sin(system.time())}};
  return system;
}

TEST(HalfExplicit, RefusesAModeThatIsNotMechanicalByName) {
  try {
    simulate(prescribed_chain(), {.stop_time = 1.0, .method = Method::kHalfExplicit});
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* word : {"chain", "half-explicit", "driven", "first", "radau"})
      EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  }
}

TEST(DerivativeArray, FollowsAPathOfIndexFour) {
  const SimulateResult result =
      simulate(prescribed_chain(),
               {.stop_time = 2.0, .tolerance = 1e-8, .method = Method::kDerivativeArray});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_EQ(result.modes.front().mu, 3);
  EXPECT_NEAR(result.final.at("a"), std::sin(2.0), 1e-9);
  EXPECT_NEAR(result.final.at("input"), -std::cos(2.0), 1e-9);
}

TEST(Methods, RefuseFormulationsTheyCannotIntegrate) {
  for (const Method method : {Method::kHalfExplicit, Method::kDerivativeArray})
    EXPECT_THROW(simulate(make_four_bar(), {.method = method, .formulation = Formulation::kGgl}),
                 Error);
}

TEST(Compare, HoldsEveryMethodAgainstATightRun) {
  CompareOptions options;
  options.tolerances = {1e-4};
  options.run.stop_time = 0.3;
  std::size_t runs = 0;
  options.progress = [&](std::size_t, std::size_t all, const std::string&, double) { runs = all; };
  const Comparison comparison = compare(make_four_bar(), options);
  // Radau on 8 formulations, BDF on the 4 that are square and of index 1, the others on their own.
  EXPECT_EQ(comparison.rows.size(), 14u);
  EXPECT_EQ(runs, 14u);
  for (const CompareRow& row : comparison.rows) {
    const std::string name = std::string(to_string(row.method)) + " " + to_string(row.formulation);
    EXPECT_EQ(row.verdict, CompareVerdict::kRight) << name << ": " << row.note;
    EXPECT_LE(row.final_error, 1e-2) << name;
    EXPECT_GT(row.steps, 0u) << name;
    EXPECT_TRUE(std::isfinite(row.residuals.absolute_at_steps[2])) << name;
  }
  // One line a run, and the names of the columns.
  const std::string csv = comparison_csv(comparison);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 15);
}

TEST(Compare, SaysWhyARunStopsOrIsNotPossible) {
  CompareOptions options;
  options.methods = {Method::kRadau, Method::kHalfExplicit};
  options.formulations = {Formulation::kReduced};
  options.tolerances = {1e-6};
  options.max_seconds = 1e-9;
  const Comparison comparison = compare(prescribed_chain(), options);
  ASSERT_EQ(comparison.rows.size(), 2u);
  EXPECT_EQ(comparison.rows[0].verdict, CompareVerdict::kStopped);
  EXPECT_NE(comparison.rows[0].note.find("time limit"), std::string::npos);
  EXPECT_EQ(comparison.rows[1].verdict, CompareVerdict::kNotPossible);
  EXPECT_NE(comparison.rows[1].note.find("first"), std::string::npos);
  EXPECT_NE(comparison_text(comparison).find("not-possible"), std::string::npos);
}

}  // namespace
}  // namespace saltus
