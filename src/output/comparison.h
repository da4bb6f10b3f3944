#pragma once

#include <string>

#include "simulate/compare.h"

namespace saltus {

// The table of a comparison: aligned for reading, residuals in the units of the constraints, those
// at switches in brackets where they are more than ten times those of the steps, as in HM Table 2.
std::string comparison_text(const Comparison& comparison);

// One line a run with every number; what does not apply is empty.
std::string comparison_csv(const Comparison& comparison);

// Work-precision diagram: processor time against the error of the final values, both logarithmic,
// one line a method and formulation. A complete SVG file.
std::string comparison_svg(const Comparison& comparison);

}  // namespace saltus
