// connect(): equal potentials, flows that sum to zero.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/flattener.h"

namespace saltus {

void Flattener::connect(const ConnectEquation& e, const Scope& scope, const Place& place) {
  if (expanding_) {
    expand_connection(e, scope);
    return;
  }
  check_connect_form(e.left, scope);
  check_connect_form(e.right, scope);
  InstanceRange a = instances_of(e.left, scope);
  InstanceRange b = instances_of(e.right, scope);
  if (a.dropped || b.dropped) return;
  const auto is_outside = [&](const ComponentReference& r) {
    const Found first = lookup(r.parts.front().name, scope);
    resolve(*first.instance);
    const bool is_own =
        first.instance->target == nullptr && first.instance->parent == scope.instance;
    return first.instance->type.connector && is_own;
  };
  const bool a_outside = is_outside(e.left);
  const bool b_outside = is_outside(e.right);
  for (InstancePart& part : a.parts) part.outside = a_outside;
  for (InstancePart& part : b.parts) part.outside = b_outside;
  if (a.parts.size() != b.parts.size() || a.dimensions.size() != b.dimensions.size())
    throw Error(fmt::format("connect({}, {}): {} and {} do not fit", e.left.text(), e.right.text(),
                            to_text(a.dimensions), to_text(b.dimensions)),
                place.location());
  for (std::size_t k = 0; k < a.parts.size(); ++k) {
    ++cardinality_[a.parts[k].instance];
    ++cardinality_[b.parts[k].instance];
    connect_instances(a.parts[k], b.parts[k], place);
  }
}

void Flattener::connect_instances(const InstancePart& a, const InstancePart& b,
                                  const Place& place) {
  Instance& x = *a.instance;
  Instance& y = *b.instance;
  for (const Instance* i : {&x, &y})
    if (!i->type.connector && i->parent != nullptr && !i->parent->type.connector)
      throw Error(fmt::format("connect(): '{}' is a {}, not a connector", i->path,
                              i->type.info->basic ? spelling(*i->type.info->basic)
                                                  : spelling(i->type.info->definition->kind)),
                  place.location());
  if (x.is_leaf() != y.is_leaf())
    throw Error(fmt::format("connect({}, {}): the connectors are incompatible ({} and {})", x.path,
                            y.path, x.type.info->definition->name, y.type.info->definition->name),
                place.location());
  if (is_overdetermined(x) && only_connections_) {
    // Whether it is an equality is known once all connections are.
    record_connections_.push_back({a, b, place});
    connection_graph_.add_connection(x, y, place);
    return;
  }
  if (x.is_leaf()) {
    connect_leaves(x, a.elements, a.outside, y, b.elements, b.outside, place);
    return;
  }
  expand(x);
  expand(y);
  for (const auto& c : y.children)
    if (is_active(*c) && find_child(x, c->component->name) == nullptr)
      throw Error(fmt::format("connect({}, {}): the connectors are incompatible: '{}' has no '{}'",
                              x.path, y.path, x.path, c->name),
                  place.location());
  for (const auto& c : x.children) {
    if (!is_active(*c)) continue;
    Instance* other = find_child(y, c->component->name);
    if (other == nullptr)
      throw Error(fmt::format("connect({}, {}): the connectors are incompatible: '{}' has no '{}'",
                              x.path, y.path, y.path, c->name),
                  place.location());
    if (!is_active(*other)) continue;
    resolve(*c);
    resolve(*other);
    const Dimensions& size = dimensions(*c);
    if (size != dimensions(*other))
      throw Error(fmt::format("connect({}, {}): '{}' is {} on one side and {} on the other", x.path,
                              y.path, c->name, to_text(size), to_text(*other->dimensions)),
                  place.location());
    if (c->is_leaf() && other->is_leaf()) {
      std::vector<std::size_t> all;
      for (std::size_t i = 0; i < element_count(size); ++i) all.push_back(i);
      if (is_overdetermined(*c))
        connect_instances({c.get(), all, a.outside}, {other, all, b.outside}, place);
      else
        connect_leaves(*c, all, a.outside, *other, all, b.outside, place);
    } else if (size.empty()) {
      connect_instances({c.get(), {}, a.outside}, {other, {}, b.outside}, place);
    } else {
      make_elements(*c);
      make_elements(*other);
      for (std::size_t i = 0; i < c->elements.size(); ++i)
        connect_instances({c->elements[i].get(), {}, a.outside},
                          {other->elements[i].get(), {}, b.outside}, place);
    }
  }
}

void Flattener::connect_leaves(Instance& a, const std::vector<std::size_t>& a_elements,
                               bool a_outside, Instance& b,
                               const std::vector<std::size_t>& b_elements, bool b_outside,
                               const Place& place) {
  const BasicType ta = *a.type.info->basic;
  const BasicType tb = *b.type.info->basic;
  if (a.connection != b.connection)
    throw Error(
        fmt::format(
            "connect(): one of '{}' and '{}' is a {} variable, the other is not", a.path, b.path,
            a.connection == Connection::kStream || b.connection == Connection::kStream ? "stream"
                                                                                       : "flow"),
        place.location());
  if (ta != tb)
    throw Error(fmt::format("connect(): '{}' is {} and '{}' is {}", a.path, spelling(ta), b.path,
                            spelling(tb)),
                place.location());
  const auto is_causal = [](const Instance& i) { return i.causality != Causality::kNone; };
  const auto in_expandable = [](const Instance& i) {
    return i.parent != nullptr && i.parent->type.info != nullptr &&
           i.parent->definition().kind == ClassKind::kExpandableConnector;
  };
  if (is_causal(a) != is_causal(b) && !in_expandable(a) && !in_expandable(b))
    throw Error(fmt::format("connect(): one of '{}' and '{}' is an input or output, the other is "
                            "not",
                            a.path, b.path),
                place.location());
  if (a.variability >= Variability::kParameter || b.variability >= Variability::kParameter) {
    connect_parameters(a, a_elements, b, b_elements, place);
    return;
  }
  const std::optional<Value> ua = attribute(a, "unit");
  const std::optional<Value> ub = attribute(b, "unit");
  if (ua && ub && !ua->strings.empty() && !ub->strings.empty() && !ua->strings[0].empty() &&
      !ub->strings[0].empty() && ua->strings[0] != ub->strings[0])
    flat_.warnings.push_back(fmt::format(
        "{}:{}:{}: warning: connection of '{}' in {} with '{}' in {}", place.location().file,
        place.line, place.column, a.path, ua->strings[0], b.path, ub->strings[0]));
  for (std::size_t i = 0; i < a_elements.size(); ++i) {
    const int x = connection_root(connection_node(a, a_elements[i], a_outside, place));
    const int y = connection_root(connection_node(b, b_elements[i], b_outside, place));
    if (x != y) connection_nodes_[static_cast<std::size_t>(std::max(x, y))].parent = std::min(x, y);
  }
}

// Parameters that are connected have the same value; no equation could give it to them.
void Flattener::connect_parameters(Instance& a, const std::vector<std::size_t>& a_elements,
                                   Instance& b, const std::vector<std::size_t>& b_elements,
                                   const Place& place) {
  if (a.variability != b.variability)
    throw Error(fmt::format("connect(): '{}' and '{}' are not both parameters or both constants",
                            a.path, b.path),
                place.location());
  if (!is_number_like(*a.type.info->basic)) return;
  for (std::size_t i = 0; i < a_elements.size(); ++i) {
    const std::optional<double> x = fixed_number(value_of(a).numbers.at(a_elements[i]));
    const std::optional<double> y = fixed_number(value_of(b).numbers.at(b_elements[i]));
    if (x && y && *x != *y)
      throw Error(fmt::format("connect(): '{}' is {:g} and '{}' is {:g}", a.path, *x, b.path, *y),
                  place.location());
  }
}

int Flattener::connection_node(Instance& leaf, std::size_t index, bool outside,
                               const Place& place) {
  std::vector<int>& nodes = connection_index_[&leaf];
  if (nodes.empty()) nodes.assign(2 * element_count(dimensions(leaf)), -1);
  int& node = nodes[2 * index + (outside ? 1 : 0)];
  if (node < 0) {
    node = static_cast<int>(connection_nodes_.size());
    connection_nodes_.push_back({&leaf, index, outside, -1, place});
  }
  return node;
}

bool Flattener::has_connection_node(const Instance& leaf, std::size_t index, bool outside) const {
  const auto it = connection_index_.find(&leaf);
  return it != connection_index_.end() && it->second[2 * index + (outside ? 1 : 0)] >= 0;
}

int Flattener::connection_root(int node) {
  int root = node;
  while (connection_nodes_[static_cast<std::size_t>(root)].parent >= 0)
    root = connection_nodes_[static_cast<std::size_t>(root)].parent;
  while (connection_nodes_[static_cast<std::size_t>(node)].parent >= 0) {
    const int next = connection_nodes_[static_cast<std::size_t>(node)].parent;
    connection_nodes_[static_cast<std::size_t>(node)].parent = root;
    node = next;
  }
  return root;
}

Value Flattener::connection_symbol(const ConnectionNode& node) {
  const Value& all = value_of(*node.leaf);
  if (all.type == BasicType::kString) return Value::string(all.strings.at(node.element));
  Value one = Value::array(all.type, {}, {all.numbers.at(node.element)});
  one.definition = all.definition;
  return one;
}

void Flattener::add_connection_equations() {
  std::map<int, std::vector<std::size_t>> sets;
  for (std::size_t n = 0; n < connection_nodes_.size(); ++n)
    sets[connection_root(static_cast<int>(n))].push_back(n);
  for (const auto& [root, members] : sets) {
    const Connection kind = connection_nodes_[members.front()].leaf->connection;
    if (kind == Connection::kFlow) {
      add_flows(members);
    } else if (kind == Connection::kStream) {
      add_streams(members);
    } else {
      add_potentials(members);
    }
  }
}

namespace {

template <class Node>
std::string name_of(const Node& node) {
  return node.leaf->path + subscript_text(*node.leaf->dimensions, node.element);
}

}  // namespace

// The flows of active members sum to zero; those of inactive states are not counted.
void Flattener::add_flows(const std::vector<std::size_t>& members) {
  Expr sum = 0.0;
  Expr any = 0.0;
  std::string label = "connection:";
  const Expr first_active = activity(*connection_nodes_[members.front()].leaf);
  bool alike = true;
  for (const std::size_t m : members)
    alike = alike && activity(*connection_nodes_[m].leaf).same_as(first_active);
  for (const std::size_t m : members) {
    const ConnectionNode& node = connection_nodes_[m];
    const Expr active = activity(*node.leaf);
    any = any || active;
    const Expr symbol = connection_symbol(node).number();
    const Expr flow = alike ? symbol : select(active, symbol, 0.0);
    sum = node.outside ? sum - flow : sum + flow;
    if (label.size() < 100) label += (node.outside ? " - " : " + ") + name_of(node);
  }
  const Place& place = connection_nodes_[members.front()].place;
  Equation e(label + " = 0", sum == 0.0);
  e.where = place.location();
  std::vector<EquationItem> items;
  items.emplace_back(std::move(e));
  add_items(any, std::move(items), flat_.equations, place);
}

// A signal has one source: an output of a component, or an input of the model from outside.
void Flattener::check_sources(const std::vector<std::size_t>& members) {
  const ConnectionNode* source = nullptr;
  for (const std::size_t m : members) {
    const ConnectionNode& node = connection_nodes_[m];
    if (node.leaf->causality != (node.outside ? Causality::kInput : Causality::kOutput)) continue;
    if (node.outside && node.leaf->is_protected) continue;  // stands for a conditional one
    if (source != nullptr && source->leaf != node.leaf && states_.empty())
      throw Error(fmt::format("two sources of one signal are connected: '{}' and '{}'",
                              source->leaf->path, node.leaf->path),
                  node.place.location());
    source = &node;
  }
}

// Each member equals the first one that is active; what is always active comes first.
void Flattener::add_potentials(const std::vector<std::size_t>& unsorted) {
  std::vector<std::size_t> members = unsorted;
  check_sources(members);
  if (!states_.empty())
    std::stable_partition(members.begin(), members.end(), [&](std::size_t m) {
      return activity(*connection_nodes_[m].leaf).is_number();
    });
  for (std::size_t k = 1; k < members.size(); ++k) {
    const ConnectionNode& node = connection_nodes_[members[k]];
    const Expr active = activity(*node.leaf);
    Expr none_before = 1.0;
    for (std::size_t j = 0; j < k; ++j) {
      const ConnectionNode& other = connection_nodes_[members[j]];
      const Expr other_active = activity(*other.leaf);
      const bool together = other_active.same_as(active);
      const Expr both = none_before && active && (together ? Expr(1.0) : other_active);
      none_before = none_before && !other_active;
      std::vector<EquationItem> items;
      std::vector<DiscreteCandidate> discrete;
      EquationSink sink;
      sink.items = &items;
      sink.discrete = both.is_number() ? &discrete_candidates_ : &discrete;
      add_equality(connection_symbol(node), connection_symbol(other),
                   fmt::format("connection: {} = {}", name_of(node), name_of(other)), node.place,
                   sink);
      add_items(both, std::move(items), flat_.equations, node.place);
      if (!discrete.empty()) {
        EquationSink outer;
        outer.discrete = &discrete_candidates_;
        join_discrete({both}, {discrete, {}}, node.place, outer);
      }
      if (other_active.is_number() || together) break;
    }
  }
}

// A flow variable that nothing is connected to from outside its component is zero.
void Flattener::add_unconnected_flows(Instance& instance, bool in_connector) {
  if (!is_active(instance) || instance.target != nullptr) return;
  if (instance.is_leaf()) {
    if (!in_connector || instance.connection != Connection::kFlow) return;
    const Value& symbols = value_of(instance);
    for (std::size_t i = 0; i < symbols.numbers.size(); ++i) {
      if (has_connection_node(instance, i, false)) continue;
      Equation e(fmt::format("unconnected: {}{} = 0", instance.path,
                             subscript_text(*instance.dimensions, i)),
                 symbols.numbers[i] == 0.0);
      e.where = instance.component->place.location();
      std::vector<EquationItem> items;
      items.emplace_back(std::move(e));
      add_items(activity(instance), std::move(items), flat_.equations, instance.component->place);
    }
    return;
  }
  const bool inside = in_connector || instance.type.connector;
  if (instance.is_array()) {
    for (const auto& e : instance.elements) add_unconnected_flows(*e, inside);
    return;
  }
  for (const auto& c : instance.children) add_unconnected_flows(*c, inside);
}

}  // namespace saltus
