#include "output/panels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace saltus {
namespace {

constexpr double kComparableSize = 30.0;  // ratio of sizes up to which signals share a panel

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Range range_of(const Trajectory& trajectory, std::size_t signal) {
  Range range;
  for (std::size_t point = 0; point < trajectory.size(); ++point) {
    range.add(trajectory.value(point, signal));
  }
  return range;
}

double size_of(const Range& range) {
  if (range.low > range.high) return 0.0;
  return std::max(std::abs(range.low), std::abs(range.high));
}

bool comparable(double a, double b) {
  if (a == 0.0 || b == 0.0) return true;
  return std::max(a, b) <= kComparableSize * std::min(a, b);
}

}  // namespace

std::vector<Panel> choose_panels(const Trajectory& trajectory, std::size_t most) {
  std::vector<std::size_t> order(trajectory.signals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // What the model itself declares, then what its components do, then derivatives, then what never
  // changes (without a unit, those are settings of the model and keep to themselves).
  const auto is_inner = [&](std::size_t signal) {
    return trajectory.signals[signal].name.find('.') != std::string::npos;
  };
  constexpr int kConstant = 3;
  const auto rank = [&](std::size_t signal) {
    const Range range = range_of(trajectory, signal);
    constexpr double kNothing = 1e-15;  // zero but for rounding, in any unit
    if (range.low == range.high || size_of(range) < kNothing) return kConstant;
    return trajectory.signals[signal].name.starts_with("der(") ? 2 : is_inner(signal) ? 1 : 0;
  };
  std::vector<int> ranks;
  for (const std::size_t signal : order) ranks.push_back(rank(signal));
  std::ranges::stable_sort(order, {}, [&](std::size_t signal) { return ranks[signal]; });
  const auto unitless =
      static_cast<std::size_t>(std::count_if(order.begin(), order.end(), [&](std::size_t signal) {
        return trajectory.signals[signal].unit.empty();
      }));
  // Without a unit nothing says that two signals belong on one scale: share only if space is short.
  const std::size_t unitless_share = std::clamp<std::size_t>(
      (unitless + most - 1) / std::max<std::size_t>(most, 1), 1, kSeriesColors);
  std::vector<Panel> panels;
  std::vector<double> sizes;
  for (const std::size_t signal : order) {
    const std::string& unit = trajectory.signals[signal].unit;
    const double size = size_of(range_of(trajectory, signal));
    const std::size_t share = unit.empty() ? unitless_share : kSeriesColors;
    std::size_t home = panels.size();
    for (std::size_t i = 0; i < panels.size() && home == panels.size(); ++i) {
      const bool fits = panels[i].unit == unit && panels[i].signals.size() < share &&
                        is_inner(panels[i].signals.front()) == is_inner(signal) &&
                        (unit.empty() && ranks[signal] == kConstant) ==
                            (unit.empty() && ranks[panels[i].signals.front()] == kConstant) &&
                        comparable(sizes[i], size);
      if (fits) home = i;
    }
    if (home == panels.size()) {
      if (panels.size() == most) continue;
      panels.push_back({unit, {}});
      sizes.push_back(size);
    }
    panels[home].signals.push_back(signal);
    sizes[home] = std::max(sizes[home], size);
  }
  return panels;
}

}  // namespace saltus
