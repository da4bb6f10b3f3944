// The part of a run that only flat models have.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "expr/differentiate.h"
#include "simulate/event_iteration.h"
#include "simulate/event_log.h"
#include "simulate/messages.h"
#include "simulate/simulation.h"

namespace saltus {
namespace {

// Whether a slot that the mode's equations read has another value.
bool equations_change(const Mode& mode, const SystemState& before, const SystemState& after) {
  if (before.slots == after.slots) return false;
  std::vector<Expr> residuals;
  for (const Equation& equation : mode.equations) residuals.push_back(equation.residual());
  for (const Expr& leaf : leaves_of(residuals))
    if (leaf.is_slot() && before.value_of(leaf) != after.value_of(leaf)) return true;
  return false;
}

// Whether a machine has entered a state, be it the one it was in: each keeps the time of its last
// entry.
bool enters_state(const FlatModel& model, const SystemState& before, const SystemState& after) {
  return std::ranges::any_of(model.discretes, [&](const DiscreteVariable& v) {
    return v.name.starts_with("$entered ") && before.value_of(v.symbol) != after.value_of(v.symbol);
  });
}

}  // namespace

ModeId Simulation::flat_mode(std::size_t index) {
  while (flat_modes_.size() <= index) {
    const BuildingTime building;
    const FlatMode& flat = events_->mode(flat_modes_.size());
    FlatView view{flat_modes_.size(), {}, {}};
    view.guards.resize(flat.mode.guards.size());
    std::iota(view.guards.begin(), view.guards.end(), std::size_t{0});
    view.contacts.assign(flat.mode.guards.size(), FlatView::npos);
    flat_modes_.push_back(add_mode(flat.mode));
    views_.emplace(flat_modes_.back(), std::move(view));
    refused_.push_back(false);
  }
  return flat_modes_[index];
}

const Simulation::FlatView* Simulation::view_of(ModeId id) const {
  const auto found = views_.find(id);
  return found == views_.end() ? nullptr : &found->second;
}

std::size_t Simulation::source_of(ModeId id, std::size_t guard) const {
  const FlatView& view = views_.at(id);
  const std::size_t g = view.guards[guard];
  return g == FlatView::npos ? g : events_->mode(view.flat_mode).sources[g];
}

ModeRun* Simulation::visit_flat(std::size_t index) {
  const ModeId id = flat_mode(index);
  if (refused_[index]) return nullptr;
  try {
    if (modes_[id.index()] == nullptr) {
      const BuildingTime building;
      check_structure(system_, system_.modes()[id.index()]);
    }
    ModeRun& run = visit(id);
    chattering_.apply_widths(run);
    return &run;
  } catch (const Error&) {
    refused_[index] = true;  // said again, aloud, if the mode is entered
    return nullptr;
  }
}

void Simulation::enter_initial_flat_mode() {
  if (!system_.flat()->reduced.delays.empty()) {
    if (tangents_ != nullptr) throw Error("sensitivities of a model with delay(): not supported");
    delays_ = std::make_unique<Delays>(system_, start_time_, tolerance_);
    require_few_steps(delays_->longest_step(), "delay() by");
  }
  {
    const BuildingTime building;
    events_ = std::make_unique<EventIteration>(
        system_, [this](std::size_t index) { return visit_flat(index); },
        [this] { return is_interrupted(); },
        options_.chattering == ChatteringAnswer::kFilippov
            ? std::function([this](std::size_t surface) {
                return chattering_.weight_of(events_->modes().surfaces()[surface].value);
              })
            : nullptr);
    events_->try_modes_by([this, unsettled = std::set<std::size_t>()](std::size_t index) mutable {
      const ModeId id = flat_mode(index);
      std::unique_ptr<ModeRun>& run = modes_[id.index()];
      if (run != nullptr || refused_[index]) return visit_flat(index);
      if (unsettled.contains(index)) return static_cast<ModeRun*>(nullptr);
      try {
        const BuildingTime analysing;
        check_structure(system_, system_.modes()[id.index()]);
        run = make_mode_run(system_, id, options_, tolerance_, time_, state_, result_.warnings);
      } catch (const Error&) {
      }
      if (run == nullptr) {
        unsettled.insert(index);
        return static_cast<ModeRun*>(nullptr);
      }
      visited_.push_back(id);
      return visit_flat(index);
    });
  }
  const FlatModel& model = system_.flat()->reduced;
  warned_.assign(model.assertions.size(), false);
  result_.warnings.insert(result_.warnings.begin(), model.warnings.begin(), model.warnings.end());
  const Settled settled = events_->start(time_, state_);
  if (!settled.ok) {
    stop(is_interrupted() ? StopReason::kInterrupted : StopReason::kInconsistent, settled.problem);
    return;
  }
  flat_mode_ = settled.mode;
  const ModeId id = flat_mode(flat_mode_);
  if (refused_[flat_mode_]) check_structure(system_, system_.modes()[id.index()]);
  at_flat_start_ = true;
  log_start(settled);
  if (!enter(id)) return;
  warn_of_unstable_rest();
  recorder_->store(time_, run_->analysed().id, state_);
  if (settled.termination != nullptr) {
    stop(StopReason::kTerminated, fmt::format("{} {}", settled.termination->message, place()));
    return;
  }
  check_assertions();
  if (stopped_) return;
  const Firing& outside =
      run_->watch().start(time_, run_->integrator().x().data(), run_->integrator().dx().data());
  if (outside.fired()) settle(outside);
}

void Simulation::settle_flat(const Firing& first) {
  const Firing* firing = &first;
  const std::size_t logged = result_.events.size();
  bool is_impact = false;
  while (firing->fired()) {
    const bool hop_follows_event = result_.events.size() > logged;
    if (!is_impact && ++hops_ > options_.max_hops) {
      stop(StopReason::kEventStorm,
           fmt::format("more than {} events {}: '{}' keeps changing", options_.max_hops, place(),
                       run_->mode().guards[firing->guards.front()].name));
      return;
    }
    recorder_->store(time_, run_->analysed().id, state_);
    if (!contacts_.release(*firing, hop_follows_event) &&
        !chattering_.answer(*firing, hop_follows_event))
      take_flat_event(*firing, hop_follows_event);
    if (stopped_) return;
    firing =
        &run_->watch().start(time_, run_->integrator().x().data(), run_->integrator().dx().data());
    const Firing* impact = contacts_.next_impact();
    is_impact = impact != nullptr;
    if (is_impact) firing = impact;
  }
  chattering_.flag_cycles();
  if (!stopped_) contacts_.follow();
}

// One event iteration: the right limit is stored, and one event is logged.
bool Simulation::take_flat_event(const Firing& firing, bool hop_follows_event) {
  const ModeRun& from = *run_;
  const ModeId from_id = from.analysed().id;
  const std::size_t former = flat_mode_;
  left_ = state_;
  Event event = begin_event(time_, from.mode(), firing);
  event.causes.clear();
  const FlatView& view = *view_of(from.analysed().id);
  std::vector<std::size_t> fired;  // guards of the flat mode
  std::vector<bool> from_band;
  for (const std::size_t g : firing.guards) {
    event.causes.push_back(from.mode().guards[g].name);
    if (view.guards[g] == FlatView::npos) continue;
    fired.push_back(view.guards[g]);
    from_band.push_back(run_->watch().left_band(g));
  }
  const Integrator& integrator = run_->integrator();
  // Not so on a further hop at the same instant: no step has led there.
  if (!firing.is_time_event && integrator.time() > integrator.previous_time() &&
      integrator.previous_time() <= time_ && time_ <= integrator.time())
    note_motion(run_->watch().motion(firing.guards.front(), integrator, time_), event);
  const std::vector<std::size_t>& sources = events_->mode(flat_mode_).sources;
  if (delays_ != nullptr) delays_->begin_event(time_);
  const Settled settled = events_->run(time_, state_, flat_mode_, fired, from_band);
  if (!settled.ok) {
    stop(is_interrupted() ? StopReason::kInterrupted : StopReason::kInconsistent, settled.problem);
    state_ = left_;
    return false;
  }
  std::vector<std::size_t> relations;
  for (const std::size_t g : fired)
    if (sources[g] < system_.flat()->reduced.relations.size()) relations.push_back(sources[g]);
  if (delays_ != nullptr) {
    const auto arrives = [&](std::size_t g) {
      const FlatModel& model = system_.flat()->reduced;
      return sources[g] >= model.relations.size() &&
             !events_->modes().is_weight_source(sources[g]) &&
             model.samples[sources[g] - model.relations.size()].line != nullptr;
    };
    delays_->end_event(time_, std::ranges::all_of(fired, arrives), state_);
  }
  try {
    flat_mode_ = settled.mode;
    set_.assign(system_.variables().size(), false);
    const ModeId id = flat_mode(flat_mode_);
    if (refused_[flat_mode_]) check_structure(system_, system_.modes()[id.index()]);
    if (tangents_ != nullptr) differentiate_flat_event();
    contacts_.holding() ? contacts_.enter_after_event(flat_mode_) : enter(id);
  } catch (const Error& error) {
    stop(StopReason::kSingular, error.what());
  }
  if (stopped_) {
    stay_in(from_id);
    flat_mode_ = former;
    return false;
  }
  replay_.reset();
  contacts_.note_event(former, relations, events_->reinits_taken(), left_, state_);
  const ModeRun* last = &from;
  // Events within a mode enter nothing.
  const bool enters = enters_state(system_.flat()->reduced, left_, state_);
  if (!enters && settled.hops.empty() && run_ == &from) --run_->report().visits;
  if (settled.tie) event.tags.emplace_back("tie");
  for (const Hop& hop : settled.hops) {
    ModeRun* passed = modes_[flat_mode(hop.mode).index()].get();
    if (passed == nullptr) continue;  // values were handed on, the mode itself has no solution
    log_hop(hop, *last, *passed, hop_follows_event, event);
    last = passed;
    hop_follows_event = true;
  }
  left_ = settled.left;
  left_.values.resize(state_.values.size(), 0.0);
  left_.slopes.resize(state_.values.size(), 0.0);
  recorder_->store(time_, run_->analysed().id, state_);
  result_.warnings.insert(result_.warnings.end(), settled.warnings.begin(), settled.warnings.end());
  event.to = run_->mode().name;
  event.iterations = settled.iterations;
  note_changes(system_, run_->analysed(), left_, state_, event, &last->analysed());
  event.impulses = settled.impulses;
  event.discrete.merge(events_->changes(left_, state_));
  if (settled.termination != nullptr) event.tags.emplace_back("terminate");
  const std::vector<std::size_t>& held_before = events_->mode(former).held;
  const std::vector<std::size_t>& held_now = events_->mode(flat_mode_).held;
  if (!std::ranges::includes(held_before, held_now)) {
    event.tags.emplace_back("sliding-entry");
  } else if (held_before.size() > held_now.size()) {
    event.tags.emplace_back("sliding-exit");
  }
  if (held_before != held_now) event.ontology = "continuous sliding";
  // A relation that nothing follows from is no event to the reader of the log.
  if (event.from != event.to || enters || !event.jumps.empty() || !event.discrete.empty() ||
      !settled.hops.empty() || settled.termination != nullptr ||
      equations_change(run_->mode(), left_, state_)) {
    classify(event);
    if (hop_follows_event) mark_instantaneous(result_.events.back());
    result_.events.push_back(std::move(event));
  } else {
    ++silent_events_;
  }
  if (settled.termination != nullptr)
    stop(StopReason::kTerminated, fmt::format("{} {}", settled.termination->message, place()));
  check_assertions();
  return !stopped_;
}

void Simulation::settle_end() {
  if (stopped_ || run_ == nullptr || events_ == nullptr) return;
  const Expr& terminal = system_.flat()->terminal;
  if (!terminal.is_slot()) return;
  catch_up();
  state_.slots[terminal.node()->slot().index()] = 1.0;
  Firing end;
  end.time = time_;
  end.is_time_event = true;
  take_flat_event(end, false);
}

// A hop of its own: into a mode that was left at once. `event` is what led there, and becomes what
// leads on.
void Simulation::log_hop(const Hop& hop, const ModeRun& from, ModeRun& into, bool hop_follows_event,
                         Event& event) {
  SystemState left = hop.left;
  SystemState at = hop.at;
  for (SystemState* s : {&left, &at}) {
    s->values.resize(state_.values.size(), 0.0);
    s->slopes.resize(state_.values.size(), 0.0);
  }
  recorder_->store(time_, into.analysed().id, at);
  ++into.report().visits;
  event.to = into.mode().name;
  note_changes(system_, into.analysed(), left, at, event, &from.analysed());
  event.discrete.merge(events_->changes(left, at));
  event.impulses = hop.impulses;
  if (hop.fraction < 1.0) {
    event.ontology = "pinnacle";
    event.fraction = hop.fraction;
    event.causes.push_back(fmt::format("projection into '{}' cut short after {:.6g} of the way: {}",
                                       event.to, hop.fraction, hop.cause));
  }
  classify(event);
  mark_instantaneous(event);
  if (hop_follows_event) mark_instantaneous(result_.events.back());
  result_.events.push_back(std::move(event));
  event = begin_event(time_, into.mode(), hop.cause);
}

// What the event iteration at the start has changed after the initial problem was solved.
void Simulation::log_start(const Settled& settled) {
  const auto run_of = [&](std::size_t mode) { return modes_[flat_mode(mode).index()].get(); };
  const ModeRun* first = run_of(settled.first_mode);
  const ModeRun* last = run_of(settled.mode);
  if (first == nullptr || last == nullptr) return;
  result_.warnings.insert(result_.warnings.end(), settled.warnings.begin(), settled.warnings.end());
  Event event = begin_event(time_, first->mode(), "the start");
  const bool follows = !settled.hops.empty();
  const SystemState& begins = follows ? settled.hops.front().left : settled.left;
  if (!follows) {
    note_changes(system_, last->analysed(), begins, state_, event, &first->analysed());
    event.discrete.merge(events_->changes(begins, state_));
    const auto switches = [&](const MachineSymbols& m) {
      return begins.value_of(m.active) != state_.value_of(m.active);
    };
    if (std::ranges::none_of(system_.flat()->reduced.machines, switches)) return;
  }
  recorder_->store(time_, first->analysed().id, begins);
  for (const Hop& hop : settled.hops) {
    ModeRun* passed = run_of(hop.mode);
    if (passed == nullptr) continue;
    log_hop(hop, *first, *passed, &hop != &settled.hops.front(), event);
    first = passed;
  }
  event.to = last->mode().name;
  event.iterations = settled.iterations;
  event.impulses = settled.impulses;
  if (settled.tie) event.tags.emplace_back("tie");
  if (follows) {
    note_changes(system_, last->analysed(), settled.left, state_, event, &first->analysed());
    event.discrete.merge(events_->changes(settled.left, state_));
  }
  classify(event);
  if (follows) mark_instantaneous(result_.events.back());
  result_.events.push_back(std::move(event));
}

void Simulation::check_assertions() {
  if (events_ == nullptr) return;
  print_messages();
  if (stopped_) return;
  const FlatModel& model = system_.flat()->reduced;
  for (std::ptrdiff_t k; (k = events_->failed_assertion(time_, state_, warned_)) >= 0;) {
    const auto i = static_cast<std::size_t>(k);
    const Assertion& assertion = model.assertions[i];
    const Error said(fmt::format("assertion does not hold {}: {}", place(),
                                 messages_->filled(assertion.message, time_, state_)),
                     assertion.where);
    warned_[i] = true;
    if (!assertion.is_warning) {
      stop(StopReason::kAssertion, said.what());
      return;
    }
    const SourceLocation& at = assertion.where;
    const std::string warning = at.file.empty() ? said.message()
                                                : fmt::format("{}:{}:{}: warning: {}", at.file,
                                                              at.line, at.column, said.message());
    result_.warnings.push_back(warning);
  }
}

void Simulation::print_messages() {
  try {
    messages_->print(time_, state_, options_.print);
  } catch (const Error& error) {
    if (!stopped_) stop(StopReason::kOutputFailed, fmt::format("{} {}", error.what(), place()));
  }
}

// The values of the modes as they were written, before aliases were eliminated.
void Simulation::describe_flat_modes() {
  for (std::size_t k = 0; k < flat_modes_.size(); ++k) {
    ModeRun* run = modes_[flat_modes_[k].index()].get();
    if (run == nullptr) continue;
    const FlatMode& mode = events_->mode(k);
    ModeReport& report = run->report();
    const auto eliminated =
        static_cast<int>(mode.unknowns) - static_cast<int>(run->analysed().unknowns.size());
    report.conditions = mode.conditions;
    report.unknowns = mode.unknowns;
    // Aliases change the other values, but not d: where it differs, structure was misled.
    if (run->integrated_by_structure() && mode.values.d + mode.values.a > 0 &&
        mode.values.d == run->analysed().values.d) {
      report.mu = mode.values.mu;
      report.d = mode.values.d;
      report.a = mode.values.a;
    } else {
      report.a += eliminated;
    }
  }
}

void Simulation::list_derived_values() {
  std::vector<Expr> values;
  for (const Derived& d : system_.derived()) values.push_back(d.value);
  if (values.empty()) return;
  const Tape tape(values, state_inputs(system_), TapeCode::kInterpreted);
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> parameters, results(values.size());
  for (const Parameter& p : system_.parameters()) parameters.push_back(p.value);
  const SystemState& at = run_ == nullptr ? state_ : recorder_->shown(run_->analysed().id, state_);
  const double* inputs[] = {&time_, at.values.data(), at.slopes.data(), parameters.data(),
                            at.slots.data()};
  tape.evaluate(inputs, registers, results.data());
  for (std::size_t k = 0; k < values.size(); ++k)
    result_.final[system_.derived()[k].name] = results[k];
}

}  // namespace saltus
