// Functions that name their derivative. Some of the derivatives are wrong on purpose: only so can a
// test tell which one was taken.

#include "modelica/derivative_function.h"

#include <gtest/gtest.h>

#include <cmath>

#include "expr/differentiate.h"
#include "expr/graph.h"
#include "expr/tape.h"
#include "modelica/flatten_testing.h"

namespace saltus {
namespace {

// Right side of the equation for `y`.
Expr right_side(const FlatModel& model) {
  for (const EquationItem& item : model.equations)
    if (const auto* e = std::get_if<Equation>(&item.value))
      if (to_string(e->equality.lhs) == "y") return e->equality.rhs;
  ADD_FAILURE() << "no equation for y";
  return 0.0;
}

// At x = 2, x' = 3, x'' = 5, k = 7.
double value_of(const FlatModel& model, const Expr& expression) {
  const Expr x = find_variable(model, "x")->symbol;
  const Expr k = find_variable(model, "k")->symbol;
  const Tape tape(std::vector<Expr>{expression},
                  {{x, der(x), der(x, 2), k, x.node()->graph->time()}});
  Tape::Workspace workspace = tape.make_workspace();
  const double values[] = {2.0, 3.0, 5.0, 7.0, 0.0};
  const double* inputs[] = {values};
  double result = 0.0;
  tape.evaluate(inputs, workspace, &result);
  return result;
}

FlatModel model_with(const std::string& functions, const std::string& call) {
  return flatten_text(functions +
                      "model M\n  Real x(start = 1, fixed = true), k = 7 + 0*time, y;\n"
                      "  parameter Real p = 7;\nequation\n  der(x) = 1;\n  y = " +
                      call + ";\nend M;\n");
}

std::string function(const std::string& name, const std::string& inputs, const std::string& value,
                     const std::string& annotation = "") {
  std::string text = "function " + name + "\n";
  for (std::size_t at = 0; at < inputs.size();) {
    const std::size_t end = std::min(inputs.find(' ', at), inputs.size());
    text += "  input Real " + inputs.substr(at, end - at) + ";\n";
    at = end + 1;
  }
  text += "  output Real r;\nalgorithm\n  r := " + value + ";\n";
  if (!annotation.empty()) text += "  annotation(" + annotation + ");\n";
  return text + "end " + name + ";\n";
}

TEST(DerivativeFunction, IsTheTimeDerivativeOfTheFunction) {
  const FlatModel model = model_with(
      function("f", "x", "x^2", "derivative = f_der") + function("f_der", "x x_der", "100*x*x_der"),
      "f(x)");
  const Expr y = right_side(model);
  EXPECT_DOUBLE_EQ(value_of(model, y), 4.0);
  EXPECT_DOUBLE_EQ(value_of(model, der(y)), 600.0);
}

// Newton's method looks for the value.
TEST(DerivativeFunction, LeavesJacobiansToTheValue) {
  const FlatModel model = model_with(
      function("f", "x", "x^2", "derivative = f_der") + function("f_der", "x x_der", "100*x*x_der"),
      "f(x)");
  const Expr x = find_variable(model, "x")->symbol;
  EXPECT_DOUBLE_EQ(value_of(model, partial(right_side(model), x)), 4.0);
}

// f = x^2, f' = 100 x x', f'' as given, or by differentiating f'.
TEST(DerivativeFunction, HasDerivativesItself) {
  const std::string f = function("f", "x", "x^2", "derivative = f_der");
  const std::string second = "derivative(order = 2) = f_der2";
  const FlatModel given = model_with(f + function("f_der", "x a", "100*x*a", second) +
                                         function("f_der2", "x a b", "1000*x + a + b"),
                                     "f(x)");
  EXPECT_DOUBLE_EQ(value_of(given, der(right_side(given), 2)), 2008.0);
  const FlatModel found = model_with(f + function("f_der", "x a", "100*x*a"), "f(x)");
  EXPECT_DOUBLE_EQ(value_of(found, der(right_side(found), 2)), 100.0 * (9.0 + 10.0));
}

// As a forced movement is written: position, speed and acceleration are signals of their own.
TEST(DerivativeFunction, IgnoresTheDerivativeOfAnInputWithNone) {
  const FlatModel model =
      model_with(function("f", "q[3] t", "q[1]", "derivative(noDerivative = q) = f_der") +
                     function("f_der", "q[3] t dt", "q[2]",
                              "derivative(noDerivative = q, order = 2) = f_der2") +
                     function("f_der2", "q[3] t dt ddt", "q[3]"),
                 "f({x, 10*x, k}, time)");
  const Expr y = right_side(model);
  EXPECT_DOUBLE_EQ(value_of(model, y), 2.0);
  EXPECT_DOUBLE_EQ(value_of(model, der(y)), 20.0);
  EXPECT_DOUBLE_EQ(value_of(model, der(y, 2)), 7.0);
  EXPECT_DOUBLE_EQ(value_of(model, partial(y, find_variable(model, "x")->symbol)), 1.0);
}

TEST(DerivativeFunction, IsTakenOnlyWhereTheInputsAllow) {
  const std::string functions =
      function("f", "x c", "c*x", "derivative(zeroDerivative = c) = f_der") +
      function("f_der", "x c x_der", "1000*c*x_der");
  const FlatModel fixed = model_with(functions, "f(x, p)");
  EXPECT_DOUBLE_EQ(value_of(fixed, substitute(der(right_side(fixed)),
                                              std::vector<Expr>{find_parameter(fixed, "p")->symbol},
                                              std::vector<Expr>{7.0})),
                   21000.0);
  const FlatModel varies = model_with(functions, "f(x, x)");
  EXPECT_DOUBLE_EQ(value_of(varies, der(right_side(varies))), 12.0);
}

TEST(DerivativeFunction, MayLeadBackToTheFunction) {
  const FlatModel model = model_with(
      function("s", "x", "sin(x)", "derivative = s_der") + function("s_der", "x a", "c(x)*a") +
          function("c", "x", "cos(x)", "derivative = c_der") + function("c_der", "x a", "-s(x)*a"),
      "s(x)");
  EXPECT_DOUBLE_EQ(value_of(model, der(right_side(model), 2)),
                   5.0 * std::cos(2.0) - 9.0 * std::sin(2.0));
}

// Heron's iteration for a number of rounds that depends on x cannot be written as one expression.
TEST(DerivativeFunction, IsTakenForFunctionsThatAreRun) {
  const std::string root =
      "function root\n  input Real x;\n  output Real r;\nalgorithm\n  r := 1;\n"
      "  while abs(r*r - x) > 1e-12*x loop\n    r := 0.5*(r + x/r);\n  end while;\n"
      "  annotation(derivative = root_der);\nend root;\n";
  const FlatModel model = model_with(root + function("root_der", "x a", "-a"), "root(x)");
  EXPECT_NEAR(value_of(model, right_side(model)), std::sqrt(2.0), 1e-12);
  EXPECT_DOUBLE_EQ(value_of(model, der(right_side(model))), -3.0);
}

TEST(DerivativeFunction, IsNotNeededWhereAFunctionIsInlined) {
  const FlatModel model =
      model_with(function("f", "x", "x^2", "derivative = f_der, Inline = true") +
                     function("f_der", "x x_der", "100*x*x_der"),
                 "f(x)");
  EXPECT_DOUBLE_EQ(value_of(model, der(right_side(model))), 12.0);
}

TEST(DerivativeFunction, WithWrongInputsIsRefused) {
  const std::string message =
      message_of(function("f", "x c", "c*x", "derivative = f_der") +
                 function("f_der", "x c x_der", "c*x_der") +
                 "model M\n  Real x(start = 1, fixed = true), y;\nequation\n  der(x) = 1;\n"
                 "  y = f(x, 2);\nend M;\n");
  EXPECT_NE(message.find("'f_der' cannot be the derivative of 'f': it has 3 inputs, not 4"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("model.mo:7:"), std::string::npos) << message;
}

}  // namespace
}  // namespace saltus
