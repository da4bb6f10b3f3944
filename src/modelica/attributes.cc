// Attributes of basic types: which there are, and what they may be.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {
namespace {

enum class Kind { kText, kTruth, kNumber, kStateSelect };

struct Attribute {
  std::string_view name;
  Kind kind;
  bool of_real_only;
  bool of_ordered_only;  // not of Boolean and String
};

constexpr std::array<Attribute, 10> kAttributes = {{
    {"start", Kind::kNumber, false, false},
    {"fixed", Kind::kTruth, false, false},
    {"quantity", Kind::kText, false, false},
    {"min", Kind::kNumber, false, true},
    {"max", Kind::kNumber, false, true},
    {"unit", Kind::kText, true, true},
    {"displayUnit", Kind::kText, true, true},
    {"nominal", Kind::kNumber, true, true},
    {"stateSelect", Kind::kStateSelect, true, true},
    {"unbounded", Kind::kTruth, true, true},
}};

}  // namespace

// Each text once, however many components it serves.
void Flattener::check_attributes(Instance& leaf) {
  const BasicType type = *leaf.type.info->basic;
  if (type == BasicType::kObject) return;
  const auto check = [&](const Attribute& attribute, const Value& value, const Place& place) {
    const auto refuse_as = [&](std::string_view wanted) {
      throw Error(fmt::format("'{}' of '{}' is {}, not {}", attribute.name, leaf.path, wanted,
                              value.type == BasicType::kEnumeration && value.definition != nullptr
                                  ? value.definition->name
                                  : spelling(value.type)),
                  place.location());
    };
    switch (attribute.kind) {
      case Kind::kText:
        if (value.type != BasicType::kString) refuse_as("a String");
        break;
      case Kind::kTruth:
        if (value.type != BasicType::kBoolean) refuse_as("Boolean");
        break;
      case Kind::kStateSelect:
        if (value.type != BasicType::kEnumeration ||
            value.definition != tree_.builtin("StateSelect"))
          refuse_as("a StateSelect");
        break;
      case Kind::kNumber: {
        const bool same =
            value.type == type || (type == BasicType::kReal && value.type == BasicType::kInteger);
        const bool same_enumeration =
            type != BasicType::kEnumeration || value.definition == leaf.type.info->enumeration;
        if (!same || !same_enumeration)
          refuse_as(type == BasicType::kEnumeration ? leaf.type.info->definition->name
                                                    : spelling(type));
      }
    }
    if (!value.is_scalar() && value.dimensions != dimensions(leaf))
      throw Error(fmt::format("'{}' is {} but its {} is {}", leaf.path, to_text(*leaf.dimensions),
                              attribute.name, to_text(value.dimensions)),
                  place.location());
  };
  for (const Layer& layer : leaf.layers) {
    if (layer.value != nullptr) continue;
    for (const Attribute& attribute : kAttributes) {
      Layers found;
      append_child_layers(layer, attribute.name, found);
      for (const Layer& f : found) {
        if (f.value == nullptr || !checked_attributes_.insert(f.value).second) continue;
        const bool ordered = type != BasicType::kBoolean && type != BasicType::kString;
        if ((attribute.of_real_only && type != BasicType::kReal) ||
            (attribute.of_ordered_only && !ordered))
          throw Error(fmt::format("'{}' is {}, which has no '{}'", leaf.path, spelling(type),
                                  attribute.name),
                      f.value->place.location());
        check(attribute, layer_value(f), f.value->place);
      }
    }
  }
}

}  // namespace saltus
