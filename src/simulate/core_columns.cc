#include "simulate/core_columns.h"

#include <unordered_map>
#include <unordered_set>

#include "expr/differentiate.h"
#include "expr/graph.h"

namespace saltus {
namespace {

// Writes expressions of the system in the symbols of the core.
class CoreWriter {
 public:
  CoreWriter(const AnalysedMode& mode, const EliminatedForm& form) : mode_(mode) {
    const DaeDefinition& whole = mode.dae->definition();
    for (std::size_t j = 0; j < mode.unknowns.size(); ++j)
      unknown_of_.emplace(mode.unknowns[j].index(), j);
    for (std::size_t k = 0; k < form.eliminated.size(); ++k) {
      formula_of_.emplace(whole.unknowns[form.eliminated[k]].node(), form.formulas[k]);
      lost_.insert(whole.derivatives[form.eliminated[k]].node());
    }
    for (std::size_t j = 0; j < whole.unknowns.size(); ++j)
      derivative_of_.emplace(whole.unknowns[j].node(), whole.derivatives[j]);
  }

  Expr write(const Expr& a) {
    const std::vector<Expr> leaves = leaves_of(a);
    if (leaves.size() == 1 && a.same_as(leaves.front())) return in_core(in_form(a));
    std::vector<Expr> to;
    for (const Expr& leaf : leaves) to.push_back(in_core(in_form(leaf)));
    return substitute(a, leaves, to);
  }

  // Whether something had to be left out.
  bool is_incomplete() const { return is_incomplete_; }

 private:
  // As ModeRun reads points: the slope of what is not differentiated is that of the numerical
  // solution.
  Expr in_form(const Expr& leaf) const {
    if (!leaf.is_variable()) return leaf;
    const auto unknown = unknown_of_.find(leaf.node()->index);
    if (unknown == unknown_of_.end()) return leaf;
    if (leaf.node()->order == 0 || mode_.differential[unknown->second]) return mode_.rewrite(leaf);
    const Expr symbol = mode_.written.unknowns[unknown->second];
    const auto derivative = derivative_of_.find(mode_.rewrite(symbol).node());
    return derivative == derivative_of_.end() ? Expr(0.0) : derivative->second;
  }

  Expr in_core(const Expr& a) {
    if (a.is_number()) return a;
    const std::vector<Expr> leaves = leaves_of(a);
    std::vector<Expr> from, to;
    for (const Expr& leaf : leaves) {
      is_incomplete_ = is_incomplete_ || lost_.contains(leaf.node());
      const auto formula = formula_of_.find(leaf.node());
      if (formula == formula_of_.end()) continue;
      if (a.same_as(leaf)) return formula->second;
      from.push_back(leaf);
      to.push_back(formula->second);
    }
    return from.empty() ? a : substitute(a, from, to);
  }

  const AnalysedMode& mode_;
  std::unordered_map<std::size_t, std::size_t> unknown_of_;  // by index of the variable
  std::unordered_map<const Node*, Expr> formula_of_;
  std::unordered_map<const Node*, Expr> derivative_of_;
  std::unordered_set<const Node*> lost_;  // derivatives of what is eliminated
  bool is_incomplete_ = false;
};

}  // namespace

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
