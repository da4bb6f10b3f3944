// Classes with everything they inherit.

#include <fmt/format.h>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {
namespace {

constexpr int kMaxInheritance = 100;

}  // namespace

const ClassDefinition* Flattener::builtin_class(std::string_view name) const {
  const auto it = builtins_.find(name);
  return it == builtins_.end() ? nullptr : it->second;
}

const ClassInfo& Flattener::info(const ClassDefinition& definition) {
  std::unique_ptr<ClassInfo>& made = infos_[&definition];
  if (made != nullptr) return *made;
  made = std::make_unique<ClassInfo>();
  ClassInfo& result = *made;
  result.definition = &definition;
  add_bases(result, definition, {}, 0);
  result.complete = true;
  result.members.clear();  // those asked for meanwhile may have missed a base
  return result;
}

void Flattener::add_bases(ClassInfo& target, const ClassDefinition& definition,
                          const std::vector<ExtendsModification>& on_the_way, int depth) {
  if (depth > kMaxInheritance)
    throw Error(fmt::format("'{}' inherits from itself", definition.qualified_name()),
                definition.place.location());
  using Form = ClassDefinition::Form;
  const Scope around{nullptr, definition.enclosing, nullptr};
  switch (definition.form) {
    case Form::kEnumeration:
      target.basic = BasicType::kEnumeration;
      target.enumeration = &definition;
      target.basic_modifications = on_the_way;
      return;
    case Form::kShort:
      target.basic_causality = target.basic_causality == Causality::kNone
                                   ? definition.base_causality
                                   : target.basic_causality;
      add_base(target, lookup_class(definition.base, around), definition.modification.get(),
               definition.enclosing == nullptr ? definition : *definition.enclosing, on_the_way,
               definition.place, depth);
      return;
    case Form::kDerivative:
      refuse("a function defined as der(...)", definition.place);
    case Form::kExtends:
    case Form::kLong:
      break;
  }
  if (builtin_class(definition.name) == &definition && definition.enclosing == nullptr) {
    const std::string& name = definition.name;
    target.basic = name == "Real"      ? BasicType::kReal
                   : name == "Integer" ? BasicType::kInteger
                   : name == "Boolean" ? BasicType::kBoolean
                   : name == "String"  ? BasicType::kString
                                       : BasicType::kObject;
    target.basic_modifications = on_the_way;
    return;
  }
  if (definition.form == Form::kExtends) {
    // `model extends A`: the class A that the class around inherits.
    ClassRef inherited;
    if (definition.enclosing != nullptr) {
      const ClassInfo& outer = info(*definition.enclosing);
      for (const ClassInfo::Base& base : outer.bases)
        if (base.definition != definition.enclosing)
          if (const ClassDefinition* found = library_.child(base.definition, definition.name))
            inherited = {found, {nullptr, base.definition, nullptr}};
    }
    if (!inherited)
      throw Error(fmt::format("there is no inherited class '{}' to extend", definition.name),
                  definition.place.location());
    add_base(target, inherited, definition.modification.get(), definition, on_the_way,
             definition.place, depth);
  }
  for (const Extends& extends : definition.extends)
    add_base(target, lookup_class(extends.base, {nullptr, &definition, nullptr}),
             extends.modification.get(), definition, on_the_way, extends.place, depth);
  target.bases.push_back({&definition, on_the_way});
  for (const Component& component : definition.components) {
    const auto [it, is_new] =
        target.element_index.try_emplace(component.name, target.elements.size());
    const ClassInfo::Element element{&component, target.bases.size() - 1};
    if (is_new)
      target.elements.push_back(element);
    else if (component.redeclare || target.elements[it->second].component->replaceable)
      target.elements[it->second] = element;
  }
}

void Flattener::add_base(ClassInfo& target, const ClassRef& base, const Modification* modification,
                         const ClassDefinition& lexical,
                         const std::vector<ExtendsModification>& on_the_way, const Place& place,
                         int depth) {
  if (base.definition == target.definition)
    throw Error(fmt::format("'{}' extends itself", target.definition->name), place.location());
  std::vector<ExtendsModification> modifications = on_the_way;
  if (modification != nullptr) modifications.push_back({modification, &lexical});
  add_bases(target, *base.definition, modifications, depth + 1);
}

const ClassInfo::Member& Flattener::member(const ClassInfo& info, const std::string& name) {
  ClassInfo& cached = const_cast<ClassInfo&>(info);
  const auto it = cached.members.find(name);
  if (it != cached.members.end()) return it->second;
  ClassInfo::Member found;
  // The class itself comes last, and what it declares hides what it inherits.
  if (!info.complete) found.definition = library_.child(info.definition, name);
  for (std::size_t b = info.bases.size(); b-- > 0 && found.definition == nullptr;) {
    found.definition = library_.child(info.bases[b].definition, name);
    found.base = b;
  }
  return cached.members[name] = found;
}

}  // namespace saltus
