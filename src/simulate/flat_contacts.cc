#include "simulate/flat_contacts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "simulate/enter_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/event_log.h"
#include "simulate/run.h"
#include "simulate/settle.h"

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

// Whether some other relation changes on the way to this state: then the model itself may have an
// answer, and events are left to it.
bool changes_meanwhile(Run& run, const Reset& reset, double t, const SystemState& state) {
  const FlatMode& flat = run.events->mode(run.now.flat_mode);
  const FlatModel& model = run.system.flat()->reduced;
  const Expr& held = model.relations[reset.relation].value;
  for (std::size_t g = 0; g < flat.sources.size(); ++g) {
    if (flat.sources[g] >= model.relations.size()) continue;
    const std::size_t r = flat.sources[g];
    const Expr& value = model.relations[r].value;
    if (value.same_as(held) || value.same_as(-held) || !may_be_held(run, r)) continue;
    if (run.contacts.resets.contains(r)) continue;  // it has an answer
    const RelationMotion motion = position_of(run, r, t, state);
    const double side = state.value_of(model.relations[r].slot) != 0.0 ? 1.0 : -1.0;
    if (side * motion.value < -kBand * motion.size) return true;
  }
  return false;
}

// The state where the flights accumulate: what is reset swings between take-off and landing, so
// what moves by it moves by the mean of both; everything else goes on along its own tangent and
// curvature.
bool carry_on(Run& run, const Reset& reset, double flight, const SystemState& landing,
              SystemState& later) {
  const double dt = reset.rest - run.now.time;
  const FlatModel& model = run.system.flat()->reduced;
  SystemState turned = run.now.state;
  for (const std::size_t k : reset.reinits) {
    const std::size_t i = model.reinits[k].variable.node()->index;
    turned.values[i] = landing.values[i];
  }
  if (!run.now.mode->make_consistent(run.now.time, turned).ok()) return false;
  for (std::size_t i = 0; i < later.values.size(); ++i) {
    const double slope = run.now.state.slopes[i];
    const double swing = turned.slopes[i] - slope;
    const double growth = (landing.slopes[i] - swing - slope) / flight;
    later.values[i] += dt * (slope + 0.5 * swing + 0.5 * dt * growth);
  }
  return true;
}

// Whether the mode itself keeps the relation where it is, such as a contact that its equations hold
// closed: what seems to accelerate it is rounding.
bool stays_by_equations(Run& run, std::size_t relation) {
  SystemState at = run.now.state;
  if (!run.now.mode->make_consistent(run.now.time, at).ok()) return false;
  run.just_after.note_magnitudes(run.system, at);
  run.just_after.stand_at(*run.now.mode, run.now.time, at);
  const Expr& value = run.system.flat()->reduced.relations[relation].value;
  return run.just_after.sign(value, at.slots, {}) == 0;
}

