#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "analysis/eliminate.h"
#include "model/system_state.h"
#include "realtime/affine_step.h"
#include "simulate/mode_run.h"

namespace saltus {

// What all modes of an engine evaluate, in symbols of the system.
struct RealtimeFormulas {
  std::vector<Expr> relations;  // all of the model
  std::vector<Expr> outputs;
  std::vector<VariableId> reset;  // variables that reinit sets
};

// A mode ready for fixed steps: reduced to its states, everything compiled, all memory there. What
// is integrated is the core E x' + g(t, x) = 0 that elimination leaves: its differential unknowns z
// are the states, the others follow.
//
// Affine modes (a constant Jacobian while the slots are frozen) become z' = A z + b(t) and advance
// exactly for b affine over the step. Other modes take linearly implicit Euler steps, one of the
// full and two of half the length, extrapolated: order 2, L-stable, one Jacobian a step; where the
// two differ much, up to 16 parts of a step.
//
// After construction nothing allocates or throws, but prepare_configuration when asked to.
class PreparedMode {
 public:
  // `run` has made a consistent point of `state` at t. Throws Error that names the mode and says
  // why it cannot be prepared.
  PreparedMode(const HybridSystem& system, std::unique_ptr<ModeRun> run,
               const RealtimeFormulas& formulas, double step, double t, const SystemState& state);

  const std::string& name() const { return run_->mode().name; }
  bool is_affine() const { return is_affine_; }
  std::size_t state_count() const { return differential_.size(); }
  std::size_t core_count() const { return x_.size(); }
  std::size_t configuration_count() const { return configurations_.size(); }

  // Takes states and everything held from a point of the system, and finds the rest. False if that
  // has no finite solution. `may_allocate`: a configuration that is met for the first time gets
  // memory of its own; otherwise it takes that of the oldest.
  bool enter(double t, const SystemState& at, bool may_allocate) noexcept;
  // From t to t + length, where length = ticks / 2^kLevels of a step. False if not finite.
  bool advance(double t, double length, std::size_t ticks) noexcept;
  // Sets a variable that reinit sets, by its place in RealtimeFormulas::reset. False if the mode
  // does not have it as a state. Then the rest must be found again.
  bool reset(std::size_t place, double value) noexcept;
  bool complete(double t) noexcept;

  void save() noexcept;
  void restore() noexcept;
  // The point on the line from the saved one to the present one (RE (14)); then complete().
  void interpolate(double fraction) noexcept;

  void relations(double t, double* values) noexcept;
  void outputs(double t, double* values) noexcept;
  // A variable that is differentiated in this mode and differs between the two by more than the
  // fastest of them moves in `duration`; npos: none.
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t jumping_variable(const SystemState& before, const SystemState& after,
                               double duration) const noexcept;
  // The unknowns of this mode and their slopes.
  void write(double t, SystemState& state) noexcept;

 private:
  struct Formulas {
    Tape tape;
    Tape::Workspace registers;
    std::vector<double> values;
  };
  // The numbers of an affine mode for one set of frozen values that its matrix reads.
  struct Configuration {
    Configuration(std::size_t n, std::size_t d) : inverse(n * n), reaction(n * d), step(d) {}
    std::vector<double> inverse;   // of K = [E_z | G_y]
    std::vector<double> reaction;  // -K^-1 G_z: slopes of z, then the others, by z
    AffineStep step;
    std::vector<double> key;
    bool is_filled = false;
    bool has_steps = false;
  };

  Formulas compile(const std::vector<Expr>& values);
  void evaluate(Formulas& formulas, double t) noexcept;
  void find_affinity(const HybridSystem& system);
  bool choose_configuration(double t, bool may_allocate) noexcept;
  bool fill(Configuration& c, double t) noexcept;
  void load_jacobian(double t) noexcept;
  void forcing(double t, double* r) noexcept;
  void complete_affine(double t) noexcept;
  bool complete_nonlinear(double t) noexcept;
  bool advance_affine(double t, std::size_t ticks) noexcept;
  bool advance_nonlinear(double t, double length) noexcept;
  double extrapolated_step(double t, double length) noexcept;
  bool is_finite() const noexcept;

  double step_;
  std::unique_ptr<ModeRun> run_;
  std::unique_ptr<const EliminatedForm> form_;
  std::shared_ptr<const Dae> core_;
  DaeData data_;
  std::vector<std::size_t> differential_, algebraic_;  // places in the core
  bool is_affine_ = false;
  bool reads_time_ = true;
  std::vector<std::size_t> matrix_held_;  // places among held values that the Jacobian reads
  std::vector<Expr> held_symbols_;        // of the formulas below
  std::vector<double> held_;
  Formulas relations_, outputs_, variables_;
  struct Target {
    std::size_t variable;
    bool is_slope;
  };
  std::vector<Target> targets_;  // by value of variables_
  struct Reset {
    std::size_t place;  // in the core; npos: no state
    double sign;
  };
  std::vector<Reset> resets_;
  std::deque<Configuration> configurations_;
  Configuration* active_ = nullptr;
  std::size_t oldest_ = 0;

  std::vector<double> x_, dx_, saved_x_, saved_dx_;
  std::vector<double> zero_, jacobian_, e_, g_, saved_e_, saved_g_, matrix_, half_matrix_,
      residual_, start_x_, full_x_;
  std::vector<std::size_t> pivots_, half_pivots_;
  std::vector<double> z_, r_, b0_, b1_, saved_b0_, work_;
};

}  // namespace saltus
