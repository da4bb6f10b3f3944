#include "modelica/text_format.h"

#include <gtest/gtest.h>

#include "modelica/flatten_testing.h"

namespace saltus {
namespace {

// The text that an assertion with this message says.
std::string text_of(const std::string& expression) {
  const std::string message =
      message_of("model M\n  type Gear = enumeration(park, drive);\nequation\n  assert(false, " +
                 expression + ");\nend M;\n");
  const std::string before = "assertion violated: ";
  const std::size_t at = message.find(before);
  return at == std::string::npos ? message : message.substr(at + before.size());
}

// The expected texts are those of printf, as the language says.
TEST(TextFormat, IsThatOfC) {
  EXPECT_EQ(text_of("String(3.14159, format = \"6.2f\")"), "  3.14");
  EXPECT_EQ(text_of("String(12345678.0, \"10.3e\")"), " 1.235e+07");
  EXPECT_EQ(text_of("String(7, format = \"03d\")"), "007");
  EXPECT_EQ(text_of("String(2.0/3.0)"), "0.666667");
  EXPECT_EQ(text_of("String(2.0/3.0, significantDigits = 3)"), "0.667");
}

TEST(TextFormat, PadsOnEitherSide) {
  EXPECT_EQ(text_of("String(true, minimumLength = 6) + \"|\""), "true  |");
  EXPECT_EQ(text_of("String(42, minimumLength = 6, leftJustified = false)"), "    42");
  EXPECT_EQ(text_of("String(42, 6, false)"), "    42");
  EXPECT_EQ(text_of("String(1.23456, 3, 6, false)"), "  1.23");
  EXPECT_EQ(text_of("String(Gear.drive, minimumLength = 7, leftJustified = false)"), "  drive");
}

TEST(TextFormat, WhatIsNoneIsRefused) {
  const auto refusal = [](const std::string& expression) {
    return message_of("model M\n  parameter String s = " + expression + ";\nend M;\n");
  };
  EXPECT_NE(refusal("String(1.0, format = \"q\")").find("'q' is no format"), std::string::npos);
  EXPECT_NE(refusal("String(1.0, format = \"*f\")").find("'*f' is no format"), std::string::npos);
  EXPECT_NE(refusal("String(1.0, digits = 3)").find("no argument 'digits'"), std::string::npos);
}

}  // namespace
}  // namespace saltus
