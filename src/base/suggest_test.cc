#include "base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace saltus {
namespace {

const std::vector<std::string> kNames = {"height", "velocity", "clutch.w_rel", "clutch.tau", "h"};

TEST(Suggest, FindsNamesOneEditAway) {
  EXPECT_EQ(nearest("heigth", kNames), "height");     // swap
  EXPECT_EQ(nearest("velcity", kNames), "velocity");  // missing letter
  EXPECT_EQ(nearest("velocityy", kNames), "velocity");
  EXPECT_EQ(nearest("vexocity", kNames), "velocity");
  EXPECT_EQ(nearest("hh", kNames), "h");
}

TEST(Suggest, IgnoresCase) { EXPECT_EQ(nearest("HEIGHT", kNames), "height"); }

TEST(Suggest, CountsASwapOfNeighboursAsOneEdit) {
  // "ba" is one swap from "ab", so it is as close as one replacement and comes first.
  EXPECT_EQ(nearest("ba", std::vector<std::string>{"ab", "bc"}), "ab");
}

TEST(Suggest, PrefersFewerEditsOverEarlierPosition) {
  EXPECT_EQ(nearest("speed1", std::vector<std::string>{"speed23", "speed2"}), "speed2");
}

TEST(Suggest, CompletesTheLastPartOfAQualifiedName) {
  EXPECT_EQ(nearest("w_rel", kNames), "clutch.w_rel");
  EXPECT_EQ(nearest("_rel", kNames), "");
}

TEST(Suggest, IsSilentWhenNothingIsClose) {
  EXPECT_EQ(nearest("pressure", kNames), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(nearest("", kNames), "");
  EXPECT_EQ(nearest("h", {}), "");
}

// Comparing two names of a million letters would take hours.
TEST(Suggest, LeavesEnormousNamesAlone) {
  const std::string enormous(1'000'000, 'x');
  EXPECT_EQ(nearest(enormous + "y", std::vector<std::string>{enormous, "x"}), "");
}

TEST(Suggest, PhrasesTheHint) {
  EXPECT_EQ(did_you_mean("heigt", kNames), " (did you mean 'height'?)");
  EXPECT_EQ(did_you_mean("pressure", kNames), "");
}

}  // namespace
}  // namespace saltus
