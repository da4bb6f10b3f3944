// Random drivetrains with a fixed step against the event-driven reference, which shares no code
// with Saltus.

#include <gtest/gtest.h>

#include "base/error.h"
#include "oracle/generate.h"
#include "oracle/realtime_check.h"
#include "oracle/reference.h"
#include "oracle/write_library.h"

namespace saltus::oracle {
namespace {

// Each run is right or refused with a cause, and with steps five times shorter the errors shrink.
TEST(RealtimeOracle, RandomDrivetrainsFollowTheReference) {
  int runs = 0, refused = 0;
  double coarse = 0.0, fine = 0.0;
  for (const Family family : {Family::kRandom, Family::kRest})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Network network = generate(family, seed);
      const Reference reference = make_reference(network, 1e-6);
      if (reference.failed || reference.ill_posed) continue;
      const Written written = write_library(network);
      try {
        const double error = run_fixed_steps(network, written, reference.motion, 1e-3).deviation;
        EXPECT_LT(error, 3e-5 + 10 * reference.speed_error)
            << static_cast<int>(family) << ' ' << seed;
        ++runs;
        if (seed % 3 != 0 || error < 10 * reference.speed_error) continue;
        fine += error;
        coarse += run_fixed_steps(network, written, reference.motion, 5e-3).deviation;
      } catch (const Error& error) {
        ++refused;
        EXPECT_FALSE(error.message().empty());
      }
    }
  EXPECT_GE(runs, 20);
  EXPECT_LE(refused, 3);
  EXPECT_GT(coarse, 5 * fine);
}

}  // namespace
}  // namespace saltus::oracle
