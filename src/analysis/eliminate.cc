#include "analysis/eliminate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "expr/differentiate.h"
#include "expr/graph.h"
#include "expr/traverse.h"

namespace saltus {
namespace {

// A pivot may be so much smaller than the largest rival in its equation.
constexpr double kPivotThreshold = 0.05;
// More new entries than this are not worth the unknown: the elimination that factors the iteration
// matrix orders them better. Below it no algebraic unknown should be left over, because a core of
// states alone gives all points by formulas: the last ones of the gearbox cost some hundreds.
constexpr long kLargestFill = 1000;
// Terms of one equation that are looked at; what is nested deeper stays an expression.
constexpr int kMostTerms = 10000;

// A linear form: coefficients by column. Columns are the unknowns, their derivatives, the constant
// one, then all other terms ("atoms") as they come up.
using Form = std::map<std::size_t, double>;

class Elimination {
 public:
  Elimination(const DaeDefinition& definition, const std::vector<std::size_t>& rows,
              std::size_t solvable, const std::vector<double>& parameters,
              const std::vector<std::size_t>& numbers)
      : definition_(definition), n_(definition.unknowns.size()), solvable_(solvable) {
    for (std::size_t j = 0; j < n_; ++j) {
      column_of_.emplace(definition.unknowns[j].node(), j);
      column_of_.emplace(definition.derivatives[j].node(), n_ + j);
    }
    atoms_.assign(2 * n_ + 1, Expr(1.0));
    std::vector<Expr> from, to;
    for (const std::size_t k : numbers) {
      from.push_back(definition.parameters[k]);
      to.emplace_back(parameters[k]);
    }
    std::vector<Expr> residuals;
    for (const std::size_t row : rows)
      residuals.push_back(substitute(definition.residuals[row], from, to));
    find_algebraic(residuals);
    rows_with_.resize(atoms_.size());
    depends_on_.resize(atoms_.size());
    contains_.resize(atoms_.size());
    reads_.resize(atoms_.size());
    atoms_with_.resize(n_);
    solved_.assign(n_, false);
    for (const Expr& residual : residuals) {
      forms_.push_back(decompose(residual));
      for (const auto& [column, value] : forms_.back())
        rows_with_[column].insert(forms_.size() - 1);
    }
    used_.assign(forms_.size(), false);
  }

  void run() {
    for (std::size_t i = 0; i < solvable_; ++i) enqueue(i);
    while (!queue_.empty()) {
      const auto [cost, row] = *queue_.begin();
      queue_.erase(queue_.begin());
      queued_cost_.erase(row);
      const Pivot pivot = best_pivot(row);
      if (pivot.column == n_) continue;
      if (pivot.cost > cost) {  // it has become dearer since it was looked at
        enqueue(row);
        continue;
      }
      solve_for(row, pivot.column);
    }
  }

  std::unique_ptr<const EliminatedForm> result(const std::vector<std::size_t>& rows) {
    if (order_.empty()) return nullptr;
    auto form = std::make_unique<EliminatedForm>();
    build_formulas();
    DaeDefinition core;
    for (std::size_t j = 0; j < n_; ++j) {
      if (solved_[j]) continue;
      form->kept.push_back(j);
      core.unknowns.push_back(definition_.unknowns[j]);
      core.derivatives.push_back(definition_.derivatives[j]);
      core.unknown_names.push_back(definition_.unknown_names[j]);
      core.nominal.push_back(definition_.nominal[j]);
      if (!definition_.controlled.empty()) core.controlled.push_back(definition_.controlled[j]);
      if (!definition_.levels.empty()) core.levels.push_back(definition_.levels[j]);
    }
    core.time = definition_.time;
    core.parameters = definition_.parameters;
    core.held = definition_.held;
    for (std::size_t i = 0; i < forms_.size(); ++i) {
      if (used_[i]) continue;
      form->equations.push_back(i);
      core.equation_names.push_back(definition_.equation_names[rows[i]]);
      core.residuals.push_back(sum_of(forms_[i]));
    }
    std::vector<Expr> formulas;
    for (std::size_t j = 0; j < n_; ++j) {
      if (!solved_[j]) continue;
      form->eliminated.push_back(j);
      form->nominal.push_back(definition_.nominal[j]);
      formulas.push_back(formulas_[j]);
    }
    for (const Expr& leaf : leaves_of(formulas)) {
      const auto found = column_of_.find(leaf.node());
      if (found != column_of_.end() && found->second >= n_) form->reads_slopes = true;
    }
    const std::vector<JacobianEntry> mass = jacobian(core.residuals, core.derivatives);
    form->constant_mass = std::all_of(mass.begin(), mass.end(),
                                      [](const JacobianEntry& e) { return e.value.is_number(); });
    form->recover = Tape(formulas, core.inputs());
    form->formulas = std::move(formulas);
    form->core = std::make_shared<const Dae>(std::move(core));
    return form;
  }

