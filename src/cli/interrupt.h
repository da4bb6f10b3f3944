#pragma once

#include <atomic>

namespace saltus {

// While it lives, the first Ctrl-C (or SIGTERM) sets the flag, so that a run ends cleanly; the
// second one ends the program. One at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>* flag() const;
};

}  // namespace saltus
