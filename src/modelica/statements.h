#pragma once

#include <string>
#include <utility>
#include <vector>

#include "modelica/flattener.h"

namespace saltus {

// What an algorithm works on.
struct Flattener::Frame {
  using Snapshot = struct {
    std::vector<NamedValue> values;
    std::vector<bool> taken;
    std::vector<Expr> conditions;
  };

  Locals locals;
  Scope scope;
  const std::vector<bool>* prefix = nullptr;  // decisions to repeat; null: a model's algorithm
  std::vector<bool> taken;                    // decisions made
  std::vector<Expr> conditions;               // what they were about
  Expr active = 1.0;                          // what must hold for the statement to run
  Expr broken = 0.0;              // of a model's algorithm: where the loop around has been left
  const Frame* caller = nullptr;  // null: called by an equation or a declaration
  // Of functions: where an assertion fails on the way taken, and what the first of them says.
  Expr failed = 0.0;
  std::string failure;

  // Whether the statement at hand is run whatever the arguments and variables are.
  bool is_certain() const {
    return taken.empty() && active.is_number() && (caller == nullptr || caller->is_certain());
  }

  // Whether a choice has been made on the way to the statement at hand.
  bool is_on_a_way() const {
    return !taken.empty() || (caller != nullptr && caller->is_on_a_way());
  }

  // What must hold for the statement at hand to be run.
  Expr reached() const {
    Expr all = caller == nullptr ? active : active && caller->reached();
    for (std::size_t k = 0; k < taken.size(); ++k)
      all = all && (taken[k] ? conditions[k] : !conditions[k]);
    return all;
  }

  Snapshot snapshot() const { return {locals.values, taken, conditions}; }
  void restore(Snapshot s) {
    locals.values = std::move(s.values);
    taken = std::move(s.taken);
    conditions = std::move(s.conditions);
  }
};

// A function whose loops or branches depend too much on arguments that vary to be written as an
// expression.
struct TooManyWays : Error {
  TooManyWays(const ClassDefinition& function, const Place& place);
};

// a where the condition holds, b elsewhere; what lacks a value gets that of the other.
Expr join_numbers(const Expr& condition, const Expr& a, const Expr& b);

// What is computed after an assertion has failed, or from an element that an array does not have,
// is no number: the Reals of the value where the condition holds.
void spoil(const Expr& where, Value& value);

}  // namespace saltus
