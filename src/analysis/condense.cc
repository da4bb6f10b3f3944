#include "analysis/condense.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "expr/differentiate.h"
#include "expr/graph.h"

namespace saltus {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// An unknown or a derivative of it in an equation.
struct Leaf {
  std::size_t unknown = 0;
  int order = 0;
  Expr symbol;
};

struct Row {
  Expr residual;
  std::vector<Leaf> leaves;
  bool in_force = true;

  bool contains_derivatives() const {
    return std::ranges::any_of(leaves, [](const Leaf& l) { return l.order > 0; });
  }
};

class Condenser {
 public:
  Condenser(const DaeDefinition& mode, const std::vector<VariableId>& unknowns)
      : mode_(mode), unknowns_(unknowns), rows_of_(unknowns.size()), gone_(unknowns.size()) {
    for (std::size_t j = 0; j < unknowns.size(); ++j) index_.emplace(unknowns[j], j);
    rows_.resize(mode.residuals.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) set_residual(i, mode.residuals[i]);
  }

  std::optional<CondensedMode> run() {
    do {
      for (bool again = true; again;) {
        again = false;
        for (std::size_t i = 0; i < rows_.size(); ++i)
          while (rows_[i].in_force && (drop_name_of_derivative(i) || drop_name(i, false) ||
                                       drop_relative_position(i, false) || put_rates_in(i)))
            again = true;
      }
    } while (drop_read_relation() || drop_outputs());
    return result();
  }

 private:
  void set_residual(std::size_t i, const Expr& residual) {
    Row& row = rows_[i];
    row.residual = residual;
    row.leaves.clear();
    for (const Expr& leaf : leaves_of(residual)) {
      if (!leaf.is_variable()) continue;
      const auto at = index_.find(leaf.node()->variable());
      if (at == index_.end()) continue;
      row.leaves.push_back({at->second, leaf.node()->order, leaf});
      std::vector<std::size_t>& rows = rows_of_[at->second];
      if (std::ranges::find(rows, i) == rows.end()) rows.push_back(i);
    }
  }

  bool contains(std::size_t i, std::size_t unknown, int order) const {
    return rows_[i].in_force && std::ranges::any_of(rows_[i].leaves, [&](const Leaf& l) {
             return l.unknown == unknown && l.order == order;
           });
  }
  // Rows in force that contain an unknown in this order.
  std::vector<std::size_t> rows_with(std::size_t unknown, int order) const {
    std::vector<std::size_t> found;
    for (const std::size_t i : rows_of_[unknown])
      if (contains(i, unknown, order)) found.push_back(i);
    return found;
  }
  bool is_differentiated(std::size_t unknown) const { return !rows_with(unknown, 1).empty(); }

  // The factor of a leaf, if it is a number; 0 otherwise.
  double factor_of(std::size_t i, const Leaf& leaf) const {
    const Expr symbol[] = {leaf.symbol};
    if (polynomial_degree(rows_[i].residual, symbol) != 1) return 0.0;
    const Expr factor = partial(rows_[i].residual, leaf.symbol);
    return factor.is_number() ? factor.number() : 0.0;
  }
  bool is_unit(std::size_t i, const Leaf& leaf) const {
    return std::abs(factor_of(i, leaf)) == 1.0;
  }
  // Pre: it has a factor.
  Expr solved_for(std::size_t i, const Leaf& leaf) const {
    const Expr from[] = {leaf.symbol};
    const Expr zero[] = {0.0};
    const Expr rest = substitute(rows_[i].residual, from, zero);
    const double factor = factor_of(i, leaf);
    return factor == 1.0 ? -rest : factor == -1.0 ? rest : rest / -factor;
  }

  // v and p of an equation v = der(p) with nothing else in it.
  std::optional<std::pair<Leaf, Leaf>> as_rate(std::size_t i) const {
    const std::vector<Leaf>& leaves = rows_[i].leaves;
    if (!rows_[i].in_force || leaves.size() != 2 || leaves[0].unknown == leaves[1].unknown)
      return std::nullopt;
    const std::size_t v = leaves[0].order == 0 ? 0 : 1;
    if (leaves[v].order != 0 || leaves[1 - v].order != 1) return std::nullopt;
    if (!is_unit(i, leaves[v]) || !is_unit(i, leaves[1 - v])) return std::nullopt;
    return std::pair(leaves[v], leaves[1 - v]);
  }
  // The equation that gives der(p): v = der(p), or one that put_rates_in() has made.
  std::size_t rate_row(std::size_t p, std::size_t other_than) const {
    std::size_t best = kNone;
    for (const std::size_t i : rows_with(p, 1)) {
      if (i == other_than) continue;
      if (const auto rate = as_rate(i)) {
        // The velocity that is differentiated itself is the one with inertia.
        if (best == kNone || is_differentiated(rate->first.unknown)) best = i;
      }
    }
    if (best != kNone) return best;
    const auto made = made_rates_.find(p);
    return made != made_rates_.end() && made->second != other_than && contains(made->second, p, 1)
               ? made->second
               : kNone;
  }
  bool is_velocity(std::size_t w) const {
    for (const std::size_t i : rows_with(w, 0)) {
      const auto rate = as_rate(i);
      if (rate && rate->first.unknown == w) return true;
    }
    return false;
  }

