#include "model/active_equations.h"

#include <algorithm>
#include <span>

#include "base/stop_request.h"
#include "expr/differentiate.h"
#include "expr/traverse.h"

namespace saltus {
namespace {

bool is_known(const Expr& condition, bool value) {
  return condition.is_number() && (condition.number() != 0.0) == value;
}

// Both sides where they agree in one, so that the equation still reads like the model's.
Equation merge(const Expr& condition, const Equation& a, const Equation& b) {
  Equation merged = a;
  merged.equality =
      a.equality.lhs.same_as(b.equality.lhs)
          ? Equality{a.equality.lhs, select(condition, a.equality.rhs, b.equality.rhs)}
          : Equality{select(condition, a.residual(), b.residual()), 0.0};
  if (a.name != b.name) merged.name = a.name.empty() ? b.name : a.name;
  return merged;
}

void add(const std::vector<EquationItem>& items, const Frozen& frozen, ActiveEquations& active);

void add(const IfEquation& item, const Frozen& frozen, ActiveEquations& active) {
  // What is left of the branches: the conditions still open, and the branch that ends the chain.
  std::vector<Expr> open;
  std::vector<const std::vector<EquationItem>*> branches;
  static const std::vector<EquationItem> kNothing;
  bool decided = false;
  for (std::size_t k = 0; k < item.conditions.size() && !decided; ++k) {
    const Expr condition = freeze(item.conditions[k], frozen);
    if (is_known(condition, false)) continue;
    branches.push_back(&item.branches[k]);
    decided = is_known(condition, true);
    if (!decided) open.push_back(condition);
  }
  if (!decided)
    branches.push_back(item.branches.size() > item.conditions.size() ? &item.branches.back()
                                                                     : &kNothing);
  std::vector<ActiveEquations> parts(branches.size());
  bool pairs_up = true;
  for (std::size_t k = 0; k < branches.size(); ++k) {
    add(*branches[k], frozen, parts[k]);
    pairs_up = pairs_up && parts[k].undecided.empty() &&
               parts[k].equations.size() == parts[0].equations.size();
  }
  if (open.empty()) {
    active.equations.insert(active.equations.end(), parts[0].equations.begin(),
                            parts[0].equations.end());
    active.undecided.insert(active.undecided.end(), parts[0].undecided.begin(),
                            parts[0].undecided.end());
    return;
  }
  if (!pairs_up) {
    active.undecided.insert(active.undecided.end(), open.begin(), open.end());
    return;
  }
  for (std::size_t i = 0; i < parts[0].equations.size(); ++i) {
    Equation merged = parts.back().equations[i];
    for (std::size_t k = open.size(); k-- > 0;)
      merged = merge(open[k], parts[k].equations[i], merged);
    active.equations.push_back(std::move(merged));
  }
}

void add(const std::vector<EquationItem>& items, const Frozen& frozen, ActiveEquations& active) {
  for (const EquationItem& item : items) {
    if (const auto* equation = std::get_if<Equation>(&item.value)) {
      active.equations.push_back(*equation);
      Equality& e = active.equations.back().equality;
      e = {freeze(e.lhs, frozen), freeze(e.rhs, frozen)};
    } else {
      add(std::get<IfEquation>(item.value), frozen, active);
    }
  }
}

}  // namespace

Expr freeze(const Expr& a, const Frozen& frozen) {
  if (frozen.empty() || a.is_number()) return a;
  check_stop();  // a long expression is frozen once for each of its conditions
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(a.node(), position, order);
  std::vector<Expr> result(order.size());
  std::vector<Expr> arguments;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Node* n = order[k];
    if (const auto found = frozen.find(n); found != frozen.end()) {
      result[k] = found->second ? 1.0 : 0.0;
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

ActiveEquations active_equations(const std::vector<EquationItem>& items, const Frozen& frozen) {
  ActiveEquations active;
  add(items, frozen, active);
  return active;
}

SelectConditions select_conditions(const std::vector<Equation>& equations) {
  SelectConditions found;
  NodeMap index;  // of a condition
  constexpr std::uint32_t kNotFrozen = NodeMap::kNone - 1;
  for (std::size_t i = 0; i < equations.size(); ++i) {
    const Expr residual = equations[i].residual();
    if (residual.node() == nullptr) continue;
    NodeMap position;
    std::vector<const Node*> order;
    append_postorder(residual.node(), position, order);
    for (const Node* n : order) {
      if (n->op != Op::kSelect) continue;
      const Node* condition = n->children[0];
      std::uint32_t k = index.find(condition);
      if (k == NodeMap::kNone) {
        const std::vector<Expr> leaves = leaves_of(Expr(condition));
        const bool keeps = std::ranges::all_of(
            leaves, [](const Expr& leaf) { return leaf.is_slot() || leaf.is_parameter(); });
        k = keeps ? static_cast<std::uint32_t>(found.conditions.size()) : kNotFrozen;
        index.set(condition, k);
        if (keeps) {
          found.conditions.emplace_back(condition);
          found.equations_with.emplace_back();
        }
      }
      if (k == kNotFrozen) continue;
      std::vector<std::size_t>& rows = found.equations_with[k];
      if (rows.empty() || rows.back() != i) rows.push_back(i);
    }
  }
  return found;
}

}  // namespace saltus
