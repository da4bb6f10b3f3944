#include "oracle/reference.h"

#include <fmt/format.h>

#include "oracle/time_stepping.h"

namespace saltus::oracle {

Reference make_reference(const Network& network, double tolerance) {
  Reference reference;
  const Stepped stepped = time_stepping_reference(network, output_times(network));
  reference.motion = stepped.motion;
  reference.speed_error = stepped.speed_error;
  reference.angle_error = stepped.angle_error;
  reference.failed = stepped.failed;
  reference.note = fmt::format("time stepping, h = {:.1e}", stepped.step);
  (void)tolerance;
  return reference;
}

}  // namespace saltus::oracle
