#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulate/event_log.h"
#include "simulate/simulation.h"

// The part of Simulation that carries a run over the accumulation point of infinitely many events.

namespace saltus {
namespace {

// Relative: a reset by less changes nothing.
constexpr double kNoChange = 1e-12;

}  // namespace

// If the events of late accumulate, goes on at the accumulation point in the limit mode.
void Simulation::follow_accumulation() {
  std::vector<bool> moving(state_.values.size(), false);
  const AnalysedMode& present = run_->analysed();
  for (std::size_t j = 0; j < present.unknowns.size(); ++j)
    moving[present.unknowns[j].index()] = present.differential[j];
  const std::optional<Accumulation> limit = zeno_.predict(system_.variables(), moving);
  // What happens before the accumulation point is followed event by event.
  if (!limit || limit->time >= stop_time_) return;
  run_->watch().look_ahead(stop_time_);
  if (limit->time >= run_->watch().next_time_event()) return;
  go_to_limit(*limit);
}

// A reset that leaves nothing to reset (an impact without restitution): its guard, left the wrong
// way, would fire for ever. True if it has been answered.
bool Simulation::rest_at_once(const Firing& firing) {
  if (!firing.at_step_start || firing.guards.size() != 1) return false;
  const std::size_t chosen = firing.guards.front();
  const Guard& guard = run_->mode().guards[chosen];
  if (guard.set.empty() || guard.to != run_->mode().name) return false;
  const auto limit = zeno_.at_once({run_->analysed().id, chosen}, time_);
  if (!limit) return false;
  run_->transition_values(chosen, time_, state_, assigned_);
  for (std::size_t i = 0; i < guard.set.size(); ++i) {
    const double now = state_.value_of(guard.set[i].variable);
    if (!guard.set[i].variable.is_variable() ||
        std::abs(assigned_[i] - now) > kNoChange * (1.0 + std::abs(now)))
      return false;
  }
  go_to_limit(*limit);
  return true;
}

void Simulation::go_to_limit(const Accumulation& limit) {
  zeno_.clear();
  left_ = state_;
  time_ = last_event_ = limit.time;
  hops_ = 0;
  state_.values = limit.values;
  state_.values.resize(system_.variables().size(), 0.0);
  std::vector<std::string> guards;
  for (const EventKey& key : limit.cycle)
    guards.push_back(system_.modes()[key.mode.index()].guards[key.guard].name);
  Event event =
      begin_event(time_, run_->mode(),
                  fmt::format("{}: events accumulate, each cycle {:.6g} of the one before",
                              fmt::join(guards, ", "), limit.ratio));
  recorder_->store(time_, run_->analysed().id, state_);
  ModeId next;
  if (!find_limit_mode(limit, next)) {
    stop(
        StopReason::kEventStorm,
        fmt::format("events accumulate {} (Zeno) and there is no mode to go on in: give guard '{}' "
                    "the option .limit",
                    place(), guards.back()));
    return;
  }
  if (tangents_ != nullptr)
    tangents_->give_up(fmt::format("events accumulate at t = {:.10g}", time_));
  // What is left of the motion at the accumulation point has no direction of its own.
  within_region_ = false;
  try {
    if (!enter(next)) return;
  } catch (const Error& error) {
    stop(StopReason::kSingular, error.what());
    return;
  }
  within_region_ = true;
  recorder_->store(time_, run_->analysed().id, state_);
  event.to = run_->mode().name;
  event.tags.emplace_back("zeno");
  note_changes(system_, run_->analysed(), left_, state_, event);
  classify(event);
  result_.events.push_back(std::move(event));
  const Firing& outside = next_firing();
  if (outside.fired()) settle(outside);
}

// Guards that the mode just left kept at zero leave it flat.
void Simulation::note_release(ModeId from) {
  for (const MadeLimit& made : made_limits_) {
    if (!(made.limit == from && made.from == run_->analysed().id)) continue;
    std::vector<std::size_t> guards;
    for (const Contact& c : made.contacts) guards.push_back(c.guard);
    run_->watch().expect_held(guards);
  }
}

// The mode declared for a guard of the cycle, or one made for the guards that reset something.
bool Simulation::find_limit_mode(const Accumulation& limit, ModeId& mode) {
  std::vector<Contact> contacts;
  ModeId from;
  for (std::size_t k = 0; k < limit.cycle.size(); ++k) {
    const EventKey& key = limit.cycle[k];
    const Guard& guard = system_.modes()[key.mode.index()].guards[key.guard];
    if (!guard.limit.empty()) {
      mode = system_.find_mode(guard.limit);
      return true;
    }
    if (guard.set.empty()) continue;
    if (!contacts.empty() && !(key.mode == from)) return false;
    from = key.mode;
    Contact contact{key.guard, {}};
    for (const Assignment& a : guard.set)
      contact.direction.push_back(limit.jumps[k][a.variable.node()->variable().index()]);
    const bool known = std::any_of(contacts.begin(), contacts.end(),
                                   [&](const Contact& c) { return c.guard == key.guard; });
    if (!known) contacts.push_back(std::move(contact));
  }
  if (contacts.empty()) return false;
  std::sort(contacts.begin(), contacts.end(),
            [](const Contact& a, const Contact& b) { return a.guard < b.guard; });
  for (const MadeLimit& made : made_limits_) {
    const bool fits = made.from == from &&
                      std::equal(made.contacts.begin(), made.contacts.end(), contacts.begin(),
                                 contacts.end(), [&](const Contact& a, const Contact& b) {
                                   return a.same_as(b, made.directions_are_constant);
                                 });
    if (!fits) continue;
    mode = made.limit;
    return true;
  }
  std::optional<LimitMode> made =
      make_limit_mode(system_, system_.modes()[from.index()], contacts, time_, state_);
  if (!made) return false;
  mode = add_mode(std::move(made->mode));
  made_limits_.push_back({from, std::move(contacts), made->directions_are_constant, mode});
  return true;
}

}  // namespace saltus
