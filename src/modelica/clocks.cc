// Clocks and the operators of the synchronous language (Modelica 3.6, chapter 16), as written.

#include "modelica/clocks.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "expr/differentiate.h"
#include "modelica/operators.h"

namespace saltus {

Expr Flattener::new_clock(const std::string& name) {
  if (clocks_ == nullptr) clocks_ = std::make_unique<Clocks>();
  return flat_.system.graph().new_slot(name);
}

// Clock(), Clock(interval), Clock(counter, resolution), Clock(condition, startInterval),
// Clock(clock, solverMethod)
Value Flattener::construct_clock(const CallExpression& e, const Scope& scope, const Place& place) {
  std::vector<std::pair<std::string, Value>> given;
  for (const ExpressionPtr& a : e.arguments) given.emplace_back("", evaluate(*a, scope));
  for (const NamedArgument& n : e.named) given.emplace_back(n.name, evaluate(*n.value, scope));
  if (given.size() > 2)
    throw Error(fmt::format("Clock() takes at most 2 arguments, not {}", given.size()),
                place.location());
  for (const auto& [name, value] : given)
    if (!value.is_scalar()) throw Error("the arguments of Clock() are scalars", place.location());
  Clocks::Clock made;
  made.symbol = new_clock(fmt::format("clock of line {}", place.line));
  made.place = place;
  const auto known = [&](const Value& v, const char* what) {
    const std::optional<double> number = fixed_number(v.number());
    if (!number) refuse(fmt::format("a clock whose {} changes", what), place);
    return *number;
  };
  const auto second = [&](const char* name) -> const Value* {
    if (given.size() < 2) return nullptr;
    if (!given[1].first.empty() && given[1].first != name)
      throw Error(fmt::format("Clock() has no argument '{}' beside the first; it has '{}'",
                              given[1].first, name),
                  place.location());
    return &given[1].second;
  };
  ClockInference::Source source;
  source.place = place;
  if (given.empty()) {
    clocks_->constructors.push_back(made);
    return Value::array(BasicType::kClock, {}, {made.symbol});
  }
  const Value& first = given[0].second;
  if (first.type == BasicType::kInteger) {
    const Value* resolution = second("resolution");
    if (resolution != nullptr && resolution->type != BasicType::kInteger)
      throw Error("the resolution of a clock is an Integer", place.location());
    const double counter = known(first, "interval");
    const double parts = resolution == nullptr ? 1.0 : known(*resolution, "resolution");
    if (!(counter >= 1.0) || !(parts >= 1.0))
      throw Error(
          fmt::format("Clock({:g}, {:g}): the interval of a clock is positive", counter, parts),
          place.location());
    source.interval = Rational::of(std::llround(counter), std::llround(parts));
    made.source = source;
  } else if (first.type == BasicType::kReal) {
    if (given.size() > 1) throw Error("Clock(interval) takes one argument", place.location());
    source.unit = known(first, "interval");
    if (!(source.unit > 0.0) || !std::isfinite(source.unit))
      throw Error(fmt::format("Clock({:g}): the interval of a clock is positive", source.unit),
                  place.location());
    made.source = source;
  } else if (first.type == BasicType::kBoolean) {
    if (const Value* interval = second("startInterval")) made.start_interval = interval->number();
    source.unit = 0.0;
    source.event = made.symbol.node();
    made.source = source;
    made.condition = first.number();
  } else if (first.type == BasicType::kClock) {
    const Value* method = second("solverMethod");
    if (method == nullptr || method->type != BasicType::kString)
      throw Error("Clock(c, solverMethod) needs the name of the method", place.location());
    made.like = first.number();
    made.solver = method->text();
  } else {
    throw Error(fmt::format("Clock() of a {}", spelling(first.type)), place.location());
  }
  clocks_->constructors.push_back(made);
  return Value::array(BasicType::kClock, {}, {made.symbol});
}

std::optional<Value> Flattener::call_clock_builtin(const std::string& name, const CallExpression& e,
                                                   const Scope& scope, const Place& place) {
  if (name == "Clock") return construct_clock(e, scope, place);
  const bool transfers =
      name == "subSample" || name == "superSample" || name == "shiftSample" || name == "backSample";
  const bool about_clock = name == "interval" || name == "firstTick";
  if (!transfers && !about_clock && name != "sample" && name != "hold" && name != "previous" &&
      name != "noClock")
    return std::nullopt;
  const std::size_t most = name == "shiftSample" || name == "backSample" ? 3
                           : transfers || name == "sample"               ? 2
                                                                         : 1;
  if (e.arguments.size() + e.named.size() > most || (e.arguments.empty() && !about_clock))
    throw Error(fmt::format("{}() takes {} argument{}", name,
                            most == 1 ? "1" : fmt::format("1 to {}", most), most == 1 ? "" : "s"),
                place.location());
  if (in_function_ > 0)
    throw Error(fmt::format("{}() cannot be used in a function", name), place.location());
  if (!variables_allowed_)
    throw Error(fmt::format("{}() is not known when the model is translated", name),
                place.location());
  if (clocks_ == nullptr) clocks_ = std::make_unique<Clocks>();
  Clocks::Operator made;
  made.place = place;
  const auto add = [&](const Value& argument) {
    return map_numbers(argument, made.type, [&](const Expr& x) -> Expr {
      made.argument = x;
      made.result = flat_.system.graph().new_slot(
          fmt::format("{}() of line {}, number {}", name, place.line, clocks_->operators.size()));
      clocks_->operators.push_back(made);
      return made.result;
    });
  };
  if (about_clock && e.arguments.empty()) {
    made.kind = name == "interval" ? Clocks::Kind::kInterval : Clocks::Kind::kFirstTick;
    made.type = name == "interval" ? BasicType::kReal : BasicType::kBoolean;
    return add(Value::array(made.type, {}, {Expr(0.0)}));
  }
  past_shadows_ = name == "previous";
  const Value argument = evaluate(*e.arguments[0], scope);
  past_shadows_ = false;
  if (!is_number_like(argument.type) && !(argument.type == BasicType::kClock && transfers))
    throw Error(fmt::format("{}() of a {}", name, spelling(argument.type)), place.location());
  made.type = argument.type;
  if (name != "sample")
    for (const Expr& x : argument.numbers)
      for (const Expr& leaf : leaves_of(x))
        if (leaf.node()->op == Op::kTime)
          throw Error(
              fmt::format("{}() of time, which no clock ticks for; write sample(time)", name),
              e.arguments[0]->place.location());
  if (transfers) {
    const auto whole = [&](std::size_t k, const char* called, long otherwise, long least) {
      const Expression* given = e.arguments.size() > k ? e.arguments[k].get() : nullptr;
      for (const NamedArgument& n : e.named)
        if (n.name == called) given = n.value.get();
      if (given == nullptr) return otherwise;
      const long number = constant_integer(*given, scope, called);
      if (number < least)
        throw Error(fmt::format("{}(): {} is {}", name, called, number), given->place.location());
      return number;
    };
    if (most == 2) {
      const long factor = whole(1, "factor", 0, 0);
      if (factor > 0)
        made.factor = name == "subSample" ? Rational::of(factor, 1) : Rational::of(1, factor);
    } else {
      const bool forward = name == "shiftSample";
      const long counter = whole(1, forward ? "shiftCounter" : "backCounter", 0, 0);
      made.factor = Rational{1, 1};
      made.shift = Rational::of(forward ? counter : -counter, whole(2, "resolution", 1, 1));
    }
    made.kind = Clocks::Kind::kTransfer;
    if (argument.type == BasicType::kClock)
      return map_numbers(argument, BasicType::kClock, [&](const Expr& from) -> Expr {
        const Expr to = new_clock(fmt::format("clock of line {}", place.line));
        clocks_->transfers.push_back({from, to, made.factor, made.shift, place});
        return to;
      });
    return add(argument);
  }
  if (name == "sample") {
    made.kind = Clocks::Kind::kSample;
    if (e.arguments.size() > 1) {
      const Value clock = evaluate(*e.arguments[1], scope);
      if (clock.type != BasicType::kClock || !clock.is_scalar())
        throw Error(
            fmt::format("the second argument of sample() is {}, not a clock", spelling(clock.type)),
            e.arguments[1]->place.location());
      made.clock = clock.number();
    }
    return add(argument);
  }
  if (name == "interval") {
    made.kind = Clocks::Kind::kInterval;
    made.type = BasicType::kReal;
    return add(argument);
  }
  if (name == "firstTick") {
    made.kind = Clocks::Kind::kFirstTick;
    made.type = BasicType::kBoolean;
    return add(argument);
  }
  made.kind = name == "hold"       ? Clocks::Kind::kHold
              : name == "previous" ? Clocks::Kind::kPrevious
                                   : Clocks::Kind::kNoClock;
  if (name == "previous")
    for (const Expr& x : argument.numbers)
      if (!x.is_number() && !x.is_parameter() && !x.is_variable() && !is_discrete_symbol(x))
        throw Error("previous() needs a variable", place.location());
  return add(argument);
}

// when clock then ...: plain equations that hold when the clock ticks.
void Flattener::translate_clocked_when(const Expr& clock,
                                       const std::vector<EquationClause>& equations,
                                       const Scope& scope, EquationSink& sink) {
  std::vector<EquationItem> items;
  std::vector<DiscreteCandidate> discrete;
  EquationSink inside = sink;
  inside.items = &items;
  inside.discrete = &discrete;
  inside.solved = nullptr;
  translate(equations, scope, inside);
  const std::function<void(const std::vector<EquationItem>&)> note =
      [&](const std::vector<EquationItem>& all) {
        for (const EquationItem& item : all) {
          if (const auto* e = std::get_if<Equation>(&item.value)) {
            clocks_->in_when.push_back({clock, {e->equality.lhs, e->equality.rhs}});
            continue;
          }
          const auto& branching = std::get<IfEquation>(item.value);
          clocks_->in_when.push_back({clock, branching.conditions});
          for (const auto& branch : branching.branches) note(branch);
        }
      };
  note(items);
  for (const DiscreteCandidate& c : discrete)
    clocks_->in_when.push_back({clock, {c.left, c.right}});
  sink.items->insert(sink.items->end(), items.begin(), items.end());
  sink.discrete->insert(sink.discrete->end(), discrete.begin(), discrete.end());
}

}  // namespace saltus
