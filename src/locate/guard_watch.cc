#include "locate/guard_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/kept_work.h"
#include "expr/differentiate.h"
#include "expr/work_key.h"
#include "locate/step_function.h"
#include "locate/time_terms.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxCorrections = 40;
// What a step is cut to where its extension shows a root that the solution has not, and how often.
constexpr double kShorter = 0.25;
constexpr int kMaxCuts = 30;
constexpr int kMaxShortened = 8;
constexpr int kGentleCuts = 15;          // after so many the step is cut to kShorter of it as well
constexpr double kMostOvershoot = 1e-4;  // of the size of a guard
constexpr double kNever = std::numeric_limits<double>::infinity();
// From so many guards on they are looked at one by one, those that come later not at all.
constexpr std::size_t kMany = 8;
constexpr double kWorthShortening = 0.5;  // of the way looked at before
constexpr double kBeyondRoot = 1e-6;
// In roundings of time.
constexpr double kJustAfter = 64.0;
// A relation that an event iteration left further outside than so many bands fires at once.
constexpr double kSettled = 1e3;

struct Band {
  double offset;
  double width;
  double noise;
  int degree;
};

// Where a relation that is at zero has risen above the band, as a fraction of the step, if it does
// so before anything else. `samples` include the offset, `along` does not.
template <class F>
std::optional<double> leaves_band(const F& along, std::span<const double> samples, const Band& band,
                                  RootIsolator& isolator) {
  const auto inside = [&](double value) { return std::abs(value - band.offset) <= band.width; };
  if (!inside(samples.front()) || std::all_of(samples.begin(), samples.end(), inside)) return {};
  GuardInfo info;
  info.noise = band.noise;
  info.degree = band.degree;
  info.at_start = samples.front() - band.offset;
  info.at_end = samples.back() - band.offset;
  for (const Root& root : isolator.isolate(along, info).roots) {
    if (root.s <= RootIsolator::kMinWidth) continue;
    const double middle = 0.5 * root.s;
    return along(middle) > band.width ? std::optional(middle) : std::nullopt;
  }
  return info.at_end > band.width ? std::optional(1.0) : std::nullopt;
}

bool stays_on_zero(std::span<const double, 5> samples, double noise) {
  return std::ranges::all_of(samples, [&](double s) { return std::abs(s) <= 100.0 * noise; });
}

// Values at 65 equidistant points of the polynomial through five samples, as sums of these.
using FineWeights = std::array<std::array<double, 5>, 65>;
const FineWeights& fine_weights() {
  static const FineWeights table = [] {
    FineWeights result;
    const auto points = five_sample_points();
    for (std::size_t k = 0; k < result.size(); ++k) {
      const double s = static_cast<double>(k) / 64.0;
      for (std::size_t i = 0; i < 5; ++i) {
        result[k][i] = 1.0;
        for (std::size_t j = 0; j < 5; ++j)
          if (j != i) result[k][i] *= (s - points[j]) / (points[i] - points[j]);
      }
    }
    return result;
  }();
  return table;
}

}  // namespace

struct GuardWatch::Enclosures {
  static Enclosures make(const AnalysedMode& mode, const TimeCourses& courses);

  // The course of a guard in a band along the last step is wrong by this much: on the solution it
  // stays there. Where unknowns follow time, as torques that bounds hold, they are interpolated
  // between the ends of a step and the bounds are not.
  void note_overshoot(std::size_t guard, double by, double band, double size) {
    if (by > band && by <= kMostOvershoot * size)
      overshoots[guard] = std::max(overshoots[guard], 2.0 * by);
  }

  struct TimeGuard {  // other than a + b t
    std::size_t guard;
    TimeFunction value;
    double proven_from = 0.0;
    double proven_until = 0.0;
    double fall = kNever;  // found last; it stays true while the numbers are the same
  };
  std::vector<TimeGuard> time_guards;
  // The guards as they are watched: unknowns that are more than polynomials along a step are
  // replaced by the formulas that give them.
  Tape guards;
  std::vector<Expr> values;
  std::vector<int> degrees;
  std::vector<std::uint32_t> unknowns;
  // By guard: along a step, for smooth guards that are not polynomials.
  std::vector<std::optional<StepFunction>> along_step;
  StepPolynomials step;
  bool has_step = false;  // it is read
  std::vector<double> cuts;
  // By guard in a band: how far its course along a step may be off, as steps that were taken again
  // have shown.
  std::vector<double> overshoots;
};

// A guard by itself: in modes with many of them one is not worth a pass over all. Made when it is
// first looked at closely.
struct GuardWatch::Single {
  struct Formula {
    Tape tape;
    Tape::Workspace registers;
    std::vector<std::pair<std::size_t, std::size_t>> leaves;  // of the tape: group, place
    std::vector<std::uint32_t> unknowns;
    std::vector<double> inputs;
  };

  Single(const DaeDefinition& definition, std::vector<Expr> guards) : values(std::move(guards)) {
    const std::vector<std::vector<Expr>> groups = definition.inputs();
    for (std::size_t group = 0; group < groups.size(); ++group)
      for (std::size_t place = 0; place < groups[group].size(); ++place)
        places.try_emplace(groups[group][place].node(), group, place);
    formulas.resize(values.size());
  }

  Formula& formula(std::size_t guard) {
    std::unique_ptr<Formula>& known = formulas[guard];
    if (known != nullptr) return *known;
    known = std::make_unique<Formula>();
    const std::vector<Expr> leaves = leaves_of(values[guard]);
    known->tape = Tape(std::span(&values[guard], 1), {leaves}, TapeCode::kInterpreted);
    known->registers = known->tape.make_workspace();
    known->inputs.resize(leaves.size());
    for (const Expr& leaf : leaves) {
      known->leaves.push_back(places.at(leaf.node()));
      const auto [group, place] = known->leaves.back();
      if (group == 1 || group == 2) known->unknowns.push_back(static_cast<std::uint32_t>(place));
    }
    std::ranges::sort(known->unknowns);
    known->unknowns.erase(std::unique(known->unknowns.begin(), known->unknowns.end()),
                          known->unknowns.end());
    return *known;
  }

