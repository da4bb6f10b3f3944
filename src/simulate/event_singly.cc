// Discrete values that remember, changed one at a time.

#include <algorithm>
#include <unordered_set>

#include "expr/differentiate.h"
#include "simulate/event_iteration.h"

namespace saltus {

void EventIteration::find_memory() {
  const auto slot_of = [](const Expr& e) { return e.node()->slot().index(); };
  std::vector<std::ptrdiff_t> variable_of(system_.graph().slot_count(), -1);
  std::vector<std::ptrdiff_t> past_of = variable_of;
  for (std::size_t v = 0; v < model_.discretes.size(); ++v) {
    variable_of[slot_of(model_.discretes[v].symbol)] = static_cast<std::ptrdiff_t>(v);
    past_of[slot_of(model_.discretes[v].pre)] = static_cast<std::ptrdiff_t>(v);
  }
  is_memory_.assign(model_.discretes.size(), false);
  const auto edges_in = [&](const Expr& value) {
    std::vector<std::size_t> found;
    for (const Expr& leaf : leaves_of(value)) {
      const std::ptrdiff_t v = leaf.is_slot() ? variable_of[slot_of(leaf)] : -1;
      if (v >= 0 && model_.discretes[static_cast<std::size_t>(v)].is_edge)
        found.push_back(static_cast<std::size_t>(v));
    }
    return found;
  };
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
    edges_.push_back(edges_in(e.value));
    pasts_.emplace_back();
    for (const Expr& leaf : leaves)
      if (leaf.is_slot() && past_of[slot_of(leaf)] >= 0)
        pasts_.back().push_back(static_cast<std::size_t>(past_of[slot_of(leaf)]));
  }
  for (const Reinit& r : model_.reinits) reinit_edges_.push_back(edges_in(r.condition));
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

// The change that the mode in force asks for first is made, together with those of the same
// when-clause, which may read it. What else it asks for is left in wanted_ and waits.
void EventIteration::choose_one(double t, SystemState& out) {
  chosen_.assign(model_.discrete_equations.size(), false);
  chosen_edges_.clear();
  if (wanted_.empty()) return;
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
  chosen_[wanted_[first].first] = true;
  chosen_edges_ = edges_[wanted_[first].first];
  for (std::size_t e = 0; e < chosen_.size(); ++e)
    if (remembers_[e] && shares_chosen_edge(edges_[e])) chosen_[e] = true;
  take_values(t, out, false);
}

bool EventIteration::shares_chosen_edge(const std::vector<std::size_t>& edges) const {
  return std::ranges::any_of(edges, [&](std::size_t edge) {
    return std::ranges::find(chosen_edges_, edge) != chosen_edges_.end();
  });
}

// Whether what resets this value has to wait for another change.
bool EventIteration::reset_waits(std::size_t reinit) const {
  return singly_ && is_one_chosen() && !reinit_edges_[reinit].empty() &&
         !shares_chosen_edge(reinit_edges_[reinit]);
}

bool EventIteration::is_one_chosen() const {
  return std::ranges::find(chosen_, true) != chosen_.end();
}

// What choose_one() has changed becomes the past, and what nothing that waits looks back at.
bool EventIteration::accept_one() {
  if (!is_one_chosen()) return accept_values();
  for (std::size_t e = 0; e < chosen_.size(); ++e)
    if (chosen_[e]) {
      const Expr& target = model_.discrete_equations[e].target;
      put(model_.pre(target), present(target));
    }
  for (const std::size_t edge : chosen_edges_)
    put(model_.discretes[edge].pre, present(model_.discretes[edge].symbol));
  std::vector<bool> waits = is_memory_;
  for (const auto& [e, value] : wanted_)
    for (const std::size_t v : pasts_[e]) waits[v] = true;
  for (std::size_t v = 0; v < model_.discretes.size(); ++v)
    if (!waits[v] && !model_.discretes[v].is_edge)
      put(model_.discretes[v].pre, present(model_.discretes[v].symbol));
  for (const Sample& s : model_.samples) put(s.slot, 0.0);
  chosen_.assign(chosen_.size(), false);
  return true;
}

}  // namespace saltus
