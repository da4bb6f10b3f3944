#include "simulate/follow_accumulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulate/enter_mode.h"
#include "simulate/event_log.h"
#include "simulate/run.h"
#include "simulate/settle.h"

// Carries a run over the accumulation point of infinitely many events.

namespace saltus {
namespace {

// Relative: a reset by less changes nothing.
constexpr double kNoChange = 1e-12;

// The mode declared for a guard of the cycle, or one made for the guards that reset something.
bool find_limit_mode(Run& run, const Accumulation& limit, ModeId& mode) {
  std::vector<Contact> contacts;
  ModeId from;
  for (std::size_t k = 0; k < limit.cycle.size(); ++k) {
    const EventKey& key = limit.cycle[k];
    const Guard& guard = run.system.modes()[key.mode.index()].guards[key.guard];
    if (!guard.limit.empty()) {
      mode = run.system.find_mode(guard.limit);
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
  for (const MadeLimit& made : run.made_limits) {
    const bool fits = made.from == from &&
                      std::equal(made.contacts.begin(), made.contacts.end(), contacts.begin(),
                                 contacts.end(), [&](const Contact& a, const Contact& b) {
                                   return a.same_as(b, made.directions_are_constant);
                                 });
    if (!fits) continue;
    mode = made.limit;
    return true;
  }
  std::optional<LimitMode> made = make_limit_mode(run.system, run.system.modes()[from.index()],
                                                  contacts, run.now.time, run.now.state);
  if (!made) return false;
  mode = add_mode(run, std::move(made->mode));
  run.made_limits.push_back({from, std::move(contacts), made->directions_are_constant, mode});
  return true;
}

void go_to_limit(Run& run, const Accumulation& limit) {
  run.zeno.clear();
  run.now.left = run.now.state;
  run.now.time = run.instant.time = limit.time;
  run.instant.hops = 0;
  run.now.state.values = limit.values;
  run.now.state.values.resize(run.system.variables().size(), 0.0);
  std::vector<std::string> guards;
  for (const EventKey& key : limit.cycle)
    guards.push_back(run.system.modes()[key.mode.index()].guards[key.guard].name);
  Event event =
      begin_event(run.now.time, run.now.mode->mode(),
                  fmt::format("{}: events accumulate, each cycle {:.6g} of the one before",
                              fmt::join(guards, ", "), limit.ratio));
  run.log.recorder->store(run.now.time, run.now.mode->analysed().id, run.now.state);
  ModeId next;
  if (!find_limit_mode(run, limit, next)) {
    stop(
        run, StopReason::kEventStorm,
        fmt::format("events accumulate {} (Zeno) and there is no mode to go on in: give guard '{}' "
                    "the option .limit",
                    place_of(run), guards.back()));
    return;
  }
  if (run.tangents != nullptr)
    run.tangents->give_up(fmt::format("events accumulate at t = {:.10g}", run.now.time));
  // What is left of the motion at the accumulation point has no direction of its own.
  run.instant.within_region = false;
  try {
    if (!enter(run, next)) return;
  } catch (const Error& error) {
    stop(run, StopReason::kSingular, error.what());
    return;
  }
  run.instant.within_region = true;
  event.tags.emplace_back("zeno");
  log_entry(run, std::move(event), false);
  const Firing& outside = next_firing(run);
  if (outside.fired()) settle(run, outside);
}

}  // namespace

// If the events of late accumulate, goes on at the accumulation point in the limit mode.
void follow_accumulation(Run& run) {
  std::vector<bool> moving(run.now.state.values.size(), false);
  const AnalysedMode& present = run.now.mode->analysed();
  for (std::size_t j = 0; j < present.unknowns.size(); ++j)
    moving[present.unknowns[j].index()] = present.differential[j];
  const std::optional<Accumulation> limit = run.zeno.predict(run.system.variables(), moving);
  // What happens before the accumulation point is followed event by event.
  if (!limit || limit->time >= run.settings.stop_time) return;
  run.now.mode->watch().look_ahead(run.settings.stop_time);
  if (limit->time >= run.now.mode->watch().next_time_event()) return;
  go_to_limit(run, *limit);
}

// A reset that leaves nothing to reset (an impact without restitution): its guard, left the wrong
// way, would fire for ever. True if it has been answered.
bool rest_at_once(Run& run, const Firing& firing) {
  if (!firing.at_step_start || firing.guards.size() != 1) return false;
  const std::size_t chosen = firing.guards.front();
  const Guard& guard = run.now.mode->mode().guards[chosen];
  if (guard.set.empty() || guard.to != run.now.mode->mode().name) return false;
  const auto limit = run.zeno.at_once({run.now.mode->analysed().id, chosen}, run.now.time);
  if (!limit) return false;
  run.now.mode->transition_values(chosen, run.now.time, run.now.state, run.instant.assigned);
  for (std::size_t i = 0; i < guard.set.size(); ++i) {
    const double now = run.now.state.value_of(guard.set[i].variable);
    if (!guard.set[i].variable.is_variable() ||
        std::abs(run.instant.assigned[i] - now) > kNoChange * (1.0 + std::abs(now)))
      return false;
  }
  go_to_limit(run, *limit);
  return true;
}

// Guards that the mode just left kept at zero leave it flat.
void note_release(Run& run, ModeId from) {
  for (const MadeLimit& made : run.made_limits) {
    if (!(made.limit == from && made.from == run.now.mode->analysed().id)) continue;
    std::vector<std::size_t> guards;
    for (const Contact& c : made.contacts) guards.push_back(c.guard);
    run.now.mode->watch().expect_held(guards);
  }
}

}  // namespace saltus