  std::vector<Expr> values;
  std::unordered_map<const Node*, std::pair<std::size_t, std::size_t>> places;
  std::vector<std::unique_ptr<Formula>> formulas;
};

GuardWatch::~GuardWatch() = default;

// Before anything is asked of them, by mode: for the next run.
struct GuardWatch::KeptEnclosures {
  std::map<const Dae*, std::pair<std::shared_ptr<const Dae>, Enclosures>> by_mode;
};

std::unique_ptr<GuardWatch::Enclosures> GuardWatch::find_enclosures(
    const AnalysedMode& mode, const std::function<const TimeCourses&()>& courses) {
  const Expr& time = mode.dae->definition().time;
  KeptWork* kept = KeptWork::of(graph_of(std::span(&time, 1)));
  if (kept == nullptr) return std::make_unique<Enclosures>(Enclosures::make(mode, courses()));
  constexpr std::size_t kMost = 1000;
  auto& by_mode = kept->table<KeptEnclosures>().by_mode;
  if (by_mode.size() >= kMost) by_mode.clear();
  auto found = by_mode.find(mode.dae.get());
  if (found == by_mode.end())
    found = by_mode.emplace(mode.dae.get(), std::pair(mode.dae, Enclosures::make(mode, courses())))
                .first;
  return std::make_unique<Enclosures>(found->second.second);
}

GuardWatch::Enclosures GuardWatch::Enclosures::make(const AnalysedMode& mode,
                                                    const TimeCourses& courses) {
  const DaeDefinition& def = mode.dae->definition();
  std::vector<Expr> along = {def.time};
  along.insert(along.end(), def.unknowns.begin(), def.unknowns.end());
  along.insert(along.end(), def.derivatives.begin(), def.derivatives.end());
  std::vector<Enclosures::TimeGuard> time_guards;
  std::vector<std::optional<StepFunction>> along_step;
  std::vector<Expr> values;
  std::vector<int> degrees = mode.guard_degrees;
  bool has_changed = false;
  for (std::size_t g = 0; g < mode.mode->guards.size(); ++g) {
    const Expr& written = mode.mode->guards[g].value;
    values.push_back(mode.rewrite(written));
    along_step.emplace_back();
    if (mode.is_time_guard[g]) continue;
    const Expr of_time = courses.insert(written);
    if (courses.is_of_time(of_time)) {
      time_guards.push_back({g, TimeFunction(of_time, def)});
      continue;
    }
    // Polynomials are told by samples.
    const Expr inserted = mode.rewrite(courses.insert_all(written));
    std::optional<StepFunction> function;
    if (polynomial_degree(inserted, along) < 0) function = StepFunction::make(inserted, def);
    if (!function) continue;
    has_changed = has_changed || !inserted.same_as(values.back());
    values.back() = inserted;
    degrees[g] = polynomial_degree(inserted, along);
    along_step.back() = std::move(function);
  }
  Tape guards = mode.guards;
  std::vector<std::uint32_t> unknowns = mode.guard_unknowns;
  if (has_changed) {
    guards = Tape(values, def.inputs());
    for (const Expr& leaf : leaves_of(values)) {
      for (const std::vector<Expr>* list : {&def.unknowns, &def.derivatives}) {
        const auto found =
            std::ranges::find_if(*list, [&](const Expr& symbol) { return symbol.same_as(leaf); });
        if (found != list->end())
          unknowns.push_back(static_cast<std::uint32_t>(found - list->begin()));
      }
    }
    std::ranges::sort(unknowns);
    unknowns.erase(std::unique(unknowns.begin(), unknowns.end()), unknowns.end());
  }
  StepPolynomials step(unknowns, mode.dae->unknown_count());
  return {std::move(time_guards),
          std::move(guards),
          std::move(values),
          std::move(degrees),
          std::move(unknowns),
          std::move(along_step),
          std::move(step),
          false,
          {},
          std::vector<double>(mode.mode->guards.size())};
}

GuardWatch::GuardWatch(const AnalysedMode& mode, DaeData& data,
                       const std::function<const TimeCourses&()>& courses)
    : mode_(mode),
      data_(data),
      states_(mode.mode->guards.size()),
      is_time_guard_(mode.is_time_guard),
      enclosures_(find_enclosures(mode, courses)),
      falls_(states_.size()),
      offsets_(states_.size()),
      registers_(enclosures_->guards.make_workspace()),
      size_registers_(mode.guard_sizes.make_workspace()),
      values_(states_.size()),
      x_(mode.dae->unknown_count()),
      dx_(mode.dae->unknown_count()),
      lanes_(enclosures_->guards, {false, false, false, true, true}),
      lane_registers_(lanes_.make_workspace()),
      lanes_x_(kLanes * mode.dae->unknown_count()),
      lane_values_(kLanes * states_.size()),
      samples_(5 * states_.size()),
      end_values_(states_.size()),
      unproven_(states_.size()),
      clearance_(states_.size()) {
  enclosures_->cuts.reserve(StepFunction::kMostCuts);
  near_zero_.reserve(states_.size());
  for (const Enclosures::TimeGuard& guard : enclosures_->time_guards)
    is_time_guard_[guard.guard] = true;
  for (std::size_t g = 0; g < states_.size(); ++g)
    if (!is_time_guard_[g]) watched_.push_back(g);
  firing_.guards.reserve(states_.size());
  grazings_.reserve(states_.size() * RootIsolator::kMaxRoots);
}

