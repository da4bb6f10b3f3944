#include "analysis/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "expr/differentiate.h"
#include "expr/graph.h"

// c_i, d_j: offsets of equations and unknowns, see structure.h.

namespace saltus {
namespace {

// symbol = factor * other + offset.
struct Alias {
  Expr symbol;
  Expr replacement;
  const Node* replacement_symbol = nullptr;
};

// If `e` (already rewritten) equates two symbols with constant coefficients, the symbol to be
// eliminated with its replacement: the one that is differentiated less often (an equation that
// integrates it would be lost otherwise), then the one of higher derivative order.
// `above(symbol)`: how many of its derivatives are unknowns, too.
template <typename Above>
bool find_alias(const Expr& e, const Above& above, Alias& alias) {
  const std::vector<Expr> leaves = leaves_of(e);
  if (leaves.size() != 2 || !leaves[0].is_variable() || !leaves[1].is_variable()) return false;
  const int more = above(leaves[0]) - above(leaves[1]);
  const bool first_goes =
      more < 0 || (more == 0 && leaves[0].node()->order >= leaves[1].node()->order);
  const Expr& out = leaves[first_goes ? 0 : 1];
  const Expr& in = leaves[first_goes ? 1 : 0];
  const Expr by_out = partial(e, out);
  const Expr by_in = partial(e, in);
  if (!by_out.is_number() || !by_in.is_number() || by_out.number() == 0.0) return false;
  if (polynomial_degree(e, leaves) != 1) return false;
  const Expr both[] = {out, in};
  if (polynomial_degree(e, both) != 1) return false;  // constant slopes on both sides of a jump
  const Expr zeros[] = {0.0, 0.0};
  const Expr rest = substitute(e, both, zeros);
  if (!rest.is_number()) return false;
  alias = {out, Expr(-by_in.number() / by_out.number()) * in - rest.number() / by_out.number(),
           in.node()};
  return true;
}

// Derivative symbols read der(x), der(x, 2).
std::string symbol_name(const Expr& symbol) { return to_string(symbol); }

}  // namespace

Expr ReducedForm::rewrite(const Expr& a) const {
  std::vector<Expr> from;
  std::vector<Expr> to;
  for (const Expr& leaf : leaves_of(a)) {
    const auto found = replacements.find(leaf.node());
    if (found == replacements.end()) continue;
    from.push_back(leaf);
    to.push_back(found->second);
  }
  return from.empty() ? a : substitute(a, from, to);
}

ReducedForm reduce(Graph& graph, const DaeDefinition& mode, const std::vector<VariableId>& unknowns,
                   const Signature& signature, const Offsets& offsets) {
  const std::size_t m = mode.residuals.size();
  const std::size_t n = unknowns.size();
  ReducedForm form;
  form.differentiated = offsets.c;

  // The prolonged system F_i, ..., F_i^(c_i).
  std::vector<Expr> equations;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < m; ++i) {
    Expr e = mode.residuals[i];
    for (int k = 0; k <= offsets.c[i]; ++k) {
      equations.push_back(e);
      names.push_back(k == 0 ? mode.equation_names[i]
                             : fmt::format("derivative {} of {}", k, mode.equation_names[i]));
      if (k < offsets.c[i]) e = der(e);
    }
  }

  // Eliminate what only equates two symbols. Each equation is rewritten with what is known before
  // it is looked at, so chains of aliases collapse.
  std::unordered_map<const Node*, std::vector<const Node*>> stands_for;  // by replacement symbol
  std::vector<bool> removed(equations.size(), false);
  std::unordered_map<std::size_t, int> highest;  // by variable
  for (std::size_t j = 0; j < n; ++j) highest.emplace(unknowns[j].index(), offsets.d[j]);
  const auto above = [&](const Expr& s) {
    const auto found = highest.find(s.node()->index);
    return found == highest.end() ? 0 : found->second - s.node()->order;
  };
  for (std::size_t e = 0; e < equations.size(); ++e) {
    Alias alias;
    if (leaves_of(equations[e]).size() > 4 || !find_alias(form.rewrite(equations[e]), above, alias))
      continue;
    const Expr old_symbol[] = {alias.symbol};
    const Expr new_symbol[] = {alias.replacement};
    std::vector<const Node*>& mine = stands_for[alias.replacement_symbol];
    for (const Node* other : stands_for[alias.symbol.node()]) {
      Expr& replacement = form.replacements.at(other);
      replacement = substitute(replacement, old_symbol, new_symbol);
      mine.push_back(other);
    }
    stands_for.erase(alias.symbol.node());
    form.replacements.emplace(alias.symbol.node(), alias.replacement);
    stands_for[alias.replacement_symbol].push_back(alias.symbol.node());
    removed[e] = true;
  }

