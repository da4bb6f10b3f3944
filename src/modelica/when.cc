// when-equations: what holds at the instants a condition becomes true.

#include <fmt/format.h>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {
namespace {

bool calls_initial(const Expression& condition) {
  const auto* call = condition.as<CallExpression>();
  return call != nullptr && call->function.text() == "initial";
}

// To evaluate it leaves nothing behind but a clock.
bool may_be_clock(const Expression& condition) {
  const auto* call = condition.as<CallExpression>();
  if (call == nullptr) return condition.as<ComponentReference>() != nullptr;
  for (const char* name : {"Clock", "subSample", "superSample", "shiftSample", "backSample"})
    if (call->function.text() == name) return true;
  return false;
}

}  // namespace

struct Flattener::WhenBody {
  struct Given {
    Expr target;
    Expr value;
  };
  std::vector<Given> given;
  Expr fires;

  Expr* find(const Expr& target) {
    for (Given& g : given)
      if (g.target.same_as(target)) return &g.value;
    return nullptr;
  }
};

// True in the rounds in which the condition has just become true. Clauses do not act while the
// initial problem is solved unless their condition is initial() or a list that holds it.
Expr Flattener::when_condition(const Expression& condition, const Scope& scope) {
  if (const auto* list = condition.as<ArrayConstructor>()) {
    Expr any = 0.0;
    for (const ExpressionPtr& e : list->elements) any = any || when_condition(*e, scope);
    return any;
  }
  const Value value = evaluate(condition, scope);
  if (value.type != BasicType::kBoolean)
    throw Error("the condition after 'when' is not a Boolean", condition.place.location());
  Expr any = 0.0;
  for (const Expr& c : value.numbers) {
    if (c.is_number()) continue;
    const Expr initial = flat_.initial();
    if (c.same_as(initial)) {
      if (calls_initial(condition)) any = any || c;
      continue;
    }
    const auto cached = edges_.find(c.node());
    Expr fires;
    if (cached != edges_.end()) {
      fires = cached->second;
    } else {
      const auto slot = pre_slots_.find(c.node());
      fires = slot != pre_slots_.end() ? c && !slot->second : flat_.edge(c);
      edges_[c.node()] = fires = fires && !initial;
    }
    any = any || fires;
  }
  return any;
}

void Flattener::translate_when(const WhenEquation& e, const EquationClause& equation,
                               const Scope& scope, EquationSink& sink) {
  const Expression& first = *e.branches.front().condition;
  if (may_be_clock(first)) {
    const Value clock = evaluate(first, scope);
    if (clock.type == BasicType::kClock && clock.is_scalar()) {
      if (e.branches.size() > 1)
        throw Error("a 'when' with a clock has no 'elsewhen'", equation.place.location());
      translate_clocked_when(clock.number(), e.branches.front().body, scope, sink);
      return;
    }
  }
  std::vector<WhenBody> bodies;
  Expr none_before = sink.active;
  std::vector<Expr> targets;
  for (const auto& branch : e.branches) {
    WhenBody body;
    const Expr fires = when_condition(*branch.condition, scope);
    body.fires = none_before && fires;
    none_before = none_before && !fires;
    ++in_when_;
    translate_when_body(branch.body, scope, body);
    --in_when_;
    for (const auto& g : body.given) {
      bool seen = false;
      for (const Expr& t : targets) seen = seen || t.same_as(g.target);
      if (!seen) targets.push_back(g.target);
    }
    bodies.push_back(std::move(body));
  }
  for (const Expr& target : targets) {
    Expr value = pre_slot(target);
    for (std::size_t k = bodies.size(); k-- > 0;)
      if (const Expr* given = bodies[k].find(target))
        value = select(bodies[k].fires, *given, value);
    if (!when_assigned_.insert(target.node()).second)
      throw Error(fmt::format("'{}' is given a value by more than one 'when'; use 'elsewhen'",
                              to_string(target)),
                  equation.place.location());
    flat_.discrete_equations.push_back({target, value, equation.place.location()});
  }
}

