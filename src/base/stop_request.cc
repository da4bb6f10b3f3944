#include "base/stop_request.h"

#include <chrono>
#include <limits>

namespace saltus {
namespace {

thread_local StopScope* innermost = nullptr;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

StopScope::StopScope(const std::atomic<bool>* flag, double seconds)
    : flag_(flag), deadline_(now() + seconds), outer_(innermost) {
  innermost = this;
}

StopScope::~StopScope() { innermost = outer_; }

void check_stop() {
  constexpr unsigned kCallsPerLook = 64;
  thread_local unsigned calls = 0;
  if (innermost == nullptr || ++calls % kCallsPerLook != 0) return;
  double time = -1.0;
  for (const StopScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->flag_ != nullptr && scope->flag_->load()) throw StopRequested(false);
    if (scope->deadline_ == std::numeric_limits<double>::infinity()) continue;
    if (time < 0.0) time = now();
    if (time > scope->deadline_) throw StopRequested(true);
  }
}

}  // namespace saltus
