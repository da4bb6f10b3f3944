#include "simulate/bounds_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostWarnings = 20;

}  // namespace

void BoundsWatch::add(const Bounds& bounds, std::size_t column, double sign, double tolerance) {
  const auto allowance = [&](double bound) {
    constexpr double kErrors = 10.0;  // of steps add up
    return std::isfinite(bound) ? kErrors * tolerance * std::max(std::abs(bound), bounds.nominal)
                                : 0.0;
  };
  double low = bounds.least - allowance(bounds.least);
  double high = bounds.most + allowance(bounds.most);
  if (sign < 0.0) {
    std::swap(low, high);
    low = -low;
    high = -high;
  }
  bounded_.push_back({column, low, high, sign, bounds});
}

void BoundsWatch::note(Bounded& b, double t, double stored) {
  b.low = -kInfinity;
  b.high = kInfinity;
  if (warnings_.size() == kMostWarnings) return;
  const Bounds& bounds = b.bounds;
  const double value = b.sign * stored;
  const bool below = value < bounds.least;
  const std::string place = bounds.where.file.empty()
                                ? ""
                                : fmt::format("{}:{}:{}: warning: ", bounds.where.file,
                                              bounds.where.line, bounds.where.column);
  const std::string more =
      warnings_.size() + 1 == kMostWarnings ? "; others may leave their bounds as well" : "";
  warnings_.push_back(fmt::format("{}'{}' is {:.6g} at t = {:.6g}, {} {:g}{}", place, bounds.name,
                                  value, t, below ? "below its min" : "above its max",
                                  below ? bounds.least : bounds.most, more));
}

}  // namespace saltus