const Firing& GuardWatch::start(double t, const double* x, const double* dx, bool are_settled) {
  firing_ = {std::move(firing_.guards), t, true, false, {}};
  sampled_until_ = std::numeric_limits<double>::quiet_NaN();
  firing_.guards.clear();
  grazings_.clear();
  next_time_event_ = kNever;
  std::ranges::fill(enclosures_->overshoots, 0.0);
  for (std::size_t g = 0; g < states_.size(); ++g) states_[g].was_held = false;
  for (const std::size_t g : held_before_) states_[g].was_held = true;
  held_before_.clear();
  if (states_.empty()) return firing_;
  const double* inputs[] = {&t, x, dx, data_.parameters.data(), data_.held.data()};
  mode_.guard_sizes.evaluate(inputs, size_registers_, values_.data());
  for (std::size_t g = 0; g < states_.size(); ++g) {
    states_[g].size = values_[g];
    offsets_[g] = 0.0;
  }
  for (std::optional<StepFunction>& function : enclosures_->along_step)
    if (function) function->bind(data_);
  predict_time_events(t, x, dx);
  evaluate_at(t, x, dx);
  for (std::size_t g = 0; g < states_.size(); ++g) {
    if (is_time_guard_[g]) continue;
    State& state = states_[g];
    if (mode_.mode->guards[g].is_relation || are_settled) {
      // The event iteration has settled it; what it left on the other side is rounding.
      state.armed = true;
      if (state.width > 0.0) {
        if (values_[g] < -state.width - kSettled * state.band()) firing_.guards.push_back(g);
        offsets_[g] = state.width + state.band();
        continue;
      }
      // Of size zero is what nothing in this mode moves, such as the value of a state that was
      // left.
      if (state.size > 0.0 && values_[g] < -kSettled * state.band()) firing_.guards.push_back(g);
      if (values_[g] <= state.band()) offsets_[g] = 2.0 * std::max(state.band(), -values_[g]);
      continue;
    }
    state.armed = values_[g] > state.threshold();
    if (values_[g] < -state.band()) firing_.guards.push_back(g);
  }
  return firing_;
}

template <class Select>
std::vector<std::size_t> GuardWatch::guards_where(double t, const double* x, const double* dx,
                                                  const Select& select) {
  std::vector<std::size_t> found;
  if (states_.empty()) return found;
  const double* inputs[] = {&t, x, dx, data_.parameters.data(), data_.held.data()};
  mode_.guard_sizes.evaluate(inputs, size_registers_, values_.data());
  const std::vector<double> sizes = values_;
  evaluate_at(t, x, dx);
  for (std::size_t g = 0; g < states_.size(); ++g)
    if (!is_time_guard_[g] && select(values_[g], sizes[g])) found.push_back(g);
  return found;
}

std::vector<std::size_t> GuardWatch::at_zero(double t, const double* x, const double* dx,
                                             double band) {
  return guards_where(t, x, dx,
                      [&](double value, double size) { return std::abs(value) <= band * size; });
}

std::vector<std::size_t> GuardWatch::below_zero(double t, const double* x, const double* dx,
                                                double band) {
  return guards_where(t, x, dx, [&](double value, double size) { return value < -band * size; });
}

// A guard a + b t fires where it falls through zero, or at once if it is negative or falls from
// zero already. The falls of other time guards are found by look_ahead().
void GuardWatch::predict_time_events(double t, const double* x, const double* dx) {
  std::ranges::fill(falls_, kNever);
  evaluate_at(0.0, x, dx);
  std::copy(values_.begin(), values_.end(), samples_.begin());
  // So late that a is lost in rounding and a power of two, so that b comes out exactly.
  constexpr double kLate = 0x1p200;
  evaluate_at(kLate, x, dx);
  for (std::size_t g = 0; g < states_.size(); ++g) {
    // What reads neither time nor unknowns (the value of a state that has been left) does not move.
    if (!mode_.is_time_guard[g] || values_[g] == samples_[g]) continue;
    const double slope = values_[g] / kLate;
    const double zero = -samples_[g] / slope;
    // The event iteration judges a relation that is zero but for rounding by what it was before.
    const double reached =
        mode_.mode->guards[g].is_relation ? t + states_[g].band() / std::abs(slope) : t;
    const bool passed = slope < 0.0 ? zero <= reached : zero > reached;
    if (passed) firing_.guards.push_back(g);
    if (!passed && slope < 0.0) falls_[g] = zero;
  }
  for (Enclosures::TimeGuard& guard : enclosures_->time_guards) {
    const bool is_another = guard.value.bind(data_);
    if (is_another || t < guard.proven_from || t >= guard.proven_until) {
      guard.proven_from = guard.proven_until = t;
      guard.fall = kNever;
    }
    falls_[guard.guard] = guard.fall;
    // Just after: an event may have left it at zero.
    const double begin = t + kJustAfter * kEpsilon * std::abs(t);
    const double end = begin + kJustAfter * kEpsilon * std::abs(t);
    // Relations that are zero but for rounding have been judged by the event iteration.
    const double tied =
        mode_.mode->guards[guard.guard].is_relation ? states_[guard.guard].band() : 0.0;
    if (guard.value.range_over(begin, end).coefficient[0].high < -tied)
      firing_.guards.push_back(guard.guard);
  }
  std::ranges::sort(firing_.guards);
  if (!firing_.guards.empty()) firing_.is_time_event = true;
  update_next_time_event();
}

void GuardWatch::update_next_time_event() {
  next_time_event_ = kNever;
  for (const double fall : falls_) next_time_event_ = std::min(next_time_event_, fall);
  for (const Enclosures::TimeGuard& guard : enclosures_->time_guards)
    if (falls_[guard.guard] == kNever)
      next_time_event_ = std::min(next_time_event_, guard.proven_until);
}

