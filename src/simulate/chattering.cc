#include "simulate/chattering.h"

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

// Of a guard's size: what counts as lying on its surface after a switch was located.
constexpr double kOnSurface = 1e-9;
// s, x max(1, |t|): one surface more than are mixed that is reached again so soon attracts the
// flow.
constexpr double kAtOnce = 1e-9;
// Until the sliding mode is made.
constexpr std::size_t kUnknownSurface = static_cast<std::size_t>(-1);

// Whether the expression depends on derivatives: those jump at a switch, so it cannot be held at
// zero by mixing them.
bool has_derivatives(const Expr& e) {
  const std::vector<Expr> leaves = leaves_of(e);
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const Expr& leaf) { return leaf.is_variable() && leaf.node()->order > 0; });
}

// The two modes a guard lies between, if the other one has a guard that leads back. The positive
// side is the mode declared first, so that alpha weighs it.
std::optional<Meeting> pair_up(Run& run, ModeId here, std::size_t guard, ModeId there) {
  if (here == there) return {};
  const Mode& from = run.system.modes()[here.index()];
  const Mode& to = run.system.modes()[there.index()];
  if (has_derivatives(from.guards[guard].value)) return {};
  for (std::size_t g = 0; g < to.guards.size(); ++g) {
    if (to.guards[g].to != from.name || has_derivatives(to.guards[g].value)) continue;
    const auto widths = run.chattering.widths.find(there);
    if (widths != run.chattering.widths.end() && widths->second.contains(g)) continue;
    const SystemState& at = run.now.state;
    if (std::abs(value_of(run, to.guards[g].value, at)) >
            kOnSurface * size_of(run, to.guards[g].value, at) &&
        to.guards[g].set.empty() && from.guards[guard].set.empty())
      continue;
    Meeting meeting;
    meeting.surfaces = {kUnknownSurface};
    const Crossing across{from.guards[guard].value, {guard}, from.guards[guard].set};
    const Crossing back{to.guards[g].value, {g}, to.guards[g].set};
    const auto known = find_surface(run, across.value);
    if (known ? known->positive : here < there) {
      meeting.sides = {{there, at.slots}, {here, at.slots}};
      meeting.crossings = {{back}, {across}};
    } else {
      meeting.sides = {{here, at.slots}, {there, at.slots}};
      meeting.crossings = {{across}, {back}};
    }
    return meeting;
  }
  return {};
}

// A guard of an ordinary mode has fired.
bool cross_surface(Run& run, ModeId here, std::size_t chosen, const Firing& firing,
                   bool hop_follows_event) {
  const Guard& guard = run.now.mode->mode().guards[chosen];
  const ModeId there = base_of(run, run.system.find_mode(guard.to));
  const std::optional<Chattering::Crossed> last = run.chattering.last;
  run.chattering.last = Chattering::Crossed{base_of(run, here), there, run.now.time};

  SystemState carried = run.now.state;
  run.now.mode->transition_values(chosen, run.now.time, run.now.state, run.instant.assigned);
  for (std::size_t i = 0; i < guard.set.size(); ++i)
    carried.values[guard.set[i].variable.node()->variable().index()] = run.instant.assigned[i];

  const std::optional<Meeting> meeting =
      pair_up(run, base_of(run, here), base_guard(run, here, chosen), there);
  std::optional<States> states;
  Face face;
  const bool to_and_fro = last && last->from == there && last->to == base_of(run, here) &&
                          last->time == run.now.time && firing.at_step_start;
  if (meeting) states = states_of(run, *meeting, carried);
  if (states) face = face_between(run, *meeting, *states, to_and_fro);
  const ChatteringAnswer wanted = run.settings.options.chattering;
  if (face.slides() && wanted == ChatteringAnswer::kFilippov) {
    go_to(run, *meeting, face, *states, "sliding-entry", firing, hop_follows_event);
    return true;
  }
  if (face.slides() && wanted == ChatteringAnswer::kStop) {
    stop(run, StopReason::kChattering,
         fmt::format("chattering {}: guard '{}' leads to mode '{}', whose flow leads back; "
                     "choose the answer filippov or hysteresis to go on",
                     place_of(run), guard.name, guard.to));
    return true;
  }
  if (wanted != ChatteringAnswer::kHysteresis) return false;
  if (face.slides()) {
    for (std::size_t s = 0; s < 2; ++s)
      add_hysteresis(run, meeting->sides[s].mode, meeting->crossings[s][0].guards.front());
  }
  const auto widened = run.chattering.widened.find(there);
  if (widened == run.chattering.widened.end()) return false;
  Event event = begin_event(run.now.time, run.now.mode->mode(), firing);
  if (face.slides()) event.tags.emplace_back("chattering");
  run.now.left = run.now.state;
  run.now.left.values.resize(run.now.state.values.size());
  std::copy(carried.values.begin(), carried.values.end(), run.now.state.values.begin());
  hop_to(run, widened->second, std::move(event), hop_follows_event);
  return true;
}

