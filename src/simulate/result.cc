#include "simulate/result.h"

namespace saltus {

Statistics& Statistics::operator+=(const Statistics& other) {
  steps += other.steps;
  rejected += other.rejected;
  residuals += other.residuals;
  jacobians += other.jacobians;
  factorizations += other.factorizations;
  newton_iterations += other.newton_iterations;
  events += other.events;
  translate_seconds += other.translate_seconds;
  analyse_seconds += other.analyse_seconds;
  integrate_seconds += other.integrate_seconds;
  wall_seconds += other.wall_seconds;
  return *this;
}

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kStopTime:
      return "stop-time";
    case StopReason::kTerminated:
      return "terminated";
    case StopReason::kInterrupted:
      return "interrupted";
    case StopReason::kStepSizeTooSmall:
      return "step-size-too-small";
    case StopReason::kNewtonFailed:
      return "newton-failed";
    case StopReason::kSingular:
      return "singular";
    case StopReason::kNotFinite:
      return "not-finite";
    case StopReason::kInconsistent:
      return "inconsistent";
    case StopReason::kChattering:
      return "chattering";
    case StopReason::kEventStorm:
      return "event-storm";
    case StopReason::kLimit:
      return "limit";
    case StopReason::kOutputFailed:
      return "output-failed";
    case StopReason::kAssertion:
      return "assertion";
  }
  return "unknown";
}

}  // namespace saltus
