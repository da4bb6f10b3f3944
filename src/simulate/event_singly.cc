// Discrete values that remember, changed one at a time.

#include <algorithm>
#include <unordered_set>

#include "expr/differentiate.h"
#include "simulate/event_iteration.h"

namespace saltus {

void EventIteration::find_memory() {
  const auto slot_of = [](const Expr& e) { return e.node()->slot().index(); };
  std::vector<std::ptrdiff_t> variable_of(system_.graph().slot_count(), -1);
  for (std::size_t v = 0; v < model_.discretes.size(); ++v)
    variable_of[slot_of(model_.discretes[v].symbol)] = static_cast<std::ptrdiff_t>(v);
  is_memory_.assign(model_.discretes.size(), false);
  for (const DiscreteEquation& e : model_.discrete_equations) {
    const std::ptrdiff_t v = variable_of[slot_of(e.target)];
    const std::vector<Expr> leaves = leaves_of(e.value);
    const auto reads = [&](const Expr& symbol) {
      return std::ranges::any_of(leaves, [&](const Expr& leaf) { return leaf.same_as(symbol); });
    };
    const auto& variable =
        model_.discretes[static_cast<std::size_t>(std::max<std::ptrdiff_t>(v, 0))];
    const bool remembers = v >= 0 && !variable.is_edge && reads(variable.pre);
    remembers_.push_back(remembers);
    if (remembers) is_memory_[static_cast<std::size_t>(v)] = true;
    edges_.emplace_back();
    for (const Expr& leaf : leaves) {
      if (!leaf.is_slot()) continue;
      const std::ptrdiff_t other = variable_of[slot_of(leaf)];
      if (other >= 0 && model_.discretes[static_cast<std::size_t>(other)].is_edge)
        edges_.back().push_back(static_cast<std::size_t>(other));
    }
  }
}

// Relations that conditions of reinit read, through discrete equations or not. What leads out of
// states has its own rule.
void EventIteration::find_resets() {
  std::unordered_set<const Node*> read;
  std::vector<Expr> open;
  for (const Reinit& r : model_.reinits)
    if (r.handover == Handover::kReset) open.push_back(r.condition);
  while (!open.empty()) {
    std::vector<Expr> next;
    for (const Expr& leaf : leaves_of(open)) {
      if (!leaf.is_slot() || !read.insert(leaf.node()).second) continue;
      for (const DiscreteEquation& e : model_.discrete_equations)
        if (e.target.same_as(leaf)) next.push_back(e.value);
    }
    open = std::move(next);
  }
  for (const Relation& r : model_.relations)
    resets_.push_back(read.contains(r.slot.node()) && !r.leaves_state);
}

// The change that the mode in force asks for first becomes the past, together with those of the
// same when-clause; what else it asks for waits, edges included.
bool EventIteration::accept_one() {
  if (wanted_.empty()) return accept_values();
  std::size_t first = 0;
  switch (singly_strategy_) {
    case 0:
      break;
    case 1:
      first = wanted_.size() - 1;
      break;
    default:
      first = (wanted_.size() * static_cast<std::size_t>(singly_strategy_ - 1)) / 3;
  }
  const std::vector<std::size_t>& edges = edges_[wanted_[first].first];
  const auto is_shared = [&](std::size_t edge) {
    return std::ranges::find(edges, edge) != edges.end();
  };
  for (std::size_t k = 0; k < wanted_.size(); ++k) {
    const auto& [e, value] = wanted_[k];
    if (k != first && std::ranges::none_of(edges_[e], is_shared)) continue;
    const Expr& target = model_.discrete_equations[e].target;
    put(target, value);
    put(model_.pre(target), value);
  }
  for (const std::size_t edge : edges)
    put(model_.discretes[edge].pre, present(model_.discretes[edge].symbol));
  for (std::size_t v = 0; v < model_.discretes.size(); ++v)
    if (!is_memory_[v] && !model_.discretes[v].is_edge)
      put(model_.discretes[v].pre, present(model_.discretes[v].symbol));
  for (const Sample& s : model_.samples) put(s.slot, 0.0);
  return true;
}

}  // namespace saltus
