// Component references: a, a.b, a[2].b[:, i].

#include <fmt/format.h>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/flattener.h"
#include "modelica/statements.h"

namespace saltus {
namespace {

// What is protected in a class is not reached by a dot.
void refuse_protected(const InstanceTree::Found& found, const ComponentReference::Part& part) {
  const bool is_protected =
      (found.instance != nullptr && found.instance->component != nullptr &&
       found.instance->component->visibility == Visibility::kProtected) ||
      (found.cls != nullptr && found.cls->definition->visibility == Visibility::kProtected);
  if (is_protected)
    throw Error(fmt::format("'{}' is protected and cannot be used from outside", part.name),
                part.place.location());
}

}  // namespace

Dimensions Flattener::Subscripts::shape() const {
  Dimensions result;
  for (std::size_t k = 0; k < chosen.size(); ++k)
    if (!scalar[k]) result.push_back(chosen[k].size());
  return result;
}

// Flat places among the leading dimensions, the last subscript fastest.
std::vector<std::size_t> Flattener::Subscripts::flat(const Dimensions& dimensions) const {
  std::vector<std::size_t> result = {0};
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    std::vector<std::size_t> next;
    next.reserve(result.size() * chosen[k].size());
    for (const std::size_t r : result)
      for (const std::size_t c : chosen[k]) next.push_back(r * dimensions[k] + c);
    result = std::move(next);
  }
  return result;
}

Flattener::Subscripts Flattener::subscripts(const std::vector<ExpressionPtr>& expressions,
                                            const Dimensions& dimensions, const Scope& scope,
                                            const std::string& name, const Place& place) {
  if (expressions.size() > dimensions.size())
    throw Error(fmt::format("'{}' is {} but has {} subscript{}", name, to_text(dimensions),
                            expressions.size(), expressions.size() == 1 ? "" : "s"),
                place.location());
  Subscripts result;
  for (std::size_t k = 0; k < expressions.size(); ++k) {
    const Expression& e = *expressions[k];
    std::vector<std::size_t> chosen;
    std::optional<Expr> symbolic;
    bool scalar = false;
    if (e.as<WholeDimension>() != nullptr) {
      for (std::size_t i = 0; i < dimensions[k]; ++i) chosen.push_back(i);
    } else {
      end_values_.push_back(dimensions[k]);
      const Value value = evaluate(e, scope);
      end_values_.pop_back();
      if (!is_number_like(value.type) || value.type == BasicType::kReal ||
          value.dimensions.size() > 1)
        throw Error(fmt::format("a subscript of '{}' is not an Integer", name), e.place.location());
      scalar = value.is_scalar();
      for (const Expr& number : value.numbers) {
        const std::optional<double> known = fixed_number(number);
        if (!known) {
          if (!scalar) refuse("a vector of subscripts that are not known at translation", e.place);
          symbolic = value.type == BasicType::kBoolean ? number + 1.0 : number;
          result.has_symbolic = true;
          continue;
        }
        const double index = *known - (value.type == BasicType::kBoolean ? -1.0 : 0.0);
        if (index < 1.0 || index > static_cast<double>(dimensions[k]))
          throw Error(
              fmt::format("subscript {} of '{}' is outside 1:{}", index, name, dimensions[k]),
              e.place.location());
        chosen.push_back(static_cast<std::size_t>(index) - 1);
      }
    }
    result.chosen.push_back(std::move(chosen));
    result.scalar.push_back(scalar);
    result.symbolic.push_back(symbolic);
  }
  return result;
}

// x[k] for a k that changes at run time: a chain of choices.
Value Flattener::chosen_part(const Value& value, const Subscripts& s, std::size_t k,
                             const Place& place) {
  if (k == s.chosen.size()) return value;
  const auto part = [&](std::size_t i) {
    return chosen_part(element(value, i, 1), s, k + 1, place);
  };
  if (!s.symbolic[k]) {
    if (s.scalar[k]) return part(s.chosen[k].front());
    std::vector<Value> parts;
    for (const std::size_t i : s.chosen[k]) parts.push_back(part(i));
    if (parts.empty()) refuse("an empty range beside a subscript that changes", place);
    return stack(parts, place);
  }
  if (value.dimensions[0] == 0)
    throw Error("a subscript of an array without elements", place.location());
  // An element that does not exist is no number, so that the run ends there and says where.
  Value result = part(value.dimensions[0] - 1);
  spoil(!equal(*s.symbolic[k], static_cast<double>(value.dimensions[0])), result);
  for (std::size_t i = value.dimensions[0] - 1; i-- > 0;)
    result = join_values(equal(*s.symbolic[k], static_cast<double>(i + 1)), part(i), result, place);
  return result;
}

