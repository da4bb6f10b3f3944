// What holds after an instant, in a bounded number of rounds and without allocation. The rounds are
// those of the offline event iteration: with pre() frozen, mode and point follow from the slots and
// relations and discrete equations from the point, until nothing changes; then pre() moves on.

#include <algorithm>
#include <cmath>

#include "realtime/realtime_engine.h"

namespace saltus {
namespace {

constexpr double kBand = 1e-10;
constexpr std::size_t kMostRounds = 24;
constexpr std::size_t kMostUpdates = 16;  // of pre() in one instant
constexpr std::size_t kAheadTicks = std::size_t{1} << (AffineStep::kLevels - 12);

}  // namespace

bool RealtimeEngine::relation_value(std::size_t r, double value) const noexcept {
  const bool strict = model_.relations[r].strict == Strict::kYes;
  const bool exact = strict ? value > 0.0 : value >= 0.0;
  if (!is_continuous_[r] || std::abs(value) > kBand * sizes_[r]) return exact;
  if (at_zero_[r] != Zero::kAway || keeps_at_zero_)
    return slots_[model_.relations[r].slot.node()->slot().index()] != 0.0;
  return !strict;
}

void RealtimeEngine::take_values(double t) noexcept {
  const std::size_t relations = model_.relations.size();
  for (Level& level : levels_) {
    evaluate(level.formulas, t, state_);
    for (std::size_t i = 0; i < level.items.size(); ++i) {
      const std::size_t k = level.items[i];
      const double value = level.formulas.values[i];
      if (k >= relations)
        slot(model_.discrete_equations[k - relations].target) = value;
      else
        slot(model_.relations[k].slot) = relation_value(k, value) ? 1.0 : 0.0;
    }
  }
}

// The mode of the present slots; npos if it is not known. It may be one that cannot be prepared.
std::size_t RealtimeEngine::find_mode(double t) noexcept {
  if (!is_rehearsing_) {
    const std::size_t found = events_->modes().find_known(parameters_, slots_);
    return found < prepared_.size() ? found : FlatModes::npos;
  }
  try {
    const std::size_t found = events_->modes().find(parameters_, slots_);
    prepare(found, t, base_);
    return found;
  } catch (const Error& error) {
    objection_ = error.message();
    return FlatModes::npos;
  }
}

// A round that asks for no change, or, if once, just one. False if there is none, or no mode for
// it.
bool RealtimeEngine::agree(double t, bool once) noexcept {
  keeps_at_zero_ = false;
  std::size_t seen = 0;
  const std::size_t entered_from = mode_;
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    const auto repeats = std::find(history_.begin(), history_.begin() + seen, slots_);
    if (repeats != history_.begin() + seen) {
      if (keeps_at_zero_) return false;
      // "Locked while |tau| <= c" against "tau = c while it slides": what put the torque beyond its
      // bound must not be undone by the torque being at the bound afterwards.
      keeps_at_zero_ = true;
      seen = 0;
    }
    history_[seen] = slots_;
    ++seen;
    const std::size_t found = find_mode(t);
    if (found == FlatModes::npos) {
      status_ |= kModeUnprepared;
      return false;
    }
    PreparedMode* mode = prepared_[found].get();
    state_.values = base_.values;
    state_.slopes = base_.slopes;
    state_.slots = slots_;
    // A configuration without a solution need not be the last one: it is judged by the values
    // before it.
    bool solved = mode != nullptr && mode->enter(t, state_, is_rehearsing_);
    bool any = false;
    for (std::size_t k = 0; solved && k < reset_pending_.size(); ++k) {
      if (!reset_pending_[k]) continue;
      any = true;
      if (!mode->reset(reset_place_[k], reset_values_[k])) status_ |= kResetLost;
    }
    if (any) solved = mode->complete(t);
    if (solved) {
      mode_ = found;
      mode->write(t, state_);
      if (round == 0 && crossing_is_past_) leave_zero(t);
      if (round == 0 && (entered_mode_ || mode_ != entered_from)) look_beyond_zero(t);
    }
    take_values(t);
    if (once || slots_ == history_[seen - 1]) return solved;
  }
  return false;
}

