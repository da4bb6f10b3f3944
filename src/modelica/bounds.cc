// Attributes min and max: values that are known are looked at now, the others during the run.

#include <fmt/format.h>

#include <limits>

#include "modelica/flattener.h"

namespace saltus {

// None: the variable has none, or is no number.
std::optional<Bounds> Flattener::bounds_of(Instance& leaf, const std::string& name,
                                           std::size_t index) {
  const BasicType type = *leaf.type.info->basic;
  if (type != BasicType::kReal && type != BasicType::kInteger) return std::nullopt;
  const std::optional<double> least = number_attribute(leaf, "min", index);
  const std::optional<double> most = number_attribute(leaf, "max", index);
  if (!least && !most) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return Bounds{.name = name,
                .value = 0.0,
                .least = least.value_or(-kInfinity),
                .most = most.value_or(kInfinity),
                .nominal = 1.0,
                .where = leaf.component->place.location()};
}

void Flattener::add_bounds(Instance& leaf, const std::string& name, std::size_t index,
                           const Expr& symbol, double nominal, const Expr* start) {
  std::optional<Bounds> bounds = bounds_of(leaf, name, index);
  if (!bounds) return;
  bounds->value = symbol;
  bounds->nominal = nominal;
  const Place& place = leaf.component->place;
  if (bounds->least > bounds->most)
    flat_.warnings.push_back(fmt::format(
        "{}:{}:{}: warning: min of '{}' is {:g}, above its max {:g}", place.location().file,
        place.line, place.column, name, bounds->least, bounds->most));
  if (start != nullptr)
    if (const std::optional<double> value = fixed_number(*start))
      warn_of_bounds(*bounds, "the start value of", *value, place);
  flat_.bounds.push_back(std::move(*bounds));
}

void Flattener::warn_of_bounds(const Bounds& bounds, const char* what, double value,
                               const Place& place) {
  const bool below = value < bounds.least;
  if (!below && !(value > bounds.most)) return;
  const SourceLocation where = place.location();
  flat_.warnings.push_back(fmt::format("{}:{}:{}: warning: {} '{}' is {:g}, {} {:g}", where.file,
                                       where.line, where.column, what, bounds.name, value,
                                       below ? "below its min" : "above its max",
                                       below ? bounds.least : bounds.most));
}

}  // namespace saltus
