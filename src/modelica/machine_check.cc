#include "modelica/machine_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "expr/differentiate.h"
#include "expr/enclosure.h"

namespace saltus {
namespace {

constexpr std::size_t kMostAtoms = 10;  // of two conditions: all assignments are tried

// What a condition is made of: a relation, or something that is only equal to itself.
struct Atom {
  Expr symbol;
  std::optional<Expr> value;  // of a relation value > 0
};

class Implication {
 public:
  explicit Implication(const FlatModel& flat) : flat_(flat) {
    for (const Parameter& p : flat.system.parameters()) {
      parameters_.push_back(p.symbol);
      numbers_.emplace_back(p.value);
    }
  }

  // Whether the first condition leads into a state in which the second one holds.
  bool holds(const CheckedTransition& first, const CheckedTransition& second,
             const std::vector<Expr>& unknown) {
    atoms_.clear();
    collect(first.condition, {}, {});
    const std::size_t own = atoms_.size();
    collect(second.condition, first.handed_over, unknown);
    if (atoms_.size() > kMostAtoms) return false;
    bool is_possible = false;
    for (std::size_t bits = 0; bits < (std::size_t{1} << atoms_.size()); ++bits) {
      bits_ = bits;
      if (!is_consistent()) continue;
      const std::optional<bool> left = evaluate(first.condition, 0, own);
      const std::optional<bool> right = evaluate(second.condition, own, atoms_.size());
      if (!left || !right) return false;
      if (*left && !*right) return false;
      is_possible = is_possible || *left;
    }
    return is_possible;
  }

 private:
  static bool is_connective(const Expr& e) {
    return !e.is_number() &&
           (e.node()->op == Op::kAnd || e.node()->op == Op::kOr || e.node()->op == Op::kNot);
  }

  void collect(const Expr& e, const std::vector<std::pair<Expr, Expr>>& handed_over,
               const std::vector<Expr>& unknown) {
    if (e.is_number()) return;
    if (is_connective(e)) {
      for (const Node* child : e.node()->children) collect(Expr(child), handed_over, unknown);
      return;
    }
    Atom atom{e, std::nullopt};
    for (const Relation& r : flat_.relations) {
      if (!r.slot.same_as(e)) continue;
      Expr value = r.value;
      const std::vector<Expr> leaves = leaves_of(value);
      const bool is_known = std::ranges::none_of(leaves, [&](const Expr& leaf) {
        return std::ranges::any_of(unknown, [&](const Expr& u) { return u.same_as(leaf); });
      });
      if (!is_known) break;
      std::vector<Expr> symbols = parameters_;
      std::vector<Expr> values = numbers_;
      for (const auto& [symbol, given] : handed_over) {
        symbols.push_back(symbol);
        values.push_back(given);
      }
      value = substitute(value, symbols, values);
      value = substitute(value, parameters_, numbers_);
      atom.value = Expr(constant(value).value_or(0.0));
      if (!constant(value)) atom.value = value;
    }
    atoms_.push_back(atom);
  }

  // a - b, or a + b, if it is a number.
  static std::optional<double> constant(const Expr& e) {
    std::vector<Expr> leaves = leaves_of(e);
    std::vector<Expr> zeros;
    for (const Expr& leaf : leaves) {
      const Expr slope = partial(e, leaf);
      if (!slope.is_number() || slope.number() != 0.0) return std::nullopt;
      zeros.emplace_back(0.0);
    }
    const Expr value = substitute(e, leaves, zeros);
    if (!value.is_number()) return std::nullopt;
    return value.number();
  }

  bool is_true(std::size_t atom) const { return ((bits_ >> atom) & 1U) != 0; }

  // Relations that differ by a constant exclude some assignments. Where they are equal, the flow
  // decides at the threshold, except where only time passes.
  bool is_consistent() const {
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      const Atom& a = atoms_[i];
      if (a.value && a.value->is_number() && (a.value->number() > 0.0) != is_true(i)) return false;
      for (std::size_t j = 0; j < i; ++j) {
        const Atom& b = atoms_[j];
        if (!a.value || !b.value) {
          if (!a.value && !b.value && a.symbol.same_as(b.symbol) && is_true(i) != is_true(j) &&
              !a.symbol.is_slot())
            return false;
          continue;
        }
        const std::vector<Expr> leaves = leaves_of(*a.value);
        const bool of_time = std::ranges::all_of(
            leaves, [&](const Expr& l) { return l.same_as(flat_.system.time()); });
        if (const std::optional<double> more = constant(*a.value - *b.value)) {
          if (is_true(i) && !is_true(j) && (*more < 0.0 || (*more == 0.0 && of_time))) return false;
          if (is_true(j) && !is_true(i) && (*more > 0.0 || (*more == 0.0 && of_time))) return false;
        }
        if (const std::optional<double> sum = constant(*a.value + *b.value)) {
          if (is_true(i) && is_true(j) && *sum <= 0.0) return false;
          if (!is_true(i) && !is_true(j) && *sum > 0.0) return false;
        }
      }
    }
    return true;
  }

  std::optional<bool> evaluate(const Expr& e, std::size_t from, std::size_t to) const {
    if (e.is_number()) return e.number() != 0.0;
    if (!is_connective(e)) {
      for (std::size_t k = from; k < to; ++k)
        if (atoms_[k].symbol.same_as(e)) return is_true(k);
      return std::nullopt;
    }
    const Op op = e.node()->op;
    bool result = op == Op::kAnd;
    for (const Node* child : e.node()->children) {
      const std::optional<bool> part = evaluate(Expr(child), from, to);
      if (!part) return std::nullopt;
      if (op == Op::kNot) return !*part;
      result = op == Op::kAnd ? result && *part : result || *part;
    }
    return result;
  }