// A guard that all sides of a sliding mode have in common has fired: the modes beyond it, together
// with those it was fired in if they lead back.
std::optional<Meeting> meet_beyond(Run& run, const SlidingMode& slide, std::size_t fired) {
  const Meeting& near = slide.meeting;
  const std::vector<std::size_t>& crossing = slide.roles[fired].guards;
  const auto& modes = run.system.modes();
  const std::size_t n = near.surface_count();
  const auto guard_between = [&](ModeId from, ModeId to, const Expr& value) {
    const std::vector<Guard>& guards = modes[from.index()].guards;
    for (std::size_t g = 0; g < guards.size(); ++g)
      if (guards[g].to == modes[to.index()].name && guards[g].set.empty() &&
          (guards[g].value.same_as(value) || guards[g].value.same_as(-value)))
        return g;
    return SlidingMode::npos;
  };
  Meeting beyond = near;
  std::vector<Crossing> across, back;
  for (std::size_t b = 0; b < near.sides.size(); ++b) {
    if (crossing[b] == SlidingMode::npos) return {};
    const Guard& guard = modes[near.sides[b].mode.index()].guards[crossing[b]];
    if (guard.to.empty() || !guard.set.empty()) return {};
    beyond.sides[b].mode = run.system.find_mode(guard.to);
    across.push_back({guard.value, {crossing[b]}});
    const std::size_t g = guard_between(beyond.sides[b].mode, near.sides[b].mode, guard.value);
    if (g != SlidingMode::npos)
      back.push_back({modes[beyond.sides[b].mode.index()].guards[g].value, {g}});
  }
  for (std::size_t b = 0; b < near.sides.size(); ++b) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t neighbour = b ^ (std::size_t{1} << i);
      const ModeId mode = beyond.sides[b].mode;
      const std::size_t g =
          guard_between(mode, beyond.sides[neighbour].mode, near.crossings[b][i].value);
      if (g == SlidingMode::npos) return {};
      beyond.crossings[b][i] = {modes[mode.index()].guards[g].value, {g}};
    }
  }
  if (back.size() < near.sides.size()) return beyond;
  if (n == kMaxSurfaces) {
    // No more flows are mixed; one more surface can only be crossed.
    if (run.now.time - run.chattering.last_crossed >
        kAtOnce * std::max(1.0, std::abs(run.now.time))) {
      run.chattering.last_crossed = run.now.time;
      return beyond;
    }
    stop(run, StopReason::kChattering,
         fmt::format("the state slides on {} surfaces {} and the flows meet at one more, "
                     "'{}': more are not mixed; choose hysteresis to go on",
                     kMaxSurfaces, place_of(run), slide.mode.guards[fired].name));
    return {};
  }

  const auto known = find_surface(run, across.back().value);
  const bool near_is_positive =
      known ? known->positive : near.sides.back().mode < beyond.sides.back().mode;
  Meeting both;
  both.surfaces = near.surfaces;
  both.surfaces.push_back(kUnknownSurface);
  const auto append = [&](const Meeting& half, const std::vector<Crossing>& way) {
    for (std::size_t b = 0; b < half.sides.size(); ++b) {
      both.sides.push_back(half.sides[b]);
      both.crossings.push_back(half.crossings[b]);
      both.crossings.back().push_back(way[b]);
    }
  };
  append(near_is_positive ? beyond : near, near_is_positive ? back : across);
  append(near_is_positive ? near : beyond, near_is_positive ? across : back);
  return both;
}

