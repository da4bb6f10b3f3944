#include "expr/differentiate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/kept_work.h"
#include "expr/function.h"
#include "expr/table.h"
#include "expr/traverse.h"
#include "expr/work_key.h"

namespace saltus {

namespace {

bool is_zero(const Expr& a) { return a.is_number() && a.number() == 0.0; }

// Branching operations: the derivative is that of the branch taken, and the other one's must not
// even be multiplied by zero, because it may be infinite there (if x > 0 then sqrt(x) else 0).
bool is_branching(Op op) { return op == Op::kSelect || op == Op::kMin || op == Op::kMax; }

struct Branches {
  Expr condition;
  const Node* taken;
  const Node* other;
};

Branches branches_of(const Node* n) {
  const auto& c = n->children;
  if (n->op == Op::kSelect) return {Expr(c[0]), c[1], c[2]};
  if (n->op == Op::kMin) return {Expr(c[0]) <= Expr(c[1]), c[0], c[1]};
  return {Expr(c[1]) <= Expr(c[0]), c[0], c[1]};
}

Expr power_partial(const Node* n, std::size_t i, const Expr& d) {
  const Expr base(n->children[0]);
  const Expr exponent(n->children[1]);
  if (i == 0) return exponent * pow(base, exponent - 1.0) * d;
  // The limit at base 0 is 0 wherever the power itself is differentiable.
  return select(base > 0.0, Expr(n) * log(base), 0.0) * d;
}

Expr call_partial(const Node* n, std::size_t i, const Expr& d) {
  const Function& function = *n->function;
  if (!function.partial) {
    throw Error(fmt::format("function '{}' has no partial derivatives: give Function::partial",
                            function.name));
  }
  std::vector<Expr> arguments;
  for (const Node* child : n->children) arguments.emplace_back(child);
  return function.partial(i, arguments) * d;
}

// d times the partial derivative of a non-branching operation with respect to its i-th argument.
Expr chain(const Node* n, std::size_t i, const Expr& d) {
  const Expr self(n);
  const Expr a(n->children[0]);
  switch (n->op) {
    case Op::kNegate:
      return -d;
    case Op::kSqrt:
      return 0.5 * d / self;
    case Op::kExp:
      return self * d;
    case Op::kLog:
      return d / a;
    case Op::kLog10:
      return d / (std::numbers::ln10 * a);
    case Op::kSin:
      return cos(a) * d;
    case Op::kCos:
      return -(sin(a) * d);
    case Op::kTan:
      return (1.0 + self * self) * d;
    case Op::kAsin:
      return d / sqrt(1.0 - a * a);
    case Op::kAcos:
      return -(d / sqrt(1.0 - a * a));
    case Op::kAtan:
      return d / (1.0 + a * a);
    case Op::kSinh:
      return cosh(a) * d;
    case Op::kCosh:
      return sinh(a) * d;
    case Op::kTanh:
      return (1.0 - self * self) * d;
    case Op::kAbs:
      return select(a < 0.0, -d, d);
    case Op::kAdd:
      return d;
    case Op::kSubtract:
      return i == 0 ? d : -d;
    case Op::kMultiply:
      return Expr(n->children[1 - i]) * d;
    case Op::kDivide: {
      const Expr b(n->children[1]);
      return i == 0 ? d / b : -(self * d / b);
    }
    case Op::kPow:
      return power_partial(n, i, d);
    case Op::kAtan2: {
      const Expr x(n->children[1]);
      const Expr r2 = a * a + x * x;
      return i == 0 ? x * d / r2 : -(a * d / r2);
    }
    case Op::kTable:
      return lookup(n->graph->shared(n->table), a, n->order + 1) * d;
    case Op::kCall:
      return call_partial(n, i, d);
    default:
      return 0.0;  // piecewise constant: sign, floor, relations, logic
  }
}

Expr call_rate(const Node* n, const std::vector<Expr>& slopes) {
  if (std::all_of(slopes.begin(), slopes.end(), is_zero)) return 0.0;
  std::vector<Expr> arguments;
  for (const Node* child : n->children) arguments.emplace_back(child);
  return n->function->rate(arguments, slopes);
}

// Forward mode: the derivative of `root` when each leaf changes at the rate seed(leaf). `by_time`:
// functions that know their rate are asked for it.
template <class Seed>
Expr forward(const Node* root, Seed&& seed, bool by_time) {
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(root, position, order);
  std::vector<Expr> rate(order.size());
  const auto rate_of = [&](const Node* n) { return rate[position.find(n)]; };
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Node* n = order[k];
    if (is_leaf(n->op)) {
      rate[k] = seed(n);
    } else if (is_branching(n->op)) {
      const Expr taken = rate_of(n->children[n->children.size() - 2]);
      const Expr other = rate_of(n->children[n->children.size() - 1]);
      if (!is_zero(taken) || !is_zero(other)) {
        rate[k] = select(branches_of(n).condition, taken, other);
      }
    } else if (by_time && n->op == Op::kCall && n->function->rate) {
      std::vector<Expr> slopes;
      for (const Node* child : n->children) slopes.push_back(rate_of(child));
      rate[k] = call_rate(n, slopes);
    } else {
      for (std::size_t i = 0; i < n->children.size(); ++i) {
        const Expr d = rate_of(n->children[i]);
        if (!is_zero(d)) rate[k] += chain(n, i, d);
      }
    }
  }
  return rate.back();
}

// A sparse gradient: (column, derivative), by column.
using Gradient = std::vector<std::pair<std::size_t, Expr>>;

// Reverse mode, expression by expression. Branching operations are cut out: their gradients are
// found first, from below, branch by branch, and enter like those of a leaf.
class ReverseMode {
 public:
  ReverseMode(std::span<const Expr> expressions, std::span<const Expr> leaves)
      : accumulated_(leaves.size()) {
    for (std::size_t j = 0; j < leaves.size(); ++j) {
      if (leaves[j].node() == nullptr || !is_leaf(leaves[j].node()->op)) {
        throw Error(
            "a Jacobian is taken with respect to variables, parameters, slots or time, not "
            "with respect to " +
            to_string(leaves[j]));
      }
      column_.set(leaves[j].node(), static_cast<std::uint32_t>(j));
    }
    NodeMap visited;
    std::vector<const Node*> order;
    for (const Expr& e : expressions) {
      if (e.node() != nullptr) append_postorder(e.node(), visited, order);
    }
    for (const Node* n : order) {
      bool depends = column_.find(n) != NodeMap::kNone;
      const std::size_t first = n->op == Op::kSelect ? 1 : 0;  // the condition is frozen
      for (std::size_t i = first; i < n->children.size(); ++i) {
        depends = depends || depends_.find(n->children[i]) != NodeMap::kNone;
      }
      if (!depends) continue;
      depends_.set(n, 0);
      if (is_branching(n->op)) branching_.emplace(n, branch_gradient(n));
    }
  }

