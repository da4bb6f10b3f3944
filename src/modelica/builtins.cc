// Functions and operators that the language itself provides.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "base/placeholder.h"
#include "base/suggest.h"
#include "expr/differentiate.h"
#include "modelica/flattener.h"
#include "modelica/operators.h"
#include "modelica/parameter_use.h"
#include "modelica/text_format.h"
#include "modelica/traced.h"

namespace saltus {
namespace {

// A name in quotes may hold dots.
std::size_t begin_of_last_name(const std::string& path) {
  std::size_t begin = 0;
  bool is_quoted = false;
  for (std::size_t k = 0; k < path.size(); ++k) {
    if (path[k] == '\\' && is_quoted) {
      ++k;
    } else if (path[k] == '\'') {
      is_quoted = !is_quoted;
    } else if (path[k] == '.' && !is_quoted) {
      begin = k + 1;
    }
  }
  return begin;
}

using Unary = Expr (*)(const Expr&);

const std::unordered_map<std::string, Unary>& elementary() {
  static const std::unordered_map<std::string, Unary> map = {
      {"sin", sin},   {"cos", cos},     {"tan", tan},   {"asin", asin}, {"acos", acos},
      {"atan", atan}, {"sinh", sinh},   {"cosh", cosh}, {"tanh", tanh}, {"exp", exp},
      {"log", log},   {"log10", log10}, {"sqrt", sqrt}};
  return map;
}

// How many arguments a function of the language takes. Their places say what they are, except where
// the language gives them names.
constexpr std::size_t kAnyCount = std::numeric_limits<std::size_t>::max();
struct Signature {
  std::size_t least = 1;
  std::size_t most = 1;
  std::vector<std::string> names{};
};

const std::unordered_map<std::string, Signature>& signatures() {
  static const std::unordered_map<std::string, Signature> map = [] {
    std::unordered_map<std::string, Signature> all = {
        {"abs", {}},
        {"sign", {}},
        {"atan2", {2, 2}},
        {"noEvent", {}},
        {"pure", {}},
        {"smooth", {2, 2}},
        {"homotopy", {1, 2, {"actual", "simplified"}}},
        {"delay", {2, 3}},
        {"inStream", {}},
        {"actualStream", {}},
        {"semiLinear", {3, 3}},
        {"der", {}},
        {"pre", {}},
        {"edge", {}},
        {"change", {}},
        {"initial", {0, 0}},
        {"terminal", {0, 0}},
        {"sample", {1, 2}},
        {"floor", {}},
        {"ceil", {}},
        {"integer", {}},
        {"Integer", {}},
        {"div", {2, 2}},
        {"mod", {2, 2}},
        {"rem", {2, 2}},
        {"activeState", {}},
        {"timeInState", {0, 0}},
        {"cardinality", {}},
        {"rooted", {}},
        {"Clock",
         {0,
          2,
          {"interval", "intervalCounter", "resolution", "condition", "startInterval", "c",
           "solverMethod"}}},
        {"subSample", {1, 2, {"factor"}}},
        {"superSample", {1, 2, {"factor"}}},
        {"shiftSample", {1, 3, {"shiftCounter", "resolution"}}},
        {"backSample", {1, 3, {"backCounter", "resolution"}}},
        {"interval", {0, 1}},
        {"firstTick", {0, 1}},
        {"hold", {}},
        {"previous", {}},
        {"noClock", {}},
        {"min", {1, 2}},
        {"max", {1, 2}},
        {"sum", {}},
        {"product", {}},
        {"array", {1, kAnyCount}},
        {"size", {1, 2}},
        {"ndims", {}},
        {"zeros", {1, kAnyCount}},
        {"ones", {1, kAnyCount}},
        {"fill", {2, kAnyCount}},
        {"identity", {}},
        {"diagonal", {}},
        {"linspace", {3, 3}},
        {"transpose", {}},
        {"scalar", {}},
        {"vector", {}},
        {"matrix", {}},
        {"promote", {2, 2}},
        {"cat", {2, kAnyCount}},
        {"outerProduct", {2, 2}},
        {"symmetric", {}},
        {"cross", {2, 2}},
        {"skew", {}},
        {"getInstanceName", {0, 0}},
        {"String", {1, 4, {"significantDigits", "minimumLength", "leftJustified", "format"}}},
    };
    for (const auto& function : elementary()) all.emplace(function.first, Signature{});
    return all;
  }();
  return map;
}

// What follows may take the arguments by their places.
void check_arguments(const std::string& name, const CallExpression& e, const Place& place) {
  const auto found = signatures().find(name);
  if (found == signatures().end()) return;
  const auto& [least, most, names] = found->second;
  const std::size_t given = e.arguments.size() + e.named.size();
  if (given < least || given > most) {
    const std::string count = most == kAnyCount ? fmt::format("at least {}", least)
                              : least == most   ? fmt::format("{}", least)
                                                : fmt::format("{} to {}", least, most);
    throw Error(fmt::format("{}() takes {} argument{}, not {}", name, count,
                            (most == kAnyCount ? least : most) == 1 ? "" : "s", given),
                place.location());
  }
  for (const NamedArgument& named : e.named)
    if (std::ranges::find(names, named.name) == names.end())
      throw Error(names.empty() ? fmt::format("the arguments of {}() have no names", name)
                                : fmt::format("{}() has no argument '{}'{}; by name it takes {}",
                                              name, named.name, did_you_mean(named.name, names),
                                              fmt::join(names, ", ")),
                  named.place.location());
  const bool folds =
      name == "min" || name == "max" || name == "sum" || name == "product" || name == "array";
  if (!e.iterators.empty() && (!folds || e.arguments.size() != 1))
    throw Error(fmt::format("{}() takes no 'for'", name), place.location());
}

const Value& need_numbers(const Value& value, const std::string& name, const Place& place) {
  if (!is_numeric(value.type))
    throw Error(fmt::format("{}() needs numbers, not {}", name, spelling(value.type)),
                place.location());
  return value;
}

const Value& need_number(const Value& value, const std::string& name, const Place& place) {
  if (!need_numbers(value, name, place).is_scalar())
    throw Error(fmt::format("{}() needs a scalar, not {}", name, to_text(value.dimensions)),
                place.location());
  return value;
}

const Value& need_rank(const Value& value, std::size_t rank, const std::string& name,
                       const Place& place) {
  if (need_numbers(value, name, place).dimensions.size() != rank)
    throw Error(fmt::format("{}() of {}", name, to_text(value.dimensions)), place.location());
  return value;
}

}  // namespace

std::optional<Value> Flattener::call_builtin(const std::string& name, const Expression& expression,
                                             const CallExpression& e, const Scope& scope) {
  const Place& place = expression.place;
  check_arguments(name, e, place);
  const auto argument = [&](std::size_t k) { return evaluate(*e.arguments.at(k), scope); };
  const auto number_argument = [&](std::size_t k) {
    return need_numbers(argument(k), name, e.arguments[k]->place);
  };
  const auto found = elementary().find(name);
  if (found != elementary().end()) {
    return map_numbers(number_argument(0), BasicType::kReal, found->second);
  }
  if (name == "abs" || name == "sign") {
    const Value a = number_argument(0);
    const bool is_abs = name == "abs";
    return map_numbers(a, is_abs ? a.type : BasicType::kInteger, [&](const Expr& x) -> Expr {
      if (!jumps_at_events(x)) return is_abs ? abs(x) : sign(x);
      if (is_abs) return select(make_relation(x, Strict::kNo, expression), x, -x);
      return select(make_relation(x, Strict::kYes, expression), 1.0,
                    select(make_relation(-x, Strict::kYes, expression), -1.0, 0.0));
    });
  }
  if (name == "atan2") {
    const Value a = number_argument(0);
    const Value b = number_argument(1);
    if (!a.is_scalar() || !b.is_scalar()) refuse("atan2 of arrays", place);
    return Value::real(atan2(a.number(), b.number()));
  }
  if (name == "noEvent" || name == "pure") {
    ++no_event_;
    Value value = argument(0);
    --no_event_;
    return value;
  }
  if (name == "smooth") return argument(1);
  if (name == "homotopy") {
    if (!e.arguments.empty()) return argument(0);
    for (const NamedArgument& named : e.named)
      if (named.name == "actual") return evaluate(*named.value, scope);
    throw Error("homotopy() without 'actual'", place.location());
  }
  if (name == "delay") return delayed_value(e, scope, place);
  if (name == "inStream" || name == "actualStream") return stream_value(name, expression, e, scope);
  if (name == "spatialDistribution" || name == "ticksInState") refuse(name + "()", place);
  if (name == "semiLinear") {
    const Expr x = need_number(argument(0), name, e.arguments[0]->place).number();
    const Expr is_positive = make_relation(x, Strict::kNo, expression);
    // Slopes may be arrays: it is applied to each element.
    const Value above = need_numbers(argument(1), name, e.arguments[1]->place);
    Value below = need_numbers(argument(2), name, e.arguments[2]->place);
    if (above.dimensions != below.dimensions)
      throw Error(fmt::format("semiLinear() with slopes that are {} and {}",
                              to_text(above.dimensions), to_text(below.dimensions)),
                  place.location());
    below.type = BasicType::kReal;
    for (std::size_t i = 0; i < below.numbers.size(); ++i) {
      const Expr value = select(is_positive, x * above.numbers[i], x * below.numbers[i]);
      if (!value.is_number())
        flat_.semi_linears.push_back({value, is_positive, x, above.numbers[i], below.numbers[i]});
      below.numbers[i] = value;
    }
    return below;
  }
  if (name != "sample")
    if (std::optional<Value> value = call_clock_builtin(name, e, scope, place)) return value;
  if (name == "rooted") return call_graph_builtin(name, e, scope, place);
  if (std::optional<Value> value = call_event_builtin(name, expression, e, scope)) return value;
  if (std::optional<Value> value = call_text_builtin(name, expression, e, scope)) return value;
  return call_array_builtin(name, expression, e, scope);
}

// delay(expression, duration[, longest])
Value Flattener::delayed_value(const CallExpression& e, const Scope& scope, const Place& place) {
  if (in_function_ > 0) refuse("delay() inside a function", place);
  const Value signal = evaluate(*e.arguments[0], scope);
  const Value duration = evaluate(*e.arguments[1], scope);
  if (!is_numeric(signal.type) || !is_numeric(duration.type) || !duration.is_scalar())
    throw Error("delay() takes numbers, and one duration", place.location());
  const std::optional<double> seconds = fixed_number(duration.number());
  if (!seconds) refuse("delay() by a time that varies", e.arguments[1]->place);
  if (e.arguments.size() == 3) {
    const double longest =
        constant_number(evaluate(*e.arguments[2], scope), place, "the longest delay");
    if (*seconds > longest)
      throw Error(
          fmt::format("delay() by {:g}, longer than the longest delay {:g}", *seconds, longest),
          e.arguments[1]->place.location());
  }
  if (!(*seconds >= 0.0))
    throw Error(fmt::format("delay() by {:g}: it needs what is still to come", *seconds),
                e.arguments[1]->place.location());
  return map_numbers(signal, BasicType::kReal, [&](const Expr& x) -> Expr {
    if (*seconds == 0.0 || fixed_number(x)) return x;
    return flat_.delay(x, duration.number(), place.location());
  });
}

// An Integer that follows floor(value): a hidden discrete variable changed where value passes one
// of its bounds.
Expr Flattener::rounded(const Expr& value, const Expression& expression) {
  if (!jumps_at_events(value)) return floor(value);
  const Expr k =
      flat_.discrete(fmt::format("$floor{}", ++rounded_),
                     {.type = DiscreteType::kInteger, .where = expression.place.location()});
  const Expr before = flat_.discretes.back().pre;
  pre_slots_[k.node()] = before;
  discrete_numbers_[k.node()] = flat_.discretes.size() - 1;
  const Expr above =
      flat_.relation(value - before, Strict::kNo, to_text(expression), expression.place.location());
  const Expr below = flat_.relation(before + 1.0 - value, Strict::kYes, to_text(expression),
                                    expression.place.location());
  const Expr next = select(below, select(above, before, min(before - 1.0, floor(value))),
                           max(before + 1.0, floor(value)));
  flat_.discrete_equations.push_back(
      {k, select(flat_.initial(), floor(value), next), expression.place.location()});
  return k;
}

Value Flattener::pre_of(const Value& value, const Place& place) {
  if (value.type == BasicType::kString) {
    Value result = value;
    for (std::string& text : result.strings) text = text_before(text, place);
    return result;
  }
  if (!is_number_like(value.type))
    throw Error(fmt::format("pre() of {}", spelling(value.type)), place.location());
  return map_numbers(value, value.type, [&](const Expr& x) -> Expr {
    if (x.is_number() || x.is_parameter()) return x;
    const auto slot = pre_slots_.find(x.node());
    if (slot != pre_slots_.end()) return slot->second;
    if (x.is_variable()) return in_reinit_ ? x : flat_.left_limit(x);
    throw Error("pre() needs a variable", place.location());
  });
}

Value Flattener::derivative_of(const Value& value, const Place& place) {
  if (!is_numeric(value.type))
    throw Error(fmt::format("der() needs Real, not {}", spelling(value.type)), place.location());
  if (value.type == BasicType::kInteger)
    throw Error("der() needs Real, not Integer", place.location());
  return map_numbers(value, BasicType::kReal, [&](const Expr& x) -> Expr {
    if (x.node() != nullptr && discrete_numbers_.contains(x.node()))
      throw Error(fmt::format("der() of '{}', which is discrete", to_string(x)), place.location());
    return der(x);
  });
}

std::optional<Value> Flattener::call_event_builtin(const std::string& name,
                                                   const Expression& expression,
                                                   const CallExpression& e, const Scope& scope) {
  const Place& place = expression.place;
  const auto argument = [&](std::size_t k) { return evaluate(*e.arguments.at(k), scope); };
  const auto whole = [&](const Expr& x) { return rounded(x, expression); };
  if (name == "der") return derivative_of(argument(0), place);
  if (name == "pre") {
    past_shadows_ = true;
    const Value declared = argument(0);
    past_shadows_ = false;
    return pre_of(declared, place);
  }
  if (name == "edge" || name == "change") {
    const Value now = argument(0);
    if (name == "edge" && now.type != BasicType::kBoolean)
      throw Error(fmt::format("edge() needs a Boolean, not {}", spelling(now.type)),
                  place.location());
    past_shadows_ = true;
    const Value before = pre_of(argument(0), place);
    past_shadows_ = false;
    Value result = now;
    result.type = BasicType::kBoolean;
    result.strings.clear();
    for (std::size_t i = 0; i < now.strings.size(); ++i)
      result.numbers.push_back(
          !equal(number_of_text(now.strings[i], place), number_of_text(before.strings[i], place)));
    for (std::size_t i = 0; i < now.numbers.size(); ++i)
      result.numbers[i] = name == "edge" ? now.numbers[i] && !before.numbers[i]
                                         : !equal(now.numbers[i], before.numbers[i]);
    return result;
  }
  if (name == "initial") {
    if (in_function_ > 0) return Value::boolean(0.0);
    return Value::boolean(flat_.initial());
  }
  if (name == "terminal") {
    return Value::boolean(in_function_ > 0 ? Expr(0.0) : flat_.terminal());
  }
  if (name == "sample") {
    if (e.arguments.size() + e.named.size() == 1) return call_clock_builtin(name, e, scope, place);
    const Value interval = argument(1);
    if (interval.type == BasicType::kClock) return call_clock_builtin(name, e, scope, place);
    const Value start = argument(0);
    need_number(start, name, place);
    need_number(interval, name, place);
    // The start may be found by the initial equations (t0 = time), but not change later.
    for (const Expr& leaf : leaves_of(start.number()))
      if ((leaf.is_variable() && !found_parameters_.contains(leaf.node())) ||
          leaf.node()->op == Op::kTime || leaf.node()->op == Op::kSlot)
        throw Error("the start of sample() needs parameters, not variables", place.location());
    const ParameterUse::Pause looked_at_only;
    if (const auto first = fixed_number(start.number()); first && !std::isfinite(*first))
      throw Error("the start of sample() is not a finite number", place.location());
    if (!fixed_number(interval.number()))
      throw Error("the interval of sample() needs parameters, not variables", place.location());
    const double length = *fixed_number(interval.number());
    if (!(length > 0.0) || !std::isfinite(length))
      throw Error(fmt::format("sample() needs a positive interval, not {}", length),
                  place.location());
    return Value::boolean(flat_.sample(start.number(), interval.number(), place.location()));
  }
  if (name == "floor" || name == "ceil" || name == "integer") {
    const BasicType type = name == "integer" ? BasicType::kInteger : BasicType::kReal;
    return map_numbers(need_numbers(argument(0), name, place), type, [&](const Expr& x) -> Expr {
      return name == "ceil" ? -whole(-x) : whole(x);
    });
  }
  if (name == "Integer") {
    const Value value = argument(0);
    if (value.type != BasicType::kEnumeration && value.type != BasicType::kInteger)
      throw Error(fmt::format("Integer() needs an enumeration, not {}", spelling(value.type)),
                  place.location());
    return map_numbers(value, BasicType::kInteger, [](const Expr& x) { return x; });
  }
  if (name == "div" || name == "mod" || name == "rem") {
    const Value a = need_numbers(argument(0), name, place);
    const Value b = need_numbers(argument(1), name, place);
    if (!a.is_scalar() || !b.is_scalar()) refuse(name + " of arrays", place);
    const Expr x = a.number();
    const Expr y = b.number();
    const BasicType type = a.type == BasicType::kInteger && b.type == BasicType::kInteger
                               ? BasicType::kInteger
                               : BasicType::kReal;
    if (name == "mod") return Value::array(type, {}, {x - whole(x / y) * y});
    const Expr quotient = x / y;
    const Expr cut = !jumps_at_events(quotient)
                         ? trunc(quotient)
                         : select(make_relation(quotient, Strict::kNo, expression), whole(quotient),
                                  -whole(-quotient));
    return Value::array(type, {}, {name == "div" ? cut : x - cut * y});
  }
  if (name == "activeState") return active_state(e, scope, place);
  if (name == "timeInState") return time_in_state(scope, place);
  if (name == "cardinality") {
    const auto* r = e.arguments[0]->as<ComponentReference>();
    if (r == nullptr) throw Error("cardinality() needs a connector", place.location());
    const InstanceRange range = instances_of(*r, scope);
    for (const InstancePart& part : range.parts)
      if (!part.instance->type.connector)
        throw Error(fmt::format("cardinality({}): it is no connector", r->text()),
                    place.location());
    const auto it =
        range.parts.empty() ? cardinality_.end() : cardinality_.find(range.parts.front().instance);
    return Value::integer(it == cardinality_.end() ? 0 : it->second);
  }
  return std::nullopt;
}

std::optional<Value> Flattener::call_array_builtin(const std::string& name,
                                                   const Expression& expression,
                                                   const CallExpression& e, const Scope& scope) {
  const Place& place = expression.place;
  const auto argument = [&](std::size_t k) { return evaluate(*e.arguments.at(k), scope); };
  const auto size_argument = [&](std::size_t k) {
    const Value size = evaluate(*e.arguments.at(k), scope);
    if (size.type != BasicType::kInteger)
      throw Error(fmt::format("{}(): the size of an array is an Integer, not {}", name,
                              spelling(size.type)),
                  e.arguments[k]->place.location());
    const long n =
        std::lround(constant_number(size, e.arguments[k]->place, "the size of an array"));
    if (n < 0 || n > 10'000'000)
      throw Error(fmt::format("an array of size {}", n), e.arguments[k]->place.location());
    return static_cast<std::size_t>(n);
  };
  const auto filled = [&](const Value& with, std::size_t first) {
    Dimensions shape;
    for (std::size_t k = first; k < e.arguments.size(); ++k) shape.push_back(size_argument(k));
    require_size(shape, place);
    Value result = stack(std::vector<Value>(element_count(shape), with), shape, place);
    result.type = with.type;
    return result;
  };
  const auto folded = [&](const Value& v, auto&& combine, const Expr& empty) {
    if (v.numbers.empty()) return Value::array(v.type, {}, {empty});
    Expr result = v.numbers.front();
    for (std::size_t i = 1; i < v.numbers.size(); ++i) result = combine(result, v.numbers[i]);
    Value folded_value = Value::array(v.type, {}, {result});
    folded_value.definition = v.definition;
    return folded_value;
  };
  const auto least = [](const Expr& a, const Expr& b) { return min(a, b); };
  const auto greatest = [](const Expr& a, const Expr& b) { return max(a, b); };
  if (name == "min" || name == "max" || name == "sum" || name == "product") {
    Value v =
        e.iterators.empty() ? argument(0) : iterate(e.arguments.at(0), e.iterators, scope, place);
    if (e.arguments.size() == 2) v = stack({v, argument(1)}, place);
    if (v.type == BasicType::kRecord && (name == "sum" || name == "product")) {
      if (v.count() == 0) refuse(fmt::format("{}() of no records", name), place);
      Value result = element(v, 0, v.dimensions.size());
      for (std::size_t k = 1; k < v.count(); ++k)
        result = overloaded(name == "sum" ? "'+'" : "'*'",
                            {result, element(v, k, v.dimensions.size())}, place);
      return result;
    }
    if (!is_number_like(v.type))
      throw Error(fmt::format("{}() needs numbers", name), place.location());
    if (name == "min") return folded(v, least, 1e60);
    if (name == "max") return folded(v, greatest, -1e60);
    if (name == "sum")
      return folded(
          v, [](const Expr& a, const Expr& b) { return a + b; }, 0.0);
    return folded(
        v, [](const Expr& a, const Expr& b) { return a * b; }, 1.0);
  }
  if (name == "array") {
    if (!e.iterators.empty()) return iterate(e.arguments.at(0), e.iterators, scope, place);
    std::vector<Value> parts;
    for (std::size_t k = 0; k < e.arguments.size(); ++k) parts.push_back(argument(k));
    return stack(parts, place);
  }
  if (name == "size") {
    Dimensions shape;
    // The size of a component is known before its value is.
    const auto* r = e.arguments[0]->as<ComponentReference>();
    const Found found = r != nullptr && r->parts.size() == 1 && r->parts[0].subscripts.empty()
                            ? lookup(r->parts[0].name, scope)
                            : Found{};
    if (found.instance != nullptr) {
      // A[:, size(A, 1)] asks for a size that is known while the next is being found.
      const Instance& asked = *found.instance;
      if (asked.busy && !asked.dimensions && e.arguments.size() == 2) {
        const long k = constant_integer(*e.arguments[1], scope, "the dimension in size()");
        if (k >= 1 && k <= static_cast<long>(asked.measured.size()))
          return Value::integer(
              static_cast<double>(asked.measured[static_cast<std::size_t>(k) - 1]));
      }
      shape = dimensions(*found.instance);
    } else {
      shape = argument(0).dimensions;
    }
    if (e.arguments.size() == 1) {
      std::vector<Expr> sizes;
      for (const std::size_t d : shape) sizes.emplace_back(static_cast<double>(d));
      return Value::array(BasicType::kInteger, {shape.size()}, sizes);
    }
    const long k = constant_integer(*e.arguments[1], scope, "the dimension in size()");
    if (k < 1 || k > static_cast<long>(shape.size()))
      throw Error(fmt::format("size(..., {}) of {}", k, to_text(shape)), place.location());
    return Value::integer(static_cast<double>(shape[static_cast<std::size_t>(k) - 1]));
  }
  if (name == "ndims") return Value::integer(static_cast<double>(argument(0).dimensions.size()));
  if (name == "zeros") return filled(Value::integer(0), 0);
  if (name == "ones") return filled(Value::integer(1), 0);
  if (name == "fill") return filled(argument(0), 1);
  if (name == "identity" || name == "diagonal") {
    const bool unit = name == "identity";
    const Value v = unit ? Value::integer(1) : need_rank(argument(0), 1, name, place);
    const std::size_t n = unit ? size_argument(0) : v.count();
    require_size({n, n}, place);
    std::vector<Expr> numbers(n * n, Expr(0.0));
    for (std::size_t i = 0; i < n; ++i) numbers[i * n + i] = unit ? Expr(1.0) : v.numbers[i];
    return Value::array(v.type, {n, n}, std::move(numbers));
  }
  if (name == "linspace") {
    const Value a = need_number(argument(0), name, place);
    const Value b = need_number(argument(1), name, place);
    const std::size_t n = size_argument(2);
    if (n < 2) throw Error("linspace() needs at least 2 points", place.location());
    std::vector<Expr> numbers;
    for (std::size_t i = 0; i < n; ++i)
      numbers.push_back(a.number() + (b.number() - a.number()) * static_cast<double>(i) /
                                         static_cast<double>(n - 1));
    return Value::array(BasicType::kReal, {n}, std::move(numbers));
  }
  if (name == "transpose") return transposed(argument(0), place);
  if (name == "scalar") {
    Value v = argument(0);
    if (v.count() != 1)
      throw Error(fmt::format("scalar() of {}", to_text(v.dimensions)), place.location());
    return reshaped(std::move(v), {});
  }
  if (name == "vector") {
    Value v = argument(0);
    const std::size_t n = v.count();
    return reshaped(std::move(v), {n});
  }
  if (name == "matrix") {
    Value v = promoted(argument(0), 2);
    for (std::size_t k = 2; k < v.dimensions.size(); ++k)
      if (v.dimensions[k] != 1)
        throw Error(fmt::format("matrix() of {}", to_text(v.dimensions)), place.location());
    Dimensions shape(v.dimensions.begin(), v.dimensions.begin() + 2);
    return reshaped(std::move(v), std::move(shape));
  }
  if (name == "promote") return promoted(argument(0), size_argument(1));
  if (name == "cat") {
    const long k = constant_integer(*e.arguments.at(0), scope, "the dimension in cat()");
    std::vector<Value> parts;
    for (std::size_t i = 1; i < e.arguments.size(); ++i) parts.push_back(argument(i));
    if (k < 1) throw Error(fmt::format("cat() along dimension {}", k), place.location());
    return concatenate(static_cast<std::size_t>(k) - 1, parts, place);
  }
  if (name == "outerProduct") {
    const Value a = need_rank(argument(0), 1, name, place);
    const Value b = need_rank(argument(1), 1, name, place);
    return arithmetic(BinaryOperator::kMultiply, reshaped(a, {a.count(), 1}),
                      reshaped(b, {1, b.count()}), place);
  }
  if (name == "symmetric") {
    Value m = need_rank(argument(0), 2, name, place);
    const std::size_t n = m.dimensions[0];
    if (m.dimensions[1] != n)
      throw Error(fmt::format("symmetric() of {}", to_text(m.dimensions)), place.location());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) m.numbers[i * n + j] = m.numbers[j * n + i];
    return m;
  }
  if (name == "cross" || name == "skew") {
    const Value a = need_rank(argument(0), 1, name, place);
    if (a.count() != 3) throw Error(fmt::format("{}() needs vectors of 3", name), place.location());
    const auto& x = a.numbers;
    if (name == "skew")
      return Value::array(BasicType::kReal, {3, 3},
                          {0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0});
    const Value b = need_rank(argument(1), 1, name, place);
    if (b.count() != 3) throw Error("cross() needs vectors of 3", place.location());
    const auto& y = b.numbers;
    return Value::array(
        BasicType::kReal, {3},
        {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]});
  }
  return std::nullopt;
}

