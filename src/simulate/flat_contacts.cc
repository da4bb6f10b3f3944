#include "simulate/flat_contacts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "simulate/event_iteration.h"
#include "simulate/simulation.h"

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;
// A flight that rises less than so many bands is not followed any more.
constexpr double kLowestFlight = 10.0;
// What rises less than so many bands need not leave its own.
constexpr double kInvisible = 2.0;
// Over which time the acceleration of a relation is measured, x max(1, |t|).
constexpr double kAhead = 1e-6;
// A contact whose relation moves by more than this fraction of its size in a second is open.
constexpr double kMoves = 1e-9;
// Of its rate before: what counts as no rate.
constexpr double kSameRate = 1e-6;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// The state a little later: along the tangent, then made consistent.
bool advance(ModeRun& run, double t, double dt, SystemState& state) {
  const AnalysedMode& mode = run.analysed();
  for (std::size_t j = 0; j < mode.unknowns.size(); ++j) {
    const std::size_t i = mode.unknowns[j].index();
    if (mode.differential[j]) state.values[i] += dt * state.slopes[i];
  }
  return run.make_consistent(t + dt, state).ok();
}

}  // namespace

// What moves continuously has a rate at every point.
bool FlatContacts::may_be_held(std::size_t relation) {
  const auto [place, is_new] = formulas_.try_emplace(relation);
  if (!is_new) return place->second.has_value();
  const Expr& value = run_.system_.flat()->reduced.relations[relation].value;
  Expr size = 0.0;
  bool moves = false;
  for (const Expr& leaf : leaves_of(value)) {
    if (!leaf.is_variable()) continue;
    if (leaf.node()->order > 0) return false;
    const VariableId id = leaf.node()->variable();
    size += abs(partial(value, leaf)) * max(abs(leaf), run_.system_.variable(id).nominal);
    moves = true;
  }
  if (!moves) return false;
  const std::vector<Expr> expressions = {value, size};
  Formulas formulas;
  formulas.tape = Tape(expressions, state_inputs(run_.system_));
  formulas.registers = formulas.tape.make_workspace();
  place->second = std::move(formulas);
  return true;
}

// Value and size alone.
FlatContacts::Motion FlatContacts::place_of(std::size_t relation, double t,
                                            const SystemState& state) {
  Formulas& formulas = *formulas_.at(relation);
  const double* inputs[] = {&t, state.values.data(), state.slopes.data(),
                            run_.run_->data().parameters.data(), state.slots.data()};
  double out[2];
  formulas.tape.evaluate(inputs, formulas.registers, out);
  return {out[0], 0.0, out[1]};
}

FlatContacts::Motion FlatContacts::motion_of(std::size_t relation, std::size_t flat_mode, double t,
                                             const SystemState& state) {
  Motion motion = place_of(relation, t, state);
  const double now = run_.time_;
  run_.time_ = t;  // where rates are taken
  const std::optional<double> rate =
      run_.chattering_.rate_of({run_.flat_mode(flat_mode), state.slots},
                               run_.system_.flat()->reduced.relations[relation].value, state);
  run_.time_ = now;
  motion.rate = rate.value_or(std::numeric_limits<double>::quiet_NaN());
  return motion;
}

void FlatContacts::note_event(std::size_t flat_mode, const std::vector<std::size_t>& fired,
                              const std::vector<std::size_t>& taken, const SystemState& left,
                              const SystemState& right) {
  if (taken.empty()) return;
  reset_now_ = true;
  const FlatModel& model = run_.system_.flat()->reduced;
  for (const std::size_t r : fired) {
    if (!may_be_held(r)) continue;
    Reset reset;
    reset.relation = r;
    reset.sign = left.value_of(model.relations[r].slot) != 0.0 ? 1.0 : -1.0;
    reset.reinits = taken;
    bool jumps = false;
    for (const std::size_t k : taken) {
      const std::size_t i = model.reinits[k].variable.node()->index;
      reset.jumps.push_back(right.values[i] - left.values[i]);
      jumps = jumps || reset.jumps.back() != 0.0;
    }
    reset.rate_before = reset.sign * motion_of(r, flat_mode, run_.time_, left).rate;
    if (!jumps || !(reset.rate_before < 0.0)) continue;
    reset.reverses = reset.sign * motion_of(r, run_.flat_mode_, run_.time_, right).rate >=
                     kSameRate * reset.rate_before;
    if (run_.time_ > impact_time_) {
      impact_time_ = run_.time_;
      hardest_ = 0.0;
      impacts_ = 0;
    }
    hardest_ = std::max(hardest_, -reset.rate_before);
    remember(std::move(reset), right);
    now_.push_back(r);
  }
}

