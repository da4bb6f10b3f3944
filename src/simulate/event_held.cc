// Surfaces that are held: the third answer of relations at zero.

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "simulate/event_iteration.h"

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;
// A weight this near to 0 or 1 is asked where it goes.
constexpr double kAtBound = kBand;

}  // namespace

// The assignment at hand: slots, then held surfaces.
std::vector<double> EventIteration::key() const {
  std::vector<double> values = slots_;
  values.insert(values.end(), held_.begin(), held_.end());
  return values;
}

// Variables made since are added.
void EventIteration::fit(SystemState& state) const {
  state.values.resize(system_.variables().size(), 0.0);
  state.slopes.resize(system_.variables().size(), 0.0);
}

bool EventIteration::is_held(std::size_t surface) const {
  return std::ranges::binary_search(held_, surface);
}

// Relations of a held surface have the value as written at zero; the weight acts in equations only.
void EventIteration::hold_surface(std::size_t surface) {
  held_.insert(std::ranges::lower_bound(held_, surface), surface);
  for (const auto& [r, orientation] : modes_.surfaces()[surface].relations)
    put(model_.relations[r].slot, model_.relations[r].strict == Strict::kNo ? 1.0 : 0.0);
}

void EventIteration::release(std::size_t surface, bool upwards) {
  std::erase(held_, surface);
  for (const auto& [r, orientation] : modes_.surfaces()[surface].relations)
    put(model_.relations[r].slot, upwards == (orientation > 0) ? 1.0 : 0.0);
}

// Whether weights stay within [0, 1] just after. With `adopt`, surfaces whose weight does not are
// released to the side it points to; otherwise they are only listed.
void EventIteration::examine_weights(const SystemState& out, bool adopt) {
  const std::vector<std::size_t> held = held_;
  for (const std::size_t surface : held) {
    const Expr weight = weight_of_(surface);
    const double value = out.value_of(weight);
    const auto leaves = [&](double distance, const Expr& formula) {
      if (std::abs(distance) > kAtBound) return distance < 0.0;
      const auto sign = just_after_.sign(formula, slots_, {});
      return sign && *sign < 0;
    };
    const bool down = leaves(value, weight);
    const bool up = !down && leaves(1.0 - value, 1.0 - weight);
    if (!down && !up) continue;
    const std::size_t item = model_.relations.size() + surface;
    violated_.push_back(item);
    violation_[item] = down ? -value : value - 1.0;
    if (adopt) release(surface, up);
  }
}

// Held surfaces whose weight changes nothing: a clutch without pressure has no answer.
std::vector<std::size_t> EventIteration::without_effect(double t, std::size_t mode,
                                                        const SystemState& at) {
  const FlatMode& flat = modes_.mode(mode);
  const auto [place, is_new] = effects_.try_emplace(mode);
  if (is_new) {
    std::vector<Expr> residuals;
    for (const Equation& e : flat.mode.equations) residuals.push_back(e.residual());
    std::vector<Expr> effects(flat.weights.size());
    for (const JacobianEntry& e : jacobian(residuals, flat.weights))
      effects[e.column] += abs(e.value);
    place->second = Formulas(effects, state_inputs(system_));
  }
  evaluate(place->second, t, at);
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < flat.held.size(); ++k)
    if (place->second.values[k] == 0.0) found.push_back(flat.held[k]);
  return found;
}

bool EventIteration::is_at_zero(std::size_t r, double value) const {
  return std::abs(value) <= kBand * sizes_[r] ||
         (at_zero_[r] == At::kFired && std::abs(value) <= 2.0 * std::abs(left_values_[r]));
}

// The rounds from `from` on run in a circle. Surfaces at zero that are crossed to and fro on it are
// held from now on; false if there are none.
bool EventIteration::hold_what_turns(double t, const SystemState& out,
                                     const std::vector<std::vector<double>>& history,
                                     std::size_t from) {
  if (weight_of_ == nullptr || is_initial_) return false;
  std::size_t mode = 0;
  try {
    mode = modes_.find(parameters_, slots_);
  } catch (const Error&) {
    return false;
  }
  evaluate(relation_values_, t, out);
  bool any = false;
  for (std::size_t r = 0; r < model_.relations.size(); ++r) {
    const std::size_t surface = modes_.surfaces().of_relation(r);
    const std::size_t slot = model_.relations[r].slot.node()->slot().index();
    const bool turns = std::any_of(
        history.begin() + static_cast<std::ptrdiff_t>(from), history.end(),
        [&](const std::vector<double>& then) { return then[slot] != history[from][slot]; });
    if (!turns || is_held(surface) || widths_[r] > 0.0 ||
        !is_at_zero(r, relation_values_.values[r]) || !modes_.may_hold(mode, surface))
      continue;
    hold_surface(surface);
    any = true;
  }
  return any;
}

// One pivot: a held surface is released, one at zero is held, another relation changes sides.
void EventIteration::change(std::size_t item, double t, const SystemState& out) {
  const std::size_t relations = model_.relations.size();
  if (item >= relations) {
    const std::size_t surface = item - relations;
    release(surface, out.value_of(weight_of_(surface)) > 0.5);
    return;
  }
  const std::size_t surface = modes_.surfaces().of_relation(item);
  evaluate(relation_values_, t, out);
  bool may_hold = false;
  try {
    may_hold = weight_of_ != nullptr && !is_initial_ && !is_held(surface) && widths_[item] == 0.0 &&
               is_at_zero(item, relation_values_.values[item]) &&
               modes_.may_hold(modes_.find(parameters_, slots_), surface);
  } catch (const Error&) {
  }
  if (may_hold) {
    hold_surface(surface);
    return;
  }
  const Expr& slot = model_.relations[item].slot;
  put(slot, 1.0 - present(slot));
}

}  // namespace saltus
