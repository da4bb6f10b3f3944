#include "realtime/realtime_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "expr/differentiate.h"
#include "simulate/sorted_waves.h"

namespace saltus {
namespace {

constexpr std::size_t kWhole = std::size_t{1} << AffineStep::kLevels;
constexpr double kBand = 1e-10;  // of the size of a relation: at zero, as offline
constexpr std::size_t kMostRounds = 24;

SimulateOptions offline_options() { return {}; }

}  // namespace

RealtimeEngine::~RealtimeEngine() = default;

RealtimeEngine::RealtimeEngine(const HybridSystem& system, const RealtimeOptions& options)
    : system_(system),
      flat_(system.flat()),
      model_(flat_ != nullptr ? flat_->reduced
                              : throw Error(fmt::format("{} is written in C++; fixed steps need a "
                                                        "model in Modelica",
                                                        system.name()))),
      options_(options) {
  if (!(options.step > 0.0) || !std::isfinite(options.step))
    throw Error("the step must be positive");
  if (options.max_events < 1) throw Error("a sample needs room for at least one event");
  refuse_unsupported();
  start_time_ = options.start_time.value_or(system.experiment.start_time);
  const double stop_time = options.stop_time.value_or(system.experiment.stop_time);
  constexpr double kMostSamples = 1e8;
  if (!(stop_time >= start_time_) || (stop_time - start_time_) / options.step > kMostSamples)
    throw Error(fmt::format("from {:g} s to {:g} s are not between 0 and {:g} steps of {:g} s",
                            start_time_, stop_time, kMostSamples, options.step));
  for (const Parameter& p : system_.parameters()) parameters_.push_back(p.value);
  compile();
  find_start();
  rehearse(stop_time);
}

// What is not there is refused, not approximated.
void RealtimeEngine::refuse_unsupported() const {
  if (!model_.delays.empty()) throw Error("delay() has no fixed-step form");
  for (const Relation& r : model_.relations)
    if (r.leaves_state) throw Error("continuous state machines have no fixed-step form", r.where);
}

void RealtimeEngine::compile() {
  const auto inputs = state_inputs(system_);
  std::vector<Expr> sizes, list;
  for (const Relation& r : model_.relations) {
    formulas_.relations.push_back(r.value);
    is_continuous_.push_back(!is_constant_in_mode(r.value));
    Expr size = 0.0;
    std::vector<Expr> leaves = leaves_of(r.value);
    std::erase_if(leaves, [](const Expr& leaf) { return !leaf.is_variable(); });
    const Expr value[] = {r.value};
    for (const JacobianEntry& entry : jacobian(value, leaves)) {
      const Expr& leaf = leaves[entry.column];
      size += abs(entry.value) * max(abs(leaf), system_.variables()[leaf.node()->index].nominal);
    }
    if (leaves.empty() && is_continuous_.back()) size = time_relation_size(r.value, system_.time());
    sizes.push_back(size);
  }
  relation_sizes_ = Formulas(sizes, inputs);
  for (const Reinit& r : model_.reinits) list.push_back(r.condition);
  for (const Reinit& r : model_.reinits) list.push_back(r.value);
  reinits_ = Formulas(list, inputs);
  for (const Reinit& r : model_.reinits) {
    const VariableId id(r.variable.node()->index);
    const auto known = std::ranges::find(formulas_.reset, id);
    reset_place_.push_back(static_cast<std::size_t>(known - formulas_.reset.begin()));
    if (known == formulas_.reset.end()) formulas_.reset.push_back(id);
  }
  list.clear();
  for (const Termination& e : model_.terminations) list.push_back(e.condition);
  terminations_ = Formulas(list, inputs);
  list.clear();
  for (const Sample& s : model_.samples) {
    list.push_back(s.start);
    list.push_back(s.interval);
  }
  samples_ = Formulas(list, inputs);

  // Relations and discrete equations, sorted by what they read of each other.
  const std::size_t relations = model_.relations.size();
  const std::size_t count = relations + model_.discrete_equations.size();
  std::vector<Expr> value(count);
  std::vector<std::ptrdiff_t> setter(system_.graph().slot_count(), -1);
  for (std::size_t k = 0; k < count; ++k) {
    const Expr target =
        k < relations ? model_.relations[k].slot : model_.discrete_equations[k - relations].target;
    value[k] =
        k < relations ? model_.relations[k].value : model_.discrete_equations[k - relations].value;
    setter[target.node()->slot().index()] = static_cast<std::ptrdiff_t>(k);
  }
  std::vector<std::vector<std::size_t>> reads(count);
  for (std::size_t k = 0; k < count; ++k)
    for (const Expr& leaf : leaves_of(value[k])) {
      if (!leaf.is_slot()) continue;
      const std::ptrdiff_t from = setter[leaf.node()->slot().index()];
      if (from >= 0) reads[k].push_back(static_cast<std::size_t>(from));
    }
  for (std::vector<std::size_t>& items : sort_into_waves(reads)) {
    std::vector<Expr> expressions;
    for (const std::size_t k : items) expressions.push_back(value[k]);
    levels_.push_back({std::move(items), Formulas(expressions, inputs)});
  }

  std::map<std::string, Expr> results;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const Expr& result) {
    if (!name.starts_with('$') && results.emplace(name, result).second) names.push_back(name);
  };
  for (const Variable& v : system_.variables()) add(v.name, v.symbol);
  for (const Derived& d : system_.derived()) add(d.name, d.value);
  for (const std::string& name : options_.outputs.empty() ? names : options_.outputs) {
    const auto found = results.find(name);
    if (found == results.end()) throw Error(fmt::format("no variable '{}' to put out", name));
    output_names_.push_back(name);
    formulas_.outputs.push_back(found->second);
  }

