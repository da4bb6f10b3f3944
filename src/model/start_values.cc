#include "model/start_values.h"

#include <fmt/format.h>

#include <cmath>

#include "expr/tape.h"

namespace saltus {

std::vector<double> start_values(const HybridSystem& system) {
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
  std::vector<double> values(starts.size());
  const double* inputs[] = {parameters.data()};
  tape.evaluate(inputs, registers, values.data());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw Error(fmt::format("{}: the start value {} of '{}' is not finite", system.name(),
                              to_string(starts[i]), system.variables()[i].name));
  return values;
}

}  // namespace saltus
