#include "simulate/event_iteration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;
// What GuardWatch::start() takes for rounding that the event iteration has left.
constexpr double kNear = 1e3 * kBand;

}  // namespace

EventIteration::EventIteration(const HybridSystem& system, Visit visit,
                               std::function<bool()> is_interrupted,
                               std::function<Expr(std::size_t)> weight_of)
    : system_(system),
      model_(system.flat()->reduced),
      modes_(system),
      visit_(std::move(visit)),
      is_interrupted_(std::move(is_interrupted)),
      weight_of_(std::move(weight_of)) {
  for (const Parameter& p : system.parameters()) parameters_.push_back(p.value);
  for (const Variable& v : system.variables()) fixed_.push_back(v.fixed);
  compile();
}

void EventIteration::evaluate(Formulas& formulas, double t, const SystemState& at) {
  const double* values[] = {&t, at.values.data(), at.slopes.data(), parameters_.data(),
                            slots_.data()};
  formulas.tape.evaluate(values, formulas.registers, formulas.values.data());
}

void EventIteration::take_left_limits(double t, const SystemState& left) {
  if (model_.left_limits.empty()) return;
  evaluate(left_limits_, t, left);
  for (std::size_t k = 0; k < model_.left_limits.size(); ++k)
    put(model_.left_limits[k].slot, left_limits_.values[k]);
}

void EventIteration::begin(double t, const SystemState& left) {
  slots_ = left_slots_ = left.slots;
  take_left_limits(t, left);
  evaluate(relation_sizes_, t, left);
  sizes_ = relation_sizes_.values;
  evaluate(relation_values_, t, left);
  left_values_ = relation_values_.values;
  at_zero_.assign(sizes_.size(), At::kAway);
  crossed_.assign(sizes_.size(), false);
  left_run_ = nullptr;
  just_after_.note_magnitudes(system_, left);
  just_after_.forget();
  std::erase_if(is_determined_, [](const auto& mode) { return !mode.second; });
  reinit_done_.assign(model_.reinits.size(), false);
  taken_.clear();
  handed_over_.clear();
  has_entered_ = false;
  hop_left_ = left;
  entered_from_.reset();
  completed_.reset();
  set_.assign(left.values.size(), false);
  impulses_.clear();
  keeps_ = Keeps::kNone;
  cuts_repeat_ = false;
  singly_ = false;
  singly_strategy_ = 0;
  chosen_.assign(model_.discrete_equations.size(), false);
}

bool EventIteration::relation_value(std::size_t r, double value) {
  const bool strict = model_.relations[r].strict == Strict::kYes;
  const bool exact = strict ? value > 0.0 : value >= 0.0;
  const bool now = present(model_.relations[r].slot) != 0.0;
  if (!is_continuous_[r]) return exact;
  if (!push_.empty() && push_[r] != 0.0) return push_[r] > 0.0;
  if (widths_[r] > 0.0)
    return std::abs(value) <= widths_[r] + 2.0 * kBand * sizes_[r] ? now : exact;
  // The smallest of several currents is as inexact as the largest.
  const bool unmoved =
      at_zero_[r] != At::kAway &&
      std::abs(value) <= std::max(2.0 * std::abs(left_values_[r]), kNear * sizes_[r]);
  if (!unmoved && std::abs(value) > kBand * sizes_[r]) return exact;
  if (at_zero_[r] == At::kLeftBand && std::abs(value) > 0.5 * kBand * sizes_[r]) return exact;
  if (is_initial_ && !starts_just_after_)
    return std::abs(value) <= kBand * sizes_[r] ? !strict : exact;
  if (keeps_ == Keeps::kAll) return now;
  if (keeps_ == Keeps::kUndecided) {
    const std::optional<int> sign = sign_just_after(r);
    return sign && *sign != 0 ? *sign > 0 : now;
  }
  // What resets values and was at zero, or has come there, is so until it has left: impacts happen
  // one after the other (flat_contacts.h).
  if (resets_[r] && (unmoved || std::abs(left_values_[r]) <= kBand * sizes_[r])) return now;
  const std::optional<int> sign = sign_just_after(r);
  if (!sign && at_zero_[r] == At::kFired)
    return just_after_.mode() == left_run_ ? crossed_[r] : now;
  // Without a unique flow (forces that several locks share) what was at zero stays as it is.
  const bool was_zero = std::abs(left_values_[r]) <= kBand * sizes_[r];
  if (!sign) return just_after_.mode() != nullptr && !was_zero ? !strict : now;
  if (*sign != 0) return *sign > 0;
  // Where others hold a surface at zero, what acts on it may stay at its bound.
  const bool others_hold =
      !held_.empty() && modes_.surfaces()[modes_.surfaces().of_relation(r)].may_be_held;
  return others_hold ? now : !strict;
}

