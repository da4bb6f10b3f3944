#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/system_state.h"
#include "realtime/fixed_step.h"
#include "realtime/impulse_map.h"
#include "realtime/mode_core.h"
#include "realtime/pivot_order.h"
#include "realtime/tape_formulas.h"

namespace saltus {

// What all modes of an engine evaluate, in symbols of the system.
struct RealtimeFormulas {
  std::vector<Expr> relations;  // all of the model
  std::vector<Expr> outputs;
  std::vector<VariableId> reset;  // variables that are set, by reinit or on entry of a state
};

// The tables of a mode for the fixed-step engine: reduced to its states, everything compiled. What
// is integrated is the core F(t, x, x') = 0 that elimination leaves: its differential unknowns z
// are the states, the others follow.
//
// Affine modes (a constant Jacobian while the slots are frozen) become z' = A z + b(t) and advance
// exactly for b affine over the step. Other modes take linearly implicit Euler steps, one of the
// full and two of half the length, extrapolated: order 2, L-stable, one Jacobian a step; where the
// two differ much, up to 16 parts of a step.
class PreparedMode {
 public:
  // `guards`: the relations it watches. Throws Error that names the mode and says why it cannot be
  // prepared.
  PreparedMode(const HybridSystem& system, ModeCore core, const RealtimeFormulas& formulas,
               std::vector<std::size_t> guards, bool may_be_affine);
  PreparedMode(const PreparedMode&) = delete;
  PreparedMode& operator=(const PreparedMode&) = delete;

  const std::string& name() const { return core_.name; }
  bool is_affine() const { return tables_.is_affine != 0; }
  std::size_t state_count() const { return tables_.d; }
  const fs_mode& tables() const { return tables_; }
  // Chooses the order of pivots from the entries of the Jacobian at a point, for steps of `step`.
  void choose_pivots(const double* entries, double step);
  // Keeps the numbers of a configuration for good.
  void add_configuration(const fs_configuration& made);
  // Finds how states follow where reinit sets the variables marked in `asked` (by variable that
  // it sets), near a point of the mode. Nothing is kept if that is not linear.
  void add_handover(const HybridSystem& system, const RealtimeFormulas& formulas, double t,
                    const SystemState& point, const std::vector<unsigned char>& asked);

 private:
  void list_unknowns(const Dae& core);
  void list_resets(const HybridSystem& system, const RealtimeFormulas& formulas);
  bool set_states(const HybridSystem& system, const std::vector<unsigned char>& asked,
                  std::vector<double>& map) const;
  bool find_handover(const HybridSystem& system, const RealtimeFormulas& formulas, double t,
                     const SystemState& near, const std::vector<unsigned char>& asked,
                     std::vector<double>& map, bool& is_rigid);
  bool adds_up(double t, const SystemState& point, const Eigen::MatrixXd& before,
               const std::vector<bool>& set, const std::vector<double>& map);
  void list_held(const std::vector<Expr>& read);
  void list_path(const RealtimeFormulas& formulas);
  void differentiate(const DaeDefinition& definition, const std::vector<Expr>& residuals);

  ModeCore core_;
  std::unique_ptr<ImpulseMap> impulses_;  // made when a handover is asked for
  fs_mode tables_{};
  std::vector<Expr> held_symbols_;
  std::vector<std::size_t> differential_, algebraic_, slope_column_, key_, guards_, path_, open_;
  PivotOrder step_order_, slope_order_;
  std::vector<double> nominal_;
  std::vector<fs_place> guess_, held_, targets_;
  std::vector<fs_entry> entries_;
  std::vector<fs_reset> resets_;
  TapeFormulas residual_, jacobian_, relations_, outputs_, variables_;
  std::deque<std::vector<double>> numbers_;  // of configurations and handovers
  std::vector<std::size_t> carried_, carried_reset_;
  std::vector<Expr> reset_values_;  // in the symbols of the core
  std::deque<std::vector<unsigned char>> asked_;
  std::vector<fs_handover> handovers_;
  std::vector<fs_configuration> configurations_;
};

// The place of a symbol of the system: a variable, its slope or a slot.
fs_place place_of(const Expr& symbol);

}  // namespace saltus
