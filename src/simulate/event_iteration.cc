#include "simulate/event_iteration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;

}  // namespace

EventIteration::EventIteration(const HybridSystem& system, Visit visit,
                               std::function<bool()> is_interrupted)
    : system_(system),
      model_(system.flat()->reduced),
      modes_(system),
      visit_(std::move(visit)),
      is_interrupted_(std::move(is_interrupted)) {
  for (const Parameter& p : system.parameters()) parameters_.push_back(p.value);
  for (const Variable& v : system.variables()) fixed_.push_back(v.fixed);
  compile();
}

void EventIteration::evaluate(Formulas& formulas, double t, const SystemState& at) {
  const double* values[] = {&t, at.values.data(), at.slopes.data(), parameters_.data(),
                            slots_.data()};
  formulas.tape.evaluate(values, formulas.registers, formulas.values.data());
}

// Sizes of the relations, and which of them sit at zero.
void EventIteration::begin(double t, const SystemState& left) {
  slots_ = left.slots;
  evaluate(relation_sizes_, t, left);
  sizes_ = relation_sizes_.values;
  evaluate(relation_values_, t, left);
  for (std::size_t r = 0; r < sizes_.size(); ++r)
    at_zero_[r] = !is_initial_ && std::abs(relation_values_.values[r]) <= kBand * sizes_[r]
                      ? At::kWasThere
                      : At::kAway;
  reinit_done_.assign(model_.reinits.size(), false);
  taken_.clear();
  set_.assign(left.values.size(), false);
  impulses_.clear();
  keeps_at_zero_ = false;
  cuts_repeat_ = false;
  present_mode_followed_ = 0;
  hold_ = Hold::kNo;
}

bool EventIteration::relation_value(std::size_t r, double value) const {
  const bool strict = model_.relations[r].strict == Strict::kYes;
  const bool exact = strict ? value > 0.0 : value >= 0.0;
  if (!is_continuous_[r]) return exact;
  if (hold_ != Hold::kNo && (at_zero_[r] == At::kFired || at_zero_[r] == At::kLeftBand))
    return present(model_.relations[r].slot) != 0.0;
  if (!push_.empty() && push_[r] != 0.0) return push_[r] > 0.0;
  if (std::abs(value) > kBand * sizes_[r]) {
    const bool within = std::abs(value) <= widths_[r] + 2.0 * kBand * sizes_[r];
    return widths_[r] > 0.0 && within ? present(model_.relations[r].slot) != 0.0 : exact;
  }
  if (at_zero_[r] != At::kAway || keeps_at_zero_) return present(model_.relations[r].slot) != 0.0;
  return !strict;
}

void EventIteration::take_values(double t, SystemState& out, bool relations) {
  violated_.clear();
  for (Level& level : levels_) {
    evaluate(level.formulas, t, out);
    for (std::size_t i = 0; i < level.items.size(); ++i) {
      const std::size_t k = level.items[i];
      const double value = level.formulas.values[i];
      if (k >= model_.relations.size()) {
        put(model_.discrete_equations[k - model_.relations.size()].target, value);
        continue;
      }
      const double now = relation_value(k, value) ? 1.0 : 0.0;
      if (now == present(model_.relations[k].slot)) continue;
      if (!reads_unknowns_[k]) {
        put(model_.relations[k].slot, now);
        continue;
      }
      violated_.push_back(k);
      violation_[k] = std::abs(value) / std::max(sizes_[k], 1e-300);
      if (relations) put(model_.relations[k].slot, now);
    }
  }
  if (!is_initial_) return;
  put_initial_discrete(t, out);
  for (const DiscreteVariable& v : model_.discretes)
    if (v.is_edge) put(v.pre, present(v.symbol));
}