void GuardWatch::look_ahead(double until) {
  if (enclosures_->time_guards.empty() || until <= next_time_event_) return;
  until = std::min(until, *std::ranges::min_element(falls_));  // the mode is left there
  for (Enclosures::TimeGuard& guard : enclosures_->time_guards) {
    if (falls_[guard.guard] != kNever || guard.proven_until >= until) continue;
    const TimeFall next = first_fall(guard.value, guard.proven_until, until);
    guard.proven_until = next.proven_until;
    if (next.time) falls_[guard.guard] = guard.fall = *next.time;
  }
  update_next_time_event();
}

void GuardWatch::evaluate_without_offsets(double t, const double* x, const double* dx,
                                          double* values) {
  const double* inputs[] = {&t, x, dx, data_.parameters.data(), data_.held.data()};
  enclosures_->guards.evaluate(inputs, registers_, values);
}

void GuardWatch::evaluate_at(double t, const double* x, const double* dx) {
  evaluate_without_offsets(t, x, dx, values_.data());
  for (std::size_t g = 0; g < offsets_.size(); ++g) values_[g] += offsets_[g];
}

void GuardWatch::evaluate(const Integrator& integrator, double t) {
  integrator.interpolate(t, enclosures_->unknowns, x_.data(), dx_.data());
  evaluate_at(t, x_.data(), dx_.data());
}

// One guard, where the step between is at this time.
double GuardWatch::evaluate_one(std::size_t guard, const Integrator& integrator, double t) {
  if (states_.size() < kMany) {
    evaluate(integrator, t);
    return values_[guard];
  }
  if (single_ == nullptr)
    single_ = std::make_unique<Single>(mode_.dae->definition(), enclosures_->values);
  Single::Formula& formula = single_->formula(guard);
  integrator.interpolate(t, formula.unknowns, x_.data(), dx_.data());
  const double* groups[] = {&t, x_.data(), dx_.data(), data_.parameters.data(), data_.held.data()};
  for (std::size_t k = 0; k < formula.leaves.size(); ++k)
    formula.inputs[k] = groups[formula.leaves[k].first][formula.leaves[k].second];
  const double* inputs[] = {formula.inputs.data()};
  double value = 0.0;
  formula.tape.evaluate(inputs, formula.registers, &value);
  return value + offsets_[guard];
}

void GuardWatch::evaluate_end(const Integrator& integrator) {
  if (!refinement_) {
    evaluate_at(integrator.time(), integrator.x().data(), integrator.dx().data());
    return;
  }
  x_.assign(integrator.x().begin(), integrator.x().end());
  dx_.assign(integrator.dx().begin(), integrator.dx().end());
  refinement_(integrator.time(), x_, dx_);
  evaluate_at(integrator.time(), x_.data(), dx_.data());
}

const Firing& GuardWatch::examine(Integrator& integrator) {
  firing_.guards.clear();
  firing_.time = integrator.time();
  firing_.at_step_start = false;
  firing_.is_time_event = false;
  firing_.outcome = {};
  if (states_.empty()) return firing_;

  bool is_settled = false;
  for (int cut = 0; cut <= kMaxCuts && !is_settled; ++cut) {
    look_again_ = false;
    if (cut > 0) restore_states();
    if (cut > kGentleCuts) {
      const double begin = integrator.previous_time();
      retake(integrator, begin + kShorter * (integrator.time() - begin));
      if (!firing_.outcome.ok()) return firing_;
    }
    grazings_.clear();
    sample(integrator);
    first_root_ = shortened_to_ = 2.0;
    find_guards_near_zero(integrator);
    is_settled = near_zero_.empty();
    if (is_settled) break;
    if (cut == 0) save_states();
    const double t0 = integrator.previous_time();
    const double h = integrator.time() - t0;
    begin_with_earliest();
    for (const std::size_t g : near_zero_) {
      if (first_root_ < kWorthShortening * shortened_to_) shorten_to_first_root();
      if (stays_clear_before_root(g)) continue;
      examine_guard(g, integrator);
      if (firing_.at_step_start || !firing_.outcome.ok()) return firing_;
      if (look_again_) break;
    }
    if (look_again_) continue;
    std::erase_if(grazings_, [&](const Grazing& z) { return z.time > t0 + first_root_ * h; });
    is_settled = first_root_ > 1.0 || pin_down(integrator);
  }
  if (!is_settled) {
    // Guards that have not been looked at may have passed zero.
    if (firing_.outcome.ok()) firing_.outcome = {StepStatus::kStepTooSmall, 0};
    return firing_;
  }
  if (first_root_ > 1.0) {
    for (const std::size_t g : near_zero_) {
      const bool has_left = sample_of(g, 4) - offsets_[g] > states_[g].band();
      if (is_in_band(g) && has_left) offsets_[g] = 0.0;
    }
  }
  if (!firing_.fired() && firing_.outcome.ok()) fire_time_events(integrator);
  return firing_;
}

void GuardWatch::fire_time_events(const Integrator& integrator) {
  const double t = integrator.time();
  if (std::ranges::none_of(falls_, [&](double fall) { return fall <= t; })) return;
  firing_.is_time_event = true;
  // A zero that was computed as -a/b is off by rounding, to either side.
  evaluate_at(t + 8.0 * kEpsilon * std::abs(t), integrator.x().data(), integrator.dx().data());
  for (std::size_t g = 0; g < states_.size(); ++g) {
    const double tied = mode_.mode->guards[g].is_relation ? states_[g].band() : 0.0;
    const bool falls = mode_.is_time_guard[g] ? values_[g] <= tied
                       : is_time_guard_[g]    ? falls_[g] <= t + kJustAfter * kEpsilon * std::abs(t)
                                              : comes_to_zero(g);
    if (falls) firing_.guards.push_back(g);
  }
}

