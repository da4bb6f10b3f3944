#include "output/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace saltus {
namespace {

constexpr double kMostDecades = 10.0;  // labelled powers of ten on one axis

double nice_step(double range, int wanted) {
  const double rough = range / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power * (1.0 + 1e-12)) return factor * power;
  }
  return 10.0 * power;
}

double finite_or_zero(double value) { return std::isfinite(value) ? value : 0.0; }

std::string with_minus_sign(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

}  // namespace

double Axis::position(double value) const {
  if (logarithmic) {
    if (value <= low) return 0.0;
    return std::min(1.0, std::log(value / low) / std::log(high / low));
  }
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

std::string Axis::label(double tick) const {
  if (logarithmic) return "10" + superscript(static_cast<int>(std::lround(std::log10(tick))));
  const double scaled = tick / std::pow(10.0, exponent);
  return with_minus_sign(fmt::format("{:.{}f}", scaled == 0.0 ? 0.0 : scaled, decimals));
}

Axis linear_axis(double low, double high, int wanted_ticks) {
  Axis axis;
  axis.low = finite_or_zero(std::min(low, high));
  axis.high = finite_or_zero(std::max(low, high));
  const double size = std::max(std::abs(axis.low), std::abs(axis.high));
  // Rounding noise on a constant must not be blown up to full height.
  if (axis.high - axis.low <= 1e-12 * size || axis.high <= axis.low) {
    const double margin = size > 0.0 ? 0.1 * size : 1.0;
    axis.low -= margin;
    axis.high += margin;
  }
  const double step = nice_step(axis.high - axis.low, wanted_ticks);
  const double first = std::ceil(axis.low / step - 1e-9);
  for (double i = first; i * step <= axis.high + 1e-9 * step; i += 1.0) {
    axis.ticks.push_back(i * step);
  }
  const double magnitude =
      std::floor(std::log10(std::max(std::abs(axis.low), std::abs(axis.high))));
  if (magnitude >= 5 || magnitude <= -3) {
    axis.exponent = 3 * static_cast<int>(std::floor(magnitude / 3.0));
  }
  const double shown_step = step / std::pow(10.0, axis.exponent);
  axis.decimals = std::max(0, -static_cast<int>(std::floor(std::log10(shown_step) + 1e-9)));
  return axis;
}

Axis time_axis(std::span<const double> times) {
  if (times.empty()) return linear_axis(0.0, 1.0);
  const double start = times.front();
  const double stop = times.back();
  const auto positive =
      std::find_if(times.begin(), times.end(), [](double time) { return time > 0.0; });
  const double median = times[times.size() / 2];
  const bool decades = start >= 0.0 && positive != times.end() && stop > *positive * 1e4 &&
                       median - start < 1e-3 * (stop - start);
  if (!decades) return linear_axis(start, stop, 8);
  Axis axis;
  axis.logarithmic = true;
  axis.low = *positive;
  axis.high = stop;
  const double first = std::ceil(std::log10(axis.low) - 1e-9);
  const double last = std::floor(std::log10(axis.high) + 1e-9);
  const double step = std::ceil((last - first + 1.0) / kMostDecades);
  for (double power = first; power <= last; power += step) {
    axis.ticks.push_back(std::pow(10.0, power));
  }
  return axis;
}

std::string superscript(int value) {
  static const char* const kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (const char c : std::to_string(value)) result += c == '-' ? "⁻" : kDigits[c - '0'];
  return result;
}

}  // namespace saltus
