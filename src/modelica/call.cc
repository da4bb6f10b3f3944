// Calls of functions and record constructors.

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/flattener.h"
#include "modelica/operators.h"
#include "modelica/statements.h"

namespace saltus {
namespace {

constexpr std::size_t kMaxCalls = 60;
constexpr std::size_t kWorkWithDerivative =
    300;  // statements that a call with derivatives is worth

// A function of the same name that is nearer, such as an imported exp() of complex numbers.
bool hides_builtin(const InstanceTree::Found& found) {
  if (found.cls == nullptr) return false;
  const ClassKind kind = found.cls->definition->kind;
  return kind == ClassKind::kFunction || kind == ClassKind::kOperatorFunction;
}

// Whether a value holds numbers only, in its fields and in what is bound to a function too.
bool is_known(const Value& value) {
  const auto known = [](const NamedValue& part) { return is_known(part.second); };
  return std::ranges::all_of(value.numbers, [](const Expr& e) { return e.is_number(); }) &&
         std::ranges::all_of(
             value.records,
             [&](const Record& record) { return std::ranges::all_of(record.fields, known); }) &&
         (value.function == nullptr || std::ranges::all_of(value.function->bound, known));
}

}  // namespace

Value Flattener::call(const Expression& expression, const CallExpression& e, const Scope& scope) {
  std::vector<Value> results = call_results(expression, e, scope);
  if (results.empty())
    throw Error(fmt::format("{}() has no result", e.function.text()), expression.place.location());
  return std::move(results.front());
}

std::vector<Value> Flattener::call_results(const Expression& expression, const CallExpression& e,
                                           const Scope& scope) {
  const Place& place = expression.place;
  const ComponentReference& f = e.function;
  if (f.parts.size() == 1 && (f.absolute || !hides_builtin(lookup(f.parts[0].name, scope)))) {
    try {
      if (std::optional<Value> value = call_builtin(f.parts[0].name, expression, e, scope))
        return {*value};
    } catch (const std::out_of_range&) {
      throw Error(fmt::format("{}() has too few arguments", f.text()), place.location());
    }
  }
  if (f.parts.size() == 2 && f.parts[0].name == "Connections")
    if (std::optional<Value> value = call_graph_builtin(f.parts[1].name, e, scope, place))
      return {*value};
  Found first = f.absolute ? tree_.lookup_top(f.parts[0].name) : lookup(f.parts[0].name, scope);
  if (first.local != nullptr && first.local->type == BasicType::kFunction && f.parts.size() == 1) {
    const FunctionValue& function = *first.local->function;
    // The inputs that are already bound are left out when positions are counted.
    std::vector<NamedValue> arguments = function.bound;
    std::size_t next = 0;
    for (const std::string& input : input_names(*function.function, false)) {
      const auto bound = [&](const auto& b) { return b.first == input; };
      if (std::any_of(function.bound.begin(), function.bound.end(), bound)) continue;
      if (next < e.arguments.size())
        arguments.emplace_back(input, evaluate(*e.arguments[next++], scope));
    }
    for (const NamedArgument& named : e.named)
      arguments.emplace_back(named.name, evaluate(*named.value, scope));
    return call_vectorized(*function.function, arguments, place);
  }
  if (!first) tree_.unknown_name(f.parts[0].name, f.text(), scope, place);
  // A function may be an element of a component: a.b.f(x).
  bool through_component = false;
  bool after_class = false;
  for (std::size_t k = 1; k < f.parts.size() && first.local == nullptr; ++k) {
    Instance* at = first.instance;
    if (at != nullptr) {
      if (after_class)
        throw Error(fmt::format("'{}': '{}' is a component and cannot be named behind a class",
                                f.text(), f.parts[k - 1].name),
                    place.location());
      if (at->component != nullptr && at->component->condition != nullptr)
        throw Error(fmt::format("'{}' has a condition and can only be connected, not be used in "
                                "an expression",
                                at->path),
                    place.location());
      through_component = true;
      resolve(*at);
      if (at->target != nullptr) at = at->target;
      if (!f.parts[k - 1].subscripts.empty() || !dimensions(*at).empty())
        throw Error(
            fmt::format("'{}': a function cannot be looked up in an array of components", f.text()),
            place.location());
    } else {
      after_class = through_component;
      at = &tree_.class_instance(*first.cls);
    }
    first = tree_.member_of(*at, f.parts[k].name);
    if (through_component && first.cls != nullptr &&
        (first.cls->definition->kind == ClassKind::kOperator ||
         first.cls->definition->kind == ClassKind::kOperatorFunction))
      throw Error(fmt::format("'{}': an operator cannot be looked up in a component", f.text()),
                  place.location());
    if (!first)
      throw Error(fmt::format("there is no function '{}' in '{}'{}", f.parts[k].name,
                              at->definition().qualified_name(),
                              did_you_mean(f.parts[k].name, tree_.names_in(*at->type.info))),
                  place.location());
    if (first.cls != nullptr && first.cls->definition->visibility == Visibility::kProtected)
      throw Error(fmt::format("'{}' of '{}' is protected and cannot be used from outside",
                              f.parts[k].name, at->definition().name),
                  place.location());
  }
  if (first.cls == nullptr)
    throw Error(fmt::format("'{}' is not a function", f.text()), place.location());
  if (first.cls->definition->kind == ClassKind::kClass &&
      first.cls->definition->form == ClassDefinition::Form::kShort)
    throw Error(fmt::format("'{}' is a class, not a function", f.text()), place.location());
  const TypeRef& type = tree_.type_of(*first.cls);
  Instance& called = tree_.class_instance(*first.cls);
  const ClassDefinition& definition = *type.definition;
  if (definition.kind == ClassKind::kRecord || definition.kind == ClassKind::kOperatorRecord ||
      definition.kind == ClassKind::kConnector) {
    if (definition.kind == ClassKind::kOperatorRecord)
      if (std::optional<Value> made = overloaded_constructor(called, e, scope, place))
        return {*made};
    return {construct_record(called, e, scope, place)};
  }
  if (type.info->basic == BasicType::kObject) {
    // Its class is basic to lookup, but for the functions that make and unmake it.
    const ClassDefinition* constructor = library_.child(&definition, "constructor");
    if (constructor == nullptr) refuse(fmt::format("external object '{}'", definition.name), place);
    ExternalObject object;
    object.definition = &definition;
    object.arguments =
        bind_arguments(tree_.class_instance(tree_.element_of(*constructor)), e, scope, place);
    Value value;
    value.type = BasicType::kObject;
    value.object = std::make_shared<ExternalObject>(std::move(object));
    return {value};
  }
  if (type.info->basic == BasicType::kEnumeration && e.arguments.size() == 1) {
    Value value = evaluate(*e.arguments[0], scope);
    value.type = BasicType::kEnumeration;
    value.definition = type.info->enumeration;
    return {value};
  }
  if (definition.kind != ClassKind::kFunction && definition.kind != ClassKind::kOperatorFunction)
    throw Error(fmt::format("'{}' is a {}, not a function", f.text(), spelling(definition.kind)),
                place.location());
  return call_vectorized(called, bind_arguments(called, e, scope, place), place);
}

std::vector<NamedValue> Flattener::bind_arguments(Instance& function, const CallExpression& e,
                                                  const Scope& scope, const Place& place) {
  const ClassInfo& in = *function.type.info;
  std::vector<NamedValue> result;
  if (!e.iterators.empty()) refuse("a reduction with a function of the model", place);
  const std::vector<std::string> inputs = input_names(function, false);
  if (e.arguments.size() > inputs.size())
    throw Error(fmt::format("{}() takes {} argument{}, not {}", in.definition->name, inputs.size(),
                            inputs.size() == 1 ? "" : "s", e.arguments.size()),
                place.location());
  for (std::size_t k = 0; k < e.arguments.size(); ++k)
    result.emplace_back(inputs[k], evaluate(*e.arguments[k], scope));
  for (const NamedArgument& named : e.named) {
    if (std::find(inputs.begin(), inputs.end(), named.name) == inputs.end())
      throw Error(fmt::format("{}() has no input '{}'{}", in.definition->name, named.name,
                              did_you_mean(named.name, inputs)),
                  named.place.location());
    result.emplace_back(named.name, evaluate(*named.value, scope));
  }
  for (auto& [name, value] : result) {
    const ClassInfo::Element& element = in.elements[in.element_index.at(name)];
    const Scope declared{&function, in.bases[element.base].definition, nullptr};
    const ClassInfo& type = *type_named(element.component->type, declared).info;
    value = converted(value, type, place);
    if (!type.basic || !is_number_like(*type.basic) || value.type == *type.basic ||
        (is_numeric(value.type) && *type.basic == BasicType::kReal))
      continue;
    throw Error(fmt::format("the input '{}' of {}() is {} but is given {}", name,
                            in.definition->name, spelling(*type.basic), spelling(value.type)),
                place.location());
  }
  return result;
}

// A function of scalars called with arrays is applied to each element.
std::vector<Value> Flattener::call_vectorized(Instance& function,
                                              const std::vector<NamedValue>& arguments,
                                              const Place& place) {
  const ClassInfo& in = *function.type.info;
  Dimensions shape;
  std::vector<bool> spread(arguments.size(), false);
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const auto& [name, value] = arguments[k];
    const auto element = in.element_index.find(name);
    if (element == in.element_index.end()) continue;
    const bool is_record = value.type == BasicType::kRecord;
    if ((!is_number_like(value.type) && !is_record) || value.is_scalar()) continue;
    const Component& component = *in.elements[element->second].component;
    if (!component.dimensions.empty()) continue;
    const ClassInfo::Base& base = in.bases[in.elements[element->second].base];
    const TypeRef& type = type_named(component.type, {&function, base.definition, nullptr});
    if (!type.dimensions.empty() || type.info->basic.has_value() == is_record) continue;
    if (shape.empty()) shape = value.dimensions;
    if (shape != value.dimensions)
      throw Error(
          fmt::format("{}() is called with arrays of different shape: {} and {}",
                      function.definition().name, to_text(shape), to_text(value.dimensions)),
          place.location());
    spread[k] = true;
  }
  if (shape.empty()) return call_function(function, arguments, place);
  std::vector<Value> parts;
  for (std::size_t i = 0; i < element_count(shape); ++i) {
    std::vector<NamedValue> one = arguments;
    for (std::size_t k = 0; k < one.size(); ++k)
      if (spread[k]) one[k].second = element(arguments[k].second, i, shape.size());
    std::vector<Value> result = call_function(function, one, place);
    if (result.empty()) return {};
    parts.push_back(std::move(result.front()));
  }
  return {stack(parts, shape, place)};
}

