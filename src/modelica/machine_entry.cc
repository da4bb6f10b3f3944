// Values on entry of a state, weakest first: the held or the start value, the variable of the same
// relative name in the state left, initial equations. What reinit() sets comes one round later.

#include <fmt/format.h>

#include <unordered_set>

#include "base/error.h"
#include "modelica/machine.h"
#include "modelica/machine_check.h"

namespace saltus {
namespace {

// The name behind a path, or empty.
std::string relative_name(const std::string& name, const std::string& path) {
  return name.starts_with(path + ".") ? name.substr(path.size() + 1) : "";
}

}  // namespace

void Flattener::add_entry_values(const Machine& machine) {
  // Which state machines inside are in is their own affair.
  std::unordered_set<const Node*> of_machines;
  for (const auto& made : machines_) {
    of_machines.insert(made->active.node());
    for (const Expr& flag : made->flags) of_machines.insert(flag.node());
  }
  std::unordered_map<std::string, const DiscreteVariable*> discretes;
  for (const DiscreteVariable& v : flat_.discretes)
    if (!v.name.starts_with('$') && !of_machines.contains(v.symbol.node())) discretes[v.name] = &v;

  std::vector<CheckedTransition> checked;
  std::vector<Expr> reset;  // by reinit(): known only when it happens
  for (const Reinit& r : flat_.reinits)
    if (r.handover == Handover::kReset) reset.push_back(r.variable);
  for (const Machine::Transition& t : machine.transitions) {
    const Instance& from = *machine.states[t.from];
    const Instance& to = *machine.states[t.to];
    // Two transitions between the same states differ by `reset`.
    Expr condition = machine.fired && equal(machine.active, static_cast<double>(t.from + 1)) &&
                     equal(machine.next, static_cast<double>(t.to + 1));
    if (!machine.resets.is_number())
      condition = condition && (t.reset ? machine.resets : !machine.resets);
    checked.push_back(
        {t.from,
         t.to,
         t.holds,
         fmt::format("transition({}, {}, {})", from.path, to.path, to_text(*t.condition)),
         t.place.location(),
         activity(to),
         {{machine.entered_at, flat_.system.time()}}});
    const auto hand_over = [&](const Expr& variable, const Expr& value, Handover handover) {
      std::vector<std::pair<Expr, Expr>>& handed = checked.back().handed_over;
      std::erase_if(handed, [&](const auto& h) { return h.first.same_as(variable); });
      handed.emplace_back(variable, value);
      flat_.reinits.push_back({condition, variable, value, t.place.location(), handover});
    };
    // A transition to itself leaves no other state: `reset` alone decides.
    const auto namesake = [&](const std::string& relative) {
      return &from == &to ? "" : from.path + "." + relative;
    };
    for (const Variable& v : flat_.system.variables()) {
      const std::string relative = relative_name(v.name, to.path);
      if (relative.empty()) continue;
      const auto left = variables_by_name_.find(namesake(relative));
      const auto kept = discretes.find(namesake(relative));
      if (left != variables_by_name_.end()) {
        hand_over(v.symbol, left->second, Handover::kCarry);
      } else if (kept != discretes.end() && kept->second->type == DiscreteType::kReal) {
        hand_over(v.symbol, kept->second->symbol, Handover::kCarry);
      } else if (t.reset) {
        hand_over(v.symbol, v.start, Handover::kStart);
      }
    }
    for (const DiscreteVariable& v : flat_.discretes) {
      const std::string relative = relative_name(v.name, to.path);
      if (relative.empty() || !discretes.contains(v.name)) continue;
      const auto left = discretes.find(namesake(relative));
      const auto moving = variables_by_name_.find(namesake(relative));
      if (left != discretes.end() && left->second->type == v.type) {
        hand_over(v.symbol, left->second->symbol, Handover::kCarry);
      } else if (moving != variables_by_name_.end() && v.type == DiscreteType::kReal) {
        hand_over(v.symbol, moving->second, Handover::kCarry);
      } else if (t.reset) {
        hand_over(v.symbol, v.start, Handover::kStart);
      }
    }
    const auto given = entry_values_.find(&to);
    if (given == entry_values_.end()) continue;
    for (const auto& [variable, value] : given->second) hand_over(variable, value, Handover::kSet);
  }
  for (std::string& warning : check_transitions(flat_, checked, reset))
    flat_.warnings.push_back(std::move(warning));
  for (std::string& warning : check_targets(flat_, checked))
    flat_.warnings.push_back(std::move(warning));
}

void Flattener::note_entry_value(const Instance& instance, const Expr& given, const Expr& value) {
  Expr variable = given;
  for (const auto& [node, slot] : pre_slots_)
    if (slot.same_as(given)) variable = Expr(node);
  for (const Instance* i = &instance; i != nullptr; i = i->parent)
    if (states_.contains(i)) entry_values_[i].emplace_back(variable, value);
}

void Flattener::note_initial_equations(const Instance& instance,
                                       const std::vector<EquationItem>& initial) {
  for (const EquationItem& item : initial) {
    const auto* e = std::get_if<Equation>(&item.value);
    if (e == nullptr)
      throw Error("an initial equation of a state must be written as x = ...",
                  std::get<IfEquation>(item.value).where);
    const Equality& q = e->equality;
    if (q.lhs.is_variable() && q.lhs.node()->order == 0) {
      note_entry_value(instance, q.lhs, q.rhs);
    } else if (q.rhs.is_variable() && q.rhs.node()->order == 0) {
      note_entry_value(instance, q.rhs, q.lhs);
    } else {
      throw Error("an initial equation of a state must be written as x = ...", e->where);
    }
  }
}

}  // namespace saltus
