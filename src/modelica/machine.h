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
    bool reset = true;
    long priority = 1;
    Place place;
  };

  Instance* owner = nullptr;
  Scope scope;
  std::vector<Instance*> states;
  std::vector<Transition> transitions;
  Place place;
  Expr active;
  Expr next;
  Expr fired;
  Expr entered_at;  // time of the last entry
  std::vector<Expr> flags;
  std::size_t model_reinits = 0;  // written in the model, not made for machines
};

}  // namespace saltus
