#include "simulate/first_integral.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

#include "expr/differentiate.h"
#include "expr/tape.h"

namespace saltus {
namespace {

constexpr int kPoints = 4;
constexpr int kAttempts = 12;
constexpr double kSpread = 0.2;    // of the random points, relative
constexpr double kZero = 1e-11;    // against the sum of the terms' magnitudes
constexpr double kImplied = 1e-8;  // likewise, of the value

// The right side of an equation that is written for an algebraic unknown of the mode.
std::optional<Expr> definition_of(const ModeRun& run, const Expr& leaf) {
  const std::vector<VariableId>& unknowns = run.analysed().unknowns;
  if (!leaf.is_variable() || leaf.node()->order != 0) return {};
  const auto found = std::ranges::find(unknowns, leaf.node()->variable());
  if (found == unknowns.end() || run.analysed().differential[found - unknowns.begin()]) return {};
  for (const Equation& equation : run.mode().equations) {
    const auto& [lhs, rhs] = equation.equality;
    for (const auto& [symbol, value] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
      if (symbol.same_as(leaf) && std::ranges::none_of(leaves_of(value), [&](const Expr& other) {
            return other.same_as(leaf);
          }))
        return value;
  }
  return {};
}

}  // namespace

Expr in_states(const ModeRun& run, const Expr& guard) {
  constexpr int kMost = 20;
  Expr value = guard;
  for (int k = 0; k < kMost; ++k) {
    std::vector<Expr> symbols, definitions;
    for (const Expr& leaf : leaves_of(value))
      if (const std::optional<Expr> definition = definition_of(run, leaf)) {
        symbols.push_back(leaf);
        definitions.push_back(*definition);
      }
    if (symbols.empty()) break;
    value = substitute(value, symbols, definitions);
  }
  return value;
}

bool is_first_integral(const HybridSystem& system, ModeRun& run, std::size_t guard, double t,
                       const SystemState& state) {
  const Expr value = in_states(run, run.mode().guards[guard].value);
  const std::vector<VariableId>& unknowns = run.analysed().unknowns;
  Expr rate = partial(value, system.time());
  Expr size = abs(rate);
  bool moves = false;
  for (const Expr& leaf : leaves_of(value)) {
    if (!leaf.is_variable()) continue;
    const auto found = std::find(unknowns.begin(), unknowns.end(), leaf.node()->variable());
    if (found == unknowns.end()) continue;  // held in this mode
    if (leaf.node()->order != 0 || !run.analysed().differential[found - unknowns.begin()])
      return false;
    const Expr term = partial(value, leaf) * der(leaf);
    rate += term;
    size += abs(term);
    moves = true;
  }
  if (!moves) return false;

  const std::vector<Expr> formulas = {rate, size, value};
  const Tape tape(formulas, state_inputs(system));
  Tape::Workspace registers = tape.make_workspace();
  std::mt19937 random(16);
  std::uniform_real_distribution<> spread(-kSpread, kSpread);
  int agreed = 0;
  bool is_implied = true;
  for (int attempt = 0; attempt < kAttempts && agreed < kPoints; ++attempt) {
    SystemState near = state;
    for (const VariableId id : unknowns) {
      double& x = near.values[id.index()];
      x += spread(random) * (std::abs(x) + system.variable(id).nominal);
    }
    // A rate that vanishes at this instant only is no first integral.
    const double later = t + std::abs(spread(random)) * (1.0 + std::abs(t));
    if (!run.make_consistent(later, near).ok()) continue;
    const double* inputs[] = {&later, near.values.data(), near.slopes.data(),
                              run.data().parameters.data(), near.slots.data()};
    double result[3];
    tape.evaluate(inputs, registers, result);
    if (!(std::abs(result[0]) <= kZero * result[1])) return false;
    if (result[1] > 0.0) ++agreed;
    is_implied = is_implied && std::abs(result[2]) <= kImplied * result[1];
  }
  return agreed == kPoints && !is_implied;
}

bool is_curved(const Expr& guard) {
  const bool has_sides = guard.node() != nullptr && guard.node()->op == Op::kSelect;
  const Expr value = has_sides ? Expr(guard.node()->children[1]) : guard;
  std::vector<Expr> leaves = leaves_of(value);
  std::erase_if(leaves, [](const Expr& leaf) { return !leaf.is_variable(); });
  const int degree = polynomial_degree(value, leaves);
  return degree < 0 || degree > 1;
}

Mode constrain(const Mode& mode, const std::vector<std::size_t>& guards) {
  Mode result = mode;
  result.guards.clear();
  std::vector<std::string> names;
  for (std::size_t g = 0; g < mode.guards.size(); ++g) {
    const Guard& guard = mode.guards[g];
    if (std::find(guards.begin(), guards.end(), g) == guards.end()) {
      result.guards.push_back(guard);
      continue;
    }
    result.equations.emplace_back(guard.name, guard.value == 0.0);
    names.push_back(guard.name);
  }
  result.name = fmt::format("{} within {}", mode.name, fmt::join(names, ", "));
  return result;
}

}  // namespace saltus
