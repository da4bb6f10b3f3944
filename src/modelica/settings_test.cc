#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modelica/flatten_testing.h"

namespace saltus {
namespace {

using ::testing::HasSubstr;

const char* const kModel =
    "record R\n  Real a = 1;\n  Real b[2] = {2, 3};\nend R;\n"
    "model C\n  parameter Real k = 1;\n  final parameter Real f[2] = {1, 2};\n  Real x = k*f[1];\n"
    "end C;\n"
    "model M\n  parameter Real e[3] = {1, 2, 3}, m[2, 2] = [1, 2; 3, 4];\n  parameter R r, s[2];\n"
    "  parameter Integer n[2] = {1, 2};\n  C c[2];\n  Real w[2](start = {5, 6});\n"
    "  Real y = sum(e) + sum(m) + r.a + s[1].b[2];\nequation\n  der(w) = {0, 0};\nend M;\n";

FlatModel with(const std::string& name, const std::string& value) {
  return flatten_text(kModel, {.overrides = {{name, value}}});
}

double set_to(const std::string& name, const std::string& value, const std::string& asked) {
  const FlatModel model = with(name, value);
  const Parameter* p = find_parameter(model, asked);
  return p == nullptr ? -1.0 : p->value;
}

TEST(Settings, ReachElementsOfArraysAndFieldsOfRecords) {
  EXPECT_EQ(set_to("e[2]", "7", "e[2]"), 7.0);
  EXPECT_EQ(set_to("e[2]", "7", "e[3]"), 3.0);
  EXPECT_EQ(set_to("m[1, 2]", "7", "m[1,2]"), 7.0);
  EXPECT_EQ(set_to("r.b[2]", "7", "r.b[2]"), 7.0);
  EXPECT_EQ(set_to("s[1].b[2]", "7", "s[1].b[2]"), 7.0);
  EXPECT_EQ(set_to("s[1].b", "{8, 9}", "s[1].b[2]"), 9.0);
  EXPECT_EQ(set_to("c[2].k", "2*e[3]", "c[1].k"), 1.0);
  EXPECT_EQ(derived_text(with("n[2]", "4"), "n[2]"), "4");
}

TEST(Settings, OfVariablesAreStartValues) {
  const FlatModel model = with("w[2]", "9");
  EXPECT_EQ(find_variable(model, "w[1]")->start.number(), 5.0);
  EXPECT_EQ(find_variable(model, "w[2]")->start.number(), 9.0);
}

TEST(Settings, ThatReachNothingAreErrors) {
  const auto refusal = [](const std::string& name, const std::string& value) -> std::string {
    try {
      with(name, value);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("e[4]", "1"),
              HasSubstr("--set e[4]: 'e' is [3], so there is no element [4]"));
  EXPECT_THAT(refusal("e[0]", "1"), HasSubstr("there is no element [0]"));
  EXPECT_THAT(refusal("m[1]", "1"), HasSubstr("'m' is [2, 2], so there is no element [1]"));
  EXPECT_THAT(refusal("c[3].k", "1"), HasSubstr("'c' is [2]"));
  EXPECT_THAT(refusal("c[1].q", "1"), HasSubstr("'c[1]' has no 'q'"));
  EXPECT_THAT(refusal("c[1]", "1"), HasSubstr("it is a C, not a parameter"));
  EXPECT_THAT(refusal("c[1].f[2]", "1"), HasSubstr("it is final"));
  EXPECT_THAT(refusal("y[1]", "1"), HasSubstr("'y' is scalar"));
  EXPECT_THAT(refusal("e[1]", "{1, 2}"), HasSubstr("is a scalar, not [2]"));
  EXPECT_THAT(refusal("n[1]", "1.5"), HasSubstr("'n' is Integer but its value is Real"));
  EXPECT_THAT(refusal("e[1", "1"), HasSubstr("expected ']'"));
}

}  // namespace
}  // namespace saltus
