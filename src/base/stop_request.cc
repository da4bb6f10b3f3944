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

StopScope::StopScope(const std::atomic<bool>* flag, double seconds, double grace)
    : flag_(flag), deadline_(now() + seconds), grace_(grace), outer_(innermost) {
  innermost = this;
}

StopScope::~StopScope() { innermost = outer_; }

void check_stop() {
  constexpr unsigned kCallsPerLook = 64;
  thread_local unsigned calls = 0;
  if (innermost == nullptr || ++calls % kCallsPerLook != 0) return;
  for (StopScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    const bool asked = scope->flag_ != nullptr && scope->flag_->load();
    if (!asked && scope->deadline_ == std::numeric_limits<double>::infinity()) continue;
    const double time = now();
    if (!asked && time <= scope->deadline_) continue;
    if (scope->noticed_ < 0.0) scope->noticed_ = time;
    if (time - scope->noticed_ >= scope->grace_) throw StopRequested(!asked);
  }
}

}  // namespace saltus
