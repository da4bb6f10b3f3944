// Continuous state machines: initialState(a), transition(a, b, condition).
//
// A machine has the discrete variables
//   next    the state its transitions ask for, found from the present one and the conditions
//   active  := pre(next): the state changes one round of the event iteration after its conditions
//           were seen, so the equations of the new state cannot take the condition back
//   fired   a transition is taken in this round; pre(fired) is the round of the entry
// and one Boolean a state, so that pre(activeState(s)) and its edges exist. What is declared in a
// state holds only while the state is active. Between the two rounds the values on entry are handed
// over (machine_entry.cc).

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "expr/differentiate.h"
#include "modelica/machine.h"

namespace saltus {

namespace {

const Expression* argument_of(const CallExpression& call, std::size_t position,
                              std::string_view name) {
  if (position < call.arguments.size()) return call.arguments[position].get();
  for (const NamedArgument& named : call.named)
    if (named.name == name) return named.value.get();
  return nullptr;
}

}  // namespace

void Flattener::collect_machines(Instance& owner) {
  struct Edge {
    Instance* from;
    Instance* to;
    Machine::Transition transition;
  };
  std::vector<Edge> edges;
  std::vector<std::pair<Instance*, Place>> starts;
  Scope scope;
  const auto state_of = [&](const Expression* e, const Place& place) -> Instance* {
    const auto* r = e == nullptr ? nullptr : e->as<ComponentReference>();
    if (r == nullptr) throw Error("a state must be the name of a component", place.location());
    const InstanceRange range = instances_of(*r, scope);
    if (range.parts.size() != 1 || range.parts[0].instance->is_leaf())
      throw Error(fmt::format("'{}' cannot be a state; it must be a model or block", r->text()),
                  place.location());
    return range.parts[0].instance;
  };
  for (const ClassInfo::Base& base : owner.type.info->bases)
    for (const EquationClause& equation : base.definition->equations) {
      const auto* call_equation = equation.as<CallEquation>();
      if (call_equation == nullptr) continue;
      const auto& call = *call_equation->call->as<CallExpression>();
      const std::string name = call.function.text();
      scope = {&owner, base.definition, nullptr};
      const Place& place = equation.place;
      if (name == "initialState")
        starts.emplace_back(state_of(argument_of(call, 0, "state"), place), place);
      if (name != "transition") continue;
      Edge edge{state_of(argument_of(call, 0, "from"), place),
                state_of(argument_of(call, 1, "to"), place),
                {}};
      edge.transition.condition = argument_of(call, 2, "condition");
      if (edge.transition.condition == nullptr)
        throw Error("transition() needs a condition", place.location());
      edge.transition.place = place;
      const std::vector<std::string> known = {"from",  "to",          "condition", "immediate",
                                              "reset", "synchronize", "priority"};
      for (const NamedArgument& named : call.named)
        if (std::find(known.begin(), known.end(), named.name) == known.end())
          throw Error(fmt::format("transition() has no '{}'{}", named.name,
                                  did_you_mean(named.name, known)),
                      named.place.location());
      const auto option = [&](std::size_t position, const char* option_name, bool& value) {
        const Expression* given = argument_of(call, position, option_name);
        if (given != nullptr) value = constant_integer(*given, scope, option_name) != 0;
      };
      option(3, "immediate", edge.transition.immediate);
      option(4, "reset", edge.transition.reset);
      option(5, "synchronize", edge.transition.synchronize);
      const Expression* priority = argument_of(call, 6, "priority");
      if (priority != nullptr)
        edge.transition.priority = constant_integer(*priority, scope, "priority");
      if (edge.transition.priority < 1)
        throw Error("the priority of a transition must be 1 or more", place.location());
      edge.transition.scope = scope;
      edges.push_back(edge);
    }
  if (starts.empty() && !edges.empty())
    throw Error("transition() without initialState()", edges.front().transition.place.location());
  for (const auto& [start, place] : starts) {
    auto machine = std::make_unique<Machine>();
    machine->owner = &owner;
    machine->place = place;
    machine->states.push_back(start);
    // The machine is what transitions reach from its initial state.
    for (std::size_t k = 0; k < machine->states.size(); ++k)
      for (const Edge& e : edges)
        if (e.from == machine->states[k] &&
            std::find(machine->states.begin(), machine->states.end(), e.to) ==
                machine->states.end())
          machine->states.push_back(e.to);
    const auto index = [&](const Instance* s) {
      return static_cast<std::size_t>(std::find(machine->states.begin(), machine->states.end(), s) -
                                      machine->states.begin());
    };
    for (const Edge& e : edges) {
      if (index(e.from) == machine->states.size()) continue;
      machine->transitions.push_back(e.transition);
      machine->transitions.back().from = index(e.from);
      machine->transitions.back().to = index(e.to);
    }
    std::stable_sort(machine->transitions.begin(), machine->transitions.end(),
                     [](const auto& a, const auto& b) { return a.priority < b.priority; });
    declare_machine(*machine);
    machines_.push_back(std::move(machine));
  }
}

Expr Flattener::hidden_discrete(const std::string& name, DiscreteOptions options) {
  const Expr symbol = flat_.discrete(name, std::move(options));
  discrete_numbers_[symbol.node()] = flat_.discretes.size() - 1;
  pre_slots_[symbol.node()] = flat_.discretes.back().pre;
  return symbol;
}

void Flattener::declare_machine(Machine& machine) {
  const std::string path = machine.owner->path.empty() ? "" : machine.owner->path + ".";
  const std::string name = fmt::format(
      "{}activeState{}", path, machines_.empty() ? "" : fmt::format("{}", machines_.size() + 1));
  DiscreteOptions options;
  options.type = DiscreteType::kEnumeration;
  options.start = 1.0;
  options.fixed = true;
  options.where = machine.place.location();
  for (const Instance* s : machine.states) options.literals.push_back(s->path);
  options.names_mode = true;
  machine.active = hidden_discrete(name, options);
  options.names_mode = false;
  machine.next = hidden_discrete("$next " + name, options);
  machine.fired = hidden_discrete("$fired " + name, {.fixed = true, .where = options.where});
  machine.tie = hidden_discrete("$tie " + name, {.fixed = true, .where = options.where});
  const DiscreteOptions moment = {
      .type = DiscreteType::kReal, .fixed = true, .where = options.where};
  machine.entered_at = hidden_discrete("$entered " + name, moment);
  // Transitions around a machine that do not start it again are told from those that do.
  for (const Machine::Transition& t : machine.transitions)
    if (!t.reset && machine.resets.is_number())
      machine.resets =
          hidden_discrete("$resets " + name, {.start = 1.0, .fixed = true, .where = options.where});
  bool starts_active = true;
  bool keeps_history = false;
  for (const Instance* i = machine.owner; i != nullptr; i = i->parent) {
    const auto state = states_.find(i);
    if (state == states_.end()) continue;
    starts_active = starts_active && state->second.number == 0;
    keeps_history = keeps_history || !state->second.machine->resets.is_number();
  }
  if (keeps_history) machine.in_force_until = hidden_discrete("$until " + name, moment);
  for (std::size_t k = 0; k < machine.transitions.size(); ++k)
    if (!machine.transitions[k].immediate)
      machine.transitions[k].delayed = hidden_discrete(
          fmt::format("$condition {} of {}", k + 1, name), {.fixed = true, .where = options.where});
  for (std::size_t k = 0; k < machine.states.size(); ++k) {
    if (states_.contains(machine.states[k]))
      throw Error(fmt::format("'{}' is a state of two machines", machine.states[k]->path),
                  machine.place.location());
    machine.flags.push_back(hidden_discrete(
        fmt::format("activeState({})", machine.states[k]->path),
        {.start = k == 0 && starts_active ? 1.0 : 0.0, .fixed = true, .where = options.where}));
    states_[machine.states[k]] = {&machine, k};
  }
}

// What must hold for the equations of an instance to be in force: every state around it is active.
Expr Flattener::activity(const Instance& instance) {
  Expr result = 1.0;
  if (states_.empty()) return result;
  for (const Instance* i = &instance; i != nullptr; i = i->parent) {
    const auto state = states_.find(i);
    if (state != states_.end())
      result =
          equal(state->second.machine->active, static_cast<double>(state->second.number + 1)) &&
          result;
  }
  return result;
}

Value Flattener::active_state(const CallExpression& call, const Scope& scope, const Place& place) {
  const auto* r =
      call.arguments.size() == 1 ? call.arguments[0]->as<ComponentReference>() : nullptr;
  const InstanceRange range = r == nullptr ? InstanceRange{} : instances_of(*r, scope);
  const auto state =
      range.parts.size() == 1 ? states_.find(range.parts[0].instance) : states_.end();
  if (state == states_.end())
    throw Error("activeState() needs a component that is a state", place.location());
  return Value::boolean(state->second.machine->flags[state->second.number]);
}

Value Flattener::time_in_state(const Scope& scope, const Place& place) {
  const Machine* machine = machine_in_use_;
  for (const Instance* i = scope.instance; i != nullptr && machine == nullptr; i = i->parent) {
    const auto state = states_.find(i);
    if (state != states_.end()) machine = state->second.machine;
  }
  if (machine == nullptr)
    throw Error("timeInState() outside of a state and of a transition", place.location());
  return Value::real(flat_.system.time() - machine->entered_at);
}

// What leads out of a state.
struct Flattener::Leaving {
  Expr fires = 0.0;   // some transition
  Expr target;        // of the first that does
  Expr resets = 1.0;  // whether that one has reset = true
  Expr tie = 0.0;     // another one of its priority does, too
};

// "No transition until all machines inside are in states without outgoing transitions": those that
// are in force.
Expr Flattener::inner_machines_are_final(const Instance& state) {
  Expr result = 1.0;
  for (const auto& made : machines_) {
    const Machine& inner = *made;
    bool is_inside = false;
    for (const Instance* i = inner.owner; i != nullptr; i = i->parent)
      is_inside = is_inside || i == &state;
    if (!is_inside) continue;
    Expr is_final = 0.0;
    for (std::size_t s = 0; s < inner.states.size(); ++s)
      if (std::none_of(inner.transitions.begin(), inner.transitions.end(),
                       [&](const Machine::Transition& t) { return t.from == s; }))
        is_final = is_final || equal(inner.active, static_cast<double>(s + 1));
    result = result && (is_final || !activity(*inner.owner));
  }
  return result;
}

Flattener::Leaving Flattener::find_leaving(Machine& machine, std::size_t state) {
  Leaving leaving;
  leaving.target = machine.active;
  // From the last to the first: transitions are sorted by priority.
  Expr same_priority = 0.0;
  long priority = 0;
  for (std::size_t k = machine.transitions.size(); k-- > 0;) {
    Machine::Transition& t = machine.transitions[k];
    if (t.from != state) continue;
    const Value value = evaluate(*t.condition, t.scope);
    if (value.type != BasicType::kBoolean || !value.is_scalar())
      throw Error("the condition of a transition is not a Boolean", t.condition->place.location());
    Expr condition = value.number();
    if (t.synchronize) condition = condition && inner_machines_are_final(*machine.states[state]);
    t.holds = condition;
    if (!t.immediate) {
      const Expr here = equal(machine.active, static_cast<double>(state + 1));
      flat_.discrete_equations.push_back(
          {t.delayed, here && activity(*machine.owner) && condition && !flat_.initial(),
           t.place.location()});
      condition = pre_slot(t.delayed);
    }
    if (t.priority != priority) same_priority = 0.0;
    priority = t.priority;
    leaving.tie = select(condition, same_priority, leaving.tie);
    same_priority = same_priority || condition;
    leaving.target = select(condition, static_cast<double>(t.to + 1), leaving.target);
    leaving.resets = select(condition, t.reset ? 1.0 : 0.0, leaving.resets);
    leaving.fires = leaving.fires || condition;
  }
  return leaving;
}

void Flattener::add_machine_equations() {
  for (const auto& made : machines_) add_equations_of(*made);
  for (const auto& made : machines_) add_entry_values(*made);
  for (const auto& [instance, state] : states_)
    for (DiscreteVariable& v : flat_.discretes)
      if (v.name.starts_with(instance->path + ".")) v.exists = v.exists && activity(*instance);
}

void Flattener::add_equations_of(Machine& machine) {
  const SourceLocation where = machine.place.location();
  const auto give = [&](const Expr& target, const Expr& value) {
    flat_.discrete_equations.push_back({target, value, where});
  };
  Leaving leaving;
  leaving.target = machine.active;
  machine_in_use_ = &machine;
  for (std::size_t s = 0; s < machine.states.size(); ++s) {
    const Expr here = equal(machine.active, static_cast<double>(s + 1));
    const Leaving from = find_leaving(machine, s);
    leaving.target = select(here, from.target, leaving.target);
    leaving.resets = select(here, from.resets, leaving.resets);
    leaving.tie = select(here, from.tie, leaving.tie);
    leaving.fires = leaving.fires || (here && from.fires);
  }
  machine_in_use_ = nullptr;

  // The states around this machine: whether they are active and stay so, have just been entered,
  // and whether that starts this machine again.
  Expr around = 1.0;
  Expr around_flags = 1.0;
  Expr entered_around = 0.0;
  Expr restarted = 0.0;
  for (const Instance* i = machine.owner; i != nullptr; i = i->parent) {
    const auto state = states_.find(i);
    if (state == states_.end()) continue;
    const Machine& outer = *state->second.machine;
    const Expr is_active = equal(outer.active, static_cast<double>(state->second.number + 1));
    const Expr entered = pre_slot(outer.fired) && is_active;
    around = around && is_active && !outer.fired;
    around_flags = around_flags && outer.flags[state->second.number];
    entered_around = entered_around || entered;
    restarted = restarted ||
                (entered && (outer.resets.is_number() ? outer.resets : pre_slot(outer.resets)));
  }
  const Expr entering = pre_slot(machine.fired);
  // Not before the values on entry are in place, which happens at the end of that round. A
  // transition around this machine goes first.
  const Expr fired = leaving.fires && around && !flat_.initial() && !entering && !entered_around;
  give(machine.active, select(restarted, 1.0, pre_slot(machine.next)));
  give(machine.fired, fired);
  give(machine.next, select(machine.fired, leaving.target, machine.active));
  give(machine.tie, machine.fired && leaving.tie);
  if (!machine.resets.is_number()) give(machine.resets, leaving.resets);
  // While the states around are not in force, no time passes.
  Expr since = pre_slot(machine.entered_at);
  if (!machine.in_force_until.is_number()) {
    since =
        since + select(entered_around, flat_.system.time() - pre_slot(machine.in_force_until), 0.0);
    give(machine.in_force_until, select(activity(*machine.owner) || flat_.initial(),
                                        flat_.system.time(), pre_slot(machine.in_force_until)));
  }
  give(machine.entered_at,
       select(entering || restarted || flat_.initial(), flat_.system.time(), since));
  for (std::size_t s = 0; s < machine.states.size(); ++s) {
    const Expr mine = static_cast<double>(s + 1);
    Expr flag = around_flags && equal(machine.active, mine);
    // A transition to itself lets the flag fall for one round, so that its edge is seen.
    if (std::any_of(machine.transitions.begin(), machine.transitions.end(),
                    [&](const auto& t) { return t.from == s && t.to == s; }))
      flag = flag && !(machine.fired && equal(machine.next, mine));
    give(machine.flags[s], flag);
  }
  flat_.machines.push_back({machine.active, machine.fired, machine.tie});
}

// Equations that hold only while an instance is active.
void Flattener::add_items(const Expr& active, std::vector<EquationItem> items,
                          std::vector<EquationItem>& out, const Place& place) {
  if (items.empty()) return;
  if (active.is_number()) {
    for (EquationItem& item : items) out.push_back(std::move(item));
    return;
  }
  IfEquation made;
  made.conditions = {active};
  made.branches = {std::move(items), {}};
  made.where = place.location();
  out.emplace_back(std::move(made));
}

}  // namespace saltus
