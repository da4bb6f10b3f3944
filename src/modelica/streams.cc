// Stream connectors (Modelica 3.6, chapter 15): what a flow carries has the value it has where the
// flow comes from.

#include <fmt/format.h>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {

// The one flow variable of the connector that a stream variable belongs to.
Instance& Flattener::flow_beside(Instance& stream) {
  Instance* found = nullptr;
  const Instance* connector = stream.parent;  // or a record in it
  while (!connector->type.connector && connector->parent != nullptr) connector = connector->parent;
  for (const auto& c : connector->children) {
    if (!is_active(*c)) continue;
    resolve(*c);
    if (!c->is_leaf() || c->connection != Connection::kFlow) continue;
    if (found != nullptr || !dimensions(*c).empty() || *c->type.info->basic != BasicType::kReal) {
      found = nullptr;
      break;
    }
    found = c.get();
  }
  if (found == nullptr)
    throw Error(fmt::format("'{}' is a stream variable, but its connector has not exactly one flow "
                            "variable, a Real",
                            stream.path),
                stream.component->place.location());
  return *found;
}

// What flows together at a connection, one connector left out, mixes.
Expr Flattener::mixed_stream(const std::vector<std::size_t>& members, std::size_t without) {
  struct Source {
    Expr rate;  // into the mixing point where positive
    Expr carried;
  };
  std::vector<Source> sources;
  double nominal = 0.0;
  for (const std::size_t m : members) {
    if (m == without) continue;
    const ConnectionNode node = connection_nodes_[m];
    Instance& flow = flow_beside(*node.leaf);
    const std::optional<double> least = number_attribute(flow, "min", 0);
    const std::optional<double> most = number_attribute(flow, "max", 0);
    // Nothing ever comes from there.
    if (node.outside ? most && *most <= 0.0 : least && *least >= 0.0) continue;
    const Expr rate = value_of(flow).number();
    nominal = std::max(nominal, number_attribute(flow, "nominal", 0).value_or(1.0));
    if (node.outside) {
      sources.push_back({rate, in_stream(*node.leaf, node.element)});
    } else {
      sources.push_back({-rate, value_of(*node.leaf).numbers.at(node.element)});
    }
  }
  if (sources.empty()) {
    const ConnectionNode& node = connection_nodes_[without];
    return value_of(*node.leaf).numbers.at(node.element);
  }
  if (sources.size() == 1) return sources.front().carried;
  // Without any flow all sources count alike; in between the weights change smoothly.
  const double small = 1e-8 * nominal;
  Expr total = 0.0;
  for (const Source& s : sources) total += max(s.rate, 0.0);
  const Expr part = total / small;
  const Expr share = select(part >= 1.0, 1.0, part * part * (3.0 - 2.0 * part));
  Expr weights = 0.0;
  Expr sum = 0.0;
  for (const Source& s : sources) {
    const Expr weight = share * max(s.rate, 0.0) + (1.0 - share) * small;
    weights += weight;
    sum += weight * s.carried;
  }
  return sum / weights;
}

// The value that would flow into a connector from outside of its component.
Expr Flattener::in_stream(Instance& leaf, std::size_t element) {
  if (!has_connection_node(leaf, element, false)) return value_of(leaf).numbers.at(element);
  const int node = connection_node(leaf, element, false, {});
  if (stream_sets_.empty())
    for (std::size_t n = 0; n < connection_nodes_.size(); ++n)
      if (connection_nodes_[n].leaf->connection == Connection::kStream)
        stream_sets_[connection_root(static_cast<int>(n))].push_back(n);
  return mixed_stream(stream_sets_.at(connection_root(node)), static_cast<std::size_t>(node));
}

// A connector that is connected on its inner side hands on what comes from there.
void Flattener::add_streams(const std::vector<std::size_t>& members) {
  for (const std::size_t m : members) {
    const ConnectionNode node = connection_nodes_[m];
    flow_beside(*node.leaf);
    if (!node.outside) continue;
    const std::string name = node.leaf->path + subscript_text(*node.leaf->dimensions, node.element);
    Equation e(fmt::format("connection: {} is what flows out", name),
               connection_symbol(node).number() == mixed_stream(members, m));
    e.where = node.place.location();
    std::vector<EquationItem> items;
    items.emplace_back(std::move(e));
    add_items(activity(*node.leaf), std::move(items), flat_.equations, node.place);
  }
}

// inStream(c.h), actualStream(c.h)
Value Flattener::stream_value(const std::string& name, const Expression& expression,
                              const CallExpression& e, const Scope& scope) {
  const Place& place = expression.place;
  const auto* r = e.arguments.size() == 1 && e.named.empty()
                      ? e.arguments[0]->as<ComponentReference>()
                      : nullptr;
  if (r == nullptr)
    throw Error(fmt::format("{}() takes a stream variable of a connector", name), place.location());
  if (in_function_ > 0)
    throw Error(fmt::format("{}() cannot be used in a function", name), place.location());
  if (!variables_allowed_ || only_connections_)
    throw Error(fmt::format("{}() is not known when the model is translated", name),
                place.location());
  const InstanceRange range = instances_of(*r, scope);
  if (range.dropped)
    throw Error(fmt::format("'{}' is used although its condition is false", r->text()),
                place.location());
  std::vector<Expr> numbers;
  for (const InstancePart& part : range.parts) {
    Instance& leaf = *part.instance;
    if (!leaf.is_leaf() || leaf.connection != Connection::kStream)
      throw Error(fmt::format("{}({}): it is not a stream variable", name, r->text()),
                  place.location());
    flow_beside(leaf);
    for (const std::size_t element : part.elements) {
      const Expr inside = in_stream(leaf, element);
      if (name == "inStream") {
        numbers.push_back(inside);
        continue;
      }
      const Expr flow = value_of(flow_beside(leaf)).number();
      numbers.push_back(select(make_relation(flow, Strict::kYes, expression), inside,
                               value_of(leaf).numbers.at(element)));
    }
  }
  return Value::array(BasicType::kReal, range.dimensions, std::move(numbers));
}

}  // namespace saltus
