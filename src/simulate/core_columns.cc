#include "simulate/core_columns.h"

#include <unordered_set>

#include "expr/differentiate.h"
#include "expr/graph.h"
#include "simulate/core_writer.h"

namespace saltus {

std::unique_ptr<CoreColumns> CoreColumns::make(const HybridSystem& system, const AnalysedMode& mode,
                                               const EliminatedForm& form,
                                               std::span<const Expr> columns) {
  CoreWriter writer(mode, form);
  std::vector<Expr> values;
  for (const Expr& column : columns) values.push_back(writer.write(column));
  if (writer.is_incomplete()) return nullptr;
  std::unique_ptr<CoreColumns> made(new CoreColumns);
  const DaeDefinition& core = form.core->definition();
  std::unordered_set<const Node*> moving;
  for (const auto* symbols : {&core.unknowns, &core.derivatives})
    for (const Expr& symbol : *symbols) moving.insert(symbol.node());
  for (const Expr& leaf : leaves_of(values))
    if (leaf.is_slot() || (leaf.is_variable() && !moving.contains(leaf.node())))
      made->held_symbols_.push_back(leaf);
  std::vector<Expr> parameters;
  for (const Parameter& p : system.parameters()) parameters.push_back(p.symbol);
  const Tape tape(
      values, {{system.time()}, core.unknowns, core.derivatives, parameters, made->held_symbols_},
      TapeCode::kInterpreted);
  made->tape_ = LaneTape(tape, {false, false, false, true, true});
  made->registers_ = made->tape_.make_workspace();
  made->held_.resize(made->held_symbols_.size());
  made->x_.resize(kLanes * core.unknowns.size());
  made->dx_.resize(kLanes * core.unknowns.size());
  made->values_.resize(kLanes * values.size());
  return made;
}

void CoreColumns::hold(const SystemState& state) {
  for (std::size_t k = 0; k < held_.size(); ++k) held_[k] = state.value_of(held_symbols_[k]);
}

const double* CoreColumns::evaluate(Integrator& integrator, std::span<const double, kLanes> times,
                                    const double* parameters) {
  integrator.interpolate_states(times, x_.data(), dx_.data());
  const double* inputs[] = {times.data(), x_.data(), dx_.data(), parameters, held_.data()};
  tape_.evaluate(inputs, registers_, values_.data());
  return values_.data();
}

}  // namespace saltus