std::vector<Value> Flattener::call_function(Instance& function,
                                            const std::vector<NamedValue>& arguments,
                                            const Place& place) {
  try {
    if (std::optional<std::vector<Value>> native = call_native(function, arguments, place))
      return *native;
  } catch (const std::out_of_range&) {
    throw Error(fmt::format("external function '{}' gets too few arguments, or one of another type",
                            function.definition().qualified_name()),
                place.location());
  }
  std::optional<std::vector<Value>> results = call_with_derivative(function, arguments, place);
  if (results && trace_ == nullptr && frame_ != nullptr && frame_->is_on_a_way())
    work_on_ways_ += kWorkWithDerivative;
  if (!results) results = run_inlined(function, arguments, place);
  note_call(function, arguments, *results);
  return *std::move(results);
}

std::vector<Value> Flattener::run_inlined(Instance& function,
                                          const std::vector<NamedValue>& arguments,
                                          const Place& place) {
  const ClassDefinition& definition = function.definition();
  if (definition.partial)
    throw Error(fmt::format("function '{}' is partial and cannot be called", definition.name),
                place.location());
  if (definition.external)
    refuse(fmt::format("external function '{}'", definition.qualified_name()), place);
  if (definition.form == ClassDefinition::Form::kDerivative) {
    if (std::optional<std::vector<Value>> values = call_traced(function, arguments, place))
      return *values;
    refuse(fmt::format("the function '{}', defined as der(...), with these arguments",
                       definition.name),
           place);
  }
  bool numbers_only = true;
  for (const auto& [name, value] : arguments) numbers_only = numbers_only && is_known(value);
  const bool recursive =
      std::find(call_stack_.begin(), call_stack_.end(), &function) != call_stack_.end();
  const bool outermost = in_function_ == 0;
  const bool may_be_traced = !numbers_only && outermost && trace_ == nullptr;
  // What had too many ways once will have them again.
  if (!numbers_only && trace_ == nullptr && many_ways_.contains(&function)) {
    if (!outermost) throw TooManyWays(definition, place);
    if (std::optional<std::vector<Value>> traced = call_traced(function, arguments, place))
      return *traced;
  }
  if (outermost) work_on_ways_ = 0;
  const int no_event = no_event_;
  const int in_function = in_function_;
  const std::vector<const Instance*> stack = call_stack_;
  const std::vector<std::size_t> ends = end_values_;
  try {
    if ((recursive && !numbers_only && trace_ == nullptr) || call_stack_.size() > kMaxCalls)
      throw Error(fmt::format("function '{}' calls itself without end, or with arguments that vary",
                              definition.qualified_name()),
                  place.location());
    call_stack_.push_back(&function);
    ++no_event_;
    ++in_function_;
    end_values_.clear();
    std::vector<Value> results = run_function(function, arguments, place);
    end_values_ = ends;
    --in_function_;
    --no_event_;
    call_stack_.pop_back();
    return results;
  } catch (const Error& error) {
    no_event_ = no_event;
    in_function_ = in_function;
    call_stack_ = stack;
    end_values_ = ends;
    if (dynamic_cast<const TooManyWays*>(&error) != nullptr && trace_ == nullptr)
      many_ways_.insert(&function);
    // What cannot be written as one expression can still be run with numbers.
    if (!may_be_traced) throw;
    if (std::optional<std::vector<Value>> traced = call_traced(function, arguments, place))
      return *traced;
    throw;
  }
}

