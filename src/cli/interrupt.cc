#include "cli/interrupt.h"

#include <csignal>

namespace saltus {
namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a handler must not touch it

extern "C" void request_stop(int signal) {
  std::signal(signal, SIG_DFL);
  requested.store(true);
}

}  // namespace

InterruptFlag::InterruptFlag() {
  requested.store(false);
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

InterruptFlag::~InterruptFlag() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>* InterruptFlag::flag() const { return &requested; }

}  // namespace saltus