  // A symbol (j, k), k < d_j, may be determined by the equations instead of by integration if a
  // differentiated equation reaches it on the level of highest derivatives.
  std::vector<int> deepest(n, 0);  // stages in which unknown j may be chosen as dependent
  for (std::size_t i = 0; i < m; ++i)
    for (const SignatureEntry& entry : signature.rows[i])
      if (entry.order + offsets.c[i] == offsets.d[entry.unknown])
        deepest[entry.unknown] = std::max(deepest[entry.unknown], offsets.c[i]);
  const auto may_be_dependent = [&](std::size_t j, int k) {
    return offsets.d[j] - k <= deepest[j];
  };
  const auto symbol = [&](std::size_t j, int k) { return graph.variable(unknowns[j], k); };
  const auto is_eliminated = [&](const Expr& s) { return form.replacements.count(s.node()) > 0; };

  // The highest derivative of a state that is never in doubt is its x' itself, not an unknown.
  const auto is_merged = [&](std::size_t j, int k) {
    return k == offsets.d[j] && k > 0 && !may_be_dependent(j, k - 1) &&
           !is_eliminated(symbol(j, k)) && !is_eliminated(symbol(j, k - 1));
  };
  // A symbol without a size of its own is as small as the smallest it stands for: the speed of a
  // housing is that of the spring it hangs on.
  std::unordered_map<std::size_t, std::size_t> column;  // by variable
  for (std::size_t j = 0; j < n; ++j) column.emplace(unknowns[j].index(), j);
  const auto size_of = [&](std::size_t j, const Expr& s) {
    double size = mode.nominal[j];
    const auto others = stands_for.find(s.node());
    if (size != 1.0 || others == stands_for.end()) return size;
    for (const Node* other : others->second) {
      const auto at = column.find(other->index);
      const Expr factor = partial(form.replacements.at(other), s);
      if (at != column.end() && factor.is_number() && factor.number() != 0.0)
        size = std::min(size, mode.nominal[at->second] / std::abs(factor.number()));
    }
    return size;
  };
  std::unordered_map<const Node*, std::size_t> index;  // of an unknown symbol
  DaeDefinition& def = form.definition;
  for (std::size_t j = 0; j < n; ++j) {
    for (int k = 0; k <= offsets.d[j]; ++k) {
      const Expr s = symbol(j, k);
      if (is_eliminated(s) || is_merged(j, k)) continue;
      index.emplace(s.node(), def.unknowns.size());
      def.unknowns.push_back(s);
      def.unknown_names.push_back(symbol_name(s));
      def.nominal.push_back(size_of(j, s));
      // x' is a symbol of its own where the derivative of x is an unknown too.
      const bool derivative_is_free = k == offsets.d[j] || is_merged(j, k + 1);
      def.derivatives.push_back(derivative_is_free ? symbol(j, k + 1) : graph.slope_of(s));
      def.controlled.push_back(k == 0 && offsets.d[j] > 0);
    }
  }
  def.time = mode.time;
  def.parameters = mode.parameters;
  def.held = mode.held;

