// Events of flat models.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "expr/differentiate.h"
#include "simulate/advance.h"
#include "simulate/enter_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/event_log.h"
#include "simulate/run.h"
#include "simulate/settle.h"

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

// Weights of surfaces that were held since are added.
void fit(SystemState& state, const SystemState& latest) {
  state.values.resize(latest.values.size(), 0.0);
  state.slopes.resize(latest.values.size(), 0.0);
}

// Where constraints imply each other only one of many splits of their forces is shown.
void warn_of_open_split(Run& run) {
  FlatModes& modes = run.events->modes();
  const std::optional<std::size_t> open = modes.mode(run.now.flat_mode).closes;
  if (!open) return;
  const OpenSplit& split = *modes.open_split(*open);
  std::set<std::string> names;
  for (const std::size_t i : split.closing)
    for (const Expr& leaf : leaves_of(split.equations[i].residual()))
      if (leaf.is_variable())
        names.insert(fmt::format("'{}'", run.system.variables()[leaf.node()->index].name));
  const std::string text =
      fmt::format("the split between {} is not unique", fmt::join(names, ", "));
  std::vector<std::string>& warnings = run.log.result.warnings;
  if (std::ranges::none_of(warnings, [&](const auto& w) { return w.starts_with(text); }))
    warnings.push_back(
        fmt::format("{} from t = {:.10g} on; one that keeps within all bounds on "
                    "them is taken, if there is one",
                    text, run.now.time));
}

// A hop of its own: into a mode that was left at once. `event` is what led there, and becomes what
// leads on.
void log_hop(Run& run, const Hop& hop, const ModeRun& from, ModeRun& into, bool hop_follows_event,
             Event& event) {
  SystemState left = hop.left;
  SystemState at = hop.at;
  for (SystemState* s : {&left, &at}) fit(*s, run.now.state);
  run.log.recorder->store(run.now.time, into.analysed().id, at);
  ++into.report().visits;
  event.to = into.mode().name;
  note_changes(run.system, into, left, at, event, &from.analysed());
  event.discrete.merge(run.events->changes(left, at));
  event.impulses = hop.impulses;
  if (hop.fraction < 1.0) {
    event.ontology = "pinnacle";
    event.fraction = hop.fraction;
    event.causes.push_back(fmt::format("projection into '{}' cut short after {:.6g} of the way: {}",
                                       event.to, hop.fraction, hop.cause));
  }
  log_event(run.log.result, std::move(event), hop_follows_event);
  mark_instantaneous(run.log.result.events.back());
  event = begin_event(run.now.time, into.mode(), hop.cause);
}

// What the event iteration at the start has changed after the initial problem was solved.
void log_start(Run& run, const Settled& settled) {
  const auto run_of = [&](std::size_t mode) {
    return run.modes.runs[flat_mode(run, mode).index()].get();
  };
  const ModeRun* first = run_of(settled.first_mode);
  const ModeRun* last = run_of(settled.mode);
  if (first == nullptr || last == nullptr) return;
  run.log.result.warnings.insert(run.log.result.warnings.end(), settled.warnings.begin(),
                                 settled.warnings.end());
  Event event = begin_event(run.now.time, first->mode(), "the start");
  const bool follows = !settled.hops.empty();
  SystemState begins = follows ? settled.hops.front().left : settled.left;
  fit(begins, run.now.state);
  if (!follows) {
    note_changes(run.system, *last, begins, run.now.state, event, &first->analysed());
    event.discrete.merge(run.events->changes(begins, run.now.state));
    const auto switches = [&](const MachineSymbols& m) {
      return begins.value_of(m.active) != run.now.state.value_of(m.active);
    };
    if (std::ranges::none_of(run.system.flat()->reduced.machines, switches)) return;
  }
  run.log.recorder->store(run.now.time, first->analysed().id, begins);
  for (const Hop& hop : settled.hops) {
    ModeRun* passed = run_of(hop.mode);
    if (passed == nullptr) continue;
    log_hop(run, hop, *first, *passed, &hop != &settled.hops.front(), event);
    first = passed;
  }
  event.to = last->mode().name;
  event.iterations = settled.iterations;
  event.impulses = settled.impulses;
  if (settled.tie) event.tags.emplace_back("tie");
  if (follows) {
    SystemState left = settled.left;
    fit(left, run.now.state);
    note_changes(run.system, *last, left, run.now.state, event, &first->analysed());
    event.discrete.merge(run.events->changes(left, run.now.state));
  }
  log_event(run.log.result, std::move(event), follows);
}

