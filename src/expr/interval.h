#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace saltus {

// All numbers between two ends, which may be infinite. Results of operations contain the result for
// every choice of numbers from the arguments: ends are moved outwards by their rounding error.
// Underflow to zero counts as zero.
struct Interval {
  double low = 0.0;
  double high = 0.0;

  constexpr Interval() = default;
  constexpr Interval(double number)  // NOLINT(google-explicit-constructor)
      : low(number), high(number) {}
  constexpr Interval(double a, double b) : low(a), high(b) {}

  static constexpr Interval everything() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  bool is_point() const { return low == high; }
  bool contains(double number) const { return low <= number && number <= high; }
  bool is_finite() const { return std::isfinite(low) && std::isfinite(high); }
  double width() const { return high - low; }
  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

// Ends that were computed with a relative error, in units of the rounding error.
inline Interval widened(double low, double high, double roundings = 1.0) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  if (std::isnan(low) || std::isnan(high)) return Interval::everything();
  const double a = low - roundings * kEpsilon * std::abs(low);
  const double b = high + roundings * kEpsilon * std::abs(high);
  return {std::isnan(a) ? low : a, std::isnan(b) ? high : b};  // an infinite end
}

inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

inline Interval operator-(const Interval& a) { return {-a.high, -a.low}; }
inline Interval operator+(const Interval& a, const Interval& b) {
  return widened(a.low + b.low, a.high + b.high);
}
inline Interval operator-(const Interval& a, const Interval& b) {
  return widened(a.low - b.high, a.high - b.low);
}
inline Interval operator*(const Interval& a, const Interval& b) {
  if ((a.low == 0.0 && a.high == 0.0) || (b.low == 0.0 && b.high == 0.0)) return 0.0;
  const double p = a.low * b.low;
  const double q = a.low * b.high;
  const double r = a.high * b.low;
  const double s = a.high * b.high;
  // Zero times an infinite end.
  if (std::isnan(p) || std::isnan(q) || std::isnan(r) || std::isnan(s))
    return Interval::everything();
  return widened(std::min(std::min(p, q), std::min(r, s)),
                 std::max(std::max(p, q), std::max(r, s)));
}
inline Interval operator/(const Interval& a, const Interval& b) {
  if (b.contains(0.0)) return Interval::everything();
  return a * widened(1.0 / b.high, 1.0 / b.low);
}
inline Interval& operator+=(Interval& a, const Interval& b) { return a = a + b; }
inline Interval& operator-=(Interval& a, const Interval& b) { return a = a - b; }

inline Interval square(const Interval& a) {
  const double p = a.low * a.low;
  const double q = a.high * a.high;
  return widened(a.contains(0.0) ? 0.0 : std::min(p, q), std::max(p, q));
}

// A function that increases, computed to a few roundings.
template <class F>
Interval increasing(const Interval& a, F&& f) {
  return widened(f(a.low), f(a.high), 4.0);
}

// The range of sin(x) if `top` is where it is largest, pi/2; that of cos(x) if `top` is 0.
template <class F>
Interval oscillating(const Interval& a, double top, F&& f) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  if (!(a.width() < kTurn) || !(a.magnitude() < 1e12)) return {-1.0, 1.0};
  // Whether an extremum may lie inside; large arguments are known to a few roundings of theirs.
  const double doubt = 1e-15 * (1.0 + a.magnitude());
  const auto reaches = [&](double place) {
    return std::floor((a.high - place) / kTurn + doubt) >
           std::floor((a.low - place) / kTurn - doubt);
  };
  const double p = f(a.low);
  const double q = f(a.high);
  Interval result = widened(std::min(p, q), std::max(p, q), 4.0);
  if (reaches(top)) result.high = 1.0;
  if (reaches(top + std::numbers::pi)) result.low = -1.0;
  return {std::max(result.low, -1.0), std::min(result.high, 1.0)};
}

}  // namespace saltus