bool EventIteration::solve(double t, const SystemState& base, SystemState& out, std::size_t& mode) {
  ModeRun* run = nullptr;
  try {
    mode = modes_.find(parameters_, slots_);
    run = visit_(mode);
  } catch (const Error&) {
  }
  SystemState& trial = trial_;
  trial = base;
  trial.slots = slots_;
  push_.clear();
  bool ok = run != nullptr && !is_refused();
  if (ok) {
    ConsistentStatus status = find_point(t, base, *run, mode, trial);
    for (const bool assumes : {false, true}) {
      if (status != ConsistentStatus::kNotFinite) break;
      std::unique_ptr<CausalGuess>& guess = guesses_[{mode, assumes}];
      if (guess == nullptr)
        guess = std::make_unique<CausalGuess>(system_, modes_.mode(mode).mode, assumes);
      trial = base;
      trial.slots = slots_;
      guess->improve(t, parameters_, trial);
      status = find_point(t, base, *run, mode, trial);
    }
    ok = status == ConsistentStatus::kSolved;
  }
  // A configuration that has no solution need not be the last one: it is judged by the values
  // before it.
  if (ok) std::swap(out, trial);
  out.slots = slots_;
  solved_ = ok;
  return ok;
}

// In: guesses with the slots; out: a point of the mode.
ConsistentStatus EventIteration::find_point(double t, const SystemState& base, ModeRun& run,
                                            std::size_t mode, SystemState& trial) {
  if (is_initial_ && !model_.initial_equations.empty()) {
    std::unique_ptr<InitialProblem>& problem = initial_problems_[mode];
    if (problem == nullptr)
      problem = std::make_unique<InitialProblem>(
          system_, run.analysed(),
          active_equations(model_.initial_equations, modes_.mode(mode).frozen).equations);
    const ConsistentOutcome outcome = problem->solve(t, trial, fixed_);
    return outcome.ok() ? run.make_consistent(t, trial).status : outcome.status;
  }
  if (is_initial_) return run.make_start_consistent(t, trial, fixed_).status;
  const ConsistentOutcome outcome = run.make_consistent(t, trial);
  if (!outcome.ok()) return outcome.status;
  const TransferOutcome transfer = run.transfer(t, base, set_, false, trial);
  impulses_ = transfer.impulses;
  if (transfer.status == TransferStatus::kDone && !impulses_.empty())
    push_relations(t, base, trial);
  return transfer.status == TransferStatus::kDone ? ConsistentStatus::kSolved
                                                  : ConsistentStatus::kNotConverged;
}

bool EventIteration::inner(double t, const SystemState& base, SystemState& out, Settled& settled) {
  std::vector<std::vector<double>> history;
  const std::size_t pinnacles = settled.pinnacles.size();
  const auto search = [&] {
    settled.pinnacles.resize(pinnacles);  // what a search passes through never was in force
    return pivot(t, base, out, settled);
  };
  SystemState from = base;
  out = base;
  for (int round = 0; round < kMostRounds; ++round) {
    if (interrupted(t, settled)) return false;
    if (std::find(history.begin(), history.end(), slots_) != history.end()) {
      if (keeps_at_zero_) return search();
      // "Locked while |tau| <= c" against "tau = c while it slides": what put the torque beyond its
      // bound must not be undone by the torque being at the bound afterwards.
      keeps_at_zero_ = true;
      history.clear();
    }
    history.push_back(slots_);
    const std::size_t mode_before = settled.mode;
    solve(t, from, out, settled.mode);
    if (solved_ && cut_short(t, from, out, settled)) {
      history.clear();
      continue;
    }
    if (solved_ && entered_ && (round == 0 || settled.mode != mode_before))
      look_beyond_zero(t, out, settled.mode);
    take_values(t, out, true);
    if (slots_ != history.back()) continue;
    if (solved_) return true;
    // Nothing asks for a change, but the continuous part has no solution here (all diodes conduct
    // at once). If nothing better is found, entering the mode says what is wrong with it.
    const std::vector<double> here = slots_;
    const std::size_t mode = settled.mode;
    // Where all is zero, as at the start, every one of them may conduct or not.
    keeps_at_zero_ = true;
    if (search()) return true;
    slots_ = out.slots = here;
    settled.mode = mode;
    return true;
  }
  return search();
}

