#pragma once

#include <span>
#include <vector>

#include "expr/expr.h"

namespace saltus {

// A time at which something has a kink: the value is continuous there, or jumps.
struct BreakTime {
  double time;
  bool is_jump;
  bool operator==(const BreakTime&) const = default;
};

// The times, increasing, at which the expressions have a kink by time alone: where two arguments of
// min, max or a relation meet, an argument of abs or sign vanishes, or a knot of a table is passed,
// provided they are piecewise linear functions of time. An integrator that steps over such a time
// sees the kink in none of its derivatives and may not notice it. `parameters`: values by id.
// A relation and a sign jump, whatever is made of them.
std::vector<BreakTime> break_times(std::span<const Expr> values,
                                   std::span<const double> parameters);

}  // namespace saltus
