#include "base/placeholder.h"

#include <gtest/gtest.h>

#include <string>

namespace saltus {
namespace {

std::string value_of(const std::string& name) { return name == "x" ? "0.5" : name; }

TEST(Placeholder, IsReplacedByItsValue) {
  const std::string text = "x is " + placeholder("x") + ", y is " + placeholder("a.y") + ".";
  EXPECT_EQ(fill_placeholders(text, value_of), "x is 0.5, y is a.y.");
}

TEST(Placeholder, LeavesOtherTextAlone) {
  EXPECT_EQ(fill_placeholders("x = {}", value_of), "x = {}");
  EXPECT_EQ(fill_placeholders("", value_of), "");
}

}  // namespace
}  // namespace saltus
