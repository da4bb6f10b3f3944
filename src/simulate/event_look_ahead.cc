// What values at an event leave open: relations at zero, impulses, and discrete equations that no
// values satisfy.

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "simulate/event_iteration.h"

namespace saltus {

// Relations a little ahead on the tangent, in relation_values_. A relation whose slope is zero as
// well (friction that just breaks away) needs a second, longer step.
bool EventIteration::evaluate_ahead(double t, const SystemState& settled, std::size_t mode,
                                    int steps) {
  ModeRun* run = visit_(mode);
  const double ahead = (steps == 1 ? kAhead : kFarAhead) * std::max(1.0, std::abs(t));
  SystemState probe = settled;
  const AnalysedMode& analysed = run->analysed();
  for (int k = 1; k <= steps; ++k) {
    for (std::size_t j = 0; j < analysed.unknowns.size(); ++j) {
      const std::size_t i = analysed.unknowns[j].index();
      if (analysed.differential[j]) probe.values[i] += ahead * probe.slopes[i];
    }
    if (!run->make_consistent(t + k * ahead, probe).ok()) return false;
  }
  evaluate(relation_values_, t + steps * ahead, probe);
  return true;
}

// The sign just after of a relation that counts as zero. It is judged zero here and by the guards
// of the mode (GuardWatch) with one threshold, so that both agree.
std::optional<int> EventIteration::sign_just_after(std::size_t r) {
  return just_after_.sign(
      model_.relations[r].value, slots_,
      {.must_move = at_zero_[r] == At::kFired, .reads_unknowns = reads_unknowns_[r]});
}

// An impulse exceeds every bound at once, whatever the value after it: push_ is the sign of the
// impulse of each relation. What comes from jumps of the size of rounding does not count.
void EventIteration::push_relations(double t, const SystemState& before, const SystemState& after) {
  constexpr double kSmallestJump = 1e-7;
  bool jumps = false;
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    const double size = std::max(std::abs(before.values[i]), system_.variables()[i].nominal);
    jumps = jumps || (impulses_.count(system_.variables()[i].name) == 0 &&
                      std::abs(after.values[i] - before.values[i]) > kSmallestJump * size);
  }
  if (!jumps) return;
  if (!pushes_) {
    pushes_ = std::make_unique<Pushes>();
    std::vector<Expr> coefficients;
    for (std::size_t r = 0; r < model_.relations.size(); ++r) {
      std::vector<Expr> leaves = leaves_of(model_.relations[r].value);
      std::erase_if(
          leaves, [](const Expr& leaf) { return !leaf.is_variable() || leaf.node()->order != 0; });
      const Expr value[] = {model_.relations[r].value};
      for (const JacobianEntry& entry : jacobian(value, leaves)) {
        coefficients.push_back(entry.value);
        pushes_->entries.emplace_back(r, leaves[entry.column].node()->index);
      }
    }
    pushes_->coefficients = Formulas(coefficients, state_inputs(system_));
  }
  evaluate(pushes_->coefficients, t, after);
  push_.assign(model_.relations.size(), 0.0);
  for (std::size_t k = 0; k < pushes_->entries.size(); ++k) {
    const auto& [r, variable] = pushes_->entries[k];
    const auto found = impulses_.find(system_.variables()[variable].name);
    if (found != impulses_.end()) push_[r] += pushes_->coefficients.values[k] * found->second;
  }
}

}  // namespace saltus
