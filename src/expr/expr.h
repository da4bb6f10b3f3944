#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "base/id.h"

namespace saltus {

class Graph;
struct Node;

// A scalar expression: a node of a Graph, or a bare number that joins a graph when it is combined
// with a node. Expr is a small value; copying it copies a pointer. Nodes are immutable and unique
// (hash-consed): within one graph, equal structure means equal pointer. An Expr must not outlive
// its Graph, and nodes of two graphs must not be combined (throws Error).
//
// Expressions are simplified as they are built: constants fold, x + 0, 1 * x, x - x, --x ...
// Booleans are the numbers 0 and 1.
class Expr {
 public:
  Expr() = default;                         // the number 0
  Expr(double number) : number_(number) {}  // NOLINT(google-explicit-constructor)
  Expr(int number) : number_(number) {}     // NOLINT(google-explicit-constructor)
  explicit Expr(const Node* node) : node_(node) {}

  // Null for a bare number.
  const Node* node() const { return node_; }

  // A bare number or a constant node.
  bool is_number() const;
  // Pre: is_number().
  double number() const;
  bool is_variable() const;  // a variable or one of its derivatives
  bool is_parameter() const;
  bool is_slot() const;

  // The same expression (not "equal values").
  bool same_as(const Expr& other) const;

  Expr& operator+=(const Expr& b);
  Expr& operator-=(const Expr& b);
  Expr& operator*=(const Expr& b);
  Expr& operator/=(const Expr& b);

 private:
  const Node* node_ = nullptr;
  double number_ = 0.0;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);

Expr pow(const Expr& a, const Expr& b);
Expr sqrt(const Expr& a);
Expr exp(const Expr& a);
Expr log(const Expr& a);
Expr log10(const Expr& a);
Expr sin(const Expr& a);
Expr cos(const Expr& a);
Expr tan(const Expr& a);
Expr asin(const Expr& a);
Expr acos(const Expr& a);
Expr atan(const Expr& a);
Expr atan2(const Expr& y, const Expr& x);
Expr sinh(const Expr& a);
Expr cosh(const Expr& a);
Expr tanh(const Expr& a);
Expr abs(const Expr& a);
Expr sign(const Expr& a);  // -1, 0 or 1
Expr floor(const Expr& a);
Expr ceil(const Expr& a);
Expr trunc(const Expr& a);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr mod(const Expr& a, const Expr& b);  // a - floor(a / b) * b
Expr rem(const Expr& a, const Expr& b);  // a - trunc(a / b) * b

// Relations and logic; the results are 0 or 1. `==` writes an equation, so the relation is equal().
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr equal(const Expr& a, const Expr& b);
Expr operator!(const Expr& a);
Expr operator&&(const Expr& a, const Expr& b);
Expr operator||(const Expr& a, const Expr& b);

// `if condition then a else b`. The condition is frozen: it is piecewise constant, so derivatives
// pass through the branches only. Both branches are evaluated.
Expr select(const Expr& condition, const Expr& a, const Expr& b);

// Total time derivative: der(x) of a variable is the next derivative symbol, of a general
// expression the chain rule; parameters and slots do not change, d(time)/dt = 1. Applied `times`.
Expr der(const Expr& a, int times = 1);

// lhs == rhs as an equation. Its residual is lhs - rhs.
struct Equality {
  Expr lhs;
  Expr rhs;
  Expr residual() const { return lhs - rhs; }
};
Equality operator==(const Expr& a, const Expr& b);

// Readable maths: "m*der(v) + 2*x*lambda". Derivatives print as der(x), der(x, 2).
std::string to_string(const Expr& a);
std::string to_string(const Equality& a);
std::ostream& operator<<(std::ostream& out, const Expr& a);

}  // namespace saltus
