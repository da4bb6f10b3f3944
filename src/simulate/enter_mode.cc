#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/build.h"
#include "simulate/event_iteration.h"
#include "simulate/first_integral.h"
#include "simulate/simulation.h"

// What happens on the way into a mode besides finding its consistent point.

namespace saltus {

// Where guards of the mode just entered are zero and stay so because they are first integrals, the
// run goes on in the mode with these constraints. True if it has done so, or stopped.
bool Simulation::stay_within_first_integrals(bool at_start) {
  if (events_ != nullptr && run_->analysed().unknowns.size() > kLargestByNumbers) return false;
  const ModeId id = run_->analysed().id;
  std::vector<std::size_t> zero =
      run_->watch().at_zero(time_, run_->point().data(), run_->slope().data());
  // In flat models many relations rest at zero. Integrators keep what is linear there by
  // themselves.
  if (events_ != nullptr)
    std::erase_if(zero, [&](std::size_t g) {
      const Guard& guard = run_->mode().guards[g];
      return !guard.is_relation || !is_curved(guard.value);
    });
  if (zero.empty()) return false;
  KnownGuards& known = known_guards_[id];
  std::map<std::size_t, bool>& answers = known.is_first_integral[state_.slots];
  bool moved = false;
  for (const std::size_t g : zero) {
    if (answers.contains(g)) continue;
    const BuildingTime building;
    answers[g] = is_first_integral(system_, *run_, g, time_, state_);
    moved = true;
  }
  if (moved) run_->make_consistent(time_, state_);
  std::erase_if(zero, [&](std::size_t g) { return !answers[g]; });
  if (zero.empty()) return false;
  const auto found = known.constrained.find(zero);
  ModeId next;
  if (found != known.constrained.end()) {
    next = found->second;
  } else {
    Mode mode = constrain(run_->mode(), zero);
    std::vector<std::string> names;
    for (const std::size_t g : zero) names.push_back(run_->mode().guards[g].name);
    result_.warnings.push_back(
        fmt::format("guard '{}' of mode '{}' is constant along its solutions and zero {}: it is "
                    "kept as a constraint and cannot fire",
                    fmt::join(names, "', '"), run_->mode().name, place()));
    next = add_mode(std::move(mode));
    known.constrained.emplace(zero, next);
    chattering_.take_over(id, next, zero);
    if (const FlatView* view = view_of(id)) {
      FlatView within{view->flat_mode, {}, {}};
      for (std::size_t g = 0; g < view->guards.size(); ++g) {
        if (std::ranges::find(zero, g) != zero.end()) continue;
        within.guards.push_back(view->guards[g]);
        within.contacts.push_back(view->contacts[g]);
      }
      views_.emplace(next, std::move(within));
    }
  }
  --run_->report().visits;
  enter(next, at_start);
  return true;
}

// Reinits read left limits; numbers that events keep must not depend on anything that moves.
void Simulation::differentiate_flat_event() {
  const FlatModel& model = system_.flat()->reduced;
  SystemState at = left_;
  at.slots = state_.slots;
  for (const DiscreteVariable& v : model.discretes) {
    const std::size_t pre = v.pre.node()->slot().index();
    at.slots[pre] = left_.slots[pre];
    if (v.type != DiscreteType::kReal || left_.value_of(v.symbol) == state_.value_of(v.symbol))
      continue;
    for (const DiscreteEquation& e : model.discrete_equations)
      if (e.target.same_as(v.symbol)) tangents_->require_constant(e.value, v.name, time_);
  }
  std::vector<Assignment> assigned;
  replay_ = left_;
  replay_->slots = state_.slots;
  for (const std::size_t k : events_->reinits_taken()) {
    const Reinit& reinit = model.reinits[k];
    const std::size_t i = reinit.variable.node()->index;
    assigned.push_back({reinit.variable, reinit.value});
    replay_->values[i] = state_.values[i];
    set_[i] = true;
  }
  // What is carried obeys the impulse rule: it goes into the mode as it was.
  for (const EventIteration::Handed& handed : events_->handed_over()) {
    const Reinit& reinit = model.reinits[handed.reinit];
    if (!reinit.variable.is_variable()) continue;
    const std::size_t i = reinit.variable.node()->index;
    assigned.push_back({reinit.variable, reinit.value});
    replay_->values[i] = handed.value;
    set_[i] = reinit.handover == Handover::kSet;
  }
  tangents_->reinitialise(assigned, time_, at, run_->data().parameters);
}

void Simulation::differentiate_entry(const SystemState& before, const std::vector<bool>& set,
                                     bool at_start) {
  std::vector<bool> fixed;
  for (const Variable& v : system_.variables()) fixed.push_back(v.fixed);
  std::vector<bool> marked = set;
  marked.resize(system_.variables().size(), false);
  const auto enter_mode = [&](double t, SystemState state) {
    if (at_start) return run_->make_start_consistent(t, state, fixed).ok();
    const SystemState from = state;
    return run_->make_consistent(t, state).ok() &&
           run_->transfer(t, from, marked, false, state).status == TransferStatus::kDone;
  };
  if (at_start) {
    tangents_->start(system_, *run_, time_, enter_mode);
    return;
  }
  if (events_ == nullptr) {
    tangents_->enter(*run_, time_, before, enter_mode);
    return;
  }
  if (at_flat_start_) {
    at_flat_start_ = false;
    for (const Sample& s : system_.flat()->reduced.samples) {
      tangents_->require_constant(s.start, "sample()", time_);
      tangents_->require_constant(s.interval, "sample()", time_);
    }
    tangents_->start_flat(system_, *run_, time_, before, [&](double t, SystemState state) {
      state.slots = before.slots;
      return events_->repeat_start(t, state, flat_mode_, run_->data().parameters);
    });
  } else {
    SystemState from = replay_ ? *replay_ : before;
    from.values.resize(before.values.size(), 0.0);
    from.slopes.resize(before.values.size(), 0.0);
    if (!enter_mode(time_, from) || !tangents_->agrees(*run_, time_, state_))
      tangents_->give_up(
          fmt::format("the event at t = {:.10g} makes several jumps at once", time_));
    tangents_->enter(*run_, time_, from, enter_mode);
  }
  run_->make_consistent(time_, state_);
}

}  // namespace saltus
