#include "model/aliases.h"

#include <cmath>
#include <optional>
#include <utility>

#include "expr/differentiate.h"

namespace saltus {
namespace {

constexpr std::size_t kLongestAlias = 8;  // leaves; formulas of more are left as they are

// An equation between one or two variables: a * x + b * y + rest = 0, rest of parameters only.
struct Shape {
  Expr x, y;  // y: the number 0 if there is only one
  double a = 0.0;
  double b = 0.0;
  Expr rest;
};

std::optional<Shape> shape_of(const Expr& residual) {
  if (residual.is_number()) return std::nullopt;
  Shape shape;
  std::vector<Expr> variables;
  const std::vector<Expr> leaves = leaves_of(residual);
  if (leaves.size() > kLongestAlias) return std::nullopt;
  for (const Expr& leaf : leaves) {
    if (leaf.is_parameter()) continue;
    if (!leaf.is_variable() || leaf.node()->order != 0) return std::nullopt;
    variables.push_back(leaf);
  }
  if (variables.empty() || variables.size() > 2) return std::nullopt;
  // Constant slopes are not enough: y = noEvent(if x > 5 then x - 5 else x) has them, and a jump.
  if (polynomial_degree(residual, variables) != 1) return std::nullopt;
  const auto factor = [&](const Expr& v) {
    const Expr by = partial(residual, v);
    return by.is_number() ? by.number() : 0.0;
  };
  shape.x = variables[0];
  shape.a = factor(shape.x);
  if (shape.a == 0.0) return std::nullopt;
  if (variables.size() == 2) {
    shape.y = variables[1];
    shape.b = factor(shape.y);
    if (std::abs(shape.a) != std::abs(shape.b)) return std::nullopt;
  }
  const std::vector<Expr> zeros(variables.size(), 0.0);
  shape.rest = substitute(residual, variables, zeros);
  const bool rest_is_zero = shape.rest.is_number() && shape.rest.number() == 0.0;
  if (variables.size() == 2 && !rest_is_zero) return std::nullopt;
  return shape;
}

// Sets of variables that are equal up to sign (union-find), some of them with a known value.
class Sets {
 public:
  Sets(const HybridSystem& system, std::vector<bool> is_differentiated)
      : system_(system), differentiated_(std::move(is_differentiated)) {
    for (std::size_t i = 0; i < system.variables().size(); ++i) parent_.push_back({i, 1.0});
    known_.resize(parent_.size());
  }

  struct Link {
    std::size_t variable = 0;
    double sign = 1.0;
  };

  // Twice along the way to the root: to see the sign, then to shorten the way. Not by recursion:
  // it may be as long as there are variables.
  Link find(std::size_t i) {
    Link root{i, 1.0};
    while (parent_[root.variable].variable != root.variable) {
      const Link& next = parent_[root.variable];
      root = {next.variable, root.sign * next.sign};
    }
    double sign = root.sign;
    while (parent_[i].variable != i) {
      const Link next = std::exchange(parent_[i], {root.variable, sign});
      sign *= next.sign;
      i = next.variable;
    }
    return root;
  }

  // x = sign * y. False if they are tied to each other already.
  bool join(std::size_t x, std::size_t y, double sign) {
    const Link a = find(x);
    const Link b = find(y);
    if (a.variable == b.variable || (known_[a.variable] && known_[b.variable])) return false;
    const double between = a.sign * sign * b.sign;
    const bool keep_a = merit(a.variable) > merit(b.variable) ||
                        (merit(a.variable) == merit(b.variable) && a.variable < b.variable);
    const std::size_t root = keep_a ? a.variable : b.variable;
    const std::size_t other = keep_a ? b.variable : a.variable;
    parent_[other] = {root, between};
    if (known_[other] && !known_[root]) known_[root] = Expr(between) * *known_[other];
    return true;
  }

  bool set(std::size_t x, const Expr& value) {
    const Link root = find(x);
    if (known_[root.variable]) return false;
    known_[root.variable] = Expr(root.sign) * value;
    return true;
  }

  Expr value(std::size_t i) {
    const Link root = find(i);
    const Expr stands =
        known_[root.variable] ? *known_[root.variable] : system_.variables()[root.variable].symbol;
    return root.sign < 0.0 ? -stands : stands;
  }

 private:
  // Which of two equal variables should stay: states and fixed start values need no detour.
  int merit(std::size_t i) const {
    return (differentiated_[i] ? 2 : 0) + (system_.variables()[i].fixed ? 1 : 0);
  }

  const HybridSystem& system_;
  std::vector<bool> differentiated_;
  std::vector<Link> parent_;
  std::vector<std::optional<Expr>> known_;  // by root
};

}  // namespace

void mark_differentiated(const std::vector<EquationItem>& items, std::vector<bool>& found) {
  for (const EquationItem& item : items) {
    if (const auto* equation = std::get_if<Equation>(&item.value)) {
      for (const Expr& leaf : leaves_of(equation->residual()))
        if (leaf.is_variable() && leaf.node()->order > 0) found[leaf.node()->index] = true;
    } else {
      for (const auto& branch : std::get<IfEquation>(item.value).branches)
        mark_differentiated(branch, found);
    }
  }
}

Expr Aliases::rewrite(const Expr& a) const {
  if (a.is_number()) return a;
  std::vector<Expr> from;
  std::vector<Expr> to;
  for (const Expr& leaf : leaves_of(a)) {
    if (!leaf.is_variable()) continue;
    const Expr& stands = value[leaf.node()->index];
    const Expr replacement = leaf.node()->order > 0 ? der(stands, leaf.node()->order) : stands;
    if (replacement.same_as(leaf)) continue;
    from.push_back(leaf);
    to.push_back(replacement);
  }
  return from.empty() ? a : substitute(a, from, to);
}

Aliases find_aliases(const FlatModel& model, const std::vector<bool>& apart) {
  const std::size_t n = model.system.variables().size();
  std::vector<bool> differentiated(n, false);
  mark_differentiated(model.equations, differentiated);
  Sets sets(model.system, std::move(differentiated));
  Aliases aliases;
  for (const Variable& v : model.system.variables()) aliases.value.push_back(v.symbol);
  aliases.removed.assign(model.equations.size(), false);

  // What is found makes other equations shorter (a + b + c = 0 with c = 0), so several passes; a
  // long cascade against the order of the equations need not be followed to its end.
  constexpr int kMostPasses = 20;
  bool found = true;
  for (int pass = 0; found && pass < kMostPasses; ++pass) {
    found = false;
    for (std::size_t i = 0; i < model.equations.size(); ++i) {
      const auto* equation = std::get_if<Equation>(&model.equations[i].value);
      if (aliases.removed[i] || equation == nullptr || (!apart.empty() && apart[i])) continue;
      const std::optional<Shape> shape = shape_of(aliases.rewrite(equation->residual()));
      if (!shape) continue;
      const std::size_t x = shape->x.node()->index;
      const bool used = shape->y.is_number()
                            ? sets.set(x, shape->rest / -shape->a)
                            : sets.join(x, shape->y.node()->index, -shape->b / shape->a);
      if (!used) continue;
      aliases.removed[i] = true;
      aliases.value[x] = sets.value(x);
      if (!shape->y.is_number()) {
        const std::size_t y = shape->y.node()->index;
        aliases.value[y] = sets.value(y);
      }
      found = true;
    }
    for (std::size_t i = 0; i < n; ++i) aliases.value[i] = sets.value(i);
  }
  return aliases;
}

}  // namespace saltus