 private:
  struct Pivot {
    std::size_t column = 0;
    long cost = 0;
  };

  // Unknowns whose derivatives occur nowhere.
  void find_algebraic(const std::vector<Expr>& residuals) {
    algebraic_.assign(n_, true);
    for (const Expr& leaf : leaves_of(residuals)) {
      const auto found = column_of_.find(leaf.node());
      if (found != column_of_.end() && found->second >= n_) algebraic_[found->second - n_] = false;
    }
  }

  Form decompose(const Expr& residual) {
    Form form;
    std::vector<std::pair<Expr, double>> stack = {{residual, 1.0}};
    int terms = 0;
    while (!stack.empty()) {
      const auto [term, factor] = stack.back();
      stack.pop_back();
      if (term.is_number()) {
        form[2 * n_] += factor * term.number();
        continue;
      }
      const Node& node = *term.node();
      const auto child = [&](std::size_t k) { return Expr(node.children[k]); };
      if (const auto found = column_of_.find(&node); found != column_of_.end()) {
        form[found->second] += factor;
        continue;
      }
      const Op op = ++terms <= kMostTerms ? node.op : Op::kCall;  // a call stays as it is
      if (op == Op::kNegate) {
        stack.emplace_back(child(0), -factor);
      } else if (op == Op::kAdd || op == Op::kSubtract) {
        stack.emplace_back(child(0), factor);
        stack.emplace_back(child(1), op == Op::kAdd ? factor : -factor);
      } else if (op == Op::kMultiply && child(0).is_number()) {
        stack.emplace_back(child(1), factor * child(0).number());
      } else if (op == Op::kMultiply && child(1).is_number()) {
        stack.emplace_back(child(0), factor * child(1).number());
      } else if (op == Op::kDivide && child(1).is_number() && child(1).number() != 0.0) {
        stack.emplace_back(child(0), factor / child(1).number());
      } else {
        form[atom(term)] += factor;
      }
    }
    std::erase_if(form, [](const auto& entry) { return entry.second == 0.0; });
    return form;
  }

  std::size_t atom(const Expr& term) {
    const auto [found, is_new] = column_of_atom_.emplace(term.node(), atoms_.size());
    if (!is_new) return found->second;
    atoms_.push_back(term);
    rows_with_.emplace_back();
    depends_on_.emplace_back();
    contains_.emplace_back();
    reads_.emplace_back();
    const std::vector<Expr> leaves = leaves_of(term);
    if (std::ranges::all_of(leaves, [this](const Expr& leaf) { return is_held(leaf); }))
      geometric_.insert(found->second);
    for (const Expr& leaf : leaves) {
      const auto unknown = column_of_.find(leaf.node());
      if (unknown == column_of_.end()) continue;
      reads_.back().insert(unknown->second);
      if (unknown->second >= n_ || !algebraic_[unknown->second]) continue;
      depends_on_.back().insert(unknown->second);
      contains_.back().insert(unknown->second);
      atoms_with_[unknown->second].insert(found->second);
    }
    return found->second;
  }