bool RealtimeEngine::reinitialise(double t) noexcept {
  std::fill(reset_pending_.begin(), reset_pending_.end(), false);
  if (model_.reinits.empty()) return false;
  evaluate(reinits_, t, base_);  // left limits
  bool any = false;
  for (std::size_t k = 0; k < model_.reinits.size(); ++k) {
    const bool asked = reinits_.values[k] != 0.0;
    if (asked && !reset_done_[k]) {
      reset_pending_[k] = any = true;
      reset_values_[k] = reinits_.values[model_.reinits.size() + k];
    }
    reset_done_[k] = asked;
  }
  return any;
}

bool RealtimeEngine::accept_values() noexcept {
  bool changed = false;
  for (const Sample& s : model_.samples) {
    changed = changed || slot(s.slot) != 0.0;
    slot(s.slot) = 0.0;
  }
  for (const DiscreteVariable& v : model_.discretes) {
    if (slot(v.pre) == slot(v.symbol)) continue;
    slot(v.pre) = slot(v.symbol);
    changed = true;
  }
  return changed;
}

// Values of the relations here and a little later, in values_ and ahead_.
bool RealtimeEngine::look_ahead(double t) noexcept {
  PreparedMode& mode = *prepared_[mode_];
  const double duration =
      options_.step * std::ldexp(static_cast<double>(kAheadTicks), -AffineStep::kLevels);
  mode.relations(t, values_.data());
  mode.save();
  const bool moved = mode.advance(t, duration, kAheadTicks);
  if (moved) mode.relations(t + duration, ahead_.data());
  mode.restore();
  return moved;
}

// Relations that were located at zero took the value beyond it. If the state now stays at zero or
// turns back, they take the value zero has.
bool RealtimeEngine::leave_zero(double t) noexcept {
  if (std::ranges::find(at_zero_, Zero::kFired) == at_zero_.end() || !look_ahead(t)) return false;
  bool changed = false;
  for (std::size_t r = 0; r < at_zero_.size(); ++r) {
    double& value = slot(model_.relations[r].slot);
    const bool at_zero_value = model_.relations[r].strict == Strict::kNo;
    if (at_zero_[r] != Zero::kFired || std::abs(values_[r]) > kBand * sizes_[r] ||
        (value != 0.0) == at_zero_value)
      continue;
    at_zero_[r] = Zero::kWasThere;
    const double side = value != 0.0 ? 1.0 : -1.0;
    if (side * (ahead_[r] - values_[r]) > 1e-14 * sizes_[r]) continue;
    value = 1.0 - value;
    changed = true;
  }
  return changed;
}

// Where a mode is entered, what holds only because it is at zero takes the value just after.
void RealtimeEngine::look_beyond_zero(double t) noexcept {
  bool any = false;
  prepared_[mode_]->relations(t, values_.data());
  const auto is_open = [&](std::size_t r) {
    return is_continuous_[r] && model_.relations[r].strict == Strict::kNo &&
           slots_[model_.relations[r].slot.node()->slot().index()] != 0.0 &&
           std::abs(values_[r]) <= kBand * sizes_[r];
  };
  for (std::size_t r = 0; r < values_.size() && !any; ++r) any = is_open(r);
  if (!any || !look_ahead(t)) return;
  for (std::size_t r = 0; r < values_.size(); ++r) {
    const double moved = ahead_[r] - values_[r];
    if (!is_open(r) || std::abs(moved) <= 1e-14 * sizes_[r]) continue;
    slot(model_.relations[r].slot) = moved > 0.0 ? 1.0 : 0.0;
    at_zero_[r] = Zero::kWasThere;
  }
}

