// A modification that names nothing is a mistake, not one without effect.

#include "modelica/modifier_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/flattener.h"
#include "modelica/instance_rules.h"

namespace saltus {
namespace {

const std::array<std::string, 10> kAttributes = {"start",       "fixed",    "unit", "displayUnit",
                                                 "quantity",    "min",      "max",  "nominal",
                                                 "stateSelect", "unbounded"};

// From outside only what is public is modified.
void check_visible(const Instance& instance, const Modification& modification) {
  const ClassInfo& info = *instance.type.info;
  for (const Argument& argument : modification.arguments) {
    const std::string& name =
        argument.kind == Argument::Kind::kRedeclareComponent ? argument.component->name
        : argument.kind == Argument::Kind::kRedeclareClass   ? argument.definition->name
                                                             : argument.name.parts.front();
    const auto at = info.element_index.find(name);
    bool is_protected = at != info.element_index.end() &&
                        info.elements[at->second].component->visibility == Visibility::kProtected;
    for (const ClassInfo::Base& base : info.bases)
      if (const ClassDefinition* inside = base.definition->find_class(name))
        is_protected = is_protected || inside->visibility == Visibility::kProtected;
    if (is_protected)
      throw Error(fmt::format("'{}' of '{}' is protected and cannot be modified from outside", name,
                              instance.path),
                  argument.place.location());
  }
}

}  // namespace

void Flattener::check_modifier(const Instance& instance, const std::string& name,
                               const Place& place) {
  const ClassInfo& in = *instance.type.info;
  if (in.basic == BasicType::kObject) return;
  std::vector<std::string> names(kAttributes.begin(), kAttributes.end());
  if (in.basic) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
  } else {
    if (in.element_index.contains(name) || tree_.member(in, name).definition != nullptr) return;
    names.clear();
    for (const ClassInfo::Element& element : in.elements) names.push_back(element.component->name);
  }
  const std::string whose =
      instance.path.empty() ? "the model" : fmt::format("'{}'", instance.path);
  throw Error(fmt::format("{} (a {}) has no '{}' to modify{}", whose, in.definition->name, name,
                          did_you_mean(name, names)),
              place.location());
}

// One modification gives nothing two values.
void Flattener::check_twice(const Modification& modification) {
  if (!checked_modifications_.insert(&modification).second) return;
  std::unordered_set<std::string> given;
  const std::function<void(const Modification&, const std::string&)> visit =
      [&](const Modification& inside, const std::string& path) {
        for (const Argument& argument : inside.arguments) {
          if (argument.kind != Argument::Kind::kModification || argument.modification == nullptr)
            continue;
          const std::string name = path + argument.name.text();
          if (argument.modification->value != nullptr && !given.insert(name).second)
            throw Error(fmt::format("'{}' is given a value twice", name),
                        argument.place.location());
          visit(*argument.modification, name + ".");
        }
      };
  visit(modification, "");
}

void Flattener::check_modifiers(const Instance& instance) {
  const auto check_all = [&](const Modification& modification) {
    check_twice(modification);
    for (const Argument& argument : modification.arguments) {
      if (overrides_.contains(&argument)) continue;  // check_overrides says it better
      check_modifier(instance, argument.name.parts.front(), argument.place);
      // A class that does not have what is promised is wrong even where nothing uses it.
      if (argument.kind == Argument::Kind::kRedeclareClass)
        if (const Found found =
                tree_.member_of(const_cast<Instance&>(instance), argument.name.parts.front());
            found.cls != nullptr)
          tree_.type_of(*found.cls);
    }
  };
  // Elements of an array have the layers of the array.
  const bool element = instance.dimensions && instance.dimensions->empty() &&
                       instance.component != nullptr && instance.name != instance.component->name;
  if (element) return;
  // Those of the type itself are written in classes that inherit from it.
  const std::size_t of_type =
      instance.parent == nullptr ? instance.layers.size() : instance.type.modifications.size();
  const std::size_t own = instance.layers.size() - std::min(of_type, instance.layers.size());
  for (std::size_t k = 0; k < own; ++k)
    if (instance.layers[k].arguments != nullptr)
      check_visible(instance, *instance.layers[k].arguments);
  for (const Layer& layer : instance.layers) {
    if (layer.arguments != nullptr) {
      check_all(*layer.arguments);
    } else if (layer.value == nullptr && layer.argument != nullptr &&
               layer.part + 1 < layer.argument->name.parts.size() &&
               !overrides_.contains(layer.argument)) {
      check_modifier(instance, layer.argument->name.parts[layer.part + 1], layer.argument->place);
    }
  }
  for (const ClassInfo::Base& base : instance.type.info->bases) {
    for (const BaseLayer& m : base.modifications)
      if (m.layer.arguments != nullptr) check_all(*m.layer.arguments);
  }
}

