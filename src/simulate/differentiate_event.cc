// What events do with the tangents of sensitivities.

#include <fmt/format.h>

#include "model/build.h"
#include "simulate/enter_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/run.h"

namespace saltus {

// Reinits read left limits; numbers that events keep must not depend on anything that moves.
void differentiate_flat_event(Run& run) {
  const FlatModel& model = run.system.flat()->reduced;
  SystemState at = run.now.left;
  at.slots = run.now.state.slots;
  for (const DiscreteVariable& v : model.discretes) {
    const std::size_t pre = v.pre.node()->slot().index();
    at.slots[pre] = run.now.left.slots[pre];
    if (v.type != DiscreteType::kReal ||
        run.now.left.value_of(v.symbol) == run.now.state.value_of(v.symbol))
      continue;
    for (const DiscreteEquation& e : model.discrete_equations)
      if (e.target.same_as(v.symbol))
        run.tangents->hold(e.value, {v.symbol, v.pre}, v.name, run.now.time, at,
                           run.now.mode->data().parameters);
  }
  std::vector<Assignment> assigned;
  run.instant.replay = run.now.left;
  run.instant.replay->slots = run.now.state.slots;
  for (const std::size_t k : run.events->reinits_taken()) {
    const Reinit& reinit = model.reinits[k];
    const std::size_t i = reinit.variable.node()->index;
    assigned.push_back({reinit.variable, reinit.value});
    run.instant.replay->values[i] = run.now.state.values[i];
    run.instant.set[i] = true;
  }
  // What is carried obeys the impulse rule: it goes into the mode as it was.
  for (const EventIteration::Handed& handed : run.events->handed_over()) {
    const Reinit& reinit = model.reinits[handed.reinit];
    if (!reinit.variable.is_variable()) continue;
    const std::size_t i = reinit.variable.node()->index;
    assigned.push_back({reinit.variable, reinit.value});
    run.instant.replay->values[i] = handed.value;
    run.instant.set[i] = reinit.handover == Handover::kSet;
  }
  run.tangents->reinitialise(assigned, run.now.time, at, run.now.mode->data().parameters);
}

void differentiate_entry(Run& run, const SystemState& before, const std::vector<bool>& set,
                         bool at_start) {
  std::vector<bool> fixed;
  for (const Variable& v : run.system.variables()) fixed.push_back(v.fixed);
  std::vector<bool> marked = set;
  marked.resize(run.system.variables().size(), false);
  const auto enter_mode = [&](double t, SystemState state) {
    if (at_start) return run.now.mode->make_start_consistent(t, state, fixed).ok();
    const SystemState from = state;
    return run.now.mode->make_consistent(t, state).ok() &&
           run.now.mode->transfer(t, from, marked, false, state).status == TransferStatus::kDone;
  };
  if (at_start) {
    run.tangents->start(run.system, *run.now.mode, run.now.time, enter_mode);
    return;
  }
  if (run.events == nullptr) {
    run.tangents->enter(*run.now.mode, run.now.time, before, enter_mode);
    return;
  }
  if (run.instant.at_flat_start) {
    run.instant.at_flat_start = false;
    for (const Sample& s : run.system.flat()->reduced.samples) {
      run.tangents->require_constant(s.start, "sample()", run.now.time);
      run.tangents->require_constant(s.interval, "sample()", run.now.time);
    }
    run.tangents->start_flat(run.system, *run.now.mode, run.now.time, before,
                             [&](double t, SystemState state) {
                               state.slots = before.slots;
                               return run.events->repeat_start(t, state, run.now.flat_mode,
                                                               run.now.mode->data().parameters);
                             });
  } else {
    SystemState from = run.instant.replay ? *run.instant.replay : before;
    from.values.resize(before.values.size(), 0.0);
    from.slopes.resize(before.values.size(), 0.0);
    if (!enter_mode(run.now.time, from) ||
        !run.tangents->agrees(*run.now.mode, run.now.time, run.now.state))
      run.tangents->give_up(
          fmt::format("the event at t = {:.10g} makes several jumps at once", run.now.time));
    run.tangents->enter(*run.now.mode, run.now.time, from, enter_mode);
  }
  run.now.mode->make_consistent(run.now.time, run.now.state);
}

}  // namespace saltus