  const std::size_t slots = system_.graph().slot_count();
  for (std::vector<double>* v : {&values_, &before_, &ahead_, &sizes_}) v->assign(relations, 0.0);
  at_zero_.assign(relations, Zero::kAway);
  fired_.assign(relations, false);
  located_.assign(relations, false);
  armed_.assign(relations, false);
  entry_slots_.assign(slots, 0.0);
  reset_done_.assign(model_.reinits.size(), false);
  reset_pending_.assign(model_.reinits.size(), false);
  reset_values_.assign(model_.reinits.size(), 0.0);
  history_.assign(kMostRounds, std::vector<double>(slots));
  event_.relations.reserve(relations);
}

ModeId RealtimeEngine::flat_mode(std::size_t index) {
  while (flat_modes_.size() <= index) {
    const Mode& mode = events_->mode(flat_modes_.size()).mode;
    flat_modes_.emplace_back(system_.modes().size());
    system_.mode(mode.name) = mode;
  }
  return flat_modes_[index];
}

// The start is an offline matter: the initial problem and the first event iteration.
void RealtimeEngine::find_start() {
  state_ = start_state(system_);
  const auto visit = [this](std::size_t index) -> ModeRun* {
    std::unique_ptr<ModeRun>& run = start_runs_[index];
    if (run == nullptr) {
      const ModeId id = flat_mode(index);
      try {
        check_structure(system_, system_.modes()[id.index()]);
        run = make_mode_run(system_, id, offline_options(), 1e-9, start_time_, state_, warnings_);
        if (run == nullptr) {
          auto analysed = analyse_by_numbers(system_, id, start_time_, state_);
          run = std::make_unique<ModeRun>(system_, std::move(analysed), offline_options(), 1e-9);
        }
      } catch (const Error&) {
        return nullptr;
      }
    }
    return run.get();
  };
  events_ = std::make_unique<EventIteration>(system_, visit, [] { return false; });
  const Settled settled = events_->start(start_time_, state_);
  if (!settled.ok) throw Error(settled.problem);
  start_mode_ = settled.mode;
  start_state_ = state_;
  base_ = left_ = state_;
  slots_ = state_.slots;
  if (prepare(start_mode_, start_time_, state_) == nullptr) throw Error(objection_);
}

PreparedMode* RealtimeEngine::prepare(std::size_t mode, double t, const SystemState& state) {
  const ModeId id = flat_mode(mode);
  if (prepared_.size() <= mode) prepared_.resize(mode + 1);
  if (prepared_[mode] != nullptr) return prepared_[mode].get();
  if (objections_.contains(mode)) {
    objection_ = objections_[mode];
    return nullptr;
  }
  try {
    check_structure(system_, system_.modes()[id.index()]);
    std::unique_ptr<ModeRun> run =
        make_mode_run(system_, id, offline_options(), 1e-9, t, state, warnings_);
    if (run == nullptr)
      throw Error(
          fmt::format("mode '{}' cannot be prepared for fixed steps: its structure does not "
                      "tell its constraints",
                      events_->mode(mode).mode.name));
    SystemState point = state;
    if (!run->make_consistent(t, point).ok())
      throw Error(fmt::format("mode '{}' has no consistent point at t = {:.10g}",
                              events_->mode(mode).mode.name, t));
    prepared_[mode] =
        std::make_unique<PreparedMode>(system_, std::move(run), formulas_, options_.step, t, point);
  } catch (const Error& error) {
    objection_ = objections_[mode] = error.message();
  }
  return prepared_[mode].get();
}

