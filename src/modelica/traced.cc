#include "modelica/traced.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "expr/differentiate.h"
#include "expr/number.h"
#include "expr/table.h"
#include "expr/traverse.h"

namespace saltus {
namespace {

constexpr std::size_t kMostWays = 50;

double value_of_node(const Node& node, const std::vector<double>& arguments) {
  if (node.op == Op::kTable) return node.table->evaluate(arguments[0], node.order);
  if (node.op == Op::kCall) return node.function->evaluate(arguments.data());
  const auto argument = [&](std::size_t k) { return k < arguments.size() ? arguments[k] : 0.0; };
  return apply(node.op, argument(0), argument(1), argument(2));
}

// Calls visit(number, type) for every number of a value, those bound to a function included; visit
// may change it.
template <class Visit>
void for_each_number(Value& value, Visit&& visit) {
  for (Expr& number : value.numbers) visit(number, value.type);
  for (Record& record : value.records)
    for (NamedValue& field : record.fields) for_each_number(field.second, visit);
  if (value.function == nullptr) return;
  FunctionValue own = *value.function;
  for (NamedValue& bound : own.bound) for_each_number(bound.second, visit);
  value.function = std::make_shared<FunctionValue>(std::move(own));
}

}  // namespace

double Trace::at_point(const Expr& expression) {
  if (expression.is_number()) return expression.number();
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(expression.node(), position, order,
                   [&](const Node*, const Node* child) { return !known.contains(child); });
  std::vector<double> arguments;
  for (const Node* node : order) {
    if (known.contains(node)) continue;
    double value = 0.0;
    if (node->op == Op::kConstant) {
      value = node->value;
    } else if (node->op == Op::kVariable) {
      value = point[node->index];
    } else if (!is_leaf(node->op)) {
      arguments.clear();
      for (const Node* child : node->children) arguments.push_back(known.at(child));
      value = value_of_node(*node, arguments);
    }
    known[node] = value;
  }
  return known.at(expression.node());
}

void Trace::note(const Expr& expression, double value) {
  if (!decided.empty() && decided.back().same_as(expression)) return;
  decided.push_back(expression);
  values.push_back(value);
}

TracedFunction::TracedFunction(std::shared_ptr<InstanceTree> tree, Instance& function,
                               std::vector<NamedValue> arguments, std::size_t inputs, Place place)
    : tree_(std::move(tree)),
      function_(function),
      scratch_(function.definition().name),
      host_(tree_, scratch_),
      place_(place),
      arguments_(std::move(arguments)) {
  for (std::size_t k = 0; k < inputs; ++k)
    symbols_.push_back(scratch_.system.variable(fmt::format("input {}", k + 1)));
}

std::vector<Value> TracedFunction::run(const std::vector<double>& point) {
  const std::lock_guard<std::recursive_mutex> lock(tree_->mutex);
  auto made = std::make_unique<Way>();
  Way& way = *made;
  way.trace.point = point;
  way.trace.apart = &apart_;
  std::vector<Value> values = host_.trace(function_, arguments_, place_, way.trace);
  for (Value& value : values)
    for_each_number(value,
                    [&](const Expr& number, BasicType) { way.trace.results.push_back(number); });
  if (result_count_ != 0 && way.trace.results.size() != result_count_)
    throw Error(
        fmt::format("function '{}' changes the size of its result", function_.definition().name),
        place_.location());
  result_count_ = way.trace.results.size();
  way.trace.known.clear();
  way.decided = compile(way.trace.decided);
  if (ways_.size() == kMostWays) {
    for (Known& known : known_)
      if (known.way == ways_.back().get()) known = {};
    ways_.pop_back();
  }
  ways_.push_front(std::move(made));
  return values;
}

TracedFunction::Compiled TracedFunction::compile(const std::vector<Expr>& expressions) const {
  Compiled made;
  made.tape = Tape(expressions, {symbols_}, TapeCode::kInterpreted);
  made.registers = made.tape.make_workspace();
  made.values.resize(expressions.size());
  return made;
}

void TracedFunction::evaluate(Compiled& compiled, const double* inputs) {
  const double* groups[] = {inputs};
  compiled.tape.evaluate(groups, compiled.registers, compiled.values.data());
}

// Whether the way is the one taken from there.
bool TracedFunction::agrees(Way& way, const double* inputs) {
  evaluate(way.decided, inputs);
  return way.decided.values == way.trace.values;
}

// A way that has just been run decides as its statements do, one operation after the other. Its
// compiled formulas may round otherwise: where what is decided is as small as that, they would join
// results of several ways.
void TracedFunction::find_way(Known& at) {
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    if (!agrees(*ways_[k], at.point.data())) continue;
    if (k > 0) std::swap(ways_[0], ways_[k]);
    at.way = ways_[0].get();
    return;
  }
  run(at.point);
  at.way = ways_[0].get();
  at.is_doubtful = !agrees(*at.way, at.point.data());
}