void GuardWatch::save_states() {
  for (std::size_t g = 0; g < states_.size(); ++g) {
    states_[g].was_armed = states_[g].armed;
    states_[g].old_offset = offsets_[g];
  }
}

void GuardWatch::restore_states() {
  for (std::size_t g = 0; g < states_.size(); ++g) {
    states_[g].armed = states_[g].was_armed;
    offsets_[g] = states_[g].old_offset;
  }
}

void GuardWatch::sample(const Integrator& integrator) {
  enclosures_->has_step = false;
  const double t0 = integrator.previous_time();
  const double t1 = integrator.time();
  const auto points = five_sample_points();
  std::array<double, 5> times;
  for (std::size_t k = 0; k < 5; ++k) times[k] = k == 4 ? t1 : t0 + points[k] * (t1 - t0);
  const std::span<const double, 4> last_four(times.data() + 1, 4);
  std::size_t left = 5;
  if (!mode_.guards_read_derivatives &&
      integrator.interpolate_lanes(last_four, enclosures_->unknowns, lanes_x_.data())) {
    const double* inputs[] = {last_four.data(), lanes_x_.data(), nullptr, data_.parameters.data(),
                              data_.held.data()};
    lanes_.evaluate(inputs, lane_registers_, lane_values_.data());
    const bool goes_on = t0 == sampled_until_;  // the step before ends where this one begins
    for (std::size_t g = 0; g < states_.size(); ++g) {
      if (goes_on) sample_of(g, 0) = end_values_[g];
      for (std::size_t k = 0; k < 4; ++k) sample_of(g, k + 1) = lane_values_[4 * g + k];
      end_values_[g] = lane_values_[4 * g + 3];
    }
    sampled_until_ = t1;
    left = goes_on ? 0 : 1;
  }
  while (left-- > 0) {
    integrator.interpolate(times[left], enclosures_->unknowns, x_.data(), dx_.data());
    evaluate_without_offsets(times[left], x_.data(), dx_.data(), &sample_of(0, left));
  }
  for (std::size_t g = 0; g < offsets_.size(); ++g) {
    if (offsets_[g] == 0.0) continue;
    for (std::size_t k = 0; k < 5; ++k) sample_of(g, k) += offsets_[g];
  }
}

std::array<double, 5> GuardWatch::samples_of(std::size_t guard) const {
  std::array<double, 5> result;
  for (std::size_t k = 0; k < 5; ++k) result[k] = sample_of(guard, k);
  return result;
}

int GuardWatch::degree(std::size_t guard, const Integrator& integrator) const {
  const int by_unknowns = enclosures_->degrees[guard];
  return by_unknowns < 0 ? -1 : by_unknowns * integrator.extension_degree();
}

// Whether leaves_band would find nothing and the end is not above the band.
bool GuardWatch::stays_in_band(std::size_t guard) const {
  const std::array<double, 5> samples = samples_of(guard);
  const double offset = offsets_[guard];
  const double band = states_[guard].band();
  const double overshoot = enclosures_->overshoots[guard];
  const double width = std::max(band, overshoot);
  const auto inside = [&](double value) { return std::abs(value - offset) <= width; };
  if (samples.back() - offset > band) return false;
  if (overshoot > band && samples.back() - offset < -band) return false;
  return !inside(samples.front()) || std::ranges::all_of(samples, inside);
}

// What stays as it is without a closer look: an armed guard whose samples exclude a root or that is
// zero throughout, and one in a band. Most guards do in most steps.
void GuardWatch::find_guards_near_zero(const Integrator& integrator) {
  if (extension_degree_ != integrator.extension_degree()) {
    extension_degree_ = integrator.extension_degree();
    for (std::size_t g = 0; g < states_.size(); ++g) {
      const int along_step = degree(g, integrator);
      unproven_[g] = along_step < 0 || along_step > 4 ? 1.0 : 0.0;
    }
  }
  measure_clearance(samples_.data(), states_.size(), unproven_.data(), clearance_.data());
  near_zero_.clear();
  for (const std::size_t g : watched_) {
    const State& state = states_[g];
    const bool is_clear =
        clearance_[g] > 0.0 && (unproven_[g] == 0.0 || is_proved_clear(g, integrator));
    if (is_clear && state.armed && offsets_[g] == 0.0) continue;
    const bool is_settled = is_clear || stays_on_zero(samples_of(g), state.noise());
    const bool stays = is_settled && state.armed && (!is_in_band(g) || stays_in_band(g));
    if (!stays) near_zero_.push_back(g);
  }
}

// The guard that comes first through zero, as a straight line between samples tells, is looked at
// first: what others do after it is of no interest.
void GuardWatch::begin_with_earliest() {
  if (near_zero_.size() < kMany) return;
  const auto points = five_sample_points();
  double earliest = 2.0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < near_zero_.size(); ++i) {
    const std::size_t g = near_zero_[i];
    if (!states_[g].armed || offsets_[g] != 0.0) continue;
    for (std::size_t k = 0; k < 4 && points[k] < earliest; ++k) {
      const double a = sample_of(g, k);
      const double b = sample_of(g, k + 1);
      if (!(a > 0.0 && b <= 0.0)) continue;
      const double place = points[k] + (points[k + 1] - points[k]) * (a / (a - b));
      if (place < earliest) {
        earliest = place;
        first = i;
      }
      break;
    }
  }
  std::swap(near_zero_[0], near_zero_[first]);
}

