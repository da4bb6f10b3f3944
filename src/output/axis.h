#pragma once

#include <span>
#include <string>
#include <vector>

namespace saltus {

// One axis of a plot: its range, where a value sits on it and the ticks a reader expects
// (1, 2 or 5 times a power of ten; powers of ten on a logarithmic axis).
struct Axis {
  double low = 0.0;
  double high = 1.0;
  bool logarithmic = false;
  std::vector<double> ticks;
  int exponent = 0;  // labels show value / 10^exponent; a multiple of 3
  int decimals = 0;

  // 0 at low, 1 at high; values beyond the range are clamped.
  double position(double value) const;
  std::string label(double tick) const;
};

// Covers [low, high]; widened if the two coincide. Ends that are not finite count as zero.
Axis linear_axis(double low, double high, int wanted_ticks = 6);

// Linear, or logarithmic if the run spans decades: more than half of the points lie in the first
// thousandth of the time range (Robertson's kinetics to 1e11).
Axis time_axis(std::span<const double> times);

// "10³", "×10⁻⁶" ...: an integer in Unicode superscript digits.
std::string superscript(int value);

}  // namespace saltus