std::optional<Value> Flattener::call_text_builtin(const std::string& name,
                                                  const Expression& expression,
                                                  const CallExpression& e, const Scope& scope) {
  if (name == "getInstanceName") {
    const std::string& full = flat_.system.name();
    const std::string model = full.substr(begin_of_last_name(full));
    return Value::string(scope.instance == nullptr || scope.instance->path.empty()
                             ? model
                             : model + "." + scope.instance->path);
  }
  if (name != "String") return std::nullopt;
  const Value v = evaluate(*e.arguments.at(0), scope);
  if (!v.is_scalar()) throw Error("String() of an array", expression.place.location());
  if (v.type == BasicType::kRecord) return overloaded("'String'", {v}, expression.place);
  TextFormat format;
  // By place: the digits of a Real, or a format; then what all have.
  std::vector<std::string> options = {"minimumLength", "leftJustified"};
  if (v.type == BasicType::kReal) options.insert(options.begin(), "significantDigits");
  for (std::size_t k = 1; k < e.arguments.size(); ++k) {
    const Value option = evaluate(*e.arguments[k], scope);
    const bool is_format = k == 1 && option.type == BasicType::kString;
    if (!is_format && k > options.size())
      throw Error(fmt::format("String() takes {} arguments, not {}", options.size() + 1,
                              e.arguments.size()),
                  expression.place.location());
    format.add(is_format ? "format" : options[k - 1], option, e.arguments[k]->place);
  }
  for (const NamedArgument& n : e.named) format.add(n.name, evaluate(*n.value, scope), n.place);
  if (v.type == BasicType::kString) return Value::string(format.padded(v.text()));
  const auto text_of = [format, type = v.type, definition = v.definition](double number) {
    if (type == BasicType::kBoolean) return format.padded(number != 0.0 ? "true" : "false");
    if (type == BasicType::kEnumeration && definition != nullptr) {
      const bool is_one =
          number >= 1.0 && number <= static_cast<double>(definition->enumeration.size());
      return format.padded(is_one
                               ? definition->enumeration[static_cast<std::size_t>(number) - 1].name
                               : fmt::format("{:g}", number));
    }
    if (type == BasicType::kInteger) return format.whole(std::lround(number));
    return format.real(number);
  };
  if (in_message_ > 0 && trace_ != nullptr && !v.numbers.empty())
    return Value::string(text_of(trace_->at_point(v.number())));
  if (in_message_ > 0 && !v.numbers.empty() && !fixed_number(v.number())) {
    const std::string text = text_later(expression, v.number(), text_of);
    text_types_[*text_slot(text)] = {v.type, v.definition};
    return Value::string(text);
  }
  return Value::string(text_of(constant_number(v, expression.place, "the argument of String()")));
}