  // It does not change while the mode is integrated.
  bool is_held(const Expr& leaf) const {
    return !leaf.same_as(definition_.time) && !column_of_.contains(leaf.node());
  }

  // The unknown this row is solved for best; n_ if for none.
  Pivot best_pivot(std::size_t row) const {
    const Form& form = forms_[row];
    double largest = 0.0;
    long entries = 0;  // that the row has in a Jacobian of the core
    for (const auto& [column, value] : form) {
      entries += entries_of(column);
      if (column >= n_ || !algebraic_[column]) continue;
      largest = std::max(largest, std::abs(value) * definition_.nominal[column]);
    }
    Pivot best{n_, kLargestFill};
    const bool geometric = is_geometric(form);
    const double size = geometric ? size_of(form) : 0.0;
    for (const auto& [column, value] : form) {
      const double mine = std::abs(value) * (column < n_ ? definition_.nominal[column] : 0.0);
      if (column >= n_ || !algebraic_[column] || !(mine >= kPivotThreshold * largest)) continue;
      if (is_controlled(column) && !(geometric && mine >= kPivotThreshold * size)) continue;
      const long places =
          static_cast<long>(rows_with_[column].size() + atoms_with_[column].size()) - 1;
      const long cost = (entries - 1) * places;
      if (cost >= best.cost || is_inside_atom(form, column)) continue;
      best = {column, cost};
    }
    return best;
  }

  // How many unknowns and derivatives a column stands for: a bundle is one number to multiply, but
  // wherever it goes all that it reads goes too.
  long entries_of(std::size_t column) const {
    if (column < 2 * n_) return 1;
    return column == 2 * n_ ? 0 : static_cast<long>(reads_[column].size());
  }

  bool is_controlled(std::size_t unknown) const {
    return definition_.controlled.empty() || definition_.controlled[unknown];
  }

  // A relation between what the error control looks at, with numbers as coefficients, and nothing
  // else: where the core is a polynomial in time, so is an unknown that it is solved for, and the
  // error of the core is its error. Balances of forces are not solved for positions.
  bool is_geometric(const Form& form) const {
    return std::ranges::all_of(form, [this](const auto& entry) {
      const std::size_t column = entry.first;
      return column < n_ ? is_controlled(column) : column == 2 * n_ || geometric_.contains(column);
    });
  }

  // The twist of a shaft is small against the angles it is the difference of: their errors would be
  // its error.
  double size_of(const Form& form) const {
    double size = 0.0;
    for (const auto& [column, value] : form) {
      const auto bundle = bundle_sizes_.find(column);
      const double unit = column < n_                     ? definition_.nominal[column]
                          : bundle != bundle_sizes_.end() ? bundle->second
                                                          : 0.0;
      size = std::max(size, std::abs(value) * unit);
    }
    return size;
  }

  bool is_inside_atom(const Form& form, std::size_t unknown) const {
    for (auto entry = form.upper_bound(2 * n_); entry != form.end(); ++entry)
      if (depends_on_[entry->first].count(unknown) > 0) return true;
    return false;
  }

  void enqueue(std::size_t row) {
    if (row >= solvable_ || used_[row]) return;
    if (const auto old = queued_cost_.find(row); old != queued_cost_.end())
      queue_.erase({old->second, row});
    queued_cost_.erase(row);
    const Pivot pivot = best_pivot(row);
    if (pivot.column == n_) return;
    queue_.emplace(pivot.cost, row);
    queued_cost_.emplace(row, pivot.cost);
  }

