#pragma once

#include <vector>

#include "modelica/flattener.h"

namespace saltus {

// One machine of a class instance.
struct Flattener::Machine {
  struct Transition {
    std::size_t from = 0;
    std::size_t to = 0;
    const Expression* condition = nullptr;
    Scope scope;
    bool immediate = true;
    bool reset = true;
    bool synchronize = false;
    long priority = 1;
    Place place;
    Expr holds;    // the condition
    Expr delayed;  // immediate = false: the condition, whose pre() counts; else the number 0
  };

  Instance* owner = nullptr;
  std::vector<Instance*> states;
  std::vector<Transition> transitions;
  Place place;
  Expr active;
  Expr next;
  Expr fired;
  Expr tie;
  Expr resets = 1.0;    // the transition that is taken has reset = true
  Expr entered_at;      // time of the last entry
  Expr in_force_until;  // of a machine inside a state: time of the last event in that state
  std::vector<Expr> flags;
};

}  // namespace saltus
