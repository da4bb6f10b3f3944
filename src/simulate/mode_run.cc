#include "simulate/mode_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/shared_forces.h"
#include "base/kept_work.h"
#include "base/processor_time.h"
#include "expr/differentiate.h"
#include "expr/work_key.h"
#include "locate/time_terms.h"
#include "simulate/just_after.h"

namespace saltus {
namespace {

// How far beyond a step falls of time guards are looked for, in steps.
constexpr double kLookAhead = 8.0;
// The same just after an event, when steps are short.
constexpr double kFirstLook = 512.0;
// So much further again where none was found.
constexpr double kFurther = 4.0;
// Relative: what is nearer than this to the end of a step was meant by it.
constexpr double kSameTime = 1e-12;
constexpr double kNoTime = std::numeric_limits<double>::infinity();
// How many steps must be known to be free of them.
constexpr double kFreeOfFalls = 2.0;

IntegratorOptions integrator_options(const AnalysedMode& mode, const ModeOptions& options) {
  const Dae& dae = *mode.dae;
  IntegratorOptions result;
  result.watched = mode.guard_unknowns;
  result.tolerance = options.tolerance;
  result.first_step = options.first_step;
  result.max_step = options.max_step;
  for (const double nominal : dae.definition().nominal)
    result.absolute_tolerance.push_back(
        options.absolute_tolerance.value_or(options.tolerance * nominal));
  return result;
}

// Before anything is asked of them, by mode: for the next run.
struct KeptTimeTerms {
  std::map<const Dae*, std::pair<std::shared_ptr<const Dae>, TimeTerms>> by_mode;
};

std::unique_ptr<TimeTerms> find_time_terms(const AnalysedMode& mode,
                                           const std::function<const TimeCourses&()>& courses) {
  const DaeDefinition& definition = mode.dae->definition();
  const auto make = [&] { return TimeTerms(mode.written, courses(), definition); };
  KeptWork* kept = KeptWork::of(graph_of(std::span(&definition.time, 1)));
  if (kept == nullptr) return std::make_unique<TimeTerms>(make());
  constexpr std::size_t kMost = 1000;
  auto& by_mode = kept->table<KeptTimeTerms>().by_mode;
  if (by_mode.size() >= kMost) by_mode.clear();
  auto found = by_mode.find(mode.dae.get());
  if (found == by_mode.end())
    found = by_mode.emplace(mode.dae.get(), std::pair(mode.dae, make())).first;
  return std::make_unique<TimeTerms>(found->second.second);
}

}  // namespace

ModeRun::ModeRun(const HybridSystem& system, std::unique_ptr<const AnalysedMode> analysed,
                 const ModeOptions& options, std::unique_ptr<ModeRun> start)
    : analysed_(std::move(analysed)),
      start_(std::move(start)),
      carried_(start_ != nullptr ? nullptr : std::make_unique<CarriedUnknowns>(*analysed_)),
      data_(analysed_->dae->make_data()),
      setups_(system.graph(), *analysed_, data_, options.method,
              integrator_options(*analysed_, options)),
      graph_(&system.graph()),
      is_flat_(system.flat() != nullptr),
      tolerance_(options.tolerance) {
  const Dae& dae = *analysed_->dae;
  const DaeDefinition& def = dae.definition();
  for (std::size_t j = 0; carried_ != nullptr && j < carried_->under_der.size(); ++j)
    if (carried_->under_der[j]) under_der_.push_back(j);
  for (std::size_t j = 0; j < def.controlled.size(); ++j)
    if (def.controlled[j]) controlled_.push_back(j);
  x_.resize(dae.unknown_count());
  dx_.resize(dae.unknown_count());
  all_unknowns_.resize(dae.unknown_count());
  std::iota(all_unknowns_.begin(), all_unknowns_.end(), 0U);
  for (std::size_t i = 0; i < system.parameters().size(); ++i)
    data_.parameters[i] = system.parameters()[i].value;
  std::vector<Expr> may_break = analysed_->written.residuals;
  for (const Guard& guard : mode().guards)
    if (!guard.is_relation) may_break.push_back(guard.value);
  breaks_ = break_times(may_break, data_.parameters);
  held_ = analysed_->written.held;  // come first; the projected form adds slots of its own
  for (const Expr& unknown : def.unknowns)
    places_.push_back({unknown.node()->variable().index(), unknown.node()->order});

  if (start_ != nullptr) {
    has_algebraic_ = analysed_->formulated != nullptr && analysed_->formulated->strangeness_free;
    recovery_registers_ = analysed_->recover.make_workspace();
    recovered_.resize(analysed_->recover.output_count());
    active_ = &setups_.at({});
  } else if (!integrated_as_written()) {
    has_algebraic_ = true;
    recovery_registers_ = analysed_->recover.make_workspace();
    recovered_.resize(analysed_->recover.output_count());
    std::vector<std::size_t> fixed(analysed_->reduced != nullptr
                                       ? analysed_->reduced->fixed_rows
                                       : analysed_->projected->array_rows);
    std::iota(fixed.begin(), fixed.end(), std::size_t{0});
    // Values the model starts from or carries over are given; derivatives and multipliers follow.
    if (dae.unknown_count() <= kLargestLeastChange)
      projection_ = std::make_unique<ConsistentSolver>(dae.with_equations(fixed), def.controlled);
    if (projection_ != nullptr && carried_->given != def.controlled)
      carrying_ = std::make_unique<ConsistentSolver>(dae.with_equations(fixed), carried_->given);
    if (analysed_->reduced != nullptr) {
      selector_ = std::make_unique<StateSelector>(*analysed_->reduced);
    } else {
      projector_ =
          std::make_unique<ProjectorUpdate>(system.graph(), analysed_->written, analysed_->values);
      active_ = &setups_.at({});
    }
  } else {
    active_ = &setups_.at({});
    for (std::size_t j = 0; j < dae.unknown_count(); ++j)
      has_algebraic_ = has_algebraic_ || !dae.is_differential(j);
  }
  std::unique_ptr<const TimeCourses> made;
  const auto courses = [&]() -> const TimeCourses& {
    if (made == nullptr)
      made = std::make_unique<const TimeCourses>(analysed_->written, !mode().guards.empty());
    return *made;
  };
  time_terms_ = find_time_terms(*analysed_, courses);
  watch_ = std::make_unique<GuardWatch>(*analysed_, data_, courses);
  if (start_ != nullptr && analysed_->formulated != nullptr)
    watch_->refine_by([this](double t, std::vector<double>& x, std::vector<double>& dx) {
      refine_end(t, x, dx);
    });
  compile_transitions(system);
  if (options.measure_constraints && !analysed_->mechanics.constraints.empty())
    monitor_ = std::make_unique<ConstraintMonitor>(system, analysed_->mechanics);
  report_.name = mode().name;
  report_.unknowns = analysed_->unknowns.size();
  report_.mu = analysed_->values.mu;
  report_.d = analysed_->values.d;
  report_.a = analysed_->values.a;
  report_.v = analysed_->values.v;
  report_.u = analysed_->values.u;
  if (analysed_->formulated != nullptr)
    report_.form = to_string(analysed_->formulated->formulation);
  else if (!integrated_as_written())
    report_.form = analysed_->reduced != nullptr ? "reduced" : "projected";
  report_.form_unknowns = dae.unknown_count();
  report_.form_equations = analysed_->reduced != nullptr || setups_.has_level_rows()
                               ? dae.unknown_count()
                               : dae.equation_count();
}

void ModeRun::compile_transitions(const HybridSystem& system) {
  const std::vector<std::vector<Expr>> inputs = state_inputs(system);
  for (const Guard& guard : mode().guards) {
    std::vector<Expr> values;
    for (const Assignment& a : guard.set) values.push_back(a.value);
    transitions_.emplace_back(values, inputs);
    transition_registers_.push_back(transitions_.back().make_workspace());
  }
}

const std::string& ModeRun::equation_name(std::size_t equation) const {
  if (start_ != nullptr && !entered_) return start_->equation_name(equation);
  return active_ != nullptr ? active_->dae.equation_name(equation)
                            : analysed_->dae->definition().equation_names[equation];
}

const std::string& ModeRun::unknown_name(std::size_t unknown) const {
  return analysed_->dae->definition().unknown_names[unknown];
}

void ModeRun::gather(const SystemState& state) {
  for (std::size_t j = 0; j < x_.size(); ++j) {
    const auto [variable, order] = places_[j];
    if (variable >= state.values.size()) {  // multipliers that are zero
      x_[j] = dx_[j] = 0.0;
      continue;
    }
    if (order == 0) x_[j] = state.values[variable];
    if (order == 1) x_[j] = state.slopes[variable];
    dx_[j] = order == 0 ? state.slopes[variable] : 0.0;
  }
  for (std::size_t i = 0; i < held_.size(); ++i) data_.held[i] = state.value_of(held_[i]);
}

void ModeRun::take_start(const SystemState& state) {
  gather(state);
  if (analysed_->formulated != nullptr) entered_with_ = state;
}

void ModeRun::scatter(double t, const double* x, const double* dx, SystemState& state) {
  const std::size_t n = analysed_->unknowns.size();
  if (!integrated_as_written()) {
    const double* inputs[] = {&t, x, dx, data_.parameters.data(), data_.held.data()};
    analysed_->recover.evaluate(inputs, recovery_registers_, recovered_.data());
    x = recovered_.data();
    dx = recovered_.data() + n;
  }
  for (std::size_t j = 0; j < n; ++j) {
    state.values[analysed_->unknowns[j].index()] = x[j];
    state.slopes[analysed_->unknowns[j].index()] = dx[j];
  }
}

ConsistentOutcome ModeRun::make_consistent(double t, SystemState& state) {
  if (start_ != nullptr) {
    const ConsistentOutcome outcome = start_->make_consistent(t, state);
    if (outcome.ok()) take_start(state);
    return outcome;
  }
  if (follow_states(t, state)) return {};
  gather(state);
  std::vector<double> old;
  for (const VariableId id : analysed_->unknowns) old.push_back(state.values[id.index()]);
  carried_->carry(old, analysed_->written.nominal, x_);
  // A split that is not unique is to be the smallest, whatever it was before.
  for (const std::size_t j : analysed_->split_unknowns) x_[j] = 0.0;
  if (!select_states_if_large(t)) return {ConsistentStatus::kNotConverged, 0};
  ConsistentSolver& solver = carrying_ != nullptr ? *carrying_ : constraints();
  const ConsistentOutcome outcome = solver.solve(data_, t, x_.data(), dx_.data());
  if (outcome.ok()) return complete(t, state);
  if (projection_ != nullptr && selector_ != nullptr) active_ = nullptr;
  return outcome;
}

// The time of an event is known to a few roundings only, in which light parts on stiff springs
// move, and what is far below the tolerance is no jump.
bool ModeRun::is_no_jump(double t, double change, double size, double slope) const {
  constexpr double kRounding = 1e-12;
  constexpr double kMoment = 16.0 * std::numeric_limits<double>::epsilon();
  const double negligible = std::max(kRounding, 1e-3 * setups_.options().tolerance);
  return std::abs(change) <= negligible * size + kMoment * std::abs(t * slope);
}

// Whether the unknowns under der() have the values they had before.
bool ModeRun::carries_over(double t, const SystemState& before, const SystemState& after) const {
  for (const std::size_t j : under_der_) {
    const std::size_t i = analysed_->unknowns[j].index();
    const double size = std::abs(before.values[i]) + analysed_->written.nominal[j];
    if (!is_no_jump(t, after.values[i] - before.values[i], size, before.slopes[i])) return false;
  }
  return true;
}

TransferOutcome ModeRun::transfer(double t, const SystemState& before, const std::vector<bool>& set,
                                  bool within_region, SystemState& state) {
  // Both sides of a constraint on what may not jump carry an error of the size of the tolerance.
  const double tolerance = 10.0 * setups_.options().tolerance;
  TransferOutcome outcome;
  if (start_ != nullptr) {
    outcome = start_->transfer(t, before, set, within_region, state);
    if (outcome.status == TransferStatus::kDone) take_start(state);
    return outcome;
  }
  const std::size_t n = analysed_->unknowns.size();
  if (carries_over(t, before, state)) return outcome;
  const Dae constraints = [&] {
    if (integrated_as_written()) return *analysed_->dae;
    std::vector<std::size_t> rows(analysed_->reduced != nullptr ? analysed_->reduced->fixed_rows
                                                                : analysed_->projected->array_rows);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return analysed_->dae->with_equations(std::move(rows));
  }();
  if (impulses_ == nullptr)
    impulses_ = std::make_unique<ImpulseSolver>(*graph_, *analysed_, *carried_, constraints);
  if (impulses_->largest_block() > kLargestLeastChange) {  // solved with dense matrices
    outcome.by_least_change = true;
    return outcome;
  }
  std::vector<double> old(n);
  std::vector<bool> is_set(n);
  bool any_set = false;
  for (std::size_t j = 0; j < n; ++j) {
    old[j] = before.values[analysed_->unknowns[j].index()];
    is_set[j] = carried_->under_der[j] && set[analysed_->unknowns[j].index()];
    any_set = any_set || is_set[j];
  }
  const ImpulseOutcome solved =
      impulses_->solve(data_, t, old, is_set, tolerance, x_.data(), dx_.data());
  const bool stands = solved.ok() && complete(t, state).ok();
  if (!stands && !any_set) {
    outcome.status = solved.status == ImpulseStatus::kRefused ? TransferStatus::kRefused
                                                              : TransferStatus::kNoPoint;
    outcome.unknown = solved.index;
    outcome.wanted = old[solved.index] + impulses_->jumps()[solved.index];
    return outcome;
  }
  if (!stands) {
    // What a transition sets may ask for more than impulses can do.
    outcome.by_least_change = true;
    if (!keep_set_values(t, before, is_set, state))
      for (std::size_t j = 0; j < n; ++j)
        if (is_set[j] && std::abs(state.values[analysed_->unknowns[j].index()] - old[j]) >
                             1e-12 * (std::abs(old[j]) + analysed_->written.nominal[j]))
          outcome.not_kept.push_back(j);
    return outcome;
  }
  // Exactly: the solution has them to rounding.
  for (std::size_t j = 0; j < n; ++j)
    if (is_set[j]) state.values[analysed_->unknowns[j].index()] = old[j];

  // A jump within the error of the switch point is no event of its own.
  const std::vector<double>& jumps = impulses_->jumps();
  bool counts = false;
  for (std::size_t j = 0; j < n; ++j)
    counts = counts || std::abs(jumps[j]) >
                           tolerance * std::max(std::abs(old[j]), analysed_->written.nominal[j]);
  if (!counts) return outcome;
  const std::vector<double>& impulses = impulses_->impulses();
  if (within_region && !mode().guards.empty()) {
    if (path_ == nullptr) path_ = std::make_unique<GuardPath>(*analysed_, *carried_);
    std::vector<double> after(n), slopes(n);
    for (std::size_t j = 0; j < n; ++j) {
      after[j] = state.values[analysed_->unknowns[j].index()];
      slopes[j] = state.slopes[analysed_->unknowns[j].index()];
    }
    path_->check(t, old, after, slopes, jumps, impulses, data_, outcome);
  }
  for (std::size_t j = 0; j < n; ++j)
    if (impulses[j] != 0.0 && outcome.fraction > 0.0)
      outcome.impulses[analysed_->written.unknown_names[j]] = outcome.fraction * impulses[j];
  if (outcome.ends_at_once()) {
    state = before;
    for (std::size_t j = 0; j < n; ++j)
      state.values[analysed_->unknowns[j].index()] += outcome.fraction * jumps[j];
  }
  return outcome;
}

// The least change that keeps what was set; false, with the least change of everything, if there is
// none.
bool ModeRun::keep_set_values(double t, const SystemState& before, const std::vector<bool>& set,
                              SystemState& state) {
  std::vector<bool> fixed(before.values.size(), false);
  for (std::size_t j = 0; j < set.size(); ++j)
    if (set[j]) fixed[analysed_->unknowns[j].index()] = true;
  SystemState kept = before;
  kept.slots = state.slots;  // an event iteration may have changed them
  if (make_start_consistent(t, kept, fixed).ok()) {
    bool held = true;
    for (std::size_t i = 0; i < fixed.size(); ++i)
      held = held && (!fixed[i] || std::abs(kept.values[i] - before.values[i]) <=
                                       1e-12 * (1.0 + std::abs(before.values[i])));
    if (held) {
      state = kept;
      return true;
    }
  }
  kept = before;
  kept.slots = state.slots;
  make_consistent(t, kept);
  state = kept;
  return false;
}

// Where the values given satisfy the constraints already, as they do at most events, the rest
// follows from the states by one sparse solution.
bool ModeRun::follow_states(double t, SystemState& state) {
  if (selector_ == nullptr || projection_ == nullptr) return false;
  gather(state);
  given_x_ = x_;
  given_dx_ = dx_;
  const std::vector<double>& x = given_x_;
  const std::vector<double>& dx = given_dx_;
  const auto& nominal = analysed_->dae->definition().nominal;
  for (const bool select_anew : {false, true}) {
    if (select_anew || active_ == nullptr) {
      const BuildingTime building;
      const std::vector<std::size_t> states = selector_->select(data_, t, x.data(), dx_.data());
      if (states.size() != analysed_->reduced->states) return false;
      if (select_anew && active_ != nullptr && states == states_) return false;
      states_ = states;
      active_ = &setups_.at(states_);
    }
    x_ = x;
    if (!setups_.complete(*active_, t, x_.data(), dx_.data()) &&
        !setups_.consistent_of(*active_).solve_unique(data_, t, x_.data(), dx_.data()).ok())
      continue;
    const bool kept = std::ranges::all_of(controlled_, [&](std::size_t j) {
      return is_no_jump(t, x_[j] - x[j], std::abs(x[j]) + nominal[j], dx[j]);
    });
    // What the reduced form has eliminated must be what it was, too.
    after_ = state;
    hand_over(t, after_);
    if (!kept || !carries_over(t, state, after_)) return false;
    std::swap(state, after_);
    return true;
  }
  return false;
}

ConsistentOutcome ModeRun::start_from(double t, const std::vector<double>& x,
                                      const std::vector<double>& dx, SystemState& state) {
  if (start_ != nullptr) {
    const ConsistentOutcome outcome = start_->start_from(t, x, dx, state);
    if (outcome.ok()) take_start(state);
    return outcome;
  }
  gather(state);
  x_ = x;
  dx_ = dx;
  if (!select_states_if_large(t)) return {ConsistentStatus::kNotConverged, 0};
  if (projection_ == nullptr)
    if (const ConsistentOutcome outcome = constraints().solve(data_, t, x_.data(), dx_.data());
        !outcome.ok())
      return outcome;
  return complete(t, state);
}

bool ModeRun::starts_as_given(double t, SystemState& state, const std::vector<bool>& fixed) {
  if (start_ != nullptr) return false;
  SystemState unchanged = state;
  if (!follow_states(t, unchanged)) return false;
  for (const VariableId id : analysed_->unknowns)
    if (fixed[id.index()] && !(std::abs(unchanged.values[id.index()] - state.values[id.index()]) <=
                               1e-12 * (1.0 + std::abs(state.values[id.index()]))))
      return false;
  state = std::move(unchanged);
  return true;
}

ConsistentOutcome ModeRun::make_start_consistent(double t, SystemState& state,
                                                 const std::vector<bool>& fixed) {
  if (start_ != nullptr) {
    const ConsistentOutcome outcome = start_->make_start_consistent(t, state, fixed);
    if (outcome.ok()) take_start(state);
    return outcome;
  }
  if (starts_as_given(t, state, fixed)) return {};
  gather(state);
  std::vector<bool> fixed_unknowns;
  for (const Expr& symbol : analysed_->dae->definition().unknowns)
    fixed_unknowns.push_back(symbol.node()->order == 0 && fixed[symbol.node()->variable().index()]);
  if (analysed_->reduced != nullptr)
    analysed_->reduced->fix_replacements(state.values, fixed, fixed_unknowns, x_);
  if (!select_states_if_large(t)) return {ConsistentStatus::kNotConverged, 0};
  const ConsistentOutcome outcome =
      constraints().solve_start(data_, t, x_.data(), dx_.data(), fixed_unknowns);
  if (outcome.ok()) return complete(t, state);
  if (projection_ != nullptr && selector_ != nullptr) active_ = nullptr;
  return outcome;
}

// Large reduced forms have no least-change projection: the states are chosen from the guess, and
// the rest is made to fit them.
bool ModeRun::select_states_if_large(double t) {
  if (selector_ == nullptr || projection_ != nullptr) return true;
  states_ = selector_->select(data_, t, x_.data(), dx_.data());
  if (states_.size() != analysed_->reduced->states) return false;
  active_ = &setups_.at(states_);
  return true;
}

// All constraints hold at x_: chooses states or projector, solves for what is left, and hands the
// point over.
ConsistentOutcome ModeRun::complete(double t, SystemState& state) {
  if (projector_ != nullptr && !update_projector(t, x_.data()))
    return {ConsistentStatus::kNotConverged, 0};
  if (selector_ != nullptr) {
    states_ = selector_->select(data_, t, x_.data(), dx_.data());
    if (states_.size() != analysed_->reduced->states)
      return {ConsistentStatus::kNotConverged, analysed_->reduced->fixed_rows - 1};
    active_ = &setups_.at(states_);
  }
  if (projection_ != nullptr) {
    const ConsistentOutcome outcome =
        setups_.consistent_of(*active_).solve(data_, t, x_.data(), dx_.data());
    if (!outcome.ok()) return outcome;
  }
  hand_over(t, state);
  return {};
}

void ModeRun::hand_over(double t, SystemState& state) {
  for (const Expr& symbol : held_)
    if (symbol.is_variable()) state.slopes[symbol.node()->index] = 0.0;
  scatter(t, x_.data(), dx_.data(), state);
}

void ModeRun::restart(double t) {
  entered_ = true;
  shared_.clear();
  time_terms_->bind(data_);
  look_ahead_ = kFirstLook;
  integrator().restart(t, x_, dx_, step_);
}

ModeRun::~ModeRun() = default;

ModeFlow& ModeRun::flow() {
  if (flow_ == nullptr || flow_->states != states_) {
    const BuildingTime building;
    flow_ = std::make_unique<ModeFlow>(dae(), states_);
  }
  return *flow_;
}

const std::vector<std::string>& ModeRun::opaque_terms() const { return time_terms_->opaque(); }
const std::optional<std::string>& ModeRun::pole_of_time() const { return time_terms_->pole(); }

double ModeRun::limit_step(double limit) {
  const double t = integrator().time();
  const double suggested = integrator().suggested_step();
  const double kink = end_before_break(t);
  const double wanted = suggested > 0.0 ? std::min(suggested, limit - t) : limit - t;
  // Where the next few steps are known to be free of falls nothing has to be looked for.
  const double reach = std::min(limit, kink);
  if (std::min(reach, t + kFreeOfFalls * wanted) > watch_->next_time_event())
    look_ahead(std::min(reach, t + look_ahead_ * wanted));
  const double event = watch_->next_time_event();
  const double first = std::min({limit, kink, event});
  const double end = time_terms_->limit_step(t, std::min(wanted, first - t), first, tolerance_);
  // No step is left between the end of this one and what it was meant to reach.
  const auto is_meant = [&](double exact) {
    return exact >= end && exact - end <= kSameTime * std::abs(end);
  };
  kink_ = end == kink || (end < first && time_terms_->ends_at_kink()) ? end : kNoTime;
  if (event <= limit && is_meant(event)) return event;
  if (is_meant(limit)) return limit;
  return end;
}

void ModeRun::look_ahead(double until) {
  watch_->look_ahead(until);
  look_ahead_ = watch_->next_time_event() >= until ? kFurther * look_ahead_ : kLookAhead;
}

double ModeRun::end_before_break(double t) const {
  // What is nearer than this was the end of the last step.
  const double beyond = t + kSameTime * std::abs(t);
  const auto next = std::ranges::upper_bound(breaks_, beyond, {}, &BreakTime::time);
  if (next == breaks_.end()) return kNoTime;
  // The last stage of a step lies at its end, and must not see what begins there.
  return next->is_jump ? std::nextafter(next->time, -kNoTime) : next->time;
}

double ModeRun::just_after_break(double t) const {
  const double resolution = 8.0 * std::numeric_limits<double>::epsilon() * std::abs(t);
  const auto near = std::ranges::lower_bound(breaks_, t - resolution, {}, &BreakTime::time);
  if (near == breaks_.end() || near->time > t + resolution) return t;
  return std::max(t, std::nextafter(near->time, kNoTime));
}

StepOutcome ModeRun::step(double limit) {
  if (selector_ != nullptr && !analysed_->reduced->constant_entries && !reselect())
    return {StepStatus::kRanksChanged, 0};
  if (projector_ != nullptr && !setups_.uses_array_method() &&
      !update_projector(integrator().time(), integrator().x().data()))
    return {StepStatus::kRanksChanged, 0};
  const StepOutcome outcome = integrator().step(limit);
  if (outcome.ok() && integrator().time() == kink_) integrator().pass_kink();
  if (outcome.status == StepStatus::kSingular && share_forces()) return integrator().step(limit);
  if (outcome.status != StepStatus::kSingular || selector_ == nullptr) return outcome;
  // Is it the constraints? Small changes of their numbers have not been looked at.
  const Integrator& at = integrator();
  selector_->select(data_, at.time(), at.x().data(), at.dx().data());
  return selector_->found_dependence() ? StepOutcome{StepStatus::kRanksChanged, 0} : outcome;
}

// Where only the split of forces is open, goes on with steps of least norm, up to the next event.
bool ModeRun::share_forces() {
  if (!is_flat_ || !shared_.empty() || !integrated_by_structure() || start_ != nullptr)
    return false;
  const Integrator& old = integrator();
  std::copy(old.x().begin(), old.x().end(), x_.begin());
  std::copy(old.dx().begin(), old.dx().end(), dx_.begin());
  shared_ = shared_forces(active_->dae, data_, old.time(), x_.data(), dx_.data());
  if (shared_.empty()) return false;
  ModeSetup& next = setups_.at(states_, true);
  setups_.integrator_of(next).restart(old.time(), x_, dx_, step_);
  active_ = &next;
  return true;
}

bool ModeRun::determines_all(double t) {
  if (start_ != nullptr) return start_->determines_all(t);
  const Pattern& pattern = active_->dae.pattern();
  return pattern.rows != pattern.columns || setups_.complete(*active_, t, x_.data(), dx_.data()) ||
         setups_.consistent_of(*active_).determines_all(data_, t, x_.data(), dx_.data());
}

std::optional<std::size_t> ModeRun::contradicted_equation() {
  if (!active_->dae.definition().redundant || analysed_->formulated != nullptr ||
      setups_.uses_array_method())
    return std::nullopt;
  const double tolerance = 100.0 * setups_.options().tolerance;
  const Integrator& at = integrator();
  ConsistentSolver& consistent = setups_.consistent_of(*active_);
  const std::optional<std::size_t> unmet =
      consistent.unmet_equation(data_, at.time(), at.x().data(), at.dx().data(), tolerance);
  if (!unmet) return unmet;
  // Slopes and what follows from them may be less accurate than that. Where equations do not
  // contradict each other there is a point that meets them all, with the same states.
  std::vector<double> x(at.x().begin(), at.x().end());
  std::vector<double> dx(at.dx().begin(), at.dx().end());
  if (!consistent.solve(data_, at.time(), x.data(), dx.data()).ok()) return unmet;
  const DaeDefinition& definition = active_->dae.definition();
  for (std::size_t j = 0; j < x.size(); ++j)
    if ((definition.controlled.empty() || definition.controlled[j]) &&
        std::abs(x[j] - at.x()[j]) > tolerance * (std::abs(x[j]) + definition.nominal[j]))
      return unmet;
  return std::nullopt;
}

bool ModeRun::update_projector(double t, const double* x) {
  return projector_->update(t, x, data_.parameters, data_.held, analysed_->projected->first_z1);
}

// Changes the rows that are integrated when others have become clearly better. The solution goes on
// as it was: one-step methods need nothing else. False if the constraints have become dependent.
bool ModeRun::reselect() {
  const Integrator& old = integrator();
  if (selector_->stands(data_, old.time(), old.x().data(), old.dx().data(), states_)) return true;
  std::vector<std::size_t> states =
      selector_->select(data_, old.time(), old.x().data(), old.dx().data());
  if (selector_->found_dependence()) return false;
  if (states == states_) return true;
  std::copy(old.x().begin(), old.x().end(), x_.begin());
  std::copy(old.dx().begin(), old.dx().end(), dx_.begin());
  // All other equations hold already. A row is d/dt x minus the unknown that is its value.
  const ReducedForm& reduced = *analysed_->reduced;
  std::vector<double> residuals(analysed_->dae->equation_count());
  analysed_->dae->residual(data_, old.time(), x_.data(), dx_.data(), residuals.data());
  for (const std::size_t k : states)
    dx_[reduced.candidates[k]] -= residuals[reduced.fixed_rows + k];
  ModeSetup& next = setups_.at(states);
  setups_.integrator_of(next).restart(old.time(), x_, dx_, old.suggested_step());
  active_ = &next;
  states_ = std::move(states);
  setups_.forget_others(next);
  return true;
}

std::string ModeRun::describe_rank_change() const {
  if (selector_ == nullptr)
    return fmt::format("there are no longer {} differential and {} algebraic equations",
                       analysed_->values.d, analysed_->values.a);
  std::vector<std::string> names;
  for (const std::size_t j : selector_->dependent_unknowns())
    names.push_back(fmt::format("'{}'", analysed_->written.unknown_names[j]));
  return fmt::format("{} has become dependent on other constraints or no longer restricts {}",
                     analysed_->written.equation_names[selector_->dependent_equation()],
                     fmt::join(names, ", "));
}

void ModeRun::take_over(ModeRun& former) {
  step_ = former.integrator().suggested_step();
  if (former.monitor_ != nullptr) monitor_ = std::move(former.monitor_);
  setups_.continue_from(former.counts());
  report_.visits = former.report_.visits;
  report_.seconds = former.report_.seconds;
}

void ModeRun::read_point(SystemState& state) {
  const Integrator& at = integrator();
  scatter(at.time(), at.x().data(), at.dx().data(), state);
}

void ModeRun::read_event_point(SystemState& state) {
  read_point(state);
  if (start_ == nullptr || analysed_->formulated == nullptr) return;
  settle_start(integrator().time(), state);
}

// A consistent point that the event finds again to the last digit: the first solution satisfies the
// constraints, the second follows from its states alone, as all further ones do. Guards of stiff
// springs show the difference.
bool ModeRun::settle_start(double t, SystemState& state) {
  SystemState settled = state;
  for (int k = 0; k < 2; ++k)
    if (!start_->make_consistent(t, settled).ok()) return false;
  state = std::move(settled);
  return true;
}

// The point that read_event_point() gives, in the unknowns of the form.
void ModeRun::refine_end(double t, std::vector<double>& x, std::vector<double>& dx) {
  SystemState state = entered_with_;
  scatter(t, x.data(), dx.data(), state);
  if (!settle_start(t, state)) return;
  x.swap(x_);
  dx.swap(dx_);
  gather(state);
  x.swap(x_);
  dx.swap(dx_);
}

void ModeRun::read_interpolated(double t, SystemState& state) {
  read_within_step(t, x_.data(), dx_.data());
  scatter(t, x_.data(), dx_.data(), state);
}

void ModeRun::read_within_step(double t, double* x, double* dx) {
  if (integrator().interpolate_consistently(t, x, dx)) return;
  integrator().interpolate(t, all_unknowns_, x, dx);
  // The projected equation holds for its own choice of states only; the constraints always do.
  ConsistentSolver& solver = projector_ != nullptr && projection_ != nullptr
                                 ? *projection_
                                 : setups_.consistent_of(*active_);
  const bool ok = !has_algebraic_ || solver.refine(data_, t, x, dx).ok();
  // Where constraints are redundant the interpolated values may have to change, not only what
  // follows from them.
  if (!ok && &solver == projection_.get())
    solver.solve_start(data_, t, x, dx, std::vector<bool>(x_.size(), false));
}

void ModeRun::transition_values(std::size_t guard, double t, const SystemState& left,
                                std::vector<double>& values) {
  values.resize(transitions_[guard].output_count());
  const double* inputs[] = {&t, left.values.data(), left.slopes.data(), data_.parameters.data(),
                            left.slots.data()};
  transitions_[guard].evaluate(inputs, transition_registers_[guard], values.data());
}

bool ModeRun::highest_level_is_regular(double t) const {
  return analysed_->reduced == nullptr ||
         saltus::highest_level_is_regular(*analysed_, data_, t, x_.data(), dx_.data());
}

RankReport ModeRun::measure_ranks(double t) {
  return saltus::measure_ranks(*analysed_->dae, data_, t, x_.data(), dx_.data());
}

void ModeRun::measure_constraints(double t, const SystemState& state, bool at_switch) {
  if (monitor_ != nullptr) monitor_->measure(t, state, at_switch);
}

LevelResiduals ModeRun::constraint_residuals() const {
  return monitor_ != nullptr ? monitor_->residuals() : LevelResiduals();
}

void refuse_half_explicit(const HybridSystem& system, const Mode& mode,
                          const std::string& objection) {
  throw Error(
      fmt::format("{}: method half-explicit integrates mechanical modes (der(p) = Z(p)*v, "
                  "M*der(v) = f - G^T*lambda, g(p) = 0) and modes of index 0 and 1; mode '{}' is "
                  "neither: {}; use method radau",
                  system.name(), mode.name, objection));
}

std::unique_ptr<ModeRun> make_mode_run(const HybridSystem& system, ModeId id,
                                       const ModeOptions& options, double t,
                                       const SystemState& state,
                                       std::vector<std::string>& warnings) {
  std::unique_ptr<const AnalysedMode> analysed = analyse(system, id);
  if (analysed == nullptr) return nullptr;
  auto run = std::make_unique<ModeRun>(system, std::move(analysed), options);
  const std::vector<std::string>& known = run->analysed().warnings;
  warnings.insert(warnings.end(), known.begin(), known.end());
  std::string objection;
  if (options.method == Method::kHalfExplicit) {
    std::unique_ptr<const AnalysedMode> form = separate_levels(system, run->analysed(), objection);
    if (form == nullptr && !run->integrated_as_written())
      refuse_half_explicit(system, run->mode(), objection);
    if (form == nullptr) return run;
    return std::make_unique<ModeRun>(system, std::move(form), options, std::move(run));
  }
  if (options.formulation == Formulation::kReduced) return run;
  SystemState point = state;
  const bool consistent = run->make_consistent(t, point).ok();
  if (options.method == Method::kDerivativeArray) {
    // What structure cannot start is left to numbers altogether.
    if (!consistent || (run->integrated_as_written() && !run->measure_ranks(t).strangeness_free))
      return nullptr;
    auto array = analyse_by_numbers(system, id, t, point);
    warnings.insert(warnings.end(), array->warnings.begin(), array->warnings.end());
    return std::make_unique<ModeRun>(system, std::move(array), options, std::move(run));
  }
  // Where it is not consistent, it is the best guess there is.
  std::unique_ptr<const AnalysedMode> form = reformulate(
      system, run->analysed(), options.formulation, options.baumgarte, t, point, objection);
  if (form == nullptr) {
    if (!objection.empty())
      warnings.push_back(fmt::format("mode '{}' is integrated in reduced form, not in '{}': {}",
                                     run->mode().name, to_string(options.formulation), objection));
    return run;
  }
  return std::make_unique<ModeRun>(system, std::move(form), options, std::move(run));
}

}  // namespace saltus