TracedFunction::Known& TracedFunction::known_at(const double* inputs) {
  for (Known& known : known_)
    if (known.point.size() == symbols_.size() &&
        std::equal(known.point.begin(), known.point.end(), inputs))
      return known;
  Known found{std::vector<double>(inputs, inputs + symbols_.size()), nullptr, {}, false};
  // Called from compiled code, which nothing may be thrown through: what cannot be run is no
  // number, and the step that asked for it is rejected.
  try {
    if (std::ranges::all_of(found.point, [](double x) { return std::isfinite(x); }))
      find_way(found);
  } catch (const Error&) {
  }
  Known& known = known_[oldest_known_];
  oldest_known_ = (oldest_known_ + 1) % known_.size();
  known = std::move(found);
  return known;
}

double TracedFunction::value(const double* inputs, std::size_t output,
                             const std::vector<std::size_t>& by) {
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    Known& known = known_at(inputs);
    if (known.way == nullptr) return std::numeric_limits<double>::quiet_NaN();
    Way& way = *known.way;
    const auto [place, is_new] = way.places.try_emplace({output, by}, way.wanted.size());
    if (is_new) {
      Expr result = way.trace.results[output];
      for (const std::size_t k : by) result = partial(result, symbols_[k]);
      way.wanted.push_back(result);
      way.results = compile(way.wanted);
    }
    if (place->second >= known.values.size()) {
      if (known.is_doubtful) {
        Trace here;
        here.point = known.point;
        known.values.clear();
        for (const Expr& result : way.wanted) known.values.push_back(here.at_point(result));
      } else {
        evaluate(way.results, inputs);
        known.values = way.results.values;
      }
    }
    return known.values[place->second];
  } catch (const std::exception&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

std::shared_ptr<const Function> TracedFunction::output(std::size_t output,
                                                       const std::vector<std::size_t>& by) {
  Function f;
  f.name = function_.definition().qualified_name();
  if (output > 0) f.name += fmt::format("#{}", output + 1);
  for (const std::size_t k : by) f.name += fmt::format("'{}", k + 1);
  f.arity = symbols_.size();
  const std::shared_ptr<TracedFunction> self = shared_from_this();
  f.evaluate = [self, output, by](const double* inputs) { return self->value(inputs, output, by); };
  f.partial = [self, output, by](std::size_t argument, const std::vector<Expr>& arguments) {
    std::vector<std::size_t> more = by;
    more.push_back(argument);
    return saltus::call(self->output(output, more), arguments);
  };
  return std::make_shared<const Function>(std::move(f));
}

std::vector<Value> Flattener::trace(Instance& function, const std::vector<NamedValue>& arguments,
                                    const Place& place, Trace& into) {
  trace_ = &into;
  std::vector<Value> results;
  errors_.clear();
  attempt([&] { results = call_function(function, arguments, place); });
  trace_ = nullptr;
  throw_errors();
  return results;
}

std::optional<std::vector<Value>> Flattener::call_traced(Instance& called,
                                                         const std::vector<NamedValue>& arguments,
                                                         const Place& place) {
  std::vector<Expr> inputs;
  bool possible = true;
  std::vector<NamedValue> shape = arguments;
  // function g = der(f, x): f is run, and its partial derivatives are what is asked for.
  const ClassDefinition& definition = called.definition();
  const bool is_partial = definition.form == ClassDefinition::Form::kDerivative;
  Instance& function =
      is_partial ? tree_.class_instance(tree_.lookup_class(definition.base, called.type.scope))
                 : called;
  if (is_partial)  // an Integer may be given for a Real
    for (const std::string& input : input_names(function, true))
      for (NamedValue& argument : shape)
        if (argument.first == input) argument.second.type = BasicType::kReal;
  std::unordered_map<std::string, std::size_t> first_input;
  for (NamedValue& argument : shape) {
    first_input[argument.first] = inputs.size();
    if (argument.second.type == BasicType::kObject) possible = false;
    for_each_number(argument.second, [&](Expr& number, BasicType type) {
      if (number.is_number() && !(is_partial && type == BasicType::kReal)) return;
      // Sizes and choices are read at translation, as elsewhere.
      if (type != BasicType::kReal)
        if (const std::optional<double> known = fixed_number(number)) {
          number = *known;
          return;
        }
      inputs.push_back(number);
    });
  }
  if (!possible || inputs.empty()) return std::nullopt;
  std::vector<std::size_t> by;
  for (const std::string& name : definition.differentiated) {
    const auto given = std::ranges::find_if(
        shape, [&](const NamedValue& argument) { return argument.first == name; });
    if (given == shape.end() || given->second.type != BasicType::kReal ||
        !given->second.is_scalar())
      throw Error(
          fmt::format("'{}' is differentiated by '{}', which is no Real input that is given",
                      definition.name, name),
          place.location());
    by.push_back(first_input.at(name));
  }
  const auto traced =
      std::make_shared<TracedFunction>(owned_tree_, function, shape, inputs.size(), place);
  std::size_t next = 0;
  for (NamedValue& argument : shape)
    for_each_number(argument.second, [&](Expr& number, BasicType type) {
      if (!number.is_number() || (is_partial && type == BasicType::kReal))
        number = traced->symbols()[next++];
    });
  traced->set_arguments(shape);
  // The shape of the results is that at the start values.
  std::vector<Value> results;
  std::vector<Expr> leaves = leaves_of(inputs);
  std::vector<Expr> starts;
  for (const Expr& leaf : leaves) {
    if (leaf.is_variable() && leaf.node()->order == 0)
      starts.push_back(
          fixed_number(flat_.system.variable(leaf.node()->variable()).start).value_or(0.0));
    else if (leaf.is_parameter())
      starts.push_back(fixed_number(leaf).value_or(0.0));
    else if (leaf.node()->op == Op::kTime)
      starts.push_back(flat_.system.experiment.start_time);
    else
      starts.push_back(0.0);
  }
  std::vector<double> point;
  for (const Expr& input : inputs)
    point.push_back(fixed_number(substitute(input, leaves, starts)).value_or(0.0));
  // Where the function refuses these numbers by an assertion, it may accept others: then its
  // results are shaped as it declares them.
  const auto declared = [&](const Error& error) {
    if (std::string_view(error.what()).find("assertion violated: ") == std::string_view::npos)
      return false;
    results.clear();
    Locals locals;
    for (const ClassInfo::Element& element : function.type.info->elements) {
      const Component& component = *element.component;
      const auto given = std::ranges::find_if(
          arguments, [&](const NamedValue& a) { return a.first == component.name; });
      const bool is_output = causality_in(function, element) == Causality::kOutput;
      if (is_output && std::ranges::any_of(component.dimensions, [](const ExpressionPtr& d) {
            return d->as<WholeDimension>() != nullptr;
          }))
        return false;
      try {
        locals.values.emplace_back(component.name,
                                   given != arguments.end()
                                       ? given->second
                                       : declared_value(function, element, locals, place));
      } catch (const Error&) {
        if (is_output) return false;
        continue;
      }
      if (is_output) results.push_back(locals.values.back().second);
    }
    for (Value& value : results)
      for_each_number(value, [](Expr& number, BasicType) { number = 0.0; });
    return true;
  };
  try {
    results = traced->run(point);
  } catch (const Error&) {
    try {
      results = traced->run(std::vector<double>(inputs.size(), 1.0));
    } catch (const Error& error) {
      if (!declared(error)) return std::nullopt;
    }
  }
  // A text is known at translation, or it is not known at all.
  const std::function<bool(const Value&)> has_text = [&](const Value& value) {
    return !value.strings.empty() || std::ranges::any_of(value.records, [&](const Record& record) {
      return std::ranges::any_of(record.fields,
                                 [&](const NamedValue& field) { return has_text(field.second); });
    });
  };
  if (std::ranges::any_of(results, has_text)) return std::nullopt;
  std::size_t output = 0;
  for (Value& value : results)
    for_each_number(value, [&](Expr& number, BasicType) {
      number = saltus::call(traced->output(output++, by), inputs);
    });
  return results;
}

}  // namespace saltus
