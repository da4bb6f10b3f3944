#include "locate/time_terms.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "expr/differentiate.h"
#include "expr/function.h"
#include "expr/traverse.h"

namespace saltus {
namespace {

// How much further than the step under way is looked, in steps: one search then serves several.
constexpr double kReach = 8.0;
// So much further again where a search has found nothing: terms that do nothing for long, such as
// pressures between two shifts, are asked a few times only.
constexpr double kFurther = 4.0;
// Of the first search, when steps are short.
constexpr double kFirstReach = 512.0;
// A step may be a little longer than wanted where it ends at a limit.
constexpr double kMargin = 1.25;
// Operations in all terms that are enclosed.
constexpr std::size_t kLargest = 20000;
// Of the tolerance: what a term does below this fraction of its size does not count.
constexpr double kNegligible = 1e-3;
// A term that gets on by less than kCrawl of the way to the limit so often in a row has no
// resolution; it is left to the error control.
constexpr double kCrawl = 1e-10;
constexpr int kMostCrawls = 40;

struct Dependence {
  bool on_time = false;
  bool on_unknowns = false;
  bool is_of_time() const { return on_time && !on_unknowns; }
};

// By place in `order`. Calls count as unknown: they cannot be enclosed.
std::vector<Dependence> find_dependence(const std::vector<const Node*>& order,
                                        const NodeMap& position, const NodeMap& unknowns) {
  std::vector<Dependence> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node* node = order[i];
    Dependence& d = result[i];
    d.on_time = node->op == Op::kTime;
    d.on_unknowns = unknowns.find(node) != NodeMap::kNone;
    for (const Node* child : node->children) {
      const Dependence& below = result[position.find(child)];
      d.on_time = d.on_time || below.on_time;
      d.on_unknowns = d.on_unknowns || below.on_unknowns;
    }
    if (node->op == Op::kCall && d.on_time) d.on_unknowns = true;
  }
  return result;
}

void mark_unknowns(const DaeDefinition& written, NodeMap& unknowns) {
  for (const std::vector<Expr>* list : {&written.unknowns, &written.derivatives})
    for (const Expr& symbol : *list)
      if (symbol.node() != nullptr) unknowns.set(symbol.node(), 1);
}

}  // namespace

TimeCourses::TimeCourses(const DaeDefinition& written, bool with_states) : written_(written) {
  // An equation gives an unknown if it holds no other but those known, is linear in it with a
  // constant coefficient, and holds no derivative. Those found open further equations.
  std::unordered_map<const Node*, std::size_t> index, differentiated;
  for (std::size_t j = 0; j < written.unknowns.size(); ++j) {
    index.emplace(written.unknowns[j].node(), j);
    differentiated.emplace(written.derivatives[j].node(), j);
  }
  std::vector<std::vector<std::size_t>> rows_of(written.unknowns.size());
  std::vector<std::size_t> open(written.residuals.size(), 0);
  std::vector<std::size_t> ready;
  std::vector<bool> is_state(written.unknowns.size(), false);
  for (std::size_t i = 0; i < written.residuals.size(); ++i) {
    bool has_derivative = false;
    for (const Expr& leaf : leaves_of(written.residuals[i])) {
      const auto state = differentiated.find(leaf.node());
      if (state != differentiated.end()) is_state[state->second] = has_derivative = true;
      const auto found = index.find(leaf.node());
      if (found == index.end()) continue;
      rows_of[found->second].push_back(i);
      ++open[i];
    }
    if (has_derivative) open[i] = written.unknowns.size() + 1;
    if (open[i] == 1) ready.push_back(i);
  }
  std::vector<bool> known(written.unknowns.size(), false);
  const auto make_known = [&](std::size_t unknown) {
    known[unknown] = true;
    for (const std::size_t row : rows_of[unknown])
      if (--open[row] == 1) ready.push_back(row);
  };
  const auto follow = [&] {
    while (!ready.empty()) {
      const Expr& residual = written.residuals[ready.back()];
      ready.pop_back();
      const std::vector<Expr> leaves = leaves_of(residual);
      const auto leaf = std::ranges::find_if(leaves, [&](const Expr& candidate) {
        const auto found = index.find(candidate.node());
        return found != index.end() && !known[found->second];
      });
      if (leaf == leaves.end() || polynomial_degree(residual, std::span(&*leaf, 1)) != 1) continue;
      const Expr factor = partial(residual, *leaf);
      if (!is_constant_in_mode(factor)) continue;
      const Expr zero[] = {0.0};
      courses_.push_back(insert_all(-substitute(residual, std::span(&*leaf, 1), zero) / factor));
      places_.emplace(leaf->node(), places_.size());
      make_known(index.at(leaf->node()));
    }
  };
  follow();
  of_time_ = courses_.size();
  if (!with_states) return;
  for (std::size_t j = 0; j < is_state.size(); ++j)
    if (is_state[j] && !known[j]) make_known(j);
  follow();
  // What a nonlinear equation gives stays as it is; others may be formulas of it.
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i] != 1) continue;
    for (const Expr& leaf : leaves_of(written.residuals[i])) {
      const auto found = index.find(leaf.node());
      if (found == index.end() || known[found->second]) continue;
      make_known(found->second);
      break;
    }
    follow();
  }
}

