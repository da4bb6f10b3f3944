#include "expr/function.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "expr/graph.h"

namespace saltus {

Expr call(const std::shared_ptr<const Function>& function, const std::vector<Expr>& arguments) {
  if (arguments.size() != function->arity) {
    throw Error(fmt::format("function '{}' takes {} arguments, {} are given", function->name,
                            function->arity, arguments.size()));
  }
  const auto in_graph = std::find_if(arguments.begin(), arguments.end(),
                                     [](const Expr& a) { return a.node() != nullptr; });
  if (in_graph == arguments.end()) {
    std::vector<double> numbers;
    for (const Expr& a : arguments) numbers.push_back(a.number());
    return Expr(function->evaluate(numbers.data()));
  }
  Graph& graph = *in_graph->node()->graph;
  std::vector<const Node*> nodes;
  for (const Expr& a : arguments) {
    nodes.push_back(a.node() != nullptr ? a.node() : graph.constant(a.number()).node());
    if (nodes.back()->graph != &graph) {
      throw Error(
          fmt::format("function '{}' is called with expressions of two graphs: build both "
                      "from one model",
                      function->name));
    }
  }
  Node n;
  n.op = Op::kCall;
  n.function = function.get();
  n.children = Children(nodes);
  graph.keep(function);
  return Expr(graph.intern(n));
}

}  // namespace saltus
