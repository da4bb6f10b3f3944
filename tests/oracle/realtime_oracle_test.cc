// Random drivetrains with a fixed step against the event-driven reference, which shares no code
// with Saltus.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "exported_c.h"
#include "oracle/generate.h"
#include "oracle/realtime_check.h"
#include "oracle/reference.h"
#include "oracle/write_library.h"
#include "oracle/writings.h"

namespace saltus::oracle {
namespace {

// Consecutive seeds of every class and writing are right: none is refused, and errors shrink with
// the step. `make soak-realtime` says what other seeds do.
class RealtimeOracle : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(RealtimeOracle, RandomDrivetrainsFollowTheReference) {
  const auto& [family, form] = GetParam();
  const auto kind = std::ranges::find(families(), family, &std::pair<std::string, Family>::first);
  const auto writing = std::ranges::find(writings(), form, &std::pair<std::string, Writing>::first);
  double coarse = 0.0, fine = 0.0;
  for (std::uint64_t seed = 4; seed < 10; ++seed) {
    const Network network = generate(kind->second, seed);
    const Reference reference = make_reference(network, 1e-6);
    if (reference.failed || reference.ill_posed) continue;
    const Written written = *write(network, writing->second);
    SCOPED_TRACE(fmt::format("{} {} {}", family, form, seed));
    const double floor = 1e-6 + 10.0 * reference.speed_error;
    const double error = run_fixed_steps(network, written, reference.motion, 1e-3).deviation;
    EXPECT_LT(error, 1e-3 + 10 * reference.speed_error);
    if (error < floor) continue;
    fine += run_fixed_steps(network, written, reference.motion, 2.5e-4).deviation;
    coarse += error;
  }
  EXPECT_LE(fine, 0.5 * coarse);
}

INSTANTIATE_TEST_SUITE_P(
    Random, RealtimeOracle,
    testing::Values(std::pair("random", "library"), std::pair("rest", "library"),
                    std::pair("backlash", "library"), std::pair("degenerate", "library"),
                    std::pair("brakes", "library"), std::pair("random", "machine"),
                    std::pair("rest", "machine"), std::pair("random", "when"),
                    std::pair("random", "sign"), std::pair("rest", "sign"),
                    std::pair("backlash", "sign"), std::pair("degenerate", "sign")),
    [](const auto& test) { return test.param.first + "_" + test.param.second; });

// The C99 text of a random drivetrain, under the address and undefined behaviour sanitizers.
TEST(RealtimeOracleExport, RandomDrivetrainsAgreeToTheLastBit) {
  const Network network = generate(Family::kBrakes, 1);
  const Written written = write_library(network);
  int events = 0;
  EXPECT_TRUE(runs_as_exported(
      load(written), {.step = 2e-3, .stop_time = network.stop_time, .outputs = written.speeds},
      static_cast<int>(network.stop_time / 2e-3),
      "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all", events));
  EXPECT_GT(events, 0);
}

}  // namespace
}  // namespace saltus::oracle
