// What values at an event leave open: relations at zero, impulses, and discrete equations that no
// values satisfy.

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "simulate/event_iteration.h"

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;

}  // namespace

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

// On entry: what leads out of a state and is at zero takes the value it has just after; so does, in
// a new mode, what holds only because it is at zero (w <= 0 of a clutch that begins to slip
// forward).
void EventIteration::look_beyond_zero(double t, const SystemState& at, std::size_t mode) {
  evaluate(relation_values_, t, at);
  const std::vector<double> here = relation_values_.values;
  std::vector<std::size_t> open;
  for (std::size_t r = 0; r < at_zero_.size(); ++r)
    if (is_continuous_[r] && std::abs(here[r]) <= kBand * sizes_[r] &&
        (model_.relations[r].leaves_state ||
         (entered_mode_ && model_.relations[r].strict == Strict::kNo &&
          present(model_.relations[r].slot) != 0.0)))
      open.push_back(r);
  take_ahead(t, at, mode, open, here);
}

// Relations at zero take the value that the flow of this mode leads to.
void EventIteration::take_ahead(double t, const SystemState& at, std::size_t mode,
                                std::vector<std::size_t> open, const std::vector<double>& here) {
  const double ahead = kAhead * std::max(1.0, std::abs(t));
  for (int steps = 1; steps <= 2 && !open.empty(); ++steps) {
    if (!evaluate_ahead(t, at, mode, steps)) return;
    std::erase_if(open, [&](std::size_t r) {
      const double moved = relation_values_.values[r] - here[r];
      const double least = steps == 1 ? kBand * ahead + 1e-14 : 1e-14;
      if (std::abs(moved) <= least * sizes_[r]) return false;
      put(model_.relations[r].slot, moved > 0.0 ? 1.0 : 0.0);
      at_zero_[r] = At::kWasThere;
      return true;
    });
  }
}

// "When |tau| > c then locked = false": unlocked, the torque is within c again, so no value of
// `locked` agrees with its equation. Then the discrete values are those that the equations in force
// so far ask for, as if they were read by pre(), and relations at zero take the value they have
// just after in the mode this leads to. False if that changes nothing.
bool EventIteration::follow_present_mode(double t, const SystemState& base,
                                         const std::vector<double>& entry, SystemState& out,
                                         Settled& settled) {
  constexpr int kMostOften = 8;  // in one event
  if (++present_mode_followed_ > kMostOften) return false;
  slots_ = entry;
  out = base;
  solve(t, base, out, settled.mode);
  take_values(t, out, true);
  const bool moves = std::ranges::any_of(model_.discretes, [&](const DiscreteVariable& v) {
    return present(v.symbol) != present(v.pre);
  });
  if (!moves || !solve(t, base, out, settled.mode)) return false;
  evaluate(relation_values_, t, out);
  const std::vector<double> here = relation_values_.values;
  std::vector<std::size_t> open;
  for (std::size_t r = 0; r < at_zero_.size(); ++r)
    if (is_continuous_[r] && std::abs(here[r]) <= kBand * sizes_[r]) open.push_back(r);
  take_ahead(t, out, settled.mode, open, here);
  out.slots = slots_;
  settled.problem.clear();
  return true;
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