  // unknown = -(rest of the row) / coefficient, put into all other rows; atoms that contain it
  // depend on what the formula depends on.
  void solve_for(std::size_t row, std::size_t unknown) {
    Form formula = std::move(forms_[row]);
    const double pivot = formula.at(unknown);
    formula.erase(unknown);
    used_[row] = true;
    solved_[unknown] = true;
    algebraic_[unknown] = false;
    rows_with_[unknown].erase(row);
    for (const auto& [column, value] : formula) rows_with_[column].erase(row);
    bundle_known_terms(formula);
    std::set<std::size_t> needs;
    for (auto& [column, value] : formula) {
      value /= -pivot;
      if (column < n_ && algebraic_[column]) needs.insert(column);
      if (column > 2 * n_) needs.insert(depends_on_[column].begin(), depends_on_[column].end());
    }
    std::set<std::size_t> changed = std::move(rows_with_[unknown]);
    for (const std::size_t other : changed) {
      Form& form = forms_[other];
      const double factor = form.at(unknown);
      form.erase(unknown);
      for (const auto& [column, value] : formula) {
        const auto [place, is_new] = form.emplace(column, 0.0);
        const double before = place->second;
        place->second += factor * value;
        // What cancels is zero, not rounding.
        if (std::abs(place->second) <=
            4.0 * std::numeric_limits<double>::epsilon() * std::abs(before)) {
          form.erase(place);
          rows_with_[column].erase(other);
        } else if (is_new) {
          rows_with_[column].insert(other);
        }
      }
    }
    for (const std::size_t a : atoms_with_[unknown]) {
      depends_on_[a].erase(unknown);
      depends_on_[a].insert(needs.begin(), needs.end());
      for (const std::size_t j : needs) atoms_with_[j].insert(a);
      changed.insert(rows_with_[a].begin(), rows_with_[a].end());
    }
    formula_of_.emplace(unknown, std::move(formula));
    order_.push_back(unknown);
    for (const std::size_t other : changed) enqueue(other);
  }

  // What is not to be eliminated any further becomes one term. Its coefficients are not spread over
  // other rows: the torque of a spring, a small difference of large angles, stays one number that
  // acts here and counteracts there.
  void bundle_known_terms(Form& formula) {
    Form known;
    for (const auto& [column, value] : formula)
      if (column >= n_ || !algebraic_[column]) known.emplace(column, value);
    if (known.size() < 2) return;
    const std::size_t bundle = atoms_.size();
    atoms_.emplace_back();
    rows_with_.emplace_back();
    std::set<std::size_t> depends, contains, reads;
    for (const auto& [column, value] : known) {
      formula.erase(column);
      if (column < 2 * n_) reads.insert(column);
      if (column <= 2 * n_) continue;
      depends.insert(depends_on_[column].begin(), depends_on_[column].end());
      contains.insert(contains_[column].begin(), contains_[column].end());
      // The rest of so many makes no difference.
      if (static_cast<long>(reads.size()) <= kLargestFill)
        reads.insert(reads_[column].begin(), reads_[column].end());
    }
    for (const std::size_t j : depends) atoms_with_[j].insert(bundle);
    depends_on_.push_back(std::move(depends));
    contains_.push_back(std::move(contains));
    reads_.push_back(std::move(reads));
    if (is_geometric(known)) geometric_.insert(bundle);
    bundle_sizes_.emplace(bundle, size_of(known));
    bundles_.emplace(bundle, std::move(known));
    formula.emplace(bundle, 1.0);
  }

  // Formulas in the symbols of the core. One may need others, in its columns those solved later,
  // in its atoms any: depth first.
  void build_formulas() {
    formulas_.assign(n_, Expr());
    std::vector<int> state(n_, 0);  // 1: under way, 2: done
    for (const std::size_t start : order_) {
      std::vector<std::size_t> stack = {start};
      while (!stack.empty()) {
        const std::size_t j = stack.back();
        if (state[j] == 2) {
          stack.pop_back();
          continue;
        }
        if (state[j] == 1) {
          formulas_[j] = sum_of(formula_of_.at(j));
          state[j] = 2;
          stack.pop_back();
          continue;
        }
        state[j] = 1;
        for (const std::size_t needed : solved_in(formula_of_.at(j)))
          if (state[needed] == 0) stack.push_back(needed);
      }
    }
  }

