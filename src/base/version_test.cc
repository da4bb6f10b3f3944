#include "base/version.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace saltus {
namespace {

TEST(Version, IsThatOfTheBuild) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream file(root / "CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("project(saltus VERSION " + std::string(kVersion) + " "), std::string::npos);
}

}  // namespace
}  // namespace saltus