void EventIteration::take_values(double t, SystemState& out, bool relations) {
  violated_.clear();
  wanted_.clear();
  for (Level& level : levels_) {
    evaluate(level.formulas, t, out);
    for (std::size_t i = 0; i < level.items.size(); ++i) {
      const std::size_t k = level.items[i];
      const double value = level.formulas.values[i];
      if (k >= model_.relations.size()) {
        const std::size_t e = k - model_.relations.size();
        const Expr& target = model_.discrete_equations[e].target;
        if (!singly_ || !remembers_[e] || chosen_[e]) {
          put(target, value);
        } else if (present(target) != value) {
          wanted_.emplace_back(e, value);
        }
        continue;
      }
      sizes_[k] = level.formulas.values[level.items.size() + i];
      if (is_held(modes_.surfaces().of_relation(k))) {
        put(model_.relations[k].slot, model_.relations[k].strict == Strict::kNo ? 1.0 : 0.0);
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
  if (solved_) examine_weights(out, relations);
  if (!is_initial_) return;
  put_initial_discrete(t, out);
  for (const DiscreteVariable& v : model_.discretes)
    if (v.is_edge) put(v.pre, present(v.symbol));
}

bool EventIteration::solve(double t, SystemState& base, SystemState& out, std::size_t& mode) {
  bool is_there = false;
  try {
    const std::size_t free = modes_.find(parameters_, slots_);
    std::optional<std::size_t> found = free;
    while (!held_.empty() && (found = modes_.hold(free, held_, weight_of_))) {
      fit(base);
      const std::vector<std::size_t> idle = without_effect(t, *found, base);
      if (idle.empty()) break;
      for (const std::size_t surface : idle) std::erase(held_, surface);
      found = free;
    }
    mode = found.value_or(free);
    is_there = found.has_value();
  } catch (const Error&) {
  }
  fit(base);
  fit(out);
  fixed_.resize(system_.variables().size(), false);
  set_.resize(system_.variables().size(), false);
  std::size_t as_written = mode;
  // Conditions that choose between terms alone make a mode regular or not.
  if (is_there && decided_.contains(mode)) {
    const std::size_t decided = modes_.decide(mode, parameters_, slots_);
    if (split_chosen_.contains(decided)) as_written = decided;
  }
  auto chosen = split_chosen_.find(as_written);
  if (is_there && chosen == split_chosen_.end() && visit_if_structural_ &&
      visit_if_structural_(as_written) == nullptr && modes_.open_split(as_written) != nullptr)
    chosen = split_chosen_.emplace(as_written, modes_.close(as_written, {}, {})).first;
  if (chosen == split_chosen_.end()) {
    if (!solve_in(t, base, out, as_written, is_there)) return false;
    if (!leaves_split_open(as_written)) return true;
    if (modes_.open_split(as_written) == nullptr) {
      as_written = modes_.decide(mode, parameters_, slots_);
      if (as_written != mode) decided_.insert(mode);
    }
    if (modes_.open_split(as_written) == nullptr) {
      if (may_share_) return true;
      refused_to_share_ = true;
      just_after_.forget();
      return solved_ = false;
    }
    chosen = split_chosen_.emplace(as_written, modes_.close(as_written, {}, {})).first;
  }
  // The split depends on the point, which must be found first.
  constexpr int kMostSplits = 4;
  for (int k = 0; k < kMostSplits; ++k) {
    mode = chosen->second;
    if (!solve_in(t, base, out, mode, is_there)) return false;
    const std::optional<std::size_t> best = best_split(as_written, t, out);
    if (!best) {
      just_after_.forget();
      return solved_ = false;
    }
    if (*best == mode) break;
    chosen->second = *best;
  }
  return true;
}

// The point of one mode.
bool EventIteration::solve_in(double t, SystemState& base, SystemState& out, std::size_t mode,
                              bool is_there) {
  ModeRun* run = nullptr;
  try {
    if (is_there)
      run = may_share_ || !visit_if_structural_ ? visit_(mode) : visit_if_structural_(mode);
    refused_to_share_ = refused_to_share_ || (is_there && run == nullptr && !may_share_);
  } catch (const Error&) {
  }
  SystemState& trial = trial_;
  trial = base;
  trial.slots = slots_;
  push_.clear();
  just_after_.forget();
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
  if (ok) {
    trial.slots = slots_;
    just_after_.stand_at(*run, t, trial);
  }
  // A configuration that has no solution need not be the last one: it is judged by the values
  // before it.
  if (ok) std::swap(out, trial);
  out.slots = slots_;
  solved_ = ok;
  return ok;
}

// Whether the equations of the mode solved last leave something open. What is determined once stays
// so; what is not is asked again at the next event.
bool EventIteration::leaves_split_open(std::size_t mode) {
  if (just_after_.mode() == nullptr) return false;
  bool& is_determined = is_determined_[{mode, modes_.case_of(mode, parameters_, slots_)}];
  if (!is_determined)
    is_determined = just_after_.mode()->analysed().values.u == 0 && just_after_.expand(0);
  return !is_determined;
}

// A fixed start value that a point of the mode does not keep: two unknowns of which one stands for
// both may be fixed at different values, and then the mode is not the one to start in.
std::string EventIteration::moved_fixed(const ModeRun& run, const std::vector<bool>& fixed,
                                        const SystemState& start, const SystemState& point) const {
  constexpr double kMoved = 1e-6;  // start values are typed with few digits
  for (const VariableId id : run.analysed().unknowns) {
    const std::size_t i = id.index();
    if (i >= fixed.size() || !fixed[i]) continue;
    const Variable& variable = system_.variables()[i];
    const double change = std::abs(point.values[i] - start.values[i]);
    if (!(change <= kMoved * (variable.nominal + std::abs(start.values[i])))) return variable.name;
  }
  return {};
}

// The equations of the mode, the initial equations and the fixed start values together.
ConsistentStatus EventIteration::solve_initial_problem(double t, const SystemState& base,
                                                       ModeRun& run, std::size_t mode,
                                                       SystemState& trial) {
  std::unique_ptr<InitialProblem>& problem = initial_problems_[mode];
  if (problem == nullptr)
    problem = std::make_unique<InitialProblem>(
        system_, run.start_form(),
        active_equations(model_.initial_equations, modes_.mode(mode).frozen).equations);
  ConsistentOutcome outcome = problem->solve(t, trial, fixed_);
  if (outcome.ok()) outcome = run.start_from(t, problem->x(), problem->dx(), trial);
  if (outcome.ok() && !moved_fixed(run, fixed_, base, trial).empty())
    return ConsistentStatus::kNotConverged;
  return outcome.status;
}

// In: guesses with the slots; out: a point of the mode.
ConsistentStatus EventIteration::find_point(double t, const SystemState& base, ModeRun& run,
                                            std::size_t mode, SystemState& trial) {
  if (is_initial_) {
    if (model_.initial_equations.empty()) {
      const SystemState guess = trial;
      // Least changes are dense: beyond this size they come last.
      constexpr std::size_t kQuick = 100;
      const bool found = run.analysed().dae->unknown_count() <= kQuick
                             ? run.make_start_consistent(t, trial, fixed_).ok()
                             : run.starts_as_given(t, trial, fixed_);
      if (found && moved_fixed(run, fixed_, base, trial).empty()) return ConsistentStatus::kSolved;
      trial = guess;
    }
    return solve_initial_problem(t, base, run, mode, trial);
  }
  transfer_ = {};
  const ConsistentOutcome outcome = run.make_consistent(t, trial);
  if (!outcome.ok()) return outcome.status;
  const TransferOutcome transfer = run.transfer(t, base, set_, false, trial);
  impulses_ = transfer.impulses;
  transfer_ = transfer;
  transfer_run_ = &run;
  if (transfer.status == TransferStatus::kDone && !impulses_.empty())
    push_relations(t, base, trial);
  return transfer.status == TransferStatus::kDone ? ConsistentStatus::kSolved
                                                  : ConsistentStatus::kNotConverged;
}

bool EventIteration::inner(double t, SystemState& base, SystemState& out, Settled& settled) {
  std::vector<std::vector<double>> history;
  const std::size_t hops = settled.hops.size();
  const auto search = [&] {
    settled.hops.resize(hops);  // what a search passes through never was in force
    for (const Keeps keeps : {Keeps::kNone, Keeps::kAll}) {
      keeps_ = keeps;
      if (pivot(t, base, out, settled)) return true;
      if (is_interrupted_()) break;
    }
    return false;
  };
  SystemState from = base;
  out = base;
  keeps_ = Keeps::kNone;
  bool held_something = false;
  for (int round = 0; round < kMostRounds; ++round) {
    if (interrupted(t, settled)) return false;
    const std::vector<double> here = key();
    if (const auto seen = std::ranges::find(history, here); seen != history.end()) {
      const auto from_place = static_cast<std::size_t>(seen - history.begin());
      if (!held_something && hold_what_turns(t, out, history, from_place)) {
        held_something = true;
        history.clear();
        continue;
      }
      if (keeps_ == Keeps::kAll || held_something) return search();
      // "Locked while |tau| <= c" against "tau = c while it slides": what put the torque beyond its
      // bound must not be undone by the torque being at the bound afterwards.
      keeps_ = keeps_ == Keeps::kNone ? Keeps::kUndecided : Keeps::kAll;
      history.clear();
    }
    history.push_back(key());
    solve(t, from, out, settled.mode);
    if (solved_ && cut_short(t, from, out, settled)) {
      history.clear();
      continue;
    }
    take_values(t, out, true);
    if (key() != history.back()) continue;
    if (solved_) return true;
    // Nothing asks for a change, but the continuous part has no solution here (all diodes conduct
    // at once). If nothing better is found, entering the mode says what is wrong with it.
    const std::vector<double> unsolved = slots_;
    const std::vector<std::size_t> held = held_;
    const std::size_t mode = settled.mode;
    if (search()) return true;
    slots_ = out.slots = unsolved;
    held_ = held;
    settled.mode = mode;
    solved_ = false;  // whatever the search tried last
    just_after_.forget();
    return true;
  }
  return search();
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

bool EventIteration::interrupted(double t, Settled& settled) const {
  if (!is_interrupted_()) return false;
  settled.problem = fmt::format("interrupted at t = {:.10g} during an event", t);
  return true;
}

bool EventIteration::iterate(double t, const SystemState& first, SystemState& out,
                             Settled& settled) {
  SystemState base = first;
  std::vector<std::vector<double>> history;
  std::deque<std::vector<double>> recent;  // the last of all
  std::set<std::string> modes;             // of the last rounds
  constexpr std::size_t kListed = 12;
  for (int round = 0; round < kMostRounds; ++round) {
    ++settled.iterations;
    const std::vector<double> entry = slots_;
    const std::vector<std::size_t> entry_held = held_;
    if (!inner(t, base, out, settled)) {
      if (is_interrupted_() || singly_ || is_initial_) return false;
      singly_ = true;
      settled.problem.clear();
      slots_ = entry;
      held_ = entry_held;
      out = base;
      continue;
    }
    end_completed_hop(settled);
    evaluate(terminations_, t, out);
    for (std::size_t k = 0; k < model_.terminations.size(); ++k)
      if (terminations_.values[k] != 0.0) settled.termination = &model_.terminations[k];
    note_values_not_kept(t, base, out, settled);
    std::fill(set_.begin(), set_.end(), false);  // what was set has been kept in this round
    if (singly_) choose_one(t, out);
    const bool resets = reinitialise(t, base, settled.mode, out);
    const bool leaves = !resets && leave_on_the_way(t, out, settled);
    for (const auto& [name, value] : impulses_) settled.impulses[name] += value;
    impulses_.clear();
    for (const std::size_t k : taken_) {
      const Reinit& reinit = model_.reinits[k];
      const double value = out.values[reinit.variable.node()->index];
      if (std::isfinite(value)) continue;
      settled.problem =
          fmt::format("reinit of '{}' at {}:{}:{} gives {} at t = {:.10g}",
                      to_string(reinit.variable), reinit.where.file, reinit.where.line,
                      reinit.where.column, std::isnan(value) ? "no number" : "infinity", t);
      return false;
    }
    if (const std::string infinite = name_of_infinite(); !infinite.empty()) {
      settled.problem = fmt::format("{} is infinite at t = {:.10g}", infinite, t);
      return false;
    }
    if (const std::string inexact = name_of_inexact(); !inexact.empty()) {
      settled.problem = fmt::format(
          "{} is beyond 2^53 at t = {:.10g}: whole numbers are not exact there", inexact, t);
      return false;
    }
    const bool hands_over = hand_over(t, out, settled);
    if (resets || leaves || hands_over)
      completed_.reset();  // a hop that is told already, or not over yet
    else
      note_completed_hop(base, out, settled);
    bool changed = hands_over || resets || leaves;
    for (const Sample& s : model_.samples) changed = changed || present(s.slot) != 0.0;
    changed = (singly_ ? accept_one() : accept_values()) || changed;
    const Expr& initial = system_.flat()->initial;
    const bool starts = present(initial) != 0.0;
    changed = changed || starts;
    put(initial, 0.0);
    if (is_initial_) may_share_ = shares_at_start_;
    is_initial_ = false;
    out.slots = slots_;
    if (starts) {
      settled.first_mode = settled.mode;
      hop_left_ = out;
    }
    if (!changed || settled.termination != nullptr) {
      settled.ok = true;
      settled.left = hop_left_;
      return true;
    }
    base = out;
    take_left_limits(t, base);
    // A state that has been left must not be solved again with what was handed over.
    if (entered_from_) {
      take_values(t, base, false);
      out.slots = base.slots = slots_;
    }
    if (resets) history.clear();
    modes.insert(modes_.mode(settled.mode).mode.name);
    recent.push_back(key());
    if (recent.size() > kListed) recent.pop_front();
    if (std::ranges::find(history, key()) != history.end()) {
      // In a circle: one at a time, in another order each time that leads round again.
      constexpr int kStrategies = 4;
      if (singly_ && ++singly_strategy_ == kStrategies) break;
      singly_ = true;
      history.clear();
      modes.clear();
    }
    history.push_back(key());
  }
  const std::string conditions = leaving_conditions();  // they keep the circle going
  settled.problem = fmt::format(
      "the event iteration at t = {:.10g} does not end: {} change in a circle through the modes "
      "'{}'{}; write conditions that cannot hold at the same time",
      t, names_of_changes({recent.begin(), recent.end()}), fmt::join(modes, "', '"),
      conditions.empty() ? "" : ", led by " + conditions);
  return false;
}

Settled EventIteration::start(double t, SystemState& state) {
  may_be_at_zero_.assign(model_.relations.size(), true);
  const SystemState given = state;
  Settled settled;
  struct Attempt {
    bool shares, just_after;
  };
  // As written first. A free wheel without slip that is about to overrun has no such start: "free
  // while s > 0" is false at s = 0 and true just after.
  for (const Attempt& attempt : {Attempt{true, false}, {false, false}, {true, true}}) {
    shares_at_start_ = attempt.shares;
    starts_just_after_ = attempt.just_after;
    state = given;
    Settled found = find_lasting(t, state, [&] { return start_once(t, state); });
    const bool is_first = !starts_just_after_ && shares_at_start_;
    if (is_first || found.ok) settled = std::move(found);
    if ((settled.ok && solved_) || is_interrupted_()) break;
  }
  starts_just_after_ = false;
  may_share_ = true;
  return settled;
}

Settled EventIteration::start_once(double t, SystemState& state) {
  is_initial_ = true;
  may_share_ = true;
  refused_to_share_ = false;
  held_.clear();
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
      if (!outcome.ok()) return problem->second->equation_name(outcome.index);
      run->start_from(t, problem->second->x(), problem->second->dx(), trial);
    } else {
      if (!model_.initial_equations.empty()) return "";  // the mode was not the first
      const ConsistentOutcome outcome = run->make_start_consistent(t, trial, fixed_);
      if (!outcome.ok()) return run->analysed().dae->equation_name(outcome.index);
    }
    const std::string moved = moved_fixed(*run, fixed_, base, trial);
    return moved.empty() ? "" : fmt::format("the fixed start value of '{}'", moved);
  };
  if (unmet_from(state).empty()) return settled;
  const std::string unmet = unmet_from(base);
  if (unmet.empty() || !run->make_consistent(t, state).ok()) return settled;
  settled.ok = false;
  settled.problem = fmt::format(
      "no start values at t = {:.10g} satisfy the equations, the initial equations and the fixed "
      "start values: {} is not met with the others; {}",
      t, unmet, advice_on_start(t, base, *run, settled.mode));
  return settled;
}

// Of the fixed start values and initial equations, a set that cannot be met while each of its
// proper subsets can: those are left out one after the other that the failure does not need.
std::string EventIteration::advice_on_start(double t, const SystemState& base, ModeRun& run,
                                            std::size_t mode) {
  std::string unknown =
      "if they contradict each other, fix fewer start values or take an initial equation away, "
      "else give start values nearer to the solution";
  constexpr std::size_t kMostDemands = 40;
  constexpr std::size_t kMostUnknowns = 300;
  const std::vector<Equation> equations =
      active_equations(model_.initial_equations, modes_.mode(mode).frozen).equations;
  std::vector<std::size_t> fixed;
  std::vector<std::string> names;
  for (const VariableId id : run.analysed().unknowns) {
    if (id.index() >= fixed_.size() || !fixed_[id.index()]) continue;
    fixed.push_back(id.index());
    names.push_back(fmt::format("the fixed start value of '{}'", system_.variable(id).name));
  }
  for (const Equation& e : equations)
    names.push_back(fmt::format("the initial equation {}", to_string(e.equality)));
  if (names.empty() || names.size() > kMostDemands ||
      run.analysed().dae->unknown_count() > kMostUnknowns)
    return unknown;
  std::vector<bool> asked(names.size(), true);
  const auto can_be_met = [&] {
    std::vector<bool> keep(fixed_.size(), false);
    std::vector<Equation> some;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (asked[k] && k < fixed.size()) keep[fixed[k]] = true;
      if (asked[k] && k >= fixed.size()) some.push_back(equations[k - fixed.size()]);
    }
    InitialProblem problem(system_, run.start_form(), some);
    SystemState trial = base;
    trial.slots = slots_;
    return problem.solve(t, trial, keep).ok() &&
           run.start_from(t, problem.x(), problem.dx(), trial).ok() &&
           moved_fixed(run, keep, base, trial).empty();
  };
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (is_interrupted_()) return unknown;
    asked[k] = false;
    if (can_be_met()) asked[k] = true;
  }
  std::vector<std::string> conflict;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (asked[k]) conflict.push_back(names[k]);
  if (conflict.empty() || (conflict.size() == names.size() && names.size() > 1 && can_be_met()))
    return unknown;
  return fmt::format(
      "{} {} the equations of the model; leave {} out, or give start values nearer to the solution "
      "if they agree",
      fmt::join(conflict, ", "),
      conflict.size() == 1 ? "alone contradicts" : "contradict each other or",
      conflict.size() == 1 ? "it" : "one of them");
}

