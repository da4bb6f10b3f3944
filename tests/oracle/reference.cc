#include "oracle/reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/event_driven.h"
#include "oracle/time_stepping.h"

namespace saltus::oracle {

namespace {

struct Agreement {
  bool agree = false;
  std::string note;
};

// Time stepping against the event-driven motion.
Agreement compare_references(const Network& network, const Motion& exact) {
  const Stepped stepped = time_stepping_reference(network, exact.times);
  const Difference d = difference(exact, stepped.motion);
  const Range r = range(exact);
  // Around an impact a speed is off by its jump.
  const bool jumps = network.has(Kind::kBacklash);
  Agreement result;
  result.agree = !stepped.failed &&
                 (jumps || d.speed <= 10.0 * stepped.speed_error + 1e-3 * r.speed + 1e-9) &&
                 d.angle <= 10.0 * stepped.angle_error + 1e-3 * r.angle + 1e-9;
  result.note =
      fmt::format("; time stepping h = {:.1e}: error {:.1e} {:.1e}, differs {:.1e} {:.1e}",
                  stepped.step, stepped.speed_error, stepped.angle_error, d.speed, d.angle);
  return result;
}

}  // namespace

Reference make_reference(const Network& network, double tolerance, bool check) {
  Reference reference;
  const std::vector<double> times = output_times(network);
  const EventDrivenResult exact = event_driven(network, times);
  if (exact.failed) {
    const Stepped stepped = time_stepping_reference(network, times);
    reference.motion = stepped.motion;
    reference.speed_error = stepped.speed_error;
    reference.angle_error = stepped.angle_error;
    reference.failed = stepped.failed || check;
    reference.note =
        fmt::format("event-driven: {}; time stepping, h = {:.1e}", exact.message, stepped.step);
    return reference;
  }
  reference.motion = exact.motion;
  const Range r = range(exact.motion);
  reference.speed_error = 1e-9 * std::max(r.speed, 1e-3);
  reference.angle_error = 1e-9 * std::max(r.angle, 1e-3);
  reference.note = fmt::format("{} events, {} reversals, {} ties, {} undecided", exact.events,
                               exact.reversals, exact.ties, exact.undecided);
  const Bound allowed = bound(reference, tolerance);
  std::uint64_t unstable = 0;
  for (const std::uint64_t seed : {1U, 2U}) {
    const EventDrivenResult other = event_driven(perturbed(network, 1e-9, seed), times);
    if (other.failed) continue;
    const Difference d = difference(exact.motion, other.motion);
    if (d.speed <= allowed.speed && d.angle <= allowed.angle) continue;
    reference.ill_posed = true;
    unstable = seed;
    reference.note += fmt::format("; parameters off by 1e-9: speeds by {:.1e}, angles by {:.1e} {}",
                                  d.speed, d.angle, other.message);
    break;
  }
  if (check) {
    const Agreement agreement = compare_references(network, exact.motion);
    reference.failed = !agreement.agree;
    reference.note += agreement.note;
    // Where the motion bifurcates the references must do so alike.
    if (reference.ill_posed && agreement.agree) {
      const Network other = perturbed(network, 1e-9, unstable);
      const Agreement again = compare_references(other, event_driven(other, times).motion);
      reference.failed = !again.agree;
      reference.note += "; perturbed" + again.note;
    }
  }
  return reference;
}

}  // namespace saltus::oracle
