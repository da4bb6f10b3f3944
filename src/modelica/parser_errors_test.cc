#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "modelica/parser.h"

// What the parser says about wrong text, and that one mistake makes one message.

namespace saltus {
namespace {

std::vector<std::string> errors(const std::string& text) {
  std::vector<std::string> result;
  for (const SyntaxError& e : parse_modelica(text, "f").errors) {
    result.push_back(fmt::format("{}: {}", e.where.line, e.message));
  }
  return result;
}

void expect_only(const std::string& text, const std::string& expected) {
  const std::vector<std::string> found = errors(text);
  ASSERT_EQ(found.size(), 1U) << text << "\n" << fmt::format("{}", fmt::join(found, "\n"));
  EXPECT_TRUE(found[0].starts_with(expected))
      << "found    " << found[0] << "\nexpected " << expected;
}

TEST(ParserErrors, OneMessageForEachMistakeInALongText) {
  const std::vector<std::string> found = errors(R"(model A
  paramter Real k = 1;
  Real y = 3
  Real z;
equaton
  der(x) = -k*x;
  if x = 3 then
    y == 2;
  end if;
  z = 2 * -x;
  x := 3;
end A;
model B
equation
  when x > 3
    y = 2;
  end when;
  for i in 1:3
    x[i] = 4;
  end for;
  x = if a then b;
  Real q;
end C;
package P
  model D
    Real x;
  model E
  end E;
end P;
model F
equation
  if a then
    x = 3;
end F;
)");
  const std::vector<std::string> expected = {
      "2: unknown prefix 'paramter' (did you mean 'parameter'?)",
      "3: expected ';' after the declaration",
      "5: 'equaton' does not start a section (did you mean 'equation'?)",
      "7: '=' is no comparison",
      "8: '==' compares",
      "10: a sign cannot follow an operator",
      "11: ':=' assigns",
      "15: expected 'then'",
      "18: expected 'loop'",
      "21: expected 'else'",
      "22: expected '=' after 'Real', found 'q': declarations stand before 'equation'",
      "23: expected 'end B' to close the model 'B' of line 13, found 'end C'",
      "29: model 'D' of line 25 is not closed: expected 'end D;' before 'end P'",
      "34: the 'if' of line 32 is not closed: expected 'end if', found 'end F'",
  };
  ASSERT_EQ(found.size(), expected.size()) << fmt::format("{}", fmt::join(found, "\n"));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].starts_with(expected[i]))
        << "found    " << found[i] << "\nexpected " << expected[i];
  }
}

TEST(ParserErrors, NamesTheNearestKeyword) {
  expect_only("modle A\n Real x;\nend A;",
              "1: expected a class, such as 'model' or 'package', found 'modle' (did you mean "
              "'model'?)");
  expect_only("model A Real x = if a than 1 else 2; end A;",
              "1: expected 'then' after the condition, found 'than' (did you mean 'then'?)");
}

TEST(ParserErrors, ExplainsElseIf) {
  expect_only("model A equation\n if a then x = 1;\n else if b then x = 2;\n end if;\nend A;",
              "5: the 'if' of line 2 is not closed: expected 'end if', found 'end A'; 'else if' "
              "opens a second 'if'");
}

TEST(ParserErrors, ExplainsAWrongEnd) {
  expect_only("model A equation\n if a then x = 1;\n end for;\nend A;",
              "3: the 'if' of line 2 is not closed: expected 'end if', found 'end for'");
  expect_only("model A equation\n for i in 1:2 loop\n if a then x = 1;\n end for;\nend A;",
              "4: the 'if' of line 3 is not closed");
  expect_only("model A equation\n x = 1;\n end if;\nend A;", "3: 'end if' without an open 'if'");
  expect_only("model A\n Real x;\nend;", "3: expected 'end A' to close the model 'A' of line 1");
  expect_only("model A\n Real x;\n", "3: model 'A' of line 1 is not closed");
}

