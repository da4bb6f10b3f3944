// Functions that are run with numbers because their loops depend on arguments that vary.

#include "modelica/traced.h"

#include <gtest/gtest.h>

#include <cmath>

#include "expr/differentiate.h"
#include "model/build.h"
#include "modelica/flatten_testing.h"

namespace saltus {
namespace {

// Right side of the first equation whose left side is this variable.
Expr right_side(const FlatModel& model, const std::string& name) {
  for (const EquationItem& item : model.equations)
    if (const auto* e = std::get_if<Equation>(&item.value))
      if (to_string(e->equality.lhs) == name) return e->equality.rhs;
  ADD_FAILURE() << "no equation for " << name;
  return 0.0;
}

double value_at(const FlatModel& model, const Expr& expression, double x) {
  const Expr variable = find_variable(model, "x")->symbol;
  const Tape tape(std::vector<Expr>{expression}, {{variable}});
  Tape::Workspace workspace = tape.make_workspace();
  const double* inputs[] = {&x};
  double result = 0.0;
  tape.evaluate(inputs, workspace, &result);
  return result;
}

const char* const kRoot = R"(
function root "Heron's iteration"
  input Real x;
  output Real y;
algorithm
  y := 1;
  while abs(y*y - x) > 1e-13*x loop
    y := (y + x/y)/2;
  end while;
  annotation(smoothOrder = 2, inverse(x = y^2));
end root;
)";

TEST(TracedFunction, RunsALoopWhoseEndDependsOnTheArgument) {
  const FlatModel model = flatten_text(
      std::string(kRoot) +
      "model M Real x(start = 4, fixed = true); Real y; equation der(x) = -1; y = root(x); end M;");
  const Expr y = right_side(model, "y");
  const Expr x = find_variable(model, "x")->symbol;
  for (const double at : {1e-4, 0.3, 2.0, 4.0, 1e6}) {
    EXPECT_NEAR(value_at(model, y, at) / std::sqrt(at), 1.0, 1e-12) << at;
    // Through the statements: the last step of the iteration makes the derivative exact as well.
    EXPECT_NEAR(value_at(model, partial(y, x), at) * 2.0 * std::sqrt(at), 1.0, 1e-6) << at;
    EXPECT_NEAR(value_at(model, partial(partial(y, x), x), at) * -4.0 * std::pow(at, 1.5), 1.0,
                1e-3)
        << at;
  }
  EXPECT_TRUE(std::isnan(value_at(model, y, -1.0)));  // it does not end
}

TEST(TracedFunction, CallsItself) {
  const FlatModel model = flatten_text(R"(
function power
  input Real x;
  input Real n;
  output Real y;
algorithm
  y := if n < 0.5 then 1 else x*power(x, n - 1);
end power;
model M
  Real x(start = 4, fixed = true);
  Real y;
equation
  der(x) = -1;
  y = power(x, x);
end M;
)");
  const Expr y = right_side(model, "y");
  EXPECT_EQ(value_at(model, y, 3.0), 27.0);
  EXPECT_EQ(value_at(model, y, 2.2), 2.2 * 2.2);
  const Expr x = find_variable(model, "x")->symbol;
  EXPECT_NEAR(value_at(model, partial(y, x), 3.0), 27.0, 1e-12);  // of x^3
}

TEST(TracedFunction, ReturnsArraysAndReadsSizesAtTranslation) {
  const FlatModel model = flatten_text(R"(
function sums
  input Real x;
  input Integer n;
  output Real y[n];
  output Integer count;
algorithm
  count := 0;
  y := zeros(n);
  for i in 1:n loop
    while y[i] < i*x loop
      y[i] := y[i] + 1;
      count := count + 1;
    end while;
  end for;
end sums;
model M
  parameter Integer n = 3;
  Real x(start = 1.5, fixed = true);
  Real y[n];
equation
  der(x) = 1;
  y = sums(x, n);
end M;
)");
  const Expr third = right_side(model, "y[3]");
  EXPECT_EQ(value_at(model, third, 1.5), 5.0);
  EXPECT_EQ(value_at(model, third, 2.1), 7.0);
  EXPECT_EQ(value_at(model, right_side(model, "y[1]"), 2.1), 3.0);
}

TEST(TracedFunction, SaysWhatIsWrongIfItCannotBeRunEither) {
  const std::string message = message_of(R"(
function forever
  input Real x;
  output Real y;
algorithm
  y := x;
  while y > y - 1 loop
    y := y + 1;
  end while;
end forever;
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = forever(x);
end M;
)");
  EXPECT_NE(message.find("model.mo:"), std::string::npos) << message;
}

// An inlined function is differentiated, whatever derivative it names.
TEST(TracedFunction, AnnotationsOfFunctionsAreAccepted) {
  const FlatModel model = flatten_text(R"(
function f
  input Real x;
  output Real y;
algorithm
  y := x^3;
  annotation(derivative(order = 1) = f_der, inverse(x = y^(1/3)), smoothOrder = 3, Inline = true);
end f;
function f_der
  input Real x;
  input Real x_der;
  output Real y_der;
algorithm
  y_der := 3*x^2*x_der;
end f_der;
model M
  Real x(start = 1, fixed = true);
  Real y;
equation
  der(x) = 1;
  y = f(x);
end M;
)");
  EXPECT_EQ(
      value_at(model, partial(right_side(model, "y"), find_variable(model, "x")->symbol), 2.0),
      12.0);
}

}  // namespace
}  // namespace saltus