Value Flattener::construct_record(Instance& record, const CallExpression& e, const Scope& scope,
                                  const Place& place) {
  const ClassInfo& in = *record.type.info;
  // Fields that cannot be changed are no inputs of the constructor.
  std::vector<std::string> names;
  for (const ClassInfo::Element& element : in.elements) {
    const Component& c = *element.component;
    const bool has_value = c.modification != nullptr && c.modification->value != nullptr;
    if (!c.final && !(c.variability == Variability::kConstant && has_value) &&
        c.visibility == Visibility::kPublic)
      names.push_back(c.name);
  }
  std::vector<NamedValue> given;
  for (std::size_t k = 0; k < e.arguments.size(); ++k) {
    if (k >= names.size())
      throw Error(fmt::format("{}() takes {} field{}", in.definition->name, names.size(),
                              names.size() == 1 ? "" : "s"),
                  place.location());
    given.emplace_back(names[k], evaluate(*e.arguments[k], scope));
  }
  for (const NamedArgument& named : e.named) {
    if (std::find(names.begin(), names.end(), named.name) == names.end()) {
      throw Error(fmt::format("record '{}' has no '{}'{}", in.definition->name, named.name,
                              did_you_mean(named.name, names)),
                  named.place.location());
    }
    given.emplace_back(named.name, evaluate(*named.value, scope));
  }
  return make_record(record, given, {}, false, place);
}

}  // namespace saltus
