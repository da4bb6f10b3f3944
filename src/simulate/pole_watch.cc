#include "simulate/pole_watch.h"

namespace saltus {

// Steps of equal ratio form a geometric series. Its ratio is taken from two halves of the window,
// without the last step, which the stop time may have cut.
double PoleWatch::time() const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  constexpr double kMostRatio = 0.95;  // of the halves
  constexpr std::size_t kHalf = (kSteps - 2) / 2;
  if (count_ < kSteps) return kNone;
  const double first = back(1 + kHalf) - back(1 + 2 * kHalf);
  const double second = back(1) - back(1 + kHalf);
  if (!(second < kMostRatio * first)) return kNone;
  const double ratio = second / first;
  return back(1) + second * ratio / (1.0 - ratio);
}

}  // namespace saltus
