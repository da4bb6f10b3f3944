#include "simulate/simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/stop_request.h"
#include "expr/differentiate.h"
#include "model/build.h"
#include "model/system_state.h"
#include "simulate/event_iteration.h"
#include "simulate/event_log.h"
#include "simulate/growth_rate.h"
#include "simulate/messages.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kDefaultPoints = 500.0;
constexpr double kCoarseTime = 1e-7;  // of the run, from one number to the next
constexpr double kMostPoints = 1e8;   // a disk full of points is a mistake in the interval

void require(bool condition, const std::string& message) {
  if (!condition) throw Error(message);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Simulation::Simulation(const HybridSystem& system, const SimulateOptions& options)
    : system_(system),
      options_(options),
      start_time_(options.start_time.value_or(system.experiment.start_time)),
      stop_time_(options.stop_time.value_or(system.experiment.stop_time)),
      tolerance_(options.tolerance.value_or(system.experiment.tolerance)),
      interval_(options.interval.value_or(
          system.experiment.interval.value_or((stop_time_ - start_time_) / kDefaultPoints))),
      modes_(system.modes().size()),
      zeno_(tolerance_) {
  const BuildingTime building;
  if (system.flat() == nullptr) {
    validate(system);
  } else {
    check_determined(system);
  }
  for (const Mode& mode : system.modes()) check_structure(system, mode);
  require(std::isfinite(start_time_) && std::isfinite(stop_time_) && stop_time_ >= start_time_,
          fmt::format("stop time {} must not be before start time {}, and both must be finite",
                      stop_time_, start_time_));
  require(tolerance_ > 0.0 && tolerance_ < 1.0,
          fmt::format("tolerance {} must lie between 0 and 1, for example 1e-6", tolerance_));
  require(
      tolerance_ >= 1e-14,
      fmt::format("tolerance {} is below what double precision allows; 1e-12 is a sensible minimum",
                  tolerance_));
  require(!options.absolute_tolerance ||
              (*options.absolute_tolerance > 0.0 && std::isfinite(*options.absolute_tolerance)),
          fmt::format("absolute tolerance {} must be positive and finite",
                      options.absolute_tolerance.value_or(0.0)));
  require(std::isfinite(interval_) && interval_ >= 0.0,
          fmt::format("interval {} must be zero (every step) or positive", interval_));
  require(interval_ == 0.0 || (stop_time_ - start_time_) / interval_ <= kMostPoints,
          fmt::format("interval {} would store more than {:g} points between {} and {}", interval_,
                      kMostPoints, start_time_, stop_time_));
  require(options.max_step > 0.0,
          fmt::format("largest step {} must be positive", options.max_step));
  require_few_steps(options.max_step, "largest step");
  require(
      options.first_step >= 0.0,
      fmt::format("first step {} must be positive, or 0 to let Saltus choose", options.first_step));
  require(!options.hysteresis || (*options.hysteresis > 0.0 && std::isfinite(*options.hysteresis)),
          fmt::format("width {} of hysteresis must be positive and finite",
                      options.hysteresis.value_or(0.0)));
  require(options.baumgarte > 0.0,
          fmt::format("Baumgarte's alpha {} must be positive", options.baumgarte));
  options_.formulation = formulation_for(options.method, options.formulation);
  const std::string objection = objection_to(options.method, options_.formulation);
  require(objection.empty(), objection);
  recorder_ = std::make_unique<Recorder>(system_, start_time_, stop_time_, interval_, options.sink);
  if (system_.flat() != nullptr) {
    messages_ = std::make_unique<Messages>(system_);
    recorder_->watch_bounds(system_.flat()->reduced.bounds, tolerance_);
  }
  time_ = last_event_ = start_time_;
  state_ = start_state(system);
  if (!options.sensitivities.empty())
    tangents_ = std::make_unique<Sensitivities>(system_, options.sensitivities);
  result_.model = system.name();
  result_.method = to_string(options.method);
  result_.formulation = to_string(options_.formulation);
  result_.tolerance = tolerance_;
  const double resolution = kEpsilon * std::max(std::abs(start_time_), std::abs(stop_time_));
  if (resolution > kCoarseTime * (stop_time_ - start_time_) && stop_time_ > start_time_)
    result_.warnings.push_back(
        fmt::format("time has only {:.0f} different values between {:g} and {:g}; steps and events "
                    "cannot be placed exactly: let the run start at 0",
                    (stop_time_ - start_time_) / resolution, start_time_, stop_time_));
}

Simulation::~Simulation() = default;

void Simulation::require_few_steps(double longest, const char* what) const {
  const double steps = (stop_time_ - start_time_) / longest;
  require(steps <= static_cast<double>(options_.max_steps),
          fmt::format("{} {:g}: between {:g} and {:g} that makes more than {} steps", what, longest,
                      start_time_, stop_time_, options_.max_steps));
}

ModeId Simulation::add_mode(Mode mode) {
  const BuildingTime building;
  system_.mode(mode.name) = std::move(mode);
  for (SystemState* state : {&state_, &left_}) {
    state->values.resize(system_.variables().size(), 0.0);
    state->slopes.resize(system_.variables().size(), 0.0);
  }
  modes_.resize(system_.modes().size());
  recorder_->follow_growth();
  return ModeId(modes_.size() - 1);
}

ModeRun& Simulation::visit(ModeId id) {
  std::unique_ptr<ModeRun>& run = modes_[id.index()];
  if (run == nullptr) {
    visited_.push_back(id);
    {
      const BuildingTime building;
      run = make_mode_run(system_, id, options_, tolerance_, time_, state_, result_.warnings);
    }
    if (run == nullptr) return analyse_by_numbers(id);
    warn_of_opaque_terms(*run);
  }
  return *run;
}

void Simulation::warn_of_opaque_terms(const ModeRun& run) {
  for (const std::string& name : run.opaque_terms()) {
    std::string warning = fmt::format(
        "nothing is known of the function '{}' of time between two points: what it does within a "
        "step may be missed, unless a largest step (--max-step) is given",
        name);
    if (std::isfinite(options_.max_step) || std::ranges::count(result_.warnings, warning) > 0)
      continue;
    result_.warnings.push_back(std::move(warning));
  }
}

// Where structure does not settle a mode, or numbers disagree with it.
ModeRun& Simulation::analyse_by_numbers(ModeId id) {
  const BuildingTime building;
  if (options_.method == Method::kHalfExplicit)
    refuse_half_explicit(system_, system_.modes()[id.index()],
                         "its structure does not tell its constraints");
  auto analysed = saltus::analyse_by_numbers(system_, id, time_, state_);
  result_.warnings.insert(result_.warnings.end(), analysed->warnings.begin(),
                          analysed->warnings.end());
  if (options_.method == Method::kBdf)
    result_.warnings.push_back(
        fmt::format("mode '{}' is integrated by radau: bdf solves neither "
                    "redundant equations nor projected ones",
                    analysed->mode->name));
  modes_[id.index()] =
      std::make_unique<ModeRun>(system_, std::move(analysed), options_, tolerance_);
  return *modes_[id.index()];
}

void Simulation::enter_initial_mode() {
  if (system_.flat() != nullptr) {
    enter_initial_flat_mode();
    return;
  }
  if (!enter(system_.find_mode(system_.initial_mode), true)) return;
  warn_of_unstable_rest();
  recorder_->store(time_, run_->analysed().id, state_);
  const Firing& outside =
      run_->watch().start(time_, run_->integrator().x().data(), run_->integrator().dx().data());
  if (outside.fired()) settle(outside);
}

// A run that starts at rest, as far as the tolerance tells, has nothing to measure its steps by. If
// the rest is unstable, rounding and what is below the tolerance decide when it ends.
void Simulation::warn_of_unstable_rest() {
  const Dae& dae = run_->dae();
  const std::vector<double>& x = run_->point();
  const std::vector<double>& dx = run_->slope();
  const double length = stop_time_ - start_time_;
  bool moves = false;
  bool rests = false;
  for (std::size_t j = 0; j < std::min(dx.size(), dae.unknown_count()); ++j) {
    if (!dae.is_differential(j)) continue;
    const double nominal = dae.definition().nominal[j];
    const double visible = options_.absolute_tolerance.value_or(tolerance_ * nominal);
    rests = true;
    moves = moves || std::abs(dx[j]) * length > visible + tolerance_ * std::abs(x[j]);
  }
  if (!rests || moves) return;
  const std::optional<Growth> growth =
      fastest_growth(dae, run_->data(), time_, x.data(), dx.data());
  if (!growth || growth->rate * length < std::log(tolerance_ / kEpsilon)) return;
  result_.warnings.push_back(fmt::format(
      "the run starts at rest within the tolerance, but the rest is unstable: small changes of "
      "'{}' "
      "grow by a factor of ten every {:.3g} s, so that rounding and what is below the tolerance "
      "decide what follows; start elsewhere, or give a smaller nominal value or "
      "--absolute-tolerance if the start is meant",
      run_->unknown_name(growth->unknown), std::log(10.0) / growth->rate));
}

// Makes the state consistent with the mode and starts its integrator; false if the run has stopped.
bool Simulation::enter(ModeId id, bool at_start) {
  if (run_ != nullptr) run_->report().seconds += seconds_since(entered_);
  entered_ = Clock::now();
  run_ = &visit(id);
  const bool first_visit = run_->report().visits++ == 0;
  const SystemState before = state_;
  const std::vector<bool> set = set_;
  std::string culprit;
  transfer_ = {};
  bool starts = at_start;
  ConsistentOutcome outcome = make_consistent(at_start);
  if (first_visit && outcome.status != ConsistentStatus::kNotFinite &&
      run_->integrated_by_structure()) {
    // Numbers have the last word: a structurally sound mode may be singular or of higher index.
    const bool agrees = outcome.ok() && structure_holds() && !numbers_disagree(id);
    if (!outcome.ok()) culprit = run_->equation_name(outcome.index);
    if (!agrees && run_->analysed().unknowns.size() <= kLargestByNumbers) {
      try {
        run_ = &analyse_by_numbers(id);
      } catch (const Error& error) {
        if (at_start || culprit.empty()) throw;
        stop(StopReason::kInconsistent,
             fmt::format("no consistent point {}: {} cannot be satisfied; check what the "
                         "transition sets ({})",
                         place(), culprit, error.what()));
        return false;
      }
      run_->report().visits = 1;
      const SystemState by_structure = std::exchange(state_, before);
      const bool was_consistent = outcome.ok();
      // What numbers add to the constraints moves start values; nothing jumps there.
      starts = at_start || (at_flat_start_ && time_ == start_time_);
      outcome = make_consistent(starts);
      if (!outcome.ok() && was_consistent) {
        state_ = by_structure;
        outcome = make_consistent(starts);
      }
    }
  }
  if (outcome.status == ConsistentStatus::kNotFinite) {
    stop(StopReason::kNotFinite, fmt::format("{} is not finite {} when the mode starts",
                                             run_->equation_name(outcome.index), place()));
    return false;
  }
  if (!outcome.ok()) {
    if (culprit.empty()) culprit = run_->equation_name(outcome.index);
    stop(StopReason::kInconsistent,
         fmt::format(
             "no consistent point {}: {} cannot be satisfied; check the start values or what "
             "the transition sets",
             place(), culprit));
    return false;
  }
  if (at_start) report_changed_starts(before.values);
  if (!starts && !take_over(before)) return false;
  if (transfer_.ends_at_once()) return true;
  if (stay_within_first_integrals(at_start)) return !stopped_;
  if (tangents_ != nullptr) differentiate_entry(before, set, at_start);
  run_->restart(time_);
  return true;
}

// The state of the mode before into this one, by the impulse rule; false if it is refused.
bool Simulation::take_over(const SystemState& before) {
  set_.resize(system_.variables().size(), false);
  // The event iteration of a flat model has judged its relations itself.
  transfer_ = run_->transfer(time_, before, set_, within_region_ && events_ == nullptr, state_);
  std::fill(set_.begin(), set_.end(), false);
  const auto name = [&](std::size_t unknown) {
    return system_.variable(run_->analysed().unknowns[unknown]).name;
  };
  if (transfer_.status == TransferStatus::kRefused) {
    stop(StopReason::kInconsistent,
         fmt::format("'{}' would have to jump from {:.10g} to {:.10g} {}, which no finite impulse "
                     "can do; let the transition set it, or write the constraint with the offset "
                     "that it has when it begins",
                     name(transfer_.unknown),
                     before.values[run_->analysed().unknowns[transfer_.unknown].index()],
                     transfer_.wanted, place()));
    return false;
  }
  if (transfer_.status == TransferStatus::kNoPoint) {
    stop(StopReason::kInconsistent,
         fmt::format("no consistent point {} can be reached by impulses of its constraints; let "
                     "the transition set the values that jump",
                     place()));
    return false;
  }
  if (transfer_.by_least_change) {
    std::vector<std::string> changes;
    for (const std::size_t j : transfer_.not_kept) {
      const std::size_t i = run_->analysed().unknowns[j].index();
      changes.push_back(
          fmt::format("'{}' from {:.6g} to {:.6g}", name(j), before.values[i], state_.values[i]));
    }
    result_.warnings.push_back(
        changes.empty()
            ? fmt::format("values that jump {} were changed as little as the constraints allow, "
                          "not by impulses",
                          place())
            : fmt::format("what the transition sets contradicts the equations {}; changed as "
                          "little as possible: {}",
                          place(), fmt::join(changes, ", ")));
  }
  return true;
}

ConsistentOutcome Simulation::make_consistent(bool at_start) {
  if (!at_start) return run_->make_consistent(time_, state_);
  std::vector<bool> fixed;
  for (const Variable& v : system_.variables()) fixed.push_back(v.fixed);
  return run_->make_start_consistent(time_, state_, fixed);
}

// Start values of integrated variables are kept if possible; the user is told where they were not.
void Simulation::report_changed_starts(const std::vector<double>& starts) {
  const AnalysedMode& mode = run_->analysed();
  std::vector<std::string> changes;
  for (std::size_t j = 0; j < mode.unknowns.size(); ++j) {
    const Variable& v = system_.variable(mode.unknowns[j]);
    const double start = starts[mode.unknowns[j].index()];
    const double value = state_.values[mode.unknowns[j].index()];
    if (mode.differential[j] && std::abs(value - start) > 1e-9 * (std::abs(start) + v.nominal))
      changes.push_back(fmt::format("'{}' from {:.6g} to {:.6g}", v.name, start, value));
  }
  if (!changes.empty())
    result_.warnings.push_back(fmt::format("start values were changed to satisfy the equations: {}",
                                           fmt::join(changes, ", ")));
}

// Whether a mode integrated as written is strangeness-free at the present point.
bool Simulation::structure_holds() {
  if (!run_->integrated_as_written()) return true;  // the choice of states has shown it
  const BuildingTime building;
  const RankReport ranks = run_->measure_ranks(time_);
  run_->report().d = ranks.values.d;
  run_->report().a = ranks.values.a;
  return ranks.strangeness_free;
}

// Where the equations do not determine the highest derivatives, the index may be higher than
// structure says. Numbers decide if they find a regular form that says something else.
bool Simulation::numbers_disagree(ModeId id) {
  if (run_->analysed().unknowns.size() > kLargestByNumbers ||
      options_.method == Method::kHalfExplicit || run_->highest_level_is_regular(time_))
    return false;
  try {
    return saltus::analyse_by_numbers(system_, id, time_, state_)->values !=
           run_->analysed().values;
  } catch (const Error&) {
    return false;
  }
}

StepOutcome Simulation::step() {
  if (run_->form_is_stale(system_, time_, state_)) renew_form();
  double limit = stop_time_;
  if (delays_ != nullptr)
    limit = std::min(limit, run_->integrator().time() + delays_->longest_step());
  limit = run_->limit_step(limit);
  const bool shared = !run_->shared().empty();
  const StepOutcome outcome = run_->step(limit);
  if (!shared && !run_->shared().empty()) warn_of_shared_forces();
  if (!outcome.ok()) catch_up();
  if (outcome.status == StepStatus::kRanksChanged && continue_by_numbers())
    return run_->step(limit);
  if (!outcome.ok()) return outcome;
  if (const std::optional<std::size_t> unmet = run_->contradicted_equation()) {
    rank_change_ =
        fmt::format("just after, {} contradicts other equations", run_->equation_name(*unmet));
    return {StepStatus::kRanksChanged, *unmet};
  }
  return outcome;
}

void Simulation::warn_of_shared_forces() {
  std::vector<std::string> names;
  for (const std::size_t j : run_->shared())
    names.push_back(fmt::format("'{}'", run_->unknown_name(j)));
  const std::string split =
      fmt::format("the split between {} is not unique", fmt::join(names, ", "));
  const bool is_known = std::ranges::any_of(
      result_.warnings, [&](const std::string& warning) { return warning.starts_with(split); });
  if (!is_known)
    result_.warnings.push_back(
        fmt::format("{} from t = {:.10g} on; the least change of them is taken", split, time_));
}

// The same formulation of the mode, made for the present point.
void Simulation::renew_form() {
  const ModeId id = run_->analysed().id;
  std::vector<std::string> known;  // what there was to say was said when the mode was entered
  std::unique_ptr<ModeRun> next;
  {
    const BuildingTime building;
    next = make_mode_run(system_, id, options_, tolerance_, time_, state_, known);
  }
  const SystemState before = state_;
  if (next != nullptr && next->make_consistent(time_, state_).ok()) {
    next->take_over(*run_);
    next->restart(time_);
    next->watch().start(time_, next->integrator().x().data(), next->integrator().dx().data());
    modes_[id.index()] = std::move(next);
    run_ = modes_[id.index()].get();
  } else {
    state_ = before;
  }
}

// The characteristic values have changed inside a mode (HM Algorithm 20, step 1): goes on from here
// with what numbers find, if that determines a solution. Otherwise `rank_change_` says why not.
bool Simulation::continue_by_numbers() {
  rank_change_ = run_->describe_rank_change();
  const ModeId id = run_->analysed().id;
  if (!run_->integrated_by_structure() || run_->analysed().unknowns.size() > kLargestByNumbers)
    return false;
  std::unique_ptr<ModeRun> former = std::move(modes_[id.index()]);
  const SystemState before = state_;
  try {
    ModeRun& next = analyse_by_numbers(id);
    if (next.make_consistent(time_, state_).ok()) {
      next.take_over(*former);
      next.restart(time_);
      next.watch().start(time_, next.integrator().x().data(), next.integrator().dx().data());
      run_ = &next;
      result_.warnings.push_back(
          fmt::format("the characteristic values changed {}: {}; the mode "
                      "is analysed anew from there",
                      place(), rank_change_));
      return true;
    }
    rank_change_ += "; no consistent point was found there";
  } catch (const Error& error) {
    rank_change_ += fmt::format(". {}", error.what());
  }
  state_ = before;
  modes_[id.index()] = std::move(former);
  return false;
}

void Simulation::accept_step(const Firing& firing) {
  log_grazings();
  if (firing.at_step_start) {
    catch_up();
    time_ = firing.time;
    return;  // the state is still that of the step's start
  }
  recorder_->store_step(*run_, state_, firing.fired());
  if (delays_ != nullptr) delays_->store_step(*run_, state_);
  time_ = run_->integrator().time();
  state_is_behind_ = !firing.fired() && delays_ == nullptr && run_->may_be_read_later() &&
                     (events_ == nullptr || system_.flat()->reduced.assertions.empty());
  if (firing.fired()) {
    run_->read_event_point(state_);
  } else if (!state_is_behind_) {
    run_->read_point(state_);
  }
  if (tangents_ != nullptr) tangents_->step(*run_);
  check_assertions();
  run_->measure_constraints(time_, state_, firing.fired());
  if (options_.progress) options_.progress(time_);
}

// Reads the point at the present time, where that was put off. The integrator stands there, or has
// taken a step from there that came to nothing.
void Simulation::catch_up() {
  if (!state_is_behind_) return;
  state_is_behind_ = false;
  if (run_->integrator().time() == time_) {
    run_->read_point(state_);
  } else {
    run_->read_interpolated(time_, state_);
  }
}

void Simulation::settle(const Firing& first) {
  if (!first.at_step_start) run_->remember_step();
  if (time_ - last_event_ > 8.0 * kEpsilon * std::abs(time_)) hops_ = 0;
  last_event_ = time_;
  last_guard_ = run_->mode().guards[first.guards.front()].name;
  if (tangents_ != nullptr)
    tangents_->begin_event(*run_, first.guards.front(), time_, first.at_step_start);
  if (events_ != nullptr) {
    settle_flat(first);
    return;
  }
  if (rest_at_once(first)) return;
  sequence_.clear();
  const Firing* firing = &first;
  // A guard that was zero and left the wrong way: the mode lasted for no time.
  bool hop_follows_event = first.at_step_start && hops_ > 0 && !result_.events.empty();
  for (; firing->fired(); hop_follows_event = true) {
    if (++hops_ > options_.max_hops) {
      std::vector<std::string> names;
      for (const std::size_t g : firing->guards) names.push_back(run_->mode().guards[g].name);
      stop(StopReason::kEventStorm,
           fmt::format("more than {} events {}: guard '{}' never clears", options_.max_hops,
                       place(), fmt::join(names, "', '")));
      return;
    }
    recorder_->store(time_, run_->analysed().id, state_);
    // A mode whose projection was cut short has no flow that could chatter.
    if (firing == &cut_short_ || !chattering_.answer(*firing, hop_follows_event)) {
      take_transition(*firing, hop_follows_event);
      if (!stopped_ && repeats()) return;
    }
    if (stopped_) return;
    firing = &next_firing();
  }
  chattering_.flag_cycles();
  if (!stopped_) follow_accumulation();
}

// What the mode just entered is left by, if it is left at once.
const Firing& Simulation::next_firing() {
  if (!transfer_.ends_at_once())
    return run_->watch().start(time_, run_->integrator().x().data(),
                               run_->integrator().dx().data());
  cut_short_ = {};
  cut_short_.guards = transfer_.guards;
  cut_short_.time = time_;
  cut_short_.at_step_start = true;
  return cut_short_;
}

// Whether the sequence has come back to a mode twice with the state it had there: then it never
// ends. Once is not enough: chattering is answered on the second round.
bool Simulation::repeats() {
  const auto same = [&](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (std::abs(a[i] - b[i]) > 1e-13 * (std::abs(a[i]) + std::abs(b[i]))) return false;
    return true;
  };
  std::size_t times = 0;
  std::size_t last = 0;
  for (std::size_t k = 0; k < sequence_.size(); ++k) {
    const Visit& visit = sequence_[k];
    if (visit.mode != &run_->mode() || !same(visit.state.values, state_.values) ||
        !same(visit.state.slots, state_.slots))
      continue;
    ++times;
    last = k;
  }
  if (times < 2) return false;
  std::string path;
  for (std::size_t k = last; k < sequence_.size(); ++k)
    path += fmt::format("'{}' --{}--> ", sequence_[k].mode->name, sequence_[k].guard);
  stop(StopReason::kEventStorm,
       fmt::format("the events {} go round in circles: {}'{}'; the regions of these modes leave no "
                   "room for the state: check the guards, '{}' last",
                   place(), path, run_->mode().name, sequence_.back().guard));
  return true;
}

// One hop: T from left limits, next mode, consistent point, which is stored.
void Simulation::take_transition(const Firing& firing, bool hop_follows_event) {
  const ModeRun& from = *run_;
  const std::vector<Guard>& guards = from.mode().guards;
  std::size_t chosen = firing.guards.front();
  for (const std::size_t g : firing.guards)
    if (guards[g].priority < guards[chosen].priority) chosen = g;
  const Guard& guard = guards[chosen];
  sequence_.push_back({&from.mode(), state_, guard.name});

  left_ = state_;
  run_->transition_values(chosen, time_, left_, assigned_);
  Event event = begin_event(time_, from.mode(), firing);
  if (chattering_.is_sliding(from.analysed().id)) event.tags.emplace_back("sliding-exit");
  if (guard.to.empty()) event.tags.emplace_back("terminate");
  const Integrator& integrator = run_->integrator();
  // Not so on a further hop at the same instant: no step has led there.
  if (integrator.time() > integrator.previous_time() && integrator.previous_time() <= time_ &&
      time_ <= integrator.time())
    note_motion(run_->watch().motion(chosen, integrator, time_), event);
  if (guard.to.empty()) {
    classify(event);
    result_.events.push_back(std::move(event));
    stop(StopReason::kTerminated, fmt::format("guard '{}' ended the run {}", guard.name, place()));
    return;
  }
  event.to = guard.to;
  set_.assign(system_.variables().size(), false);
  for (std::size_t i = 0; i < guard.set.size(); ++i) {
    const Expr& target = guard.set[i].variable;
    if (!std::isfinite(assigned_[i])) {
      stop(StopReason::kNotFinite,
           fmt::format("the transition of guard '{}' {} sets '{}' to a value that is not finite",
                       guard.name, place(), to_string(target)));
      stay_in(from.analysed().id);
      return;
    }
    if (target.is_slot()) {
      state_.slots[target.node()->slot().index()] = assigned_[i];
      if (assigned_[i] != left_.value_of(target))
        event.discrete[to_string(target)] = {left_.value_of(target), assigned_[i]};
    } else {
      state_.values[target.node()->variable().index()] = assigned_[i];
      set_[target.node()->variable().index()] = true;
    }
  }
  if (tangents_ != nullptr) tangents_->assign(*run_, chosen, guard.set, time_, left_);
  const ModeId former = from.analysed().id;
  try {
    enter(system_.find_mode(guard.to));
  } catch (const Error& error) {
    // A mode that turns out wrong during a run must not cost the results so far.
    stop(StopReason::kSingular, error.what());
  }
  if (stopped_) {
    stay_in(former);
    return;
  }
  recorder_->store(time_, run_->analysed().id, state_);
  if (!transfer_.ends_at_once()) run_->measure_constraints(time_, state_, true);
  note_release(from.analysed().id);
  zeno_.record(time_, {from.analysed().id, chosen}, event.condition, left_.values, state_.values);

  note_changes(system_, run_->analysed(), left_, state_, event, &from.analysed());
  note_pinnacle(run_->mode(), transfer_, event);
  event.impulses = transfer_.impulses;
  if (hop_follows_event) mark_instantaneous(result_.events.back());
  classify(event);
  result_.events.push_back(std::move(event));
}

void Simulation::stay_in(ModeId id) {
  state_ = left_;
  run_ = modes_[id.index()].get();
}

void Simulation::log_grazings() {
  for (const Grazing& grazing : run_->watch().grazings()) {
    const Guard& guard = run_->mode().guards[grazing.guard];
    Event event = begin_event(grazing.time, run_->mode(),
                              fmt::format("{}: {} touches 0", guard.name, to_string(guard.value)));
    note_motion(grazing.motion, event);
    event.tags = {"grazing"};
    classify(event);
    result_.events.push_back(std::move(event));
  }
}

void Simulation::check_limits() {
  if (stopped_) return;
  const std::size_t steps = run_->counts().steps;
  if (!recorder_->failure().empty()) {
    stop(StopReason::kOutputFailed, recorder_->failure());
  } else if (is_interrupted()) {
    stop(StopReason::kInterrupted, fmt::format("interrupted {}", place()));
  } else if (steps >= options_.max_steps) {
    stop(StopReason::kLimit,
         fmt::format("the limit of {} steps is reached {}", options_.max_steps, place()));
  } else if (result_.events.size() + silent_events_ >= options_.max_events) {
    stop(StopReason::kLimit, fmt::format("the limit of {} events is reached {}; '{}' was the last",
                                         options_.max_events, place(), last_guard_));
  } else if (is_stuck()) {
    const std::span<const double> x = run_->integrator().x();
    const std::span<const double> dx = run_->integrator().dx();
    const std::vector<double>& nominal = run_->analysed().dae->definition().nominal;
    std::size_t unknown = 0;
    const auto rate = [&](std::size_t j) {
      return std::abs(dx[j]) / (std::abs(x[j]) + nominal[j]);
    };
    for (std::size_t j = 1; j < std::min(x.size(), nominal.size()); ++j)
      if (rate(j) > rate(unknown)) unknown = j;
    stop(StopReason::kStepSizeTooSmall,
         fmt::format(
             "most steps are rejected {}, and the rest of the run would take more than {} of "
             "them: the solution is unstable or not smooth, and rounding rules it; '{}' "
             "changes fastest{}",
             place(), options_.max_steps, run_->unknown_name(unknown), equation_for(unknown)));
  } else if (std::isfinite(options_.max_seconds) && elapsed() > options_.max_seconds) {
    stop(StopReason::kLimit,
         fmt::format("the time limit of {} s is reached {}", options_.max_seconds, place()));
  }
}

// Whether most steps are rejected and the rest of the run would take more of them than any run is
// allowed: rounding rules the solution, and waiting does not help. Solutions that are fast, but
// that the method follows, have few rejected steps.
bool Simulation::is_stuck() {
  constexpr std::size_t kWindow = 50'000;
  const IntegratorCounts counts = run_->counts();
  if (run_ != progress_.mode) {  // each mode has counts of its own
    progress_ = {run_, counts.steps, counts.rejected, time_};
    return false;
  }
  if (counts.steps < progress_.steps + kWindow && counts.rejected < progress_.rejected + kWindow)
    return false;
  const auto steps = static_cast<double>(counts.steps - progress_.steps);
  const auto rejected = static_cast<double>(counts.rejected - progress_.rejected);
  const double rate = (time_ - progress_.time) / (steps + rejected);
  progress_ = {run_, counts.steps, counts.rejected, time_};
  return rejected > 2.0 * steps &&
         (stop_time_ - time_) > rate * static_cast<double>(options_.max_steps);
}

bool Simulation::is_interrupted() const {
  return options_.stop_requested != nullptr && options_.stop_requested->load();
}

void Simulation::stop(StopReason reason, std::string message) {
  stopped_ = true;
  result_.reason = reason;
  result_.message = std::move(message);
}

void Simulation::stop_for(const StepOutcome& outcome) {
  switch (outcome.status) {
    case StepStatus::kNotFinite:
      stop(StopReason::kNotFinite, fmt::format("{} is not finite just after {}",
                                               run_->equation_name(outcome.index), place()));
      return;
    case StepStatus::kSingular:
      stop(StopReason::kSingular,
           fmt::format("the iteration matrix is singular {}: the equations do not determine '{}'{}",
                       place(), run_->unknown_name(outcome.index), equation_for(outcome.index)));
      return;
    case StepStatus::kRanksChanged:
      stop(StopReason::kSingular,
           fmt::format("the characteristic values changed {}: {}", place(), rank_change_));
      return;
    default:
      stop(StopReason::kStepSizeTooSmall,
           fmt::format("the step size fell below rounding {}; '{}' changes fastest{}: a "
                       "singularity, or a discontinuity that is not written as a guard",
                       place(), run_->unknown_name(outcome.index), equation_for(outcome.index)));
  }
}

void Simulation::abandon(const StopRequested& request) {
  is_abandoned_ = true;  // the present mode may be half replaced: nothing is asked of it
  stop(request.time_is_up() ? StopReason::kLimit : StopReason::kInterrupted,
       fmt::format("{} at t = {:.10g}, within the start or an event", request.what(), time_));
}

// ", see equation ...": the one that is written for the unknown, else the first that contains it.
std::string Simulation::equation_for(std::size_t unknown) const {
  const std::string& name = run_->unknown_name(unknown);
  const std::vector<Equation>& equations = run_->mode().equations;
  std::size_t found = equations.size();
  for (std::size_t i = equations.size(); i-- > 0;) {
    const Expr& left = equations[i].equality.lhs;
    bool occurs = false;
    for (const Expr& leaf : leaves_of(equations[i].residual()))
      occurs = occurs || (leaf.is_variable() &&
                          leaf.node()->variable().index() < system_.variables().size() &&
                          system_.variable(leaf.node()->variable()).name == name);
    if (!occurs) continue;
    found = i;
    if (left.is_variable() && system_.variable(left.node()->variable()).name == name) break;
  }
  return found == equations.size() ? "" : ", see " + saltus::equation_name(run_->mode(), found);
}

std::string Simulation::place() const {
  return fmt::format("at t = {:.10g} in mode '{}'", time_, run_->mode().name);
}

double Simulation::elapsed() const { return seconds_since(begun_); }

SimulateResult Simulation::finish() {
  if (run_ != nullptr && !is_abandoned_) {
    catch_up();
    run_->report().seconds += seconds_since(entered_);
    if (recorder_->last_time() != time_) recorder_->store(time_, run_->analysed().id, state_);
  }
  if (!recorder_->failure().empty() && !stopped_)
    stop(StopReason::kOutputFailed, recorder_->failure());
  // The run is over; what follows writes its summary.
  Statistics& total = result_.statistics;
  total.analyse_seconds = BuildingTime::total() - building_begun_;
  total.integrate_seconds = processor_seconds() - processor_begun_ - total.analyse_seconds;
  if (!stopped_) {
    result_.reason = StopReason::kStopTime;
    result_.message = fmt::format("reached the stop time {:g}", stop_time_);
  }
  result_.time = time_;
  const SystemState& at = run_ == nullptr ? state_ : recorder_->shown(run_->analysed().id, state_);
  for (std::size_t i = 0; i < at.values.size(); ++i)
    if (!is_internal(system_.variables()[i].name))
      result_.final[system_.variables()[i].name] = at.values[i];
  if (tangents_ != nullptr && !is_abandoned_) {
    result_.sensitivities = tangents_->results(system_, run_, time_, state_);
    if (!tangents_->problem().empty())
      result_.warnings.push_back("no sensitivities: " + tangents_->problem());
  }
  list_derived_values();
  if (messages_ != nullptr) result_.message = messages_->filled(result_.message, time_, state_);
  for (const std::string& warning : recorder_->bound_warnings())
    result_.warnings.push_back(warning);
  if (events_ != nullptr) describe_flat_modes();
  for (const ModeId id : visited_) {
    // Its analysis was refused, or an event iteration only passed through it.
    if (modes_[id.index()] == nullptr || modes_[id.index()]->report().visits == 0) continue;
    ModeRun& run = *modes_[id.index()];
    const IntegratorCounts counts = run.counts();
    Statistics& s = run.report().statistics;
    s.steps = counts.steps;
    s.rejected = counts.rejected;
    s.residuals = counts.residuals;
    s.jacobians = counts.jacobians;
    s.factorizations = counts.factorizations;
    s.newton_iterations = counts.newton_iterations;
    total += s;
    result_.modes.push_back(run.report());
    result_.residuals |= run.constraint_residuals();
  }
  total.events = result_.events.size();
  total.wall_seconds = elapsed();
  result_.trajectory = std::move(recorder_->trajectory());
  return std::move(result_);
}

}  // namespace saltus
