// How modifications reach the elements they are meant for.

#include <fmt/format.h>

#include "modelica/instance.h"

namespace saltus {
namespace {

const std::string& name_of(const Argument& argument) {
  if (argument.kind == Argument::Kind::kRedeclareComponent && argument.component != nullptr)
    return argument.component->name;
  if (argument.kind == Argument::Kind::kRedeclareClass && argument.definition != nullptr)
    return argument.definition->name;
  return argument.name.parts.front();
}

void append_reached(Layer reached, const Modification* modification, Layers& out) {
  const bool nothing = modification == nullptr;
  reached.arguments = nullptr;
  reached.value = nullptr;
  if (nothing || !modification->arguments.empty() || modification->value == nullptr) {
    out.push_back(reached);
    out.back().arguments = modification;
  }
  if (!nothing && modification->value != nullptr) {
    for (const std::size_t i : reached.pending) reached.access.push_back({"", i});
    reached.pending.clear();
    out.push_back(std::move(reached));
    out.back().value = modification->value.get();
  }
}

}  // namespace

const Value* Locals::find(std::string_view name, bool past_shadows) const {
  for (const Locals* l = this; l != nullptr; l = l->outer)
    for (std::size_t k = l->values.size(); k-- > (past_shadows ? l->shadows : 0);)
      if (l->values[k].first == name) return &l->values[k].second;
  return nullptr;
}

void append_layers(const Modification* modification, const Scope& scope, Layers& out) {
  if (modification == nullptr) return;
  Layer layer;
  layer.scope = scope;
  append_reached(std::move(layer), modification, out);
}

void append_child_layers(const Layer& layer, std::string_view name, Layers& out) {
  if (layer.value != nullptr) {
    out.push_back(layer);
    out.back().access.push_back({std::string(name), 0});
    return;
  }
  const auto commit = [&](const Argument& argument) {
    Layer next;
    next.scope = layer.scope;
    next.access = layer.access;
    // Subscripts wait for the value: `each` may stand anywhere on the way to it.
    // A class that replaces another is the same for all elements of an array.
    if (!argument.each && argument.kind != Argument::Kind::kRedeclareClass)
      next.pending = layer.pending;
    next.argument = &argument;
    return next;
  };
  const auto reach = [&](const Argument& argument, std::size_t part, Layer next) {
    next.part = part;
    if (argument.kind == Argument::Kind::kModification && part + 1 < argument.name.parts.size()) {
      out.push_back(std::move(next));
    } else {
      const bool redeclared = argument.kind == Argument::Kind::kRedeclareComponent;
      append_reached(
          std::move(next),
          redeclared ? argument.component->modification.get() : argument.modification.get(), out);
    }
  };
  if (layer.arguments == nullptr) {
    // Inside a dotted name: `each` speaks for the whole name, so subscripts are dropped with it.
    const Argument* argument = layer.argument;
    if (argument == nullptr || layer.part + 1 >= argument->name.parts.size()) return;
    if (argument->name.parts[layer.part + 1] == name)
      reach(*argument, layer.part + 1, commit(*argument));
    return;
  }
  for (const Argument& argument : layer.arguments->arguments)
    if (name_of(argument) == name) reach(argument, 0, commit(argument));
}

Layers element_layers(const Layers& layers, const std::vector<std::size_t>& index) {
  Layers result = layers;
  for (Layer& layer : result) {
    if (layer.value != nullptr) {
      for (const std::size_t i : index) layer.access.push_back({"", i});
    } else {
      layer.pending.insert(layer.pending.end(), index.begin(), index.end());
    }
  }
  return result;
}

std::vector<std::size_t> subscripts_of(const Dimensions& dimensions, std::size_t flat) {
  std::vector<std::size_t> result(dimensions.size());
  for (std::size_t k = dimensions.size(); k-- > 0;) {
    result[k] = flat % dimensions[k];
    flat /= dimensions[k];
  }
  return result;
}

std::string subscript_text(const Dimensions& dimensions, std::size_t flat) {
  std::string text;
  for (const std::size_t i : subscripts_of(dimensions, flat))
    text += fmt::format("{}{}", text.empty() ? "[" : ",", i + 1);
  return text.empty() ? text : text + "]";
}

}  // namespace saltus
