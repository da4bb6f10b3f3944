#include "base/stack.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace saltus {
namespace {

// Levels that can be gone down before the stack is low.
int descend(int most) {
  if (most == 0 || stack_is_low()) return 0;
  volatile int below = descend(most - 1);
  return below + 1;
}

constexpr int kLevels = 1'000'000;

TEST(Stack, RecursionEndsBeforeTheStackDoes) { EXPECT_LT(descend(kLevels), kLevels); }

TEST(Stack, LargerOneReachesDeeper) {
  int reached = 0;
  call_with_stack(std::size_t{1} << 29, [&] { reached = descend(kLevels); });
  EXPECT_EQ(reached, kLevels);
}

TEST(Stack, ExceptionsComeBackFromTheOtherStack) {
  EXPECT_THROW(call_with_stack(1 << 20, [] { throw std::runtime_error("inside"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace saltus