bool EventIteration::reinitialise(double t, const SystemState& base, SystemState& out) {
  if (model_.reinits.empty()) return false;
  evaluate(reinits_, t, base);
  bool any = false;
  for (std::size_t k = 0; k < model_.reinits.size(); ++k) {
    const bool asked = reinits_.values[k] != 0.0;
    if (asked && !reinit_done_[k]) {
      const std::size_t i = model_.reinits[k].variable.node()->index;
      out.values[i] = reinits_.values[model_.reinits.size() + k];
      set_[i] = true;
      taken_.push_back(k);
      any = true;
    }
    reinit_done_[k] = asked;
  }
  return any;
}

// Present values become the past.
bool EventIteration::accept_values() {
  bool changed = false;
  for (const Sample& s : model_.samples) put(s.slot, 0.0);
  for (const DiscreteVariable& v : model_.discretes) {
    if (present(v.pre) == present(v.symbol)) continue;
    put(v.pre, present(v.symbol));
    changed = true;
  }
  return changed;
}

// Relations that were located at zero took the value beyond it. If the state now stays at zero or
// turns back, they take the value zero has.
bool EventIteration::leave_zero(double t, const SystemState& settled, std::size_t mode) {
  std::vector<std::size_t> open;
  evaluate(relation_values_, t, settled);
  const std::vector<double> here = relation_values_.values;
  for (std::size_t r = 0; r < at_zero_.size(); ++r) {
    const bool at_zero_value = model_.relations[r].strict == Strict::kNo;
    if (at_zero_[r] == At::kFired && widths_[r] == 0.0 && std::abs(here[r]) <= kBand * sizes_[r] &&
        (present(model_.relations[r].slot) != 0.0) != at_zero_value)
      open.push_back(r);
  }
  if (open.empty() || !solved_) return false;
  if (!evaluate_ahead(t, settled, mode, 1)) return false;
  const double ahead = kAhead * std::max(1.0, std::abs(t));
  bool changed = false;
  for (const std::size_t r : open) {
    const Expr& slot = model_.relations[r].slot;
    const double side = present(slot) != 0.0 ? 1.0 : -1.0;
    const double moved = side * (relation_values_.values[r] - here[r]);
    at_zero_[r] = At::kWasThere;
    if (moved > kBand * ahead * sizes_[r] + 1e-14 * sizes_[r]) continue;
    put(slot, 1.0 - present(slot));
    changed = true;
  }
  return changed;
}

bool EventIteration::interrupted(double t, Settled& settled) const {
  if (!is_interrupted_()) return false;
  settled.problem = fmt::format("interrupted at t = {:.10g} during an event", t);
  return true;
}

