// Random state machines with a fixed step against an exact interpreter.

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "oracle/random_machine.h"
#include "realtime/realtime_run.h"

namespace saltus::oracle {
namespace {

class RealtimeMachines : public testing::TestWithParam<bool> {};

TEST_P(RealtimeMachines, FollowTheirRules) {
  int judged = 0, circles = 0, hops = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const RandomMachine machine = random_machine(seed, GetParam());
    const MachineRun& expected = machine.expected;
    if (expected.is_delicate) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + machine.text);
    RealtimeRunOptions options;
    constexpr double kSamples = 41.0;
    options.engine = {.step = (machine.stop_time - machine.start_time) / kSamples,
                      .start_time = machine.start_time,
                      .stop_time = machine.stop_time,
                      .max_events = 100};
    const HybridSystem system =
        build(load_modelica_text(machine.text, "M", {.use_modelica_path = false}));
    ++judged;
    hops += static_cast<int>(expected.entered.size());
    if (expected.ends_in_a_circle) {
      ++circles;
      EXPECT_THROW(run_realtime(system, options), Error);
      continue;
    }
    RealtimeResult result;
    try {
      result = run_realtime(system, options);
    } catch (const Error& error) {
      FAIL() << error.message();
    }
    ASSERT_TRUE(result.run.completed()) << result.run.message;
    for (const auto& [name, value] : expected.final)
      EXPECT_NEAR(result.run.final.at(name), value, 1e-6) << name;
    for (const std::string& name : expected.absent)
      EXPECT_TRUE(std::isnan(result.run.final.at(name))) << name;
    for (const auto& [name, value] : expected.entry_count)
      EXPECT_EQ(result.run.final.at(name), value) << name;
    if (HasFailure()) return;
  }
  // The generator is not so tame that nothing is asked.
  EXPECT_GE(judged, 15);
  EXPECT_GE(hops, 60);
  EXPECT_LT(circles, judged);
}

INSTANTIATE_TEST_SUITE_P(Random, RealtimeMachines, testing::Bool(), [](const auto& nested) {
  return std::string(nested.param ? "Nested" : "Plain");
});

}  // namespace
}  // namespace saltus::oracle