// Pre: the mode's point is the left limit; fired_ marks the relations that were located.
void RealtimeEngine::settle(double t) noexcept {
  const std::size_t from = mode_;
  state_.slots = slots_;
  prepared_[mode_]->write(t, state_);
  evaluate(relation_sizes_, t, state_);
  std::copy(relation_sizes_.values.begin(), relation_sizes_.values.end(), sizes_.begin());
  prepared_[mode_]->relations(t, values_.data());
  event_.relations.clear();
  for (std::size_t r = 0; r < at_zero_.size(); ++r) {
    at_zero_[r] = std::abs(values_[r]) <= kBand * sizes_[r] ? Zero::kWasThere : Zero::kAway;
    if (!fired_[r]) continue;
    double& value = slot(model_.relations[r].slot);
    value = 1.0 - value;
    at_zero_[r] = Zero::kFired;
    event_.relations.push_back(r);
  }
  base_.values = state_.values;
  base_.slopes = state_.slopes;
  std::fill(reset_pending_.begin(), reset_pending_.end(), false);
  entered_mode_ = false;
  left_.values = state_.values;
  left_.slopes = state_.slopes;
  bool was_reset = false;
  int rounds = 0;
  const bool propagates = options_.rounds == InstantRounds::kPropagated;
  const std::size_t updates = propagates ? 1 : kMostUpdates;
  bool changed = true;
  for (std::size_t k = 0; k < updates && changed; ++k) {
    ++rounds;
    const std::size_t before = mode_;
    entry_slots_ = slots_;
    crossing_is_past_ = k > 0;  // pre() has moved on: what is at zero counts by where it goes
    bool agreed = agree(t, propagates);
    bool moved = propagates && slots_ != entry_slots_;
    if (!agreed && (status_ & kModeUnprepared) == 0) {
      // No discrete values agree with the relations they lead to (OT's automata: stuck while the
      // torque is within its bound, and sliding it is). Then the equations in force decide, as if
      // all were read by pre().
      slots_ = entry_slots_;
      mode_ = before;
      agreed = agree(t, true);
      moved = slots_ != entry_slots_;
      agreed = agreed && moved;
    }
    if (!agreed) {
      status_ |= kNotSettled;
      slots_ = entry_slots_;
      mode_ = before;
      break;
    }
    evaluate(terminations_, t, state_);
    for (std::size_t e = 0; e < model_.terminations.size(); ++e)
      if (terminations_.values[e] != 0.0) {
        is_terminated_ = true;
        terminated_by_ = e;
      }
    const bool resets = reinitialise(t);
    was_reset = was_reset || resets;
    entered_mode_ = mode_ != before || resets;
    const bool accepted = accept_values();
    changed = accepted || resets || moved;
    if (!changed) changed = leave_zero(t);
    base_.values = state_.values;
    base_.slopes = state_.slopes;
    if (is_terminated_) break;
  }
  if (changed && !is_terminated_) {
    status_ |= kNotSettled;
    is_pending_ = true;
    state_.values = base_.values;
    state_.slopes = base_.slopes;
  }
  // What is held may have changed since the last point: pre().
  state_.slots = slots_;
  if (!prepared_[mode_]->enter(t, state_, is_rehearsing_)) status_ |= kStateNotFinite;
  prepared_[mode_]->write(t, state_);
  const double blurred =
      options_.step * (options_.adjustment == StepAdjustment::kExact ? 1e-3 : 2.0);
  const std::size_t jumping =
      was_reset ? PreparedMode::npos : prepared_[mode_]->jumping_variable(left_, state_, blurred);
  if (jumping != PreparedMode::npos) {
    status_ |= kStateJumped;
    jumped_ = jumping;
  }
  evaluate(relation_sizes_, t, state_);
  std::copy(relation_sizes_.values.begin(), relation_sizes_.values.end(), sizes_.begin());
  std::fill(armed_.begin(), armed_.end(), false);
  prepared_[mode_]->relations(t, values_.data());
  arm(values_);
  std::fill(fired_.begin(), fired_.end(), false);
  if (!on_event) return;
  event_.time = t;
  event_.from = from;
  event_.to = mode_;
  event_.rounds = rounds;
  on_event(event_);
}

}  // namespace saltus
