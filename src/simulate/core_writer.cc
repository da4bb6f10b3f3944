#include "simulate/core_writer.h"

#include <vector>

#include "expr/differentiate.h"

namespace saltus {

CoreWriter::CoreWriter(const AnalysedMode& mode, const EliminatedForm& form) : mode_(mode) {
  const DaeDefinition& whole = mode.dae->definition();
  for (std::size_t j = 0; j < mode.unknowns.size(); ++j)
    unknown_of_.emplace(mode.unknowns[j].index(), j);
  for (std::size_t k = 0; k < form.eliminated.size(); ++k) {
    formula_of_.emplace(whole.unknowns[form.eliminated[k]].node(), form.formulas[k]);
    lost_.insert(whole.derivatives[form.eliminated[k]].node());
  }
  for (std::size_t j = 0; j < whole.unknowns.size(); ++j)
    derivative_of_.emplace(whole.unknowns[j].node(), whole.derivatives[j]);
}

Expr CoreWriter::write(const Expr& a) {
  const std::vector<Expr> leaves = leaves_of(a);
  if (leaves.size() == 1 && a.same_as(leaves.front())) return in_core(in_form(a));
  std::vector<Expr> to;
  for (const Expr& leaf : leaves) to.push_back(in_core(in_form(leaf)));
  return substitute(a, leaves, to);
}

// As ModeRun reads points: the slope of what is not differentiated is that of the numerical
// solution.
Expr CoreWriter::in_form(const Expr& leaf) const {
  if (!leaf.is_variable()) return leaf;
  const auto unknown = unknown_of_.find(leaf.node()->index);
  if (unknown == unknown_of_.end()) return leaf;
  if (leaf.node()->order == 0 || mode_.differential[unknown->second]) return mode_.rewrite(leaf);
  const Expr symbol = mode_.written.unknowns[unknown->second];
  const auto derivative = derivative_of_.find(mode_.rewrite(symbol).node());
  return derivative == derivative_of_.end() ? Expr(0.0) : derivative->second;
}

Expr CoreWriter::in_core(const Expr& a) {
  if (a.is_number()) return a;
  const std::vector<Expr> leaves = leaves_of(a);
  std::vector<Expr> from, to;
  for (const Expr& leaf : leaves) {
    is_incomplete_ = is_incomplete_ || lost_.contains(leaf.node());
    const auto formula = formula_of_.find(leaf.node());
    if (formula == formula_of_.end()) continue;
    if (a.same_as(leaf)) return formula->second;
    from.push_back(leaf);
    to.push_back(formula->second);
  }
  return from.empty() ? a : substitute(a, from, to);
}

}  // namespace saltus
