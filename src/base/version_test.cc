#include "base/version.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace saltus {
namespace {

TEST(Version, IsThatOfTheBuild) {
  std::ifstream file(SALTUS_SOURCES "/CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("project(saltus VERSION " + std::string(kVersion) + " "), std::string::npos);
}

}  // namespace
}  // namespace saltus
