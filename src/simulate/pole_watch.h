#pragma once

#include <array>
#include <cstddef>
#include <limits>

namespace saltus {

// Looks for a time that the steps cannot pass: towards a pole of the solution they shrink in
// proportion to the time that is left.
class PoleWatch {
 public:
  // A step has ended at t.
  void note(double t) { ends_[count_++ % kSteps] = t; }
  void forget() { count_ = 0; }
  // What the steps add up to if they go on so; infinity if they do not shrink.
  double time() const;

 private:
  static constexpr std::size_t kSteps = 32;
  double back(std::size_t steps) const { return ends_[(count_ - 1 - steps) % kSteps]; }

  std::array<double, kSteps> ends_{};
  std::size_t count_ = 0;
};

}  // namespace saltus
