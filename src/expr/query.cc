// What an expression depends on, and how; and substitution.

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "expr/differentiate.h"
#include "expr/traverse.h"

namespace saltus {

namespace {

std::vector<const Node*> nodes_below(std::span<const Expr> expressions, NodeMap& position) {
  std::vector<const Node*> order;
  for (const Expr& e : expressions) {
    if (e.node() != nullptr) append_postorder(e.node(), position, order);
  }
  return order;
}

constexpr int kNotPolynomial = -1;

int saturating_product(int a, int b) {
  const std::int64_t product = std::int64_t{a} * b;
  return static_cast<int>(std::min<std::int64_t>(product, std::numeric_limits<int>::max()));
}

int saturating_sum(int a, int b) {
  const std::int64_t sum = std::int64_t{a} + b;
  return static_cast<int>(std::min<std::int64_t>(sum, std::numeric_limits<int>::max()));
}

int power_degree(const Node* exponent, int base_degree) {
  if (exponent->op != Op::kConstant) return kNotPolynomial;
  const double n = exponent->value;
  if (n < 0.0 || n > 1e6 || n != static_cast<double>(static_cast<int>(n))) return kNotPolynomial;
  return saturating_product(base_degree, static_cast<int>(n));
}

// The degree from those of the children; not all of them are 0.
int combined_degree(const Node* n, std::span<const int> degree) {
  if (std::find(degree.begin(), degree.end(), kNotPolynomial) != degree.end()) {
    return kNotPolynomial;
  }
  switch (n->op) {
    case Op::kNegate:
      return degree[0];
    case Op::kAdd:
    case Op::kSubtract:
      return std::max(degree[0], degree[1]);
    case Op::kMultiply:
      return saturating_sum(degree[0], degree[1]);
    case Op::kDivide:
      return degree[1] == 0 ? degree[0] : kNotPolynomial;
    case Op::kPow:
      return degree[1] == 0 ? power_degree(n->children[1], degree[0]) : kNotPolynomial;
    case Op::kSelect:
      return degree[0] == 0 ? std::max(degree[1], degree[2]) : kNotPolynomial;
    default:
      return kNotPolynomial;
  }
}

}  // namespace

std::vector<Expr> leaves_of(const Expr& a) { return leaves_of(std::span(&a, 1)); }

std::vector<Expr> leaves_of(std::span<const Expr> expressions) {
  NodeMap position;
  std::vector<const Node*> leaves = nodes_below(expressions, position);
  std::erase_if(leaves, [](const Node* n) { return !is_leaf(n->op) || n->op == Op::kConstant; });
  std::sort(leaves.begin(), leaves.end(),
            [](const Node* a, const Node* b) { return a->id < b->id; });
  std::vector<Expr> result;
  for (const Node* n : leaves) result.emplace_back(n);
  return result;
}

bool is_constant_in_mode(const Expr& a) {
  const std::vector<Expr> leaves = leaves_of(a);
  return std::all_of(leaves.begin(), leaves.end(),
                     [](const Expr& leaf) { return leaf.is_parameter() || leaf.is_slot(); });
}

int polynomial_degree(const Expr& a, std::span<const Expr> leaves) {
  if (a.is_number()) return 0;
  NodeMap is_listed;
  for (const Expr& leaf : leaves) {
    if (leaf.node() != nullptr) is_listed.set(leaf.node(), 1);
  }
  NodeMap position;
  const std::vector<const Node*> order = nodes_below(std::span(&a, 1), position);
  std::vector<int> degree(order.size());
  std::vector<int> below;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Node* n = order[k];
    if (is_leaf(n->op)) {
      degree[k] = is_listed.find(n) != NodeMap::kNone ? 1 : 0;
      continue;
    }
    below.clear();
    for (const Node* child : n->children) below.push_back(degree[position.find(child)]);
    const bool depends = std::any_of(below.begin(), below.end(), [](int d) { return d != 0; });
    degree[k] = depends ? combined_degree(n, below) : 0;
  }
  return degree.back();
}

Expr substitute(const Expr& a, std::span<const Expr> from, std::span<const Expr> to) {
  if (from.size() != to.size()) throw Error("substitute needs one replacement for each leaf");
  if (a.is_number()) return a;
  NodeMap replaced;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].node() != nullptr) replaced.set(from[i].node(), static_cast<std::uint32_t>(i));
  }
  NodeMap position;
  const std::vector<const Node*> order = nodes_below(std::span(&a, 1), position);
  std::vector<Expr> result(order.size());
  std::vector<Expr> arguments;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Node* n = order[k];
    if (is_leaf(n->op)) {
      const std::uint32_t i = replaced.find(n);
      // A number becomes a node, so that 1/x at x = 0 stays an expression.
      result[k] = i == NodeMap::kNone ? Expr(n)
                  : to[i].is_number() ? n->graph->constant(to[i].number())
                                      : to[i];
      continue;
    }
    arguments.clear();
    bool changed = false;
    for (const Node* child : n->children) {
      arguments.push_back(result[position.find(child)]);
      changed = changed || arguments.back().node() != child;
    }
    result[k] = changed ? rebuild(n, arguments) : Expr(n);
  }
  return result.back();
}

}  // namespace saltus
