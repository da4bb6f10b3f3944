#include "analysis/causal_guess.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/sorted_waves.h"
#include "expr/differentiate.h"

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

// The unknown x of an equation that is linear in it, or that is a = b / x.
std::optional<Expr> solved_for(const Expr& x, const Equality& equality) {
  const Expr residual = equality.residual();
  const Expr factor = partial(residual, x);
  const Expr from[] = {x};
  const Expr zero[] = {0.0};
  if (is_constant_in_mode(factor) && polynomial_degree(residual, from) == 1)
    return -substitute(residual, from, zero) / factor;
  const auto reads_x = [&](const Expr& e) {
    const std::vector<Expr> leaves = leaves_of(e);
    return std::ranges::any_of(leaves, [&](const Expr& leaf) { return leaf.same_as(x); });
  };
  for (const auto& [a, quotient] :
       {std::pair(equality.lhs, equality.rhs), std::pair(equality.rhs, equality.lhs)}) {
    if (quotient.is_number() || quotient.node()->op != Op::kDivide) continue;
    const Expr b(quotient.node()->children[0]);
    if (Expr(quotient.node()->children[1]).same_as(x) && !reads_x(a) && !reads_x(b)) return b / a;
  }
  return std::nullopt;
}

// Equations solved for the one unknown they contain besides what is known by then, one after the
// other. Where none is left and `assumes`, the unknown of most equations among
// those of an equation with two keeps its guess, so that the other follows.
void follow_known(const Mode& mode, bool assumes, std::vector<bool>& known,
                  std::vector<Explicit>& found) {
  std::vector<std::vector<Expr>> open(mode.equations.size());  // unknowns by equation
  std::vector<std::vector<std::size_t>> equations_with(known.size());
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < mode.equations.size(); ++i) {
    bool has_derivative = false;
    for (const Expr& leaf : leaves_of(mode.equations[i].residual())) {
      if (!leaf.is_variable()) continue;
      has_derivative = has_derivative || leaf.node()->order > 0;
      if (!known[leaf.node()->index]) open[i].push_back(leaf);
    }
    if (has_derivative) open[i].clear();
    for (const Expr& x : open[i]) equations_with[x.node()->index].push_back(i);
    if (open[i].size() == 1) waiting.push_back(i);
  }
  const auto assume = [&] {
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::erase_if(open[i], [&](const Expr& x) { return known[x.node()->index]; });
      if (open[i].size() != 2) continue;
      const auto uses = [&](const Expr& x) { return equations_with[x.node()->index].size(); };
      const Expr& x = uses(open[i][0]) >= uses(open[i][1]) ? open[i][0] : open[i][1];
      known[x.node()->index] = true;
      for (const std::size_t k : equations_with[x.node()->index]) waiting.push_back(k);
      return true;
    }
    return false;
  };
  for (std::size_t head = 0; head < waiting.size() || (assumes && assume()); ++head) {
    const std::size_t i = waiting[head];
    std::erase_if(open[i], [&](const Expr& x) { return known[x.node()->index]; });
    if (open[i].size() != 1) continue;
    const Expr x = open[i].front();
    const std::optional<Expr> value = solved_for(x, mode.equations[i].equality);
    if (!value) continue;
    found.push_back({x.node()->index, *value});
    known[x.node()->index] = true;
    for (const std::size_t k : equations_with[x.node()->index]) waiting.push_back(k);
  }
}

}  // namespace

CausalGuess::CausalGuess(const HybridSystem& system, const Mode& mode, bool assumes)
    : assumes_(assumes) {
  const std::size_t n = system.variables().size();
  std::vector<bool> taken(n, false);  // differentiated or assigned already
  for (const Equation& e : mode.equations)
    for (const Expr& leaf : leaves_of(e.residual()))
      if (leaf.is_variable() && leaf.node()->order > 0) taken[leaf.node()->index] = true;

  std::vector<Explicit> found;
  follow_known(mode, assumes, taken, found);
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
    wave.compile(formulas, system);
    waves_.push_back(std::move(wave));
  }
  if (!assumes) return;
  std::vector<Expr> residuals;
  for (const Equation& e : mode.equations) {
    residuals.push_back(e.residual());
    auto& variables = variables_of_.emplace_back();
    for (const Expr& leaf : leaves_of(e.residual()))
      if (leaf.is_variable() && leaf.node()->order == 0) variables.push_back(leaf.node()->index);
  }
  residuals_.compile(residuals, system);
}

void CausalGuess::Formulas::compile(const std::vector<Expr>& formulas, const HybridSystem& system) {
  tape = Tape(formulas, state_inputs(system));
  registers = tape.make_workspace();
  values.resize(formulas.size());
}

void CausalGuess::improve(double t, const std::vector<double>& parameters, SystemState& state) {
  const auto evaluate = [&](Formulas& formulas) {
    const double* inputs[] = {&t, state.values.data(), state.slopes.data(), parameters.data(),
                              state.slots.data()};
    formulas.tape.evaluate(inputs, formulas.registers, formulas.values.data());
  };
  std::vector<double> guessed = state.values;
  std::vector<bool> wanted(guessed.size(), !assumes_);
  if (assumes_) {
    evaluate(residuals_);
    for (std::size_t i = 0; i < residuals_.values.size(); ++i)
      if (!std::isfinite(residuals_.values[i]))
        for (const std::size_t variable : variables_of_[i]) wanted[variable] = true;
  }
  for (Wave& wave : waves_) {
    evaluate(wave);
    for (std::size_t k = 0; k < wave.targets.size(); ++k)
      if (std::isfinite(wave.values[k])) state.values[wave.targets[k]] = wave.values[k];
  }
  for (std::size_t v = 0; v < guessed.size(); ++v)
    if (!wanted[v]) state.values[v] = guessed[v];
}

}  // namespace saltus