  // Takes unknown x out by the equation i.
  void eliminate(std::size_t i, std::size_t x, const Expr& value) {
    rows_[i].in_force = false;
    gone_[x] = true;
    eliminated_.emplace_back(x, value);
    const Expr from[] = {mode_.unknowns[x], mode_.derivatives[x]};
    const Expr to[] = {value, is_differentiated(x) ? der(value) : Expr(0.0)};
    for (const std::size_t k : std::vector<std::size_t>(rows_of_[x]))
      if (rows_[k].in_force)
        set_residual(k, without_cancelled(substitute(rows_[k].residual, from, to), value));
  }
  // Leaves of what was put in that have cancelled, as in x - (a - b) + a.
  static Expr without_cancelled(Expr residual, const Expr& value) {
    for (const Expr& leaf : leaves_of(value)) {
      if (!leaf.is_variable()) continue;
      const Expr symbol[] = {leaf};
      const Expr zero[] = {0.0};
      if (polynomial_degree(residual, symbol) != 1) continue;
      const Expr factor = partial(residual, leaf);
      if (factor.is_number() && factor.number() == 0.0)
        residual = substitute(residual, symbol, zero);
    }
    return residual;
  }

  // a = der(w): a is read nowhere else, or w is itself a velocity; v2 = der(p) beside v = der(p).
  bool drop_name_of_derivative(std::size_t i) {
    const auto rate = as_rate(i);
    if (!rate) return false;
    const auto& [name, of] = *rate;
    if (!is_differentiated(name.unknown)) {
      bool is_read = false;
      bool is_force = false;  // of another equation of motion: a multiplier
      for (const std::size_t k : rows_with(name.unknown, 0)) {
        if (k == i) continue;
        is_read = true;
        is_force = is_force || rows_[k].contains_derivatives();
      }
      if (!is_read || (is_velocity(of.unknown) && !is_force)) {
        eliminate(i, name.unknown, solved_for(i, name));
        return true;
      }
    }
    const std::size_t first = rate_row(of.unknown, i);
    if (first == kNone || !as_rate(first)) return false;
    const auto kept = as_rate(first)->first;
    if (is_differentiated(name.unknown) && !is_differentiated(kept.unknown)) return false;
    const double sign = factor_of(i, name) * factor_of(i, of) * factor_of(first, kept) *
                        factor_of(first, as_rate(first)->second);
    eliminate(i, name.unknown, sign > 0.0 ? kept.symbol : -kept.symbol);
    return true;
  }

  // An unknown that this equation alone contains, so that nothing but guards reads it.
  const Leaf* output_of(std::size_t i) const {
    for (const Leaf& leaf : rows_[i].leaves)
      if (leaf.order == 0 && is_unit(i, leaf) && !is_differentiated(leaf.unknown) &&
          rows_with(leaf.unknown, 0).size() == 1)
        return &leaf;
    return nullptr;
  }
  // Whether the derivative of an unknown is read by outputs at most: it moves nothing.
  bool is_without_inertia(std::size_t unknown) const {
    return std::ranges::all_of(rows_with(unknown, 1),
                               [&](std::size_t i) { return output_of(i) != nullptr; });
  }
  bool is_sum(std::size_t i) const {
    return std::ranges::all_of(rows_[i].leaves,
                               [&](const Leaf& leaf) { return factor_of(i, leaf) != 0.0; });
  }

