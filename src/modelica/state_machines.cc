// Continuous state machines: initialState(a), transition(a, b, condition).
//
// A machine has the discrete variables
//   next    the state its transitions ask for, found from the present one and the conditions
//   active  := pre(next): the state changes one round of the event iteration after its conditions
//           were seen, so the equations of the new state cannot take the condition back
//   fired   a transition is taken in this round; pre(fired) is the round of the entry
// and one Boolean a state, so that pre(activeState(s)) and its edges exist. What is declared in a
// state holds only while the state is active.

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
      const Expression* reset = argument_of(call, 4, "reset");
      if (reset != nullptr) edge.transition.reset = constant_integer(*reset, scope, "reset") != 0;
      const Expression* priority = argument_of(call, 6, "priority");
      if (priority != nullptr)
        edge.transition.priority = constant_integer(*priority, scope, "priority");
      edges.push_back(edge);
    }
  if (starts.empty() && !edges.empty())
    throw Error("transition() without initialState()", edges.front().transition.place.location());
  for (const auto& [start, place] : starts) {
    auto machine = std::make_unique<Machine>();
    machine->owner = &owner;
    machine->scope = scope;
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
  machine.entered_at = hidden_discrete(
      "$entered " + name,
      {.type = DiscreteType::kReal, .start = flat_.system.experiment.start_time, .fixed = true});
  for (std::size_t k = 0; k < machine.states.size(); ++k) {
    if (states_.contains(machine.states[k]))
      throw Error(fmt::format("'{}' is a state of two machines", machine.states[k]->path),
                  machine.place.location());
    machine.flags.push_back(
        hidden_discrete(fmt::format("activeState({})", machine.states[k]->path),
                        {.start = k == 0 ? 1.0 : 0.0, .fixed = true, .where = options.where}));
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

// Values on entry, for what is under der() in the state: those of initial equations, of the
// variable of the same relative name in the state left, or the start value.
template <class Transition>
void Flattener::add_entry_values(const Machine& machine, const Transition& t) {
  Instance& from = *machine.states[t.from];
  Instance& to = *machine.states[t.to];
  const Expr enters = pre_slot(machine.fired) &&
                      equal(machine.active, static_cast<double>(t.to + 1)) &&
                      equal(pre_slot(machine.active), static_cast<double>(t.from + 1));
  // What a reinit() of the model sets is stronger.
  const auto enter = [&](const Expr& variable, const Expr& value) {
    Expr condition = enters;
    for (std::size_t k = 0; k < machine.model_reinits; ++k)
      if (flat_.reinits[k].variable.same_as(variable))
        condition = condition && !flat_.reinits[k].condition;
    flat_.reinits.push_back({condition, variable, value, t.place.location()});
  };
  const auto given = entry_equations_.find(&to);
  std::vector<Expr> set;
  if (given != entry_equations_.end())
    for (const auto& [variable, value] : given->second) {
      enter(variable, value);
      set.push_back(variable);
    }
  const auto differential = differential_.find(&to);
  if (differential == differential_.end()) return;
  for (const Expr& variable : differential->second) {
    const auto same = [&](const Expr& other) { return other.same_as(variable); };
    if (std::any_of(set.begin(), set.end(), same)) continue;
    const Variable& written = flat_.system.variable(variable.node()->variable());
    if (!written.name.starts_with(to.path + ".")) continue;
    const std::string relative = written.name.substr(to.path.size() + 1);
    const auto left = variables_by_name_.find(from.path + "." + relative);
    if (left != variables_by_name_.end() && &from != &to) {
      enter(variable, left->second);
    } else if (t.reset) {
      enter(variable, written.start);
    }
  }
}

void Flattener::add_machine_equations() {
  const std::size_t model_reinits = flat_.reinits.size();
  for (const auto& made : machines_) {
    Machine& machine = *made;
    machine.model_reinits = model_reinits;
    machine_in_use_ = &machine;
    const SourceLocation where = machine.place.location();
    const Expr around = activity(*machine.owner);
    Expr fired = 0.0;
    Expr next = machine.active;
    for (std::size_t s = 0; s < machine.states.size(); ++s) {
      const Expr here = equal(machine.active, static_cast<double>(s + 1));
      Expr target = machine.active;
      Expr leaves = 0.0;
      for (std::size_t t = machine.transitions.size(); t-- > 0;) {
        const Machine::Transition& transition = machine.transitions[t];
        if (transition.from != s) continue;
        const Value condition = evaluate(*transition.condition, machine.scope);
        if (condition.type != BasicType::kBoolean || !condition.is_scalar())
          throw Error("the condition of a transition is not a Boolean",
                      transition.condition->place.location());
        target = select(condition.number(), static_cast<double>(transition.to + 1), target);
        leaves = leaves || condition.number();
      }
      next = select(here, target, next);
      fired = fired || (here && leaves);
    }
    machine_in_use_ = nullptr;
    // A machine inside a state starts again when the state is entered.
    Expr restarted = 0.0;
    for (const Instance* i = machine.owner; i != nullptr; i = i->parent) {
      const auto state = states_.find(i);
      if (state == states_.end()) continue;
      const Machine& outer = *state->second.machine;
      restarted = restarted || (pre_slot(outer.fired) &&
                                equal(outer.active, static_cast<double>(state->second.number + 1)));
    }
    const Expr entering = pre_slot(machine.fired);
    // Not before the values on entry are in place, which happens at the end of that round.
    fired = fired && around && !flat_.initial() && !entering && !restarted;
    flat_.discrete_equations.push_back(
        {machine.active, select(restarted, 1.0, pre_slot(machine.next)), where});
    flat_.discrete_equations.push_back({machine.fired, fired, where});
    flat_.discrete_equations.push_back({machine.next, select(fired, next, machine.active), where});
    flat_.discrete_equations.push_back(
        {machine.entered_at,
         select(entering || restarted, flat_.system.time(), pre_slot(machine.entered_at)), where});
    for (std::size_t s = 0; s < machine.states.size(); ++s) {
      const Expr mine = static_cast<double>(s + 1);
      // A transition to itself lets the flag fall for one round, so that its edge is seen.
      flat_.discrete_equations.push_back(
          {machine.flags[s],
           equal(machine.active, mine) && !(machine.fired && equal(machine.next, mine)), where});
    }
    for (const Machine::Transition& t : machine.transitions) add_entry_values(machine, t);
  }
}

// Remembers what add_entry_values needs of the equations of a state.
void Flattener::note_state_equations(const Instance& instance,
                                     const std::vector<EquationItem>& items,
                                     const std::vector<EquationItem>& initial) {
  for (const Instance* i = &instance; i != nullptr; i = i->parent) {
    if (!states_.contains(i)) continue;
    const std::function<void(const std::vector<EquationItem>&)> visit =
        [&](const std::vector<EquationItem>& list) {
          for (const EquationItem& item : list) {
            if (const auto* e = std::get_if<Equation>(&item.value)) {
              const Expr sides[] = {e->equality.lhs, e->equality.rhs};
              for (const Expr& leaf : leaves_of(sides)) {
                if (!leaf.is_variable() || leaf.node()->order == 0) continue;
                std::vector<Expr>& list_of = differential_[i];
                const Expr variable = flat_.system.graph().variable(leaf.node()->variable());
                const auto same = [&](const Expr& other) { return other.same_as(variable); };
                if (std::none_of(list_of.begin(), list_of.end(), same)) list_of.push_back(variable);
              }
            } else {
              for (const auto& branch : std::get<IfEquation>(item.value).branches) visit(branch);
            }
          }
        };
    visit(items);
    for (const EquationItem& item : initial)
      if (const auto* e = std::get_if<Equation>(&item.value)) {
        const Equality& q = e->equality;
        if (q.lhs.is_variable() && q.lhs.node()->order == 0) {
          entry_equations_[i].emplace_back(q.lhs, q.rhs);
        } else if (q.rhs.is_variable() && q.rhs.node()->order == 0) {
          entry_equations_[i].emplace_back(q.rhs, q.lhs);
        } else {
          throw Error("an initial equation of a state must be written as x = ...", e->where);
        }
      }
  }
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
