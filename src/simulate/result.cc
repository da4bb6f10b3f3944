#include "simulate/result.h"

namespace saltus {

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
