#pragma once

#include <vector>

#include "expr/differentiate.h"
#include "model/dae.h"

namespace saltus {

// What is left of the equations of a mode when they are integrated over an instant (impulse.h):
// coefficients of the jumps of what is under der() and of the impulses of everything else.
struct ImpulseTerms {
  // `under_der`: by unknown, whether its derivative occurs.
  ImpulseTerms(const DaeDefinition& written, const std::vector<bool>& under_der);

  // By row; columns: impulses of the unknowns, then jumps.
  std::vector<std::vector<JacobianEntry>> rows;
  // An equation that is not affine in what may be infinite (a power, a square) says nothing about
  // the jump if it only defines a result that nothing else reads.
  std::vector<bool> dropped;
  std::vector<bool> may_carry;  // by unknown: an impulse on it makes sense
};

}  // namespace saltus
