// Random drivetrains with a fixed step against the event-driven reference, which shares no code
// with Saltus.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "oracle/generate.h"
#include "oracle/reference.h"
#include "oracle/write_library.h"
#include "realtime/realtime_run.h"

namespace saltus::oracle {
namespace {

// Largest difference of a speed, over the largest speed of its body (at least 1 rad/s).
double deviation(const Network& network, const Written& written, const Motion& motion,
                 double step) {
  LoadOptions load{.libraries = {SALTUS_LIBRARY_FOLDER}};
  load.use_modelica_path = false;
  const HybridSystem system = build(load_modelica_text(written.text, {}, load));
  RealtimeRunOptions options;
  options.engine = {.step = step, .stop_time = network.stop_time, .outputs = written.speeds};
  const RealtimeResult result = run_realtime(system, options);
  if (!result.run.completed()) throw Error(result.run.message);
  const Trajectory& points = result.run.trajectory;
  double largest = 0.0;
  for (std::size_t body = 0; body < written.speeds.size(); ++body) {
    double size = 1.0;
    for (const std::vector<double>& speeds : motion.speeds)
      size = std::max(size, std::abs(speeds[body]));
    for (std::size_t k = 0; k < motion.times.size(); ++k) {
      const auto sample = static_cast<std::size_t>(std::lround(motion.times[k] / step));
      if (sample >= points.size() || std::abs(points.time[sample] - motion.times[k]) > 1e-9)
        continue;
      largest =
          std::max(largest, std::abs(points.value(sample, body) - motion.speeds[k][body]) / size);
    }
  }
  return largest;
}

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
        const double error = deviation(network, written, reference.motion, 1e-3);
        EXPECT_LT(error, 3e-5 + 10 * reference.speed_error)
            << static_cast<int>(family) << ' ' << seed;
        ++runs;
        if (seed % 3 != 0 || error < 10 * reference.speed_error) continue;
        fine += error;
        coarse += deviation(network, written, reference.motion, 5e-3);
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
