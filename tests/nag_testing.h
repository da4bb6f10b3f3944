#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "nag_switches.h"

namespace saltus {

inline void expect_switches(const SimulateResult& result, double accuracy) {
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(sequence(result), kSequence);
  const std::vector<double> times = switch_times(result);
  for (std::size_t k = 0; k < times.size(); ++k)
    EXPECT_NEAR(times[k], kSwitches[k], accuracy) << kSequence[k + 1];
}

}  // namespace saltus
