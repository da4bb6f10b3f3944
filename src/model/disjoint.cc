#include "model/disjoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace saltus {
namespace {

Guard& find_guard(Mode& mode, const std::string& name) {
  for (Guard& guard : mode.guards)
    if (guard.name == name) return guard;
  throw Error(fmt::format("mode '{}' has no guard '{}' that could tie", mode.name, name));
}

}  // namespace

// S <= 0 is the condition, so "and" is the maximum and "not" the negative. At the tie itself all
// three vanish; the priority decides for the common one.
void make_disjoint(Mode& mode, const std::vector<Tie>& ties) {
  const std::vector<Guard> old = mode.guards;
  const auto old_value = [&](const std::string& name) {
    for (const Guard& guard : old)
      if (guard.name == name) return guard.value;
    throw Error(fmt::format("mode '{}' has no guard '{}' that could tie", mode.name, name));
  };
  int first = std::numeric_limits<int>::max();
  for (const Guard& guard : mode.guards) first = std::min(first, guard.priority);
  for (const Tie& tie : ties) {
    const Expr a = old_value(tie.first);
    const Expr b = old_value(tie.second);
    Guard& without_b = find_guard(mode, tie.first);
    without_b.value = max(without_b.value, -b);
    Guard& without_a = find_guard(mode, tie.second);
    without_a.value = max(without_a.value, -a);
    mode.guards.push_back({.name = tie.first + " and " + tie.second,
                           .value = max(a, b),
                           .to = tie.to,
                           .set = tie.set,
                           .priority = first - 1});
  }
}

void make_disjoint(HybridSystem& system, const std::string& tie) {
  if (system.flat() != nullptr)
    throw Error(
        fmt::format("--disjoint {}: the modes of '{}' are not listed: its conditions are "
                    "made disjoint in the model",
                    tie, system.name()));
  const std::size_t colon = tie.find(':');
  const std::size_t last = tie.rfind(':');
  const std::size_t comma = tie.find(',', colon == std::string::npos ? 0 : colon);
  if (colon == std::string::npos || last == colon || comma == std::string::npos || comma > last)
    throw Error(fmt::format("--disjoint {}: write MODE:FIRST,SECOND:TO", tie));
  const Tie parsed{.first = tie.substr(colon + 1, comma - colon - 1),
                   .second = tie.substr(comma + 1, last - comma - 1),
                   .to = tie.substr(last + 1)};
  const ModeId id = system.find_mode(tie.substr(0, colon));
  system.find_mode(parsed.to);
  // The list of modes only grows through mode(); here one of them changes.
  make_disjoint(const_cast<Mode&>(system.modes()[id.index()]), {parsed});
}

}  // namespace saltus
