#pragma once

#include "model/flat_model.h"

namespace saltus {

// Writes y = f(x) as x = g(y), where the model says so (FlatModel::solved_equations), if y is
// known without this equation (from parameters, time and what is under der()) and x is not: x is
// then computed, not iterated for, and it is the solution the model means.
void use_solved_equations(FlatModel& model);

}  // namespace saltus
