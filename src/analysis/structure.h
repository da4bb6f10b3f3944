#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/id.h"
#include "expr/expr.h"

namespace saltus {

// Which unknowns an equation contains and their highest derivative in it (a row of the signature
// matrix of Pryce).
struct SignatureEntry {
  std::size_t unknown = 0;
  int order = 0;
};

struct Signature {
  std::size_t unknown_count = 0;
  std::vector<std::vector<SignatureEntry>> rows;  // by equation
};

// Signature of residuals in the given unknowns; other variables are taken as known.
Signature signature_of(std::span<const Expr> residuals, std::span<const VariableId> unknowns);

// How often each equation has to be differentiated so that the equations F_i^(c_i) determine the
// highest derivatives x_j^(d_j), as far as structure tells: the smallest offsets with
// d_j - c_i >= order of x_j in F_i, equality on a transversal (Pantelides, Pryce).
struct Offsets {
  // False if no transversal exists: some equations contain too few unknowns, or the other way
  // round.
  bool solvable = false;
  std::vector<int> c;                      // by equation
  std::vector<int> d;                      // by unknown
  std::vector<std::ptrdiff_t> unknown_of;  // matched unknown of each equation, -1: none
  // If not solvable: a smallest set of equations that contain fewer unknowns than equations, with
  // those unknowns, and the unknowns that no equation is left for.
  std::vector<std::size_t> excess_equations;
  std::vector<std::size_t> unknowns_of_excess;
  std::vector<std::size_t> free_unknowns;
  std::vector<std::size_t> rivals;  // unknowns that could be left over in their place
};

Offsets find_offsets(const Signature& signature);

}  // namespace saltus