  std::vector<std::size_t> solved_in(const Form& form) const {
    std::vector<std::size_t> found;
    for (const auto& [column, value] : form) {
      if (column < n_ && solved_[column]) found.push_back(column);
      if (column > 2 * n_)
        for (const std::size_t j : contains_[column])
          if (solved_[j]) found.push_back(j);
    }
    return found;
  }

  Expr build_atom(std::size_t column) {
    const auto known = built_atoms_.find(column);
    if (known != built_atoms_.end()) return known->second;
    Expr built;
    if (const auto bundle = bundles_.find(column); bundle != bundles_.end()) {
      built = sum_of(bundle->second);
    } else {
      std::vector<Expr> from, to;
      for (const std::size_t j : contains_[column]) {
        if (!solved_[j]) continue;
        from.push_back(definition_.unknowns[j]);
        to.push_back(formulas_[j]);
      }
      built = from.empty() ? atoms_[column] : substitute(atoms_[column], from, to);
    }
    built_atoms_.emplace(column, built);
    return built;
  }

  // Terms with coefficients of equal size are summed first: differences of large angles keep their
  // digits, and there is less to multiply.
  Expr sum_of(const Form& form) {
    std::map<double, Expr> by_size;
    for (const auto& [column, value] : form) {
      const Expr term = column < n_
                            ? (solved_[column] ? formulas_[column] : definition_.unknowns[column])
                        : column < 2 * n_  ? definition_.derivatives[column - n_]
                        : column == 2 * n_ ? Expr(1.0)
                                           : build_atom(column);
      Expr& group = by_size[std::abs(value)];
      group = value < 0.0 ? group - term : group + term;
    }
    Expr sum = 0.0;
    for (const auto& [size, group] : by_size) sum += size * group;
    return sum;
  }

