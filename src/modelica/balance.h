#pragma once

#include <vector>

#include "base/error.h"
#include "model/flat_model.h"

namespace saltus {

// Matches unknowns with equations, whatever the conditions are. Throws Error where there are fewer
// equations than unknowns in them, at the declaration (`places`, by VariableId) of one that has
// none. More equations than unknowns may be redundant, which is for the analysis to say: here they
// are a warning of the model.
void check_balance(FlatModel& flat, const std::vector<SourceLocation>& places,
                   const SourceLocation& model);

// Warns of reinit() for what is no state, nor equal to one.
void check_reinits(FlatModel& flat);

}  // namespace saltus
