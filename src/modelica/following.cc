// Integers and Booleans that follow what varies at any time: fields of records that a function
// gives, such as the phase of a thermodynamic state.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "expr/differentiate.h"
#include "model/follower.h"
#include "modelica/flattener.h"

namespace saltus {
namespace {

class Replacement {
 public:
  Replacement(std::vector<Expr> from, std::vector<Expr> to)
      : from_(std::move(from)), to_(std::move(to)) {}

  void in(Expr& e) const {
    if (!e.is_number()) e = substitute(e, from_, to_);
  }
  void in(std::vector<EquationItem>& items) const {
    for (EquationItem& item : items) {
      if (auto* equation = std::get_if<Equation>(&item.value)) {
        in(equation->equality.lhs);
        in(equation->equality.rhs);
        continue;
      }
      auto& conditional = std::get<IfEquation>(item.value);
      for (const Expr& condition : conditional.conditions) refuse_in(condition, conditional.where);
      for (auto& branch : conditional.branches) in(branch);
    }
  }
  void refuse_in(const Expr& e, const SourceLocation& where) const {
    for (const Expr& leaf : leaves_of(e))
      if (std::ranges::any_of(from_, [&](const Expr& x) { return x.same_as(leaf); }))
        throw Error(fmt::format("what changes at events reads '{}', which a function gives at any "
                                "time: not supported",
                                to_string(leaf)),
                    where);
  }

 private:
  std::vector<Expr> from_;
  std::vector<Expr> to_;
};

}  // namespace

// They are no variables of their own: what reads them reads their values.
void Flattener::follow_at_any_time(std::vector<Expr> symbols, std::vector<Expr> values) {
  if (symbols.empty()) return;
  for (std::size_t round = 0; round < symbols.size(); ++round) {
    bool changed = false;
    for (Expr& value : values) {
      const Expr next = substitute(value, symbols, values);
      changed = changed || !next.same_as(value);
      value = next;
    }
    if (!changed) break;
  }
  for (std::size_t k = 0; k < symbols.size(); ++k) {
    const DiscreteVariable& variable = flat_.discretes[discrete_numbers_.at(symbols[k].node())];
    flat_.system.derive(fmt::format("{}{}", kFollower, variable.name), values[k],
                        {variable.unit, variable.description});
    flat_.discrete_equations.push_back({symbols[k], pre_slot(symbols[k]), variable.where});
  }
  const Replacement replace(std::move(symbols), std::move(values));
  replace.in(flat_.equations);
  replace.in(flat_.initial_equations);
  for (Relation& r : flat_.relations) replace.in(r.value);
  for (LeftLimit& l : flat_.left_limits) replace.in(l.value);
  for (Delay& d : flat_.delays) replace.in(d.value);
  for (SolvedEquation& s : flat_.solved_equations) replace.in(s.value);
  for (SemiLinear& s : flat_.semi_linears)
    for (Expr* part : {&s.value, &s.is_positive, &s.x, &s.above, &s.below}) replace.in(*part);
  for (Assertion& a : flat_.assertions) replace.in(a.condition);
  for (TextValue& v : flat_.text_values) replace.in(v.value);
  for (Bounds& b : flat_.bounds) replace.in(b.value);
  for (Reinit& r : flat_.reinits) replace.in(r.value);
  for (const Termination& t : flat_.terminations) replace.refuse_in(t.condition, t.where);
  for (const DiscreteEquation& e : flat_.discrete_equations) {
    if (pre_slots_.contains(e.target.node()) && e.value.same_as(pre_slots_.at(e.target.node())))
      continue;
    replace.refuse_in(e.value, e.where);
  }
  for (const DiscreteEquation& e : flat_.initial_discrete) replace.refuse_in(e.value, e.where);
}

}  // namespace saltus
