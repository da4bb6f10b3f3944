#pragma once

#include <span>
#include <vector>

#include "expr/expr.h"

namespace saltus {

// Partial derivative with respect to one leaf (variable of some order, parameter, slot or time).
Expr partial(const Expr& a, const Expr& leaf);

// One entry of a sparse Jacobian: d(expressions[row]) / d(leaves[column]), never the constant zero.
struct JacobianEntry {
  std::size_t row = 0;
  std::size_t column = 0;
  Expr value;
};

// All structurally nonzero partial derivatives, ordered by column, then row. Leaves not listed are
// held fixed. Cost is proportional to the size of the expressions, not to rows x columns.
std::vector<JacobianEntry> jacobian(std::span<const Expr> expressions,
                                    std::span<const Expr> leaves);

// The distinct leaves (variables of any order, parameters, slots, time) an expression depends on,
// in order of creation.
std::vector<Expr> leaves_of(const Expr& a);
std::vector<Expr> leaves_of(std::span<const Expr> expressions);

// Whether `a` depends on any variable (of any order) or on time: if not, it is constant in a mode
// as long as parameters and slots are.
bool is_constant_in_mode(const Expr& a);

// Degree of `a` as a polynomial in the given leaves: 0 if it does not depend on them, -1 if it is
// not polynomial. Degree 1 says "enters linearly".
int polynomial_degree(const Expr& a, std::span<const Expr> leaves);

// `a` with every leaf from[i] replaced by to[i]. A derivative der(x) is a leaf of its own; to
// replace a variable together with its derivatives list them all.
Expr substitute(const Expr& a, std::span<const Expr> from, std::span<const Expr> to);

}  // namespace saltus
