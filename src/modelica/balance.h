#pragma once

#include "base/error.h"
#include "model/flat_model.h"

namespace saltus {

// Throws Error where there are fewer equations than unknowns in them, whatever the conditions are:
// names the unknowns that cannot all be determined. More equations than unknowns may be redundant;
// that is for the analysis to say.
void check_balance(const FlatModel& flat, const SourceLocation& where);

}  // namespace saltus