  Gradient gradient(const Node* root) {
    Gradient result;
    if (depends_.find(root) == NodeMap::kNone) return result;
    position_.clear();
    order_.clear();
    append_postorder(root, position_, order_, [&](const Node* parent, const Node* child) {
      return !is_branching(parent->op) && depends_.find(child) != NodeMap::kNone;
    });
    adjoint_.assign(order_.size(), Expr());
    adjoint_.back() = 1.0;
    for (std::size_t k = order_.size(); k-- > 0;) propagate(order_[k], adjoint_[k]);
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const std::size_t j : touched_) {
      if (!is_zero(accumulated_[j])) result.emplace_back(j, accumulated_[j]);
      accumulated_[j] = Expr();
    }
    touched_.clear();
    return result;
  }

 private:
  void accumulate(std::size_t column, const Expr& value) {
    accumulated_[column] += value;
    touched_.push_back(column);
  }

  void propagate(const Node* n, const Expr adjoint) {
    if (is_zero(adjoint)) return;
    const std::uint32_t column = column_.find(n);
    if (column != NodeMap::kNone) return accumulate(column, adjoint);
    if (is_branching(n->op)) {
      for (const auto& [j, value] : branching_.at(n)) accumulate(j, value * adjoint);
      return;
    }
    for (std::size_t i = 0; i < n->children.size(); ++i) {
      const std::uint32_t at = position_.find(n->children[i]);
      if (at != NodeMap::kNone) adjoint_[at] += chain(n, i, adjoint);
    }
  }

  Gradient branch_gradient(const Node* n) {
    const Branches branches = branches_of(n);
    const Gradient taken = gradient(branches.taken);
    const Gradient other = gradient(branches.other);
    Gradient result;
    auto a = taken.begin();
    auto b = other.begin();
    while (a != taken.end() || b != other.end()) {
      const bool has_a = a != taken.end() && (b == other.end() || a->first <= b->first);
      const bool has_b = b != other.end() && (a == taken.end() || b->first <= a->first);
      const std::size_t j = has_a ? a->first : b->first;
      result.emplace_back(j, select(branches.condition, has_a ? (a++)->second : Expr(0.0),
                                    has_b ? (b++)->second : Expr(0.0)));
    }
    return result;
  }

  NodeMap column_;
  NodeMap depends_;
  NodeMap position_;
  std::vector<const Node*> order_;
  std::vector<Expr> adjoint_;
  std::vector<Expr> accumulated_;
  std::vector<std::size_t> touched_;
  std::unordered_map<const Node*, Gradient> branching_;
};

Expr der_once(const Expr& a) {
  if (a.is_number()) return 0.0;
  const auto slope = [](const Node* leaf) -> Expr {
    if (leaf->op == Op::kVariable) return leaf->graph->variable(leaf->variable(), leaf->order + 1);
    return leaf->op == Op::kTime ? 1.0 : 0.0;
  };
  return forward(a.node(), slope, true);
}

}  // namespace

Expr der(const Expr& a, int times) {
  Expr result = a;
  for (int i = 0; i < times; ++i) result = der_once(result);
  return result;
}

Expr partial(const Expr& a, const Expr& leaf) {
  if (a.is_number()) return 0.0;
  const auto seed = [&](const Node* n) -> Expr { return n == leaf.node() ? 1.0 : 0.0; };
  return forward(a.node(), seed, false);
}

std::vector<JacobianEntry> jacobian(std::span<const Expr> expressions,
                                    std::span<const Expr> leaves) {
  KeptWork* kept = KeptWork::of(graph_of(expressions));
  WorkKey key;
  if (kept != nullptr) {
    key.add(expressions).add(leaves);
    if (const auto known = kept->table<KeptAnswers<std::vector<JacobianEntry>>>().find(key))
      return *known;
  }
  ReverseMode reverse(expressions, leaves);
  std::vector<JacobianEntry> entries;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    if (expressions[i].is_number()) continue;
    for (auto& [j, value] : reverse.gradient(expressions[i].node())) {
      entries.push_back({i, j, value});
    }
  }
  std::stable_sort(
      entries.begin(), entries.end(),
      [](const JacobianEntry& a, const JacobianEntry& b) { return a.column < b.column; });
  if (kept != nullptr)
    kept->table<KeptAnswers<std::vector<JacobianEntry>>>().keep(
        std::move(key), std::make_shared<const std::vector<JacobianEntry>>(entries));
  return entries;
}

}  // namespace saltus