void print_messages(Run& run) {
  try {
    run.log.messages->print(run.now.time, run.now.state, run.settings.options.print);
  } catch (const Error& error) {
    if (!run.log.stopped)
      stop(run, StopReason::kOutputFailed, fmt::format("{} {}", error.what(), place_of(run)));
  }
}

}  // namespace

bool enter_initial_flat_mode(Run& run, const Termination*& end) {
  if (!run.system.flat()->reduced.delays.empty()) {
    if (run.tangents != nullptr)
      throw Error("sensitivities of a model with delay(): not supported");
    run.delays =
        std::make_unique<Delays>(run.system, run.settings.start_time, run.settings.tolerance);
    require_few_steps(run.settings, run.delays->longest_step(), "delay() by");
  }
  {
    const BuildingTime building;
    run.events = std::make_unique<EventIteration>(
        run.system, [&run](std::size_t index) { return visit_flat(run, index); },
        [&run] { return is_interrupted(run); },
        run.settings.options.chattering == ChatteringAnswer::kFilippov
            ? std::function([&run](std::size_t surface) {
                return weight_of(run, run.events->modes().surfaces()[surface].value);
              })
            : nullptr);
    run.events->try_modes_by(
        [&run](std::size_t index) { return visit_flat_by_structure(run, index); });
  }
  const FlatModel& model = run.system.flat()->reduced;
  run.log.warned.assign(model.assertions.size(), false);
  run.log.result.warnings.insert(run.log.result.warnings.begin(), model.warnings.begin(),
                                 model.warnings.end());
  const Settled settled = run.events->start(run.now.time, run.now.state);
  if (!settled.ok) {
    stop(run, is_interrupted(run) ? StopReason::kInterrupted : StopReason::kInconsistent,
         settled.problem);
    return false;
  }
  end = settled.termination;
  run.now.flat_mode = settled.mode;
  const ModeId id = flat_mode(run, run.now.flat_mode);
  if (run.modes.refused[run.now.flat_mode])
    check_structure(run.system, run.system.modes()[id.index()]);
  run.instant.at_flat_start = true;
  log_start(run, settled);
  warn_of_open_split(run);
  return enter(run, id);
}