// Whether the state, just reset at the relation, no longer leaves it by more than can be told. Then
// `reset.rest` is the time at which the flights to come accumulate, each shorter by the factor with
// which the rate is reset, and `later` the state there.
bool comes_to_rest(Run& run, Reset& reset, SystemState& later) {
  const double t = run.now.time;
  const RelationMotion now = motion_of(run, reset.relation, run.now.flat_mode, t, run.now.state);
  const double band = kBand * now.size;
  if (!is_near(reset, now)) return false;
  const double rate = reset.sign * now.rate;
  const bool own = std::ranges::find(run.contacts.now, reset.relation) != run.contacts.now.end();
  // Pressed against something that is held, it is reset again and again at this instant, each time
  // to less; its relation stays where it is and would not fire again.
  if (own && !run.contacts.held.empty() && rate < -kSameRate * std::abs(reset.rate_before) &&
      rate > reset.rate_before) {
    later = run.now.state;
    reset.rest = t;
    return true;
  }
  run.contacts.probed = true;
  const double ahead = kAhead * std::max(1.0, std::abs(t));
  SystemState probe = run.now.state;
  if (!advance(*run.now.mode, t, ahead, probe)) return false;
  const double acceleration =
      (reset.sign * motion_of(run, reset.relation, run.now.flat_mode, t + ahead, probe).rate -
       rate) /
      ahead;
  const double noise = 8.0 * kEpsilon * std::abs(reset.rate_before) / ahead;
  if (!(acceleration < -noise) || rate * rate > -2.0 * acceleration * kLowestFlight * band)
    return false;
  if (stays_by_equations(run, reset.relation)) return false;

  later = run.now.state;
  const double contraction = rate / -reset.rate_before;
  // What does not leave the band cannot fire again: at rest as it is, whatever reset it.
  const bool is_invisible = reset.reverses && is_closed(run, reset) &&
                            !is_struck(run, reset, run.now.flat_mode) &&
                            rate * rate <= -2.0 * acceleration * kInvisible * band;
  if (own && contraction >= -1e-12 && contraction < 1.0) {
    const double flight = std::max(2.0 * rate / -acceleration, 0.0);
    SystemState landing = run.now.state;
    if (!advance(*run.now.mode, t, flight, landing)) return false;
    reset.rest = t + flight / (1.0 - contraction);
    if (changes_meanwhile(run, reset, t + flight, landing)) {
      run.contacts.resets[reset.relation].rest = reset.rest;
      return false;
    }
    if (flight > 0.0 && !carry_on(run, reset, flight, landing, later)) return false;
    // Something else moves with it, or is in its way: it is at rest as it is.
    if (std::abs(position_of(run, reset.relation, reset.rest, later).value) >
            kLowestFlight * band ||
        is_beyond_another(run, {reset}, reset.rest, later)) {
      reset.rest = t;
      later = run.now.state;
    }
  } else if (own || std::abs(rate) > kSameRate * std::abs(reset.rate_before)) {
    if (!is_invisible) return false;
    reset.rest = t;
  } else if (reset.rest > t) {
    for (std::size_t i = 0; i < later.values.size(); ++i)
      later.values[i] += (reset.rest - t) * later.slopes[i];
  }
  const FlatModel& model = run.system.flat()->reduced;
  for (const std::size_t k : reset.reinits) {
    const std::size_t i = model.reinits[k].variable.node()->index;
    later.values[i] = run.now.state.values[i];
  }
  return true;
}

const FlatContacts::Made* limit_for(Run& run, std::size_t flat_mode,
                                    const std::vector<Reset>& contacts) {
  const auto as_contact = [](const Reset& r) { return Contact{r.relation, r.jumps}; };
  for (const auto& made : run.contacts.made) {
    const bool fits =
        made->flat_mode == flat_mode &&
        std::equal(made->contacts.begin(), made->contacts.end(), contacts.begin(), contacts.end(),
                   [&](const Reset& a, const Reset& b) {
                     return a.reinits == b.reinits &&
                            as_contact(a).same_as(as_contact(b), made->directions_are_constant);
                   });
    if (fits) return made.get();
  }
  const FlatModel& model = run.system.flat()->reduced;
  const FlatMode& flat = run.events->mode(flat_mode);
  Mode mode{flat.mode.name, flat.mode.equations, {}};
  auto made = std::make_unique<FlatContacts::Made>();
  FlatView view{flat_mode, {}, {}};
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
  view.contacts.assign(view.guards.size(), FlatView::npos);
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    view.guards.push_back(FlatView::npos);
    view.contacts.push_back(k);
  }
  const std::size_t first = run.system.variables().size();
  std::optional<LimitMode> limit =
      make_limit_mode(run.system, mode, as_contacts, run.now.time, run.now.state);
  if (!limit) return nullptr;
  for (std::size_t k = 0; k < contacts.size(); ++k) made->multipliers.emplace_back(first + k);
  made->flat_mode = flat_mode;
  made->contacts = contacts;
  made->directions_are_constant = limit->directions_are_constant;
  made->limit = add_mode(run, std::move(limit->mode));
  run.modes.views.emplace(made->limit, std::move(view));
  run.contacts.made.push_back(std::move(made));
  return run.contacts.made.back().get();
}

