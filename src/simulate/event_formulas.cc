// What an event iteration evaluates, compiled.

#include <algorithm>

#include "analysis/analysed_mode.h"
#include "analysis/sorted_waves.h"
#include "expr/differentiate.h"
#include "simulate/event_iteration.h"

namespace saltus {

void EventIteration::compile() {
  const auto inputs = state_inputs(system_);
  std::vector<Expr> values, sizes;
  for (const Relation& r : model_.relations) {
    values.push_back(r.value);
    is_continuous_.push_back(!is_constant_in_mode(r.value));
    const std::vector<Expr> leaves = leaves_of(r.value);
    reads_unknowns_.push_back(
        std::ranges::any_of(leaves, [](const Expr& leaf) { return leaf.is_variable(); }));
    sizes.push_back(!reads_unknowns_.back() && is_continuous_.back()
                        ? time_relation_size(r.value, system_.time())
                        : relation_size(system_, r.value));
  }
  relation_values_ = Formulas(values, inputs);
  relation_sizes_ = Formulas(sizes, inputs);
  sizes_.assign(sizes.size(), 0.0);
  widths_.assign(sizes.size(), 0.0);
  at_zero_.assign(sizes.size(), At::kAway);
  violation_.assign(sizes.size() + modes_.surfaces().count(), 0.0);

  std::vector<Expr> list;
  for (const Reinit& r : model_.reinits) list.push_back(r.condition);
  for (const Reinit& r : model_.reinits) list.push_back(r.value);
  reinits_ = Formulas(list, inputs);
  list.clear();
  for (const Termination& e : model_.terminations) list.push_back(e.condition);
  terminations_ = Formulas(list, inputs);
  list.clear();
  for (const Assertion& e : model_.assertions) list.push_back(e.condition);
  assertions_ = Formulas(list, inputs);
  list.clear();
  for (const DiscreteEquation& e : model_.initial_discrete) list.push_back(e.value);
  initial_discrete_ = Formulas(list, inputs);
  list.clear();
  for (const Sample& s : model_.samples) {
    list.push_back(s.start);
    list.push_back(s.interval);
  }
  samples_ = Formulas(list, inputs);
  list.clear();
  for (const LeftLimit& l : model_.left_limits) list.push_back(l.value);
  left_limits_ = Formulas(list, inputs);
  sort_levels(inputs, sizes);
  find_memory();
  find_resets();
}

// Items are relations and discrete equations; each reads slots that others set.
void EventIteration::sort_levels(const std::vector<std::vector<Expr>>& inputs,
                                 const std::vector<Expr>& sizes) {
  const std::size_t relations = model_.relations.size();
  std::vector<SlotAssignment> all;
  for (const Relation& r : model_.relations) all.push_back({r.slot, r.value});
  for (const DiscreteEquation& e : model_.discrete_equations) all.push_back({e.target, e.value});
  for (std::vector<std::size_t>& items : sort_into_waves(all)) {
    std::vector<Expr> formulas;
    for (const std::size_t k : items) formulas.push_back(all[k].value);
    for (const std::size_t k : items) formulas.push_back(k < relations ? sizes[k] : Expr(0.0));
    levels_.push_back({std::move(items), Formulas(formulas, inputs)});
  }
}

}  // namespace saltus
