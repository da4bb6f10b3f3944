#pragma once

#include <cstddef>
#include <vector>

#include "analysis/carried_unknowns.h"
#include "expr/tape.h"
#include "model/dae.h"

namespace saltus {

enum class ImpulseStatus {
  kSolved,
  kNotConverged,
  kContradicted,  // no consistent point has the values that were set
  kRefused,       // `index`: an unknown of the mode that no finite impulse can make jump
};

struct ImpulseOutcome {
  ImpulseStatus status = ImpulseStatus::kSolved;
  std::size_t index = 0;
  bool ok() const { return status == ImpulseStatus::kSolved; }
};

// The impulse rule. The equations F(t, x, x') = 0 of a mode, integrated over an instant, say
//
//   (integral of F_x') dx + (integral of F_x) L = 0,   L in the kernel of F_x',
//
// where dx is the jump of the unknowns under der() and L the impulse of the others: forces that act
// for no time. All other terms are bounded and vanish. Together with the constraints of the mode,
// hidden ones included, this determines the state after the instant; in the linear case it is the
// projection onto the consistent space along the jump space (MO, pseudo Kronecker form). The
// coefficients are averaged over the straight line from x- to x+, so that charges C(u) u' are
// conserved too.
//
// Newton on a least-squares problem that has the constraints as side conditions. Unknowns that no
// equation connects are blocks, solved one by one with dense matrices; a block in which nothing is
// amiss stays as it is.
class ImpulseSolver {
 public:
  // `constraints`: the rows of the integrated form that hold at every point of the mode. `mode` and
  // `carried` must outlive the solver.
  ImpulseSolver(Graph& graph, const AnalysedMode& mode, const CarriedUnknowns& carried,
                const Dae& constraints);
  ~ImpulseSolver();
  ImpulseSolver(const ImpulseSolver&) = delete;
  ImpulseSolver& operator=(const ImpulseSolver&) = delete;

  // Unknowns of the integrated form in the largest block.
  std::size_t largest_block() const;

  // before: values of the mode's unknowns, with what a transition sets; those marked `set` keep
  // their values. In: y, dy near the solution; out: the point after the instant, unchanged on
  // failure. An unknown that may not jump is moved silently by up to `tolerance` of its size.
  ImpulseOutcome solve(DaeData& data, double t, const std::vector<double>& before,
                       const std::vector<bool>& set, double tolerance, double* y, double* dy);

  // Of the last solution, by unknown of the mode.
  const std::vector<double>& impulses() const { return impulses_; }
  // Of the last solution or refusal: x+ - x- of the unknowns under der(), 0 for the others.
  const std::vector<double>& jumps() const { return jumps_; }

 private:
  ImpulseOutcome attempt(DaeData& data, double t, const std::vector<double>& before,
                         const std::vector<bool>& set, double tolerance, double* y, double* dy);
  struct Block;
  struct System;  // of a block, as matrices

  void write_rows(Graph& graph);
  void find_blocks();
  void read_unknowns(double t, const DaeData& data);
  void evaluate_constraints(DaeData& data, double t);
  void evaluate_impulses(const DaeData& data, double t);
  bool is_met(const Block& block) const;
  void natural_impulses(const Block& block, System& system) const;
  void find_kernel(const Block& block, System& system) const;
  void fill_impulse_matrix(const Block& block, System& system);
  double newton_step();  // size of the step against the iterate
  void solve_block(const Block& block);
  bool take(double fraction, DaeData& data, double t);
  bool evaluate(DaeData& data, double t);
  std::size_t worst_row() const;
  std::size_t largest_jump_in(std::size_t row) const;
  double size(std::size_t unknown) const;

  // An entry of the derivatives of the impulse equations.
  enum class By { kValue, kJump, kImpulse };
  struct Place {
    std::size_t row = 0;
    std::size_t unknown = 0;  // of the mode
    By by = By::kValue;
  };

  const AnalysedMode& mode_;
  const CarriedUnknowns& carried_;
  Dae constraints_;
  std::size_t n_, ny_, m_;       // unknowns of the mode, of the integrated form; impulse equations
  std::vector<bool> may_carry_;  // by unknown: an impulse on it makes sense
  bool by_jumps_ = true;         // impulses are measured by jumps, else by nominal values
  bool varies_ = false;          // coefficients depend on what may jump
  Tape residual_tape_, jacobian_tape_;
  Tape::Workspace residual_registers_, jacobian_registers_, recovery_registers_;
  std::vector<Place> places_;
  std::vector<Block> blocks_;

  // The iterate, what follows from it, and the equations there. `amounts_` are the free impulses
  // that keep what is set.
  std::vector<double> y_, dy_, x_, slopes_, recovered_, before_, jumps_, impulses_, amounts_;
  std::vector<double> old_y_, old_dy_, old_impulses_, old_amounts_;
  std::vector<double> step_y_, step_dy_, step_impulses_, step_amounts_;
  std::vector<bool> is_set_;
  // Constraints: derivatives by y, then by y', in the order of their pattern. Impulse equations:
  // averaged, by place.
  std::vector<double> hard_values_, hard_residual_, hard_scale_;
  std::vector<double> soft_values_, soft_residual_, soft_scale_;
  std::vector<double> set_residual_, set_scale_;  // by unknown
};

}  // namespace saltus
