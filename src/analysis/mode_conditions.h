#pragma once

#include <cstddef>
#include <vector>

#include "analysis/structure.h"
#include "model/system.h"

// Which conditions of equations with select() change their structure when they are frozen.

namespace saltus {

// Columns of the variables that occur, and rows in terms of them.
class Columns {
 public:
  Columns(const HybridSystem& system, const std::vector<Equation>& equations);
  std::vector<SignatureEntry> row(const Expr& residual) const;
  const Signature& signature() const { return signature_; }

 private:
  std::vector<std::size_t> column_;  // by variable
  std::size_t count_ = 0;
  Signature signature_;
};

// Conditions of select() whose freezing changes the unknowns or the offsets of these equations.
std::vector<Expr> structural_conditions(const HybridSystem& system,
                                        const std::vector<Equation>& equations);

// Conditions none of which is structural alone, with values: indices of a smallest set that changes
// the offsets when frozen together (two diodes that both block an inductance); empty if there is
// none, or if the equations that are left are not solvable as far as structure tells.
std::vector<std::size_t> structural_together(const HybridSystem& system,
                                             const std::vector<Equation>& equations,
                                             const std::vector<Expr>& conditions,
                                             const std::vector<double>& values);

}  // namespace saltus
