#include "base/stop_request.h"

#include <gtest/gtest.h>

#include <limits>

namespace saltus {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

void look_often() {
  for (int k = 0; k < 1000; ++k) check_stop();
}

TEST(StopScope, FlagAndTimeEndWorkWhileItLives) {
  EXPECT_NO_THROW(look_often());
  std::atomic<bool> flag = false;
  {
    const StopScope scope(&flag, kNever);
    EXPECT_NO_THROW(look_often());
    flag = true;
    EXPECT_THROW(look_often(), StopRequested);
    const StopScope inner(nullptr, kNever);  // the outer one still counts
    EXPECT_THROW(look_often(), StopRequested);
  }
  EXPECT_NO_THROW(look_often());
  const StopScope scope(nullptr, -1.0);
  try {
    look_often();
    FAIL();
  } catch (const StopRequested& stop) {
    EXPECT_TRUE(stop.time_is_up());
  }
}

}  // namespace
}  // namespace saltus