// Five samples of all guards up to a little beyond the first root: exact for polynomials of degree
// 4 at most, and used for these only.
void GuardWatch::shorten_to_first_root() {
  if (near_zero_.size() < kMany || first_root_ > 1.0) return;
  shortened_to_ = std::min(1.0, first_root_ * (1.0 + kBeyondRoot));
  shortened_.resize(samples_.size());
  shortened_clearance_.resize(states_.size());
  const auto points = five_sample_points();
  const std::size_t count = states_.size();
  for (std::size_t k = 0; k < 5; ++k) {
    std::array<double, 5> weights;
    for (std::size_t i = 0; i < 5; ++i) {
      weights[i] = 1.0;
      for (std::size_t j = 0; j < 5; ++j)
        if (j != i) weights[i] *= (shortened_to_ * points[k] - points[j]) / (points[i] - points[j]);
    }
    const double* const rows = samples_.data();
    double* const row = &shortened_[k * count];
    for (std::size_t g = 0; g < count; ++g) {
      row[g] = weights[0] * rows[g] + weights[1] * rows[count + g] +
               weights[2] * rows[2 * count + g] + weights[3] * rows[3 * count + g] +
               weights[4] * rows[4 * count + g];
    }
  }
  measure_clearance(shortened_.data(), count, unproven_.data(), shortened_clearance_.data());
}

// Whether an armed guard does nothing before the first root that has been found.
bool GuardWatch::stays_clear_before_root(std::size_t guard) const {
  if (shortened_to_ > 1.0 || unproven_[guard] != 0.0) return false;
  if (!states_[guard].armed || offsets_[guard] != 0.0 || !(sample_of(guard, 0) > 0.0)) return false;
  double largest = 0.0;
  for (std::size_t k = 0; k < 5; ++k) largest = std::max(largest, std::abs(sample_of(guard, k)));
  return shortened_clearance_[guard] > 1e3 * kEpsilon * largest;
}

// Samples have excluded a root as far as they can: whether the formula itself does.
bool GuardWatch::is_proved_clear(std::size_t guard, const Integrator& integrator) {
  std::optional<StepFunction>& function = enclosures_->along_step[guard];
  if (!function) return true;
  if (!enclosures_->has_step && !enclosures_->step.read(integrator)) return true;
  enclosures_->has_step = true;
  return function->is_clear(enclosures_->step, offsets_[guard]);
}

// Between them few samples tell the course of a guard.
std::span<const double> GuardWatch::cuts_for(std::size_t guard, const Integrator& integrator) {
  std::optional<StepFunction>& function = enclosures_->along_step[guard];
  if (!function || unproven_[guard] == 0.0) return {};
  if (!enclosures_->has_step && !enclosures_->step.read(integrator)) return {};
  enclosures_->has_step = true;
  function->cut(enclosures_->step, offsets_[guard], enclosures_->cuts);
  return enclosures_->cuts;
}

// Whether a guard that the extension shows below zero from the start on is so on the solution.
bool GuardWatch::is_real(std::size_t g, std::span<const Root> roots, Integrator& integrator) {
  const bool from_start = roots.empty() || roots.front().s > 1e-9;
  const double begin = from_start ? 0.0 : roots.front().s;
  const std::size_t next = from_start ? 0 : 1;
  if (next >= roots.size())
    return true;  // to the end of the step, which is a point of the solution
  const double t0 = integrator.previous_time();
  const double middle = t0 + 0.5 * (begin + roots[next].s) * (integrator.time() - t0);
  const double resolution = 4.0 * kEpsilon * std::abs(t0);
  if (middle - t0 <= resolution) return true;
  const double claimed = [&] {
    evaluate(integrator, middle);
    return values_[g];
  }();
  if (!retake(integrator, middle)) return false;
  evaluate_end(integrator);
  return values_[g] <= 0.5 * claimed;
}

// Finds the first root at which this guard switches, keeps its arming up to date.
void GuardWatch::examine_guard(std::size_t g, Integrator& integrator) {
  State& state = states_[g];
  std::array<double, 5> samples = samples_of(g);
  const double t0 = integrator.previous_time();
  const double h = integrator.time() - t0;
  const int along_step = degree(g, integrator);
  const auto along = [&](double s) {
    return evaluate_one(g, integrator, s == 1.0 ? integrator.time() : t0 + s * h);
  };
  bool rises = false;
  if (is_in_band(g)) {
    const auto without_offset = [&](double s) { return along(s) - offsets_[g]; };
    const double overshoot = enclosures_->overshoots[g];
    const Band band{offsets_[g], std::max(state.band(), overshoot), state.threshold(), along_step};
    const std::optional<double> above = leaves_band(without_offset, samples, band, isolator_);
    if (above && *above < 1.0 && *above * h > 4.0 * kEpsilon * std::abs(t0 + h)) {
      // It comes back within the step, or the extension overshoots: the solution itself tells at
      // the end of a shorter step.
      const double claimed = without_offset(*above);
      if (retake(integrator, t0 + *above * h)) {
        evaluate_end(integrator);
        if (std::abs(values_[g] - offsets_[g]) <= state.band())
          enclosures_->note_overshoot(g, claimed, state.band(), state.size);
      }
      look_again_ = true;
      return;
    }
    const double lowest = *std::ranges::min_element(samples);
    if (!above && overshoot > 0.0 && lowest >= -overshoot && samples.back() > 0.0) return;
    rises = above.has_value();
    if (rises) {
      // If it returns within the step, that is located at zero itself.
      for (std::size_t k = 0; k < 5; ++k) sample_of(g, k) -= offsets_[g];
      samples = samples_of(g);
      offsets_[g] = 0.0;
      state.armed = false;
    }
  }
  state.armed = state.armed || samples.front() > state.threshold();
  if (state.armed && surely_no_root(samples, along_step) &&
      (unproven_[g] == 0.0 || is_proved_clear(g, integrator)))
    return;
  const auto [lowest, highest] = std::minmax_element(samples.begin(), samples.end());
  if (std::max(-*lowest, *highest) <= 100.0 * state.noise()) return;  // stays on zero

  GuardInfo info;
  info.degree = along_step;
  info.at_start = samples.front();
  info.at_end = samples.back();
  info.cuts = cuts_for(g, integrator);
  if (!state.armed && state.was_held) info.noise = state.threshold();
  // Where time hardly resolves the step, or the way from its start, a guard is a staircase; its
  // treads are no contacts.
  const double time_noise = kEpsilon * std::abs(t0 + h);
  const bool is_staircase = time_noise > 1e-7 * h;
  const RootReport report = isolator_.isolate(along, info);
  bool armed = state.armed || rises;
  if (armed && report.roots.empty() && !is_staircase && offsets_[g] == 0.0)
    note_touch(g, along, integrator);
  if (!armed) {
    // At zero when the mode started: which way does it leave?
    const int leaves = report.roots.empty()            ? (samples.back() > 0.0 ? 1 : -1)
                       : report.roots.front().s > 1e-9 ? report.roots.front().before
                                                       : report.roots.front().after;
    if (leaves < 0) {
      if (*lowest >= -state.band()) return;
      if (!is_real(g, report.roots, integrator)) {
        look_again_ = true;
        return;
      }
      firing_.guards.push_back(g);
      firing_.time = t0;
      firing_.at_step_start = true;
      return;
    }
    armed = leaves > 0;
  }
  for (const Root& root : report.roots) {
    if (rises && root.s <= RootIsolator::kMinWidth) continue;
    if (root.kind == RootKind::kRising || root.after > 0) armed = armed || root.after > 0;
    if (!armed || root.before < 0) continue;
    if (root.kind == RootKind::kGrazing && !is_staircase && root.s * h > 64.0 * time_noise)
      grazings_.push_back({g, t0 + root.s * h, motion(g, integrator, t0 + root.s * h)});
    if (root.kind == RootKind::kFlat && root.after >= 0) continue;
    if (root.after < 0 || (root.kind == RootKind::kFalling && root.s >= 1.0)) {
      if (root.kind != RootKind::kGrazing) {
        consider(g, root.s);
        break;
      }
    }
  }
  state.armed = armed;
}

