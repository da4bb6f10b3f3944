#include "model/solved_equations.h"

#include <algorithm>

#include "expr/differentiate.h"
#include "model/aliases.h"

namespace saltus {
namespace {

bool is_plain(const Expr& e) { return e.is_variable() && e.node()->order == 0; }

// The variables of the unconditional equations that follow one after the other.
class Known {
 public:
  explicit Known(const FlatModel& model)
      : aliases_(find_aliases(model)), known_(model.system.variables().size(), false) {
    std::vector<bool> differentiated(known_.size(), false);
    mark_differentiated(model.equations, differentiated);
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (differentiated[i]) mark(aliases_.value[i]);
    for (bool found = true; found;) {
      found = false;
      for (const EquationItem& item : model.equations)
        if (const auto* equation = std::get_if<Equation>(&item.value))
          found = follow(equation->equality) || found;
    }
  }

  bool holds(const Expr& e) const {
    const Expr a = aliases_.rewrite(e);
    if (a.is_number()) return true;
    return std::ranges::all_of(leaves_of(a), [&](const Expr& leaf) {
      return !leaf.is_variable() || (leaf.node()->order == 0 && known_[leaf.node()->index]);
    });
  }

 private:
  bool mark(const Expr& e) {
    bool any = false;
    if (e.is_number()) return any;
    for (const Expr& leaf : leaves_of(e)) {
      if (!leaf.is_variable() || known_[leaf.node()->index]) continue;
      known_[leaf.node()->index] = true;
      any = true;
    }
    return any;
  }
  // x = expression of what is known.
  bool follow(const Equality& equality) {
    const auto gives = [&](const Expr& x, const Expr& value) {
      return is_plain(x) && !holds(x) && holds(value) && mark(aliases_.rewrite(x));
    };
    return gives(equality.lhs, equality.rhs) || gives(equality.rhs, equality.lhs);
  }

  Aliases aliases_;
  std::vector<bool> known_;  // by variable that stands for others
};

}  // namespace

void use_solved_equations(FlatModel& model) {
  // What one gives may be what the next one needs.
  for (bool found = !model.solved_equations.empty(); found;) {
    found = false;
    const Known known(model);
    for (const SolvedEquation& s : model.solved_equations) {
      auto& equation = std::get<Equation>(model.equations[s.equation].value);
      if (known.holds(s.variable) || !known.holds(s.value)) continue;
      equation.equality = {s.variable, s.value};
      found = true;
    }
  }
}

}  // namespace saltus
