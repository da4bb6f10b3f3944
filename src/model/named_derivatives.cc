#include "model/named_derivatives.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "expr/differentiate.h"
#include "model/aliases.h"

namespace saltus {
namespace {

class Namer {
 public:
  explicit Namer(FlatModel& model) : model_(model) {}

  void run() {
    for (EquationItem& item : model_.equations) lower(item);
    for (EquationItem& item : added_) model_.equations.push_back(std::move(item));
    differentiated_.resize(model_.system.variables().size(), false);
    mark_differentiated(model_.equations, differentiated_);
    in(model_.initial_equations);
    for (DiscreteEquation& e : model_.initial_discrete) in(e.value);
    for (DiscreteEquation& e : model_.discrete_equations) in(e.value);
    for (Relation& r : model_.relations) in(r.value);
    for (LeftLimit& l : model_.left_limits) in(l.value);
    for (Delay& d : model_.delays) in(d.value);
    for (Reinit& r : model_.reinits) {
      in(r.condition);
      in(r.value);
    }
    for (Assertion& a : model_.assertions) in(a.condition);
    for (Termination& t : model_.terminations) in(t.condition);
    for (TextValue& v : model_.text_values) in(v.value);
    for (Printing& p : model_.printings) in(p.reached);
    for (Bounds& b : model_.bounds) in(b.value);
  }

 private:
  void in(std::vector<EquationItem>& items) {
    for (EquationItem& item : items) {
      if (auto* equation = std::get_if<Equation>(&item.value)) {
        in(equation->equality.lhs);
        in(equation->equality.rhs);
        continue;
      }
      auto& conditional = std::get<IfEquation>(item.value);
      for (Expr& condition : conditional.conditions) in(condition);
      for (auto& branch : conditional.branches) in(branch);
    }
  }

  void in(Expr& e) {
    if (e.is_number()) return;
    bool found = false;
    for (const Expr& leaf : leaves_of(e)) found = name(leaf) || found;
    if (found) e = substitute(e, from_, to_);
  }

  // Equations hold first derivatives only: der(der(x)) is that of a variable that is der(x).
  void lower(EquationItem& item) {
    if (auto* equation = std::get_if<Equation>(&item.value)) {
      equation->equality.lhs = lowered(equation->equality.lhs);
      equation->equality.rhs = lowered(equation->equality.rhs);
      return;
    }
    for (auto& branch : std::get<IfEquation>(item.value).branches)
      for (EquationItem& inside : branch) lower(inside);
  }

  Expr lowered(const Expr& e) {
    if (e.is_number()) return e;
    std::vector<Expr> from;
    std::vector<Expr> to;
    for (const Expr& leaf : leaves_of(e)) {
      if (!leaf.is_variable() || leaf.node()->order < 2) continue;
      Expr x = model_.system.variables()[leaf.node()->index].symbol;
      for (int order = leaf.node()->order; order > 1; --order) x = rate_of(x);
      from.push_back(leaf);
      to.push_back(der(x));
    }
    return from.empty() ? e : substitute(e, from, to);
  }

  Expr rate_of(const Expr& symbol) {
    const auto [at, is_new] = rates_.try_emplace(symbol.node());
    if (is_new) {
      const Variable x = model_.system.variables()[symbol.node()->index];
      at->second = model_.system.variable(fmt::format("$rate({})", x.name), {.nominal = x.nominal});
      added_.emplace_back(
          Equation(fmt::format("derivative of '{}'", x.name), at->second == der(symbol)));
    }
    return at->second;
  }

  bool name(const Expr& leaf) {
    if (!leaf.is_variable() || leaf.node()->order != 1) return false;
    if (leaf.node()->index < differentiated_.size() && differentiated_[leaf.node()->index])
      return false;
    if (!known_.insert(leaf.node()).second) return true;
    const Variable x = model_.system.variables()[leaf.node()->index];
    const Expr own =
        model_.system.variable(fmt::format("$der({})", x.name), {.nominal = x.nominal});
    from_.push_back(leaf);
    to_.push_back(own);
    model_.equations.emplace_back(Equation(fmt::format("derivative of '{}'", x.name), own == leaf));
    return true;
  }

  FlatModel& model_;
  std::vector<bool> differentiated_;
  std::unordered_map<const Node*, Expr> rates_;  // by variable
  std::vector<EquationItem> added_;
  std::unordered_set<const Node*> known_;
  std::vector<Expr> from_;
  std::vector<Expr> to_;
};

}  // namespace

void name_derivatives(FlatModel& model) { Namer(model).run(); }

}  // namespace saltus
