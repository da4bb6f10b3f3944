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

}  // namespace saltus
