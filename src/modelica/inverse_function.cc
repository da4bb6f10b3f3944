// annotation(inverse(x = g(y))) of a function y = f(x): the same relation solved for an input.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/expression_children.h"
#include "modelica/flattener.h"

namespace saltus {
namespace {

bool mentions(const Expression& expression, const std::string& name) {
  const auto* r = expression.as<ComponentReference>();
  if (r != nullptr && r->parts.front().name == name) return true;
  bool any = false;
  for_each_child(expression, [&](const Expression& e) { any = any || mentions(e, name); });
  return any;
}

}  // namespace

const std::vector<Flattener::Inverse>& Flattener::inverses_of(Instance& function) {
  const auto [place, is_new] = inverses_.try_emplace(&function);
  std::vector<Inverse>& found = place->second;
  const ModificationPtr annotation = function.definition().annotation();
  const Argument* inverse = annotation == nullptr ? nullptr : annotation->find("inverse");
  if (!is_new || inverse == nullptr) return found;
  const std::string whose = fmt::format("the inverse of '{}'", function.definition().name);
  if (inverse->modification == nullptr || inverse->modification->value != nullptr ||
      inverse->modification->arguments.empty())
    throw Error(whose + " is written inverse(x = g(y)), with x an input and y the output",
                inverse->place.location());
  std::vector<std::string> outputs;
  for (const ClassInfo::Element& element : function.type.info->elements)
    if (causality_in(function, element) == Causality::kOutput)
      outputs.push_back(element.component->name);
  if (outputs.size() != 1)
    throw Error(fmt::format("{}: a function with {} outputs has none", whose, outputs.size()),
                inverse->place.location());
  const std::vector<std::string> inputs = input_names(function, false);
  for (const Argument& argument : inverse->modification->arguments) {
    const std::string input = argument.name.text();
    if (std::find(inputs.begin(), inputs.end(), input) == inputs.end())
      throw Error(
          fmt::format("{}: '{}' is no input of it{}", whose, input, did_you_mean(input, inputs)),
          argument.place.location());
    if (argument.modification == nullptr || argument.modification->value == nullptr)
      throw Error(fmt::format("{}: '{}' has no value", whose, input), argument.place.location());
    const Expression& value = *argument.modification->value;
    if (mentions(value, input))
      throw Error(fmt::format("{} gives '{}' by itself", whose, input), value.place.location());
    if (!mentions(value, outputs.front()))
      throw Error(fmt::format("{} does not depend on its output '{}'", whose, outputs.front()),
                  value.place.location());
    found.push_back({input, outputs.front(), &value});
  }
  return found;
}

void Flattener::note_call(Instance& function, const std::vector<NamedValue>& arguments,
                          const std::vector<Value>& results) {
  if (in_function_ > 0 || inverses_of(function).empty()) return;
  if (results.size() != 1 || !results[0].is_scalar() || results[0].type != BasicType::kReal) return;
  // Defaults of inputs that are left out are not known here.
  if (arguments.size() != input_names(function, false).size()) return;
  const Expr& result = results[0].number();
  if (!result.is_number()) calls_with_inverse_[result.node()] = {&function, arguments};
}

void Flattener::note_solved(const Expr& result, const Expr& given, EquationSink& sink) {
  const auto known =
      result.is_number() ? calls_with_inverse_.end() : calls_with_inverse_.find(result.node());
  if (sink.solved == nullptr || known == calls_with_inverse_.end()) return;
  // Calls in the inverse are noted as well, so what is known here may move.
  Instance& function = *known->second.function;
  const std::vector<NamedValue> arguments = known->second.arguments;
  for (const Inverse& inverse : inverses_of(function)) {
    Locals locals;
    locals.values = arguments;
    const Value* input = locals.find(inverse.input);
    if (!input->is_scalar() || !input->number().is_variable()) continue;
    const Expr variable = input->number();
    locals.values.emplace_back(inverse.output, Value::real(given));
    ++no_event_;
    const Value value = evaluate(*inverse.value, {&function, &function.definition(), &locals});
    --no_event_;
    if (!value.is_scalar() || !is_numeric(value.type))
      throw Error(fmt::format("the inverse of '{}' is no number", function.definition().name),
                  inverse.value->place.location());
    sink.solved->push_back({sink.items->size() - 1, variable, value.number()});
  }
}

}  // namespace saltus