// Whether some other relation changes on the way to this state: then the model itself may have an
// answer, and events are left to it.
bool FlatContacts::changes_meanwhile(const Reset& reset, double t, const SystemState& state) {
  const FlatMode& flat = run_.events_->mode(run_.flat_mode_);
  const FlatModel& model = run_.system_.flat()->reduced;
  const Expr& held = model.relations[reset.relation].value;
  for (std::size_t g = 0; g < flat.sources.size(); ++g) {
    if (flat.sources[g] >= model.relations.size()) continue;
    const std::size_t r = flat.sources[g];
    const Expr& value = model.relations[r].value;
    if (value.same_as(held) || value.same_as(-held) || !may_be_held(r)) continue;
    if (resets_.contains(r)) continue;  // it has an answer
    const Motion motion = place_of(r, t, state);
    const double side = state.value_of(model.relations[r].slot) != 0.0 ? 1.0 : -1.0;
    if (side * motion.value < -kBand * motion.size) return true;
  }
  return false;
}

// Whether the state, just reset at the relation, no longer leaves it by more than can be told. Then
// `reset.rest` is the time at which the flights to come accumulate, each shorter by the factor with
// which the rate is reset, and `later` the state there.
bool FlatContacts::comes_to_rest(Reset& reset, SystemState& later) {
  const double t = run_.time_;
  const Motion now = motion_of(reset.relation, run_.flat_mode_, t, run_.state_);
  const double band = kBand * now.size;
  if (!is_near(reset, now)) return false;
  const double rate = reset.sign * now.rate;
  const bool own = std::ranges::find(now_, reset.relation) != now_.end();
  // Pressed against something that is held, it is reset again and again at this instant, each time
  // to less; its relation stays where it is and would not fire again.
  if (own && holding() && rate < -kSameRate * std::abs(reset.rate_before) &&
      rate > reset.rate_before) {
    later = run_.state_;
    reset.rest = t;
    return true;
  }
  const double ahead = kAhead * std::max(1.0, std::abs(t));
  probed_ = true;
  SystemState probe = run_.state_;
  if (!advance(*run_.run_, t, ahead, probe)) return false;
  const double acceleration =
      (reset.sign * motion_of(reset.relation, run_.flat_mode_, t + ahead, probe).rate - rate) /
      ahead;
  const double noise = 8.0 * kEpsilon * std::abs(reset.rate_before) / ahead;
  if (!(acceleration < -noise) || rate * rate > -2.0 * acceleration * kLowestFlight * band)
    return false;

  later = run_.state_;
  const double contraction = rate / -reset.rate_before;
  // What does not leave the band cannot fire again: at rest as it is, whatever reset it.
  const bool is_invisible = reset.reverses && is_closed(reset) &&
                            !is_struck(reset, run_.flat_mode_) &&
                            rate * rate <= -2.0 * acceleration * kInvisible * band;
  if (own && contraction >= -1e-12 && contraction < 1.0) {
    const double flight = std::max(2.0 * rate / -acceleration, 0.0);
    SystemState landing = run_.state_;
    if (!advance(*run_.run_, t, flight, landing)) return false;
    reset.rest = t + flight / (1.0 - contraction);
    if (changes_meanwhile(reset, t + flight, landing)) {
      resets_[reset.relation].rest = reset.rest;
      return false;
    }
    if (flight > 0.0 && !carry_on(reset, flight, landing, later)) return false;
    // Something else moves with it, or is in its way: it is at rest as it is.
    if (std::abs(place_of(reset.relation, reset.rest, later).value) > kLowestFlight * band ||
        is_beyond_another({reset}, reset.rest, later)) {
      reset.rest = t;
      later = run_.state_;
    }
  } else if (own || std::abs(rate) > kSameRate * std::abs(reset.rate_before)) {
    if (!is_invisible) return false;
    reset.rest = t;
  } else if (reset.rest > t) {
    for (std::size_t i = 0; i < later.values.size(); ++i)
      later.values[i] += (reset.rest - t) * later.slopes[i];
  }
  const FlatModel& model = run_.system_.flat()->reduced;
  for (const std::size_t k : reset.reinits) {
    const std::size_t i = model.reinits[k].variable.node()->index;
    later.values[i] = run_.state_.values[i];
  }
  return true;
}

