#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "model/flat_model.h"

namespace saltus {

// What stands for the variables that unconditional equations x = y, x = -y, x = constant or
// parameter make superfluous.
struct Aliases {
  // By variable: itself, plus or minus another variable, or an expression of parameters.
  std::vector<Expr> value;
  std::vector<bool> removed;  // by item of FlatModel::equations

  // An expression with all of them replaced, derivatives included.
  Expr rewrite(const Expr& a) const;
};

// Equations that are set apart are not used.
Aliases find_aliases(const FlatModel& model, const std::vector<bool>& apart = {});

// Marks the variables under der() in any branch, by index.
void mark_differentiated(const std::vector<EquationItem>& items, std::vector<bool>& found);

}  // namespace saltus
