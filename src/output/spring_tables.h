#pragma once

#include <string>

#include "realtime/spring_comparison.h"

namespace saltus {

// The comparison of discretizations of a spring as RE's Tables 7 and 8 and Figures 31 to 39 have
// it: a table for reading, the points of every run, and a complete SVG file with deflection,
// phase plane and energy, one column a step.
std::string springs_text(const SpringComparison& comparison);
std::string springs_csv(const SpringComparison& comparison);
std::string springs_svg(const SpringComparison& comparison);

}  // namespace saltus