GuardMotion GuardWatch::motion(std::size_t guard, const Integrator& integrator, double t) {
  const double t0 = integrator.previous_time();
  const double t1 = integrator.time();
  GuardMotion result;
  if (t1 > t0) {
    // Differences that are exact for cubics, to the side where the step lies.
    const double d = (t - t0 > t1 - t ? -1e-3 : 1e-3) * (t1 - t0);
    double s[4];
    for (int k = 0; k < 4; ++k) {
      evaluate(integrator, t + k * d);
      s[k] = values_[guard];
    }
    result.slope = (-11.0 * s[0] + 18.0 * s[1] - 9.0 * s[2] + 2.0 * s[3]) / (6.0 * d);
    evaluate(integrator, t0);
    if (t > t0) result.mean_slope = std::abs(values_[guard]) / (t - t0);
  }
  integrator.interpolate(t, enclosures_->unknowns, x_.data(), dx_.data());
  const double* inputs[] = {&t, x_.data(), dx_.data(), data_.parameters.data(), data_.held.data()};
  mode_.guard_sizes.evaluate(inputs, size_registers_, values_.data());
  result.size = values_[guard];
  return result;
}

// Takes the step again to end at t. Where Newton's method does not get there from its start (a
// clutch comes to zero slip, at a loose tolerance) it ends before: false, and it must be looked at
// again.
bool GuardWatch::retake(Integrator& integrator, double t) {
  const double t0 = integrator.previous_time();
  firing_.outcome = integrator.retake(t);
  if (firing_.outcome.ok()) return true;
  for (int k = 0; k < kMaxShortened && !firing_.outcome.ok(); ++k) {
    t = t0 + kShorter * (t - t0);
    firing_.outcome = integrator.retake(t);
  }
  return false;
}

void GuardWatch::consider(std::size_t guard, double s) {
  if (s >= first_root_) return;
  first_root_ = s;
  first_guard_ = guard;
}

