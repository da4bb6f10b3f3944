// The search for a consistent configuration where the fixpoint of an event runs in a circle.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "simulate/event_iteration.h"

namespace saltus {

// One relation at a time: first the one of least index, which cannot run in a circle where the
// continuous part is monotone (Murty's principal pivoting); where it does all the same, the most
// violated one, then any in turn.
bool EventIteration::pivot(double t, const SystemState& base, SystemState& out, Settled& settled) {
  const std::size_t relations = model_.relations.size();
  const std::size_t limit = 50 + 20 * relations;
  std::vector<std::vector<double>> history;
  std::uint64_t random = 88172645463325252ULL;
  for (int strategy = 0; strategy < 3; ++strategy) {
    history.clear();
    for (std::size_t round = 0; round < limit; ++round) {
      // Discrete values follow the relations before another relation is asked.
      bool steady = false;
      for (int k = 0; k < kMostRounds && !steady; ++k) {
        const std::vector<double> before = slots_;
        solve(t, base, out, settled.mode);
        take_values(t, out, false);
        steady = slots_ == before;
        if (k + 1 == kMostRounds && !steady) history.push_back(before);
      }
      if (!solved_) violated_.clear();  // the values belong to another configuration
      if (steady && violated_.empty() && solved_) {
        out.slots = slots_;
        return true;
      }
      // Only the last strategy leaves a circle again.
      if (strategy < 2 && std::ranges::find(history, slots_) != history.end() && !violated_.empty())
        break;
      history.push_back(slots_);
      std::size_t chosen = 0;
      if (violated_.empty()) {
        // Nothing tells where to go from a configuration without solution.
        if (relations == 0) break;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        chosen = random % relations;
        if (!reads_unknowns_[chosen]) continue;  // time does not turn back
      } else if (strategy == 0) {
        chosen = *std::ranges::min_element(violated_);
      } else if (strategy == 1) {
        chosen =
            *std::ranges::max_element(violated_, {}, [&](std::size_t r) { return violation_[r]; });
      } else {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        chosen = violated_[random % violated_.size()];
      }
      const Expr& slot = model_.relations[chosen].slot;
      put(slot, 1.0 - present(slot));
    }
  }
  settled.problem = fmt::format(
      "no discrete values agree with the equations at t = {:.10g}: {} change in a circle, and no "
      "consistent configuration was found",
      t, names_of_changes(history));
  return false;
}

std::string EventIteration::names_of_changes(
    const std::vector<std::vector<double>>& history) const {
  const std::size_t begin = history.size() / 2;
  std::vector<std::string> names;
  const auto note = [&](const Expr& slot, const std::string& name) {
    const std::size_t i = slot.node()->slot().index();
    bool moves = false;
    for (std::size_t k = begin; k < history.size(); ++k)
      moves = moves || history[k][i] != history.back()[i];
    if (moves && names.size() < 12) names.push_back(fmt::format("'{}'", name));
  };
  for (const Relation& r : model_.relations) note(r.slot, r.text);
  for (const DiscreteVariable& v : model_.discretes)
    if (!v.name.starts_with('$')) note(v.symbol, v.name);
  if (names.empty()) return "continuous values";
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace saltus
