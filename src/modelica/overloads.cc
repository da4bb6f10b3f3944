// Operators of operator records such as Complex (Modelica 3.6, chapter 14).

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {

std::vector<Instance*> Flattener::operator_functions(const ClassDefinition& record,
                                                     const std::string& name) {
  std::vector<Instance*> result;
  const Found found = tree_.member_of(tree_.element_of(record), name);
  if (found.cls == nullptr) return result;
  Instance& holder = tree_.class_instance(*found.cls);
  if (holder.definition().kind != ClassKind::kOperator) {
    result.push_back(&holder);
    return result;
  }
  for (const std::string& inside : library_.child_names(&holder.definition()))
    if (const Found function = tree_.member_of(holder, inside); function.cls != nullptr)
      result.push_back(&tree_.class_instance(*function.cls));
  return result;
}

Value Flattener::converted(const Value& value, const ClassInfo& wanted, const Place& place) {
  if (wanted.basic || !is_numeric(value.type) ||
      wanted.definition->kind != ClassKind::kOperatorRecord)
    return value;
  for (Instance* constructor : operator_functions(*wanted.definition, "'constructor'")) {
    // It takes the number as its first input; the others have defaults.
    const ClassInfo& in = *constructor->type.info;
    const std::vector<std::string> inputs = input_names(*constructor, false);
    const auto component = [&](const std::string& input) -> const ClassInfo::Element& {
      return in.elements[in.element_index.at(input)];
    };
    if (inputs.empty() || std::any_of(inputs.begin() + 1, inputs.end(), [&](const auto& input) {
          const ModificationPtr& m = component(input).component->modification;
          return m == nullptr || m->value == nullptr;
        }))
      continue;
    const ClassInfo::Element& first = component(inputs[0]);
    const Scope declared{constructor, in.bases[first.base].definition, nullptr};
    const std::optional<BasicType> taken = type_named(first.component->type, declared).info->basic;
    if (taken != value.type && taken != BasicType::kReal) continue;
    std::vector<Value> made = call_vectorized(*constructor, {{inputs[0], value}}, place);
    if (made.size() == 1) return std::move(made[0]);
  }
  return value;
}

// The function whose inputs fit as they are or, as a second choice, after numbers are converted.
std::optional<Value> Flattener::try_overload(const std::string& name,
                                             const std::vector<Value>& operands,
                                             const Place& place) {
  for (const bool convert : {false, true})
    for (const Value& owner : operands) {
      if (owner.type != BasicType::kRecord || owner.definition == nullptr) continue;
      for (Instance* function : operator_functions(*owner.definition, name)) {
        const ClassInfo& in = *function->type.info;
        const std::vector<std::string> inputs = input_names(*function, false);
        if (inputs.size() < operands.size()) continue;
        std::vector<NamedValue> arguments;
        for (std::size_t k = 0; k < operands.size(); ++k) {
          const ClassInfo::Element& element = in.elements[in.element_index.at(inputs[k])];
          const Scope declared{function, in.bases[element.base].definition, nullptr};
          const TypeRef& type = type_named(element.component->type, declared);
          if (element.component->dimensions.size() + type.dimensions.size() !=
              operands[k].dimensions.size())
            break;
          const Value given = convert ? converted(operands[k], *type.info, place) : operands[k];
          const bool fits =
              given.type == BasicType::kRecord
                  ? given.definition == type.definition
                  : type.info->basic &&
                        (given.type == *type.info->basic ||
                         (is_numeric(given.type) && *type.info->basic == BasicType::kReal));
          if (!fits) break;
          arguments.emplace_back(inputs[k], given);
        }
        if (arguments.size() != operands.size()) continue;
        // The other inputs have defaults, or it is another operator of the same name.
        bool complete = true;
        for (std::size_t k = operands.size(); k < inputs.size(); ++k) {
          const Component& c = *in.elements[in.element_index.at(inputs[k])].component;
          complete = complete && c.modification != nullptr && c.modification->value != nullptr;
        }
        if (!complete) continue;
        std::vector<Value> results = call_function(*function, arguments, place);
        if (results.size() == 1) return std::move(results[0]);
      }
    }
  return std::nullopt;
}

Value Flattener::overloaded_elements(const std::string& name, const Value& a, const Value& b,
                                     const Place& place) {
  const Dimensions& shape = a.is_scalar() ? b.dimensions : a.dimensions;
  if (!a.is_scalar() && !b.is_scalar() && a.dimensions != b.dimensions)
    throw Error(fmt::format("{} of {} and {}", name, to_text(a.dimensions), to_text(b.dimensions)),
                place.location());
  std::vector<Value> parts;
  for (std::size_t k = 0; k < element_count(shape); ++k)
    parts.push_back(overloaded(name,
                               {a.is_scalar() ? a : element(a, k, shape.size()),
                                b.is_scalar() ? b : element(b, k, shape.size())},
                               place));
  if (parts.empty()) refuse("an operator of arrays without elements", place);
  return stack(parts, shape, place);
}

// Products of vectors and matrices, made of sums and products of their elements.
Value Flattener::overloaded_product(const Value& a, const Value& b, const Place& place) {
  if (a.dimensions.back() != b.dimensions.front())
    throw Error(fmt::format("product of {} and {}", to_text(a.dimensions), to_text(b.dimensions)),
                place.location());
  const auto dot = [&](const Value& row, const std::function<Value(std::size_t)>& other) {
    Value sum = overloaded("'*'", {element(row, 0, 1), other(0)}, place);
    for (std::size_t k = 1; k < row.dimensions[0]; ++k)
      sum =
          overloaded("'+'", {sum, overloaded("'*'", {element(row, k, 1), other(k)}, place)}, place);
    return sum;
  };
  if (a.dimensions.back() == 0) refuse("a product of arrays without elements", place);
  if (a.dimensions.size() == 1 && b.dimensions.size() == 1)
    return dot(a, [&](std::size_t k) { return element(b, k, 1); });
  std::vector<Value> parts;
  if (a.dimensions.size() == 2 && b.dimensions.size() == 1) {
    for (std::size_t i = 0; i < a.dimensions[0]; ++i)
      parts.push_back(dot(element(a, i, 1), [&](std::size_t k) { return element(b, k, 1); }));
    return stack(parts, place);
  }
  if (a.dimensions.size() != 2 || b.dimensions.size() != 2)
    throw Error(fmt::format("product of {} and {}", to_text(a.dimensions), to_text(b.dimensions)),
                place.location());
  const std::size_t columns = b.dimensions[1];
  for (std::size_t i = 0; i < a.dimensions[0]; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      parts.push_back(
          dot(element(a, i, 1), [&](std::size_t k) { return element(b, k * columns + j, 2); }));
  return stack(parts, {a.dimensions[0], columns}, place);
}

Value Flattener::overloaded(const std::string& name, const std::vector<Value>& operands,
                            const Place& place) {
  if (std::optional<Value> value = try_overload(name, operands, place)) return *value;
  if (operands.size() == 1 && !operands[0].is_scalar()) {
    std::vector<Value> parts;
    const std::size_t rank = operands[0].dimensions.size();
    for (std::size_t k = 0; k < operands[0].count(); ++k)
      parts.push_back(overloaded(name, {element(operands[0], k, rank)}, place));
    if (!parts.empty()) return stack(parts, operands[0].dimensions, place);
  }
  if (operands.size() == 2) {
    const Value& a = operands[0];
    const Value& b = operands[1];
    if (name == "'*'" && !a.is_scalar() && !b.is_scalar()) return overloaded_product(a, b, place);
    if (!a.is_scalar() || !b.is_scalar()) return overloaded_elements(name, a, b, place);
    if (name == "'<>'") return Value::boolean(!overloaded("'=='", operands, place).number());
  }
  std::string types;
  for (const Value& v : operands)
    types += (types.empty() ? "" : " and ") +
             (v.type == BasicType::kRecord && v.definition != nullptr ? v.definition->name
                                                                      : spelling(v.type));
  throw Error(fmt::format("there is no operator {} for {}", name, types), place.location());
}

std::optional<Value> Flattener::overloaded_constructor(Instance& record, const CallExpression& e,
                                                       const Scope& scope, const Place& place) {
  Instance* chosen = nullptr;
  std::vector<std::string> chosen_types;
  std::vector<NamedValue> chosen_arguments;
  const auto input_types = [&](Instance& function, std::size_t count) {
    std::vector<std::string> types;
    const ClassInfo& in = *function.type.info;
    for (const std::string& input : input_names(function, false))
      if (types.size() < count)
        types.push_back(in.elements[in.element_index.at(input)].component->type.text());
    return types;
  };
  for (Instance* function : operator_functions(record.definition(), "'constructor'")) {
    const std::vector<std::string> inputs = input_names(*function, false);
    if (e.arguments.size() > inputs.size()) continue;
    const auto known = [&](const NamedArgument& named) {
      return std::find(inputs.begin(), inputs.end(), named.name) != inputs.end();
    };
    if (!std::all_of(e.named.begin(), e.named.end(), known)) continue;
    std::vector<NamedValue> arguments;
    try {
      arguments = bind_arguments(*function, e, scope, place);
    } catch (const Error&) {
      continue;  // inputs of another type
    }
    // The first that fits is taken; another one with inputs of the same types fits as well as it.
    const std::vector<std::string> types = input_types(*function, arguments.size());
    if (chosen != nullptr) {
      if (types == chosen_types)
        throw Error(fmt::format("two constructors of '{}' fit this call: '{}' and '{}'",
                                record.definition().name, chosen->definition().name,
                                function->definition().name),
                    place.location());
      continue;
    }
    chosen = function;
    chosen_types = types;
    chosen_arguments = std::move(arguments);
  }
  if (chosen == nullptr) return std::nullopt;
  std::vector<Value> results = call_vectorized(*chosen, chosen_arguments, place);
  if (results.size() != 1) return std::nullopt;
  return std::move(results[0]);
}

}  // namespace saltus
