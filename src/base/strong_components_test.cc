#include "base/strong_components.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace saltus {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

Groups sorted(Groups groups) {
  for (auto& group : groups) std::ranges::sort(group);
  return groups;
}

TEST(StrongComponents, ComeAfterWhatTheyRead) {
  // 0 reads 1; 1 and 2 read each other, 2 reads 3.
  EXPECT_EQ(sorted(strong_components({{1}, {2}, {1, 3}, {}})), (Groups{{3}, {1, 2}, {0}}));
}

TEST(StrongComponents, LeaveChainsApartAndHoldCirclesTogether) {
  constexpr std::size_t kMany = 200000;  // recursion would end the program
  Groups chain(kMany);
  for (std::size_t k = 0; k + 1 < kMany; ++k) chain[k].push_back(k + 1);
  EXPECT_EQ(strong_components(chain).size(), kMany);
  chain.back().push_back(0);
  EXPECT_EQ(strong_components(chain).size(), 1U);
}

TEST(StrongComponents, TellTwoCirclesFromOne) {
  EXPECT_EQ(sorted(strong_components({{1}, {0}, {3, 0}, {2}})), (Groups{{0, 1}, {2, 3}}));
}

}  // namespace
}  // namespace saltus
