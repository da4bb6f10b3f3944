#pragma once

#include <map>
#include <memory>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/consistent.h"
#include "analysis/eliminate.h"
#include "integrate/integrator.h"
#include "simulate/core_columns.h"
#include "simulate/method.h"

namespace saltus {

// The equations in force for one choice of states, and what solves them. Solver and integrator are
// made when they are asked for: some modes are only asked for consistent points, and most choices
// only integrated.
struct ModeSetup {
  Dae dae;
  std::vector<std::size_t> states;
  std::unique_ptr<ConsistentSolver> consistent;
  std::shared_ptr<const EliminatedForm> eliminated;  // what is integrated of it; null: all
  std::unique_ptr<Integrator> integrator;
  std::unique_ptr<CoreColumns> columns;  // what is stored of it
  std::size_t columns_tried = 0;         // so many, whether or not they could be made
};

// Makes the setups of a mode and keeps them. References to a setup hold until forget_others().
class ModeSetups {
 public:
  // All but `options` must outlive this.
  ModeSetups(Graph& graph, const AnalysedMode& mode, DaeData& data, Method method,
             IntegratorOptions options);

  // `states`: empty but for the reduced form. `shares_forces`: for least-squares steps.
  ModeSetup& at(const std::vector<std::size_t>& states, bool shares_forces = false);
  ConsistentSolver& consistent_of(ModeSetup& setup);
  // A consistent point from its states by formulas of the integrator. False, with nothing written,
  // if there are none.
  bool complete(ModeSetup& setup, double t, double* x, double* dx);
  Integrator& integrator_of(ModeSetup& setup);
  // What is stored of the mode, straight from what is integrated; null if that does not do. To be
  // asked with the same columns, or more.
  CoreColumns* columns_of(const HybridSystem& system, ModeSetup& setup,
                          const std::vector<Expr>& columns);
  // Where there are many choices of states, all are forgotten but this one.
  void forget_others(const ModeSetup& kept);

  const IntegratorOptions& options() const { return options_; }
  bool has_level_rows() const {
    return mode_.formulated != nullptr && !mode_.formulated->levels.velocity.empty();
  }
  // It finds its projectors by itself.
  bool uses_array_method() const {
    return method_ == Method::kDerivativeArray && mode_.values.u == 0;
  }
  // The work of all integrators, those of another form of the mode included that this one
  // continues.
  IntegratorCounts counts() const;
  void continue_from(const IntegratorCounts& earlier) { earlier_ = earlier; }

 private:
  std::vector<std::size_t> rows_of(const std::vector<std::size_t>& states) const;
  bool may_eliminate(const ModeSetup& setup) const {
    return method_ == Method::kRadau && mode_.reduced != nullptr &&
           !setup.dae.definition().redundant;
  }
  bool integrate_core(ModeSetup& setup);
  std::shared_ptr<const EliminatedForm> eliminate_from(const std::vector<std::size_t>& rows) const;
  std::unique_ptr<Integrator> make_integrator(const Dae& dae);

  Graph& graph_;
  const AnalysedMode& mode_;
  DaeData& data_;
  Method method_;
  IntegratorOptions options_;
  std::map<std::vector<std::size_t>, ModeSetup> setups_;   // by choice of states
  std::map<std::vector<std::size_t>, ModeSetup> sharing_;  // the same, for least-squares steps
  std::shared_ptr<const EliminatedForm> eliminated_;       // for all choices of states
  bool tried_eliminating_ = false;
  IntegratorCounts earlier_;
};

}  // namespace saltus
