// The components of an instance, with the modifications that reach them.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/stop_request.h"
#include "modelica/instance_tree.h"
#include "modelica/modifier_check.h"

namespace saltus {
namespace {

constexpr int kMaxDepth = 200;

int depth_of(const Instance& instance) {
  int depth = 0;
  for (const Instance* i = &instance; i != nullptr; i = i->parent) ++depth;
  return depth;
}

void append_base_layers(Instance& instance, const ClassInfo::Base& base, std::string_view name,
                        Layers& out) {
  for (const BaseLayer& m : base.modifications) {
    Layer layer = m.layer;
    if (m.own) layer.scope.instance = &instance;
    append_child_layers(layer, name, out);
  }
}

// What a record is given as a whole does not reach the fields it has fixed: they follow from the
// other fields.
bool keeps_its_value(const Component& field) {
  const bool has_value = field.modification != nullptr && field.modification->value != nullptr;
  return field.final || (field.variability == Variability::kConstant && has_value);
}

bool is_field_of_value(const Layer& layer) {
  return layer.value != nullptr && !layer.access.empty() && !layer.access.back().field.empty();
}

}  // namespace

Layers InstanceTree::layers_for(Instance& instance, const ClassInfo& info, std::size_t base,
                                std::string_view name) {
  Layers layers;
  for (const Layer& layer : instance.layers) append_child_layers(layer, name, layers);
  append_base_layers(instance, info.bases[base], name, layers);
  return layers;
}

void InstanceTree::expand(Instance& instance) {
  if (instance.expanded) return;
  check_stop();
  instance.expanded = true;
  if (depth_of(instance) > kMaxDepth)
    throw Error(
        fmt::format("'{}', a {}, contains itself without end or lies too deep", instance.name,
                    instance.definition().name),
        instance.component == nullptr ? SourceLocation{} : instance.component->place.location());
  const ClassInfo& info = *instance.type.info;
  instance.children.reserve(info.elements.size());
  for (const ClassInfo::Element& element : info.elements) {
    auto made = std::make_unique<Instance>();
    Instance& c = *made;
    const auto scope_of = [&](std::size_t base) {
      return Scope{&instance, info.bases[base].definition, nullptr};
    };
    c.parent = &instance;
    c.component = element.component;
    c.owner = info.bases[element.base].definition;
    c.name = element.component->name;
    c.path = instance.path.empty() ? c.name : instance.path + "." + c.name;
    c.layers = layers_for(instance, info, element.base, c.name);
    const bool is_fixed = std::ranges::any_of(c.layers, [](const Layer& layer) {
      return layer.argument != nullptr && layer.argument->final && !is_field_of_value(layer);
    });
    if (is_fixed || keeps_its_value(*element.component)) std::erase_if(c.layers, is_field_of_value);
    c.type_scope = scope_of(element.base);
    c.type_name = element.component->type;
    for (const Layer& layer : c.layers) {
      if (layer.argument == nullptr ||
          layer.argument->kind != Argument::Kind::kRedeclareComponent ||
          layer.argument->component == nullptr)
        continue;
      c.replacement = layer.argument->component.get();
      c.type_scope = layer.scope;
      c.type_name = c.replacement->type;
      break;
    }
    check_layers(c);
    Layers of_constraints;
    for (const Layer& layer : c.layers)
      if (layer.argument != nullptr && layer.argument->component != nullptr &&
          layer.argument->kind == Argument::Kind::kRedeclareComponent &&
          layer.argument->component->constraint && layer.access.empty())
        append_layers(layer.argument->component->constraint->modification.get(), layer.scope,
                      of_constraints);
    c.layers.insert(c.layers.end(), of_constraints.begin(), of_constraints.end());
    // One that replaces another takes over what the constraining type of the other is given.
    const auto add_replaced = [&](const Component& replaced, std::size_t base) {
      append_layers(replaced.constraint ? replaced.constraint->modification.get()
                                        : replaced.modification.get(),
                    scope_of(base), c.layers);
    };
    if (c.replacement != nullptr) {
      add_replaced(*element.component, element.base);
    } else {
      append_layers(element.component->modification.get(), scope_of(element.base), c.layers);
      // What its constraining type is given holds for the component, too.
      if (element.component->constraint)
        append_layers(element.component->constraint->modification.get(), scope_of(element.base),
                      c.layers);
    }
    for (const auto& [replaced, base] : element.replaced) {
      append_base_layers(instance, info.bases[base], c.name, c.layers);
      add_replaced(*replaced, base);
    }
    instance.child_index.emplace(c.component->name, &c);
    instance.children.push_back(std::move(made));
  }
}

Instance* InstanceTree::find_child(Instance& instance, std::string_view name) {
  expand(instance);
  const auto it = instance.child_index.find(name);
  return it == instance.child_index.end() ? nullptr : it->second;
}

}  // namespace saltus
