#include "modelica/derivative_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/error.h"
#include "expr/differentiate.h"
#include "expr/tape.h"
#include "expr/traverse.h"

namespace saltus {
namespace {

const Expression* value_of(const Argument& argument) {
  return argument.modification == nullptr ? nullptr : argument.modification->value.get();
}

bool is_true(const Argument* argument) {
  const Expression* value = argument == nullptr ? nullptr : value_of(*argument);
  const auto* literal = value == nullptr ? nullptr : value->as<BooleanLiteral>();
  return literal != nullptr && literal->value;
}

// Calls visit(number, type) for every number of a value; visit may change it.
template <class V, class Visit>
void for_each_number(V& value, Visit&& visit) {
  for (auto& number : value.numbers) visit(number, value.type);
  for (auto& record : value.records)
    for (auto& field : record.fields) for_each_number(field.second, visit);
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// An expression of symbols `from` in the graph of `to`.
Expr transplanted(const Expr& a, const std::vector<Expr>& from, const std::vector<Expr>& to) {
  if (a.is_number()) return a;
  Graph* graph = nullptr;
  for (const Expr& e : to)
    if (e.node() != nullptr) graph = e.node()->graph;
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(a.node(), position, order);
  std::vector<Expr> made(order.size());
  std::vector<Expr> children;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Node* node = order[k];
    if (is_leaf(node->op)) {
      Expr value = node->value;
      if (node->op != Op::kConstant) {
        const auto at = std::find_if(from.begin(), from.end(),
                                     [&](const Expr& symbol) { return symbol.node() == node; });
        if (at == from.end())
          throw Error(fmt::format("a function depends on '{}', which is none of its inputs",
                                  to_string(Expr(node))));
        value = to[static_cast<std::size_t>(at - from.begin())];
      }
      // A number becomes a node, so that 1/x at x = 0 stays an expression.
      made[k] = value.is_number() && graph != nullptr ? graph->constant(value.number()) : value;
      continue;
    }
    children.clear();
    for (const Node* child : node->children) children.push_back(made[position.find(child)]);
    made[k] = rebuild(node, children);
  }
  return made.back();
}

}  // namespace

bool DerivativeAnnotation::leaves_out(const std::string& input) const {
  return holds(zero, input) || holds(none, input);
}

std::vector<DerivativeAnnotation> derivative_annotations(const ClassDefinition& function) {
  std::vector<DerivativeAnnotation> found;
  if (function.annotation() == nullptr || is_true(function.annotation()->find("Inline")))
    return found;
  for (const Argument& argument : function.annotation()->arguments) {
    const Expression* value = value_of(argument);
    if (argument.name.text() != "derivative" || value == nullptr) continue;
    const auto* name = value->as<ComponentReference>();
    if (name == nullptr)
      throw Error("the derivative of a function is the name of another", value->place.location());
    DerivativeAnnotation annotation;
    annotation.function.place = value->place;
    annotation.function.absolute = name->absolute;
    for (const auto& part : name->parts) annotation.function.parts.push_back(part.name);
    for (const Argument& option : argument.modification->arguments) {
      const Expression* given = value_of(option);
      if (given == nullptr) continue;
      const std::string what = option.name.text();
      if (const auto* input = given->as<ComponentReference>()) {
        if (what == "zeroDerivative") annotation.zero.push_back(input->text());
        if (what == "noDerivative") annotation.none.push_back(input->text());
      } else if (const auto* order = given->as<IntegerLiteral>(); order && what == "order") {
        annotation.order = static_cast<int>(order->value);
      }
    }
    found.push_back(std::move(annotation));
  }
  return found;
}

DerivativeFunction::DerivativeFunction(std::shared_ptr<InstanceTree> tree, Call call,
                                       std::vector<Expr> inputs)
    : tree_(std::move(tree)),
      call_(std::move(call)),
      inputs_(std::move(inputs)),
      scratch_(call_.function->definition().name),
      host_(tree_, scratch_) {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    symbols_.push_back(scratch_.system.variable(fmt::format("input {}", k + 1)));
    slope_symbols_.push_back(
        scratch_.system.variable(fmt::format("derivative of input {}", k + 1)));
  }
  std::size_t next = 0;
  for (NamedValue& argument : call_.arguments)
    for (Expr& number : argument.second.numbers)
      if (!number.is_number()) number = symbols_[next++];
}

