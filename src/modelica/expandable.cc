// Expandable connectors (Modelica 3.6, section 9.1.3): what is connected to them decides which
// elements they have.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {
namespace {

bool is_expandable(const Instance& instance) {
  return !instance.type.info->basic &&
         instance.type.info->definition->kind == ClassKind::kExpandableConnector;
}

bool contains_expandable(const Instance& instance) {
  if (instance.target != nullptr || !instance.resolved || instance.type.info == nullptr ||
      instance.is_leaf())
    return false;
  if (is_expandable(instance)) return true;
  const auto any = [](const auto& all) {
    return std::ranges::any_of(all, [](const auto& i) { return contains_expandable(*i); });
  };
  return any(instance.elements) || any(instance.children);
}

}  // namespace

// Before variables are declared: all connections are looked at until no connector grows any more;
// then what nothing is connected to is not there.
void Flattener::expand_connectors() {
  if (!contains_expandable(*root_)) return;
  EquationSink none;
  only_connections_ = expanding_ = true;
  do {
    grown_ = false;
    for_each_class_instance(*root_, [&](Instance& i) {
      for (const ClassInfo::Base& base : i.type.info->bases)
        for (const EquationClause& e : base.definition->equations)
          translate(e, {&i, base.definition, nullptr}, none);
    });
  } while (grown_);
  only_connections_ = expanding_ = false;
  const std::function<void(Instance&)> drop = [&](Instance& instance) {
    if (!is_active(instance) || instance.target != nullptr || instance.is_leaf()) return;
    for (const auto& e : instance.elements) drop(*e);
    for (const auto& c : instance.children) {
      if (is_expandable(instance) && c->resolved && c->type.info != nullptr && c->is_leaf() &&
          c->variability < Variability::kParameter)
        if (const Layer* layer = binding_layer(*c); layer != nullptr && layer->argument != nullptr)
          throw Error(fmt::format("'{}' is an element of an expandable connector, there only if "
                                  "something is connected to it, and cannot be given a value",
                                  c->path),
                      layer->value->place.location());
      if (is_expandable(instance) && !present_.contains(c.get()) &&
          c->variability < Variability::kParameter && binding_layer(*c) == nullptr)
        c->active = false;
      drop(*c);
    }
  };
  drop(*root_);
}

// Marks the elements of expandable connectors on the way to an instance as present.
void Flattener::note_present(Instance& instance) {
  for (Instance* at = &instance; at->parent != nullptr; at = at->parent) {
    if (!is_expandable(*at->parent) || at->component == nullptr) continue;
    Instance* element = find_child(*at->parent, at->component->name);
    if (present_.insert(element).second) grown_ = true;
  }
}

// The expandable connector that lacks the last part of a reference; null: there is none.
Instance* Flattener::lacking(const ComponentReference& r, const Scope& scope) {
  const Found first = lookup(r.parts.front().name, scope);
  Instance* at = first.instance;
  for (std::size_t k = 0; at != nullptr; ++k) {
    if (!is_active(*at)) return nullptr;
    resolve(*at);
    if (at->target != nullptr) at = at->target;
    if (k + 1 == r.parts.size() || at->is_leaf()) return nullptr;
    if (!dimensions(*at).empty()) {
      make_elements(*at);
      const Subscripts s =
          subscripts(r.parts[k].subscripts, *at->dimensions, scope, at->path, r.parts[k].place);
      const std::vector<std::size_t> flat = s.flat(*at->dimensions);
      if (flat.size() != 1 || s.chosen.size() != at->dimensions->size()) return nullptr;
      at = at->elements[flat.front()].get();
    }
    Instance* next = find_child(*at, r.parts[k + 1].name);
    if (next == nullptr) return k + 2 == r.parts.size() && is_expandable(*at) ? at : nullptr;
    const bool is_grown = added_.contains(next);
    if (is_grown && k + 2 == r.parts.size()) return at;  // its size may still grow
    at = next;
  }
  return nullptr;
}

