// What transitions set and carry: reinit() in the mode of a hop, values on entry of a state between
// two hops.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "simulate/event_iteration.h"

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;

}  // namespace

// What is set belongs to this hop: the impulse rule starts from the left limits with it, so what
// the round has already projected is taken back.
bool EventIteration::reinitialise(double t, const SystemState& base, std::size_t mode,
                                  SystemState& out) {
  if (model_.reinits.empty()) return false;
  evaluate(reinits_, t, base);
  bool any = false;
  for (std::size_t k = 0; k < model_.reinits.size(); ++k) {
    if (model_.reinits[k].handover != Handover::kReset) continue;
    const bool asked = reinits_.values[k] != 0.0;
    if (asked && reset_waits(k)) continue;
    if (asked && !reinit_done_[k]) {
      if (!any && solved_ && !is_initial_) {
        for (const std::size_t i : paths_of(mode).carried) out.values[i] = base.values[i];
        impulses_.clear();
      }
      const std::size_t i = model_.reinits[k].variable.node()->index;
      out.values[i] = reinits_.values[model_.reinits.size() + k];
      set_[i] = true;
      taken_.push_back(k);
      any = true;
    }
    reinit_done_[k] = asked;
  }
  if (any && entered_from_) {
    refresh_relations(t, out);
    entered_from_ = out;
    entered_slots_ = slots_;
  }
  return any;
}

// A machine that has fired enters its next state in the next round. What is handed over is the left
// limit there. A state that is left in the instant of its entry is a hop of its own.
bool EventIteration::hand_over(double t, SystemState& out, Settled& settled) {
  bool fired = false;
  for (const MachineSymbols& m : model_.machines) {
    fired = fired || present(m.fired) != 0.0;
    settled.tie = settled.tie || present(m.tie) != 0.0;
  }
  if (!fired) return false;
  out.slots = slots_;
  if (has_entered_ && (settled.hops.empty() || settled.hops.back().at.slots != slots_)) {
    settled.hops.push_back({settled.mode, 1.0, hop_left_, out, leaving_conditions(),
                            std::exchange(settled.impulses, {})});
    hop_left_ = out;
  }
  evaluate(reinits_, t, out);
  const ModeRun* run = visit_(settled.mode);
  const auto is_unknown = [&](std::size_t i) {
    return run != nullptr && std::binary_search(run->analysed().unknowns.begin(),
                                                run->analysed().unknowns.end(), VariableId(i));
  };
  std::vector<bool> has_left(out.values.size(), false);
  for (std::size_t k = 0; k < model_.reinits.size(); ++k) {
    const Reinit& r = model_.reinits[k];
    if (r.handover == Handover::kReset || reinits_.values[k] == 0.0) continue;
    const double value = reinits_.values[model_.reinits.size() + k];
    handed_over_.push_back({k, value});
    const bool is_set = r.handover == Handover::kSet;
    if (r.variable.is_slot()) {
      put(r.variable, value);
      put(model_.pre(r.variable), value);
      if (!is_set) hop_left_.slots[r.variable.node()->slot().index()] = value;
      continue;
    }
    const std::size_t i = r.variable.node()->index;
    out.values[i] = value;
    set_[i] = is_set;
    // A jump is told against what was carried; where nothing was, there may be no value before.
    const bool has_value = is_unknown(i) && r.handover != Handover::kCarry;
    if (!has_value && (!is_set || !has_left[i])) hop_left_.values[i] = value;
    has_left[i] = true;
  }
  has_entered_ = true;
  refresh_relations(t, out);
  entered_from_ = out;
  entered_slots_ = slots_;
  return true;
}

// Relations that read what has been handed over must not judge the state entered by what was left
// in it long ago.
void EventIteration::refresh_relations(double t, const SystemState& at) {
  evaluate(relation_values_, t, at);
  for (std::size_t r = 0; r < left_values_.size(); ++r) {
    const double value = relation_values_.values[r];
    if (value == left_values_[r] || !reads_unknowns_[r] || at_zero_[r] != At::kAway) continue;
    left_values_[r] = value;
    if (std::abs(value) > kBand * sizes_[r]) put(model_.relations[r].slot, value > 0.0 ? 1.0 : 0.0);
  }
}

// Whether the relations of the moment make some machine leave its state. Takes the discrete values
// that follow from them.
bool EventIteration::machine_fires(double t, const SystemState& at) {
  SystemState there = at;
  take_values(t, there, false);
  return has_fired_machine();
}

bool EventIteration::has_fired_machine() const {
  return std::ranges::any_of(model_.machines,
                             [&](const MachineSymbols& m) { return present(m.fired) != 0.0; });
}

// The projection into a state just entered, judged along the way (MO): what leads out of it already
// holds at x-: nothing moves (mythical); it does so by an impulse or on the way: cut short there.
bool EventIteration::leave_on_the_way(double t, SystemState& out, Settled& settled) {
  if (!entered_from_ || !solved_) return false;
  const SystemState from = std::move(*entered_from_);
  entered_from_.reset();
  const std::vector<double> jumps = jumps_into(settled.mode, from, out);
  if (jumps.empty() || settled.hops.size() > static_cast<std::size_t>(kMostRounds)) return false;
  const std::vector<double> slots = slots_;
  accept_values();
  for (std::size_t r = 0; r < model_.relations.size(); ++r)
    if (reads_unknowns_[r])
      put(model_.relations[r].slot,
          entered_slots_[model_.relations[r].slot.node()->slot().index()]);
  const std::optional<Exit> exit =
      find_exit(t, from, jumps, settled.mode, true,
                [&](const SystemState& at) { return machine_fires(t, at); });
  if (!exit) {
    slots_ = slots;
    return false;
  }
  std::map<std::string, double> impulses;
  for (const auto& [name, value] : impulses_)
    if (exit->fraction > 0.0) impulses[name] = exit->fraction * value;
  impulses_.clear();
  out = exit->at;
  out.slots = slots_;
  const double fraction = exit->relations.empty() ? 1.0 : exit->fraction;  // there is no way to go
  settled.hops.push_back(
      {settled.mode, fraction, hop_left_, out, leaving_conditions(), std::move(impulses)});
  hop_left_ = out;
  return true;
}

// What leads out of states and holds now.
std::string EventIteration::leaving_conditions() const {
  std::vector<std::string> conditions;
  for (const Relation& r : model_.relations)
    if (r.leaves_state && present(r.slot) != 0.0) conditions.push_back(r.text);
  return conditions.empty() ? "" : fmt::format("'{}'", fmt::join(conditions, "', '"));
}

void EventIteration::note_values_not_kept(double t, const SystemState& base, const SystemState& out,
                                          Settled& settled) {
  if (!solved_ || transfer_.not_kept.empty()) return;
  std::vector<std::string> changes;
  for (const std::size_t j : transfer_.not_kept) {
    const std::size_t i = transfer_run_->analysed().unknowns[j].index();
    changes.push_back(fmt::format("'{}' from {:.6g} to {:.6g}", system_.variables()[i].name,
                                  base.values[i], out.values[i]));
  }
  settled.warnings.push_back(
      fmt::format("what the transition sets contradicts the equations at t = {:.10g} in mode '{}'; "
                  "changed as little as possible: {}",
                  t, transfer_run_->mode().name, fmt::join(changes, ", ")));
}

}  // namespace saltus