std::vector<Value> DerivativeFunction::results() {
  const std::lock_guard<std::recursive_mutex> lock(tree_->mutex);
  std::vector<Value> made = host_.results_of(*call_.function, call_.arguments, call_.place, true);
  std::size_t real = 0;
  for (Value& value : made)
    for_each_number(value, [&](Expr& number, BasicType type) {
      if (type == BasicType::kReal) ++real;
      if (number.is_number()) return;
      number = type == BasicType::kReal ? saltus::call(function_of(number, real - 1), inputs_)
                                        : transplanted(number, symbols_, inputs_);
    });
  return made;
}

std::shared_ptr<const Function> DerivativeFunction::function_of(const Expr& value,
                                                                std::size_t real) {
  struct Compiled {
    Tape tape;
    Tape::Workspace registers;
    std::mutex mutex;
  };
  const auto compiled = std::make_shared<Compiled>();
  compiled->tape = Tape(std::vector<Expr>{value}, {symbols_}, TapeCode::kInterpreted);
  compiled->registers = compiled->tape.make_workspace();
  Function f;
  f.name = call_.function->definition().qualified_name();
  if (real > 0) f.name += fmt::format("#{}", real + 1);
  f.arity = symbols_.size();
  f.evaluate = [compiled](const double* inputs) {
    const std::lock_guard<std::mutex> lock(compiled->mutex);
    double result = std::numeric_limits<double>::quiet_NaN();
    const double* groups[] = {inputs};
    compiled->tape.evaluate(groups, compiled->registers, &result);
    return result;
  };
  const std::shared_ptr<DerivativeFunction> self = shared_from_this();
  f.partial = [self, value](std::size_t argument, const std::vector<Expr>& arguments) {
    return transplanted(saltus::partial(value, self->symbols_[argument]), self->symbols_,
                        arguments);
  };
  f.rate = [self, real](const std::vector<Expr>& arguments, const std::vector<Expr>& slopes) {
    return self->rate(real, arguments, slopes);
  };
  return std::make_shared<const Function>(std::move(f));
}

Expr DerivativeFunction::rate(std::size_t real, const std::vector<Expr>& arguments,
                              const std::vector<Expr>& slopes) {
  if (derivatives_.empty()) {
    const std::lock_guard<std::recursive_mutex> lock(tree_->mutex);
    std::vector<NamedValue> given;
    for (std::size_t k = 0; k < call_.inputs.size(); ++k)
      for (const NamedValue& argument : call_.arguments)
        if (argument.first == call_.inputs[k])
          given.emplace_back(call_.derivative_inputs[k], argument.second);
    std::size_t next = call_.inputs.size();
    for (const std::string& name : call_.differentiated) {
      std::size_t symbol = 0;
      Value slope = Value::real(0.0);  // of an input that is left to its default
      for (const NamedValue& argument : call_.arguments) {
        Value own = argument.second;
        for (Expr& number : own.numbers)
          number = number.is_number() ? 0.0 : slope_symbols_[symbol++];
        if (argument.first == name) slope = std::move(own);
      }
      given.emplace_back(call_.derivative_inputs[next++], std::move(slope));
    }
    for (const Value& value : host_.results_of(*call_.derivative, given, call_.place, false))
      for_each_number(value, [&](const Expr& number, BasicType type) {
        if (type == BasicType::kReal) derivatives_.push_back(number);
      });
  }
  if (real >= derivatives_.size())
    throw Error(fmt::format("'{}' has fewer results than '{}', whose derivative it should be",
                            call_.derivative->definition().qualified_name(),
                            call_.function->definition().qualified_name()),
                call_.derivative->definition().place.location());
  std::vector<Expr> from = symbols_;
  from.insert(from.end(), slope_symbols_.begin(), slope_symbols_.end());
  std::vector<Expr> to = arguments;
  to.insert(to.end(), slopes.begin(), slopes.end());
  return transplanted(derivatives_[real], from, to);
}

std::vector<Value> Flattener::results_of(Instance& function,
                                         const std::vector<NamedValue>& arguments,
                                         const Place& place, bool is_value) {
  std::vector<Value> results;
  errors_.clear();
  attempt([&] {
    results = is_value ? run_inlined(function, arguments, place)
                       : call_function(function, arguments, place);
  });
  throw_errors();
  return results;
}

namespace {

// How many of the inputs of a function are derivatives, because a function beside it names it as
// its derivative; 0: none does.
std::size_t derivative_inputs_of(const ClassDefinition& function, std::size_t inputs) {
  if (function.enclosing == nullptr) return 0;
  for (const auto& other : function.enclosing->classes) {
    if (other->kind != ClassKind::kFunction || other.get() == &function) continue;
    for (const DerivativeAnnotation& annotation : derivative_annotations(*other)) {
      if (annotation.function.parts.back() != function.name) continue;
      const auto own = static_cast<std::size_t>(std::ranges::count_if(
          other->components, [](const Component& c) { return c.causality == Causality::kInput; }));
      return inputs > own ? inputs - own : 0;
    }
  }
  return 0;
}

}  // namespace