// Takes the step again with corrected lengths until the guard vanishes on the solution itself: the
// continuous extension is only of fourth order. Bracketed secant (Illinois) on real steps. False if
// it turns out that there is no root, and the shortened step must be looked at again.
bool GuardWatch::pin_down(Integrator& integrator) {
  const double t0 = integrator.previous_time();
  const double t1 = integrator.time();
  const std::size_t g = first_guard_;
  const double noise = states_[g].noise();
  evaluate(integrator, t1);
  double low = t0;
  double low_value = std::max(sample_of(g, 0), noise);
  double high = t1;
  double high_value = values_[g];
  const bool bracketed = high_value <= 0.0;
  double t = std::min(t0 + first_root_ * (t1 - t0), t1);
  const double resolution = 4.0 * kEpsilon * std::max(std::abs(t0), std::abs(t1));
  // Slope of the guard on the extension, for the first correction: over a distance small enough
  // that a second root close by does not spoil it.
  const double probe = std::min(0.5 * (t - t0), std::max(1e-8 * (t1 - t0), 1e3 * resolution));
  evaluate(integrator, t + probe);
  const double beyond = values_[g];
  evaluate(integrator, t - probe);
  double slope = probe > 0.0 ? (beyond - values_[g]) / (2.0 * probe) : 0.0;

  double previous_t = t0;
  double previous_value = 0.0;
  for (int k = 0; k < kMaxCorrections; ++k) {
    if (t - t0 <= resolution && !bracketed && (low > t0 || sample_of(g, 0) > noise)) {
      // Positive at the start, at the end, and wherever the step was taken to: the extension was
      // wrong. On a part of the step it is far better.
      retake(integrator, t0 + kShorter * (t1 - t0));
      return !firing_.outcome.ok();
    }
    if (t - t0 <= resolution) {
      // The crossing is at the very start of the step.
      firing_.time = t0;
      firing_.at_step_start = true;
      firing_.guards.push_back(g);
      return true;
    }
    if (!retake(integrator, t)) return !firing_.outcome.ok();
    evaluate_end(integrator);
    const double value = values_[g];
    // Over a few roundings of time the difference of two values is rounding, too.
    if (k > 0 && std::abs(t - previous_t) > 100.0 * resolution && value != previous_value)
      slope = (value - previous_value) / (t - previous_t);
    previous_t = t;
    previous_value = value;
    (value > 0.0 ? low : high) = t;
    (value > 0.0 ? low_value : high_value) = value;
    if (std::abs(value) <= noise || (bracketed && high - low <= resolution)) break;
    double next = slope != 0.0 ? t - value / slope : t;
    if (bracketed && !(next > low && next < high)) next = 0.5 * (low + high);
    // Without a bracket a long way to go means that the solution has no root where its extension
    // has one.
    if (!bracketed && std::abs(next - t) > 0.1 * (t1 - t0)) break;
    next = std::clamp(next, t0, t1);
    // Nor has it one before a start that is well above zero: it only starts flatter than its
    // extension, which may dip below zero there.
    if (!bracketed && next - t0 <= resolution && sample_of(g, 0) > 1e3 * noise) break;
    if (std::abs(next - t) <= 0.5 * resolution) break;
    t = next;
  }
  // A relation ends beyond zero, not before it by rounding: what is still positive there may count
  // for much in the next mode (the rest of a current that a blocking diode turns into a voltage).
  evaluate_end(integrator);
  if (mode_.mode->guards[g].is_relation && bracketed && values_[g] > noise &&
      high > integrator.time() && high - integrator.time() <= 4.0 * resolution &&
      !retake(integrator, high))
    return !firing_.outcome.ok();
  firing_.time = integrator.time();
  evaluate_end(integrator);
  // A close pair seen on the extension may be no crossing of the solution: then the shortened step
  // simply stands, and the next one looks again.
  const double tolerated = std::max(noise * 1e3, std::abs(slope) * 4.0 * resolution);
  // The extension of a long step may show two roots in the wrong order: what is beyond zero here
  // has crossed it before, and the shorter step tells where.
  const auto another_is_beyond = [&] {
    for (std::size_t other = 0; other < states_.size(); ++other) {
      const State& state = states_[other];
      if (other != g && !is_time_guard_[other] && state.armed && offsets_[other] == 0.0 &&
          state.width == 0.0 && state.size > 0.0 && sample_of(other, 0) > 0.0 &&
          values_[other] < -state.band())
        return true;
    }
    return false;
  };
  if (!bracketed && values_[g] > tolerated) {
    const State& state = states_[g];
    if (is_in_band(g) && values_[g] - offsets_[g] <= state.band())
      for (std::size_t k = 1; k < 4; ++k)
        enclosures_->note_overshoot(g, offsets_[g] - sample_of(g, k), state.band(), state.size);
    // Others have been looked at up to where the root was expected.
    const double looked_until = t0 + first_root_ * (t1 - t0);
    if (integrator.time() > looked_until && looked_until - t0 > resolution) {
      if (!retake(integrator, looked_until)) return !firing_.outcome.ok();
      evaluate_end(integrator);
    }
    return !another_is_beyond();
  }
  if (another_is_beyond()) return false;
  for (std::size_t other = 0; other < states_.size(); ++other) {
    // A guard of size zero is zero all the time (its factor is), it does not come there now.
    const bool tied =
        other == g ||
        (!is_time_guard_[other] &&
         (comes_to_zero(other) || (states_[other].armed && states_[other].size > 0.0 &&
                                   values_[other] <= states_[other].noise())));
    if (tied) firing_.guards.push_back(other);
  }
  return true;
}

// Whether an armed guard is at zero up to the rounding of the last step, and on its way down.
bool GuardWatch::comes_to_zero(std::size_t guard) const {
  const State& state = states_[guard];
  return state.armed && offsets_[guard] == 0.0 && state.width == 0.0 && state.size > 0.0 &&
         values_[guard] <= 100.0 * state.noise() && sample_of(guard, 3) - sample_of(guard, 4) > 0.0;
}

// A guard that comes down to zero and turns, up to rounding: no root tells of it.
void GuardWatch::note_touch(std::size_t guard, GuardRef along, const Integrator& integrator) {
  // Most guards stay clear of zero, as the polynomial through the samples tells.
  const std::array<double, 5> samples = samples_of(guard);
  double largest = 0.0;
  for (const double value : samples) largest = std::max(largest, std::abs(value));
  double nearest = largest;
  for (const std::array<double, 5>& weights : fine_weights()) {
    double value = 0.0;
    for (std::size_t i = 0; i < 5; ++i) value += weights[i] * samples[i];
    nearest = std::min(nearest, value);
  }
  if (nearest > 1e-3 * largest) return;
  constexpr int kPoints = 16;
  double lowest = along(0.0);
  int place = 0;
  for (int k = 1; k <= kPoints; ++k) {
    const double value = along(double(k) / kPoints);
    if (value < lowest) {
      lowest = value;
      place = k;
    }
  }
  if (place == 0 || place == kPoints) return;  // it does not turn in this step
  double low = double(place - 1) / kPoints;
  double high = double(place + 1) / kPoints;
  constexpr double kGolden = 0.381966011250105;
  double a = low + kGolden * (high - low);
  double b = high - kGolden * (high - low);
  double at_a = along(a);
  double at_b = along(b);
  while (high - low > 1e-9) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = low + kGolden * (high - low);
      at_a = along(a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = high - kGolden * (high - low);
      at_b = along(b);
    }
  }
  if (std::min(at_a, at_b) > 100.0 * states_[guard].noise()) return;
  const double t0 = integrator.previous_time();
  const double t = t0 + 0.5 * (low + high) * (integrator.time() - t0);
  grazings_.push_back({guard, t, motion(guard, integrator, t)});
}

}  // namespace saltus
