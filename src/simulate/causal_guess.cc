#include "simulate/causal_guess.h"

#include <cmath>

#include "expr/differentiate.h"
#include "simulate/sorted_waves.h"

namespace saltus {
namespace {

struct Explicit {
  std::size_t target = 0;
  Expr value;
};

// x or -x.
bool is_plain(const Expr& side, std::size_t& variable, bool& negated) {
  if (side.is_number()) return false;
  const Node* node = side.node();
  negated = node->op == Op::kNegate;
  if (negated) node = node->children[0];
  if (node->op != Op::kVariable || node->order != 0) return false;
  variable = node->index;
  return true;
}

}  // namespace

CausalGuess::CausalGuess(const HybridSystem& system, const Mode& mode) {
  const std::size_t n = system.variables().size();
  std::vector<bool> taken(n, false);  // differentiated or assigned already
  for (const Equation& e : mode.equations)
    for (const Expr& leaf : leaves_of(e.residual()))
      if (leaf.is_variable() && leaf.node()->order > 0) taken[leaf.node()->index] = true;

  std::vector<Explicit> found;
  for (const Equation& e : mode.equations) {
    for (const bool left : {true, false}) {
      const Expr& side = left ? e.equality.lhs : e.equality.rhs;
      const Expr& other = left ? e.equality.rhs : e.equality.lhs;
      std::size_t x = 0;
      bool negated = false;
      if (!is_plain(side, x, negated) || taken[x]) continue;
      bool reads_itself = false;
      for (const Expr& leaf : leaves_of(other))
        reads_itself = reads_itself || (leaf.is_variable() && leaf.node()->index == x);
      if (reads_itself) continue;
      found.push_back({x, negated ? -other : other});
      taken[x] = true;
      break;
    }
  }

  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> setter(n, kNone);
  for (std::size_t k = 0; k < found.size(); ++k) setter[found[k].target] = k;
  std::vector<std::vector<std::size_t>> reads(found.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    for (const Expr& leaf : leaves_of(found[k].value))
      if (leaf.is_variable() && setter[leaf.node()->index] != kNone)
        reads[k].push_back(setter[leaf.node()->index]);
  for (const std::vector<std::size_t>& items : sort_into_waves(reads)) {
    Wave wave;
    std::vector<Expr> formulas;
    for (const std::size_t k : items) {
      wave.targets.push_back(found[k].target);
      formulas.push_back(found[k].value);
    }
    wave.tape = Tape(formulas, state_inputs(system));
    wave.registers = wave.tape.make_workspace();
    wave.values.resize(formulas.size());
    waves_.push_back(std::move(wave));
  }
}

void CausalGuess::improve(double t, const std::vector<double>& parameters, SystemState& state) {
  for (Wave& wave : waves_) {
    const double* inputs[] = {&t, state.values.data(), state.slopes.data(), parameters.data(),
                              state.slots.data()};
    wave.tape.evaluate(inputs, wave.registers, wave.values.data());
    for (std::size_t k = 0; k < wave.targets.size(); ++k)
      if (std::isfinite(wave.values[k])) state.values[wave.targets[k]] = wave.values[k];
  }
}

}  // namespace saltus
