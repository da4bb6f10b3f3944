// Values of variables that live in a function only: records and variables without a value yet.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/stack.h"
#include "base/stop_request.h"
#include "modelica/expression_children.h"
#include "modelica/flattener.h"

namespace saltus {
namespace {

const Layer* value_layer(const Layers& layers) {
  for (const Layer& layer : layers)
    if (layer.value != nullptr) return &layer;
  return nullptr;
}

}  // namespace

Layers Flattener::local_layers(Instance& holder, const ClassInfo::Element& element,
                               const Locals& locals) {
  const ClassInfo& info = *holder.type.info;
  Layers layers = tree_.layers_for(holder, info, element.base, element.component->name);
  append_layers(element.component->modification.get(),
                {&holder, info.bases[element.base].definition, nullptr}, layers);
  for (const auto& [replaced, base] : element.replaced)
    append_layers(replaced->constraint ? replaced->constraint->modification.get()
                                       : replaced->modification.get(),
                  {&holder, info.bases[base].definition, nullptr}, layers);
  // What is written in the class itself sees its other elements.
  for (Layer& layer : layers)
    if (layer.scope.instance == &holder) layer.scope.locals = &locals;
  return layers;
}

Value Flattener::make_record(Instance& record, const std::vector<NamedValue>& given,
                             const Layers& outer, bool may_lack, const Place& place) {
  const ClassInfo& info = *record.type.info;
  check_stop();
  if (stack_is_low())
    throw Error(
        fmt::format("'{}' contains itself without end, or lies too deep", info.definition->name),
        place.location());
  Locals locals;
  std::vector<Layers> layers(info.elements.size());
  std::vector<bool> done(info.elements.size(), false);
  for (const auto& [name, value] : given) {
    locals.values.emplace_back(name, value);
    done[info.element_index.at(name)] = true;
  }
  std::size_t left = 0;
  for (std::size_t k = 0; k < info.elements.size(); ++k) {
    if (done[k]) continue;
    ++left;
    for (const Layer& layer : outer)
      append_child_layers(layer, info.elements[k].component->name, layers[k]);
    for (Layer& layer : local_layers(record, info.elements[k], locals))
      layers[k].push_back(std::move(layer));
  }
  // Declarations may refer to one another in any order.
  const std::function<bool(const Expression&)> waits = [&](const Expression& expression) {
    if (const auto* r = expression.as<ComponentReference>()) {
      const auto at = info.element_index.find(r->parts.front().name);
      if (at != info.element_index.end() && !done[at->second]) return true;
    }
    bool any = false;
    for_each_child(expression, [&](const Expression& e) { any = any || waits(e); });
    return any;
  };
  while (left > 0) {
    bool progress = false;
    for (std::size_t k = 0; k < info.elements.size(); ++k) {
      if (done[k]) continue;
      const ClassInfo::Element& element = info.elements[k];
      const Component& component = *element.component;
      const Layer* layer = value_layer(layers[k]);
      if (layer != nullptr && layer->scope.instance == &record && waits(*layer->value)) continue;
      if (layer == nullptr && !may_lack)
        throw Error(fmt::format("record '{}' needs a value for '{}'", info.definition->name,
                                component.name),
                    place.location());
      const Scope scope{&record, info.bases[element.base].definition, &locals};
      ClassElement& cls = tree_.lookup_class(component.type, scope);
      const TypeRef& type = tree_.type_of(cls);
      Value value;
      if (layer != nullptr) {
        value = layer_value(*layer);
        if (type.info->basic && is_numeric(value.type)) value.type = *type.info->basic;
      } else {
        Dimensions size;
        for (const ExpressionPtr& d : component.dimensions)
          size.push_back(static_cast<std::size_t>(
              std::max(0L, constant_integer(*d, scope, "the size of a record's field"))));
        for (const auto& [d, s] : type.dimensions)
          size.push_back(static_cast<std::size_t>(
              std::max(0L, constant_integer(*d, s, "the size of a record's field"))));
        value = blank_value(cls, layers[k], size, place);
      }
      locals.values.emplace_back(component.name, std::move(value));
      done[k] = true;
      progress = true;
      --left;
    }
    if (!progress)
      throw Error(fmt::format("the fields of record '{}' depend on each other without end",
                              info.definition->name),
                  place.location());
  }
  Value value;
  value.type = BasicType::kRecord;
  value.definition = info.definition;
  Record made;
  for (const ClassInfo::Element& element : info.elements)
    made.fields.emplace_back(element.component->name, *locals.find(element.component->name));
  value.records.push_back(std::move(made));
  return value;
}

Value Flattener::blank_value(ClassElement& cls, const Layers& layers, const Dimensions& size,
                             const Place& place) {
  const TypeRef& type = tree_.type_of(cls);
  const std::size_t count = element_count(size);
  Value value;
  if (!type.info->basic) {
    value.type = BasicType::kRecord;
    value.definition = type.definition;
    Instance& record = tree_.class_instance(cls);
    if (layers.empty() && count > 0)
      value.records.assign(count, make_record(record, {}, {}, true, place).records.front());
    for (std::size_t k = 0; k < count && !layers.empty(); ++k) {
      const Layers own = size.empty() ? layers : element_layers(layers, subscripts_of(size, k));
      value.records.push_back(make_record(record, {}, own, true, place).records.front());
    }
    value.dimensions = size;
    return value;
  }
  value.dimensions = size;
  value.type = *type.info->basic;
  value.definition = type.info->enumeration;
  if (value.type == BasicType::kString) {
    value.strings.assign(count, "");
  } else {
    value.numbers.assign(count, Expr(std::numeric_limits<double>::quiet_NaN()));
  }
  return value;
}

}  // namespace saltus
