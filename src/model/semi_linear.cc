#include "model/semi_linear.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/aliases.h"

namespace saltus {
namespace {

// y = semiLinear(x, above, below) for an x and a y that are no negated expressions.
struct Link {
  std::size_t equation = 0;
  Expr above, below;
  bool is_reversed = false;  // written with -x
};

struct Sides {
  const SemiLinear* call = nullptr;
  Expr other;  // y, as written
};

bool is_zero(const Expr& e) { return e.is_number() && e.number() == 0.0; }

// Takes the sign off an expression.
bool strip_sign(Expr& e) {
  if (e.is_number() || e.node()->op != Op::kNegate) return false;
  e = Expr(e.node()->children[0]);
  return true;
}

class Chains {
 public:
  explicit Chains(FlatModel& model) : model_(model), sides_(model.equations.size()) {
    std::unordered_map<const Node*, const SemiLinear*> calls;
    for (const SemiLinear& call : model.semi_linears) calls.emplace(call.value.node(), &call);
    std::vector<bool> apart(model.equations.size(), false);
    for (std::size_t i = 0; i < model.equations.size(); ++i) {
      const auto* equation = std::get_if<Equation>(&model.equations[i].value);
      if (equation == nullptr) continue;
      const auto& [left, right] = equation->equality;
      for (const auto& [side, other] : {std::pair(left, right), std::pair(right, left)}) {
        const auto call = calls.find(side.node());
        if (side.node() == nullptr || call == calls.end()) continue;
        sides_[i] = {call->second, other};
        apart[i] = true;
      }
    }
    aliases_ = find_aliases(model, apart);
  }

  void choose() {
    for (std::size_t i = 0; i < sides_.size(); ++i)
      if (sides_[i].call != nullptr) sort(i);
    for (auto& [flow, links] : links_)
      if (links.size() > 1) follow(links);
  }

 private:
  void set(std::size_t equation, const Expr& left, const Expr& right) {
    std::get<Equation>(model_.equations[equation].value).equality = {left, right};
  }

  void sort(std::size_t i) {
    const SemiLinear& call = *sides_[i].call;
    Expr x = aliases_.rewrite(call.x);
    Expr y = aliases_.rewrite(sides_[i].other);
    Link link{i, aliases_.rewrite(call.above), aliases_.rewrite(call.below)};
    if (is_zero(x) && is_zero(y) && !link.above.same_as(link.below))
      return set(i, link.above, link.below);
    if (x.is_number() || y.is_number()) return;
    bool y_is_reversed = strip_sign(y);
    link.is_reversed = strip_sign(x);
    if (link.is_reversed) {
      std::swap(link.above, link.below);
      y_is_reversed = !y_is_reversed;
    }
    links_[{x.node(), y.node(), y_is_reversed}].push_back(link);
  }

  // From slope to slope, each between being the lower one of one call and the upper one of another.
  void follow(const std::vector<Link>& links) {
    std::unordered_map<const Node*, std::vector<const Link*>> by_above;
    std::unordered_map<const Node*, int> below_count;
    for (const Link& link : links) {
      by_above[link.above.node()].push_back(&link);
      ++below_count[link.below.node()];
    }
    const auto is_between = [&](const Expr& slope) {
      const auto above = by_above.find(slope.node());
      return slope.is_variable() && above != by_above.end() && above->second.size() == 1 &&
             below_count[slope.node()] == 1;
    };
    for (const Link& first : links) {
      if (is_between(first.above)) continue;
      std::vector<const Link*> chain{&first};
      while (is_between(chain.back()->below))
        chain.push_back(by_above.at(chain.back()->below.node()).front());
      if (chain.size() > 1) replace(chain);
    }
  }

  void replace(const std::vector<const Link*>& chain) {
    const Expr above = chain.front()->above;
    const Expr below = chain.back()->below;
    for (std::size_t k = 0; k < chain.size(); ++k) {
      const Link& link = *chain[k];
      const Sides& side = sides_[link.equation];
      const Expr first = link.is_reversed ? below : above;
      const Expr second = link.is_reversed ? above : below;
      if (k + 1 == chain.size())
        set(link.equation, side.other,
            select(side.call->is_positive, side.call->x * first, side.call->x * second));
      else if (k == 0)
        set(link.equation, link.below, select(side.call->is_positive, first, second));
      else
        set(link.equation, link.below, link.above);
    }
  }

  FlatModel& model_;
  std::vector<Sides> sides_;  // by equation
  Aliases aliases_;
  // By x, y, and whether it is -y.
  std::map<std::tuple<const Node*, const Node*, bool>, std::vector<Link>> links_;
};

}  // namespace

void choose_slopes(FlatModel& model) {
  if (!model.semi_linears.empty()) Chains(model).choose();
}

}  // namespace saltus
