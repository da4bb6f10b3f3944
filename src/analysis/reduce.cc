#include "analysis/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "expr/differentiate.h"
#include "expr/graph.h"

// c_i, d_j: offsets of equations and unknowns, see structure.h.

namespace saltus {
namespace {

constexpr double kRankTolerance = 1e-11;
// A state that is in use counts this much more than a rival before it is given up.
constexpr double kLoyalty = 3.0;
// Entries that differ by less than rounding are alike; the one in the shorter column is the pivot.
constexpr double kAlike = 1.0 - 1e-12;
// Up to this many equations are taken in the order in which they are written.
constexpr std::size_t kFillMatters = 100;

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
  const Expr both[] = {out, in};
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
      def.derivatives.push_back(derivative_is_free ? symbol(j, k + 1)
                                                   : graph.new_variable("d/dt " + symbol_name(s)));
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

StateSelector::StateSelector(const ReducedForm& form)
    : form_(form), registers_(form.entry_values.make_workspace()), values_(form.entries.size()) {}

std::vector<std::size_t> StateSelector::select(DaeData& data, double t, const double* x,
                                               const double* dx,
                                               const std::vector<std::size_t>& current) {
  const double* inputs[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  form_.entry_values.evaluate(inputs, registers_, values_.data());
  chosen_at_ = values_;
  row_sizes_.assign(form_.equation_stages.size(), 0.0);
  for (std::size_t e = 0; e < values_.size(); ++e) {
    double& size = row_sizes_[form_.entries[e].equation];
    size = std::max(size, std::abs(values_[e]));
  }
  std::vector<double> favour(form_.candidates.size(), 1.0);
  for (const std::size_t k : current) favour[k] = 1.0 / kLoyalty;

  std::vector<bool> eligible(form_.unknown_orders.size());
  for (std::size_t j = 0; j < eligible.size(); ++j) eligible[j] = form_.unknown_orders[j] >= 1;
  std::vector<bool> dependent(form_.candidates.size(), false);
  int last_stage = 0;
  for (const int c : form_.equation_stages) last_stage = std::max(last_stage, c);
  found_dependence_ = true;
  smallest_pivot_ = 1.0;
  for (int stage = 1; stage <= last_stage; ++stage)
    if (!eliminate_stage(stage, favour, eligible, dependent)) return {};
  std::vector<std::size_t> states;
  for (std::size_t k = 0; k < dependent.size(); ++k)
    if (!dependent[k]) states.push_back(k);
  if (states.size() != form_.states) return {};
  found_dependence_ = false;
  return states;
}

bool StateSelector::is_settled(DaeData& data, double t, const double* x, const double* dx) {
  constexpr double kSmallChange = 0.25;
  if (chosen_at_.size() != values_.size()) return false;
  const double* inputs[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  form_.entry_values.evaluate(inputs, registers_, values_.data());
  for (std::size_t e = 0; e < values_.size(); ++e) {
    const double size = row_sizes_[form_.entries[e].equation];
    if (!(std::abs(values_[e] - chosen_at_[e]) <= kSmallChange * smallest_pivot_ * size))
      return false;
  }
  return true;
}

// Gaussian elimination on the equations differentiated at least `stage` times; the pivot columns
// become dependent. Rows whose symbol is eliminated anyway go first: such entries are constant and
// cannot go stale. The others take the largest entry of their row, weighed by `favour`; those that
// fill in least go first, so that the work grows with the number of links of a chain and not with
// its square. Only unknowns that are dependent in this stage are eligible in the next.
bool StateSelector::eliminate_stage(int stage, const std::vector<double>& favour,
                                    std::vector<bool>& eligible, std::vector<bool>& dependent) {
  const std::size_t n = form_.unknown_orders.size();
  std::vector<std::map<std::size_t, double>> rows(form_.equation_stages.size());
  std::vector<std::set<std::size_t>> rows_with(n);
  std::vector<double> largest(rows.size(), 0.0);
  const auto candidate = [&](std::size_t j) {
    return form_.symbol_candidates[j][static_cast<std::size_t>(form_.unknown_orders[j] - stage)];
  };
  std::vector<std::size_t> free_column(rows.size(), ReducedForm::npos);
  for (std::size_t e = 0; e < form_.entries.size(); ++e) {
    const ReducedForm::Entry& entry = form_.entries[e];
    if (form_.equation_stages[entry.equation] < stage || !eligible[entry.unknown]) continue;
    rows[entry.equation][entry.unknown] = values_[e];
    rows_with[entry.unknown].insert(entry.equation);
    largest[entry.equation] = std::max(largest[entry.equation], std::abs(values_[e]));
    if (entry.constant && candidate(entry.unknown) == ReducedForm::npos)
      free_column[entry.equation] = entry.unknown;
  }

  std::vector<bool> pivoted(n, false);
  const bool avoid_fill = rows.size() > kFillMatters;
  struct Choice {
    std::size_t column = ReducedForm::npos;
    std::size_t fill = 0;
  };
  const auto choose = [&](std::size_t i) {
    Choice choice;
    const std::size_t own = free_column[i];
    if (own != ReducedForm::npos && !pivoted[own] && rows[i].count(own) > 0) {
      choice.column = own;
    } else {
      const auto merit_of = [&](std::size_t j, double value) {
        const std::size_t k = candidate(j);
        return std::abs(value) <= kRankTolerance * largest[i]
                   ? 0.0
                   : std::abs(value) * (k == ReducedForm::npos ? 1.0 : favour[k]);
      };
      double best = 0.0;
      for (const auto& [j, value] : rows[i]) best = std::max(best, merit_of(j, value));
      double merit = 0.0;
      for (const auto& [j, value] : rows[i]) {
        const double mine = merit_of(j, value);
        if (!(mine > 0.0 && mine >= kAlike * best)) continue;
        const bool none = choice.column == ReducedForm::npos;
        const std::size_t length = avoid_fill ? rows_with[j].size() : 0;
        const std::size_t rival = none || !avoid_fill ? 0 : rows_with[choice.column].size();
        if (!none && (length > rival || (length == rival && mine <= merit))) continue;
        choice.column = j;
        merit = mine;
      }
    }
    if (avoid_fill && choice.column != ReducedForm::npos)
      choice.fill = (rows[i].size() - 1) * (rows_with[choice.column].size() - 1);
    return choice;
  };
  // By: no symbol that is eliminated anyway, fill, row.
  std::set<std::tuple<bool, std::size_t, std::size_t>> queue;
  std::vector<std::size_t> queued_fill(rows.size(), 0);
  const auto key = [&](std::size_t i) {
    return std::tuple(free_column[i] == ReducedForm::npos, queued_fill[i], i);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (form_.equation_stages[i] < stage) continue;
    queued_fill[i] = choose(i).fill;
    queue.insert(key(i));
  }
  std::vector<std::size_t> changed;
  while (!queue.empty()) {
    const std::size_t i = std::get<2>(*queue.begin());
    queue.erase(queue.begin());
    const Choice choice = choose(i);
    if (choice.column == ReducedForm::npos) {
      dependent_equation_ = form_.stage_equations[i];
      dependent_unknowns_.clear();
      for (const ReducedForm::Entry& entry : form_.entries)
        if (entry.equation == i) dependent_unknowns_.push_back(entry.unknown);
      return false;
    }
    const std::size_t column = choice.column;
    pivoted[column] = true;
    const double pivot = rows[i].at(column);
    smallest_pivot_ = std::min(smallest_pivot_, std::abs(pivot) / largest[i]);
    changed.clear();
    for (const auto& [j, value] : rows[i]) {
      rows_with[j].erase(i);
      for (const std::size_t other : rows_with[j]) changed.push_back(other);
    }
    for (const std::size_t other : rows_with[column]) {
      const auto found = rows[other].find(column);
      const double factor = found->second / pivot;
      rows[other].erase(found);
      for (const auto& [j, value] : rows[i]) {
        if (j == column) continue;
        rows[other][j] -= factor * value;
        rows_with[j].insert(other);
      }
    }
    rows_with[column].clear();
    for (const std::size_t other : changed) {
      if (queue.erase(key(other)) == 0) continue;
      queued_fill[other] = choose(other).fill;
      queue.insert(key(other));
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t k = pivoted[j] ? candidate(j) : ReducedForm::npos;
    if (k != ReducedForm::npos) dependent[k] = true;
    eligible[j] = pivoted[j] && form_.unknown_orders[j] > stage;
  }
  return true;
}

}  // namespace saltus