// A guard of a sliding mode has fired.
bool leave_sliding(Run& run, const SlidingMode& slide, const Firing& firing,
                   bool hop_follows_event) {
  run.chattering.last.reset();
  Face face{true, std::vector<Place>(slide.meeting.surface_count(), Place::kSliding), {}};
  for (const std::size_t i : slide.meeting.surfaces)
    face.weights.push_back(run.now.state.values[run.chattering.surfaces[i].weight.node()->index]);
  bool left = false;
  for (const std::size_t g : firing.guards) {
    const SlidingMode::Role& role = slide.roles[g];
    if (role.exit == SlidingMode::Exit::kOther) continue;
    const bool positive = role.exit == SlidingMode::Exit::kPositive;
    face.places[role.surface] = positive ? Place::kPositive : Place::kNegative;
    face.weights[role.surface] = positive ? 1.0 : 0.0;
    left = true;
  }
  if (left) {
    const auto states = states_of(run, slide.meeting, run.now.state);
    if (!states) {
      stop(run, StopReason::kInconsistent,
           fmt::format("no consistent point {} for the mode that sliding leads to", place_of(run)));
      return true;
    }
    go_to(run, slide.meeting, face, *states, "sliding-exit", firing, hop_follows_event);
    return true;
  }
  if (run.events != nullptr) return leave_flat(run, slide, firing, hop_follows_event);
  const std::size_t chosen = first_by_priority(slide.mode.guards, firing.guards);
  const std::optional<Meeting> meeting = meet_beyond(run, slide, chosen);
  if (!meeting) return run.log.stopped;
  const auto states = states_of(run, *meeting, run.now.state);
  if (!states || !on_surface(run, *meeting, *states)) return false;
  const auto rates = rates_of(run, *meeting, *states);
  if (!rates) return false;
  face = choose_face(meeting->surface_count(), *rates);
  if (!face.found) return false;
  const auto count =
      static_cast<std::size_t>(std::count(face.places.begin(), face.places.end(), Place::kSliding));
  go_to(run, *meeting, face, *states,
        count < slide.meeting.surface_count() ? "sliding-exit" : "sliding-entry", firing,
        hop_follows_event);
  return true;
}

// Whether going there and back changes nothing that both modes integrate (KM (25), (27)).
bool agree(const Run& run, const Meeting& meeting, const States& states) {
  const AnalysedMode& first = run.modes.runs[meeting.sides[0].mode.index()]->analysed();
  const AnalysedMode& second = run.modes.runs[meeting.sides[1].mode.index()]->analysed();
  for (std::size_t j = 0; j < first.unknowns.size(); ++j) {
    const VariableId id = first.unknowns[j];
    const auto other = std::lower_bound(second.unknowns.begin(), second.unknowns.end(), id);
    if (other == second.unknowns.end() || *other != id || !first.differential[j] ||
        !second.differential[static_cast<std::size_t>(other - second.unknowns.begin())])
      continue;
    const double a = states[0].values[id.index()];
    const double b = states[1].values[id.index()];
    if (std::abs(a - b) > kOnSurface * std::max(std::abs(a), run.system.variable(id).nominal))
      return false;
  }
  return true;
}

}  // namespace

bool answer_chattering(Run& run, const Firing& firing, bool hop_follows_event) {
  const ModeId here = run.now.mode->analysed().id;
  const auto slide = run.chattering.slides.find(here);
  if (slide != run.chattering.slides.end())
    return leave_sliding(run, slide->second, firing, hop_follows_event);
  if (run.events != nullptr) return cross_flat(run, firing, hop_follows_event);
  const std::size_t chosen = first_by_priority(run.now.mode->mode().guards, firing.guards);
  if (run.now.mode->mode().guards[chosen].to.empty()) return false;
  return cross_surface(run, here, chosen, firing, hop_follows_event);
}

// Each side's own consistent state at this point; none if a side has none.
std::optional<States> states_of(Run& run, const Meeting& meeting, const SystemState& carried) {
  States states;
  for (const Side& side : meeting.sides) {
    const bool is_here = base_of(run, run.now.mode->analysed().id) == side.mode;
    states.push_back(is_here ? run.now.state : carried);
    states.back().slots = side.slots;
    try {
      if (!visit(run, side.mode).make_consistent(run.now.time, states.back()).ok()) return {};
    } catch (const Error&) {
      return {};  // the ordinary transition will say why
    }
  }
  return states;
}

bool on_surface(Run& run, const Meeting& meeting, const States& states) {
  for (std::size_t b = 0; b < states.size(); ++b) {
    for (const Crossing& crossing : meeting.crossings[b]) {
      const Expr& value = crossing.value;
      const double limit = kOnSurface * size_of(run, value, states[b]);
      if (!(std::abs(value_of(run, value, states[b])) <= limit)) return false;
    }
  }
  return true;
}

Face face_between(Run& run, const Meeting& meeting, const States& states, bool to_and_fro) {
  if (!on_surface(run, meeting, states) || !agree(run, meeting, states)) return {};
  const auto rates = rates_of(run, meeting, states);
  if (!rates) return {};
  Face face = choose_face(1, *rates);
  if (!face.slides() && to_and_fro && (*rates)[0] >= 0.0 && (*rates)[1] <= 0.0)
    return {true, {Place::kSliding}, {(*rates)[0] > 0.0 ? 1.0 : 0.0}};
  return face;
}

