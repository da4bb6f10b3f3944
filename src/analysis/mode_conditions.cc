#include "analysis/mode_conditions.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "analysis/structural_conditions.h"
#include "base/stack.h"
#include "expr/differentiate.h"
#include "model/active_equations.h"

namespace saltus {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Conditions and values that lead to a branch of nested select(), the outermost first.
using BranchPath = std::vector<std::pair<const Node*, bool>>;

bool is_kept_between_events(const Node* condition) {
  return std::ranges::all_of(leaves_of(Expr(condition)), [](const Expr& leaf) {
    return leaf.is_slot() || leaf.is_parameter();
  });
}

// Paths of two conditions or more. Long chains have as many as branches; what has more than
// kMostPaths is no chain. `seen` are nodes met on the same path.
void add_branch_paths(const Node* at, BranchPath& path, std::unordered_set<const Node*>& seen,
                      std::vector<BranchPath>& out) {
  constexpr std::size_t kMostPaths = 200;
  // A sum of very many terms may leave the paths in its first ones out: they only save time.
  if (is_leaf(at->op) || out.size() > kMostPaths || !seen.insert(at).second || stack_is_low())
    return;
  if (at->op != Op::kSelect || !is_kept_between_events(at->children[0])) {
    for (const Node* child : at->children) add_branch_paths(child, path, seen, out);
    return;
  }
  const Node* condition = at->children[0];
  if (std::ranges::find(path, condition, &BranchPath::value_type::first) != path.end()) return;
  for (const bool value : {true, false}) {
    path.emplace_back(condition, value);
    if (path.size() > 1) out.push_back(path);
    std::unordered_set<const Node*> seen_here;
    add_branch_paths(at->children[value ? 1 : 2], path, seen_here, out);
    path.pop_back();
  }
}

std::vector<BranchPath> branch_paths(const Expr& residual) {
  std::vector<BranchPath> paths;
  BranchPath path;
  std::unordered_set<const Node*> seen;
  if (residual.node() != nullptr) add_branch_paths(residual.node(), path, seen, paths);
  return paths;
}

}  // namespace

Columns::Columns(const HybridSystem& system, const std::vector<Equation>& equations)
    : column_(system.variables().size(), kNone) {
  std::vector<Expr> residuals;
  for (const Equation& e : equations) residuals.push_back(e.residual());
  for (const Expr& leaf : leaves_of(residuals)) {
    if (!leaf.is_variable() || column_[leaf.node()->index] != kNone) continue;
    column_[leaf.node()->index] = count_++;
  }
  signature_.unknown_count = count_;
  for (const Expr& r : residuals) signature_.rows.push_back(row(r));
}

std::vector<SignatureEntry> Columns::row(const Expr& residual) const {
  std::vector<SignatureEntry> entries;
  for (const Expr& leaf : leaves_of(residual)) {
    if (!leaf.is_variable()) continue;
    const std::size_t j = column_[leaf.node()->index];
    const auto known = std::ranges::find(entries, j, &SignatureEntry::unknown);
    if (known == entries.end())
      entries.push_back({j, leaf.node()->order});
    else
      known->order = std::max(known->order, leaf.node()->order);
  }
  return entries;
}

namespace {

// What is left is solvable, as far as structure tells, and the offsets are others.
bool changes_offsets(const std::vector<Equation>& equations, const SelectConditions& candidates,
                     const Columns& columns, const Offsets& offsets, const Frozen& frozen) {
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < candidates.conditions.size(); ++k) {
    if (!frozen.contains(candidates.conditions[k].node())) continue;
    const auto& with = candidates.equations_with[k];
    rows.insert(rows.end(), with.begin(), with.end());
  }
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  Signature left = columns.signature();
  for (const std::size_t i : rows)
    left.rows[i] = columns.row(freeze(equations[i].residual(), frozen));
  const Offsets now = find_offsets(left);
  return now.solvable && (now.c != offsets.c || now.d != offsets.d);
}

}  // namespace

std::vector<Expr> structural_conditions(const HybridSystem& system,
                                        const std::vector<Equation>& equations) {
  const SelectConditions candidates = select_conditions(equations);
  if (candidates.conditions.empty()) return {};
  const Columns columns(system, equations);
  const Offsets offsets = find_offsets(columns.signature());
  FreezeTest test(columns.signature(), offsets);
  std::vector<Expr> found;
  for (std::size_t k = 0; k < candidates.conditions.size(); ++k) {
    const Expr& condition = candidates.conditions[k];
    const auto changes = [&](bool value) {
      FrozenRows frozen{candidates.equations_with[k], {}};
      for (const std::size_t i : frozen.rows)
        frozen.entries.push_back(
            columns.row(freeze(equations[i].residual(), {{condition.node(), value}})));
      return test.changes_structure(frozen);
    };
    if (changes(true) || changes(false)) found.push_back(condition);
  }
  if (!found.empty()) return found;
  // if free then tau = 0 elseif locked then w1 = w2 else ...: none changes the structure alone,
  // because the other branches keep their unknowns, but both together do. The first condition on
  // the way to such a branch is asked; with its value known the next one decides by itself.
  if (!offsets.solvable) return found;
  for (const Equation& equation : equations)
    for (const BranchPath& path : branch_paths(equation.residual()))
      if (changes_offsets(equations, candidates, columns, offsets, {path.begin(), path.end()}))
        return {Expr(path.front().first)};
  return found;
}

std::vector<std::size_t> structural_together(const HybridSystem& system,
                                             const std::vector<Equation>& equations,
                                             const std::vector<Expr>& conditions,
                                             const std::vector<double>& values) {
  const Columns columns(system, equations);
  const Offsets offsets = find_offsets(columns.signature());
  if (!offsets.solvable) return {};
  const SelectConditions known = select_conditions(equations);
  const auto changes = [&](const std::vector<std::size_t>& chosen) {
    Frozen frozen;
    for (const std::size_t k : chosen) frozen[conditions[k].node()] = values[k] != 0.0;
    return changes_offsets(equations, known, columns, offsets, frozen);
  };
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < conditions.size(); ++k) chosen.push_back(k);
  if (!changes(chosen)) return {};
  // What can be left out is, in large portions first.
  for (std::size_t portion = (chosen.size() + 1) / 2;; portion = (portion + 1) / 2) {
    for (std::size_t first = 0; first < chosen.size();) {
      std::vector<std::size_t> fewer;
      for (std::size_t k = 0; k < chosen.size(); ++k)
        if (k < first || k >= first + portion) fewer.push_back(chosen[k]);
      if (!fewer.empty() && changes(fewer))
        chosen = std::move(fewer);
      else
        first += portion;
    }
    if (portion == 1) return chosen;
  }
}

}  // namespace saltus