// Into the limit mode of the contacts held; null if there is none.
const FlatContacts::Made* enter_limit(Run& run, std::size_t flat_mode) {
  const FlatContacts::Made* made = limit_for(run, flat_mode, run.contacts.held);
  if (made == nullptr) {
    run.log.result.warnings.push_back(
        fmt::format("resets accumulate {} (Zeno), but no equation differentiates what they set: "
                    "'{}' is not held",
                    place_of(run),
                    run.system.flat()->reduced.relations[run.contacts.held.back().relation].text));
    run.contacts.held.clear();
    return nullptr;
  }
  run.now.left.values.resize(run.system.variables().size(), 0.0);
  if (enter(run, made->limit)) apply_widths(run, *run.now.mode);
  return made;
}

}  // namespace

// What moves continuously has a rate at every point.
bool may_be_held(Run& run, std::size_t relation) {
  const auto [place, is_new] = run.contacts.formulas.try_emplace(relation);
  if (!is_new) return place->second.has_value();
  const Expr& value = run.system.flat()->reduced.relations[relation].value;
  Expr size = 0.0;
  bool moves = false;
  for (const Expr& leaf : leaves_of(value)) {
    if (!leaf.is_variable()) continue;
    if (leaf.node()->order > 0) return false;
    const VariableId id = leaf.node()->variable();
    size += abs(partial(value, leaf)) * max(abs(leaf), run.system.variable(id).nominal);
    moves = true;
  }
  if (!moves) return false;
  const std::vector<Expr> expressions = {value, size};
  FlatContacts::Formulas formulas;
  formulas.tape = Tape(expressions, state_inputs(run.system));
  formulas.registers = formulas.tape.make_workspace();
  place->second = std::move(formulas);
  return true;
}

// Value and size alone.
RelationMotion position_of(Run& run, std::size_t relation, double t, const SystemState& state) {
  FlatContacts::Formulas& formulas = *run.contacts.formulas.at(relation);
  const double* inputs[] = {&t, state.values.data(), state.slopes.data(),
                            run.now.mode->data().parameters.data(), state.slots.data()};
  double out[2];
  formulas.tape.evaluate(inputs, formulas.registers, out);
  return {out[0], 0.0, out[1]};
}

RelationMotion motion_of(Run& run, std::size_t relation, std::size_t flat_mode, double t,
                         const SystemState& state) {
  RelationMotion motion = position_of(run, relation, t, state);
  const double now = run.now.time;
  run.now.time = t;  // where rates are taken
  const std::optional<double> rate =
      rate_of(run, {saltus::flat_mode(run, flat_mode), state.slots},
              run.system.flat()->reduced.relations[relation].value, state);
  run.now.time = now;
  motion.rate = rate.value_or(std::numeric_limits<double>::quiet_NaN());
  return motion;
}

void note_resets(Run& run, std::size_t flat_mode, const std::vector<std::size_t>& fired,
                 const std::vector<std::size_t>& taken, const SystemState& left,
                 const SystemState& right) {
  if (taken.empty()) return;
  run.contacts.reset_now = true;
  const FlatModel& model = run.system.flat()->reduced;
  for (const std::size_t r : fired) {
    if (!may_be_held(run, r)) continue;
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
    reset.rate_before = reset.sign * motion_of(run, r, flat_mode, run.now.time, left).rate;
    if (!jumps || !(reset.rate_before < 0.0)) continue;
    reset.reverses = reset.sign * motion_of(run, r, run.now.flat_mode, run.now.time, right).rate >=
                     kSameRate * reset.rate_before;
    if (run.now.time > run.contacts.impact_time) {
      run.contacts.impact_time = run.now.time;
      run.contacts.hardest = 0.0;
      run.contacts.impacts = 0;
    }
    run.contacts.hardest = std::max(run.contacts.hardest, -reset.rate_before);
    remember_reset(run, std::move(reset), right);
    run.contacts.now.push_back(r);
  }
}