// Gives an expandable connector an element like the one it is connected to.
void Flattener::add_element(Instance& bus, const ComponentReference::Part& part,
                            const Instance& like, const Dimensions& size, const Scope& scope) {
  Dimensions wanted = size;
  for (std::size_t k = part.subscripts.size(); k-- > 0;) {
    if (part.subscripts[k]->as<WholeDimension>() != nullptr) continue;
    const Value index = evaluate(*part.subscripts[k], scope);
    double most = 0.0;
    for (const Expr& number : index.numbers)
      most = std::max(most, fixed_number(number).value_or(0.0));
    if (index.is_scalar()) {
      wanted.insert(wanted.begin(), static_cast<std::size_t>(most));
    } else if (!wanted.empty()) {
      wanted.front() = static_cast<std::size_t>(most);
    }
  }
  Instance* element = find_child(bus, part.name);
  if (element == nullptr) {
    Component& component = synthetic_.emplace_back();
    component.name = part.name;
    component.place = part.place;
    component.type = like.type_name;
    auto made = std::make_unique<Instance>();
    element = made.get();
    element->parent = &bus;
    element->name = part.name;
    element->path = bus.path.empty() ? part.name : bus.path + "." + part.name;
    element->component = &component;
    element->owner = bus.type.info->definition;
    element->layers = like.type.modifications;
    element->type_scope = like.type_scope;
    element->type_name = like.type_name;
    tree_.set_type(*element, like.type);
    element->resolved = true;
    element->active = true;
    element->connection = like.connection;
    element->dimensions = wanted;
    bus.child_index.emplace(component.name, element);
    bus.children.push_back(std::move(made));
    added_.insert(element);
    grown_ = true;
    instantiate(*element);
  } else if (added_.contains(element)) {
    Dimensions& now = *element->dimensions;
    if (now.size() != wanted.size()) return;  // the connection says what is wrong
    for (std::size_t k = 0; k < now.size(); ++k) {
      if (wanted[k] <= now[k]) continue;
      now[k] = wanted[k];
      element->elements.clear();
      grown_ = true;
    }
    instantiate(*element);
  }
  note_present(*element);
}

void Flattener::expand_connection(const ConnectEquation& e, const Scope& scope) {
  Instance* const a = lacking(e.left, scope);
  Instance* const b = lacking(e.right, scope);
  const auto grow = [&](Instance& bus, const ComponentReference& r,
                        const ComponentReference& other) {
    const InstanceRange range = instances_of(other, scope);
    if (range.dropped || range.parts.empty()) return;
    add_element(bus, r.parts.back(), *range.parts.front().instance, range.dimensions, scope);
    for (const InstancePart& part : range.parts) note_present(*part.instance);
  };
  const auto is_there = [&](const Instance* bus, const ComponentReference& r) {
    return bus == nullptr || bus->child_index.contains(r.parts.back().name);
  };
  if (a != nullptr && is_there(b, e.right)) grow(*a, e.left, e.right);
  if (b != nullptr && is_there(a, e.left)) grow(*b, e.right, e.left);
  if (a != nullptr || b != nullptr) return;
  const InstanceRange x = instances_of(e.left, scope);
  const InstanceRange y = instances_of(e.right, scope);
  if (x.dropped || y.dropped) return;
  for (const InstancePart& part : x.parts) note_present(*part.instance);
  for (const InstancePart& part : y.parts) note_present(*part.instance);
  for (std::size_t k = 0; k < std::min(x.parts.size(), y.parts.size()); ++k)
    merge_connectors(*x.parts[k].instance, *y.parts[k].instance, scope);
}

// Two that are connected have the same elements.
void Flattener::merge_connectors(Instance& x, Instance& y, const Scope& scope) {
  if (!is_expandable(x) || !is_expandable(y)) return;
  for (const auto& [from, to] : {std::pair{&x, &y}, std::pair{&y, &x}}) {
    expand(*from);
    expand(*to);
    for (std::size_t k = 0; k < from->children.size(); ++k) {
      Instance& c = *from->children[k];
      if (!present_.contains(&c)) continue;
      resolve(c);
      ComponentReference::Part part;
      part.name = c.component->name;
      part.place = c.component->place;
      add_element(*to, part, c, dimensions(c), scope);
      if (Instance* other = find_child(*to, part.name)) merge_connectors(c, *other, scope);
    }
  }
}

}  // namespace saltus
