#pragma once

#include <unordered_map>
#include <vector>

#include "expr/graph.h"
#include "model/flat_model.h"

namespace saltus {

// Boolean expressions (conditions, slots) that have a known value.
using Frozen = std::unordered_map<const Node*, bool>;

// `a` with every frozen expression replaced by its value, simplified.
Expr freeze(const Expr& a, const Frozen& frozen);

// The equations that hold while the frozen conditions have their values. If-equations that are not
// decided become equations with select(), the k-th of one branch against the k-th of the other.
struct ActiveEquations {
  std::vector<Equation> equations;
  // Conditions that must be frozen first because branches differ in number of equations. While
  // there are any, `equations` is not complete.
  std::vector<Expr> undecided;
};
ActiveEquations active_equations(const std::vector<EquationItem>& items, const Frozen& frozen);

// The distinct conditions of select() in these equations that depend on slots and parameters only,
// so that they keep their value between events; by equation and all together.
struct SelectConditions {
  std::vector<Expr> conditions;
  std::vector<std::vector<std::size_t>> equations_with;  // by condition
};
SelectConditions select_conditions(const std::vector<Equation>& equations);

}  // namespace saltus
