#include "expr/expr.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "expr/graph.h"
#include "expr/number.h"

// Simplification at construction. Every rule is exact in floating point up to the sign of zero,
// except that constants are pulled together: c1*(c2*x) and (x + c1) + c2. Products are never
// multiplied out, so (x - r1)*(x - r2) keeps its sign near r1 and r2. Each rule looks at most two
// levels down, so building is constant work per node.

namespace saltus {

namespace {

bool is(const Expr& a, Op op) { return a.node() != nullptr && a.node()->op == op; }
Expr child(const Expr& a, std::size_t i) { return Expr(a.node()->children[i]); }
bool is_value(const Expr& a, double value) { return a.is_number() && a.number() == value; }
// c*x with a number c; operator* puts the number first.
bool is_scaled(const Expr& a) { return is(a, Op::kMultiply) && child(a, 0).is_number(); }
// x + c with a number c; operator+ puts the number last.
bool is_shifted(const Expr& a) { return is(a, Op::kAdd) && child(a, 1).is_number(); }

Graph* graph_of(const Expr& a) { return a.node() == nullptr ? nullptr : a.node()->graph; }

const Node* as_node(Graph& graph, const Expr& a) {
  if (a.node() == nullptr) return graph.constant(a.number()).node();
  if (a.node()->graph != &graph) {
    throw Error("expressions of two graphs cannot be combined: build both from one model");
  }
  return a.node();
}

// The unsimplified node, or the bare number if no argument is in a graph.
Expr make(Op op, std::initializer_list<Expr> arguments) {
  Graph* graph = nullptr;
  for (const Expr& a : arguments) {
    if (graph == nullptr) graph = graph_of(a);
  }
  double numbers[3] = {0.0, 0.0, 0.0};
  const Node* nodes[3] = {nullptr, nullptr, nullptr};
  std::size_t count = 0;
  bool constant = true;
  for (const Expr& a : arguments) {
    constant = constant && a.is_number();
    if (a.is_number()) numbers[count] = a.number();
    if (graph != nullptr) nodes[count] = as_node(*graph, a);
    ++count;
  }
  if (constant) {
    const double value = apply(op, numbers[0], numbers[1], numbers[2]);
    // 1/0 stays visible as "1/0" instead of turning into a number that hides where it came from.
    if (std::isfinite(value) || graph == nullptr) return Expr(value);
  }
  Node n;
  n.op = op;
  n.children = Children(std::span<const Node* const>(nodes, count));
  return Expr(graph->intern(n));
}

// c1*(c2*x) as (c1*c2)*x, unless the product of the numbers overflows or vanishes: what is not
// finite stays an expression of numbers, which the same rules would take apart again without end.
// The sums below look for the same.
bool can_join(const Expr& a, const Expr& b) { return std::isnormal(a.number() * b.number()); }

bool both_numbers(const Expr& a, const Expr& b) { return a.is_number() && b.is_number(); }

Expr unary(Op op, const Expr& a) { return make(op, {a}); }

}  // namespace

bool Expr::is_number() const { return node_ == nullptr || node_->op == Op::kConstant; }
double Expr::number() const { return node_ == nullptr ? number_ : node_->value; }
bool Expr::is_variable() const { return node_ != nullptr && node_->op == Op::kVariable; }
bool Expr::is_parameter() const { return node_ != nullptr && node_->op == Op::kParameter; }
bool Expr::is_slot() const { return node_ != nullptr && node_->op == Op::kSlot; }

bool Expr::same_as(const Expr& other) const {
  if (is_number() && other.is_number()) return number() == other.number();
  return node_ == other.node_;
}

Expr& Expr::operator+=(const Expr& b) { return *this = *this + b; }
Expr& Expr::operator-=(const Expr& b) { return *this = *this - b; }
Expr& Expr::operator*=(const Expr& b) { return *this = *this * b; }
Expr& Expr::operator/=(const Expr& b) { return *this = *this / b; }

Expr operator+(const Expr& a, const Expr& b) {
  if (both_numbers(a, b)) return make(Op::kAdd, {a, b});
  if (a.is_number()) return b + a;
  if (is_value(b, 0.0)) return a;
  if (b.is_number()) {
    if (is_shifted(a) && std::isfinite(child(a, 1).number() + b.number()))
      return child(a, 0) + Expr(child(a, 1).number() + b.number());
    if (is(a, Op::kSubtract) && child(a, 0).is_number() &&
        std::isfinite(child(a, 0).number() + b.number()))
      return Expr(child(a, 0).number() + b.number()) - child(a, 1);
    if (is(a, Op::kNegate)) return b - child(a, 0);
    return make(Op::kAdd, {a, b});
  }
  if (a.same_as(b)) return 2.0 * a;
  if (is(b, Op::kNegate)) return a - child(b, 0);
  if (is(a, Op::kNegate)) return b - child(a, 0);
  if (is_scaled(b) && child(b, 0).number() < 0.0) return a - (-child(b, 0)) * child(b, 1);
  return make(Op::kAdd, {a, b});
}

Expr operator-(const Expr& a, const Expr& b) {
  if (both_numbers(a, b)) return make(Op::kSubtract, {a, b});
  if (b.is_number()) return a + Expr(-b.number());
  if (is_value(a, 0.0)) return -b;
  if (a.same_as(b)) return Expr(0.0);
  if (is(b, Op::kNegate)) return a + child(b, 0);
  if (a.is_number()) {
    if (is_shifted(b) && std::isfinite(a.number() - child(b, 1).number()))
      return Expr(a.number() - child(b, 1).number()) - child(b, 0);
    if (is(b, Op::kSubtract) && child(b, 0).is_number() &&
        std::isfinite(a.number() - child(b, 0).number()))
      return child(b, 1) + Expr(a.number() - child(b, 0).number());
  }
  if (is_scaled(b) && child(b, 0).number() < 0.0) return a + (-child(b, 0)) * child(b, 1);
  return make(Op::kSubtract, {a, b});
}

Expr operator*(const Expr& a, const Expr& b) {
  if (both_numbers(a, b)) return make(Op::kMultiply, {a, b});
  if (b.is_number()) return b * a;
  if (is_value(a, 0.0)) return Expr(0.0);
  if (is_value(a, 1.0)) return b;
  if (is_value(a, -1.0)) return -b;
  if (a.is_number()) {
    if (is(b, Op::kNegate)) return Expr(-a.number()) * child(b, 0);
    if (is_scaled(b) && can_join(a, child(b, 0)))
      return Expr(a.number() * child(b, 0).number()) * child(b, 1);
    return make(Op::kMultiply, {a, b});
  }
  if (is(a, Op::kNegate)) return -(child(a, 0) * b);
  if (is(b, Op::kNegate)) return -(a * child(b, 0));
  if (is_scaled(a)) return child(a, 0) * (child(a, 1) * b);
  if (is_scaled(b)) return child(b, 0) * (a * child(b, 1));
  return make(Op::kMultiply, {a, b});
}

Expr operator/(const Expr& a, const Expr& b) {
  if (both_numbers(a, b)) return make(Op::kDivide, {a, b});
  if (is_value(b, 1.0)) return a;
  if (is_value(b, -1.0)) return -a;
  if (is_value(a, 0.0)) return Expr(0.0);
  if (is(a, Op::kNegate)) return -(child(a, 0) / b);
  if (is(b, Op::kNegate)) return -(a / child(b, 0));
  return make(Op::kDivide, {a, b});
}

Expr operator-(const Expr& a) {
  if (a.is_number()) return Expr(-a.number());
  if (is(a, Op::kNegate)) return child(a, 0);
  if (is(a, Op::kSubtract)) return child(a, 1) - child(a, 0);
  if (is_scaled(a)) return Expr(-child(a, 0).number()) * child(a, 1);
  return unary(Op::kNegate, a);
}

Expr pow(const Expr& a, const Expr& b) {
  if (b.is_number()) {
    if (b.number() == 0.0) return Expr(1.0);
    if (b.number() == 1.0) return a;
    if (b.number() == 2.0) return a * a;
    if (b.number() == 0.5) return sqrt(a);
    if (b.number() == -1.0) return 1.0 / a;
  }
  if (is_value(a, 1.0)) return Expr(1.0);
  return make(Op::kPow, {a, b});
}

Expr sqrt(const Expr& a) { return unary(Op::kSqrt, a); }
Expr exp(const Expr& a) { return unary(Op::kExp, a); }
Expr log(const Expr& a) { return unary(Op::kLog, a); }
Expr log10(const Expr& a) { return unary(Op::kLog10, a); }
Expr sin(const Expr& a) { return unary(Op::kSin, a); }
Expr cos(const Expr& a) { return unary(Op::kCos, is(a, Op::kNegate) ? child(a, 0) : a); }
Expr tan(const Expr& a) { return unary(Op::kTan, a); }
Expr asin(const Expr& a) { return unary(Op::kAsin, a); }
Expr acos(const Expr& a) { return unary(Op::kAcos, a); }
Expr atan(const Expr& a) { return unary(Op::kAtan, a); }
Expr atan2(const Expr& y, const Expr& x) { return make(Op::kAtan2, {y, x}); }
Expr sinh(const Expr& a) { return unary(Op::kSinh, a); }
Expr cosh(const Expr& a) { return unary(Op::kCosh, is(a, Op::kNegate) ? child(a, 0) : a); }
Expr tanh(const Expr& a) { return unary(Op::kTanh, a); }

Expr abs(const Expr& a) {
  if (is(a, Op::kAbs)) return a;
  if (is(a, Op::kNegate)) return abs(child(a, 0));
  return unary(Op::kAbs, a);
}

Expr sign(const Expr& a) { return is(a, Op::kSign) ? a : unary(Op::kSign, a); }
Expr floor(const Expr& a) { return unary(Op::kFloor, a); }
Expr ceil(const Expr& a) { return unary(Op::kCeil, a); }
Expr trunc(const Expr& a) { return unary(Op::kTrunc, a); }
Expr min(const Expr& a, const Expr& b) { return a.same_as(b) ? a : make(Op::kMin, {a, b}); }
Expr max(const Expr& a, const Expr& b) { return a.same_as(b) ? a : make(Op::kMax, {a, b}); }
Expr mod(const Expr& a, const Expr& b) { return a - floor(a / b) * b; }
Expr rem(const Expr& a, const Expr& b) { return a - trunc(a / b) * b; }

Expr operator<(const Expr& a, const Expr& b) {
  return a.same_as(b) ? Expr(0.0) : make(Op::kLess, {a, b});
}
Expr operator<=(const Expr& a, const Expr& b) {
  return a.same_as(b) ? Expr(1.0) : make(Op::kLessEqual, {a, b});
}
Expr operator>(const Expr& a, const Expr& b) { return b < a; }
Expr operator>=(const Expr& a, const Expr& b) { return b <= a; }
Expr equal(const Expr& a, const Expr& b) {
  return a.same_as(b) ? Expr(1.0) : make(Op::kEqual, {a, b});
}

Expr operator!(const Expr& a) {
  if (is(a, Op::kNot) && is_boolean(child(a, 0).node()->op)) return child(a, 0);
  return unary(Op::kNot, a);
}

Expr operator&&(const Expr& a, const Expr& b) {
  if (both_numbers(a, b)) return make(Op::kAnd, {a, b});
  if (a.is_number()) return a.number() != 0.0 ? b : Expr(0.0);
  if (b.is_number()) return b.number() != 0.0 ? a : Expr(0.0);
  return a.same_as(b) ? a : make(Op::kAnd, {a, b});
}

Expr operator||(const Expr& a, const Expr& b) {
  if (both_numbers(a, b)) return make(Op::kOr, {a, b});
  if (a.is_number()) return a.number() != 0.0 ? Expr(1.0) : b;
  if (b.is_number()) return b.number() != 0.0 ? Expr(1.0) : a;
  return a.same_as(b) ? a : make(Op::kOr, {a, b});
}

Expr select(const Expr& condition, const Expr& a, const Expr& b) {
  if (condition.is_number()) return condition.number() != 0.0 ? a : b;
  if (a.same_as(b)) return a;
  if (is(condition, Op::kNot)) return select(child(condition, 0), b, a);
  return make(Op::kSelect, {condition, a, b});
}

Equality operator==(const Expr& a, const Expr& b) { return {a, b}; }

}  // namespace saltus