void RealtimeEngine::rehearse(double stop_time) {
  constexpr int kLongestStorm = 16;
  restart();
  const double end = stop_time - 1e-9 * options_.step;
  int storm = 0;
  const auto refuse = [&](const std::string& what) {
    if (refusal_.empty())
      refusal_ = fmt::format("{} at t = {:.10g} in mode '{}'", what, time(), mode(mode_).mode.name);
  };
  while (time() < end && refusal_.empty() && !is_terminated_) {
    objection_.clear();
    const unsigned status = step();
    if ((status & kResetLost) != 0) refuse("reinit sets a variable that is no state");
    if ((status & kStateNotFinite) != 0) refuse("a step of this length has no finite solution");
    if ((status & kStateJumped) != 0)
      refuse(fmt::format(
          "{} jumps by {:.3g}, which takes an impulse, and fixed steps have none (say "
          "by reinit what it jumps to)",
          system_.variables()[jumped_].name, state_.values[jumped_] - left_.values[jumped_]));
    if ((status & kNotSettled) != 0 && options_.rounds == InstantRounds::kFull)
      refuse(fmt::format("{}no discrete values agree with the relations{}",
                         objection_.empty() ? "" : objection_ + "; without that mode ",
                         event_.relations.empty()
                             ? ""
                             : " where '" + relation_text(event_.relations.front()) + "' changes"));
    storm = (status & kEventsLeft) != 0 ? storm + 1 : 0;
    if (storm == kLongestStorm)
      refuse(fmt::format(
          "more than {} events in each of {} samples: '{}' keeps changing", options_.max_events,
          kLongestStorm,
          event_.relations.empty() ? "a relation" : relation_text(event_.relations.front())));
  }
  if (!refusal_.empty()) throw Error(refusal_);
  is_rehearsing_ = false;
  restart();
}

void RealtimeEngine::restart() noexcept {
  sample_ = 0;
  mode_ = start_mode_;
  state_.values = start_state_.values;
  state_.slopes = start_state_.slopes;
  state_.slots = start_state_.slots;
  slots_ = start_state_.slots;
  is_pending_ = is_terminated_ = false;
  std::fill(reset_done_.begin(), reset_done_.end(), false);
  prepared_[mode_]->enter(start_time_, state_, is_rehearsing_);
  evaluate(relation_sizes_, start_time_, state_);
  std::copy(relation_sizes_.values.begin(), relation_sizes_.values.end(), sizes_.begin());
  std::fill(armed_.begin(), armed_.end(), false);
  prepared_[mode_]->relations(start_time_, values_.data());
  arm(values_);
}

const FlatMode& RealtimeEngine::mode(std::size_t index) const { return events_->mode(index); }

const std::string& RealtimeEngine::relation_text(std::size_t relation) const {
  return model_.relations[relation].text;
}

std::size_t RealtimeEngine::prepared_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(prepared_, [](const auto& p) { return p != nullptr; }));
}

double RealtimeEngine::time_at(std::size_t tick) const noexcept {
  return start_time_ + options_.step * (static_cast<double>(sample_) +
                                        static_cast<double>(tick) / static_cast<double>(kWhole));
}

void RealtimeEngine::evaluate(Formulas& formulas, double t, const SystemState& at) noexcept {
  const double* inputs[] = {&t, at.values.data(), at.slopes.data(), parameters_.data(),
                            slots_.data()};
  formulas.tape.evaluate(inputs, formulas.registers, formulas.values.data());
}

void RealtimeEngine::read_outputs(double* values) noexcept {
  prepared_[mode_]->outputs(time(), values);
}

// The values that the next step starts from. A relation fires once it has left zero.
void RealtimeEngine::arm(const std::vector<double>& values) noexcept {
  for (std::size_t r = 0; r < values.size(); ++r) {
    const double side = slot(model_.relations[r].slot) != 0.0 ? 1.0 : -1.0;
    if (side * values[r] > kBand * sizes_[r]) armed_[r] = true;
    before_[r] = values[r];
  }
}

// Relations whose slot no longer says what they are, marked in fired_. One that is still at zero
// since the last event has to leave the band around it.
bool RealtimeEngine::find_violated(double t) noexcept {
  prepared_[mode_]->relations(t, values_.data());
  bool any = false;
  const std::size_t count = model_.relations.size();
  for (const std::size_t r : events_->mode(mode_).sources) {
    if (r >= count) continue;
    const double side = slot(model_.relations[r].slot) != 0.0 ? 1.0 : -1.0;
    fired_[r] = side * values_[r] < (armed_[r] ? 0.0 : -kBand * sizes_[r]);
    any = any || fired_[r];
  }
  return any;
}