  for (std::size_t e = 0; e < equations.size(); ++e) {
    if (removed[e]) continue;
    def.residuals.push_back(form.rewrite(equations[e]));
    def.equation_names.push_back(names[e]);
  }
  // Rows d/dt (j, k) = (j, k + 1): fixed where the state is never in doubt, candidates otherwise.
  std::vector<std::pair<std::size_t, Expr>> candidate_rows;
  std::map<std::size_t, std::size_t> candidate_of;  // by unknown
  form.symbol_candidates.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    form.symbol_candidates[j].assign(static_cast<std::size_t>(offsets.d[j]), ReducedForm::npos);
    for (int k = 0; k < offsets.d[j]; ++k) {
      const auto found = index.find(symbol(j, k).node());
      if (found == index.end() || is_merged(j, k + 1)) continue;
      const std::size_t unknown = found->second;
      const Expr row = def.derivatives[unknown] - form.rewrite(symbol(j, k + 1));
      if (may_be_dependent(j, k)) {
        candidate_of.emplace(unknown, candidate_rows.size());
        form.symbol_candidates[j][static_cast<std::size_t>(k)] = candidate_rows.size();
        candidate_rows.emplace_back(unknown, row);
      } else {
        def.residuals.push_back(row);
        def.equation_names.push_back(fmt::format("derivative of {}", def.unknown_names[unknown]));
      }
    }
  }
  form.fixed_rows = def.residuals.size();
  form.states = def.unknowns.size() - form.fixed_rows;
  for (const auto& [unknown, row] : candidate_rows) {
    form.candidates.push_back(unknown);
    def.residuals.push_back(row);
    def.equation_names.push_back(fmt::format("derivative of {}", def.unknown_names[unknown]));
  }

  // Hidden constraints: derivatives below the highest level, rewritten; those are free of x'.
  for (std::size_t i = 0, e = 0; i < m; ++i) {
    for (int k = 0; k <= offsets.c[i]; ++k, ++e)
      if (k > 0 && !removed[e])
        form.hidden.push_back(to_string(form.rewrite(equations[e])) + " = 0");
  }

  // What the choice of states looks at.
  std::vector<std::size_t> equation_index(m, ReducedForm::npos);
  for (std::size_t i = 0; i < m; ++i) {
    if (offsets.c[i] == 0) continue;
    equation_index[i] = form.equation_stages.size();
    form.equation_stages.push_back(offsets.c[i]);
    form.stage_equations.push_back(i);
  }
  form.unknown_orders = offsets.d;
  std::vector<Expr> values;
  for (std::size_t i = 0; i < m; ++i) {
    if (offsets.c[i] == 0) continue;
    for (const SignatureEntry& entry : signature.rows[i]) {
      if (entry.order + offsets.c[i] != offsets.d[entry.unknown] || offsets.d[entry.unknown] == 0)
        continue;
      const Expr value = partial(mode.residuals[i], symbol(entry.unknown, entry.order));
      form.entries.push_back({equation_index[i], entry.unknown, value.is_number()});
      values.push_back(form.rewrite(value));
      form.constant_entries = form.constant_entries && is_constant_in_mode(value);
    }
  }
  form.entry_values = Tape(values, def.inputs());
  return form;
}

void ReducedForm::fix_replacements(const std::vector<double>& values,
                                   const std::vector<bool>& fixed,
                                   std::vector<bool>& fixed_unknowns,
                                   std::vector<double>& x) const {
  for (const auto& [eliminated, replacement] : replacements) {
    if (eliminated->order != 0 || eliminated->index >= fixed.size() || !fixed[eliminated->index])
      continue;
    const std::vector<Expr> leaves = leaves_of(replacement);
    if (leaves.size() != 1) continue;
    const auto place = std::ranges::find_if(
        definition.unknowns, [&](const Expr& symbol) { return symbol.same_as(leaves.front()); });
    if (place == definition.unknowns.end()) continue;
    const auto j = static_cast<std::size_t>(place - definition.unknowns.begin());
    if (fixed_unknowns[j]) continue;
    // Replacements are affine with numbers as coefficients.
    const Expr zero[] = {0.0};
    const double offset = substitute(replacement, leaves, zero).number();
    const double factor = partial(replacement, leaves.front()).number();
    x[j] = (values[eliminated->index] - offset) / factor;
    fixed_unknowns[j] = true;
  }
}

}  // namespace saltus
