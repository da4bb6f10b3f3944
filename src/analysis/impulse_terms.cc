#include "analysis/impulse_terms.h"

#include <algorithm>
#include <unordered_set>

namespace saltus {

ImpulseTerms::ImpulseTerms(const DaeDefinition& def, const std::vector<bool>& under_der)
    : rows(def.residuals.size()),
      dropped(def.residuals.size(), false),
      may_carry(def.unknowns.size(), true) {
  const std::size_t n = def.unknowns.size();
  std::unordered_set<const Node*> unbounded;  // what may be infinite during the instant
  for (std::size_t j = 0; j < n; ++j)
    unbounded.insert(under_der[j] ? def.derivatives[j].node() : def.unknowns[j].node());
  std::vector<Expr> columns = def.unknowns;
  columns.insert(columns.end(), def.derivatives.begin(), def.derivatives.end());
  for (const JacobianEntry& e : jacobian(def.residuals, columns)) rows[e.row].push_back(e);
  const auto is_algebraic = [&](std::size_t j) { return j < n && !under_der[j]; };
  const auto is_bounded = [&](const JacobianEntry& e) {
    if ((e.column < n && under_der[e.column]) || e.value.is_number()) return true;
    return std::ranges::none_of(leaves_of(e.value),
                                [&](const Expr& leaf) { return unbounded.contains(leaf.node()); });
  };
  std::vector<int> occurrences(n, 0);  // rows with this unknown, if it is algebraic
  std::vector<std::vector<bool>> bounded(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const JacobianEntry& e : rows[i]) {
      bounded[i].push_back(is_bounded(e));
      if (is_algebraic(e.column)) ++occurrences[e.column];
    }
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto defines_result = [&](const JacobianEntry& e) {
        return is_algebraic(e.column) && occurrences[e.column] == 1;
      };
      if (dropped[i] || std::ranges::find(bounded[i], false) == bounded[i].end() ||
          std::ranges::none_of(rows[i], defines_result))
        continue;
      dropped[i] = again = true;
      for (const JacobianEntry& e : rows[i]) {
        if (defines_result(e)) may_carry[e.column] = false;
        if (is_algebraic(e.column)) --occurrences[e.column];
      }
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < rows[i].size() && !dropped[i]; ++k)
      if (rows[i][k].column < n && !bounded[i][k]) may_carry[rows[i][k].column] = false;
}

}  // namespace saltus
