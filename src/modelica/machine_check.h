#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/flat_model.h"

namespace saltus {

// A transition of a machine, as far as it can be looked at before a run.
struct CheckedTransition {
  std::size_t from = 0;
  std::size_t to = 0;
  Expr condition;    // of slots
  std::string text;  // "transition(a, b, x > 1)"
  SourceLocation where;
  Expr active;  // true while the target is: the condition of its equations
  // What the state entered begins with: symbol, value.
  std::vector<std::pair<Expr, Expr>> handed_over;
};

// Warnings about transitions whose target is left at once whenever they are taken, and about
// circles of them (MO's model verification). Only what is certain is told: conditions are compared
// as formulas of relations that differ by constants. Variables in `unknown` have no known value on
// entry.
std::vector<std::string> check_transitions(const FlatModel& flat,
                                           const std::vector<CheckedTransition>& transitions,
                                           const std::vector<Expr>& unknown);

// Warnings about transitions whose target has no consistent point, whatever the values: by interval
// arithmetic its equations contradict each other.
std::vector<std::string> check_targets(const FlatModel& flat,
                                       const std::vector<CheckedTransition>& transitions);

}  // namespace saltus