  const FlatModel& flat_;
  std::vector<Expr> parameters_, numbers_;
  std::vector<Atom> atoms_;
  std::size_t bits_ = 0;
};

// Ranges of unknowns as far as equations of a state bound them.
class Ranges {
 public:
  explicit Ranges(const FlatModel& flat) {
    for (const Parameter& p : flat.system.parameters())
      ranges_[p.symbol.node()] = Interval(p.value);
  }

  // False if no values in the ranges satisfy the equation. Narrows what it is solved for.
  bool take(const Equation& equation) {
    const Expr& left = equation.equality.lhs;
    const Expr& right = equation.equality.rhs;
    return excludes_nothing(equation.residual()) && narrow(left, right) && narrow(right, left);
  }

 private:
  Interval range_of(const Expr& value) {
    if (value.is_number()) return value.number();
    EnclosedFormula formula(value);
    for (std::size_t i = 0; i < formula.leaves().size(); ++i) {
      const auto found = ranges_.find(formula.leaves()[i].node());
      formula.leaf(i) =
          EnclosedSeries::constant(found == ranges_.end() ? Interval::everything() : found->second);
    }
    return formula.evaluate(0).coefficient[0];
  }

  bool excludes_nothing(const Expr& residual) {
    const Interval range = range_of(residual);
    return !(range.low > 0.0 || range.high < 0.0);
  }

  bool narrow(const Expr& variable, const Expr& value) {
    if (!variable.is_variable()) return true;
    const Interval given = range_of(value);
    Interval& range = ranges_.try_emplace(variable.node(), Interval::everything()).first->second;
    const Interval both{std::max(range.low, given.low), std::min(range.high, given.high)};
    if (both.low > both.high) return false;
    range = both;
    return true;
  }

  std::map<const Node*, Interval> ranges_;
};

// The equations that hold while a state is active.
void collect_equations(const std::vector<EquationItem>& items, const Expr& active,
                       std::vector<const Equation*>& found) {
  for (const EquationItem& item : items) {
    if (const auto* equation = std::get_if<Equation>(&item.value)) {
      found.push_back(equation);
      continue;
    }
    const auto& branches = std::get<IfEquation>(item.value);
    if (branches.conditions.size() == 1 && branches.conditions[0].same_as(active))
      collect_equations(branches.branches[0], active, found);
  }
}

}  // namespace

std::vector<std::string> check_transitions(const FlatModel& flat,
                                           const std::vector<CheckedTransition>& transitions,
                                           const std::vector<Expr>& unknown) {
  std::vector<std::string> warnings;
  Implication implication(flat);
  std::vector<std::ptrdiff_t> next(transitions.size(), -1);
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    const CheckedTransition& t = transitions[i];
    for (std::size_t j = 0; j < transitions.size() && next[i] < 0; ++j)
      if (transitions[j].from == t.to && t.from != t.to &&
          implication.holds(t, transitions[j], unknown))
        next[i] = static_cast<std::ptrdiff_t>(j);
    if (next[i] < 0) continue;
    warnings.push_back(
        fmt::format("{}:{}:{}: warning: the target of {} is left at once: {} holds "
                    "whenever it is entered",
                    t.where.file, t.where.line, t.where.column, t.text,
                    transitions[static_cast<std::size_t>(next[i])].text));
  }
  // Following the first way out of each target, a circle is met within as many steps.
  std::vector<bool> told(transitions.size(), false);
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i);
    for (std::size_t k = 0; k < transitions.size() && at >= 0; ++k)
      at = next[static_cast<std::size_t>(at)];
    if (at < 0 || told[static_cast<std::size_t>(at)]) continue;
    std::string circle;
    const CheckedTransition& t = transitions[static_cast<std::size_t>(at)];
    for (std::ptrdiff_t k = at; !told[static_cast<std::size_t>(k)];
         k = next[static_cast<std::size_t>(k)]) {
      told[static_cast<std::size_t>(k)] = true;
      circle += (circle.empty() ? "" : ", ") + transitions[static_cast<std::size_t>(k)].text;
    }
    warnings.push_back(fmt::format("{}:{}:{}: warning: a circle without end: {}", t.where.file,
                                   t.where.line, t.where.column, circle));
  }
  return warnings;
}

std::vector<std::string> check_targets(const FlatModel& flat,
                                       const std::vector<CheckedTransition>& transitions) {
  constexpr int kRounds = 3;  // values follow from each other
  std::vector<std::string> warnings;
  for (const CheckedTransition& t : transitions) {
    std::vector<const Equation*> equations;
    collect_equations(flat.equations, t.active, equations);
    Ranges ranges(flat);
    const Equation* contradicted = nullptr;
    for (int round = 0; round < kRounds; ++round)
      for (const Equation* equation : equations)
        if (contradicted == nullptr && !ranges.take(*equation)) contradicted = equation;
    if (contradicted == nullptr) continue;
    warnings.push_back(fmt::format(
        "{}:{}:{}: warning: the target of {} has no consistent point: no values "
        "satisfy '{} = {}' at {}:{}:{} with its other equations",
        t.where.file, t.where.line, t.where.column, t.text, to_string(contradicted->equality.lhs),
        to_string(contradicted->equality.rhs), contradicted->where.file, contradicted->where.line,
        contradicted->where.column));
  }
  return warnings;
}

}  // namespace saltus
