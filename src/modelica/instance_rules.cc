#include "modelica/instance_rules.h"

#include <fmt/format.h>

#include "base/error.h"

namespace saltus {
namespace {

const char* prefix_of(const Component& c) {
  if (c.variability == Variability::kConstant) return "constant";
  if (c.variability == Variability::kParameter) return "parameter";
  if (c.variability == Variability::kDiscrete) return "discrete";
  if (c.causality == Causality::kInput) return "input";
  if (c.causality == Causality::kOutput) return "output";
  if (c.connection == Connection::kFlow) return "flow";
  if (c.connection == Connection::kStream) return "stream";
  return nullptr;
}

const char* spelling(Causality c) { return c == Causality::kInput ? "input" : "output"; }
const char* spelling(Connection c) { return c == Connection::kFlow ? "flow" : "stream"; }

void check_against_parent(const Instance& instance, const Component& c) {
  const Instance& parent = *instance.parent;
  const Causality own = c.causality != Causality::kNone ? c.causality : instance.type.causality;
  if (own != Causality::kNone && parent.causality != Causality::kNone)
    throw Error(fmt::format("'{}' is {}, but '{}', which it is a part of, is {} already",
                            instance.path, spelling(own), parent.path, spelling(parent.causality)),
                c.place.location());
  if (c.connection != Connection::kPotential && parent.connection != Connection::kPotential)
    throw Error(
        fmt::format("'{}' is a {} variable, but '{}', which it is a part of, is one of {} already",
                    instance.path, spelling(c.connection), parent.path,
                    spelling(parent.connection)),
        c.place.location());
}

std::string text_of(const Component& c) {
  std::string text = c.type.text();
  for (const ExpressionPtr& d : c.dimensions) text += "," + to_text(*d);
  if (c.modification != nullptr && c.modification->value != nullptr)
    text += "=" + to_text(*c.modification->value);
  return text;
}

}  // namespace

void check_component(const Instance& instance) {
  const Component& c =
      instance.replacement != nullptr ? *instance.replacement : *instance.component;
  const ClassDefinition& definition = *instance.type.info->definition;
  const bool is_component_class =
      definition.kind == ClassKind::kModel || definition.kind == ClassKind::kBlock;
  if (const char* prefix = prefix_of(c); prefix != nullptr && is_component_class)
    throw Error(fmt::format("'{}' is {}, but its type '{}' is a {}; the prefix is for types, "
                            "records and connectors",
                            instance.path, prefix, definition.name, spelling(definition.kind)),
                c.place.location());
  if (instance.type.connector && c.variability >= Variability::kParameter)
    throw Error(fmt::format("'{}' is a connector and cannot be a {}", instance.path, prefix_of(c)),
                c.place.location());
  if (instance.parent != nullptr) check_against_parent(instance, c);
  if (instance.type.info->basic && c.connection != Connection::kPotential &&
      *instance.type.info->basic != BasicType::kReal)
    throw Error(fmt::format("'{}' is a {} variable but {}, not Real", instance.path,
                            spelling(c.connection), spelling(*instance.type.info->basic)),
                c.place.location());
  if (instance.parent == nullptr || instance.parent->type.info == nullptr ||
      instance.parent->definition().kind != ClassKind::kBlock || !instance.type.connector ||
      c.visibility == Visibility::kProtected)
    return;
  if (definition.kind == ClassKind::kExpandableConnector) return;
  // Of a connector with parts it is enough to look at what is no record or connector itself.
  const auto refuse = [&](const std::string& what) {
    throw Error(
        fmt::format("'{}' is neither input nor output, as public connectors of a block must "
                    "be",
                    what),
        c.place.location());
  };
  if (instance.type.info->basic) {
    if (instance.causality == Causality::kNone) refuse(instance.path);
    return;
  }
  if (instance.causality != Causality::kNone) return;
  for (const ClassInfo::Element& e : instance.type.info->elements)
    if (e.component->causality == Causality::kNone && e.component->connection == Connection::kFlow)
      refuse(instance.path + "." + e.component->name);
}

std::string misfit(const TypeRef& given, const TypeRef& promised) {
  if (given.info == nullptr || promised.info == nullptr) return "";  // still being made
  const ClassInfo& has = *given.info;
  const ClassInfo& wanted = *promised.info;
  if (&has == &wanted || !has.complete || !wanted.complete) return "";
  if (given.dimensions.size() != promised.dimensions.size())
    return fmt::format("it has {} dimensions, not {}", given.dimensions.size(),
                       promised.dimensions.size());
  const auto is_predefined = [](const std::string& name) {
    return name == "Real" || name == "Integer" || name == "Boolean" || name == "String";
  };
  if (wanted.basic)
    return has.basic == wanted.basic ? "" : fmt::format("it is no {}", spelling(*wanted.basic));
  for (const ClassInfo::Element& element : wanted.elements) {
    const Component& c = *element.component;
    if (c.visibility != Visibility::kPublic || element.is_protected) continue;
    const auto at = has.element_index.find(c.name);
    if (at == has.element_index.end()) return fmt::format("it has no '{}'", c.name);
    const std::string own = has.elements[at->second].component->type.text();
    const std::string other = c.type.text();
    if (is_predefined(own) && is_predefined(other) && own != other)
      return fmt::format("its '{}' is {}, not {}", c.name, own, other);
  }
  return "";
}

bool have_same_literals(const ClassDefinition& a, const ClassDefinition& b) {
  bool alike = a.enumeration.size() == b.enumeration.size();
  for (std::size_t k = 0; alike && k < a.enumeration.size(); ++k)
    alike = a.enumeration[k].name == b.enumeration[k].name;
  return alike;
}

void check_outer(const Instance& outer, const Instance& inner) {
  const Component& c = *outer.component;
  const SourceLocation where = c.place.location();
  if (!c.inner && c.modification != nullptr &&
      (c.modification->value != nullptr || !c.modification->arguments.empty()))
    throw Error(fmt::format("'{}' is outer and cannot be modified", outer.path), where);
  const auto mismatch = [&](const std::string& why) {
    throw Error(
        fmt::format("outer '{}' and inner '{}' do not fit: {}", outer.path, inner.path, why),
        where);
  };
  const ClassInfo& wanted = *outer.type.info;
  const ClassInfo& given = *inner.type.info;
  if (wanted.basic != given.basic)
    mismatch(fmt::format("'{}' and '{}'", wanted.definition->name, given.definition->name));
  if (wanted.basic == BasicType::kEnumeration && wanted.enumeration != given.enumeration) {
    if (!have_same_literals(*wanted.enumeration, *given.enumeration))
      mismatch("they are different enumerations");
  }
  const std::size_t rank = c.dimensions.size() + outer.type.dimensions.size();
  const std::size_t inner_rank = inner.component->dimensions.size() + inner.type.dimensions.size();
  if (rank != inner_rank) mismatch(fmt::format("{} and {} dimensions", rank, inner_rank));
  for (const ClassInfo::Element& e : wanted.elements) {
    if (e.component->visibility == Visibility::kProtected) continue;
    const auto at = given.element_index.find(e.component->name);
    if (at == given.element_index.end())
      mismatch(fmt::format("the inner one has no '{}'", e.component->name));
    const Name& a = e.component->type;
    const Name& b = given.elements[at->second].component->type;
    const auto is_predefined = [](const Name& n) {
      const std::string name = n.text();
      return name == "Real" || name == "Integer" || name == "Boolean" || name == "String";
    };
    if (is_predefined(a) && is_predefined(b) && a.text() != b.text())
      mismatch(fmt::format("'{}' is {} in one and {} in the other", e.component->name, a.text(),
                           b.text()));
  }
}

bool say_the_same(const ClassDefinition& a, const ClassDefinition& b) {
  if (a.form != b.form || a.kind != b.kind) return false;
  if (a.form == ClassDefinition::Form::kShort) return a.base.text() == b.base.text();
  const auto holds_more = [](const ClassDefinition& c) {
    return !c.equations.empty() || !c.algorithms.empty() || !c.initial_equations.empty() ||
           !c.initial_algorithms.empty() || !c.classes.empty() || !c.extends.empty();
  };
  if (a.form != ClassDefinition::Form::kLong || holds_more(a) || holds_more(b) ||
      a.components.size() != b.components.size())
    return false;
  for (std::size_t k = 0; k < a.components.size(); ++k)
    if (a.components[k].name != b.components[k].name ||
        text_of(a.components[k]) != text_of(b.components[k]))
      return false;
  return true;
}

void check_same_component(const Component& inherited, const Component& own) {
  if (&inherited == &own || text_of(inherited) == text_of(own)) return;
  throw Error(
      fmt::format("'{}' is declared twice: here and, inherited, as something else in line {}",
                  own.name, inherited.place.line),
      own.place.location());
}

}  // namespace saltus