// One event iteration: the right limit is stored, and one event is logged.
bool take_flat_event(Run& run, const Firing& firing, bool hop_follows_event) {
  const ModeRun& from = *run.now.mode;
  const ModeId from_id = from.analysed().id;
  const std::size_t former = run.now.flat_mode;
  run.now.left = run.now.state;
  Event event = begin_event(run.now.time, from.mode(), firing);
  event.causes.clear();
  const FlatView& view = *view_of(run, from.analysed().id);
  std::vector<std::size_t> fired;  // guards of the flat mode
  std::vector<bool> from_band;
  for (const std::size_t g : firing.guards) {
    event.causes.push_back(from.mode().guards[g].name);
    if (view.guards[g] == FlatView::npos) continue;
    fired.push_back(view.guards[g]);
    from_band.push_back(run.now.mode->watch().left_band(g));
  }
  const Integrator& integrator = run.now.mode->integrator();
  // Not so on a further hop at the same instant: no step has led there.
  if (!firing.is_time_event && integrator.time() > integrator.previous_time() &&
      integrator.previous_time() <= run.now.time && run.now.time <= integrator.time())
    note_motion(run.now.mode->watch().motion(firing.guards.front(), integrator, run.now.time),
                event);
  const std::vector<std::size_t>& sources = run.events->mode(run.now.flat_mode).sources;
  if (run.delays != nullptr) run.delays->begin_event(run.now.time);
  const Settled settled =
      run.events->run(run.now.time, run.now.state, run.now.flat_mode, fired, from_band);
  const bool may_come_back = settled.hops.empty() && settled.termination == nullptr &&
                             std::ranges::find(from_band, true) != from_band.end();
  if (!settled.ok || may_come_back) {
    SystemState after = std::exchange(run.now.state, run.now.left);
    if (settled.ok ? slide_between_values(run, firing, settled.mode, after, hop_follows_event)
                   : slide_between_states(run, firing, settled, hop_follows_event))
      return !run.log.stopped;
    if (settled.ok) run.now.state = std::move(after);
  }
  if (!settled.ok) {
    stop(run, is_interrupted(run) ? StopReason::kInterrupted : StopReason::kInconsistent,
         settled.problem);
    return false;
  }
  std::vector<std::size_t> relations;
  for (const std::size_t g : fired)
    if (sources[g] < run.system.flat()->reduced.relations.size()) relations.push_back(sources[g]);
  if (run.delays != nullptr) {
    const auto arrives = [&](std::size_t g) {
      const FlatModel& model = run.system.flat()->reduced;
      return sources[g] >= model.relations.size() &&
             !run.events->modes().is_weight_source(sources[g]) &&
             model.samples[sources[g] - model.relations.size()].line != nullptr;
    };
    run.delays->end_event(run.now.time, std::ranges::all_of(fired, arrives), run.now.state);
  }
  try {
    run.now.flat_mode = settled.mode;
    run.instant.set.assign(run.system.variables().size(), false);
    const ModeId id = flat_mode(run, run.now.flat_mode);
    if (run.modes.refused[run.now.flat_mode])
      check_structure(run.system, run.system.modes()[id.index()]);
    if (run.tangents != nullptr) differentiate_flat_event(run);
    !run.contacts.held.empty() ? enter_flat_mode(run, run.now.flat_mode) : enter(run, id);
  } catch (const Error& error) {
    stop(run, StopReason::kSingular, error.what());
  }
  if (run.log.stopped) {
    stay_in(run, from_id);
    run.now.flat_mode = former;
    return false;
  }
  run.instant.replay.reset();
  remember_change(run, former, run.now.left);
  note_resets(run, former, relations, run.events->reinits_taken(), run.now.left, run.now.state);
  const ModeRun* last = &from;
  // Events within a mode enter nothing.
  const bool enters = enters_state(run.system.flat()->reduced, run.now.left, run.now.state);
  if (!enters && settled.hops.empty() && run.now.mode == &from) --run.now.mode->report().visits;
  if (settled.tie) event.tags.emplace_back("tie");
  for (const Hop& hop : settled.hops) {
    ModeRun* passed = run.modes.runs[flat_mode(run, hop.mode).index()].get();
    if (passed == nullptr) continue;  // values were handed on, the mode itself has no solution
    log_hop(run, hop, *last, *passed, hop_follows_event, event);
    last = passed;
    hop_follows_event = true;
  }
  run.now.left = settled.left;
  fit(run.now.left, run.now.state);
  run.log.result.warnings.insert(run.log.result.warnings.end(), settled.warnings.begin(),
                                 settled.warnings.end());
  event.to = run.now.mode->mode().name;
  event.iterations = settled.iterations;
  note_changes(run.system, *run.now.mode, run.now.left, run.now.state, event, &last->analysed());
  event.impulses = settled.impulses;
  event.discrete.merge(run.events->changes(run.now.left, run.now.state));
  if (settled.termination != nullptr) event.tags.emplace_back("terminate");
  const std::vector<std::size_t>& held_before = run.events->mode(former).held;
  const std::vector<std::size_t>& held_now = run.events->mode(run.now.flat_mode).held;
  if (!std::ranges::includes(held_before, held_now)) {
    event.tags.emplace_back("sliding-entry");
  } else if (held_before.size() > held_now.size()) {
    event.tags.emplace_back("sliding-exit");
  }
  if (held_before != held_now) event.ontology = "continuous sliding";
  warn_of_open_split(run);
  // A relation that nothing follows from, or another split of the same forces, is no event to the
  // reader of the log.
  const FlatModes& modes = run.events->modes();
  if (modes.unsplit(former) != modes.unsplit(run.now.flat_mode) || enters || !event.jumps.empty() ||
      !event.discrete.empty() || !settled.hops.empty() || settled.termination != nullptr ||
      equations_change(run.now.mode->mode(), run.now.left, run.now.state)) {
    run.log.recorder->store(run.now.time, run.now.mode->analysed().id, run.now.state);
    log_event(run.log.result, std::move(event), hop_follows_event);
  } else {
    ++run.log.silent_events;
  }
  if (settled.termination != nullptr)
    stop(run, StopReason::kTerminated,
         fmt::format("{} {}", settled.termination->message, place_of(run)));
  check_assertions(run);
  return !run.log.stopped;
}