Value Flattener::subscripted(const Value& value, const std::vector<ExpressionPtr>& expressions,
                             const Scope& scope, const std::string& name, const Place& place) {
  if (expressions.empty()) return value;
  const Subscripts s = subscripts(expressions, value.dimensions, scope, name, place);
  const std::size_t rank = expressions.size();
  if (s.has_symbolic) return chosen_part(value, s, 0, place);
  std::vector<Value> parts;
  for (const std::size_t flat : s.flat(value.dimensions))
    parts.push_back(element(value, flat, rank));
  const Dimensions shape = s.shape();
  if (shape.empty()) return parts.front();
  if (parts.empty()) {
    Value none = value;
    none.dimensions = shape;
    none.dimensions.insert(none.dimensions.end(),
                           value.dimensions.begin() + static_cast<std::ptrdiff_t>(rank),
                           value.dimensions.end());
    none.numbers.clear();
    none.strings.clear();
    none.records.clear();
    return none;
  }
  return stack(parts, shape, place);
}

Value Flattener::reference(const ComponentReference& r, const Scope& scope, const Place& place) {
  const ComponentReference::Part& first = r.parts.front();
  if (r.parts.size() == 1 && !r.absolute && first.name == "time" && first.subscripts.empty() &&
      (scope.locals == nullptr || scope.locals->find("time") == nullptr)) {
    const ClassKind kind = scope.lexical == nullptr ? ClassKind::kModel : scope.lexical->kind;
    if (kind == ClassKind::kFunction || kind == ClassKind::kRecord ||
        kind == ClassKind::kConnector || kind == ClassKind::kPackage)
      throw Error(fmt::format("time cannot be used in a {}", spelling(kind)), place.location());
    return Value::real(flat_.system.time());
  }
  const Found found = r.absolute ? tree_.lookup_top(first.name) : lookup(first.name, scope);
  if (found.local != nullptr) {
    Value value = subscripted(*found.local, first.subscripts, scope, first.name, place);
    for (std::size_t k = 1; k < r.parts.size(); ++k)
      value = subscripted(field(value, r.parts[k].name, r.parts[k].place), r.parts[k].subscripts,
                          scope, r.parts[k].name, r.parts[k].place);
    return value;
  }
  if (found.instance != nullptr) return navigate(*found.instance, r, 0, scope);
  if (found.cls != nullptr) return class_value(*found.cls, r, 0, scope);
  tree_.unknown_name(first.name, r.text(), scope, first.place.line > 0 ? first.place : place);
}

Flattener::Found Flattener::lookup(const std::string& name, const Scope& scope) {
  Found found = tree_.lookup(name, scope, past_shadows_);
  const Component* component = found.instance != nullptr ? found.instance->component : nullptr;
  if (component != nullptr && component->inner && component->outer) {
    resolve(*found.instance);
    found.instance = found.instance->beyond;
  }
  return found;
}

Instance& Flattener::meant_by(Instance& given, std::size_t part) {
  resolve(given);
  if (given.target != nullptr) return *given.target;
  return part > 0 && given.beyond != nullptr ? *given.beyond : given;
}

