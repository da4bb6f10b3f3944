#include "model/system_state.h"

#include <fmt/format.h>

#include <cmath>

#include "expr/tape.h"

namespace saltus {

SystemState start_state(const HybridSystem& system) {
  std::vector<Expr> starts;
  std::vector<Expr> symbols;
  std::vector<double> parameters;
  for (const Variable& v : system.variables()) starts.push_back(v.start);
  for (const Parameter& p : system.parameters()) {
    symbols.push_back(p.symbol);
    parameters.push_back(p.value);
  }
  const Tape tape(starts, {symbols});
  Tape::Workspace registers = tape.make_workspace();
  SystemState state;
  state.values.resize(starts.size());
  state.slopes.assign(starts.size(), 0.0);
  state.slots.assign(system.graph().slot_count(), 0.0);
  const double* inputs[] = {parameters.data()};
  tape.evaluate(inputs, registers, state.values.data());
  for (std::size_t i = 0; i < starts.size(); ++i)
    if (!std::isfinite(state.values[i]))
      throw Error(fmt::format("{}: the start value {} of '{}' is not finite", system.name(),
                              to_string(starts[i]), system.variables()[i].name));
  return state;
}

std::vector<std::vector<Expr>> state_inputs(const HybridSystem& system) {
  std::vector<std::vector<Expr>> inputs(5);
  inputs[0] = {system.time()};
  for (const Variable& v : system.variables()) {
    inputs[1].push_back(v.symbol);
    inputs[2].push_back(der(v.symbol));
  }
  for (const Parameter& p : system.parameters()) inputs[3].push_back(p.symbol);
  for (std::size_t i = 0; i < system.graph().slot_count(); ++i)
    inputs[4].push_back(system.graph().slot(SlotId(i)));
  return inputs;
}

}  // namespace saltus