// The state where the flights accumulate: what is reset swings between take-off and landing, so
// what moves by it moves by the mean of both; everything else goes on along its own tangent and
// curvature.
bool FlatContacts::carry_on(const Reset& reset, double flight, const SystemState& landing,
                            SystemState& later) {
  const double dt = reset.rest - run_.time_;
  const FlatModel& model = run_.system_.flat()->reduced;
  SystemState turned = run_.state_;
  for (const std::size_t k : reset.reinits) {
    const std::size_t i = model.reinits[k].variable.node()->index;
    turned.values[i] = landing.values[i];
  }
  if (!run_.run_->make_consistent(run_.time_, turned).ok()) return false;
  for (std::size_t i = 0; i < later.values.size(); ++i) {
    const double slope = run_.state_.slopes[i];
    const double swing = turned.slopes[i] - slope;
    const double growth = (landing.slopes[i] - swing - slope) / flight;
    later.values[i] += dt * (slope + 0.5 * swing + 0.5 * dt * growth);
  }
  return true;
}

void FlatContacts::follow() {
  const bool any = reset_now_;
  reset_now_ = false;
  if (!any) return;
  std::vector<Reset> candidates;
  const std::vector<Reset> contacts = pressed();
  if (!contacts.empty() && !hold(contacts, run_.time_, run_.state_.values)) return;
  if (contacts.empty()) follow_turns();
  for (const auto& [relation, reset] : resets_) candidates.push_back(reset);
  // Once one is held, others may come to rest on it.
  for (bool any_held = true; any_held && !run_.stopped_;) {
    any_held = false;
    for (Reset& reset : candidates) {
      const bool known = std::ranges::any_of(
          held_, [&](const Reset& other) { return other.relation == reset.relation; });
      SystemState later;
      if (known || !comes_to_rest(reset, later)) continue;
      if (!hold({reset}, reset.rest, later.values)) break;
      any_held = holding() && held_.back().relation == reset.relation;
    }
  }
  now_.clear();
  if (!probed_ || run_.stopped_) return;
  // Looking ahead has moved the mode's point.
  probed_ = false;
  run_.run_->make_consistent(run_.time_, run_.state_);
  run_.run_->restart(run_.time_);
  run_.run_->watch().start(run_.time_, run_.run_->integrator().x().data(),
                           run_.run_->integrator().dx().data());
  const Firing changed = changed_on_the_way();
  if (changed.fired())
    run_.settle_flat(changed);
  else if (const Firing* impact = next_impact())
    run_.settle_flat(*impact);
}

bool FlatContacts::log_entry(Event event, bool hop_follows_event) {
  run_.recorder_->store(run_.time_, run_.run_->analysed().id, run_.state_);
  event.to = run_.run_->mode().name;
  run_.left_.values.resize(run_.state_.values.size(), 0.0);
  run_.left_.slopes.resize(run_.state_.values.size(), 0.0);
  note_changes(run_.system_, run_.run_->analysed(), run_.left_, run_.state_, event);
  if (hop_follows_event) mark_instantaneous(run_.result_.events.back());
  classify(event);
  run_.result_.events.push_back(std::move(event));
  return !run_.stopped_;
}

ModeId FlatContacts::mode_for(std::size_t flat_mode) {
  const Made* made = held_.empty() ? nullptr : limit_for(flat_mode, held_);
  return made == nullptr ? run_.flat_mode(flat_mode) : made->limit;
}

bool FlatContacts::release(const Firing& firing, bool hop_follows_event) {
  const Simulation::FlatView* view = run_.view_of(run_.run_->analysed().id);
  if (view == nullptr) return false;
  std::vector<std::size_t> released;
  for (const std::size_t g : firing.guards) {
    // The event iteration comes first.
    if (view->contacts[g] == Simulation::FlatView::npos) return false;
    released.push_back(view->contacts[g]);
  }
  Event event = begin_event(run_.time_, run_.run_->mode(), firing);
  std::ranges::sort(released, std::greater());
  for (const std::size_t k : released) held_.erase(held_.begin() + static_cast<long>(k));
  run_.left_ = run_.state_;
  if (enter(run_.flat_mode_)) log_entry(std::move(event), hop_follows_event);
  return true;
}

