// Algorithm sections of models: run once with symbols; what comes out is one equation for each
// variable assigned.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "expr/differentiate.h"
#include "modelica/flattener.h"
#include "modelica/operators.h"
#include "modelica/statements.h"

namespace saltus {
namespace {

void collect_targets(const std::vector<Statement>& statements,
                     std::vector<const ComponentReference*>& out) {
  for (const Statement& s : statements) {
    if (const auto* a = s.as<AssignStatement>()) out.push_back(&a->target);
    if (const auto* m = s.as<MultipleAssignStatement>())
      for (const ExpressionPtr& t : m->targets)
        if (t != nullptr) out.push_back(t->as<ComponentReference>());
    if (const auto* i = s.as<IfStatement>())
      for (const auto& b : i->branches) collect_targets(b.body, out);
    if (const auto* f = s.as<ForStatement>()) collect_targets(f->body, out);
    if (const auto* w = s.as<WhileStatement>()) collect_targets(w->body, out);
    if (const auto* w = s.as<WhenStatement>())
      for (const auto& b : w->branches) collect_targets(b.body, out);
  }
}

// Calls visit(before, after, declared) for each number of a value and its parts.
template <class Visit>
void for_each_number(const Value& declared, const Value& before, const Value& after,
                     Visit&& visit) {
  for (std::size_t i = 0; i < declared.numbers.size() && i < after.numbers.size(); ++i)
    visit(declared.numbers[i], before.numbers[i], after.numbers[i], declared.count() > 1);
  for (std::size_t r = 0; r < declared.records.size() && r < after.records.size(); ++r)
    for (std::size_t f = 0; f < declared.records[r].fields.size(); ++f)
      for_each_number(declared.records[r].fields[f].second, before.records[r].fields[f].second,
                      after.records[r].fields[f].second, visit);
}

}  // namespace

void Flattener::flatten_algorithm(const std::vector<Statement>& statements, const Scope& scope,
                                  EquationSink& sink) {
  if (statements.empty()) return;
  const bool initial = sink.initial;
  std::vector<const ComponentReference*> targets;
  collect_targets(statements, targets);
  Frame frame;
  frame.scope = {scope.instance, scope.lexical, &frame.locals};
  frame.active = sink.active;
  std::vector<Value> declared;
  std::vector<std::string> names;
  // A variable starts with the value it had: pre(x), or for continuous ones the start value, which
  // is put in at the end so that what was never assigned can be told apart.
  const std::function<void(Value&)> to_before = [&](Value& value) {
    for (Expr& e : value.numbers) {
      const auto slot = pre_slots_.find(e.node());
      if (slot != pre_slots_.end() && e.node() != nullptr) e = slot->second;
    }
    for (std::string& text : value.strings) text = text_before(text, statements.front().place);
    for (Record& r : value.records)
      for (auto& entry : r.fields) to_before(entry.second);
  };
  // What is assigned as a whole is given by this algorithm whatever happens in it, so its start
  // value can stand for it from the beginning.
  std::unordered_set<std::string> whole;
  for (const ComponentReference* target : targets)
    if (target->parts.size() == 1 && target->parts[0].subscripts.empty())
      whole.insert(target->parts[0].name);
  const std::function<void(Value&)> to_start = [&](Value& value) {
    for (Expr& e : value.numbers)
      if (e.is_variable()) e = flat_.system.variable(e.node()->variable()).start;
    for (Record& r : value.records)
      for (auto& entry : r.fields) to_start(entry.second);
  };
  for (const ComponentReference* target : targets) {
    const std::string& name = target->parts.front().name;
    if (frame.locals.find(name) != nullptr) continue;
    const Found found = lookup(name, scope);
    if (found.instance == nullptr)
      tree_.unknown_name(name, target->text(), scope, target->parts[0].place);
    if (found.instance->component != nullptr && found.instance->component->condition != nullptr)
      throw Error(fmt::format("'{}' has a condition and can only be connected, not be assigned to",
                              found.instance->path),
                  target->parts[0].place.location());
    Value value = instance_value(*found.instance);
    names.push_back(found.instance->path);
    declared.push_back(value);
    to_before(value);
    if (whole.contains(name)) to_start(value);
    frame.locals.values.emplace_back(name, std::move(value));
  }
  frame.locals.shadows = frame.locals.values.size();
  std::vector<NamedValue> before = frame.locals.values;
  execute(statements, frame);
  const Place& place = statements.front().place;
  for (std::size_t k = 0; k < declared.size(); ++k)
    for (Value* value : {&declared[k], &before[k].second, &frame.locals.values[k].second})
      *value = with_text_numbers(std::move(*value), place);
  // Parts that were read before they were assigned had their start values.
  std::vector<Expr> unset;
  std::vector<Expr> starts;
  for (std::size_t k = 0; k < declared.size(); ++k)
    for_each_number(declared[k], before[k].second, frame.locals.values[k].second,
                    [&](const Expr& symbol, const Expr& was, const Expr& now, bool) {
                      if (!symbol.is_variable() || !was.same_as(symbol) || now.same_as(was)) return;
                      unset.push_back(symbol);
                      starts.push_back(flat_.system.variable(symbol.node()->variable()).start);
                    });
  for (std::size_t k = 0; k < declared.size(); ++k)
    for_each_number(
        declared[k], before[k].second, frame.locals.values[k].second,
        [&](const Expr& symbol, const Expr& was, Expr now, bool in_array) {
          // Elements of an array that no statement reaches belong to other equations.
          const bool is_start = symbol.is_variable() && !was.same_as(symbol);
          if (now.same_as(was) && !is_start && (in_array || !is_discrete_symbol(symbol))) return;
          if (is_discrete_symbol(symbol)) {
            if (initial) {
              flat_.initial_discrete.push_back({symbol, now, place.location()});
              return;
            }
            // Nothing but time and variables, no event: it would stand still.
            const DiscreteVariable& variable = flat_.discretes[discrete_numbers_.at(symbol.node())];
            if (variable.type != DiscreteType::kReal && varies_continuously(now) &&
                std::ranges::none_of(leaves_of(now), &Expr::is_slot))
              throw Error(fmt::format("'{}' changes at events only, but is given what changes at "
                                      "any time: a function or noEvent() makes no events",
                                      variable.name),
                          place.location());
            if (!when_assigned_.insert(symbol.node()).second)
              throw Error(fmt::format("'{}' is assigned in more than one algorithm or when",
                                      to_string(symbol)),
                          place.location());
            flat_.discrete_equations.push_back(
                {symbol, select(sink.active, now, pre_slot(symbol)), place.location()});
            return;
          }
          if (!symbol.is_variable())
            throw Error(fmt::format("'{}' is assigned although it is a parameter", names[k]),
                        place.location());
          now = substitute(now, unset, starts);
          Equation e(
              fmt::format("algorithm of {}: {}",
                          scope.instance->path.empty() ? flat_.system.name() : scope.instance->path,
                          to_string(symbol)),
              symbol == now);
          e.where = place.location();
          sink.items->emplace_back(std::move(e));
        });
}

}  // namespace saltus
