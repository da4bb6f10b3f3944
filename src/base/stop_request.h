#pragma once

#include <atomic>
#include <exception>

namespace saltus {

// Thrown by check_stop().
class StopRequested : public std::exception {
 public:
  explicit StopRequested(bool time_is_up) : time_is_up_(time_is_up) {}
  const char* what() const noexcept override {
    return time_is_up_ ? "the time limit is reached" : "interrupted";
  }
  bool time_is_up() const { return time_is_up_; }

 private:
  bool time_is_up_;
};

// While it lives, check_stop() on this thread looks at the flag (null: none) and lets `seconds`
// pass, wall time. Work that ends by itself at the next good place is given `grace` seconds for
// that. Of nested ones each is looked at.
class StopScope {
 public:
  StopScope(const std::atomic<bool>* flag, double seconds, double grace = 0.0);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  friend void check_stop();

  const std::atomic<bool>* flag_;
  double deadline_;  // s, of the steady clock, as the next one
  double grace_;
  double noticed_ = -1.0;  // when the request was seen; negative: it was not
  StopScope* outer_;
};

// To be called in loops of work that has no bound known beforehand and that no step of a run
// interrupts: translation, iterations for a consistent point. Costs next to nothing. Must not be
// called from what compiled code calls.
void check_stop();

}  // namespace saltus
