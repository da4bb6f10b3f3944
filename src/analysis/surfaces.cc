#include "analysis/surfaces.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "expr/differentiate.h"
#include "expr/traverse.h"
#include "model/active_equations.h"

namespace saltus {
namespace {

// Corners of conditions that read several surfaces at once.
constexpr int kMostTogether = 6;

// Mixes an expression: bottom up, linearly where it is linear in the surfaces, by corners
// elsewhere.
class Mixer {
 public:
  struct Slot {
    std::size_t held;
    int orientation;
  };
  Mixer(std::unordered_map<const Node*, Slot> slots, const std::vector<Expr>& weights)
      : slots_(std::move(slots)), weights_(weights) {}

  // None if too many surfaces meet in one condition.
  std::optional<Expr> mix(const Expr& root) {
    if (root.node() == nullptr) return root;
    NodeMap position;
    std::vector<const Node*> order;
    append_postorder(root.node(), position, order);
    std::vector<std::uint64_t> reads(order.size(), 0);
    std::vector<Expr> mixed(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Node& node = *order[i];
      mixed[i] = Expr(&node);
      if (const auto slot = slots_.find(&node); slot != slots_.end()) {
        reads[i] = std::uint64_t{1} << slot->second.held;
        const Expr& weight = weights_[slot->second.held];
        mixed[i] = slot->second.orientation > 0 ? weight : 1.0 - weight;
        continue;
      }
      const auto at = [&](std::size_t k) { return position.find(node.children[k]); };
      bool linear = node.op == Op::kAdd || node.op == Op::kSubtract || node.op == Op::kNegate;
      for (std::size_t k = 0; k < node.children.size(); ++k) reads[i] |= reads[at(k)];
      if (reads[i] == 0) continue;
      if (node.op == Op::kMultiply) linear = (reads[at(0)] & reads[at(1)]) == 0;
      if (node.op == Op::kDivide) linear = reads[at(1)] == 0;
      if (node.op == Op::kSelect) linear = reads[at(0)] == 0;
      if (linear) {
        std::vector<Expr> arguments;
        for (std::size_t k = 0; k < node.children.size(); ++k) arguments.push_back(mixed[at(k)]);
        mixed[i] = rebuild(&node, arguments);
        continue;
      }
      const std::uint64_t together = node.op == Op::kSelect ? reads[at(0)] : reads[i];
      const auto sum = mix_corners(Expr(&node), together);
      if (!sum) return {};
      mixed[i] = *sum;
    }
    return mixed.back();
  }

 private:
  std::optional<Expr> mix_corners(const Expr& a, std::uint64_t together) {
    if (std::popcount(together) > kMostTogether) return {};
    std::vector<std::size_t> held;
    for (std::size_t k = 0; k < weights_.size(); ++k)
      if ((together >> k & 1U) != 0) held.push_back(k);
    Expr sum = 0.0;
    for (std::size_t corner = 0; corner < std::size_t{1} << held.size(); ++corner) {
      Expr share = 1.0;
      Frozen frozen;
      for (std::size_t b = 0; b < held.size(); ++b) {
        const bool above = (corner >> b & 1U) != 0;
        share *= above ? weights_[held[b]] : 1.0 - weights_[held[b]];
        for (const auto& [node, slot] : slots_)
          if (slot.held == held[b]) frozen[node] = above == (slot.orientation > 0);
      }
      const auto part = mix(freeze(a, frozen));
      if (!part) return {};
      sum += share * *part;
    }
    return sum;
  }

