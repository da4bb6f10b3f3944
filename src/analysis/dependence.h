#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "model/dae.h"

namespace saltus {

// Equations whose highest derivatives cancel in a combination, which structure does not see:
// y + z = x1 beside 2*y + 2*z = x2 hides 2*x1 = x2. For modes too large for dense ranks: the matrix
// of highest derivatives (Pryce) is sparse, and where it is singular at every point, one equation
// of the dependent ones is replaced by the combination (Tan, Nedialkov & Pryce: conversion by
// linear combinations) until structure is right.
struct ResolvedDependence {
  // Equivalent to the mode, as many equations; `structure alone` is right for it if `determined`.
  DaeDefinition definition;
  // Equations of the mode that say the same: each list one redundant equation.
  std::vector<std::vector<std::size_t>> redundant;
  std::vector<std::size_t> contradictory;  // equations of the mode
  // What redundant equations leave open. If only the split of forces among multipliers is, an
  // equation for the smallest ones stands in the place of each redundant one.
  std::vector<std::size_t> free_unknowns;
  bool determined = true;
  std::vector<std::size_t> closed;  // equations of the definition that choose a split
  // Of slots alone: redundant equations agree where these are zero.
  std::vector<Expr> conditions;
};

// What may be taken for redundant.
enum class SplitScope {
  kConstant,  // what leaves the same split open at every point, whatever slots are
  kAny        // also what varies with time, or agrees for some values of slots only
};

// Nothing if structure is right already, or if the dependence changes from point to point. It is
// looked for at times of about `time`. `read`, if given: indices of the parameters whose values
// have been read.
std::optional<ResolvedDependence> resolve_dependence(const DaeDefinition& mode,
                                                     const std::vector<VariableId>& unknowns,
                                                     const std::vector<double>& parameters,
                                                     SplitScope scope = SplitScope::kConstant,
                                                     double time = 1.0,
                                                     std::set<std::size_t>* read = nullptr);

}  // namespace saltus