void Flattener::translate_when_body(const std::vector<EquationClause>& equations,
                                    const Scope& scope, WhenBody& body) {
  for (const EquationClause& equation : equations) {
    const Place& place = equation.place;
    const auto give = [&](const Value& left, const Value& right) {
      if (left.dimensions != right.dimensions)
        throw Error(fmt::format("the two sides of the equation differ in shape: {} and {}",
                                to_text(left.dimensions), to_text(right.dimensions)),
                    place.location());
      common_type(left, right, place);
      for (std::size_t i = 0; i < left.strings.size(); ++i) {
        const Expr number = number_of_text(left.strings[i], place);
        if (!is_discrete_symbol(number))
          throw Error("the left side of an equation inside 'when' must be a variable",
                      place.location());
        body.given.push_back({number, number_of_text(right.strings[i], place)});
      }
      for (std::size_t i = 0; i < left.numbers.size(); ++i) {
        if (!is_discrete_symbol(left.numbers[i]))
          throw Error("the left side of an equation inside 'when' must be a variable",
                      place.location());
        body.given.push_back({left.numbers[i], right.numbers[i]});
      }
    };
    if (const auto* s = equation.as<SimpleEquation>()) {
      if (const auto* tuple = s->left->as<TupleExpression>()) {
        const auto* c = s->right->as<CallExpression>();
        if (c == nullptr) throw Error("several results need a function call", place.location());
        const std::vector<Value> results = call_results(*s->right, *c, scope);
        for (std::size_t k = 0; k < tuple->elements.size() && k < results.size(); ++k)
          if (tuple->elements[k] != nullptr) give(evaluate(*tuple->elements[k], scope), results[k]);
      } else {
        give(evaluate(*s->left, scope), evaluate(*s->right, scope));
      }
    } else if (const auto* f = equation.as<ForEquation>()) {
      for_each_iteration(*f, scope,
                         [&](const Scope& inner) { translate_when_body(f->body, inner, body); });
    } else if (const auto* i = equation.as<ConditionalEquation>()) {
      Expr none_before = 1.0;
      std::vector<std::pair<Expr, WhenBody>> parts;
      for (const auto& branch : i->branches) {
        const Expr c =
            branch.condition == nullptr ? Expr(1.0) : condition_of(*branch.condition, scope, "if");
        WhenBody inner;
        inner.fires = body.fires && none_before && c;
        none_before = none_before && !c;
        translate_when_body(branch.body, scope, inner);
        parts.emplace_back(c, std::move(inner));
      }
      std::vector<Expr> targets;
      for (auto& part : parts)
        for (auto& g : part.second.given) {
          bool seen = false;
          for (const Expr& t : targets) seen = seen || t.same_as(g.target);
          if (!seen) targets.push_back(g.target);
        }
      for (const Expr& target : targets) {
        Expr value = pre_slot(target);
        for (std::size_t k = parts.size(); k-- > 0;)
          if (const Expr* given = parts[k].second.find(target))
            value = select(parts[k].first, *given, value);
        body.given.push_back({target, value});
      }
    } else if (const auto* c = equation.as<CallEquation>()) {
      const auto& call = *c->call->as<CallExpression>();
      const std::string name = call.function.text();
      if (name == "reinit") {
        add_reinit(call, *c->call, scope, body.fires);
      } else if (name == "terminate") {
        add_termination(call, place, scope, body.fires);
      } else if (name == "assert") {
        add_assertion(call, *c->call, scope, body.fires);
      } else {
        call_as_statement(*c->call, call, scope, body.fires);
      }
    } else {
      throw Error("this is not allowed inside 'when'", place.location());
    }
  }
}

void Flattener::mark_target(const ComponentReference& target, const Scope& scope) {
  // Subscripts may depend on iterators that are not known here: all elements are marked.
  ComponentReference plain = target;
  for (auto& part : plain.parts) part.subscripts.clear();
  if (plain.parts.size() > 1) {
    Instance* first = lookup(plain.parts[0].name, scope).instance;
    if (first != nullptr) resolve(*first);
    const ClassKind kind = first != nullptr && first->target == nullptr ? first->definition().kind
                                                                        : ClassKind::kRecord;
    if (kind == ClassKind::kModel || kind == ClassKind::kBlock)
      throw Error(fmt::format("'{}' is a variable of component '{}' and cannot be assigned in a "
                              "'when' outside of it",
                              target.text(), first->path),
                  plain.parts[0].place.location());
  }
  const InstanceRange range = instances_of(plain, scope);
  const std::function<void(Instance&)> mark = [&](Instance& instance) {
    if (!is_active(instance)) return;
    resolve(instance);
    if (instance.target != nullptr) return;
    instance.assigned_in_when = true;
    if (instance.is_leaf()) return;
    expand(instance);
    for (const auto& c : instance.children) mark(*c);
  };
  for (const InstancePart& part : range.parts) mark(*part.instance);
}

void Flattener::mark_when_targets(Instance& instance) {
  for (const ClassInfo::Base& base : instance.type.info->bases) {
    const Scope scope{&instance, base.definition, nullptr};
    mark_when_targets(base.definition->equations, scope, false);
    for (const auto& section : base.definition->algorithms)
      mark_when_targets(section, scope, false);
  }
}

void Flattener::mark_when_targets(const std::vector<EquationClause>& equations, const Scope& scope,
                                  bool in_when) {
  for (const EquationClause& equation : equations) {
    if (const auto* w = equation.as<WhenEquation>())
      for (const auto& b : w->branches) mark_when_targets(b.body, scope, true);
    if (const auto* i = equation.as<ConditionalEquation>())
      for (const auto& b : i->branches) mark_when_targets(b.body, scope, in_when);
    if (const auto* f = equation.as<ForEquation>()) mark_when_targets(f->body, scope, in_when);
    if (const auto* s = equation.as<SimpleEquation>(); s != nullptr && in_when) {
      if (const auto* r = s->left->as<ComponentReference>()) mark_target(*r, scope);
      if (const auto* tuple = s->left->as<TupleExpression>())
        for (const ExpressionPtr& e : tuple->elements)
          if (e != nullptr && e->as<ComponentReference>() != nullptr)
            mark_target(*e->as<ComponentReference>(), scope);
    }
  }
}

void Flattener::mark_when_targets(const std::vector<Statement>& statements, const Scope& scope,
                                  bool in_when) {
  for (const Statement& s : statements) {
    if (const auto* w = s.as<WhenStatement>())
      for (const auto& b : w->branches) mark_when_targets(b.body, scope, true);
    if (const auto* i = s.as<IfStatement>())
      for (const auto& b : i->branches) mark_when_targets(b.body, scope, in_when);
    if (const auto* f = s.as<ForStatement>()) mark_when_targets(f->body, scope, in_when);
    if (const auto* w = s.as<WhileStatement>()) mark_when_targets(w->body, scope, in_when);
    if (!in_when) continue;
    if (const auto* a = s.as<AssignStatement>()) mark_target(a->target, scope);
    if (const auto* m = s.as<MultipleAssignStatement>())
      for (const ExpressionPtr& t : m->targets)
        if (t != nullptr) mark_target(*t->as<ComponentReference>(), scope);
  }
}

}  // namespace saltus