Value Flattener::class_value(ClassElement& cls, const ComponentReference& r, std::size_t part,
                             const Scope& scope) {
  const ComponentReference::Part& here = r.parts[part];
  const TypeRef& type = tree_.type_of(cls);
  if (part + 1 == r.parts.size()) {
    // The name of an enumeration (or Boolean) stands for all of its values.
    if (type.info->basic == BasicType::kEnumeration) {
      std::vector<Expr> all;
      for (std::size_t i = 0; i < type.info->enumeration->enumeration.size(); ++i)
        all.emplace_back(static_cast<double>(i + 1));
      const std::size_t count = all.size();
      Value value = Value::array(BasicType::kEnumeration, {count}, std::move(all));
      value.definition = type.info->enumeration;
      return value;
    }
    if (type.info->basic == BasicType::kBoolean)
      return Value::array(BasicType::kBoolean, {2}, {0.0, 1.0});
    if (type.info->definition->kind == ClassKind::kFunction) {
      Value value;
      value.type = BasicType::kFunction;
      value.function =
          std::make_shared<FunctionValue>(FunctionValue{&tree_.class_instance(cls), {}});
      return value;
    }
    throw Error(
        fmt::format("'{}' is a {}, not a value", r.text(), spelling(type.info->definition->kind)),
        here.place.location());
  }
  const ComponentReference::Part& next = r.parts[part + 1];
  if (type.info->basic == BasicType::kEnumeration) {
    const ClassDefinition& definition = *type.info->enumeration;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < definition.enumeration.size(); ++i) {
      if (definition.enumeration[i].name == next.name) {
        Value value = Value::array(BasicType::kEnumeration, {}, {static_cast<double>(i + 1)});
        value.definition = &definition;
        return value;
      }
      names.push_back(definition.enumeration[i].name);
    }
    throw Error(fmt::format("enumeration '{}' has no '{}'{}", definition.name, next.name,
                            did_you_mean(next.name, names)),
                next.place.location());
  }
  const Found found = tree_.member_of(cls, next.name);
  refuse_protected(found, next);
  tree_.check_lookup_in(cls, found, next.name, next.place);
  if (found.instance != nullptr && type.definition->partial && root_ != nullptr &&
      type.definition->kind == ClassKind::kPackage)
    throw Error(fmt::format("'{}' is looked up in '{}', which is partial", next.name,
                            type.definition->qualified_name()),
                next.place.location());
  if (found.instance != nullptr && type.info->definition->kind != ClassKind::kPackage)
    for (const ClassInfo::Element& element : type.info->elements)
      if (element.component->variability != Variability::kConstant)
        throw Error(fmt::format("'{}' is looked up in '{}', which is no package: it holds the "
                                "variable '{}'",
                                next.name, type.info->definition->qualified_name(),
                                element.component->name),
                    next.place.location());
  if (found.instance != nullptr) return navigate(*found.instance, r, part + 1, scope);
  if (found.cls != nullptr) return class_value(*found.cls, r, part + 1, scope);
  throw Error(
      fmt::format("there is no '{}' in '{}'{}", next.name, type.info->definition->qualified_name(),
                  did_you_mean(next.name, tree_.names_in(*type.info))),
      next.place.location());
}

// An array with one element for each value of a type is indexed by values of that type.
void Flattener::check_subscript_types(const Instance& leaf, const ComponentReference::Part& part,
                                      const Scope& scope) {
  if (leaf.component == nullptr) return;
  const std::vector<ExpressionPtr>& declared = leaf.component->dimensions;
  for (std::size_t k = 0; k < part.subscripts.size() && k < declared.size(); ++k) {
    const auto* name = declared[k]->as<ComponentReference>();
    if (name == nullptr || part.subscripts[k]->as<WholeDimension>() != nullptr) continue;
    const Scope around{leaf.parent, leaf.owner, nullptr};
    if (tree_.lookup(name->parts.front().name, around).cls == nullptr) continue;
    const Value of_type = evaluate(*declared[k], around);
    if (of_type.is_scalar()) continue;
    end_values_.push_back(of_type.count());
    const Value given = evaluate(*part.subscripts[k], scope);
    end_values_.pop_back();
    if (given.type != of_type.type)
      throw Error(fmt::format("subscript {} of '{}' is {}, but the array is indexed by {}", k + 1,
                              leaf.path, spelling(given.type), name->text()),
                  part.subscripts[k]->place.location());
  }
}

Value Flattener::navigate(Instance& given, const ComponentReference& r, std::size_t part,
                          const Scope& scope) {
  Instance& instance = meant_by(given, part);
  const ComponentReference::Part& here = r.parts[part];
  if (!is_active(instance))
    throw Error(fmt::format("'{}' is used although its condition is false", instance.path),
                here.place.location());
  if (instance.component != nullptr && instance.component->condition != nullptr &&
      instance.component->name == here.name && in_function_ == 0)
    throw Error(fmt::format("'{}' has a condition and can only be connected, not be used in an "
                            "expression",
                            instance.path),
                here.place.location());
  const bool last = part + 1 == r.parts.size();
  const ClassKind kind = instance.type.info->definition->kind;
  const bool is_value = instance.is_leaf() || (last && (kind == ClassKind::kRecord ||
                                                        kind == ClassKind::kOperatorRecord ||
                                                        kind == ClassKind::kConnector));
  if (is_value) {
    if (!last)
      throw Error(fmt::format("'{}' is a {} and has no '{}'", instance.path,
                              spelling(*instance.type.info->basic), r.parts[part + 1].name),
                  r.parts[part + 1].place.location());
    if (instance.is_leaf()) require_known(instance, here.place);
    check_subscript_types(instance, here, scope);
    if (instance.is_leaf() && here.subscripts.empty()) return value_of(instance);
    return subscripted(instance_value(instance), here.subscripts, scope, instance.path, here.place);
  }
  if (last)
    throw Error(fmt::format("'{}' is a {} and has no value", instance.path, spelling(kind)),
                here.place.location());
  const std::string& next = r.parts[part + 1].name;
  if (given.target != nullptr && !given.type.info->element_index.contains(next))
    throw Error(fmt::format("'{}' (a {}) has no '{}', which the inner component has", given.path,
                            given.type.info->definition->name, next),
                r.parts[part + 1].place.location());
  const auto inside = instance.type.info->element_index.find(next);
  if (inside != instance.type.info->element_index.end() &&
      (instance.type.info->elements[inside->second].is_protected ||
       instance.type.info->elements[inside->second].component->visibility ==
           Visibility::kProtected))
    throw Error(fmt::format("'{}' of '{}' is protected and cannot be used from outside", next,
                            instance.path),
                r.parts[part + 1].place.location());
  if (dimensions(instance).empty()) {
    if (!here.subscripts.empty())
      throw Error(fmt::format("'{}' is not an array but has a subscript", instance.path),
                  here.place.location());
    return navigate(child(instance, next, r.parts[part + 1].place), r, part + 1, scope);
  }
  make_elements(instance);
  const Dimensions& size = *instance.dimensions;
  const Subscripts s = subscripts(here.subscripts, size, scope, instance.path, here.place);
  if (s.has_symbolic) refuse("a component chosen by a subscript that changes", here.place);
  std::vector<Value> parts;
  const std::size_t rest =
      element_count(size) == 0
          ? 0
          : element_count(Dimensions(
                size.begin() + static_cast<std::ptrdiff_t>(here.subscripts.size()), size.end()));
  for (const std::size_t flat : s.flat(size))
    for (std::size_t i = 0; i < rest; ++i) {
      Instance& e = *instance.elements[flat * rest + i];
      parts.push_back(navigate(child(e, next, r.parts[part + 1].place), r, part + 1, scope));
    }
  Dimensions shape = s.shape();
  shape.insert(shape.end(), size.begin() + static_cast<std::ptrdiff_t>(here.subscripts.size()),
               size.end());
  if (shape.empty()) return parts.front();
  return stack(parts, shape, here.place);
}

