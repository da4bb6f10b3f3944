// Discrete Reals that depend on each other, or on unknowns that depend on them, at one instant.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "base/error.h"
#include "base/strong_components.h"
#include "expr/differentiate.h"
#include "model/aliases.h"
#include "modelica/flattener.h"

namespace saltus {

namespace {

void gather(const EquationItem& item, std::vector<Expr>& sides) {
  if (const auto* e = std::get_if<Equation>(&item.value)) {
    sides.push_back(e->residual());
    return;
  }
  const auto& branching = std::get<IfEquation>(item.value);
  sides.insert(sides.end(), branching.conditions.begin(), branching.conditions.end());
  for (const auto& branch : branching.branches)
    for (const EquationItem& inside : branch) gather(inside, sides);
}

void substitute_in(EquationItem& item, std::span<const Expr> from, std::span<const Expr> to) {
  if (auto* e = std::get_if<Equation>(&item.value)) {
    e->equality = {substitute(e->equality.lhs, from, to), substitute(e->equality.rhs, from, to)};
    return;
  }
  auto& branching = std::get<IfEquation>(item.value);
  for (auto& branch : branching.branches)
    for (EquationItem& inside : branch) substitute_in(inside, from, to);
}

// Unknowns that the equations tie together without an integration in between.
class Ties {
 public:
  explicit Ties(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t top(std::size_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  void join(std::size_t a, std::size_t b) { parent_[top(a)] = top(b); }

 private:
  std::vector<std::size_t> parent_;
};

// Unknowns that follow one after the other from time, states and parameters, without any of the
// discrete variables, whose keys come last.
std::vector<bool> given_without(const std::vector<std::vector<std::size_t>>& rows,
                                const std::vector<EquationItem>& equations, std::size_t unknowns,
                                std::size_t discretes) {
  std::vector<bool> given(unknowns + discretes, false);
  std::vector<std::vector<std::size_t>> rows_of(unknowns);
  std::vector<std::size_t> open(rows.size(), 0);
  std::vector<std::size_t> ready;
  const auto is_usable = [&](std::size_t r) {
    return std::holds_alternative<Equation>(equations[r].value) &&
           std::ranges::all_of(rows[r], [&](std::size_t k) { return k < unknowns; });
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!is_usable(r)) continue;
    for (const std::size_t k : rows[r]) rows_of[k].push_back(r);
    open[r] = rows[r].size();
    if (open[r] == 1) ready.push_back(r);
  }
  while (!ready.empty()) {
    const std::size_t r = ready.back();
    ready.pop_back();
    for (const std::size_t k : rows[r]) {
      if (given[k]) continue;
      given[k] = true;
      for (const std::size_t other : rows_of[k])
        if (--open[other] == 1) ready.push_back(other);
    }
  }
  return given;
}

}  // namespace

// The Real discrete variables, by symbol: number of the equation that gives them.
std::unordered_map<const Node*, std::size_t> Flattener::real_discrete_equations() const {
  std::unordered_map<const Node*, std::size_t> number;
  for (std::size_t k = 0; k < flat_.discrete_equations.size(); ++k) {
    const auto v = discrete_numbers_.find(flat_.discrete_equations[k].target.node());
    if (v != discrete_numbers_.end() && flat_.discretes[v->second].type == DiscreteType::kReal)
      number[flat_.discrete_equations[k].target.node()] = k;
  }
  return number;
}

// x = f(y) and y = g(x) of discrete Reals hold at one instant: solved here where they are linear,
// else together with the unknowns.
void Flattener::solve_discrete_loops() {
  std::vector<DiscreteEquation>& equations = flat_.discrete_equations;
  const std::unordered_map<const Node*, std::size_t> number = real_discrete_equations();
  std::vector<std::vector<std::size_t>> reads(equations.size());
  for (const auto& [node, k] : number)
    for (const Expr& leaf : leaves_of(std::vector<Expr>{equations[k].value}))
      if (const auto other = number.find(leaf.node()); other != number.end())
        reads[k].push_back(other->second);
  for (const std::vector<std::size_t>& loop : strong_components(reads)) {
    const bool reads_itself =
        std::find(reads[loop[0]].begin(), reads[loop[0]].end(), loop[0]) != reads[loop[0]].end();
    if (loop.size() == 1 && !reads_itself) continue;
    if (!eliminate_linear_loop(loop)) embed(loop);
  }
}

bool Flattener::eliminate_linear_loop(const std::vector<std::size_t>& loop) {
  std::vector<DiscreteEquation>& equations = flat_.discrete_equations;
  std::vector<Expr> values;
  for (const std::size_t k : loop) values.push_back(equations[k].value);
  const auto target = [&](std::size_t i) { return equations[loop[i]].target; };
  const auto put_in = [&](Expr& into, std::size_t i) {
    const Expr from = target(i);
    into = substitute(into, std::span(&from, 1), std::span(&values[i], 1));
  };
  // Each equation is solved for its target, which then goes from those that follow.
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const Expr zero = 0.0;
    const Expr own = target(i);
    const int degree = polynomial_degree(values[i], std::span(&own, 1));
    if (degree != 0 && degree != 1) return false;
    const Expr slope = partial(values[i], own);
    for (const Expr& leaf : leaves_of(std::vector<Expr>{slope}))
      for (const std::size_t k : loop)
        if (leaf.same_as(equations[k].target)) return false;
    if (!(slope.is_number() && slope.number() == 0.0))
      values[i] = substitute(values[i], std::span(&own, 1), std::span(&zero, 1)) / (1.0 - slope);
    for (std::size_t j = i + 1; j < loop.size(); ++j) put_in(values[j], i);
  }
  for (std::size_t i = loop.size(); i-- > 0;)
    for (std::size_t j = 0; j < i; ++j) put_in(values[j], i);
  for (std::size_t i = 0; i < loop.size(); ++i) equations[loop[i]].value = values[i];
  return true;
}

// A discrete variable that must be found together with unknowns gets one of its own, which
// equations and the others of the loop read; the variable itself follows it.
void Flattener::embed(const std::vector<std::size_t>& loop) {
  std::vector<Expr> from;
  std::vector<Expr> to;
  for (const std::size_t k : loop) {
    const DiscreteEquation& e = flat_.discrete_equations[k];
    const DiscreteVariable& v = flat_.discretes[discrete_numbers_.at(e.target.node())];
    variable_places_.push_back(e.where);
    from.push_back(e.target);
    to.push_back(flat_.system.variable("$now " + v.name, {.start = v.start}));
  }
  for (EquationItem& item : flat_.equations) substitute_in(item, from, to);
  for (std::size_t i = 0; i < loop.size(); ++i) {
    DiscreteEquation& e = flat_.discrete_equations[loop[i]];
    Equation now(fmt::format("{} = ...", to_string(e.target)),
                 to[i] == substitute(e.value, from, to));
    now.where = e.where;
    flat_.equations.emplace_back(std::move(now));
    e.value = to[i];
  }
}

// `when sample(...) then u = k - y` beside `y = u`: the value of u and the unknowns are found
// together.
void Flattener::embed_sampled_loops() {
  const std::unordered_map<const Node*, std::size_t> number = real_discrete_equations();
  if (number.empty()) return;
  const std::size_t unknowns = flat_.system.variables().size();
  std::vector<bool> moves(unknowns, false);
  mark_differentiated(flat_.equations, moves);
  // Keys: variables, their derivatives, discrete equations.
  const std::size_t count = flat_.discrete_equations.size();
  Ties ties(2 * unknowns + count);
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const auto key = [&](const Expr& leaf) {
    if (leaf.is_variable()) {
      const std::size_t i = leaf.node()->index;
      if (leaf.node()->order > 0) return unknowns + i;
      return moves[i] ? kNone : i;
    }
    const auto at = number.find(leaf.node());
    return at == number.end() ? kNone : 2 * unknowns + at->second;
  };
  std::vector<std::vector<std::size_t>> rows;  // keys of each equation
  for (const EquationItem& item : flat_.equations) {
    std::vector<Expr> sides;
    gather(item, sides);
    std::vector<std::size_t>& row = rows.emplace_back();
    for (const Expr& leaf : leaves_of(sides))
      if (const std::size_t k = key(leaf); k != kNone) row.push_back(k);
  }
  const std::vector<bool> given = given_without(rows, flat_.equations, 2 * unknowns, count);
  std::vector<bool> in_equations(count, false);
  for (const std::vector<std::size_t>& row : rows) {
    std::size_t first = kNone;
    for (const std::size_t k : row) {
      if (given[k]) continue;
      if (k >= 2 * unknowns) in_equations[k - 2 * unknowns] = true;
      if (first != kNone) ties.join(first, k);
      first = k;
    }
  }
  // A discrete variable reads others, or unknowns that are tied to some.
  std::map<std::size_t, std::vector<std::size_t>> tied;  // by top
  for (std::size_t k = 0; k < count; ++k)
    if (in_equations[k]) tied[ties.top(2 * unknowns + k)].push_back(k);
  std::vector<std::vector<std::size_t>> reads(count);
  std::vector<bool> reads_unknowns(count, false);
  for (const auto& [node, k] : number)
    for (const Expr& leaf : leaves_of(std::vector<Expr>{flat_.discrete_equations[k].value})) {
      const std::size_t other = key(leaf);
      if (other == kNone || given[other]) continue;
      if (other >= 2 * unknowns) {
        reads[k].push_back(other - 2 * unknowns);
      } else if (const auto at = tied.find(ties.top(other)); at != tied.end()) {
        reads_unknowns[k] = true;
        reads[k].insert(reads[k].end(), at->second.begin(), at->second.end());
      }
    }
  for (const std::vector<std::size_t>& loop : strong_components(reads)) {
    const auto through_unknowns = [&](std::size_t k) { return reads_unknowns[k]; };
    const bool reads_itself = std::ranges::find(reads[loop[0]], loop[0]) != reads[loop[0]].end();
    if ((loop.size() == 1 && !reads_itself) || std::ranges::none_of(loop, through_unknowns))
      continue;
    embed(loop);
  }
}

}  // namespace saltus
