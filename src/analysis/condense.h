#pragma once

#include <optional>
#include <vector>

#include "base/id.h"
#include "model/dae.h"

namespace saltus {

// A mode without the names that components give to what others have already: the angle, speed and
// acceleration between two flanges, a = der(w) in J a = tau, tau = c phi_rel. Written like this it
// is what HM start from, p' = Z v, M v' = f - G^T lambda, g(p) = 0: positions that carry inertia,
// their velocities, the multipliers and the constraints are never taken away.
struct CondensedMode {
  DaeDefinition definition;
  std::vector<VariableId> unknowns;
  // Symbols of the mode that are gone, with their derivatives, and what stands for them.
  std::vector<Expr> replaced, replacements;
};

// Nothing if the mode has no such names.
std::optional<CondensedMode> condense(const DaeDefinition& mode,
                                      const std::vector<VariableId>& unknowns);

}  // namespace saltus