const FlatContacts::Made* FlatContacts::limit_for(std::size_t flat_mode,
                                                  const std::vector<Reset>& contacts) {
  const auto as_contact = [](const Reset& r) { return Contact{r.relation, r.jumps}; };
  for (const auto& made : made_) {
    const bool fits =
        made->flat_mode == flat_mode &&
        std::equal(made->contacts.begin(), made->contacts.end(), contacts.begin(), contacts.end(),
                   [&](const Reset& a, const Reset& b) {
                     return a.reinits == b.reinits &&
                            as_contact(a).same_as(as_contact(b), made->directions_are_constant);
                   });
    if (fits) return made.get();
  }
  const FlatModel& model = run_.system_.flat()->reduced;
  const FlatMode& flat = run_.events_->mode(flat_mode);
  Mode mode{flat.mode.name, flat.mode.equations, {}};
  auto made = std::make_unique<Made>();
  Simulation::FlatView view{flat_mode, {}, {}};
  std::vector<Contact> as_contacts;
  for (const Reset& c : contacts) {
    Guard guard;
    guard.name = model.relations[c.relation].text;
    guard.value = c.sign * model.relations[c.relation].value;
    for (const std::size_t k : c.reinits)
      guard.set.push_back({model.reinits[k].variable, model.reinits[k].value});
    as_contacts.push_back({mode.guards.size(), c.jumps});
    mode.guards.push_back(std::move(guard));
  }
  for (std::size_t g = 0; g < flat.mode.guards.size(); ++g) {
    const bool is_held = std::ranges::any_of(contacts, [&](const Reset& c) {
      const Expr& held = model.relations[c.relation].value;
      if (flat.sources[g] >= model.relations.size()) return false;
      const Expr& value = model.relations[flat.sources[g]].value;
      return value.same_as(held) || value.same_as(-held);
    });
    if (is_held) continue;
    mode.guards.push_back(flat.mode.guards[g]);
    view.guards.push_back(g);
  }
  view.contacts.assign(view.guards.size(), Simulation::FlatView::npos);
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    view.guards.push_back(Simulation::FlatView::npos);
    view.contacts.push_back(k);
  }
  const std::size_t first = run_.system_.variables().size();
  std::optional<LimitMode> limit =
      make_limit_mode(run_.system_, mode, as_contacts, run_.time_, run_.state_);
  if (!limit) return nullptr;
  for (std::size_t k = 0; k < contacts.size(); ++k) made->multipliers.emplace_back(first + k);
  made->flat_mode = flat_mode;
  made->contacts = contacts;
  made->directions_are_constant = limit->directions_are_constant;
  made->limit = run_.add_mode(std::move(limit->mode));
  run_.views_.emplace(made->limit, std::move(view));
  made_.push_back(std::move(made));
  return made_.back().get();
}

bool FlatContacts::enter_after_event(std::size_t flat_mode) {
  std::erase_if(held_, [&](const Reset& c) {
    const Motion motion = motion_of(c.relation, flat_mode, run_.time_, run_.state_);
    if (c.sign * motion.rate > kMoves * motion.size) return true;
    if (!is_struck(c, flat_mode)) return false;
    resets_[c.relation] = c;
    return true;
  });
  return enter(flat_mode);
}

bool FlatContacts::enter(std::size_t flat_mode) {
  while (!held_.empty()) {
    const SystemState before = run_.state_;
    const std::vector<bool> set = run_.set_;
    const Made* present = enter_limit(flat_mode);
    if (run_.stopped_) return false;
    if (present == nullptr) break;
    // A multiplier that would pull opens its contact, the strongest first.
    std::size_t worst = held_.size();
    double lowest = -1e-9;
    for (std::size_t k = 0; k < held_.size(); ++k) {
      const double multiplier = run_.state_.values[present->multipliers[k].index()];
      if (multiplier < lowest) worst = k;
      lowest = std::min(lowest, multiplier);
    }
    if (worst == held_.size()) return true;
    held_.erase(held_.begin() + static_cast<long>(worst));
    std::copy(before.values.begin(), before.values.end(), run_.state_.values.begin());
    std::copy(before.slopes.begin(), before.slopes.end(), run_.state_.slopes.begin());
    run_.set_ = set;
  }
  return run_.enter(run_.flat_mode(flat_mode));
}

// Into the limit mode of the contacts held; null if there is none.
const FlatContacts::Made* FlatContacts::enter_limit(std::size_t flat_mode) {
  const Made* made = limit_for(flat_mode, held_);
  if (made == nullptr) {
    run_.result_.warnings.push_back(fmt::format(
        "resets accumulate {} (Zeno), but no equation differentiates what they set: "
        "'{}' is not held",
        run_.place(), run_.system_.flat()->reduced.relations[held_.back().relation].text));
    held_.clear();
    return nullptr;
  }
  run_.left_.values.resize(run_.system_.variables().size(), 0.0);
  if (run_.enter(made->limit)) run_.chattering_.apply_widths(*run_.run_);
  return made;
}

}  // namespace saltus