  // Outputs that read derivatives which other equations give. Last of all: by then derivatives
  // stand in equations of motion only, so that no multiplier can be taken for an output.
  bool drop_outputs() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Leaf* output = rows_[i].in_force ? output_of(i) : nullptr;
      if (output == nullptr) continue;
      const bool elsewhere = std::ranges::all_of(rows_[i].leaves, [&](const Leaf& leaf) {
        return leaf.order == 0 || rows_with(leaf.unknown, 1).size() > 1;
      });
      if (!elsewhere) continue;
      eliminate(i, output->unknown, solved_for(i, *output));
      return true;
    }
    return false;
  }

  // Relations whose speed is differentiated, but only for outputs. When all others are gone: the
  // torque of a brake on a disc looks like an output, too.
  bool drop_read_relation() {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].in_force && (drop_relative_position(i, true) || drop_name(i, true))) return true;
    return false;
  }

  // x = f, where x is nowhere differentiated, or a relative speed that only outputs differentiate.
  bool drop_name(std::size_t i, bool is_read_by_outputs) {
    if (rows_[i].contains_derivatives()) return false;
    const bool is_relation = rows_[i].leaves.size() > 2 && is_sum(i);
    for (const Leaf& leaf : rows_[i].leaves) {
      const bool is_name = is_read_by_outputs ? is_relation && is_without_inertia(leaf.unknown)
                                              : !is_differentiated(leaf.unknown);
      if (!is_name || !is_unit(i, leaf)) continue;
      eliminate(i, leaf.unknown, solved_for(i, leaf));
      return true;
    }
    return false;
  }

  // phi_rel = phi_b - phi_a, of which only the speed w = der(phi_rel) is wanted.
  bool drop_relative_position(std::size_t i, bool is_read_by_outputs) {
    if (rows_[i].contains_derivatives() || rows_[i].leaves.size() < 3 || !is_sum(i)) return false;
    for (const Leaf& leaf : rows_[i].leaves) {
      const std::vector<std::size_t> rates = rows_with(leaf.unknown, 1);
      if (rates.size() != 1 || !is_unit(i, leaf)) continue;
      const auto rate = as_rate(rates.front());
      if (!rate) continue;
      const std::size_t speed = rate->first.unknown;
      if (is_read_by_outputs ? !is_without_inertia(speed) : is_differentiated(speed)) continue;
      eliminate(i, leaf.unknown, solved_for(i, leaf));
      return true;
    }
    return false;
  }

  // w = der(phi_b) - der(phi_a) with the speeds that other equations give for the derivatives.
  bool put_rates_in(std::size_t i) {
    const std::vector<Leaf> leaves = rows_[i].leaves;
    if (as_rate(i) || !rows_[i].contains_derivatives()) return false;
    bool has_name = false;
    for (const Leaf& leaf : leaves) {
      if (factor_of(i, leaf) == 0.0) return false;
      if (leaf.order > 0 && is_velocity(leaf.unknown)) return false;  // an equation of motion
      has_name =
          has_name || (leaf.order == 0 && is_unit(i, leaf) && is_without_inertia(leaf.unknown));
    }
    if (!has_name) return false;
    std::vector<Expr> from, to;
    std::size_t open = kNone;
    std::size_t open_count = 0;
    for (const Leaf& leaf : leaves) {
      if (leaf.order == 0) continue;
      const std::size_t row = rate_row(leaf.unknown, i);
      if (row == kNone) {
        open = leaf.unknown;
        ++open_count;
        continue;
      }
      for (const Leaf& derivative : rows_[row].leaves) {
        if (derivative.unknown != leaf.unknown || derivative.order != 1) continue;
        from.push_back(leaf.symbol);
        to.push_back(solved_for(row, derivative));
      }
    }
    if (open_count == 1 && !made_rates_.contains(open)) made_rates_.emplace(open, i);
    if (from.empty()) return false;
    set_residual(i, substitute(rows_[i].residual, from, to));
    return true;
  }
  std::optional<CondensedMode> result() {
    if (eliminated_.empty()) return std::nullopt;
    CondensedMode condensed;
    // Speeds in place of the derivatives they stand for.
    std::vector<Expr> from, to;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto rate = as_rate(i);
      if (!rate) continue;
      from.push_back(rate->second.symbol);
      to.push_back(solved_for(i, rate->second));
    }
    // An unknown may stand for one that went later.
    for (auto at = eliminated_.rbegin(); at != eliminated_.rend(); ++at) {
      Expr value = substitute(at->second, condensed.replaced, condensed.replacements);
      value = substitute(value, from, to);
      const Expr slope = substitute(der(value), from, to);
      condensed.replaced.push_back(mode_.unknowns[at->first]);
      condensed.replacements.push_back(value);
      if (std::ranges::any_of(leaves_of(slope), is_of_second_order)) continue;
      condensed.replaced.push_back(mode_.derivatives[at->first]);
      condensed.replacements.push_back(slope);
    }
    DaeDefinition& def = condensed.definition;
    def = mode_;
    def.residuals.clear();
    def.equation_names.clear();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].in_force) continue;
      def.residuals.push_back(rows_[i].residual);
      def.equation_names.push_back(mode_.equation_names[i]);
    }
    std::size_t kept = 0;
    for (std::size_t j = 0; j < unknowns_.size(); ++j) {
      if (gone_[j]) continue;
      condensed.unknowns.push_back(unknowns_[j]);
      def.unknowns[kept] = mode_.unknowns[j];
      def.derivatives[kept] = mode_.derivatives[j];
      def.unknown_names[kept] = mode_.unknown_names[j];
      def.nominal[kept++] = mode_.nominal[j];
    }
    def.unknowns.resize(kept);
    def.derivatives.resize(kept);
    def.unknown_names.resize(kept);
    def.nominal.resize(kept);
    return condensed;
  }
  static bool is_of_second_order(const Expr& leaf) {
    return leaf.is_variable() && leaf.node()->order > 1;
  }

  const DaeDefinition& mode_;
  const std::vector<VariableId>& unknowns_;
  std::unordered_map<VariableId, std::size_t> index_;
  std::vector<Row> rows_;
  std::vector<std::vector<std::size_t>> rows_of_;  // by unknown; equations that contained it once
  std::vector<bool> gone_;                         // by unknown
  std::vector<std::pair<std::size_t, Expr>> eliminated_;
  std::unordered_map<std::size_t, std::size_t> made_rates_;
};

}  // namespace

std::optional<CondensedMode> condense(const DaeDefinition& mode,
                                      const std::vector<VariableId>& unknowns) {
  return Condenser(mode, unknowns).run();
}

}  // namespace saltus
