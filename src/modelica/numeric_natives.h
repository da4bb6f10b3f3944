#pragma once

#include <optional>
#include <string>
#include <vector>

#include "modelica/place.h"
#include "modelica/value.h"

namespace saltus {

// The results of the routines of LAPACK and of the Fourier transform that the standard library
// calls as external functions, by the name of the routine; none: it is another function. Solutions
// of linear systems and transforms may have arguments that vary, and have exact derivatives; the
// others need numbers and throw Error otherwise. A singular matrix with numbers is told by `info`,
// one that varies gives values that are no numbers.
std::optional<std::vector<Value>> call_numeric(const std::string& routine,
                                               const std::string& function,
                                               const std::vector<NamedValue>& arguments,
                                               const Place& place);

}  // namespace saltus