Expr TimeCourses::insert(const Expr& formula, std::size_t count) const {
  if (count == 0) return formula;
  std::vector<Expr> from, to;
  for (const Expr& leaf : leaves_of(formula)) {
    const auto found = places_.find(leaf.node());
    if (found == places_.end() || found->second >= count) continue;
    from.push_back(leaf);
    to.push_back(courses_[found->second]);
  }
  return from.empty() ? formula : substitute(formula, from, to);
}

bool TimeCourses::is_of_time(const Expr& formula) const {
  if (formula.node() == nullptr) return false;
  NodeMap unknowns, position;
  mark_unknowns(written_, unknowns);
  std::vector<const Node*> order;
  append_postorder(formula.node(), position, order);
  return find_dependence(order, position, unknowns).back().is_of_time();
}

TimeTerms::TimeTerms(const DaeDefinition& written, const TimeCourses& courses,
                     const DaeDefinition& symbols) {
  NodeMap unknowns, position;
  mark_unknowns(written, unknowns);
  std::vector<const Node*> order;
  std::vector<const Node*> roots;
  for (const Expr& residual : written.residuals) {
    // As written too: with its own course inserted, the equation of an unknown says 0 = 0.
    for (const Expr& formula : {residual, courses.insert(residual)}) {
      if (formula.node() == nullptr) continue;
      append_postorder(formula.node(), position, order);
      roots.push_back(formula.node());
    }
  }
  const std::vector<Dependence> dependence = find_dependence(order, position, unknowns);
  std::vector<bool> is_largest(order.size(), false);
  for (const Node* root : roots) is_largest[position.find(root)] = true;
  std::set<std::string> opaque;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (dependence[i].is_of_time()) continue;
    bool reads_unknowns = false;
    for (const Node* child : order[i]->children) {
      is_largest[position.find(child)] = true;
      reads_unknowns = reads_unknowns || dependence[position.find(child)].on_unknowns;
    }
    // A delay reads the past, which has breaks of its own.
    if (order[i]->op == Op::kCall && dependence[i].on_time && !reads_unknowns &&
        order[i]->function->name != "delay")
      opaque.insert(order[i]->function->name);
  }
  opaque_.assign(opaque.begin(), opaque.end());
  std::unordered_set<const Node*> known;
  std::size_t size = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!is_largest[i] || !dependence[i].is_of_time()) continue;
    const Node* node = order[i];
    // What constants are added to or multiplied with it makes no difference.
    for (const Node* inner = node; inner != nullptr;) {
      node = inner;
      inner = nullptr;
      if (node->op != Op::kNegate && node->op != Op::kAdd && node->op != Op::kSubtract &&
          node->op != Op::kMultiply && node->op != Op::kDivide)
        continue;
      std::size_t moving = 0;
      for (const Node* child : node->children) {
        if (!dependence[position.find(child)].on_time) continue;
        inner = child;
        ++moving;
      }
      if (moving != 1 || (node->op == Op::kDivide && inner == node->children[1])) inner = nullptr;
    }
    if (!known.insert(node).second) continue;
    const Expr term(node);
    const int degree = polynomial_degree(term, std::span(&written.time, 1));
    if (degree >= 0 && degree < EnclosedSeries::kOrder) continue;
    NodeMap below;
    std::vector<const Node*> nodes;
    append_postorder(node, below, nodes);
    size += nodes.size();
    if (size > kLargest) {
      opaque_.push_back("(a formula of too many operations)");
      break;
    }
    terms_.push_back({TimeFunction(term, symbols), term});
  }
}

void TimeTerms::bind(const DaeData& data) {
  resolved_until_ = -std::numeric_limits<double>::infinity();
  pole_.reset();
  for (Term& term : terms_) {
    // What was found of a function stays true.
    if (!term.function.bind(data)) continue;
    term.resolved_until = resolved_until_;
    term.reach = kFirstReach;
    term.stuck = 0;
  }
}

double TimeTerms::limit_step(double t, double wanted, double limit, double tolerance) {
  const double needed = std::min(t + kMargin * wanted, limit);
  if (terms_.empty() || needed <= resolved_until_) return limit;
  const double near = std::min(limit, t + kReach * wanted);
  double all = std::numeric_limits<double>::infinity();
  ends_at_kink_ = false;
  for (Term& term : terms_) {
    if (term.stuck <= kMostCrawls && term.resolved_until < needed) {
      const double size = term.function.range_over(t, near).coefficient[0].magnitude();
      if (std::isfinite(size)) term.size = std::max(term.size, size);
      const double reach = std::min(limit, t + term.reach * wanted);
      term.resolved_until =
          resolved_until(term.function, t, reach, kNegligible * tolerance * term.size);
      term.reach = term.resolved_until >= reach ? kFurther * term.reach : kReach;
      const bool crawls = term.resolved_until - t < kCrawl * (reach - t);
      term.stuck = crawls ? term.stuck + 1 : 0;
      term.has_kink =
          term.resolved_until < reach && has_kink_at(term.function, term.resolved_until);
      if (crawls && term.has_kink && has_pole_at(term.function, t, reach - t))
        pole_ = to_string(term.formula);
    }
    if (term.stuck > kMostCrawls || term.resolved_until > all) continue;
    ends_at_kink_ = term.has_kink || (ends_at_kink_ && term.resolved_until == all);
    all = term.resolved_until;
  }
  resolved_until_ = all;
  return std::min(limit, resolved_until_);
}

}  // namespace saltus
