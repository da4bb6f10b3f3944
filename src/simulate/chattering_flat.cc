// Chattering in flat models: a side is what the event iteration would settle on if the relations of
// the surface had the values they have on that side.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_set>

#include "base/processor_time.h"
#include "expr/differentiate.h"
#include "simulate/chattering.h"
#include "simulate/enter_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/run.h"
#include "simulate/settle.h"

namespace saltus {
namespace {

constexpr double kOutside = 1e-9;  // of a relation's size
constexpr int kMostRounds = 20;

Chattering::Readers find_readers(const FlatModel& model) {
  Chattering::Readers readers;
  std::unordered_set<const Node*> pres;
  for (const DiscreteVariable& v : model.discretes) {
    pres.insert(v.pre.node());
    readers.pres.emplace(v.symbol.node(), v.pre.node());
  }
  for (std::size_t r = 0; r < model.relations.size(); ++r)
    readers.relations[model.relations[r].value.node()].push_back(r);
  readers.equation_remembers.resize(model.discrete_equations.size());
  for (std::size_t k = 0; k < model.discrete_equations.size(); ++k) {
    for (const Expr& leaf : leaves_of(model.discrete_equations[k].value)) {
      readers.equations[leaf.node()].push_back(k);
      if (pres.contains(leaf.node())) readers.equation_remembers[k] = true;
    }
  }
  const auto resets = [&](const Expr& condition) {
    for (const Expr& leaf : leaves_of(condition)) readers.resets.insert(leaf.node());
  };
  for (const Reinit& r : model.reinits) resets(r.condition);
  for (const Termination& t : model.terminations) resets(t.condition);
  return readers;
}

double& slot_in(SystemState& state, const Expr& slot) {
  return state.slots[slot.node()->slot().index()];
}

// One name for a surface, whichever of its relations fired: x rather than -x.
Expr surface_of(const Relation& relation) {
  const Node* node = relation.value.node();
  return node->op == Op::kNegate ? Expr(node->children[0]) : relation.value;
}

// +1 or -1: the relation's value is the surface's, or its negative; 0: it is another surface.
int orientation(const Relation& relation, const Expr& surface) {
  if (relation.value.same_as(surface)) return 1;
  return relation.value.same_as(-surface) ? -1 : 0;
}

std::vector<Expr> surfaces_of(Run& run, const SlidingMode& slide) {
  std::vector<Expr> surfaces;
  for (const std::size_t i : slide.meeting.surfaces)
    surfaces.push_back(run.chattering.surfaces[i].value);
  return surfaces;
}

std::size_t heavy_side(Run& run, const SlidingMode& slide) {
  std::size_t heavy = 0;
  for (std::size_t i = 0; i < slide.meeting.surface_count(); ++i) {
    const Expr& weight = run.chattering.surfaces[slide.meeting.surfaces[i]].weight;
    if (run.now.state.values[weight.node()->index] >= 0.5) heavy |= std::size_t{1} << i;
  }
  return heavy;
}

bool go_to_side(Run& run, const SlidingMode& slide, std::size_t side, const Firing& firing,
                bool hop_follows_event, const std::string& why) {
  Face out{true, {}, {}};
  for (std::size_t i = 0; i < slide.meeting.surface_count(); ++i) {
    const bool positive = (side >> i & 1U) != 0;
    out.places.push_back(positive ? Place::kPositive : Place::kNegative);
    out.weights.push_back(positive ? 1.0 : 0.0);
  }
  const auto states = states_of(run, slide.meeting, run.now.state);
  if (!states) return false;
  go_to(run, slide.meeting, out, *states, "sliding-exit", firing, hop_follows_event, why);
  return true;
}

void widen_flat(Run& run, const Expr& surface) {
  const FlatModel& model = run.system.flat()->reduced;
  const double width = width_at(run, surface);
  for (std::size_t r = 0; r < model.relations.size(); ++r) {
    if (orientation(model.relations[r], surface) == 0) continue;
    run.chattering.flat_widths[r] = width;
    run.events->widen(r, width);
  }
  for (const auto& [id, view] : run.modes.views)
    if (run.modes.runs[id.index()] != nullptr) apply_widths(run, *run.modes.runs[id.index()]);
}

// Whether nothing that remembers reads the relations of this surface: no pre(), no reinit, no end
// of the run. Lists the discrete equations that follow from them.
bool may_slide(Run& run, const Expr& surface) {
  const auto [place, is_new] = run.chattering.followers.try_emplace(surface.node());
  std::optional<std::vector<std::size_t>>& followers = place->second;
  if (!is_new) return followers.has_value();
  const std::vector<Expr> leaves = leaves_of(surface);
  if (std::ranges::none_of(leaves, [](const Expr& leaf) { return leaf.is_variable(); }))
    return false;  // time leads across and never back
  const BuildingTime building;
  const FlatModel& model = run.system.flat()->reduced;
  if (!run.chattering.readers) run.chattering.readers = find_readers(model);
  Chattering::Readers& readers = *run.chattering.readers;
  std::vector<const Node*> reached;
  std::set<std::size_t> pending;  // equations that read what was reached
  std::unordered_set<std::size_t> taken;
  const auto reach = [&](const Node* slot) {
    reached.push_back(slot);
    const auto found = readers.equations.find(slot);
    if (found == readers.equations.end()) return;
    for (const std::size_t k : found->second)
      if (!taken.contains(k)) pending.insert(k);
  };
  for (const Expr& value : {surface, -surface}) {
    const auto found = readers.relations.find(value.node());
    if (found == readers.relations.end()) continue;
    for (const std::size_t r : found->second) reach(model.relations[r].slot.node());
  }
  // In passes over all equations, in their order.
  std::vector<std::size_t> equations;
  for (std::size_t next = 0; !pending.empty();) {
    auto first = pending.lower_bound(next);
    if (first == pending.end()) first = pending.begin();
    const std::size_t k = *first;
    pending.erase(first);
    if (readers.equation_remembers[k]) return false;
    equations.push_back(k);
    taken.insert(k);
    next = k + 1;
    reach(model.discrete_equations[k].target.node());
  }
  if (readers.flat_mode != run.now.flat_mode) {
    readers.flat_mode = run.now.flat_mode;
    readers.of_mode.clear();
    std::vector<Expr> residuals;
    for (const Equation& e : run.events->mode(run.now.flat_mode).mode.equations)
      residuals.push_back(e.residual());
    for (const Expr& leaf : leaves_of(residuals)) readers.of_mode.insert(leaf.node());
  }
  for (const Node* slot : reached) {
    if (readers.resets.contains(slot)) return false;
    const auto pre = readers.pres.find(slot);
    if (pre == readers.pres.end()) continue;
    if (readers.resets.contains(pre->second) || readers.equations.contains(pre->second) ||
        readers.of_mode.contains(pre->second))
      return false;
  }
  followers = std::move(equations);
  return true;
}

// The state of one side: relations of the surfaces are given, discrete values and the other
// relations follow. Returns the mode.
std::optional<std::size_t> settle_side(Run& run, const std::vector<Expr>& surfaces,
                                       std::size_t side, SystemState& state) {
  const FlatModel& model = run.system.flat()->reduced;
  const auto on_any = [&](const Relation& r) {
    return std::ranges::any_of(surfaces, [&](const Expr& s) { return orientation(r, s) != 0; });
  };
  for (const Relation& r : model.relations)
    for (std::size_t i = 0; i < surfaces.size(); ++i)
      if (const int sign = orientation(r, surfaces[i]); sign != 0)
        slot_in(state, r.slot) = ((side >> i & 1U) != 0) == (sign > 0) ? 1.0 : 0.0;
  std::vector<double> parameters;
  for (const Parameter& p : run.system.parameters()) parameters.push_back(p.value);
  for (int round = 0; round < kMostRounds; ++round) {
    for (std::size_t pass = 0; pass < model.discrete_equations.size(); ++pass) {
      bool changed = false;
      for (const Expr& surface : surfaces) {
        for (const std::size_t k : *run.chattering.followers.at(surface.node())) {
          const DiscreteEquation& e = model.discrete_equations[k];
          const double value = value_of(run, e.value, state);
          changed = changed || slot_in(state, e.target) != value;
          slot_in(state, e.target) = value;
          slot_in(state, model.pre(e.target)) = value;
        }
      }
      if (!changed) break;
    }
    SystemState solved = state;
    solved.values = run.now.state.values;
    std::size_t mode = 0;
    try {
      mode = run.events->modes().find(parameters, solved.slots);
      ModeRun* there = visit_flat(run, mode);
      if (there != nullptr && !run.contacts.held.empty()) {
        there = &visit(run, mode_with_contacts(run, mode));
        solved.values.resize(run.system.variables().size(), 0.0);
        solved.slopes.resize(run.system.variables().size(), 0.0);
      }
      if (there == nullptr || !there->make_consistent(run.now.time, solved).ok()) return {};
    } catch (const Error&) {
      return {};
    }
    const FlatMode& flat = run.events->mode(mode);
    bool settled = true;
    for (std::size_t g = 0; g < flat.sources.size(); ++g) {
      if (flat.sources[g] >= model.relations.size()) continue;
      const Relation& r = model.relations[flat.sources[g]];
      const Expr& value = flat.mode.guards[g].value;
      const auto width = run.chattering.flat_widths.find(flat.sources[g]);
      const double beyond = kOutside * size_of(run, value, solved) +
                            (width != run.chattering.flat_widths.end() ? width->second : 0.0);
      if (on_any(r) || value_of(run, value, solved) >= -beyond) continue;
      slot_in(state, r.slot) = 1.0 - slot_in(state, r.slot);
      settled = false;
    }
    if (!settled) continue;
    state = std::move(solved);
    return mode;
  }
  return {};
}

// Relations of the surfaces that something remembers.
std::vector<std::size_t> remembered_relations(Run& run, const Meeting& meeting) {
  const std::vector<Relation>& relations = run.system.flat()->reduced.relations;
  std::vector<std::size_t> found;
  for (std::size_t b = 0; b < meeting.sides.size(); ++b)
    for (const Crossing& crossing : meeting.crossings[b])
      for (const std::size_t g : crossing.guards) {
        const std::size_t r = source_of(run, meeting.sides[b].mode, g);
        if (r < relations.size() && !may_slide(run, surface_of(relations[r]))) found.push_back(r);
      }
  return found;
}

// The sides that meet at surfaces given by values of relations, each settled by itself.
std::optional<std::pair<Meeting, States>> meet_flat(Run& run, const std::vector<Expr>& surfaces) {
  std::pair<Meeting, States> result;
  for (const Expr& surface : surfaces) {
    const auto known = find_surface(run, surface);
    result.first.surfaces.push_back(known ? known->index : static_cast<std::size_t>(-1));
  }
  for (std::size_t b = 0; b < std::size_t{1} << surfaces.size(); ++b) {
    SystemState state = run.now.state;
    const std::optional<std::size_t> mode = settle_side(run, surfaces, b, state);
    if (!mode) return {};
    const ModeId id = mode_with_contacts(run, *mode);
    result.first.sides.push_back({id, state.slots});
    result.first.crossings.emplace_back();
    const FlatModel& model = run.system.flat()->reduced;
    for (std::size_t i = 0; i < surfaces.size(); ++i) {
      Crossing crossing{(b >> i & 1U) != 0 ? surfaces[i] : -surfaces[i]};
      for (std::size_t g = 0; g < run.system.modes()[id.index()].guards.size(); ++g) {
        const std::size_t source = source_of(run, id, g);
        if (source < model.relations.size() &&
            orientation(model.relations[source], surfaces[i]) != 0)
          crossing.guards.push_back(g);
      }
      result.first.crossings.back().push_back(std::move(crossing));
    }
    result.second.push_back(std::move(state));
  }
  return result;
}

// Goes where the flows at these surfaces lead, if that is known; `sliding` says on how many the run
// slides now.
bool slide_on_flat(Run& run, const std::vector<Expr>& surfaces, std::size_t sliding,
                   const Firing& firing, bool hop_follows_event) {
  if (run.settings.options.chattering != ChatteringAnswer::kFilippov) return false;
  for (const Expr& surface : surfaces)
    if (!may_slide(run, surface)) return false;
  const auto found = meet_flat(run, surfaces);
  if (!found || !on_surface(run, found->first, found->second)) return false;
  const auto rates = rates_of(run, found->first, found->second);
  const Face face = rates ? choose_face(surfaces.size(), *rates) : Face{};
  const auto count =
      static_cast<std::size_t>(std::count(face.places.begin(), face.places.end(), Place::kSliding));
  if (!face.found || (count == 0 && sliding == 0)) return false;
  go_to(run, found->first, face, found->second, count < sliding ? "sliding-exit" : "sliding-entry",
        firing, hop_follows_event);
  return true;
}

}  // namespace

// A relation of a flat model has fired in an ordinary mode.
bool cross_flat(Run& run, const Firing& firing, bool hop_follows_event) {
  const FlatModel& model = run.system.flat()->reduced;
  for (const std::size_t g : firing.guards) {
    const std::size_t source = source_of(run, run.now.mode->analysed().id, g);
    if (source >= model.relations.size() || run.chattering.flat_widths.contains(source) ||
        !may_slide(run, surface_of(model.relations[source])))
      continue;
    // The event iteration holds what it can by itself.
    if (run.settings.options.chattering == ChatteringAnswer::kFilippov &&
        run.events->modes().may_hold(run.now.flat_mode,
                                     run.events->modes().surfaces().of_relation(source)))
      continue;
    const auto found = meet_flat(run, {surface_of(model.relations[source])});
    if (!found) continue;
    const Face face =
        face_between(run, found->first, found->second, run.now.mode->watch().left_band(g));
    if (!face.slides()) continue;
    if (run.settings.options.chattering == ChatteringAnswer::kStop) {
      stop(run, StopReason::kChattering,
           fmt::format("chattering {}: '{}' changes to and fro; choose the answer filippov or "
                       "hysteresis to go on",
                       place_of(run), model.relations[source].text));
      return true;
    }
    if (run.settings.options.chattering == ChatteringAnswer::kHysteresis) {
      widen_flat(run, surface_of(model.relations[source]));
      if (take_flat_event(run, firing, hop_follows_event))
        run.log.result.events.back().tags.emplace_back("chattering");
      return true;
    }
    go_to(run, found->first, face, found->second, "sliding-entry", firing, hop_follows_event);
    return true;
  }
  return false;
}

// Something else than a weight has fired while a flat model slides: another surface is reached, or
// an ordinary event happens, for which the side of more weight stands.
bool leave_flat(Run& run, const SlidingMode& slide, const Firing& firing, bool hop_follows_event) {
  const FlatModel& model = run.system.flat()->reduced;
  const std::vector<Expr> surfaces = surfaces_of(run, slide);
  const SlidingMode::Role& role = slide.roles[firing.guards.front()];
  std::size_t side = heavy_side(run, slide);
  while (role.guards[side] == SlidingMode::npos) side = (side + 1) % slide.meeting.sides.size();
  const std::size_t guard = role.guards[side];
  const std::size_t source = source_of(run, slide.meeting.sides[side].mode, guard);
  const bool another =
      source < model.relations.size() && may_slide(run, surface_of(model.relations[source]));
  if (another && surfaces.size() < kMaxSurfaces) {
    std::vector<Expr> all = surfaces;
    all.push_back(surface_of(model.relations[source]));
    if (slide_on_flat(run, all, surfaces.size(), firing, hop_follows_event)) return true;
  } else if (another && !run.chattering.flat_widths.contains(source)) {
    // The number of sides doubles with every surface.
    const Expr next = surface_of(model.relations[source]);
    run.log.result.warnings.push_back(
        fmt::format("the surface {} = 0 is reached {} while the state slides on {} others: it is "
                    "crossed with hysteresis of width {:g}",
                    to_string(next), place_of(run), kMaxSurfaces, width_at(run, next)));
    widen_flat(run, next);
  }
  const std::vector<std::size_t> remembered = remembered_relations(run, slide.meeting);
  const FlatView there = *view_of(run, slide.meeting.sides[side].mode);
  if (!go_to_side(run, slide, side, firing, hop_follows_event, {})) return false;
  if (run.log.stopped) return true;
  arm_guards(*run.now.mode, run.now.time);
  // The mode entered may hold some of the side's guards at zero.
  const FlatView& here = *view_of(run, run.now.mode->analysed().id);
  for (std::size_t g = 0; g < here.guards.size(); ++g) {
    if (here.guards[g] != there.guards[guard] || here.contacts[g] != there.contacts[guard])
      continue;
    const Firing at_side{{g}, firing.time, firing.at_step_start, firing.is_time_event, {}};
    // This event does not lead across the surface.
    for (const std::size_t r : remembered) run.events->widen(r, std::numeric_limits<double>::min());
    if (!release_contacts(run, at_side, true)) take_flat_event(run, at_side, true);
    for (const std::size_t r : remembered) {
      const auto width = run.chattering.flat_widths.find(r);
      run.events->widen(r, width == run.chattering.flat_widths.end() ? 0.0 : width->second);
    }
    break;
  }
  if (!run.log.stopped) slide_again(run, surfaces);
  return true;
}

std::vector<Expr> step_aside(Run& run, const std::string& why) {
  const auto slide = run.chattering.slides.find(run.now.mode->analysed().id);
  if (slide == run.chattering.slides.end()) return {};
  std::vector<Expr> surfaces = surfaces_of(run, slide->second);
  const Firing nothing{{}, run.now.time, true, false, {}};
  go_to_side(run, slide->second, heavy_side(run, slide->second), nothing, false, why);
  return surfaces;
}

void slide_again(Run& run, const std::vector<Expr>& surfaces) {
  const Firing nothing{{}, run.now.time, true, false, {}};
  if (!surfaces.empty()) slide_on_flat(run, surfaces, 0, nothing, true);
}

void apply_widths(Run& run, ModeRun& mode) {
  if (run.chattering.flat_widths.empty()) return;
  const auto widen = [&](ModeId flat, std::size_t guard, std::size_t as) {
    const auto width = run.chattering.flat_widths.find(source_of(run, flat, guard));
    if (width != run.chattering.flat_widths.end()) mode.watch().widen(as, width->second);
  };
  const ModeId id = mode.analysed().id;
  if (const auto slide = run.chattering.slides.find(id); slide != run.chattering.slides.end()) {
    const std::vector<SlidingMode::Role>& roles = slide->second.roles;
    for (std::size_t k = 0; k < roles.size(); ++k)
      for (std::size_t side = 0; side < roles[k].guards.size(); ++side)
        if (roles[k].guards[side] != SlidingMode::npos)
          widen(slide->second.meeting.sides[side].mode, roles[k].guards[side], k);
  } else if (view_of(run, id) != nullptr) {
    for (std::size_t g = 0; g < mode.mode().guards.size(); ++g) widen(id, g, g);
  }
}

}  // namespace saltus