ConsistentOutcome EventIteration::start_in(double t, ModeRun& run, std::size_t mode,
                                           SystemState& state, std::string& culprit) {
  std::unique_ptr<InitialProblem>& problem = initial_problems_[mode];
  problem = std::make_unique<InitialProblem>(
      system_, run.start_form(),
      active_equations(model_.initial_equations, modes_.mode(mode).frozen).equations);
  const ConsistentOutcome outcome = problem->solve(t, state, fixed_);
  if (!outcome.ok()) {
    culprit = problem->equation_name(outcome.index);
    return outcome;
  }
  return run.start_from(t, problem->x(), problem->dx(), state);
}

bool EventIteration::repeat_start(double t, SystemState& state, std::size_t mode,
                                  const std::vector<double>& parameters) {
  ModeRun* run = visit_(mode);
  if (run == nullptr) return false;
  const auto problem = initial_problems_.find(mode);
  if (problem == initial_problems_.end())
    return model_.initial_equations.empty() && run->make_start_consistent(t, state, fixed_).ok();
  problem->second->set_parameters(parameters);
  const bool ok = problem->second->solve(t, state, fixed_).ok() &&
                  run->start_from(t, problem->second->x(), problem->second->dx(), state).ok();
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
  Settled settled =
      find_lasting(t, state, [&] { return settle(t, state, mode, fired, from_band); });
  instant_ = t;
  return settled;
}

