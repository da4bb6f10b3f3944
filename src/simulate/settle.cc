#include "simulate/settle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "simulate/enter_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/event_log.h"
#include "simulate/follow_accumulation.h"
#include "simulate/lasting_mode.h"
#include "simulate/run.h"

namespace saltus {
namespace {
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Where the sequence of hops has come back to a mode with the state it had there. Once is not
// enough: chattering is answered on the second round.
const Visit* find_circle(const Run& run) {
  constexpr double kSame = 1e-12;
  const auto same = [&](const SystemState& a, const SystemState& b) {
    for (std::size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
      const double size = std::max(
          {std::abs(a.values[i]), std::abs(b.values[i]), run.system.variables()[i].nominal});
      if (!(std::abs(a.values[i] - b.values[i]) <= kSame * size)) return false;
    }
    return std::ranges::equal(a.slots, b.slots);
  };
  const Visit* before = nullptr;
  for (auto visit = run.instant.sequence.rbegin(); visit != run.instant.sequence.rend(); ++visit) {
    if (visit->mode != &run.now.mode->mode() || !same(visit->state, run.now.state)) continue;
    if (before != nullptr) return before;
    before = &*visit;
  }
  return nullptr;
}

// Violated guards lead on in the order of their indices. Where that leads round, all combinations
// that the state allows are asked; if none lasts, the run ends and names the circle.
void answer_circle(Run& run) {
  const Visit* circle = find_circle(run);
  if (circle == nullptr) return;
  std::vector<Visit>& sequence = run.instant.sequence;
  const std::optional<LastingMode> lasting =
      find_lasting_mode(run, {circle, sequence.data() + sequence.size()});
  if (!lasting) {
    std::string path;
    for (; circle != sequence.data() + sequence.size(); ++circle)
      path += fmt::format("'{}' --{}--> ", circle->mode->name, circle->guard);
    stop(run, StopReason::kEventStorm,
         fmt::format(
             "the events {} go round in circles: {}'{}'; the regions of these modes leave no "
             "room for the state: check the guards, '{}' last",
             place_of(run), path, run.now.mode->mode().name, sequence.back().guard));
    return;
  }
  run.instant.lasts = true;
  // The way round led nowhere, and is no part of the log.
  const auto first = std::ranges::find_if(
      sequence, [&](const Visit& visit) { return visit.mode == &run.now.mode->mode(); });
  run.log.result.events.resize(std::min(run.log.result.events.size(), first->events));
  const std::string guard = first->guard;
  for (auto visit = first; visit != sequence.end(); ++visit)
    --run.modes.runs[run.system.find_mode(visit->mode->name).index()]->report().visits;
  sequence.erase(first, sequence.end());
  if (lasting->id == run.now.mode->analysed().id) {
    run.now.mode->make_consistent(run.now.time, run.now.state);
    run.now.mode->restart(run.now.time);
    run.instant.transfer = {};
    return;
  }
  const AnalysedMode& from = run.now.mode->analysed();
  Event event = begin_event(run.now.time, run.now.mode->mode(), guard);
  run.now.state = lasting->from;
  run.now.left = run.now.state;
  if (enter(run, lasting->id))
    log_entry(run, std::move(event), !run.instant.sequence.empty(), &from);
}

// One hop: T from left limits, next mode, consistent point, which is stored.
void take_transition(Run& run, const Firing& firing, bool hop_follows_event) {
  const ModeRun& from = *run.now.mode;
  const std::vector<Guard>& guards = from.mode().guards;
  const std::size_t chosen = first_by_priority(guards, firing.guards);
  const Guard& guard = guards[chosen];
  run.instant.sequence.push_back(
      {&from.mode(), run.now.state, guard.name, run.log.result.events.size()});

  run.now.left = run.now.state;
  run.now.mode->transition_values(chosen, run.now.time, run.now.left, run.instant.assigned);
  Event event = begin_event(run.now.time, from.mode(), firing);
  if (run.chattering.slides.contains(from.analysed().id)) event.tags.emplace_back("sliding-exit");
  if (guard.to.empty()) event.tags.emplace_back("terminate");
  const Integrator& integrator = run.now.mode->integrator();
  // Not so on a further hop at the same instant: no step has led there.
  const double reached = std::min(run.now.time, integrator.time());
  if (integrator.time() > integrator.previous_time() && integrator.previous_time() <= reached &&
      run.now.time - reached <= 16.0 * kEpsilon * std::abs(reached))
    note_motion(run.now.mode->watch().motion(chosen, integrator, reached), event);
  if (guard.to.empty()) {
    log_event(run.log.result, std::move(event), false);
    stop(run, StopReason::kTerminated,
         fmt::format("guard '{}' ended the run {}", guard.name, place_of(run)));
    return;
  }
  run.instant.set.assign(run.system.variables().size(), false);
  for (std::size_t i = 0; i < guard.set.size(); ++i) {
    const Expr& target = guard.set[i].variable;
    if (!std::isfinite(run.instant.assigned[i])) {
      stop(run, StopReason::kNotFinite,
           fmt::format("the transition of guard '{}' {} sets '{}' to a value that is not finite",
                       guard.name, place_of(run), to_string(target)));
      stay_in(run, from.analysed().id);
      return;
    }
    if (target.is_slot()) {
      run.now.state.slots[target.node()->slot().index()] = run.instant.assigned[i];
      if (run.instant.assigned[i] != run.now.left.value_of(target))
        event.discrete[to_string(target)] = {run.now.left.value_of(target),
                                             run.instant.assigned[i]};
    } else {
      run.now.state.values[target.node()->variable().index()] = run.instant.assigned[i];
      run.instant.set[target.node()->variable().index()] = true;
    }
  }
  if (run.tangents != nullptr)
    run.tangents->assign(*run.now.mode, chosen, guard.set, run.now.time, run.now.left);
  const ModeId former = from.analysed().id;
  try {
    enter(run, run.system.find_mode(guard.to));
  } catch (const Error& error) {
    // A mode that turns out wrong during a run must not cost the results so far.
    stop(run, StopReason::kSingular, error.what());
  }
  if (run.log.stopped) {
    stay_in(run, former);
    return;
  }
  if (!run.instant.transfer.ends_at_once())
    run.now.mode->measure_constraints(run.now.time, run.now.state, true);
  note_release(run, from.analysed().id);
  run.zeno.record(run.now.time, {from.analysed().id, chosen}, event.condition, run.now.left.values,
                  run.now.state.values);

  note_pinnacle(run.now.mode->mode(), run.instant.transfer, event);
  event.impulses = run.instant.transfer.impulses;
  log_entry(run, std::move(event), hop_follows_event, &from.analysed());
}

// What falls from zero where the mode begins. Where nothing tells, the first step does.
const Firing& find_falling(Run& run) {
  run.instant.falling = {
      falling_guards(run, *run.now.mode, run.now.state), run.now.time, true, false, {}};
  return run.instant.falling;
}

// One hop: by contacts, by what answers chattering, or by the ordinary way.
void take_hop(Run& run, const Firing& firing, bool hop_follows_event) {
  run.log.recorder->store(run.now.time, run.now.mode->analysed().id, run.now.state);
  if (run.events != nullptr && release_contacts(run, firing, hop_follows_event)) return;
  // A mode whose projection was cut short has no flow that could chatter.
  if (&firing != &run.instant.cut_short && answer_chattering(run, firing, hop_follows_event))
    return;
  if (run.events != nullptr) {
    take_flat_event(run, firing, hop_follows_event);
  } else {
    take_transition(run, firing, hop_follows_event);
    if (!run.log.stopped) answer_circle(run);
  }
}

}  // namespace

std::size_t first_by_priority(const std::vector<Guard>& guards,
                              const std::vector<std::size_t>& fired) {
  std::size_t chosen = fired.front();
  for (const std::size_t g : fired)
    if (guards[g].priority < guards[chosen].priority) chosen = g;
  return chosen;
}

void log_event(SimulateResult& result, Event event, bool hop_follows_event) {
  if (hop_follows_event) mark_instantaneous(result.events.back());
  classify(event);
  result.events.push_back(std::move(event));
}

void log_entry(Run& run, Event event, bool hop_follows_event, const AnalysedMode* from) {
  Moment& now = run.now;
  now.left.values.resize(now.state.values.size(), 0.0);  // modes made since bring unknowns
  now.left.slopes.resize(now.state.values.size(), 0.0);
  run.log.recorder->store(now.time, now.mode->analysed().id, now.state);
  event.to = now.mode->mode().name;
  note_changes(run.system, *now.mode, now.left, now.state, event, from, run.instant.set);
  if (run.events != nullptr) event.discrete.merge(run.events->changes(now.left, now.state));
  log_event(run.log.result, std::move(event), hop_follows_event);
}

const Firing& next_firing(Run& run) {
  Instant& instant = run.instant;
  if (instant.transfer.ends_at_once()) {
    instant.cut_short = {};
    instant.cut_short.guards = instant.transfer.guards;
    instant.cut_short.time = run.now.time;
    instant.cut_short.at_step_start = true;
    return instant.cut_short;
  }
  const Firing& firing = arm_guards(*run.now.mode, run.now.time);
  if (run.events == nullptr) return firing.fired() ? firing : find_falling(run);
  const Firing* impact = next_impact(run);
  return impact != nullptr ? *impact : firing;
}

void stay_in(Run& run, ModeId id) {
  run.now.state = run.now.left;
  run.now.mode = run.modes.runs[id.index()].get();
}

void settle_hops(Run& run, const Firing& first) {
  run.instant.sequence.clear();
  run.instant.lasts = false;
  const std::size_t logged = run.log.result.events.size();
  // A guard that was zero and left the wrong way: the mode lasted for no time.
  const bool follows =
      run.events == nullptr && first.at_step_start && run.instant.hops > 0 && logged > 0;
  for (const Firing* firing = &first; firing->fired(); firing = &next_firing(run)) {
    if (run.events == nullptr && rest_at_once(run, *firing)) return;
    const bool is_impact = firing == &run.contacts.impact;
    if (!is_impact && ++run.instant.hops > run.settings.options.max_hops) {
      std::vector<std::string> names;
      for (const std::size_t g : firing->guards)
        names.push_back(run.now.mode->mode().guards[g].name);
      stop(run, StopReason::kEventStorm,
           fmt::format("more than {} events {}: '{}' never clears", run.settings.options.max_hops,
                       place_of(run), fmt::join(names, "', '")));
      return;
    }
    take_hop(run, *firing, follows || run.log.result.events.size() > logged);
    if (run.log.stopped) return;
    if (!run.instant.lasts) continue;
    arm_guards(*run.now.mode, run.now.time, true);
    break;
  }
  flag_cycles(run);
  if (run.log.stopped) return;
  run.events != nullptr ? follow_contacts(run) : follow_accumulation(run);
}

void settle(Run& run, const Firing& first) {
  ModeRun& mode = *run.now.mode;
  // In flat models conditions of time are relations, and frozen.
  if (run.events == nullptr)
    run.now.time = std::min(mode.just_after_break(run.now.time),
                            std::max(run.now.time, run.settings.stop_time));
  const double now = run.now.time;
  if (!first.at_step_start) mode.remember_step();
  if (now - run.instant.time > 8.0 * kEpsilon * std::abs(now)) run.instant.hops = 0;
  run.instant.time = now;
  run.instant.guard = mode.mode().guards[first.guards.front()].name;
  if (run.tangents != nullptr)
    run.tangents->begin_event(mode, first.guards.front(), now, first.at_step_start);
  settle_hops(run, first);
}

void enter_initial_mode(Run& run) {
  const Termination* end = nullptr;
  const bool is_flat = run.system.flat() != nullptr;
  if (!(is_flat ? enter_initial_flat_mode(run, end)
                : enter(run, run.system.find_mode(run.system.initial_mode), true)))
    return;
  warn_of_unstable_rest(run);
  run.log.recorder->store(run.now.time, run.now.mode->analysed().id, run.now.state);
  if (end != nullptr) {
    stop(run, StopReason::kTerminated, fmt::format("{} {}", end->message, place_of(run)));
    return;
  }
  check_assertions(run);
  if (run.log.stopped) return;
  const Firing& outside = next_firing(run);
  if (outside.fired()) settle(run, outside);
}

void log_grazings(Run& run) {
  for (const Grazing& grazing : run.now.mode->watch().grazings()) {
    const Guard& guard = run.now.mode->mode().guards[grazing.guard];
    Event event = begin_event(grazing.time, run.now.mode->mode(),
                              fmt::format("{}: {} touches 0", guard.name, to_string(guard.value)));
    note_motion(grazing.motion, event);
    event.tags = {"grazing"};
    log_event(run.log.result, std::move(event), false);
  }
}

}  // namespace saltus