void check_layers(const Instance& instance) {
  const Component& declared = *instance.component;
  const auto refuse_at = [&](const Layer& layer, const char* why) {
    const Place& place = layer.argument->place;
    throw Error(fmt::format("'{}' {}", instance.path, why),
                place.line > 0 ? place.location() : SourceLocation{});
  };
  const Layer* stronger = nullptr;
  const Layer* redeclaration = nullptr;
  for (const Layer& layer : instance.layers) {
    const Argument* argument = layer.argument;
    if (argument == nullptr) continue;
    const bool last = layer.arguments != nullptr || layer.value != nullptr;
    if (stronger != nullptr && stronger->argument != argument && argument->final && last)
      refuse_at(*stronger, "is final and cannot be modified");
    stronger = &layer;
    if (argument->kind != Argument::Kind::kRedeclareComponent) continue;
    if (redeclaration != nullptr && redeclaration->argument != argument && !argument->replaceable)
      refuse_at(*redeclaration, "cannot be redeclared: it is not replaceable");
    redeclaration = &layer;
  }
  if (stronger != nullptr && declared.final)
    refuse_at(*stronger, "is final and cannot be modified");
  if (redeclaration != nullptr && declared.variability == Variability::kConstant)
    refuse_at(*redeclaration, "cannot be redeclared: it is constant");
  if (stronger != nullptr && declared.outer && !declared.inner)
    refuse_at(*stronger, "is outer and cannot be modified");
  const Component* by =
      redeclaration == nullptr ? nullptr : redeclaration->argument->component.get();
  const bool only_sizes = by != nullptr && !declared.dimensions.empty() &&
                          by->dimensions.size() == declared.dimensions.size() &&
                          by->type.text() == declared.type.text();
  if (redeclaration != nullptr && !declared.replaceable && !only_sizes)
    refuse_at(*redeclaration, "cannot be redeclared: it is not replaceable");
}

// A component that replaces another has what the other, or its constraining class, promises.
void Flattener::check_replacement(const Instance& instance) {
  // The last redeclaration first, then those it replaces, then the declaration.
  std::vector<std::pair<const Component*, Scope>> declarations;
  for (const Layer& layer : instance.layers)
    if (layer.argument != nullptr && layer.access.empty() &&
        layer.argument->kind == Argument::Kind::kRedeclareComponent &&
        layer.argument->component != nullptr &&
        (declarations.empty() || declarations.back().first != layer.argument->component.get()))
      declarations.emplace_back(layer.argument->component.get(), layer.scope);
  declarations.emplace_back(instance.component, Scope{instance.parent, instance.owner, nullptr});
  const TypeRef* last = &instance.type;
  for (std::size_t k = 0; k < declarations.size(); ++k) {
    const auto& [declared, scope] = declarations[k];
    if (k == 0 && !declared->constraint) continue;
    const Name& asked = declared->constraint ? declared->constraint->type : declared->type;
    const TypeRef& promised = type_named(asked, scope);
    if (k == 0 && last->dimensions.size() != promised.dimensions.size())
      throw Error(fmt::format("the type of '{}' has {} dimensions, its constraining type {}",
                              instance.path, last->dimensions.size(), promised.dimensions.size()),
                  declared->type.place.location());
    if (const std::string why = misfit(*last, promised); !why.empty())
      throw Error(fmt::format("'{}' cannot be the type of '{}', for which '{}' is promised: {}",
                              last->definition->qualified_name(), instance.path,
                              promised.definition->qualified_name(), why),
                  declarations[k > 0 ? k - 1 : 0].first->type.place.location());
    last = &promised;
  }
}

}  // namespace saltus
