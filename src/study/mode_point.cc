#include "study/mode_point.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/stop_request.h"

namespace saltus {
namespace {

class NoSink : public ResultSink {
 public:
  void begin(const Trajectory&) override {}
  void store(double, ModeId, const double*) override {}
};

}  // namespace

ModePoint::ModePoint(const HybridSystem& system, double at, const SimulateOptions& options) {
  NoSink nowhere;
  SimulateOptions to = options;
  to.stop_time = at;
  to.interval = 0.0;
  to.sink = &nowhere;
  to.sensitivities.clear();
  const StopScope scope(options.stop_requested, options.max_seconds);
  simulation = std::make_unique<Run>(system, to);
  try {
    run_to_end(*simulation);
  } catch (const StopRequested& request) {
    throw Error(fmt::format("the run was {} before t = {:g}", request.what(), at));
  }
  run = simulation->now.mode;
  time = simulation->now.time;
  if (run == nullptr || time < at) {
    const SimulateResult result = finish(*simulation);
    throw Error(fmt::format("the run does not reach t = {:g}: {}", at, result.message));
  }
  state = present_state(*simulation);
  if (!run->make_consistent(time, state).ok())
    throw Error(fmt::format("no consistent point of mode '{}' at t = {:g}", run->mode().name, at));
}

}  // namespace saltus
