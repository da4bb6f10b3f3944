#include "oracle/realtime_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "realtime/realtime_engine.h"

namespace saltus::oracle {
namespace {

double processor_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

HybridSystem load(const Written& written) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  return build(load_modelica_text(written.text, {}, options));
}

FixedStepRun run_fixed_steps(const Network& network, const Written& written, const Motion& motion,
                             double step) {
  const HybridSystem system = load(written);
  RealtimeEngine engine(
      system, {.step = step, .stop_time = network.stop_time + step, .outputs = written.speeds});
  std::vector<double> sizes(written.speeds.size(), 1.0);
  for (const std::vector<double>& speeds : motion.speeds)
    for (std::size_t body = 0; body < sizes.size(); ++body)
      sizes[body] = std::max(sizes[body], std::abs(speeds[body]));
  FixedStepRun run;
  const std::size_t width = written.speeds.size();
  std::vector<double> before(width), now(width), after(width);
  unsigned event = 0;  // in the sample that ends now, or in the next one
  constexpr unsigned kTrouble = kModeUnprepared | kNotSettled | kStateNotFinite | kStateJumped;
  const auto step_once = [&](std::vector<double>& row) {
    const double begun = processor_time();
    const unsigned status = engine.step();
    run.longest = std::max(run.longest, processor_time() - begun);
    if ((status & kTrouble) != 0)
      throw Error(fmt::format("status {} at t = {:.10g}", status, engine.time()));
    engine.read_outputs(row.data());
    return status & kEventTaken;
  };
  engine.read_outputs(after.data());
  before = now = after;
  double time = engine.time();  // of `now`
  event |= step_once(after);
  for (std::size_t k = 0; k < motion.times.size(); ++k) {
    while (time < motion.times[k] - 1e-9) {
      std::swap(before, now);
      std::swap(now, after);
      time = engine.time();
      const unsigned last = event & kEventTaken;
      event = last << 16 | step_once(after);
    }
    if (std::abs(time - motion.times[k]) > 1e-9) continue;  // between samples
    for (std::size_t body = 0; body < width; ++body) {
      const double right = motion.speeds[k][body];
      double difference = std::abs(now[body] - right);
      // An impact may fall on the other side of a sample by the error of its time.
      if (event != 0)
        difference =
            std::min({difference, std::abs(before[body] - right), std::abs(after[body] - right)});
      run.deviation = std::max(run.deviation, difference / sizes[body]);
    }
  }
  return run;
}

}  // namespace saltus::oracle