void follow_contacts(Run& run) {
  const bool any = run.contacts.reset_now;
  run.contacts.reset_now = false;
  if (!any) return;
  std::vector<Reset> candidates;
  const std::vector<Reset> contacts = pressed_contacts(run);
  if (!contacts.empty() && !hold_contacts(run, contacts, run.now.time, run.now.state.values))
    return;
  if (contacts.empty()) follow_turns(run);
  for (const auto& [relation, reset] : run.contacts.resets) candidates.push_back(reset);
  // Once one is held, others may come to rest on it.
  for (bool any_held = true; any_held && !run.log.stopped;) {
    any_held = false;
    for (Reset& reset : candidates) {
      const bool known = std::ranges::any_of(
          run.contacts.held, [&](const Reset& other) { return other.relation == reset.relation; });
      SystemState later;
      if (known || !comes_to_rest(run, reset, later)) continue;
      if (!hold_contacts(run, {reset}, reset.rest, later.values)) break;
      any_held = !run.contacts.held.empty() && run.contacts.held.back().relation == reset.relation;
    }
  }
  run.contacts.now.clear();
  if (!run.contacts.probed || run.log.stopped) return;
  // Looking ahead has moved the mode's point.
  run.contacts.probed = false;
  run.now.mode->make_consistent(run.now.time, run.now.state);
  run.now.mode->restart(run.now.time);
  arm_guards(*run.now.mode, run.now.time);
  const Firing changed = changed_on_the_way(run);
  if (changed.fired())
    settle_hops(run, changed);
  else if (const Firing* impact = next_impact(run))
    settle_hops(run, *impact);
}

ModeId mode_with_contacts(Run& run, std::size_t flat_mode) {
  const FlatContacts::Made* made =
      run.contacts.held.empty() ? nullptr : limit_for(run, flat_mode, run.contacts.held);
  return made == nullptr ? saltus::flat_mode(run, flat_mode) : made->limit;
}

bool release_contacts(Run& run, const Firing& firing, bool hop_follows_event) {
  const FlatView* view = view_of(run, run.now.mode->analysed().id);
  if (view == nullptr) return false;
  std::vector<std::size_t> released;
  for (const std::size_t g : firing.guards) {
    // The event iteration comes first.
    if (view->contacts[g] == FlatView::npos) return false;
    released.push_back(view->contacts[g]);
  }
  Event event = begin_event(run.now.time, run.now.mode->mode(), firing);
  std::ranges::sort(released, std::greater());
  for (const std::size_t k : released)
    run.contacts.held.erase(run.contacts.held.begin() + static_cast<long>(k));
  run.now.left = run.now.state;
  if (enter_with_contacts(run, run.now.flat_mode))
    log_entry(run, std::move(event), hop_follows_event);
  return true;
}

bool enter_flat_mode(Run& run, std::size_t flat_mode) {
  std::erase_if(run.contacts.held, [&](const Reset& c) {
    const RelationMotion motion =
        motion_of(run, c.relation, flat_mode, run.now.time, run.now.state);
    if (c.sign * motion.rate > kMoves * motion.size) return true;
    if (!is_struck(run, c, flat_mode)) return false;
    run.contacts.resets[c.relation] = c;
    return true;
  });
  return enter_with_contacts(run, flat_mode);
}

bool enter_with_contacts(Run& run, std::size_t flat_mode) {
  while (!run.contacts.held.empty()) {
    const SystemState before = run.now.state;
    const std::vector<bool> set = run.instant.set;
    const FlatContacts::Made* present = enter_limit(run, flat_mode);
    if (run.log.stopped) return false;
    if (present == nullptr) break;
    // A multiplier that would pull opens its contact, the strongest first.
    std::size_t worst = run.contacts.held.size();
    double lowest = -1e-9;
    for (std::size_t k = 0; k < run.contacts.held.size(); ++k) {
      const double multiplier = run.now.state.values[present->multipliers[k].index()];
      if (multiplier < lowest) worst = k;
      lowest = std::min(lowest, multiplier);
    }
    if (worst == run.contacts.held.size()) return true;
    run.contacts.held.erase(run.contacts.held.begin() + static_cast<long>(worst));
    std::copy(before.values.begin(), before.values.end(), run.now.state.values.begin());
    std::copy(before.slopes.begin(), before.slopes.end(), run.now.state.slopes.begin());
    run.instant.set = set;
  }
  return enter(run, saltus::flat_mode(run, flat_mode));
}

}  // namespace saltus