TEST(ParserErrors, SaysWhichBracketIsOpen) {
  expect_only("model A\n Real x = f(1,\n 2;\nend A;",
              "3: expected ',' or ')' to close '(' of line 2, found ';'");
  expect_only("model A\n Real x = {1, 2);\nend A;",
              "2: expected ',' or '}' to close '{', found ')'");
}

TEST(ParserErrors, SuspectsAQuoteThatIsMissing) {
  EXPECT_EQ(errors("model A\n Real x \"one;\n Real y \"two\";\nend A;").at(0),
            "2: this string ends in line 3 only: its closing \" is missing, or that of the string "
            "in line 3");
  const std::vector<std::string> found =
      errors("model A\n Real x \"one;\n Real y \"two;\n Real z \"three\";\n Real u \"4\";\nend A;");
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("began in line 2: is its closing quote missing?"), std::string::npos)
      << found[0];
  expect_only("model A \"text\n Real x;\nend A;\n", "1: this string is not closed");
  expect_only("model A /* text\n Real x;\nend A;\n", "1: this comment is not closed");
}

TEST(ParserErrors, ReportsADoubleName) {
  expect_only("model A\n Real x;\n model x end x;\nend A;",
              "3: 'x' is declared twice in model 'A': first in line 2");
}

TEST(ParserErrors, RefusesChainsThatTheGrammarForbids) {
  expect_only("model A Real x = a < b < c; end A;", "1: relations cannot be chained");
  expect_only("model A Real x = a^b^c; end A;", "1: powers cannot be chained");
  expect_only("model A Real x = 1 + if a then b else c; end A;", "1: an if-expression inside");
}

TEST(ParserErrors, KeywordsAreNoNames) {
  expect_only("model A\n Real when;\nend A;",
              "2: expected a name of a component of type 'Real', found 'when', which is a keyword");
}

TEST(ParserErrors, TellsEquationsFromStatements) {
  expect_only("model A algorithm x = 1; end A;", "1: '=' makes an equation");
  expect_only("model A algorithm connect(a, b); end A;", "1: 'connect' belongs in an equation");
  expect_only("model A equation\n while a loop x = 1; end while;\nend A;", "2: 'while' belongs");
  expect_only("model A equation\n parameter Real x;\nend A;",
              "2: 'parameter' in an equation section");
}

TEST(ParserErrors, StopsAtTheLimit) {
  std::string text = "model A\n";
  for (int i = 0; i < 50; ++i) text += "Real = ;\n";
  const ParseResult result = parse_modelica(text + "end A;", "f");
  EXPECT_EQ(static_cast<int>(result.errors.size()), kMaxSyntaxErrors);
  const std::string all = to_error(result.errors).what();
  EXPECT_TRUE(all.starts_with("f:2:6: error: ")) << all;
  EXPECT_NE(all.find("\nf:21:6: error: "), std::string::npos) << all;
  EXPECT_NE(all.find("stopped after 20 errors"), std::string::npos);
}

TEST(ParserErrors, RefusesDeepNestingInsteadOfCrashing) {
  const auto repeat = [](const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
  };
  constexpr int kDeep = 100000;
  expect_only("model A Real x = " + repeat("(", kDeep) + "; end A;", "1: nested more than");
  expect_only("model A Real x = " + repeat("{", kDeep), "1: nested more than");
  expect_only("model A Real x = " + repeat("a[", kDeep), "1: nested more than");
  expect_only("model A Real x = " + repeat("f(", kDeep), "1: nested more than");
  expect_only("model A Real x = " + repeat("if ", kDeep), "1: nested more than");
  expect_only("model A Real x" + repeat("(x", kDeep), "1: nested more than");
  expect_only("model A Real x = 1" + repeat(" + 1", kDeep) + "; end A;",
              "1: expression with more than 2000 levels");
  EXPECT_FALSE(errors(repeat("model A ", kDeep)).empty());
  EXPECT_FALSE(errors("model A equation " + repeat("if a then ", kDeep)).empty());
  EXPECT_FALSE(errors("model A algorithm " + repeat("while a loop ", kDeep)).empty());
}

}  // namespace
}  // namespace saltus