Settled EventIteration::settle(double t, SystemState& state, std::size_t mode,
                               const std::vector<std::size_t>& fired,
                               const std::vector<bool>& from_band) {
  const SystemState left = state;
  const auto attempt = [&](bool may_cut, bool may_share) {
    may_cut_ = may_cut;
    may_share_ = may_share;
    refused_to_share_ = false;
    flip(t, left, mode, fired, from_band);
    Settled settled;
    settled.mode = mode;
    state = left;
    fit(state);
    iterate(t, left, state, settled);
    return settled;
  };
  // A lock that others imply is answered best by the friction on its side of zero: that leaves no
  // split open. Where there is no such answer forces are shared.
  const ModeRun* run = visit_(mode);
  bool may_share = run == nullptr || run->analysed().values.u > 0 || !run->shared().empty();
  Settled settled = attempt(true, may_share);
  if (!may_share && refused_to_share_ && (!settled.ok || !solved_) && !is_interrupted_()) {
    may_share = true;
    settled = attempt(true, may_share);
  }
  // What cuts a projection short leads back to it ("taut while F > -10, else where the rope is at
  // its length"): the equations mean that it is carried out.
  if (cuts_repeat_) settled = attempt(false, may_share);
  may_share_ = true;
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
  held_ = modes_.mode(mode).held;
  left_run_ = visit_(mode);
  const std::size_t relations = model_.relations.size();
  for (std::size_t i = 0; i < fired.size(); ++i) {
    const std::size_t source = modes_.mode(mode).sources[fired[i]];
    if (modes_.is_weight_source(source)) {
      const auto [surface, upwards] = modes_.weight_of_source(source);
      release(surface, upwards);
      continue;
    }
    if (source < relations) {
      const Expr& slot = model_.relations[source].slot;
      put(slot, 1.0 - present(slot));
      crossed_[source] = present(slot) != 0.0;
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
  remember_zeros(t);
}

// What fired in an earlier event of the same instant, near zero, counts as zero in the later ones
// too. Else the instants found for two relations that cross together, which differ by rounding,
// undo each other: one is judged just after and the other as it is, for ever. What fires again
// because the last event left it beyond zero, as GuardWatch::start() judges, is what it is.
void EventIteration::remember_zeros(double t) {
  constexpr double kSameInstant = 4.0 * std::numeric_limits<double>::epsilon();
  const auto is_near = [&](std::size_t r) {
    return std::abs(left_values_[r]) <= kNear * sizes_[r];
  };
  const bool again = std::abs(t - instant_) <= kSameInstant * std::abs(t);
  if (!again) fired_here_.clear();
  for (const std::size_t r : fired_here_) {
    if (at_zero_[r] != At::kAway) continue;
    at_zero_[r] = At::kFired;
    crossed_[r] = present(model_.relations[r].slot) != 0.0;
  }
  fired_here_.clear();
  for (std::size_t r = 0; r < at_zero_.size(); ++r) {
    if (at_zero_[r] != At::kFired) continue;
    if (is_near(r)) {
      fired_here_.push_back(r);
    } else if (again) {
      at_zero_[r] = At::kAway;
    }
  }
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
