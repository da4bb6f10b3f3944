#pragma once

#include "model/flat_model.h"

namespace saltus {

// y = semiLinear(x, a, b) says nothing about a and b where x is zero. Where several such equations
// for the same x and y follow one another, all but one say instead what their slopes are, and where
// x and y are always zero, the slopes are equal (rules 1 and 2 of the Modelica specification,
// section 3.7.2.5).
void choose_slopes(FlatModel& model);

}  // namespace saltus