  std::unordered_map<const Node*, Slot> slots_;
  const std::vector<Expr>& weights_;
};

// A sum as its terms with their factors, scaled such that the first factor is 1: sums that are zero
// together, such as w3 + w1 and -w1 - w3, which a gear makes of w3 - w2 and w2 - w3, have the same.
struct ScaledSum {
  std::map<const Node*, double> factors;  // null: the number
  double scale = 1.0;
};

ScaledSum scaled_sum(const Expr& value) {
  ScaledSum sum;
  std::vector<std::pair<const Node*, double>> open = {{value.node(), 1.0}};
  while (!open.empty()) {
    const Node* const node = open.back().first;
    const double factor = open.back().second;
    open.pop_back();
    const auto number = [&](std::size_t k) { return Expr(node->children[k]).is_number(); };
    if (Expr(node).is_number()) {
      sum.factors[nullptr] += factor * Expr(node).number();
    } else if (node->op == Op::kNegate) {
      open.emplace_back(node->children[0], -factor);
    } else if (node->op == Op::kAdd || node->op == Op::kSubtract) {
      open.emplace_back(node->children[0], factor);
      open.emplace_back(node->children[1], node->op == Op::kAdd ? factor : -factor);
    } else if (node->op == Op::kMultiply && (number(0) || number(1))) {
      const std::size_t k = number(0) ? 0 : 1;
      open.emplace_back(node->children[1 - k], factor * Expr(node->children[k]).number());
    } else {
      sum.factors[node] += factor;
    }
  }
  std::erase_if(sum.factors, [](const auto& term) { return term.second == 0.0; });
  const auto first =
      std::ranges::find_if(sum.factors, [](const auto& term) { return term.first != nullptr; });
  if (first == sum.factors.end()) {
    sum.factors = {{value.node(), 1.0}};
    return sum;
  }
  sum.scale = first->second;
  for (auto& term : sum.factors) term.second /= sum.scale;
  return sum;
}

}  // namespace

Surfaces::Surfaces(const FlatModel& model) : model_(model) {
  std::map<std::map<const Node*, double>, std::pair<std::size_t, double>> known;
  for (std::size_t r = 0; r < model.relations.size(); ++r) {
    const Expr& relation = model.relations[r].value;
    const Node* node = relation.node();
    const bool negated = node != nullptr && node->op == Op::kNegate;
    std::size_t place = surfaces_.size();
    int orientation = negated ? -1 : 1;
    if (node != nullptr) {
      const ScaledSum sum = scaled_sum(relation);
      const auto [found, is_new] =
          known.try_emplace(sum.factors, place, orientation > 0 ? sum.scale : -sum.scale);
      place = found->second.first;
      orientation = (sum.scale > 0.0) == (found->second.second > 0.0) ? 1 : -1;
    }
    if (place == surfaces_.size())
      surfaces_.push_back({negated ? Expr(node->children[0]) : relation, {}, false});
    surfaces_[place].relations.emplace_back(r, orientation);
    by_relation_.push_back(place);
  }

  std::unordered_set<const Node*> past;
  for (const DiscreteVariable& v : model.discretes) past.insert(v.pre.node());
  for (const DiscreteEquation& e : model.discrete_equations) {
    const std::vector<Expr> leaves = leaves_of(e.value);
    const bool remembers = std::ranges::any_of(
        leaves, [&](const Expr& leaf) { return past.contains(leaf.node()) || leaf.is_variable(); });
    if (remembers || leaves.empty()) continue;
    follower_targets_.push_back(e.target);
    follower_values_.push_back(e.value);
  }

  // Whatever equations read, in any branch.
  std::vector<Expr> read;
  const auto collect = [&](const auto& self, const std::vector<EquationItem>& items) -> void {
    for (const EquationItem& item : items) {
      if (const auto* equation = std::get_if<Equation>(&item.value)) {
        read.push_back(without_followers(equation->residual()));
        continue;
      }
      for (const auto& branch : std::get<IfEquation>(item.value).branches) self(self, branch);
    }
  };
  collect(collect, model.equations);
  std::unordered_set<const Node*> slots;
  for (const Expr& leaf : leaves_of(read))
    if (leaf.is_slot()) slots.insert(leaf.node());
  for (Surface& surface : surfaces_) {
    const std::vector<Expr> leaves = leaves_of(surface.value);
    const bool has_unknowns =
        std::ranges::any_of(leaves, [](const Expr& leaf) { return leaf.is_variable(); });
    const bool has_slopes = std::ranges::any_of(
        leaves, [](const Expr& leaf) { return leaf.is_variable() && leaf.node()->order > 0; });
    const bool is_read = std::ranges::any_of(surface.relations, [&](const auto& r) {
      return slots.contains(model.relations[r.first].slot.node());
    });
    surface.may_be_held = has_unknowns && !has_slopes && is_read;
  }
}

Expr Surfaces::without_followers(Expr a) const {
  // Followers may follow followers.
  for (std::size_t round = 0; round <= follower_targets_.size(); ++round) {
    const Expr next = substitute(a, follower_targets_, follower_values_);
    if (next.same_as(a)) break;
    a = next;
  }
  return a;
}

bool Surfaces::reads(const Expr& a, std::size_t surface) const {
  const std::vector<Expr> leaves = leaves_of(without_followers(a));
  return std::ranges::any_of(surfaces_[surface].relations, [&](const auto& r) {
    const Expr& slot = model_.relations[r.first].slot;
    return std::ranges::any_of(leaves, [&](const Expr& leaf) { return leaf.same_as(slot); });
  });
}

std::optional<std::vector<Equation>> Surfaces::mix(const std::vector<Equation>& equations,
                                                   const std::vector<std::size_t>& held,
                                                   const std::vector<Expr>& weights) const {
  if (held.size() > 64) return {};
  std::unordered_map<const Node*, Mixer::Slot> slots;
  for (std::size_t k = 0; k < held.size(); ++k)
    for (const auto& [relation, orientation] : surfaces_[held[k]].relations)
      slots.emplace(model_.relations[relation].slot.node(), Mixer::Slot{k, orientation});
  Mixer mixer(slots, weights);
  std::vector<Equation> result;
  std::vector<bool> is_mixed;
  for (const Equation& equation : equations) {
    const Expr residual = without_followers(equation.residual());
    const std::vector<Expr> leaves = leaves_of(residual);
    const bool reads_held =
        std::ranges::any_of(leaves, [&](const Expr& leaf) { return slots.contains(leaf.node()); });
    is_mixed.push_back(reads_held);
    result.push_back(equation);
    if (!reads_held) continue;
    const auto mixed = mixer.mix(residual);
    if (!mixed) return {};
    result.back().equality = Equality{*mixed, 0.0};
  }

  // The mixture is Filippov's only where what depends on the weights enters linearly.
  std::vector<Expr> under_der;
  std::vector<Expr> all;
  for (const Equation& e : result)
    for (const Expr& leaf : leaves_of(e.residual()))
      if (leaf.is_variable()) (leaf.node()->order > 0 ? under_der : all).push_back(leaf);
  std::unordered_set<std::uint32_t> states;
  for (const Expr& leaf : under_der) states.insert(leaf.node()->index);
  std::vector<Expr> mixed_leaves(weights.begin(), weights.end());
  std::unordered_set<const Node*> known;
  for (const Expr& weight : weights) known.insert(weight.node());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!is_mixed[i]) continue;
    for (const Expr& leaf : leaves_of(result[i].residual()))
      if (leaf.is_variable() && (leaf.node()->order > 0 || !states.contains(leaf.node()->index)) &&
          known.insert(leaf.node()).second)
        mixed_leaves.push_back(leaf);
  }
  for (const Equation& e : result) {
    const std::vector<Expr> leaves = leaves_of(e.residual());
    if (std::ranges::none_of(leaves, [&](const Expr& leaf) { return known.contains(leaf.node()); }))
      continue;
    const int degree = polynomial_degree(e.residual(), mixed_leaves);
    if (degree < 0 || degree > 1) return {};
  }
  return result;
}

}  // namespace saltus
