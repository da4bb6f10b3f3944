#include "model/named_derivatives.h"

#include <fmt/format.h>

#include <unordered_set>

#include "expr/differentiate.h"
#include "model/aliases.h"

namespace saltus {
namespace {

class Namer {
 public:
  explicit Namer(FlatModel& model)
      : model_(model), differentiated_(model.system.variables().size(), false) {
    mark_differentiated(model.equations, differentiated_);
  }

  void run() {
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
  std::unordered_set<const Node*> known_;
  std::vector<Expr> from_;
  std::vector<Expr> to_;
};

}  // namespace

void name_derivatives(FlatModel& model) { Namer(model).run(); }

}  // namespace saltus