void settle_end(Run& run) {
  if (run.log.stopped || run.now.mode == nullptr || run.events == nullptr) return;
  const Expr& terminal = run.system.flat()->terminal;
  if (!terminal.is_slot()) return;
  catch_up(run);
  run.now.state.slots[terminal.node()->slot().index()] = 1.0;
  Firing end;
  end.time = run.now.time;
  end.is_time_event = true;
  take_flat_event(run, end, false);
}

void check_assertions(Run& run) {
  if (run.events == nullptr) return;
  print_messages(run);
  if (run.log.stopped) return;
  const FlatModel& model = run.system.flat()->reduced;
  for (std::ptrdiff_t k;
       (k = run.events->failed_assertion(run.now.time, run.now.state, run.log.warned)) >= 0;) {
    const auto i = static_cast<std::size_t>(k);
    const Assertion& assertion = model.assertions[i];
    const Error said(
        fmt::format("assertion does not hold {}: {}", place_of(run),
                    run.log.messages->filled(assertion.message, run.now.time, run.now.state)),
        assertion.where);
    run.log.warned[i] = true;
    if (!assertion.is_warning) {
      stop(run, StopReason::kAssertion, said.what());
      return;
    }
    const SourceLocation& at = assertion.where;
    const std::string warning = at.file.empty() ? said.message()
                                                : fmt::format("{}:{}:{}: warning: {}", at.file,
                                                              at.line, at.column, said.message());
    run.log.result.warnings.push_back(warning);
  }
}

// The values of the modes as they were written, before aliases were eliminated.
void describe_flat_modes(Run& run) {
  for (std::size_t k = 0; k < run.modes.of_flat.size(); ++k) {
    ModeRun* there = run.modes.runs[run.modes.of_flat[k].index()].get();
    if (there == nullptr) continue;
    const FlatMode& mode = run.events->mode(k);
    ModeReport& report = there->report();
    const auto eliminated =
        static_cast<int>(mode.unknowns) - static_cast<int>(there->analysed().unknowns.size());
    report.conditions = mode.conditions;
    report.unknowns = mode.unknowns;
    // Aliases change the other values, but not d: where it differs, structure was misled.
    if (there->integrated_by_structure() && mode.values.d + mode.values.a > 0 &&
        mode.values.d == there->analysed().values.d) {
      report.mu = mode.values.mu;
      report.d = mode.values.d;
      report.a = mode.values.a;
    } else {
      report.a += eliminated - static_cast<int>(mode.closing);
    }
    report.v += static_cast<int>(mode.closing);
    report.u += static_cast<int>(mode.closing);
  }
}

}  // namespace saltus
