#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "expr/lane_tape.h"
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
  // Unknowns the error control looks at; empty: all. Multipliers and other unknowns that depend on
  // derivatives of the solution are of lower accuracy by nature and must not rule the step.
  std::vector<bool> controlled;
  // How many differentiations an unknown is away from what the equations fix directly, for forms of
  // index 2 and 3: 1 or 2 for multipliers, 1 for velocities under position constraints. Newton and
  // error control weigh such unknowns by the step size to that power. Empty: 0 for all.
  std::vector<int> levels;

  // Equations may depend on each other or leave unknowns free: Newton takes least-squares steps of
  // least norm.
  bool redundant = false;
  // With redundant equations: those to be satisfied before others where they contradict each other
  // by the error of a step. Empty: all alike.
  std::vector<bool> exact;

  // The input groups of every tape that is evaluated along a solution: time, x, x', parameters,
  // held.
  std::vector<std::vector<Expr>> inputs() const;
};

// The numbers a Dae is evaluated with, and the memory it is evaluated in. One a thread.
struct DaeData {
  std::vector<double> parameters;
  std::vector<double> held;
  Tape::Workspace residual_registers;
  Tape::Workspace jacobian_registers;
  std::vector<double> all_residuals;  // before rows are selected
  std::vector<double> all_values;
  LaneTape::Workspace lane_registers;      // empty until Dae::prepare_lanes
  std::vector<double> all_lane_residuals;  // as all_residuals, and empty until then
};

// F(t, x, x') = 0 compiled for numbers: residual and sparse Jacobian. Immutable and cheap to copy;
// evaluation goes through a DaeData and does not allocate.
class Dae {
 public:
  // Throws Error naming the symbol if an equation depends on something that is not listed.
  explicit Dae(DaeDefinition definition);

  // The same compiled equations with only the listed ones in force. Shares tapes and DaeData.
  Dae with_equations(std::vector<std::size_t> equations) const;

  std::size_t equation_count() const { return equations_.size(); }
  std::size_t unknown_count() const { return definition().unknowns.size(); }
  const DaeDefinition& definition() const { return compiled_->definition; }
  const std::string& equation_name(std::size_t i) const {
    return definition().equation_names[equations_[i]];
  }
  const Expr& formula(std::size_t i) const { return definition().residuals[equations_[i]]; }
  // Union of the structures of dF/dx and dF/dx'.
  const Pattern& pattern() const { return pattern_; }
  // Whether x'[i] occurs in any equation in force.
  bool is_differential(std::size_t unknown) const { return differential_[unknown]; }
  // Whether dF/dx' may be other than zero at the k-th place of the pattern.
  bool has_derivative(int nonzero) const {
    return compiled_->in_derivative[places_[static_cast<std::size_t>(nonzero)]];
  }
  // All Jacobian entries are independent of t, x and x'.
  bool has_constant_jacobian() const { return compiled_->constant_jacobian; }

  DaeData make_data() const;

  void residual(DaeData& data, double t, const double* x, const double* dx, double* out) const;

  // To be called before residual_lanes, once for every DaeData: makes room there. The formulas are
  // compiled for lanes when the first one asks, for all copies and selections of this Dae.
  void prepare_lanes(DaeData& data) const;
  // The residuals at kLanes points at once: of t, x, x' and out every number is given kLanes times,
  // as out[kLanes * i + lane]; parameters and held values are the same for all.
  void residual_lanes(DaeData& data, const double* t, const double* x, const double* dx,
                      double* out) const;

  // values[k] = dF/dx and values[nonzeros + k] = dF/dx' at the k-th place of the pattern.
  void jacobian(DaeData& data, double t, const double* x, const double* dx, double* values) const;

 private:
  struct Compiled {
    DaeDefinition definition;
    Pattern pattern;                  // of all equations
    std::vector<bool> in_derivative;  // by nonzero: dF/dx' is not the constant zero there
    bool constant_jacobian = false;
    Tape residual;
    Tape jacobian;
    // The residuals for lanes; null until somebody asks.
    mutable std::once_flag lanes_compiled;
    mutable std::unique_ptr<const LaneTape> residual_lanes;
  };

  Dae() = default;
  void select(std::vector<std::size_t> equations);

  std::shared_ptr<const Compiled> compiled_;
  std::vector<std::size_t> equations_;  // in force, increasing
  bool all_ = true;
  Pattern pattern_;
  std::vector<std::size_t> places_;  // of the nonzeros in force among all
  std::vector<bool> differential_;
};

}  // namespace saltus