bool EventIteration::iterate(double t, const SystemState& first, SystemState& out,
                             Settled& settled) {
  SystemState base = first;
  std::vector<std::vector<double>> history;
  constexpr int kListedModes = 12;
  std::set<std::string> circle;  // modes of the last rounds
  for (int round = 0; round < kMostRounds; ++round) {
    ++settled.iterations;
    const std::vector<double> entry = slots_;
    const std::size_t mode = settled.mode;
    if (!inner(t, base, out, settled)) {
      if (is_interrupted_()) return false;
      const std::string problem = settled.problem;
      if (!follow_present_mode(t, base, entry, out, settled)) {
        settled.problem = problem;
        return false;
      }
    }
    evaluate(terminations_, t, out);
    for (std::size_t k = 0; k < model_.terminations.size(); ++k)
      if (terminations_.values[k] != 0.0) settled.termination = &model_.terminations[k];
    for (const auto& [name, value] : impulses_) settled.impulses[name] += value;
    impulses_.clear();
    const bool resets = reinitialise(t, base, out);
    entered_mode_ = settled.mode != mode;
    entered_ = resets || entered_mode_;
    bool changed = resets || hold_ == Hold::kFirst;
    if (hold_ == Hold::kFirst) hold_ = Hold::kNo;
    for (const Sample& s : model_.samples) changed = changed || present(s.slot) != 0.0;
    changed = accept_values() || changed;
    const Expr& initial = system_.flat()->initial;
    changed = changed || present(initial) != 0.0;
    put(initial, 0.0);
    is_initial_ = false;
    if (!changed) changed = leave_zero(t, out, settled.mode);
    out.slots = slots_;
    if (!changed || settled.termination != nullptr) {
      settled.ok = true;
      return true;
    }
    base = out;
    history.push_back(slots_);
    if (round + kListedModes >= kMostRounds) circle.insert(modes_.mode(settled.mode).mode.name);
  }
  // What leads out of states and holds now keeps the circle going.
  std::vector<std::string> conditions;
  for (const Relation& r : model_.relations)
    if (r.leaves_state && present(r.slot) != 0.0) conditions.push_back(r.text);
  settled.problem = fmt::format(
      "the event iteration at t = {:.10g} did not end within {} rounds: {} change in a circle "
      "through the modes '{}'{}; write conditions that cannot hold at the same time",
      t, kMostRounds, names_of_changes(history), fmt::join(circle, "', '"),
      conditions.empty() ? "" : fmt::format(", led by '{}'", fmt::join(conditions, "', '")));
  return false;
}

Settled EventIteration::start(double t, SystemState& state) {
  may_be_at_zero_.assign(model_.relations.size(), true);
  return find_lasting(t, state, [&] { return start_once(t, state); });
}

Settled EventIteration::start_once(double t, SystemState& state) {
  is_initial_ = true;
  begin(t, state);
  std::vector<Expr> starts, parameters;
  for (const DiscreteVariable& v : model_.discretes) starts.push_back(v.start);
  for (const Parameter& p : system_.parameters()) parameters.push_back(p.symbol);
  const Tape tape(starts, {parameters}, TapeCode::kInterpreted);
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> start_values(starts.size());
  const double* inputs[] = {parameters_.data()};
  tape.evaluate(inputs, registers, start_values.data());
  for (std::size_t k = 0; k < model_.discretes.size(); ++k) {
    put(model_.discretes[k].symbol, start_values[k]);
    put(model_.discretes[k].pre, start_values[k]);
  }
  put(system_.flat()->initial, 1.0);
  evaluate(samples_, t, state);
  for (std::size_t k = 0; k < model_.samples.size(); ++k) {
    if (model_.samples[k].line != nullptr) {
      put(system_.flat()->next_samples[k], model_.samples[k].line->next_arrival());
      continue;
    }
    const double first = samples_.values[2 * k];
    const double interval = samples_.values[2 * k + 1];
    if (!(interval > 0.0))
      throw Error(fmt::format("sample({:g}, {:g}): the interval must be positive", first, interval),
                  model_.samples[k].where);
    const double count = std::max(0.0, std::ceil((t - first) / interval - 1e-9));
    put(system_.flat()->next_samples[k], first + count * interval);
  }
  put_initial_discrete(t, state);
  take_values(t, state, true);
  entered_ = true;
  entered_mode_ = false;
  Settled settled;
  const SystemState base = state;
  iterate(t, base, state, settled);
  is_initial_ = false;
  ModeRun* run = settled.ok ? visit_(settled.mode) : nullptr;
  if (run == nullptr) return settled;
  // Where the start asks for more than can be met, the mode alone would ignore it. Asked from the
  // point found, which satisfies it if anything does, and from the start values.
  const auto problem = initial_problems_.find(settled.mode);
  const auto unmet_from = [&](SystemState trial) -> std::string {
    trial.slots = slots_;
    for (std::size_t i = 0; i < fixed_.size(); ++i)
      if (fixed_[i]) trial.values[i] = base.values[i];
    if (problem != initial_problems_.end()) {
      const ConsistentOutcome outcome = problem->second->solve(t, trial, fixed_);
      return outcome.ok() ? "" : problem->second->equation_name(outcome.index);
    }
    if (!model_.initial_equations.empty()) return "";  // the mode was not the first
    const ConsistentOutcome outcome = run->make_start_consistent(t, trial, fixed_);
    return outcome.ok() ? "" : run->analysed().dae->equation_name(outcome.index);
  };
  if (unmet_from(state).empty()) return settled;
  const std::string unmet = unmet_from(base);
  if (unmet.empty() || !run->make_consistent(t, state).ok()) return settled;
  settled.ok = false;
  settled.problem = fmt::format(
      "no start values at t = {:.10g} satisfy the equations, the initial equations and the fixed "
      "start values: {} is not met with the others; if they contradict each other, fix fewer "
      "start values or take an initial equation away, else give start values nearer to the "
      "solution",
      t, unmet);
  return settled;
}

