// Equation sections and declaration equations.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/placeholder.h"
#include "model/input_data.h"
#include "modelica/clocks.h"
#include "modelica/flattener.h"
#include "modelica/parameter_use.h"
#include "modelica/statements.h"

namespace saltus {
namespace {

bool is_one_of(const std::unordered_map<const Node*, Expr>& slots, const Expr& e) {
  return std::ranges::any_of(slots, [&](const auto& entry) { return entry.second.same_as(e); });
}

// Connections.root(...) and its relatives; null: something else.
const CallExpression* calls_connections(const EquationClause& equation) {
  const auto* c = equation.as<CallEquation>();
  const auto* call = c == nullptr ? nullptr : c->call->as<CallExpression>();
  return call != nullptr && call->function.parts.size() == 2 &&
                 call->function.parts[0].name == "Connections"
             ? call
             : nullptr;
}

bool has_connections(const std::vector<EquationClause>& equations) {
  for (const EquationClause& e : equations) {
    if (e.as<ConnectEquation>() != nullptr || calls_connections(e) != nullptr) return true;
    if (const auto* f = e.as<ForEquation>())
      if (has_connections(f->body)) return true;
    if (const auto* i = e.as<ConditionalEquation>())
      for (const auto& branch : i->branches)
        if (has_connections(branch.body)) return true;
  }
  return false;
}

std::string shortened(std::string text) {
  constexpr std::size_t kMost = 100;
  if (text.size() > kMost) text = text.substr(0, kMost - 3) + "...";
  return text;
}

// What an input of the model itself reads: a hidden discrete value that keeps its start value,
// unless somebody outside sets it (fixed steps with inputs).
Expr fed_value(FlatModel& flat, const std::string& name, DiscreteOptions options) {
  options.fixed = true;
  const SourceLocation where = options.where;
  const Expr fed = flat.discrete("$input " + name, options);
  flat.discrete_equations.push_back({fed, flat.pre(fed), where});
  return fed;
}

}  // namespace

void Flattener::for_each_class_instance(Instance& instance,
                                        const std::function<void(Instance&)>& visit) {
  if (!is_active(instance) || instance.target != nullptr || instance.is_leaf()) return;
  if (instance.is_array()) {
    for (const auto& e : instance.elements) for_each_class_instance(*e, visit);
    return;
  }
  visit(instance);
  for (const auto& c : instance.children) for_each_class_instance(*c, visit);
}

void Flattener::flatten_equations(Instance& instance) {
  const Expr active = activity(instance);
  std::vector<EquationItem> items;
  std::vector<EquationItem> initial_items;
  std::vector<DiscreteCandidate> discrete;
  EquationSink sink;
  sink.items = &items;
  sink.discrete = active.is_number() ? &discrete_candidates_ : &discrete;
  sink.active = active;
  std::vector<SolvedEquation> solved;
  if (active.is_number()) sink.solved = &solved;
  EquationSink initial;
  initial.items = &initial_items;
  initial.active = active;
  std::vector<DiscreteCandidate> initial_discrete;
  initial.discrete = &initial_discrete;
  initial.initial = true;
  for (const auto& c : instance.children)
    if (is_active(*c) && c->target == nullptr && c->is_leaf())
      attempt([&] { flatten_binding(*c, sink); });
  for (const ClassInfo::Base& base : instance.type.info->bases) {
    const ClassDefinition& definition = *base.definition;
    const Scope scope{&instance, &definition, nullptr};
    for (const EquationClause& e : definition.equations)
      attempt([&] { translate(e, scope, sink); });
    for (const auto& section : definition.algorithms)
      attempt([&] { flatten_algorithm(section, scope, sink); });
    ++in_initial_;
    for (const EquationClause& e : definition.initial_equations)
      attempt([&] { translate(e, scope, initial); });
    for (const auto& section : definition.initial_algorithms)
      attempt([&] { flatten_algorithm(section, scope, initial); });
    --in_initial_;
  }
  const Place place = instance.component == nullptr ? Place{} : instance.component->place;
  if (!active.is_number()) {
    note_initial_equations(instance, initial_items);
    EquationSink outer;
    outer.discrete = &discrete_candidates_;
    join_discrete({active}, {discrete, {}}, place, outer);
  }
  for (SolvedEquation& s : solved) {
    s.equation += flat_.equations.size();
    flat_.solved_equations.push_back(s);
  }
  add_items(active, std::move(items), flat_.equations, place);
  add_items(active, std::move(initial_items), flat_.initial_equations, place);
  for (const DiscreteCandidate& c : initial_discrete) {
    const auto known = [&](const Expr& e) {
      return is_discrete_symbol(e) || is_one_of(pre_slots_, e);
    };
    // A discrete Real that is fixed gives a parameter its value, not the other way round.
    const auto is_fixed = [&](const Expr& e) {
      return is_discrete_symbol(e) && flat_.discretes[discrete_numbers_.at(e.node())].fixed;
    };
    if ((is_fixed(c.left) && c.right.is_variable()) ||
        (is_fixed(c.right) && c.left.is_variable())) {
      Equation e(c.name, c.left == c.right);
      e.where = c.where;
      flat_.initial_equations.emplace_back(std::move(e));
    } else if (known(c.left)) {
      flat_.initial_discrete.push_back({c.left, c.right, c.where});
      note_entry_value(instance, c.left, c.right);
    } else if (known(c.right)) {
      flat_.initial_discrete.push_back({c.right, c.left, c.where});
      note_entry_value(instance, c.right, c.left);
    } else {
      throw Error(
          "this initial equation gives no discrete variable a value: write it as x = ... "
          "or pre(x) = ...",
          c.where);
    }
  }
}

void Flattener::flatten_binding(Instance& leaf, EquationSink& sink) {
  const BasicType type = *leaf.type.info->basic;
  if (leaf.variability == Variability::kParameter || leaf.variability == Variability::kConstant ||
      type == BasicType::kObject)
    return;
  const Layer* layer = binding_layer(leaf);
  if (layer == nullptr) {
    if (leaf.parent == root_ && leaf.causality == Causality::kInput && type != BasicType::kClock) {
      const SourceLocation where = leaf.component->place.location();
      const Value& symbols = value_of(leaf);
      flat_.warnings.push_back(fmt::format(
          "{}:{}:{}: warning: nothing gives the input '{}' a value: it keeps its start value; "
          "--input \"{}=...\" gives it another",
          where.file, where.line, where.column, leaf.path, leaf.path));
      for (const Expr& symbol : symbols.numbers) {
        if (is_discrete_symbol(symbol)) {
          const DiscreteVariable v = flat_.discretes[discrete_numbers_[symbol.node()]];
          const Expr fed =
              fed_value(flat_, v.name,
                        {.type = v.type, .start = v.start, .literals = v.literals, .where = where});
          when_assigned_.insert({fed.node(), symbol.node()});
          flat_.discrete_equations.push_back({symbol, fed, where});
          continue;
        }
        const Variable& v = flat_.system.variable(symbol.node()->variable());
        const Expr fed = fed_value(flat_, v.name,
                                   {.type = DiscreteType::kReal, .start = v.start, .where = where});
        when_assigned_.insert(fed.node());
        Equation e("input " + v.name, symbol == fed);
        e.where = where;
        sink.items->emplace_back(std::move(e));
      }
    }
    return;
  }
  if (type == BasicType::kString && std::ranges::none_of(value_of(leaf).strings, has_placeholders))
    return;
  const auto measured = input_data_.find(layer->argument);
  const bool is_measured = measured != input_data_.end();
  const Value value = is_measured ? measured_value(leaf, *measured->second) : layer_value(*layer);
  const std::string text = is_measured ? measured->second->source : to_text(*layer->value);
  const Place& place = layer->value->place;
  check_type(leaf, value, place);
  const bool is_field =
      leaf.parent != nullptr && leaf.parent->definition().kind == ClassKind::kRecord;
  add_equality(value_of(leaf), value, shortened(fmt::format("{} = {}", leaf.path, text)), place,
               sink, is_field);
}

Value Flattener::measured_value(const Instance& leaf, const InputData& data) {
  const BasicType type = *leaf.type.info->basic;
  if (!leaf.dimensions->empty() || !is_number_like(type) || type == BasicType::kEnumeration)
    throw Error(
        fmt::format("--input {}: data can be given for scalar Real, Integer and Boolean "
                    "variables, not for this one",
                    leaf.path));
  if (type == BasicType::kReal) return Value::real(add_input_data(flat_, leaf.path, data));
  InputData steps = data;
  steps.joining = Joining::kHold;
  for (std::size_t k = 0; k < steps.values.size(); ++k) {
    const double v = steps.values[k];
    if (type == BasicType::kBoolean ? v != 0.0 && v != 1.0 : v != std::round(v))
      throw Error(fmt::format("{}: {} at t = {} is no value of '{}', which is {}", data.source, v,
                              data.times[k], leaf.path, spelling(type)));
  }
  const Expr value = add_input_data(flat_, leaf.path, steps);
  if (type == BasicType::kInteger) return Value::integer(value);
  return Value::boolean(value.is_number() ? Expr(value.number()) : value > 0.5);
}

std::string Flattener::equation_label(const Scope& scope, const EquationClause& equation) const {
  std::string text;
  if (const auto* e = equation.as<SimpleEquation>())
    text = to_text(*e->left) + " = " + to_text(*e->right);
  const std::string path = scope.instance == nullptr ? "" : scope.instance->path;
  return shortened(path.empty() ? text : path + ": " + text);
}

void Flattener::translate(const std::vector<EquationClause>& equations, const Scope& scope,
                          EquationSink& sink) {
  for (const EquationClause& e : equations) translate(e, scope, sink);
}

void Flattener::for_each_iteration(const ForEquation& loop, const Scope& scope,
                                   const std::function<void(const Scope&)>& body) {
  const std::vector<Iterator>& iterators = loop.iterators;
  const std::function<void(std::size_t, const Scope&)> level = [&](std::size_t k, const Scope& s) {
    if (k == iterators.size()) {
      body(s);
      return;
    }
    for (Value& value : iteration_values(iterators[k], s, {.equations = &loop.body})) {
      for (const Expr& number : value.numbers)
        if (!fixed_number(number))
          throw Error(fmt::format("the range of '{}' depends on variables; that of a 'for' among "
                                  "equations must be known when the model is translated",
                                  iterators[k].name),
                      iterators[k].place.location());
      Locals locals{s.locals, {{iterators[k].name, std::move(value)}}};
      level(k + 1, {s.instance, s.lexical, &locals});
    }
  };
  level(0, scope);
}

void Flattener::translate(const EquationClause& equation, const Scope& scope, EquationSink& sink) {
  const Place& place = equation.place;
  if (only_connections_) {
    if (const auto* c = equation.as<ConnectEquation>()) {
      connect(*c, scope, place);
    } else if (const auto* f = equation.as<ForEquation>()) {
      if (has_connections(f->body))
        for_each_iteration(*f, scope, [&](const Scope& s) { translate(f->body, s, sink); });
    } else if (const auto* i = equation.as<ConditionalEquation>()) {
      bool any = false;
      for (const auto& branch : i->branches) any = any || has_connections(branch.body);
      if (any) translate_if(*i, equation, scope, sink);
    } else if (const CallExpression* call = expanding_ ? nullptr : calls_connections(equation)) {
      note_connections_call(*call, scope, place);
    }
    return;
  }
  if (const auto* e = equation.as<SimpleEquation>()) {
    translate_simple(*e, equation, scope, sink);
  } else if (const auto* i = equation.as<ConditionalEquation>()) {
    translate_if(*i, equation, scope, sink);
  } else if (const auto* f = equation.as<ForEquation>()) {
    for_each_iteration(*f, scope, [&](const Scope& s) { translate(f->body, s, sink); });
  } else if (const auto* w = equation.as<WhenEquation>()) {
    if (sink.initial) throw Error("'when' in an initial equation", place.location());
    translate_when(*w, equation, scope, sink);
  } else if (const auto* c = equation.as<CallEquation>()) {
    translate_call(*c->call->as<CallExpression>(), *c->call, scope, sink);
  } else if (sink.conditional) {
    refuse("connect() under a condition that changes", place);
  }
}

void Flattener::translate_simple(const SimpleEquation& e, const EquationClause& equation,
                                 const Scope& scope, EquationSink& sink) {
  const std::string label = equation_label(scope, equation);
  if (const auto* tuple = e.left->as<TupleExpression>()) {
    const auto* c = e.right->as<CallExpression>();
    if (c == nullptr)
      throw Error("the right side of several results must be a function call",
                  e.right->place.location());
    const std::vector<Value> results = call_results(*e.right, *c, scope);
    if (results.size() < tuple->elements.size())
      throw Error(fmt::format("{}() has {} results, not {}", c->function.text(), results.size(),
                              tuple->elements.size()),
                  equation.place.location());
    for (std::size_t k = 0; k < tuple->elements.size(); ++k)
      if (tuple->elements[k] != nullptr)
        add_equality(evaluate(*tuple->elements[k], scope), results[k], label, equation.place, sink);
    return;
  }
  add_equality(evaluate(*e.left, scope), evaluate(*e.right, scope), label, equation.place, sink);
}

void Flattener::add_equality(const Value& left, const Value& right, const std::string& name,
                             const Place& place, EquationSink& sink, bool is_field) {
  if (left.dimensions != right.dimensions)
    throw Error(fmt::format("the two sides of the equation differ in shape: {} and {}",
                            to_text(left.dimensions), to_text(right.dimensions)),
                place.location());
  const BasicType type = common_type(left, right, place);
  if (type == BasicType::kRecord) {
    for (std::size_t r = 0; r < left.records.size(); ++r)
      for (const auto& [field_name, value] : left.records[r].fields) {
        const Value* other = right.records[r].find(field_name);
        if (other == nullptr)
          throw Error(fmt::format("the record on the right has no '{}'", field_name),
                      place.location());
        add_equality(value, *other, name, place, sink, true);
      }
    return;
  }
  if (type == BasicType::kClock) {
    for (std::size_t i = 0; i < left.numbers.size(); ++i)
      clocks_->equal.emplace_back(left.numbers[i], right.numbers[i]);
    return;
  }
  if (type == BasicType::kString) {
    for (std::size_t i = 0; i < left.strings.size(); ++i) {
      if (left.strings[i] == right.strings[i]) continue;
      if (!has_placeholders(left.strings[i]) && !has_placeholders(right.strings[i]))
        throw Error(fmt::format("the equation {} never holds", name), place.location());
      sink.discrete->push_back({number_of_text(left.strings[i], place),
                                number_of_text(right.strings[i], place), place.location(), name});
    }
    return;
  }
  if (!is_number_like(type)) refuse(fmt::format("an equation between {}s", spelling(type)), place);
  for (std::size_t i = 0; i < left.numbers.size(); ++i) {
    const Expr& l = left.numbers[i];
    const Expr& r = right.numbers[i];
    const bool no_variable = !varies_continuously(l) && !varies_continuously(r);
    // An initial equation tSwitch = time gives a discrete Real its first value.
    const bool gives_first_value =
        sink.initial && (is_discrete_symbol(l) || is_one_of(pre_slots_, l));
    if (type != BasicType::kReal || gives_first_value ||
        (no_variable && (is_discrete_symbol(l) || is_discrete_symbol(r)))) {
      if (!is_discrete_symbol(l) && !is_discrete_symbol(r) && fixed_number(l) && fixed_number(r)) {
        if (*fixed_number(l) != *fixed_number(r))
          throw Error(fmt::format("the equation {} never holds", name), place.location());
        continue;
      }
      sink.discrete->push_back({l, r, place.location(), name, is_field});
      continue;
    }
    if (l.same_as(r)) continue;
    const auto looked_at = [&](const Expr& side) {
      const ParameterUse::Pause decides_nothing;
      return fixed_number(side);
    };
    const std::optional<double> a = looked_at(l);
    const std::optional<double> b = looked_at(r);
    if ((a && !std::isfinite(*a)) || (b && !std::isfinite(*b)))
      throw Error(fmt::format("a side of the equation {} is not a finite number", name),
                  place.location());
    if (a && b) {
      fixed_number(l - r);  // this does
      if (std::abs(*a - *b) <= 1e-9 * std::max({1.0, std::abs(*a), std::abs(*b)})) continue;
      throw Error(
          fmt::format("the equation {} contains parameters only and does not hold: {} and {}", name,
                      *a, *b),
          place.location());
    }
    Equation e(left.numbers.size() > 1 ? fmt::format("{} [{}]", name, i + 1) : name, l == r);
    e.where = place.location();
    sink.items->emplace_back(std::move(e));
    note_solved(l, r, sink);
    note_solved(r, l, sink);
  }
}

void Flattener::translate_if(const ConditionalEquation& e, const EquationClause& equation,
                             const Scope& scope, EquationSink& sink) {
  std::vector<Expr> conditions;
  std::vector<const Branch<EquationClause>*> open;
  const Branch<EquationClause>* last = nullptr;
  for (const auto& branch : e.branches) {
    if (branch.condition == nullptr) {
      last = &branch;
      break;
    }
    const Expr c = condition_of(*branch.condition, scope, "if");
    if (const std::optional<double> known = fixed_number(c)) {
      if (*known == 0.0) continue;
      last = &branch;
      break;
    }
    conditions.push_back(c);
    open.push_back(&branch);
  }
  if (open.empty()) {
    if (last != nullptr) translate(last->body, scope, sink);
    return;
  }
  if (only_connections_) refuse("connect() under a condition that changes", equation.place);
  open.push_back(last);
  IfEquation made;
  made.conditions = conditions;
  made.where = equation.place.location();
  std::vector<std::vector<DiscreteCandidate>> discrete(open.size());
  Expr none_before = sink.active;
  bool any = false;
  for (std::size_t k = 0; k < open.size(); ++k) {
    std::vector<EquationItem> items;
    EquationSink inner = sink;
    inner.items = &items;
    inner.discrete = &discrete[k];
    inner.conditional = true;
    inner.solved = nullptr;
    inner.active = k < conditions.size() ? none_before && conditions[k] : none_before;
    if (k < conditions.size()) none_before = none_before && !conditions[k];
    if (open[k] != nullptr) translate(open[k]->body, scope, inner);
    any = any || !items.empty();
    made.branches.push_back(std::move(items));
  }
  if (any) sink.items->emplace_back(std::move(made));
  join_discrete(conditions, discrete, equation.place, sink);
}

// Discrete equations of the branches: one for each variable, with a choice on the right.
void Flattener::join_discrete(const std::vector<Expr>& conditions,
                              const std::vector<std::vector<DiscreteCandidate>>& branches,
                              const Place& place, EquationSink& sink) {
  std::vector<Expr> targets;
  const auto target_of = [&](const DiscreteCandidate& c) {
    if (is_discrete_symbol(c.left)) return c.left;
    if (is_discrete_symbol(c.right)) return c.right;
    throw Error(
        "an equation between Booleans or Integers under a condition must give one variable "
        "a value: write it as x = ...",
        c.where);
  };
  for (const auto& branch : branches)
    for (const DiscreteCandidate& c : branch) {
      const Expr target = target_of(c);
      bool seen = false;
      for (const Expr& t : targets) seen = seen || t.same_as(target);
      if (!seen) targets.push_back(target);
    }
  for (const Expr& target : targets) {
    Expr value = pre_slot(target);
    for (std::size_t k = branches.size(); k-- > 0;)
      for (const DiscreteCandidate& c : branches[k]) {
        if (!target_of(c).same_as(target)) continue;
        const Expr given = is_discrete_symbol(c.left) ? c.right : c.left;
        value = k < conditions.size() ? select(conditions[k], given, value) : given;
      }
    sink.discrete->push_back({target, value, place.location(), to_string(target)});
  }
}

void Flattener::translate_call(const CallExpression& call, const Expression& expression,
                               const Scope& scope, EquationSink& sink) {
  const std::string name = call.function.text();
  const Place& place = expression.place;
  if (name == "assert") {
    add_assertion(call, expression, scope, sink.active);
  } else if (name == "terminate") {
    add_termination(call, place, scope, sink.active);
  } else if (name == "reinit") {
    throw Error("reinit() is only allowed inside 'when'", place.location());
  } else if (call.function.parts[0].name == "Connections" || name == "transition" ||
             name == "initialState") {
    return;  // collected with the connections or the state machines
  } else {
    call_as_statement(expression, call, scope, sink.active);
  }
}

void Flattener::add_termination(const CallExpression& call, const Place& place, const Scope& scope,
                                const Expr& active) {
  if (call.arguments.size() != 1 || !call.named.empty())
    throw Error("terminate() takes a message", place.location());
  flat_.terminations.push_back({active, message_text(*call.arguments[0], scope), place.location()});
}

void Flattener::check_assertion(const CallExpression& call, const Place& place) {
  const bool has_level = call.named.size() == 1 && call.named[0].name == "level";
  if (call.arguments.size() + call.named.size() > 3 || call.arguments.size() < 2 ||
      (!call.named.empty() && !has_level))
    throw Error("assert() needs a condition and a message, and may have a level", place.location());
}

void Flattener::add_assertion(const CallExpression& call, const Expression& expression,
                              const Scope& scope, const Expr& active) {
  check_assertion(call, expression.place);
  // What is compared makes no events, but where a comparison changes is located.
  located_ = ++no_event_ == 1 && in_when_ == 0 ? 1 : 0;
  const Value holds = evaluate(*call.arguments[0], scope);
  located_ = 0;
  --no_event_;
  if (holds.type != BasicType::kBoolean || !holds.is_scalar())
    throw Error("the condition of assert() is not a Boolean", expression.place.location());
  add_condition(!active || holds.number(), message_text(*call.arguments[1], scope),
                is_warning_level(call, scope), expression.place);
}

bool Flattener::is_warning_level(const CallExpression& assertion, const Scope& scope) {
  ExpressionPtr level = assertion.arguments.size() > 2 ? assertion.arguments[2] : nullptr;
  for (const NamedArgument& named : assertion.named)
    if (named.name == "level") level = named.value;
  return level != nullptr && constant_integer(*level, scope, "the level") == 1;
}

void Flattener::call_as_statement(const Expression& expression, const CallExpression& call,
                                  const Scope& scope, const Expr& active) {
  Frame caller;  // a function knows from it whether it is certain to be called
  caller.active = active;
  const Frame* const outer = std::exchange(frame_, &caller);
  failed_ = 0.0;
  const int in_message = in_message_++;
  try {
    call_results(expression, call, scope);
  } catch (...) {
    frame_ = outer;
    in_message_ = in_message;
    throw;
  }
  frame_ = outer;
  in_message_ = in_message;
  if (!failed_.is_number() || failed_.number() != 0.0)
    add_condition(!(active && failed_), failure_, false, expression.place);
}

void Flattener::add_condition(Expr condition, const std::string& message, bool is_warning,
                              const Place& place) {
  const SourceLocation where = place.location();
  if (in_when_ > 0 && !condition.is_number()) {
    // The clause acts only while the event is settled: what it found is kept for the check after.
    const Expr failed = hidden_discrete(
        fmt::format("$failed assertion {}", flat_.assertions.size() + 1), {.where = where});
    flat_.discrete_equations.push_back({failed, !condition || pre_slot(failed), where});
    condition = !failed;
  }
  if (const std::optional<double> known = fixed_number(condition)) {
    if (*known != 0.0) return;
    const std::string now = as_written(message);
    if (!is_warning) throw Error("assertion violated: " + now, where);
    flat_.warnings.push_back(
        fmt::format("{}:{}:{}: warning: {}", where.file, where.line, where.column, now));
    return;
  }
  flat_.assertions.push_back({condition, message, is_warning, where});
}

void Flattener::add_reinit(const CallExpression& call, const Expression& expression,
                           const Scope& scope, const Expr& active) {
  if (call.arguments.size() != 2)
    throw Error("reinit() takes a variable and its new value", expression.place.location());
  past_shadows_ = true;
  const Value variable = evaluate(*call.arguments[0], scope);
  past_shadows_ = false;
  in_reinit_ = true;
  const Value value = evaluate(*call.arguments[1], scope);
  in_reinit_ = false;
  if (variable.dimensions != value.dimensions)
    throw Error("reinit(): the variable and its value differ in shape",
                expression.place.location());
  for (std::size_t i = 0; i < variable.numbers.size(); ++i) {
    if (!variable.numbers[i].is_variable())
      throw Error(fmt::format("reinit() of '{}', which is not a continuous variable",
                              to_text(*call.arguments[0])),
                  expression.place.location());
    flat_.reinits.push_back(
        {active, variable.numbers[i], value.numbers[i], expression.place.location()});
  }
}

}  // namespace saltus
