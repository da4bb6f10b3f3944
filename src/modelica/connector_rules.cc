// What connectors must hold (Modelica 3.6, sections 9.2 and 15.1), and how connect() names them.

#include <fmt/format.h>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {

// The numbers that equalityConstraint() compares.
std::size_t Flattener::residue_size(Instance& record) {
  const Found found = tree_.member_of(record, "equalityConstraint");
  Instance& function = tree_.class_instance(*found.cls);
  const ClassInfo& in = *function.type.info;
  for (const ClassInfo::Element& element : in.elements) {
    if (element.component->causality != Causality::kOutput) continue;
    const Scope scope{&function, in.bases[element.base].definition, nullptr};
    std::size_t count = 1;
    for (const ExpressionPtr& d : element.component->dimensions)
      count *= static_cast<std::size_t>(constant_integer(*d, scope, "the size of a residue"));
    return count;
  }
  return 0;
}

void Flattener::count_connector(Instance& instance, ConnectorCount& count) {
  if (instance.is_array()) {
    make_elements(instance);
    for (const auto& element : instance.elements) count_connector(*element, count);
    return;
  }
  expand(instance);
  for (const auto& c : instance.children) {
    if (!is_active(*c)) continue;
    resolve(*c);
    if (c->target != nullptr || c->variability >= Variability::kParameter ||
        (c->causality != Causality::kNone && c->connection != Connection::kFlow))
      continue;
    const ClassDefinition& type = *c->type.info->definition;
    if (c->connection == Connection::kFlow && type.kind == ClassKind::kOperatorRecord)
      for (const char* name : {"'+'", "'-'", "'0'"})
        if (tree_.member(*c->type.info, name).definition == nullptr)
          throw Error(fmt::format("'{}' is a flow variable, but its type '{}' has no operator {}",
                                  c->path, type.name, name),
                      c->component->place.location());
    if (is_overdetermined(*c) && c->connection == Connection::kPotential) {
      count.potentials += residue_size(*c);
    } else if (c->is_leaf()) {
      const std::size_t size = element_count(dimensions(*c));
      if (c->connection == Connection::kFlow) count.flows += size;
      if (c->connection == Connection::kPotential) count.potentials += size;
      if (c->connection == Connection::kStream) count.streams += size;
    } else {
      dimensions(*c);
      count_connector(*c, count);
    }
  }
}

void Flattener::check_connector(Instance& instance) {
  const ClassDefinition& definition = instance.definition();
  if (definition.kind != ClassKind::kConnector || instance.is_leaf() ||
      (instance.parent != nullptr && instance.parent->type.connector))
    return;
  const Instance* top = &instance;
  while (top->parent != nullptr) top = top->parent;
  if (top != root_ || !is_active(instance)) return;
  ConnectorCount count;
  count_connector(instance, count);
  const auto refuse_class = [&](const std::string& why) {
    throw Error(fmt::format("connector '{}' of '{}' {}", definition.name, instance.path, why),
                definition.place.location());
  };
  if (count.streams > 0 && count.flows != 1)
    refuse_class(
        fmt::format("has stream variables and {} flow variables; it must have one", count.flows));
  if (count.flows != count.potentials)
    refuse_class(
        fmt::format("has {} flow variables and {} that are neither flow nor stream nor input, "
                    "output or parameter; there must be as many of one as of the other",
                    count.flows, count.potentials));
}

// connect() names a connector of this class or of one component of it, and connectors in that.
void Flattener::check_connect_form(const ComponentReference& r, const Scope& scope) {
  if (r.parts.size() < 3) return;
  Instance* at = lookup(r.parts.front().name, scope).instance;
  int components = 0;
  for (std::size_t k = 0; at != nullptr && k + 1 < r.parts.size(); ++k) {
    if (!is_active(*at)) return;
    at = &meant_by(*at, k);
    if (!at->type.connector && ++components > 1)
      throw Error(fmt::format("connect() names '{}', which is inside of component '{}'; a class "
                              "connects its own connectors and those of its components",
                              r.text(), at->path),
                  r.parts[k].place.location());
    if (!dimensions(*at).empty()) {
      make_elements(*at);
      if (at->elements.empty()) return;
      at = at->elements.front().get();
    }
    at = find_child(*at, r.parts[k + 1].name);
  }
}

}  // namespace saltus