  const DaeDefinition& definition_;
  std::size_t n_;
  std::size_t solvable_;
  std::unordered_map<const Node*, std::size_t> column_of_;  // of unknowns and derivatives
  std::unordered_map<const Node*, std::size_t> column_of_atom_;
  std::vector<Expr> atoms_;  // by column
  std::vector<bool> algebraic_, solved_;
  std::vector<Form> forms_;  // by row
  std::vector<bool> used_;
  std::vector<std::set<std::size_t>> rows_with_;   // by column
  std::vector<std::set<std::size_t>> depends_on_;  // by atom: algebraic unknowns, not yet solved
  std::vector<std::set<std::size_t>> contains_;    // by atom: as it was written
  std::vector<std::set<std::size_t>> reads_;       // by atom: unknowns and derivatives
  std::vector<std::set<std::size_t>> atoms_with_;  // by unknown
  std::map<std::size_t, Form> bundles_;            // atoms that are sums
  std::map<std::size_t, double> bundle_sizes_;
  std::set<std::size_t> geometric_;               // atoms that are geometric, as is_geometric()
  std::set<std::pair<long, std::size_t>> queue_;  // rows by the cost of their best pivot
  std::map<std::size_t, long> queued_cost_;
  std::map<std::size_t, Form> formula_of_;
  std::vector<std::size_t> order_;
  std::vector<Expr> formulas_;  // by unknown
  std::map<std::size_t, Expr> built_atoms_;
};

}  // namespace

std::unique_ptr<const EliminatedForm> eliminate(const DaeDefinition& definition,
                                                const std::vector<std::size_t>& rows,
                                                std::size_t solvable,
                                                const std::vector<double>& parameters,
                                                const std::vector<std::size_t>& numbers) {
  Elimination elimination(definition, rows, solvable, parameters, numbers);
  elimination.run();
  return elimination.result(rows);
}

std::unique_ptr<const EliminatedForm> eliminate(const DaeDefinition& definition,
                                                const std::vector<std::size_t>& rows,
                                                std::size_t solvable,
                                                const std::vector<double>& parameters) {
  std::vector<std::size_t> all(parameters.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return eliminate(definition, rows, solvable, parameters, all);
}

std::vector<std::size_t> coefficients_of(const DaeDefinition& definition,
                                         const std::vector<std::size_t>& rows) {
  enum Kind : std::uint32_t { kOther, kFixed, kLinear };  // numbers and parameters; has a column
  NodeMap position, kind;
  std::vector<const Node*> order;
  for (const auto* symbols : {&definition.unknowns, &definition.derivatives})
    for (const Expr& symbol : *symbols) kind.set(symbol.node(), kLinear);
  for (const std::size_t row : rows)
    if (!definition.residuals[row].is_number())
      append_postorder(definition.residuals[row].node(), position, order);
  for (const Node* n : order) {
    if (kind.find(n) != NodeMap::kNone) continue;
    if (is_leaf(n->op)) {
      kind.set(n, n->op == Op::kConstant || n->op == Op::kParameter ? kFixed : kOther);
      continue;
    }
    const auto count = [&](Kind wanted) {
      return std::ranges::count_if(n->children,
                                   [&](const Node* child) { return kind.find(child) == wanted; });
    };
    const auto children = static_cast<std::ptrdiff_t>(n->children.size());
    const bool is_sum = n->op == Op::kNegate || n->op == Op::kAdd || n->op == Op::kSubtract;
    const bool is_multiple = n->op == Op::kMultiply && count(kFixed) == 1;
    const bool is_part = n->op == Op::kDivide && kind.find(n->children[1]) == kFixed;
    if (count(kFixed) == children) {
      kind.set(n, kFixed);
    } else {
      kind.set(n, (is_sum || is_multiple || is_part) && count(kLinear) > 0 ? kLinear : kOther);
    }
  }
  std::vector<Expr> factors;
  NodeMap seen;
  std::vector<const Node*> stack;
  for (const std::size_t row : rows)
    if (!definition.residuals[row].is_number()) stack.push_back(definition.residuals[row].node());
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    if (is_leaf(n->op) || kind.find(n) != kLinear || seen.find(n) != NodeMap::kNone) continue;
    seen.set(n, 1);
    const bool is_sum = n->op == Op::kNegate || n->op == Op::kAdd || n->op == Op::kSubtract;
    for (const Node* child : n->children) {
      if (!is_sum && kind.find(child) == kFixed) {
        factors.emplace_back(child);
      } else {
        stack.push_back(child);
      }
    }
  }
  std::unordered_map<const Node*, std::size_t> index;
  for (std::size_t k = 0; k < definition.parameters.size(); ++k)
    index.emplace(definition.parameters[k].node(), k);
  std::vector<std::size_t> found;
  for (const Expr& leaf : leaves_of(factors))
    if (const auto place = index.find(leaf.node()); place != index.end())
      found.push_back(place->second);
  std::ranges::sort(found);
  return found;
}

std::unique_ptr<const EliminatedForm> with_rows(const EliminatedForm& form,
                                                const std::vector<std::size_t>& rows) {
  auto result = std::make_unique<EliminatedForm>(form);
  std::unordered_map<std::size_t, std::size_t> place;
  for (std::size_t i = 0; i < rows.size(); ++i) place.emplace(rows[i], i);
  std::vector<std::size_t> selected;
  result->equations.clear();
  for (std::size_t k = 0; k < form.equations.size(); ++k) {
    const auto found = place.find(form.equations[k]);
    if (found == place.end()) continue;
    selected.push_back(k);
    result->equations.push_back(found->second);
  }
  result->core = std::make_shared<const Dae>(form.core->with_equations(std::move(selected)));
  return result;
}

}  // namespace saltus