// d/dt of every surface along every side, positive where it leads to the positive side.
std::optional<std::vector<double>> rates_of(Run& run, const Meeting& meeting,
                                            const States& states) {
  std::vector<double> rates;
  for (std::size_t b = 0; b < states.size(); ++b) {
    for (std::size_t i = 0; i < meeting.surface_count(); ++i) {
      const auto rate = rate_of(run, meeting.sides[b], meeting.crossings[b][i].value, states[b]);
      if (!rate) return {};
      rates.push_back((b >> i & 1U) != 0 ? *rate : -*rate);
    }
  }
  return rates;
}

// d/dt of a value along the flow of a side, from now on: of two branches that are equal here the
// one that grows faster is the larger one.
std::optional<double> rate_of(Run& run, const Side& side, const Expr& value,
                              const SystemState& state) {
  if (value.node() != nullptr && (value.node()->op == Op::kMax || value.node()->op == Op::kMin)) {
    const bool takes_larger = value.node()->op == Op::kMax;
    const Expr a(value.node()->children[0]);
    const Expr b(value.node()->children[1]);
    const double lead = value_of(run, a, state) - value_of(run, b, state);
    if (std::abs(lead) > kOnSurface * size_of(run, value, state))
      return rate_of(run, side, (lead > 0.0) == takes_larger ? a : b, state);
    const auto rate_a = rate_of(run, side, a, state);
    const auto rate_b = rate_of(run, side, b, state);
    if (!rate_a || !rate_b) return {};
    return takes_larger ? std::max(*rate_a, *rate_b) : std::min(*rate_a, *rate_b);
  }
  ModeRun& mode = *run.modes.runs[side.mode.index()];
  const std::vector<VariableId>& unknowns = mode.analysed().unknowns;
  const bool integrated = std::ranges::all_of(leaves_of(value), [&](const Expr& leaf) {
    if (!leaf.is_variable()) return true;
    const auto found = std::ranges::lower_bound(unknowns, leaf.node()->variable());
    return found != unknowns.end() && *found == leaf.node()->variable() &&
           mode.analysed().differential[static_cast<std::size_t>(found - unknowns.begin())];
  });
  if (integrated) return value_of(run, der(value), state);
  // Algebraic unknowns have no slope of their own: the flow of the mode tells.
  SystemState at = state;
  at.values.resize(run.system.variables().size());
  at.slopes.resize(at.values.size());
  try {
    if (!mode.make_consistent(run.now.time, at).ok()) return {};
  } catch (const Error&) {
    return {};
  }
  run.just_after.note_magnitudes(run.system, at);
  run.just_after.stand_at(mode, run.now.time, at);
  return run.just_after.rate(value, at.slots);
}

double value_of(Run& run, const Expr& value, const SystemState& state) {
  if (value.is_number()) return value.number();
  if (run.chattering.parameters.empty())
    for (const Parameter& p : run.system.parameters()) run.chattering.parameters.push_back(p.value);
  auto found = run.chattering.formulas.find(value.node());
  if (found == run.chattering.formulas.end()) {
    const BuildingTime building;
    const HybridSystem& system = run.system;
    if (run.chattering.inputs.empty() ||
        run.chattering.inputs[1].size() != system.variables().size() ||
        run.chattering.inputs[4].size() != system.graph().slot_count())
      run.chattering.inputs = state_inputs(system);
    const Tape tape(std::span(&value, 1), run.chattering.inputs);
    found = run.chattering.formulas
                .emplace(value.node(), Chattering::Formula{tape, tape.make_workspace()})
                .first;
  }
  const double* inputs[] = {&run.now.time, state.values.data(), state.slopes.data(),
                            run.chattering.parameters.data(), state.slots.data()};
  double result = 0.0;
  found->second.tape.evaluate(inputs, found->second.registers, &result);
  return result;
}

// As AnalysedMode::guard_sizes: what the value would be if its terms did not cancel.
double size_of(Run& run, const Expr& value, const SystemState& state) {
  if (value.is_number()) return 0.0;
  auto found = run.chattering.sizes.find(value.node());
  if (found == run.chattering.sizes.end()) {
    const BuildingTime building;
    found = run.chattering.sizes.emplace(value.node(), relation_size(run.system, value)).first;
  }
  return value_of(run, found->second, state);
}

}  // namespace saltus
