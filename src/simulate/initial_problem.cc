#include "simulate/initial_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "expr/differentiate.h"

namespace saltus {

InitialProblem::InitialProblem(const HybridSystem& system, const AnalysedMode& mode,
                               const std::vector<Equation>& initial_equations)
    : mode_(&mode), graph_(&system.graph()) {
  DaeDefinition def = mode.dae->definition();
  const std::size_t rows = mode.reduced != nullptr     ? mode.reduced->fixed_rows
                           : mode.projected != nullptr ? mode.projected->array_rows
                                                       : def.residuals.size();
  def.residuals.resize(rows);
  def.equation_names.resize(rows);
  std::unordered_set<const Node*> known;
  for (const Expr& symbol : def.held) known.insert(symbol.node());
  for (const Equation& e : initial_equations) {
    const Expr residual =
        mode.reduced != nullptr ? mode.reduced->rewrite(e.residual()) : e.residual();
    for (const Expr& leaf : leaves_of(residual))
      if (leaf.is_slot() && known.insert(leaf.node()).second) def.held.push_back(leaf);
    def.residuals.push_back(residual);
    def.equation_names.push_back(fmt::format(
        "initial equation {}{}", to_string(e.equality),
        e.where.file.empty() ? "" : fmt::format(" at {}:{}", e.where.file, e.where.line)));
  }
  // As written: what is under der() is given; otherwise what the reduced form controls.
  given_ = def.controlled;
  dae_ = std::make_unique<const Dae>(std::move(def));
  solver_ = std::make_unique<ConsistentSolver>(*dae_, given_);
  data_ = dae_->make_data();
  for (std::size_t i = 0; i < system.parameters().size(); ++i)
    data_.parameters[i] = system.parameters()[i].value;
  x_.resize(dae_->unknown_count());
  dx_.resize(dae_->unknown_count());
}

ConsistentOutcome InitialProblem::solve(double t, const SystemState& state,
                                        const std::vector<bool>& fixed) {
  const DaeDefinition& def = dae_->definition();
  std::vector<bool> fixed_unknowns;
  for (std::size_t j = 0; j < x_.size(); ++j) {
    const Node& symbol = *def.unknowns[j].node();
    x_[j] = symbol.order == 0   ? state.values[symbol.index]
            : symbol.order == 1 ? state.slopes[symbol.index]
                                : 0.0;
    dx_[j] = symbol.order == 0 ? state.slopes[symbol.index] : 0.0;
    fixed_unknowns.push_back(symbol.order == 0 && fixed[symbol.index]);
  }
  for (std::size_t i = 0; i < def.held.size(); ++i) {
    const Node& symbol = *def.held[i].node();
    const bool is_own = symbol.op == Op::kSlot && symbol.index >= state.slots.size();
    data_.held[i] = is_own ? 0.0 : state.value_of(def.held[i]);
  }
  if (mode_->reduced != nullptr)
    mode_->reduced->fix_replacements(state.values, fixed, fixed_unknowns, x_);
  return solve_for_start(t, fixed_unknowns);
}

ConsistentOutcome InitialProblem::solve_for_start(double t, const std::vector<bool>& fixed) {
  // Dense least changes treat all given values alike, blocks choose which of them give way, but
  // take far less time.
  constexpr std::size_t kQuick = 100;
  if (blocks_ == nullptr) {
    std::vector<bool> given = given_;
    for (std::size_t j = given.size(); j < x_.size(); ++j)
      given.push_back(dae_->is_differential(j));
    blocks_ = std::make_unique<BlockStart>(*graph_, dae_->definition(), given, fixed);
  }
  const bool begins_with_blocks = x_.size() > kQuick || blocks_->leaves_no_choice();
  ConsistentOutcome first;
  for (const bool by_blocks : {begins_with_blocks, !begins_with_blocks}) {
    if (!by_blocks && x_.size() > kLargestLeastChange) continue;
    std::vector<double> x = x_;
    std::vector<double> dx = dx_;
    const ConsistentOutcome outcome =
        by_blocks ? blocks_->solve(data_, t, x, dx)
                  : solver_->solve_start(data_, t, x.data(), dx.data(), fixed);
    if (outcome.ok()) {
      x_ = std::move(x);
      dx_ = std::move(dx);
      return outcome;
    }
    if (first.ok()) first = outcome;
  }
  return first;
}

}  // namespace saltus