bool EventIteration::repeat_start(double t, SystemState& state, std::size_t mode,
                                  const std::vector<double>& parameters) {
  ModeRun* run = visit_(mode);
  if (run == nullptr) return false;
  const auto problem = initial_problems_.find(mode);
  if (model_.initial_equations.empty()) return run->make_start_consistent(t, state, fixed_).ok();
  if (problem == initial_problems_.end()) return false;
  problem->second->set_parameters(parameters);
  const bool ok =
      problem->second->solve(t, state, fixed_).ok() && run->make_consistent(t, state).ok();
  problem->second->set_parameters(parameters_);
  return ok;
}

void EventIteration::put_initial_discrete(double t, const SystemState& at) {
  evaluate(initial_discrete_, t, at);
  for (std::size_t k = 0; k < model_.initial_discrete.size(); ++k) {
    const Expr& target = model_.initial_discrete[k].target;
    put(target, initial_discrete_.values[k]);
    for (const DiscreteVariable& v : model_.discretes)
      if (v.symbol.same_as(target)) put(v.pre, initial_discrete_.values[k]);
  }
}

Settled EventIteration::run(double t, SystemState& state, std::size_t mode,
                            const std::vector<std::size_t>& fired,
                            const std::vector<bool>& from_band) {
  may_be_at_zero_.assign(model_.relations.size(), false);
  for (const std::size_t g : fired)
    if (const std::size_t r = modes_.mode(mode).sources[g]; r < may_be_at_zero_.size())
      may_be_at_zero_[r] = true;
  return find_lasting(t, state, [&] { return settle(t, state, mode, fired, from_band); });
}

Settled EventIteration::settle(double t, SystemState& state, std::size_t mode,
                               const std::vector<std::size_t>& fired,
                               const std::vector<bool>& from_band) {
  flip(t, state, mode, fired, from_band);
  Settled settled;
  settled.mode = mode;
  const SystemState left = state;
  may_cut_ = true;
  iterate(t, left, state, settled);
  if (cuts_repeat_) {
    // What cuts a projection short leads back to it ("taut while F > -10, else where the rope is at
    // its length"): the equations mean that it is carried out.
    may_cut_ = false;
    flip(t, left, mode, fired, from_band);
    settled = {};
    settled.mode = mode;
    state = left;
    iterate(t, left, state, settled);
  }
  if (settled.ok && (settled.termination != nullptr || !undone(left, state))) return settled;
  // Where no discrete values agree, the crossing itself may lead there: a clutch that slides as
  // soon as its torque is beyond the largest it can hold, and slides on while pre() says so. And
  // where the crossing comes to nothing: a diode's s is its current in one state and its voltage in
  // the other, so what was zero to rounding in the one unit need not be so in the other.
  const std::vector<std::size_t> taken = taken_;
  flip(t, left, mode, fired, from_band);
  hold_ = settled.ok ? Hold::kAll : Hold::kFirst;
  SystemState beyond = left;
  Settled again;
  again.mode = mode;
  iterate(t, left, beyond, again);
  const bool holds = again.ok && !undone(left, beyond) &&
                     (!settled.ok || stays_beyond(t, left, beyond, again.mode));
  if (holds) {
    state = std::move(beyond);
    return again;
  }
  slots_ = state.slots;
  taken_ = taken;
  return settled;
}

