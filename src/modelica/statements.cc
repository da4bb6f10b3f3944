// Algorithms, run with symbols instead of numbers.
//
// A condition that is not known either splits the run in two whose results are joined by select()
// (explore), or, where it only decides the values of Real and Boolean variables, both branches are
// run and the variables joined (execute_merged). Loops need splitting: the number of rounds is part
// of the path.

#include "modelica/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/flattener.h"
#include "modelica/traced.h"

namespace saltus {
namespace {

constexpr int kMaxPaths = 64;
constexpr std::size_t kMostWorkOnWays = 5'000;  // statements
constexpr int kMaxRounds = 100'000;
constexpr int kMaxTracedRounds = 10'000;  // they are run again at every step

bool is_zero(const Expr& e) { return e.is_number() && e.number() == 0.0; }

// Branches that only assign; both can be run and joined.
bool only_assigns(const std::vector<Statement>& statements) {
  for (const Statement& s : statements) {
    if (s.as<AssignStatement>() != nullptr || s.as<MultipleAssignStatement>() != nullptr ||
        s.as<CallStatement>() != nullptr)
      continue;
    const auto* nested = s.as<IfStatement>();
    if (nested == nullptr) return false;
    for (const auto& branch : nested->branches)
      if (!only_assigns(branch.body)) return false;
  }
  return true;
}

// Integers decide array elements and rounds of loops: joined, they would no longer be numbers.
bool can_join(const Value& a, const Value& b) {
  if (a.dimensions != b.dimensions) return false;
  if (a.type == BasicType::kReal || b.type == BasicType::kReal || a.type == BasicType::kBoolean)
    return true;
  if (is_number_like(a.type)) {
    for (std::size_t i = 0; i < a.numbers.size(); ++i)
      if (!a.numbers[i].same_as(b.numbers[i])) return false;
    return true;
  }
  if (a.type == BasicType::kString) return a.strings == b.strings;
  if (a.type != BasicType::kRecord || a.records.size() != b.records.size()) return true;
  for (std::size_t r = 0; r < a.records.size(); ++r)
    for (std::size_t f = 0; f < a.records[r].fields.size(); ++f)
      if (!can_join(a.records[r].fields[f].second, b.records[r].fields[f].second)) return false;
  return true;
}

bool is_nan(const Expr& e) { return e.is_number() && std::isnan(e.number()); }

// A variable of a function that nothing was assigned to is no number.
bool lacks_value(const Value& value) {
  if (std::any_of(value.numbers.begin(), value.numbers.end(), is_nan)) return true;
  // Of a record some fields may be left open: what reads them is no number either.
  for (const Record& record : value.records)
    if (!record.fields.empty() && std::ranges::all_of(record.fields, [](const NamedValue& field) {
          return lacks_value(field.second);
        }))
      return true;
  return false;
}

}  // namespace

void spoil(const Expr& where, Value& value) {
  if (is_number_like(value.type))
    for (Expr& number : value.numbers)
      number = select(where, Expr(std::numeric_limits<double>::quiet_NaN()), number);
  for (Record& record : value.records)
    for (NamedValue& field : record.fields) spoil(where, field.second);
}

TooManyWays::TooManyWays(const ClassDefinition& function, const Place& place)
    : Error(fmt::format("function '{}' has too many ways to run for arguments that vary; its loops "
                        "or branches depend on them",
                        function.qualified_name()),
            place.location()) {}

Expr join_numbers(const Expr& condition, const Expr& a, const Expr& b) {
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return select(condition, a, b);
}

std::vector<Value> Flattener::run_function(Instance& function,
                                           const std::vector<NamedValue>& arguments,
                                           const Place& place) {
  const ClassInfo& in = *function.type.info;
  int leaves = 0;
  std::vector<Value> results = explore(function, arguments, {}, place, leaves);
  std::size_t next = 0;
  for (const ClassInfo::Element& element : in.elements)
    if (causality_in(function, element) == Causality::kOutput && lacks_value(results.at(next++)))
      throw Error(fmt::format("{}() does not give its output '{}' a value", in.definition->name,
                              element.component->name),
                  element.component->place.location());
  return results;
}

std::vector<Value> Flattener::explore(Instance& function, const std::vector<NamedValue>& arguments,
                                      const std::vector<bool>& prefix, const Place& place,
                                      int& leaves) {
  const ClassInfo& in = *function.type.info;
  if (++leaves > kMaxPaths) throw TooManyWays(*in.definition, place);
  Frame frame;
  frame.scope = {&function, in.definition, &frame.locals};
  frame.prefix = &prefix;
  frame.caller = frame_;
  for (const ClassInfo::Element& element : in.elements) {
    const Component& component = *element.component;
    const auto given = std::find_if(arguments.begin(), arguments.end(),
                                    [&](const auto& a) { return a.first == component.name; });
    if (given != arguments.end()) {
      frame.locals.values.push_back(*given);
      continue;
    }
    Value value = declared_value(function, element, frame.locals, place);
    frame.locals.values.emplace_back(component.name, std::move(value));
  }
  for (const ClassInfo::Base& base : in.bases)
    for (const auto& section : base.definition->algorithms) {
      frame.scope.lexical = base.definition;
      if (execute(section, frame) == Flow::kReturn) break;
    }
  std::vector<Value> results;
  for (const ClassInfo::Element& element : in.elements)
    if (causality_in(function, element) == Causality::kOutput)
      results.push_back(*frame.locals.find(element.component->name));
  Expr failed = frame.failed;
  std::string failure = frame.failure;
  if (!is_zero(failed))
    for (Value& result : results) spoil(failed, result);
  for (std::size_t k = frame.taken.size(); k-- > prefix.size();) {
    std::vector<bool> other(frame.taken.begin(),
                            frame.taken.begin() + static_cast<std::ptrdiff_t>(k));
    other.push_back(false);
    const std::vector<Value> alternative = explore(function, arguments, other, place, leaves);
    for (std::size_t r = 0; r < results.size(); ++r) {
      if (results[r].dimensions != alternative[r].dimensions)
        refuse(fmt::format("function '{}', whose result changes its size", in.definition->name),
               place);
      results[r] = join_values(frame.conditions[k], results[r], alternative[r], place);
    }
    failed = select(frame.conditions[k], failed, failed_);
    if (failure.empty()) failure = failure_;
  }
  failed_ = failed;
  failure_ = std::move(failure);
  return results;
}

bool Flattener::decide(const Expr& condition, Frame& frame, const Place& place) {
  if (condition.is_number()) return condition.number() != 0.0;
  if (trace_ != nullptr) {
    const double value = trace_->at_point(condition);
    trace_->note(condition, value);
    return value != 0.0;
  }
  if (frame.prefix == nullptr) {
    const std::optional<double> known = fixed_number(condition);
    if (known) return *known != 0.0;
    throw Error("this condition must be known when the model is translated", place.location());
  }
  const std::size_t k = frame.taken.size();
  // Each decision is a way of its own, so a loop that goes on for the first choice need not be run
  // to its end.
  if (k >= kMaxPaths) throw TooManyWays(frame.scope.instance->definition(), place);
  const bool decision = k < frame.prefix->size() ? (*frame.prefix)[k] : true;
  frame.taken.push_back(decision);
  frame.conditions.push_back(condition);
  return decision;
}

Flattener::Flow Flattener::execute(const std::vector<Statement>& statements, Frame& frame) {
  for (const Statement& s : statements) {
    const Flow flow = execute(s, frame);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Flattener::Flow Flattener::execute(const Statement& s, Frame& frame) {
  struct Restore {
    const Frame*& at;
    const Frame* value;
    ~Restore() { at = value; }
  } const restore{frame_, std::exchange(frame_, &frame)};
  const Place& place = s.place;
  if (trace_ == nullptr && frame.is_on_a_way() && ++work_on_ways_ > kMostWorkOnWays)
    throw TooManyWays(frame.scope.instance->definition(), place);
  if (const auto* a = s.as<AssignStatement>()) {
    assign(a->target, evaluate(*a->value, frame.scope), frame, place);
  } else if (const auto* m = s.as<MultipleAssignStatement>()) {
    const auto* c = m->call->as<CallExpression>();
    const std::vector<Value> results = call_results(*m->call, *c, frame.scope);
    if (m->targets.size() > results.size())
      throw Error(fmt::format("{}() has {} results, not {}", c->function.text(), results.size(),
                              m->targets.size()),
                  place.location());
    for (std::size_t k = 0; k < m->targets.size(); ++k)
      if (m->targets[k] != nullptr)
        assign(*m->targets[k]->as<ComponentReference>(), results[k], frame, place);
  } else if (const auto* c = s.as<CallStatement>()) {
    execute_call(*c->call, frame);
  } else if (const auto* i = s.as<IfStatement>()) {
    return execute_if(*i, frame, place);
  } else if (const auto* f = s.as<ForStatement>()) {
    return execute_for(f->iterators, 0, f->body, frame);
  } else if (const auto* w = s.as<WhileStatement>()) {
    return execute_while(*w, frame, place);
  } else if (const auto* when = s.as<WhenStatement>()) {
    return execute_when(*when, frame, place);
  } else if (s.as<BreakStatement>() != nullptr) {
    return Flow::kBreak;
  } else {
    return Flow::kReturn;
  }
  return Flow::kNext;
}

void Flattener::execute_call(const Expression& expression, Frame& frame) {
  const auto* c = expression.as<CallExpression>();
  const std::string name = c->function.text();
  if (name == "assert") {
    if (frame.prefix == nullptr) {
      add_assertion(*c, expression, frame.scope, frame.active);
      return;
    }
    check_in_function(*c, expression, frame);
    return;
  }
  if (frame.prefix == nullptr && name == "terminate") {
    add_termination(*c, expression.place, frame.scope, frame.active);
    return;
  }
  if (frame.prefix == nullptr && name == "reinit") {
    add_reinit(*c, expression, frame.scope, frame.active);
    return;
  }
  if (frame.prefix == nullptr) {
    call_as_statement(expression, *c, frame.scope, frame.active);
    return;
  }
  failed_ = 0.0;
  // What a function says, as Streams.error() does, may tell values that vary.
  ++in_message_;
  try {
    call_results(expression, *c, frame.scope);
  } catch (...) {
    --in_message_;
    throw;
  }
  --in_message_;
  note_failure(frame, failed_, failure_);
}

void Flattener::note_failure(Frame& frame, const Expr& where, const std::string& message) {
  const Expr fails = frame.active && where;
  if (is_zero(fails)) return;
  if (is_zero(frame.failed)) frame.failure = message;
  frame.failed = frame.failed || fails;
}

// An assertion in a function. Which arguments it fails for is known only during the run; the
// results are no numbers then, so that the step is not taken. On a way that only some arguments
// take, a condition that is false says nothing about the model.
void Flattener::check_in_function(const CallExpression& call, const Expression& expression,
                                  Frame& frame) {
  check_assertion(call, expression.place);
  const Value holds = evaluate(*call.arguments[0], frame.scope);
  if (holds.type != BasicType::kBoolean || !holds.is_scalar())
    throw Error("the condition of assert() is not a Boolean", expression.place.location());
  const Expr condition = holds.number();
  if (condition.is_number() && condition.number() != 0.0) return;
  const bool is_certain = condition.is_number() && frame.is_certain();
  if (is_warning_level(call, frame.scope)) {
    if (is_certain)
      flat_.warnings.push_back(as_written(message_text(*call.arguments[1], frame.scope)));
    return;
  }
  if (trace_ != nullptr && !condition.is_number() && decide(condition, frame, expression.place))
    return;
  if (is_certain || trace_ != nullptr)
    throw Error("assertion violated: " + as_written(message_text(*call.arguments[1], frame.scope)),
                expression.place.location());
  std::string message;
  try {
    message = message_text(*call.arguments[1], frame.scope);
  } catch (const Error&) {  // a text that depends on arguments
    message = "an assertion of a function fails";
  }
  note_failure(frame, !condition, message);
}

Flattener::Flow Flattener::execute_if(const IfStatement& s, Frame& frame, const Place& place) {
  for (std::size_t k = 0; k < s.branches.size(); ++k) {
    const auto& branch = s.branches[k];
    if (branch.condition == nullptr) return execute(branch.body, frame);
    const Expr condition = condition_of(*branch.condition, frame.scope, "if");
    if (!condition.is_number()) {
      const std::optional<double> known = in_function_ > 0 ? std::nullopt : fixed_number(condition);
      if (known && *known != 0.0) return execute(branch.body, frame);
      if (known) continue;
      // A choice whose branches could not be joined will not be the next time either.
      bool simple = trace_ == nullptr || !trace_->apart->contains(&s);
      for (std::size_t b = k; b < s.branches.size(); ++b)
        simple = simple && only_assigns(s.branches[b].body);
      if (simple || frame.prefix == nullptr) {
        Frame::Snapshot before = frame.snapshot();
        const Expr active = frame.active;
        try {
          if (execute_merged(s.branches, k, frame) == Flow::kNext) return Flow::kNext;
        } catch (const Error&) {
          // Run with numbers, a branch that fails is not the one taken, or fails again below.
          if (trace_ == nullptr) throw;
          frame.active = active;
        }
        if (trace_ != nullptr) trace_->apart->insert(&s);
        if (frame.prefix == nullptr)
          refuse("an 'if' in an algorithm that changes Integers or sizes by a varying condition",
                 place);
        frame.restore(std::move(before));
      }
    }
    if (decide(condition, frame, place)) return execute(branch.body, frame);
  }
  return Flow::kNext;
}

// kNext: joined; kBreak: the variables cannot be joined.
Flattener::Flow Flattener::execute_merged(const std::vector<Branch<Statement>>& branches,
                                          std::size_t first, Frame& frame) {
  if (first >= branches.size()) return Flow::kNext;
  const auto& branch = branches[first];
  // In a model, what follows a `break` that may have happened keeps its value where it has.
  const auto run = [&] {
    const Flow flow = execute(branch.body, frame);
    if (flow != Flow::kBreak || frame.prefix != nullptr) return flow;
    frame.broken = frame.broken || frame.active;
    return Flow::kNext;
  };
  if (branch.condition == nullptr) return run() == Flow::kNext ? Flow::kNext : Flow::kBreak;
  const Expr c = condition_of(*branch.condition, frame.scope, "if");
  if (c.is_number()) {
    if (c.number() != 0.0) return run() == Flow::kNext ? Flow::kNext : Flow::kBreak;
    return execute_merged(branches, first + 1, frame);
  }
  const Expr active = frame.active;
  const std::size_t decided = frame.taken.size();
  Frame::Snapshot before = frame.snapshot();
  frame.active = active && c;
  Flow flow = run();
  frame.active = active;
  if (flow != Flow::kNext || frame.taken.size() != decided) return Flow::kBreak;
  Frame::Snapshot then = frame.snapshot();
  frame.restore(std::move(before));
  frame.active = active && !c;
  flow = execute_merged(branches, first + 1, frame);
  frame.active = active;
  if (flow != Flow::kNext || frame.taken.size() != decided) return Flow::kBreak;
  for (std::size_t v = 0; v < frame.locals.values.size(); ++v) {
    Value& now = frame.locals.values[v].second;
    const Value& other = then.values[v].second;
    if (frame.prefix != nullptr && !can_join(other, now)) return Flow::kBreak;
    if (other.dimensions != now.dimensions) return Flow::kBreak;
    now = join_values(c, other, now, branch.condition->place);
  }
  return Flow::kNext;
}

Flattener::Flow Flattener::execute_for(const std::vector<Iterator>& iterators, std::size_t k,
                                       const std::vector<Statement>& body, Frame& frame) {
  if (k == iterators.size()) return execute(body, frame);
  struct Restore {
    Expr& at;
    Expr value;
    ~Restore() { at = value; }
  } const restore{frame.broken, frame.broken};
  for (Value& value : iteration_values(iterators[k], frame.scope, {.statements = &body})) {
    frame.locals.values.emplace_back(iterators[k].name, std::move(value));
    const Flow flow = execute_for(iterators, k + 1, body, frame);
    frame.locals.values.pop_back();
    if (flow == Flow::kReturn) return flow;
    if (flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

namespace {
constexpr int kMostOpenRounds = 64;
}

Flattener::Flow Flattener::execute_while(const WhileStatement& s, Frame& frame,
                                         const Place& place) {
  for (int round = 0;; ++round) {
    if (round > (trace_ == nullptr ? kMaxRounds : kMaxTracedRounds))
      throw Error("this loop does not end", place.location());
    const Expr condition = condition_of(*s.condition, frame.scope, "while");
    const bool is_open = frame.prefix == nullptr && trace_ == nullptr && !fixed_number(condition);
    if (is_open) break;
    if (!decide(condition, frame, place)) return Flow::kNext;
    const Flow flow = execute(s.body, frame);
    if (flow == Flow::kReturn) return flow;
    if (flow == Flow::kBreak) return Flow::kNext;
  }
  // In a model, how often it runs depends on variables: each round acts where it is reached. No
  // expression in such a loop makes events (section 11.2.3).
  struct Restore {
    Flattener& flattener;
    Frame& frame;
    Expr active;
    Expr broken;
    ~Restore() {
      --flattener.no_event_;
      frame.active = active;
      frame.broken = broken;
    }
  } const restore{*this, frame, frame.active, frame.broken};
  ++no_event_;
  Expr running = condition_of(*s.condition, frame.scope, "while");
  for (int round = 1; !is_zero(running); ++round) {
    if (round > kMostOpenRounds) {
      add_condition(!(restore.active && running),
                    fmt::format("a 'while' whose condition depends on variables takes more than {} "
                                "rounds: not supported",
                                kMostOpenRounds),
                    false, place);
      break;
    }
    const Frame::Snapshot before = frame.snapshot();
    frame.active = restore.active && running;
    const Flow flow = execute(s.body, frame);
    for (std::size_t v = 0; v < frame.locals.values.size(); ++v)
      frame.locals.values[v].second =
          join_values(running, frame.locals.values[v].second, before.values[v].second, place);
    if (flow != Flow::kNext) break;
    frame.active = restore.active;
    running = running && !frame.broken && condition_of(*s.condition, frame.scope, "while");
  }
  return Flow::kNext;
}

Flattener::Flow Flattener::execute_when(const WhenStatement& s, Frame& frame, const Place& place) {
  if (frame.prefix != nullptr) throw Error("'when' inside a function", place.location());
  // elsewhen: only if none before is active at this instant.
  Expr none_before = 1.0;
  const Expr outer = frame.active;
  for (const auto& branch : s.branches) {
    const Expr fires = outer && none_before && when_condition(*branch.condition, frame.scope);
    none_before = none_before && !fires;
    Frame::Snapshot before = frame.snapshot();
    frame.active = fires;
    ++in_when_;
    const Flow flow = execute(branch.body, frame);
    --in_when_;
    frame.active = outer;
    if (flow != Flow::kNext) refuse("break or return inside 'when'", place);
    for (std::size_t v = 0; v < frame.locals.values.size(); ++v)
      frame.locals.values[v].second =
          join_values(fires, frame.locals.values[v].second, before.values[v].second, place);
  }
  return Flow::kNext;
}

void Flattener::assign(const ComponentReference& target, const Value& value, Frame& frame,
                       const Place& place) {
  Value* at = nullptr;
  for (auto it = frame.locals.values.rbegin(); it != frame.locals.values.rend() && !at; ++it)
    if (it->first == target.parts.front().name) at = &it->second;
  if (at == nullptr) {
    std::vector<std::string> names;
    for (const auto& entry : frame.locals.values) names.push_back(entry.first);
    throw Error(fmt::format("'{}' cannot be assigned here{}", target.text(),
                            did_you_mean(target.parts.front().name, names)),
                place.location());
  }
  if (frame.prefix != nullptr && frame.scope.lexical != nullptr) {
    const Component* declared = frame.scope.lexical->find_component(target.parts.front().name);
    if (declared != nullptr && declared->causality == Causality::kInput)
      throw Error(fmt::format("'{}' is an input of the function and cannot be assigned",
                              target.parts.front().name),
                  place.location());
  }
  if (is_zero(frame.broken)) {
    assign_into(*at, target, 0, value, frame, place);
    return;
  }
  const Value before = *at;
  assign_into(*at, target, 0, value, frame, place);
  *at = join_values(frame.broken, before, *at, place);
}

void Flattener::assign_into(Value& at, const ComponentReference& target, std::size_t part,
                            const Value& value, Frame& frame, const Place& place) {
  const ComponentReference::Part& here = target.parts[part];
  const bool last = part + 1 == target.parts.size();
  if (here.subscripts.empty()) {
    if (last) {
      if (at.type != value.type && !(is_numeric(at.type) && is_numeric(value.type)))
        throw Error(fmt::format("'{}' is {} but is given {}", target.text(), spelling(at.type),
                                spelling(value.type)),
                    place.location());
      const BasicType type = at.type;
      at = value;
      at.type = type;
      return;
    }
    if (at.type != BasicType::kRecord || !at.is_scalar())
      throw Error(fmt::format("'{}' is no record", here.name), place.location());
    Value* next = at.records.front().find(target.parts[part + 1].name);
    if (next == nullptr)
      throw Error(fmt::format("'{}' has no '{}'", here.name, target.parts[part + 1].name),
                  place.location());
    assign_into(*next, target, part + 1, value, frame, place);
    return;
  }
  const Subscripts s = subscripts(here.subscripts, at.dimensions, frame.scope, here.name, place);
  const std::size_t rank = here.subscripts.size();
  std::size_t rest = 1;
  for (std::size_t k = rank; k < at.dimensions.size(); ++k) rest *= at.dimensions[k];
  if (s.has_symbolic) {
    if (!last || !is_number_like(at.type))
      refuse("this assignment with a varying subscript", place);
    assign_anywhere(at, s, rest, value, target.text(), place);
    return;
  }
  const std::vector<std::size_t> flat = s.flat(at.dimensions);
  if (!last) {
    if (flat.size() != 1 || at.type != BasicType::kRecord || rest != 1)
      refuse("assignment to several records at once", place);
    Value* next = at.records[flat[0]].find(target.parts[part + 1].name);
    if (next == nullptr)
      throw Error(fmt::format("'{}' has no '{}'", here.name, target.parts[part + 1].name),
                  place.location());
    assign_into(*next, target, part + 1, value, frame, place);
    return;
  }
  if (value.count() != flat.size() * rest)
    throw Error(fmt::format("'{}' takes {} values, not {}", target.text(), flat.size() * rest,
                            value.count()),
                place.location());
  for (std::size_t i = 0; i < flat.size(); ++i)
    for (std::size_t j = 0; j < rest; ++j) {
      const std::size_t from = i * rest + j;
      const std::size_t to = flat[i] * rest + j;
      if (!at.numbers.empty()) at.numbers[to] = value.numbers.at(from);
      if (!at.strings.empty()) at.strings[to] = value.strings.at(from);
      if (!at.records.empty()) at.records[to] = value.records.at(from);
    }
}

// x[k, 1:n] := v for a k that is not known: each element that it may be takes the value if it is.
// If none is, none is a number any more, so that the run ends there and says where.
void Flattener::assign_anywhere(Value& at, const Subscripts& s, std::size_t rest,
                                const Value& value, const std::string& name, const Place& place) {
  Dimensions tried;  // all places of a subscript that is not known, of others those that are chosen
  std::size_t wanted = rest;
  for (std::size_t k = 0; k < s.chosen.size(); ++k) {
    tried.push_back(s.symbolic[k] ? at.dimensions[k] : s.chosen[k].size());
    if (!s.symbolic[k] && !s.scalar[k]) wanted *= s.chosen[k].size();
  }
  if (value.count() != wanted)
    throw Error(fmt::format("'{}' takes {} values, not {}", name, wanted, value.count()),
                place.location());
  Expr is_any = 1.0;
  for (std::size_t k = 0; k < tried.size(); ++k) {
    if (!s.symbolic[k]) continue;
    Expr is_inside = 0.0;
    for (std::size_t i = 0; i < tried[k]; ++i)
      is_inside = is_inside || equal(*s.symbolic[k], static_cast<double>(i + 1));
    is_any = is_any && is_inside;
  }
  for (std::size_t i = 0; i < element_count(tried); ++i) {
    const std::vector<std::size_t> index = subscripts_of(tried, i);
    Expr is_it = 1.0;
    std::size_t to = 0;
    std::size_t from = 0;
    for (std::size_t k = 0; k < tried.size(); ++k) {
      to *= at.dimensions[k];
      if (s.symbolic[k]) {
        is_it = is_it && equal(*s.symbolic[k], static_cast<double>(index[k] + 1));
        to += index[k];
        continue;
      }
      to += s.chosen[k][index[k]];
      if (!s.scalar[k]) from = from * tried[k] + index[k];
    }
    for (std::size_t j = 0; j < rest; ++j) {
      Expr& number = at.numbers[to * rest + j];
      number = select(is_any, join_numbers(is_it, value.numbers.at(from * rest + j), number),
                      Expr(std::numeric_limits<double>::quiet_NaN()));
    }
  }
}

Value Flattener::declared_value(Instance& function, const ClassInfo::Element& element,
                                Locals& locals, const Place& place) {
  const Component& component = *element.component;
  const Scope scope{&function, function.type.info->bases[element.base].definition, &locals};
  ClassElement& cls = tree_.lookup_class(component.type, scope);
  const TypeRef& type = tree_.type_of(cls);
  if (type.definition->kind == ClassKind::kModel || type.definition->kind == ClassKind::kBlock)
    throw Error(fmt::format("'{}' is a {}, which a function cannot contain", component.name,
                            spelling(type.definition->kind)),
                component.place.location());
  const Layers layers = local_layers(function, element, locals);
  for (const Layer& layer : layers)
    if (layer.value != nullptr && layer.access.empty()) {
      Value value = layer_value(layer);
      if (type.info->basic) value.type = *type.info->basic;
      return value;
    }
  if (causality_in(function, element) == Causality::kInput)
    throw Error(
        fmt::format("{}() needs its input '{}'", function.definition().name, component.name),
        place.location());
  Dimensions size;
  const auto add_size = [&](const ExpressionPtr& d, const Scope& s) {
    size.push_back(d->as<WholeDimension>() != nullptr
                       ? 0
                       : static_cast<std::size_t>(std::max(
                             0L, constant_integer(*d, s, "the size of a function's variable"))));
  };
  for (const ExpressionPtr& d : component.dimensions) add_size(d, scope);
  for (const auto& [d, s] : type.dimensions) add_size(d, s);
  return blank_value(cls, layers, size, place);
}

}  // namespace saltus
