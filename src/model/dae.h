#pragma once

#include <string>
#include <vector>

#include "expr/expr.h"
#include "expr/tape.h"
#include "linalg/pattern.h"

namespace saltus {

// F(t, x, x') = 0 as formulas: what a Dae is compiled from.
struct DaeDefinition {
  std::vector<Expr> residuals;
  std::vector<std::string> equation_names;
  std::vector<Expr> unknowns;     // the symbols that make up x
  std::vector<Expr> derivatives;  // the symbols that make up x', one an unknown
  std::vector<std::string> unknown_names;
  std::vector<double> nominal;  // typical magnitudes of x, > 0
  Expr time;
  std::vector<Expr> parameters;  // constant while the Dae is integrated
  std::vector<Expr> held;        // slots and variables of other modes: frozen between events
};

// The numbers a Dae is evaluated with, and the memory it is evaluated in. One a thread.
struct DaeData {
  std::vector<double> parameters;
  std::vector<double> held;
  Tape::Workspace residual_registers;
  Tape::Workspace jacobian_registers;
  std::size_t residual_count = 0;
  std::size_t jacobian_count = 0;
};

// F(t, x, x') = 0 compiled for numbers: residual and sparse Jacobian. Immutable; all evaluation
// goes through a DaeData and does not allocate.
class Dae {
 public:
  // Throws Error naming the symbol if an equation depends on something that is not listed.
  explicit Dae(DaeDefinition definition);

  std::size_t equation_count() const { return definition_.residuals.size(); }
  std::size_t unknown_count() const { return definition_.unknowns.size(); }
  const DaeDefinition& definition() const { return definition_; }
  // Union of the structures of dF/dx and dF/dx'.
  const Pattern& pattern() const { return pattern_; }
  // Whether x'[i] occurs in any equation.
  bool is_differential(std::size_t unknown) const { return differential_[unknown]; }
  // All Jacobian entries are independent of t, x and x'.
  bool has_constant_jacobian() const { return constant_jacobian_; }

  DaeData make_data() const;

  void residual(DaeData& data, double t, const double* x, const double* dx, double* out) const;

  // values[k] = dF/dx and values[nonzeros + k] = dF/dx' at the k-th place of the pattern.
  void jacobian(DaeData& data, double t, const double* x, const double* dx, double* values) const;

 private:
  DaeDefinition definition_;
  Pattern pattern_;
  std::vector<bool> differential_;
  bool constant_jacobian_ = false;
  Tape residual_;
  Tape jacobian_;
};

}  // namespace saltus