void Flattener::gather_instances(Instance& given, const ComponentReference& r, std::size_t part,
                                 const Scope& scope, InstanceRange& out) {
  if (!is_active(given)) {
    out.dropped = true;
    return;
  }
  Instance& instance = meant_by(given, part);
  const ComponentReference::Part& here = r.parts[part];
  const bool last = part + 1 == r.parts.size();
  const Dimensions& size = dimensions(instance);
  const Subscripts s = subscripts(here.subscripts, size, scope, instance.path, here.place);
  if (s.has_symbolic) refuse("a connector chosen by a subscript that changes", here.place);
  Dimensions shape = s.shape();
  shape.insert(shape.end(), size.begin() + static_cast<std::ptrdiff_t>(here.subscripts.size()),
               size.end());
  const Dimensions tail(size.begin() + static_cast<std::ptrdiff_t>(here.subscripts.size()),
                        size.end());
  const std::size_t rest = element_count(tail);
  std::vector<std::size_t> chosen;
  for (const std::size_t flat : s.flat(size))
    for (std::size_t i = 0; i < rest; ++i) chosen.push_back(flat * rest + i);
  if (part == 0 || !shape.empty())
    out.dimensions.insert(out.dimensions.end(), shape.begin(), shape.end());
  if (last) {
    if (instance.is_leaf()) {
      for (const std::size_t c : chosen) out.parts.push_back({&instance, {c}, false});
    } else if (size.empty()) {
      out.parts.push_back({&instance, {}, false});
    } else {
      make_elements(instance);
      for (const std::size_t c : chosen)
        out.parts.push_back({instance.elements[c].get(), {}, false});
    }
    return;
  }
  const ComponentReference::Part& next = r.parts[part + 1];
  if (instance.is_leaf())
    throw Error(fmt::format("'{}' is a {} and has no '{}'", instance.path,
                            spelling(*instance.type.info->basic), next.name),
                next.place.location());
  if (size.empty()) {
    gather_instances(child(instance, next.name, next.place), r, part + 1, scope, out);
    return;
  }
  make_elements(instance);
  const Dimensions before = out.dimensions;
  Dimensions after = before;
  for (const std::size_t c : chosen) {
    out.dimensions = before;
    gather_instances(child(*instance.elements[c], next.name, next.place), r, part + 1, scope, out);
    after = out.dimensions;
  }
  out.dimensions = after;
}

Flattener::InstanceRange Flattener::instances_of(const ComponentReference& r, const Scope& scope) {
  const ComponentReference::Part& first = r.parts.front();
  const Found found = lookup(first.name, scope);
  if (found.instance == nullptr) {
    if (!found) tree_.unknown_name(first.name, r.text(), scope, first.place);
    throw Error(fmt::format("'{}' is not a component", r.text()), first.place.location());
  }
  InstanceRange result;
  gather_instances(*found.instance, r, 0, scope, result);
  return result;
}

}  // namespace saltus
