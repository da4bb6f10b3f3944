// Which equation gives which discrete variable its value.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "expr/differentiate.h"
#include "expr/traverse.h"
#include "modelica/flattener.h"

namespace saltus {

bool Flattener::is_discrete_symbol(const Expr& symbol) const {
  return symbol.is_slot() && discrete_numbers_.contains(symbol.node());
}

Expr Flattener::pre_slot(const Expr& symbol) { return pre_slots_.at(symbol.node()); }

// An equation between two variables could give either; a matching decides so that each variable has
// exactly one.
void Flattener::assign_discrete() {
  struct Option {
    std::size_t variable;
    Expr target;
    Expr value;
  };
  std::vector<std::vector<Option>> options;
  for (const DiscreteCandidate& c : discrete_candidates_) {
    std::vector<Option> mine;
    const auto offer = [&](const Expr& side, const Expr& other) {
      const bool negated = side.node() != nullptr && side.node()->op == Op::kNot;
      const Expr symbol = negated ? Expr(side.node()->children[0]) : side;
      if (!is_discrete_symbol(symbol) || when_assigned_.contains(symbol.node())) return;
      mine.push_back({discrete_numbers_.at(symbol.node()), symbol, negated ? !other : other});
    };
    offer(c.left, c.right);
    offer(c.right, c.left);
    options.push_back(std::move(mine));
  }
  constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  std::vector<std::size_t> giver(flat_.discretes.size(), kNobody);
  std::vector<std::size_t> visited(flat_.discretes.size(), kNobody);
  std::vector<std::size_t> chosen(options.size(), 0);
  const std::function<bool(std::size_t, std::size_t)> place = [&](std::size_t c,
                                                                  std::size_t round) {
    for (std::size_t k = 0; k < options[c].size(); ++k) {
      const std::size_t v = options[c][k].variable;
      if (giver[v] == kNobody) {
        giver[v] = c;
        chosen[c] = k;
        return true;
      }
    }
    for (std::size_t k = 0; k < options[c].size(); ++k) {
      const std::size_t v = options[c][k].variable;
      if (visited[v] == round) continue;
      visited[v] = round;
      if (place(giver[v], round)) {
        giver[v] = c;
        chosen[c] = k;
        return true;
      }
    }
    return false;
  };
  for (std::size_t c = 0; c < options.size(); ++c) {
    const DiscreteCandidate& candidate = discrete_candidates_[c];
    if (options[c].empty())
      throw Error(
          fmt::format("{}: this equation between Booleans, Integers or discrete Reals gives "
                      "no variable a value; write it as x = ...",
                      candidate.name),
          candidate.where);
    if (!place(c, c))
      throw Error(fmt::format("{}: one equation too many for '{}'", candidate.name,
                              flat_.discretes[options[c][0].variable].name),
                  candidate.where);
  }
  // Fields of records that functions give, and what is equal to them.
  std::vector<Expr> followers;
  std::vector<Expr> followed;
  std::vector<bool> follows(options.size(), false);
  const auto is_follower = [&](const Expr& e) {
    return std::ranges::any_of(followers, [&](const Expr& f) { return f.same_as(e); });
  };
  for (bool found = true; found;) {
    found = false;
    for (std::size_t c = 0; c < options.size(); ++c) {
      const Option& o = options[c][chosen[c]];
      if (follows[c] || !discrete_candidates_[c].is_field ||
          flat_.discretes[o.variable].type == DiscreteType::kReal || o.value.is_number() ||
          (!varies_continuously(o.value) && !std::ranges::any_of(leaves_of(o.value), is_follower)))
        continue;
      follows[c] = found = true;
      followers.push_back(o.target);
      followed.push_back(o.value);
    }
  }
  std::vector<bool> given(flat_.discretes.size(), false);
  for (std::size_t c = 0; c < options.size(); ++c) {
    if (follows[c]) continue;
    const Option& o = options[c][chosen[c]];
    const DiscreteVariable& variable = flat_.discretes[o.variable];
    // noEvent() in a part of a value that changes at events has its uses; alone it is wrong.
    if (variable.type != DiscreteType::kReal && varies_continuously(o.value) &&
        std::ranges::none_of(leaves_of(o.value), &Expr::is_slot))
      throw Error(fmt::format("{}: '{}' changes at events only, but this value changes at any "
                              "time: a function or noEvent() in it makes no events",
                              discrete_candidates_[c].name, variable.name),
                  discrete_candidates_[c].where);
    flat_.discrete_equations.push_back({o.target, o.value, discrete_candidates_[c].where});
  }
  follow_at_any_time(std::move(followers), std::move(followed));
  for (const DiscreteEquation& e : flat_.discrete_equations) {
    const auto number = discrete_numbers_.find(e.target.node());
    if (number != discrete_numbers_.end()) given[number->second] = true;
  }
  for (const auto& [node, number] : discrete_numbers_)
    if (!given[number])
      throw Error(fmt::format("no equation gives '{}' a value{}", flat_.discretes[number].name,
                              flat_.discretes[number].type == DiscreteType::kInteger
                                  ? "; an Integer takes Integer values only, see integer()"
                                  : ""),
                  flat_.discretes[number].where);
  solve_discrete_loops();
  embed_sampled_loops();
  move_initial_values();
}

// x = pre(y), or x = z and z = pre(y), beside the initial equation x = v: at the start it is pre(y)
// that has the value v. An initial equation pre(y) = pre(z) then gives pre(z) its value.
void Flattener::move_initial_values() {
  std::unordered_set<const Node*> memories;
  for (const auto& [symbol, slot] : pre_slots_) memories.insert(slot.node());
  std::unordered_map<const Node*, Expr> given;
  for (const DiscreteEquation& e : flat_.discrete_equations)
    given.emplace(e.target.node(), e.value);
  std::unordered_set<const Node*> moved;
  for (DiscreteEquation& e : flat_.initial_discrete) {
    Expr source = e.target;
    bool negated = false;
    for (std::size_t k = 0; k < given.size() && !memories.contains(source.node()); ++k) {
      const auto own = given.find(source.node());
      if (own == given.end() || own->second.node() == nullptr) break;
      source = own->second;
      if (source.node()->op != Op::kNot) continue;
      negated = !negated;
      source = Expr(source.node()->children[0]);
    }
    if (source.same_as(e.target) || !memories.contains(source.node())) continue;
    e.target = source;
    if (negated) e.value = !e.value;
    moved.insert(source.node());
  }
  for (DiscreteEquation& e : flat_.initial_discrete) {
    if (e.value.is_number() || !memories.contains(e.value.node()) ||
        moved.contains(e.value.node()) || !moved.contains(e.target.node()))
      continue;
    std::swap(e.target, e.value);
    moved.insert(e.target.node());
  }
}

}  // namespace saltus