// In: the mode's point is at the end of a step of `length` ticks from `tick`, where something is
// violated; the beginning is saved. Out: at the event. Returns its tick.
std::size_t RealtimeEngine::locate(std::size_t tick, std::size_t length, double t) noexcept {
  PreparedMode& mode = *prepared_[mode_];
  if (options_.adjustment == StepAdjustment::kNone) return tick + length;
  const double tick_time = options_.step / static_cast<double>(kWhole);
  if (options_.adjustment == StepAdjustment::kDelta) {
    double fraction = 1.0;
    for (std::size_t r = 0; r < fired_.size(); ++r) {
      if (!fired_[r]) continue;
      const double eta = before_[r] / (before_[r] - values_[r]);  // RE (16)
      if (eta >= 0.0 && eta < fraction) fraction = eta;
    }
    // Of several the first; the others come later in the sample.
    for (std::size_t r = 0; r < fired_.size(); ++r)
      if (fired_[r] && before_[r] / (before_[r] - values_[r]) > fraction * (1.0 + 1e-12))
        fired_[r] = false;
    const auto ticks =
        static_cast<std::size_t>(std::lround(fraction * static_cast<double>(length)));
    mode.interpolate(fraction);
    mode.complete(t + tick_time * static_cast<double>(ticks));
    return tick + ticks;
  }
  mode.restore();
  located_ = fired_;
  std::size_t low = 0;
  std::size_t high = length;
  while (high - low > 1) {
    const std::size_t part = std::bit_floor((high - low) / 2);
    mode.advance(t + tick_time * static_cast<double>(low), tick_time * static_cast<double>(part),
                 part);
    if (find_violated(t + tick_time * static_cast<double>(low + part))) {
      high = low + part;
      located_ = fired_;
      mode.restore();
    } else {
      low += part;
      mode.save();
    }
  }
  mode.advance(t + tick_time * static_cast<double>(low), tick_time, 1);
  // Other parts may lead to other last digits: what was violated at that tick is what fires.
  if (!find_violated(t + tick_time * static_cast<double>(high))) fired_ = located_;
  return tick + high;
}

std::size_t RealtimeEngine::ticks_to_sample(double t, std::size_t most) const noexcept {
  std::size_t ticks = most;
  for (const Expr& next : flat_->next_samples) {
    const double wait = (slots_[next.node()->slot().index()] - t) / options_.step;
    if (!(wait * static_cast<double>(kWhole) < static_cast<double>(ticks))) continue;
    ticks = static_cast<std::size_t>(std::max(0.0, std::round(wait * static_cast<double>(kWhole))));
  }
  return ticks;
}

// Samples of the model (sample(start, interval)) that are due.
bool RealtimeEngine::fire_samples(double t) noexcept {
  bool any = false;
  for (std::size_t k = 0; k < model_.samples.size(); ++k) {
    double& next = slot(flat_->next_samples[k]);
    if (next > t + options_.step / static_cast<double>(kWhole)) continue;
    const double interval = samples_.values[2 * k + 1];
    next += interval;
    slot(model_.samples[k].slot) = 1.0;
    any = true;
  }
  return any;
}

unsigned RealtimeEngine::step() noexcept {
  status_ = 0;
  if (is_terminated_) return kModelTerminated;
  int events = 0;
  std::size_t tick = 0;
  const auto count = [&] {
    ++events;
    status_ |= kEventTaken;
  };
  if (is_pending_) {
    is_pending_ = false;
    find_violated(time_at(0));
    settle(time_at(0));
    count();
  }
  while (tick < kWhole && !is_terminated_) {
    PreparedMode& mode = *prepared_[mode_];
    const double t = time_at(tick);
    const std::size_t length = ticks_to_sample(t, kWhole - tick);
    mode.save();
    const double duration =
        options_.step * static_cast<double>(length) / static_cast<double>(kWhole);
    if (!mode.advance(t, duration, length)) {
      mode.restore();
      status_ |= kStateNotFinite;
      break;
    }
    const bool may_settle = events < options_.max_events && !is_pending_;
    if (length > 0 && find_violated(t + duration)) {
      if (may_settle) {
        tick = locate(tick, length, t);
        settle(time_at(tick));
        count();
        continue;
      }
      status_ |= kEventsLeft;
      is_pending_ = true;
    }
    if (length > 0) arm(values_);
    tick += length;
    if (tick < kWhole || !model_.samples.empty()) {
      if (fire_samples(time_at(tick))) {
        std::fill(fired_.begin(), fired_.end(), false);
        settle(time_at(tick));
        count();
      }
    }
  }
  ++sample_;
  return is_terminated_ ? status_ | kModelTerminated : status_;
}

}  // namespace saltus