Causality Flattener::causality_in(Instance& function, const ClassInfo::Element& element) {
  const Component& component = *element.component;
  if (component.causality != Causality::kNone || component.visibility != Visibility::kPublic)
    return component.causality;
  const Scope scope{&function, function.type.info->bases[element.base].definition, nullptr};
  const Causality causality = type_named(component.type, scope).causality;
  if (causality == Causality::kNone)
    throw Error(fmt::format("'{}' of function '{}' is public but neither input nor output; make it "
                            "protected",
                            component.name, function.definition().name),
                component.place.location());
  return causality;
}

std::vector<std::string> Flattener::input_names(Instance& function, bool only_real) {
  std::vector<std::string> names;
  const ClassInfo& in = *function.type.info;
  for (const ClassInfo::Element& element : in.elements) {
    const Component& component = *element.component;
    if (causality_in(function, element) != Causality::kInput) continue;
    const Scope scope{&function, in.bases[element.base].definition, nullptr};
    if (!only_real || type_named(component.type, scope).info->basic == BasicType::kReal)
      names.push_back(component.name);
  }
  return names;
}

std::optional<std::vector<Value>> Flattener::call_with_derivative(
    Instance& function, const std::vector<NamedValue>& arguments, const Place& place) {
  const ClassDefinition& definition = function.definition();
  if (trace_ != nullptr || definition.annotation() == nullptr) return std::nullopt;
  const std::vector<DerivativeAnnotation> annotations = derivative_annotations(definition);
  if (annotations.empty()) return std::nullopt;
  DerivativeFunction::Call made;
  made.function = &function;
  made.inputs = input_names(function, false);
  const std::vector<std::string> real_inputs = input_names(function, true);
  made.arguments = arguments;
  made.place = place;
  std::vector<Expr> unknown;
  std::vector<std::string> varying;
  for (NamedValue& argument : made.arguments) {
    Value& value = argument.second;
    // Derivatives of records would need records of another type.
    if (!is_number_like(value.type) && value.type != BasicType::kString) return std::nullopt;
    if (holds(real_inputs, argument.first)) value.type = BasicType::kReal;
    bool varies = false;
    for (const Expr& number : value.numbers) {
      if (number.is_number()) continue;
      unknown.push_back(number);
      varies = varies || varies_continuously(number);
    }
    if (varies) varying.push_back(argument.first);
  }
  if (varying.empty()) return std::nullopt;  // there is nothing to differentiate

  for (const DerivativeAnnotation& annotation : annotations) {
    const bool applies = std::none_of(annotation.zero.begin(), annotation.zero.end(),
                                      [&](const std::string& k) { return holds(varying, k); });
    if (!applies) continue;
    made.derivative = &tree_.class_instance(
        tree_.lookup_class(annotation.function, {&function, &definition, nullptr}));
    made.derivative_inputs = input_names(*made.derivative, false);
    made.differentiated.clear();
    if (annotation.order > 1) {
      // Inputs of order 2: those of the first derivative, then the derivatives of its last ones.
      const std::size_t more = made.derivative_inputs.size() -
                               std::min(made.derivative_inputs.size(), made.inputs.size());
      if (more <= made.inputs.size())
        made.differentiated.assign(made.inputs.end() - static_cast<std::ptrdiff_t>(more),
                                   made.inputs.end());
    } else {
      for (const std::string& input : real_inputs)
        if (!annotation.leaves_out(input)) made.differentiated.push_back(input);
    }
    // The derivative of a derivative may be written as one of the next order: the last inputs are
    // the derivatives so far, and only their derivatives are added.
    const std::size_t last = derivative_inputs_of(definition, made.inputs.size());
    if (last > 0 && made.derivative_inputs.size() == made.inputs.size() + last)
      made.differentiated.assign(made.inputs.end() - static_cast<std::ptrdiff_t>(last),
                                 made.inputs.end());
    const std::size_t needed = made.inputs.size() + made.differentiated.size();
    if (made.derivative_inputs.size() != needed || made.differentiated.empty())
      throw Error(fmt::format("'{}' cannot be the derivative of '{}': it has {} inputs, not {}",
                              made.derivative->definition().qualified_name(),
                              definition.qualified_name(), made.derivative_inputs.size(), needed),
                  annotation.function.place.location());
    return std::make_shared<DerivativeFunction>(owned_tree_, std::move(made), std::move(unknown))
        ->results();
  }
  return std::nullopt;
}

}  // namespace saltus