std::string Flattener::text_later(const Expression& call, const Expr& value,
                                  std::function<std::string(double)> text) {
  const auto [known, is_new] =
      texts_later_.try_emplace({&call, value.node()}, flat_.text_values.size());
  if (is_new) flat_.text_values.push_back({value, std::move(text)});
  return placeholder(fmt::format("{}", known->second));
}

std::string Flattener::as_written(const std::string& text) const {
  return fill_placeholders(text, [&](const std::string& number) {
    return to_string(flat_.text_values[std::stoul(number)].value);
  });
}

// The text of a message; what is only known at run time is marked, and what cannot be is shown as
// written.
std::string Flattener::message_text(const Expression& expression, const Scope& scope) {
  if (const auto* literal = expression.as<StringLiteral>()) return literal->value;
  if (const auto* sum = expression.as<BinaryExpression>())
    if (sum->op == BinaryOperator::kAdd)
      return message_text(*sum->left, scope) + message_text(*sum->right, scope);
  std::optional<Value> message;
  ++in_message_;
  try {
    message = evaluate(expression, scope);
  } catch (const Error&) {
    message.reset();
  }
  --in_message_;
  if (!message) {
    const auto* c = expression.as<CallExpression>();
    const bool is_string = c != nullptr && c->function.text() == "String" && !c->arguments.empty();
    return to_text(is_string ? *c->arguments.front() : expression);
  }
  if (message->type != BasicType::kString || !message->is_scalar())
    throw Error(fmt::format("the message is {}, not a String", spelling(message->type)),
                expression.place.location());
  return message->text();
}

}  // namespace saltus
