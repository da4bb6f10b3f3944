// Connections.root() and its relatives: records with more numbers than degrees of freedom.

#include <fmt/format.h>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {

bool Flattener::is_overdetermined(const Instance& instance) {
  const ClassInfo& info = *instance.type.info;
  return tree_.member(info, "equalityConstraint").definition != nullptr;
}

Instance& Flattener::overdetermined_argument(const CallExpression& call, std::size_t k,
                                             const Scope& scope, const Place& place) {
  const auto* r = k < call.arguments.size() ? call.arguments[k]->as<ComponentReference>() : nullptr;
  if (r == nullptr)
    throw Error(fmt::format("{}() takes a record of a connector", call.function.text()),
                place.location());
  const InstanceRange range = instances_of(*r, scope);
  // An array of numbers may be overdetermined as well as a record; it has a part for each element.
  bool is_one = !range.parts.empty();
  for (const InstancePart& part : range.parts)
    is_one = is_one && part.instance == range.parts[0].instance;
  if (!is_one || !is_overdetermined(*range.parts[0].instance))
    throw Error(fmt::format("{}({}): it is no record with a function equalityConstraint",
                            call.function.text(), r->text()),
                place.location());
  return *range.parts[0].instance;
}

void Flattener::note_connections_call(const CallExpression& call, const Scope& scope,
                                      const Place& place) {
  ComponentReference function = call.function;
  function.absolute = false;
  const std::string name = function.text();
  if (name == "Connections.root") {
    connection_graph_.add_root(overdetermined_argument(call, 0, scope, place), place);
  } else if (name == "Connections.potentialRoot") {
    ExpressionPtr priority = call.arguments.size() > 1 ? call.arguments[1] : nullptr;
    for (const NamedArgument& named : call.named)
      if (named.name == "priority") priority = named.value;
    connection_graph_.add_potential_root(
        overdetermined_argument(call, 0, scope, place),
        priority == nullptr
            ? 0.0
            : static_cast<double>(constant_integer(*priority, scope, "the priority of a root")));
  } else if (name == "Connections.branch") {
    connection_graph_.add_branch(overdetermined_argument(call, 0, scope, place),
                                 overdetermined_argument(call, 1, scope, place), place);
  } else {
    throw Error(fmt::format("there is no '{}'", name), place.location());
  }
}

std::optional<Value> Flattener::call_graph_builtin(const std::string& name, const CallExpression& e,
                                                   const Scope& scope, const Place& place) {
  const bool is_root = name == "isRoot";
  if (!is_root && name != "rooted") return std::nullopt;
  const Instance& record = overdetermined_argument(e, 0, scope, place);
  if (!connection_graph_.is_solved())
    throw Error(fmt::format("{}() is not known before all connections are", e.function.text()),
                place.location());
  return Value::boolean(is_root ? connection_graph_.is_root(record)
                                : connection_graph_.is_rooted(record, place));
}

// Those in the tree are equalities, those that close a loop hold by equalityConstraint().
void Flattener::add_overdetermined_connections() {
  connection_graph_.solve();
  for (std::size_t k = 0; k < record_connections_.size(); ++k) {
    const RecordConnection& c = record_connections_[k];
    if (!connection_graph_.is_broken(k)) {
      connect_instances(c.a, c.b, c.place);
      continue;
    }
    Instance& record = *c.a.instance;
    const Found function = tree_.member_of(record, "equalityConstraint");
    Instance& called = tree_.class_instance(*function.cls);
    const std::vector<std::string> inputs = input_names(called, false);
    if (inputs.size() != 2)
      throw Error("equalityConstraint() takes two records", called.definition().place.location());
    const std::vector<Value> results = call_function(
        called, {{inputs[0], instance_value(record)}, {inputs[1], instance_value(*c.b.instance)}},
        c.place);
    if (results.size() != 1)
      throw Error("equalityConstraint() has one result", called.definition().place.location());
    Value zero = results[0];
    for (Expr& number : zero.numbers) number = 0.0;
    std::vector<EquationItem> items;
    EquationSink sink;
    sink.items = &items;
    sink.discrete = &discrete_candidates_;
    add_equality(
        zero, results[0],
        fmt::format("connection: {} = {} (closes a loop)", record.path, c.b.instance->path),
        c.place, sink);
    add_items(activity(record), std::move(items), flat_.equations, c.place);
  }
}

}  // namespace saltus
