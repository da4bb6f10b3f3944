#pragma once

#include "model/flat_model.h"

namespace saltus {

// Initial equations, relations and what else only reads may name der(x) of an x that no equation
// differentiates. Such a derivative gets an unknown of its own and the equation that it is der(x),
// so that the analysis differentiates what determines x.
void name_derivatives(FlatModel& model);

}  // namespace saltus
