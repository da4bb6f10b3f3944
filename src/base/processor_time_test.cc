#include "base/processor_time.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

void compute(double seconds) {
  const double begun = processor_seconds();
  while (processor_seconds() - begun < seconds) {
  }
}

TEST(BuildingTime, CountsNestedScopesOnce) {
  const double before = BuildingTime::total();
  const double begun = processor_seconds();
  {
    const BuildingTime outer;
    const BuildingTime inner;
    compute(0.01);
  }
  const double spent = processor_seconds() - begun;
  const double counted = BuildingTime::total() - before;
  EXPECT_GE(counted, 0.01);
  EXPECT_LE(counted, spent);
  compute(0.01);
  EXPECT_EQ(BuildingTime::total() - before, counted);
}

}  // namespace
}  // namespace saltus
