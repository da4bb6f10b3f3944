// Chattering between configurations that remember which of them they are: the states of a machine,
// and discrete values that `when` sets. The event iteration tells that each leads to the other; the
// flows tell whether the motion between them is a sliding one.

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "simulate/chattering.h"
#include "simulate/event_iteration.h"
#include "simulate/run.h"

namespace saltus {
namespace {

constexpr double kOnSurface = 1e-9;  // of the size of a relation or a variable
constexpr double kMoves = 1e-9;      // of the size of a relation, in a second

// One of two configurations that meet, as it sees the surface between them.
struct Region {
  std::size_t flat_mode = 0;
  Side side;
  Crossing crossing;
  SystemState state;
};

bool moves_in(const Expr& value, const std::vector<VariableId>& unknowns) {
  return std::ranges::all_of(leaves_of(value), [&](const Expr& leaf) {
    return !leaf.is_variable() || std::ranges::binary_search(unknowns, leaf.node()->variable());
  });
}

// Time leads across and never back; derivatives jump, so that they cannot be held.
bool may_be_slid_on(const Expr& value) {
  bool moves = false;
  for (const Expr& leaf : leaves_of(value)) {
    if (!leaf.is_variable()) continue;
    if (leaf.node()->order > 0) return false;
    moves = true;
  }
  return moves;
}

bool same_surface(const Expr& a, const Expr& b) { return a.same_as(b) || a.same_as(-b); }

// `relation` leads out of the region, `other` back into it: both are at zero on the surface.
Region region_of(Run& run, std::size_t flat_mode, std::size_t relation, std::size_t other,
                 SystemState state) {
  const std::vector<Relation>& relations = run.system.flat()->reduced.relations;
  const Relation& r = relations[relation];
  Region region;
  region.flat_mode = flat_mode;
  region.side = {mode_with_contacts(run, flat_mode), state.slots};
  region.crossing.value = state.value_of(r.slot) != 0.0 ? r.value : -r.value;
  const std::vector<Guard>& guards = run.system.modes()[region.side.mode.index()].guards;
  for (std::size_t g = 0; g < guards.size(); ++g) {
    const std::size_t source = source_of(run, region.side.mode, g);
    if (source < relations.size() &&
        (same_surface(relations[source].value, r.value) ||
         same_surface(relations[source].value, relations[other].value)))
      region.crossing.guards.push_back(g);
  }
  region.state = std::move(state);
  return region;
}

// What the transition from one state hands to unknowns of the other.
void add_handed_over(const Run& run, const std::vector<EventIteration::Handed>& all, Region& from,
                     const Region& to) {
  const auto unknowns = [&](const Region& region) {
    return unknowns_of(run.system, run.system.modes()[region.side.mode.index()]);
  };
  const std::vector<VariableId> read = unknowns(from);
  const std::vector<VariableId> given = unknowns(to);
  for (const EventIteration::Handed& handed : all) {
    const Reinit& r = run.system.flat()->reduced.reinits[handed.reinit];
    if (!r.variable.is_variable() || !moves_in(r.variable, given)) continue;
    const bool is_known = std::ranges::any_of(
        from.crossing.set, [&](const Assignment& a) { return a.variable.same_as(r.variable); });
    if (moves_in(r.value, read) && !is_known) from.crossing.set.push_back({r.variable, r.value});
  }
}

// Whether what crossing from a region hands over is what the other one has, and all that moves it
// against the surface.
bool hands_over(Run& run, const Region& from, const Region& to) {
  std::vector<VariableId> known =
      unknowns_of(run.system, run.system.modes()[from.side.mode.index()]);
  for (const Assignment& a : from.crossing.set) known.push_back(a.variable.node()->variable());
  std::ranges::sort(known);
  return moves_in(to.crossing.value, known) &&
         std::ranges::all_of(from.crossing.set, [&](const Assignment& a) {
           const double value = value_of(run, a.value, from.state);
           const double size = run.system.variable(a.variable.node()->variable()).nominal;
           return std::abs(value - to.state.value_of(a.variable)) <=
                  kOnSurface * std::max(std::abs(value), size);
         });
}

bool slide_between(Run& run, const Region& here, const Region& there, const Firing& firing,
                   bool hop_follows_event) {
  if (run.settings.options.chattering != ChatteringAnswer::kFilippov ||
      !may_be_slid_on(here.crossing.value) || !may_be_slid_on(there.crossing.value) ||
      !hands_over(run, here, there) || !hands_over(run, there, here))
    return false;
  // One order for both directions, so that the mode is made once.
  const bool is_positive = here.side.mode == there.side.mode ? here.side.slots > there.side.slots
                                                             : here.side.mode < there.side.mode;
  const Region& positive = is_positive ? here : there;
  const Region& negative = is_positive ? there : here;
  const Meeting meeting{{negative.side, positive.side},
                        {{negative.crossing}, {positive.crossing}},
                        {static_cast<std::size_t>(-1)}};
  const auto states = states_of(run, meeting, there.state);
  if (!states) return false;
  const Face face = face_between(run, meeting, *states, true);
  if (!face.slides()) return false;
  go_to(run, meeting, face, *states, "sliding-entry", firing, hop_follows_event);
  return true;
}

// Whether discrete variables have the same values, those that are made for machines apart.
bool same_memory(const FlatModel& model, const std::vector<double>& a,
                 const std::vector<double>& b) {
  return std::ranges::all_of(model.discretes, [&](const DiscreteVariable& v) {
    const std::size_t k = v.symbol.node()->slot().index();
    return a[k] == b[k] || v.name.starts_with('$');
  });
}

}  // namespace

bool slide_between_states(Run& run, const Firing& firing, const Settled& circle,
                          bool hop_follows_event) {
  const FlatModel& model = run.system.flat()->reduced;
  const std::size_t former = run.now.flat_mode;
  if (firing.guards.size() != 1 || run.delays != nullptr || circle.hops.size() < 2 ||
      circle.hops[1].mode != former || !run.events->reinits_taken().empty())
    return false;
  const std::size_t leads_out = source_of(run, run.now.mode->analysed().id, firing.guards.front());
  if (leads_out >= model.relations.size()) return false;
  // Something counts how often the state goes round: no sliding motion would tell.
  if (!same_memory(model, circle.hops[1].at.slots, run.now.state.slots)) return false;
  const Hop& entered = circle.hops.front();
  SystemState beyond = entered.at;
  beyond.values.resize(run.now.state.values.size(), 0.0);
  beyond.slopes.resize(run.now.state.values.size(), 0.0);
  const std::vector<VariableId> unknowns =
      unknowns_of(run.system, run.events->mode(entered.mode).mode);
  std::vector<std::size_t> leads_back;
  for (const std::size_t r : run.events->mode(entered.mode).sources) {
    if (r >= model.relations.size() || !model.relations[r].leaves_state) continue;
    const Expr& value = model.relations[r].value;
    if (!moves_in(value, unknowns)) continue;
    if (std::abs(value_of(run, value, beyond)) <= kOnSurface * size_of(run, value, beyond))
      leads_back.push_back(r);
  }
  if (leads_back.size() != 1) return false;
  SystemState present = run.now.state;
  const std::vector<EventIteration::Handed> handed = run.events->handed_over();
  run.events->rearm(run.now.time, beyond, leads_back.front());
  // Both have been entered now.
  for (const DiscreteVariable& v : model.discretes)
    for (const Expr& slot : {v.symbol, v.pre})
      if (const std::size_t k = slot.node()->slot().index(); v.name.starts_with("$entered "))
        present.slots[k] = beyond.slots[k];
  Region here = region_of(run, former, leads_out, leads_back.front(), std::move(present));
  Region there = region_of(run, entered.mode, leads_back.front(), leads_out, std::move(beyond));
  add_handed_over(run, handed, here, there);
  add_handed_over(run, handed, there, here);
  return slide_between(run, here, there, firing, hop_follows_event);
}

bool slide_between_values(Run& run, const Firing& firing, std::size_t flat_mode,
                          const SystemState& after, bool hop_follows_event) {
  const FlatModel& model = run.system.flat()->reduced;
  const Chattering::Remembered& last = run.chattering.remembered;
  if (last.before.size() != after.slots.size() || last.from != flat_mode ||
      last.to != run.now.flat_mode || run.delays != nullptr ||
      !run.events->reinits_taken().empty() || !same_memory(model, last.before, after.slots) ||
      !same_memory(model, last.after, run.now.state.slots) ||
      same_memory(model, last.before, last.after))
    return false;
  for (const std::size_t g : firing.guards) {
    const std::size_t r = source_of(run, run.now.mode->analysed().id, g);
    if (r >= model.relations.size() || !run.now.mode->watch().left_band(g)) continue;
    const Expr& slot = model.relations[r].slot;
    if (run.now.state.value_of(slot) == after.value_of(slot)) continue;
    const Region here = region_of(run, run.now.flat_mode, r, r, run.now.state);
    const Region there = region_of(run, flat_mode, r, r, after);
    // Where the surface is a constraint of that mode (a brake that locks again), its flow does not
    // lead back.
    const Expr& value = there.crossing.value;
    visit(run, there.side.mode);
    const std::optional<double> rate = rate_of(run, there.side, value, there.state);
    if (rate && std::abs(*rate) <= kMoves * size_of(run, value, there.state)) continue;
    if (slide_between(run, here, there, firing, hop_follows_event)) return true;
  }
  return false;
}

void remember_change(Run& run, std::size_t from, const SystemState& before) {
  run.chattering.remembered = {from, run.now.flat_mode, before.slots, run.now.state.slots};
}

}  // namespace saltus
