#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

#include "analysis/impulse_terms.h"
#include "expr/tape.h"
#include "model/system_state.h"
#include "realtime/mode_core.h"

namespace saltus {

// The impulse rule of a mode (analysis/impulse.h) as a linear map, near a point: how its states
// follow where values from before contradict its constraints. With T the derivatives of what is
// under der() by the states,
//
//   (F_x' T) dz + F_x L = F_x' (x- - x),   L: impulses of the other unknowns,
//
// whose matrix is decomposed once for all right-hand sides.
class ImpulseMap {
 public:
  // `differential`: the places of the states in the core. Throws Error if the core does not tell
  // the unknowns under der().
  ImpulseMap(const ModeCore& core, const std::vector<std::size_t>& differential);

  // The coefficients read nothing that changes within the mode: what is found holds everywhere.
  bool is_constant() const { return is_constant_; }
  // They read discrete values: what is found holds for those of the point.
  bool reads_slots() const { return reads_slots_; }

  struct Answer {
    bool is_determined = false;   // the rule says what becomes of every state
    Eigen::MatrixXd states;       // by column of what was asked
    std::vector<bool> responds;   // by column; else no finite impulse does that
    std::vector<bool> is_pushed;  // by unknown of the mode: an impulse acts on it
    std::vector<bool> is_moved;   // by unknown of the mode: it jumps
  };
  // before: x- - x of the unknowns of the mode, by column; those marked in `set` are kept. x', p
  // and all else at `point`, which must be one of the mode.
  Answer solve(double t, const SystemState& point, const std::vector<double>& parameters,
               const Eigen::MatrixXd& before, const std::vector<bool>& set);

 private:
  Eigen::MatrixXd tangent(double t, const SystemState& point,
                          const std::vector<double>& parameters);
  Eigen::MatrixXd algebraic_by_states(double t, const SystemState& point,
                                      const std::vector<double>& parameters);

  const ModeCore& core_;
  std::vector<std::size_t> states_;  // places in the core
  std::vector<std::size_t> moving_;  // unknowns under der()
  std::vector<std::size_t> pushed_;  // unknowns that carry impulses
  std::size_t rows_ = 0;
  bool is_constant_ = true;
  bool reads_slots_ = false;
  struct Place {
    std::size_t row = 0, column = 0;  // column: of moving_, then of pushed_
  };
  std::vector<Place> places_;          // of coefficients_
  std::vector<Place> tangent_places_;  // of tangent_: row of moving_, unknown of the core
  Tape coefficients_, tangent_;
};

}  // namespace saltus