void EventIteration::rearm(double t, SystemState& state, std::size_t relation) {
  begin(t, state);
  const Expr& slot = model_.relations[relation].slot;
  put(slot, 1.0 - present(slot));
  take_values(t, state, false);
  accept_values();
  state.slots = slots_;
}

void EventIteration::flip(double t, const SystemState& left, std::size_t mode,
                          const std::vector<std::size_t>& fired,
                          const std::vector<bool>& from_band) {
  begin(t, left);
  const std::size_t relations = model_.relations.size();
  for (std::size_t i = 0; i < fired.size(); ++i) {
    const std::size_t source = modes_.mode(mode).sources[fired[i]];
    if (source < relations) {
      const Expr& slot = model_.relations[source].slot;
      put(slot, 1.0 - present(slot));
      at_zero_[source] = from_band[i] ? At::kLeftBand : At::kFired;
      continue;
    }
    const std::size_t k = source - relations;
    if (model_.samples[k].line != nullptr) {
      put(model_.samples[k].slot, 1.0);
      continue;  // Delays says when the next one is
    }
    evaluate(samples_, t, left);
    const double first = samples_.values[2 * k];
    const double interval = samples_.values[2 * k + 1];
    put(model_.samples[k].slot, 1.0);
    put(system_.flat()->next_samples[k],
        first + (std::round((t - first) / interval) + 1.0) * interval);
  }
  entered_ = entered_mode_ = false;
}

// Whether relations crossed zero, but neither they nor any discrete value are changed.
bool EventIteration::undone(const SystemState& left, const SystemState& settled) const {
  const bool crossed = std::ranges::any_of(at_zero_, [](At at) { return at == At::kFired; });
  const auto same = [&](const Expr& slot) { return left.value_of(slot) == settled.value_of(slot); };
  return crossed &&
         std::ranges::all_of(model_.relations, [&](const Relation& r) { return same(r.slot); }) &&
         std::ranges::all_of(model_.discretes,
                             [&](const DiscreteVariable& v) { return same(v.symbol); });
}

bool EventIteration::stays_beyond(double t, const SystemState& left, const SystemState& settled,
                                  std::size_t mode) {
  if (!evaluate_ahead(t, settled, mode, 1)) return false;
  for (std::size_t r = 0; r < model_.relations.size(); ++r) {
    const double now = settled.value_of(model_.relations[r].slot);
    if (now == left.value_of(model_.relations[r].slot) || !is_continuous_[r]) continue;
    if (!((now != 0.0 ? 1.0 : -1.0) * relation_values_.values[r] > 0.0)) return false;
  }
  return true;
}

std::ptrdiff_t EventIteration::failed_assertion(double t, const SystemState& state,
                                                const std::vector<bool>& ignored) {
  if (model_.assertions.empty()) return -1;
  slots_ = state.slots;
  evaluate(assertions_, t, state);
  for (std::size_t k = 0; k < model_.assertions.size(); ++k)
    if (!ignored[k] && assertions_.values[k] == 0.0) return static_cast<std::ptrdiff_t>(k);
  return -1;
}

std::map<std::string, std::pair<double, double>> EventIteration::changes(
    const SystemState& before, const SystemState& after) const {
  std::map<std::string, std::pair<double, double>> found;
  for (const DiscreteVariable& v : model_.discretes) {
    const double was = before.value_of(v.symbol);
    const double is = after.value_of(v.symbol);
    if (was != is && !v.name.starts_with('$')) found[v.name] = {was, is};
  }
  return found;
}

}  // namespace saltus
