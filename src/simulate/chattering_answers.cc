// What is done about chattering: sliding modes and hysteresis.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "simulate/chattering.h"
#include "simulate/enter_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/event_log.h"
#include "simulate/run.h"
#include "simulate/settle.h"

namespace saltus {
namespace {

constexpr double kDefaultWidth = 1e-4;  // x nominal
constexpr double kOnSurface = 1e-9;     // x nominal
// HM Definition 15: how often a cycle must repeat, and on which fraction of the run.
constexpr std::size_t kRepetitions = 8;
constexpr std::size_t kLongestCycle = 4;
constexpr double kShortInterval = 1e-5;
// A cycle on intervals so short leads nowhere, and ends the run after so many events.
constexpr double kHopelessInterval = 1e-9;
constexpr std::size_t kHopelessEvents = 1000;

template <class Items>
bool has_name(const Items& items, const std::string& name) {
  return std::any_of(items.begin(), items.end(),
                     [&](const auto& item) { return item.name == name; });
}

// Whether a side belongs to the face: which surfaces are left, and to where.
bool belongs(std::size_t side, const std::vector<Place>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place here = (side >> i & 1U) != 0 ? Place::kPositive : Place::kNegative;
    if (places[i] != Place::kSliding && places[i] != here) return false;
  }
  return true;
}

// The sides and surfaces that remain.
Meeting on_face(const Meeting& meeting, const std::vector<Place>& places) {
  Meeting result;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i] == Place::kSliding) result.surfaces.push_back(meeting.surfaces[i]);
  for (std::size_t b = 0; b < meeting.sides.size(); ++b) {
    if (!belongs(b, places)) continue;
    result.sides.push_back(meeting.sides[b]);
    result.crossings.emplace_back();
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] == Place::kSliding) result.crossings.back().push_back(meeting.crossings[b][i]);
  }
  return result;
}

std::size_t add_surface(Run& run, const Expr& value, const std::string& side) {
  std::vector<Chattering::Surface>& surfaces = run.chattering.surfaces;
  const std::string number = surfaces.empty() ? "" : std::to_string(surfaces.size() + 1);
  const Expr weight = run.system.variable(
      unused_name(run, "alpha" + number),
      {.unit = "1",
       .description = fmt::format("weight of {} while sliding on {} = 0", side, to_string(value))});
  surfaces.push_back({value, weight});
  return surfaces.size() - 1;
}

std::size_t make_surface(Run& run, const Meeting& meeting, std::size_t surface) {
  const Mode& positive = run.system.modes()[meeting.sides.back().mode.index()];
  const Expr& value = meeting.crossings.back()[surface].value;
  if (const auto known = find_surface(run, value)) return known->index;
  return add_surface(run, value,
                     meeting.surface_count() == 1 && run.events == nullptr
                         ? fmt::format("mode '{}'", positive.name)
                         : "its positive side");
}

// Variables of only the positive side that the way back sets, where that agrees with their values:
// they belong to the other side's unknowns. Where it does not, they follow their own equations.
std::vector<VariableId> tied_variables(Run& run, const Meeting& meeting, const States& states) {
  std::vector<VariableId> tied;
  if (meeting.surface_count() != 1) return tied;
  const auto& modes = run.system.modes();
  const auto own = unknowns_of(run.system, modes[meeting.sides[0].mode.index()]);
  const auto positive = unknowns_of(run.system, modes[meeting.sides[1].mode.index()]);
  for (const Assignment& a : meeting.crossings[0][0].set) {
    const VariableId id = a.variable.node()->variable();
    if (is_constant_in_mode(a.value) || std::binary_search(own.begin(), own.end(), id) ||
        !std::binary_search(positive.begin(), positive.end(), id))
      continue;
    const double now = states[1].values[id.index()];
    const double nominal = run.system.variable(id).nominal;
    if (std::abs(value_of(run, a.value, states[0]) - now) <=
        1e-9 * std::max(std::abs(now), nominal))
      tied.push_back(id);
  }
  return tied;
}

const SlidingMode& slide_on(Run& run, const Meeting& meeting, const States& states) {
  // Slots that the sides agree on are held, and may differ from visit to visit.
  std::vector<std::pair<ModeId, std::vector<double>>> key;
  for (const Side& side : meeting.sides) {
    key.emplace_back(side.mode, side.slots);
    for (std::size_t k = 0; k < side.slots.size(); ++k)
      if (std::ranges::all_of(meeting.sides,
                              [&](const Side& other) { return other.slots[k] == side.slots[k]; }))
        key.back().second[k] = 0.0;
  }
  const auto found = run.chattering.by_sides.find(key);
  if (found != run.chattering.by_sides.end()) {
    SlidingMode& known = run.chattering.slides.at(found->second);
    known.meeting.sides = meeting.sides;
    return known;
  }

  Meeting complete = meeting;
  std::vector<Expr> weights;
  for (std::size_t i = 0; i < meeting.surface_count(); ++i) {
    complete.surfaces[i] = make_surface(run, meeting, i);
    weights.push_back(run.chattering.surfaces[complete.surfaces[i]].weight);
  }
  // Sides of a flat model may be of one mode and differ in slots: the surface tells them apart.
  std::vector<std::string> names;
  for (std::size_t b = meeting.sides.size(); b-- > 0 && run.events == nullptr;)
    names.push_back(run.system.modes()[meeting.sides[b].mode.index()].name);
  for (std::size_t i = 0; i < meeting.surface_count() && run.events != nullptr; ++i)
    names.push_back(to_string(meeting.crossings.back()[i].value) + " = 0");
  SlidingMode slide = make_sliding_mode(
      run.system, std::move(complete),
      unused_name(run, run.events == nullptr
                           ? fmt::format("sliding {}", fmt::join(names, "|"))
                           : fmt::format("sliding on {}", fmt::join(names, ", "))),
      weights, tied_variables(run, meeting, states));
  slide.id = add_mode(run, slide.mode);
  run.chattering.by_sides.emplace(std::move(key), slide.id);
  return run.chattering.slides.emplace(slide.id, std::move(slide)).first->second;
}

}  // namespace

std::optional<KnownSurface> find_surface(const Run& run, const Expr& value) {
  for (std::size_t i = 0; i < run.chattering.surfaces.size(); ++i) {
    if (run.chattering.surfaces[i].value.same_as(value)) return KnownSurface{i, true};
    if (run.chattering.surfaces[i].value.same_as(-value)) return KnownSurface{i, false};
  }
  return {};
}

Expr weight_of(Run& run, const Expr& surface) {
  for (const Chattering::Surface& known : run.chattering.surfaces)
    if (known.value.same_as(surface)) return known.weight;
  const std::size_t made = add_surface(run, surface, "its positive side");
  return run.chattering.surfaces[made].weight;
}

std::string unused_name(const Run& run, const std::string& name) {
  std::string candidate = name;
  for (int k = 2;
       has_name(run.system.variables(), candidate) ||
       has_name(run.system.parameters(), candidate) || has_name(run.system.derived(), candidate) ||
       has_name(run.system.modes(), candidate);
       ++k)
    candidate = fmt::format("{} {}", name, k);
  return candidate;
}

// Into the mode, or the sliding mode, of a face.
void go_to(Run& run, const Meeting& meeting, const Face& face, const States& states,
           const char* tag, const Firing& firing, bool hop_follows_event, const std::string& why) {
  Event event = begin_event(run.now.time, run.now.mode->mode(), firing);
  // Guards without a successor of their own (weights, relations) say all by their name.
  for (std::size_t k = 0; k < firing.guards.size(); ++k) {
    const Guard& guard = run.now.mode->mode().guards[firing.guards[k]];
    if (guard.to.empty()) event.causes[k] = guard.name;
  }
  if (event.causes.empty())
    event.causes.push_back(why.empty() ? "the flows still meet at the surface" : why);
  event.tags.emplace_back(tag);
  event.ontology = "continuous sliding";
  SystemState& state = run.now.state;
  const std::vector<double> slots = state.slots;
  // The weight of a surface that is left stays at the side taken.
  for (std::size_t i = 0; i < face.places.size(); ++i)
    if (face.places[i] != Place::kSliding && meeting.surfaces[i] < run.chattering.surfaces.size())
      state.values[run.chattering.surfaces[meeting.surfaces[i]].weight.node()->index] =
          face.weights[i];
  const Meeting on = on_face(meeting, face.places);
  States side_states;
  for (std::size_t b = 0; b < states.size(); ++b)
    if (belongs(b, face.places)) side_states.push_back(states[b]);
  if (on.surface_count() == 0) {
    state.slots = on.sides.front().slots;
    run.now.left = state;
    run.now.left.slots = slots;
    hop_to(run, on.sides.front().mode, std::move(event), hop_follows_event);
    return;
  }
  const SlidingMode* slide = nullptr;
  try {
    slide = &slide_on(run, on, side_states);
  } catch (const Error& error) {
    stop(run, StopReason::kChattering,
         fmt::format("chattering {} cannot be continued by sliding: {}; choose hysteresis",
                     place_of(run), error.what()));
    return;
  }
  // What only other sides know comes from them.
  const std::vector<VariableId>& own = run.now.mode->analysed().unknowns;
  for (std::size_t b = 0; b < on.sides.size(); ++b)
    for (const VariableId id :
         unknowns_of(run.system, run.system.modes()[on.sides[b].mode.index()]))
      if (!std::binary_search(own.begin(), own.end(), id))
        state.values[id.index()] = side_states[b].values[id.index()];
  for (const SlidingMode::Guess& guess : slide->guesses) {
    const SystemState& from = side_states[guess.side];
    state.values[guess.target.index()] =
        guess.order == 0 ? from.values[guess.source.index()] : from.slopes[guess.source.index()];
  }
  for (std::size_t i = 0, k = 0; i < face.places.size(); ++i)
    if (face.places[i] == Place::kSliding)
      state.values[run.chattering.surfaces[slide->meeting.surfaces[k++]].weight.node()->index] =
          face.weights[i];
  state.slots = on.sides.front().slots;
  run.now.left = state;
  run.now.left.slots = slots;
  hop_to(run, slide->id, std::move(event), hop_follows_event);
}

void inherit_chattering(Run& run, ModeId from, ModeId to, const std::vector<std::size_t>& held) {
  const auto found = run.chattering.slides.find(from);
  if (found == run.chattering.slides.end()) {
    std::vector<std::size_t>& guards = run.chattering.base_guards[to];
    for (std::size_t g = 0; g < run.system.modes()[from.index()].guards.size(); ++g)
      if (std::ranges::find(held, g) == held.end()) guards.push_back(base_guard(run, from, g));
    run.chattering.bases[to] = base_of(run, from);
    return;
  }
  SlidingMode slide = found->second;
  slide.id = to;
  slide.mode = run.system.modes()[to.index()];
  slide.roles.clear();
  for (std::size_t g = 0; g < found->second.roles.size(); ++g)
    if (std::ranges::find(held, g) == held.end()) slide.roles.push_back(found->second.roles[g]);
  run.chattering.slides.emplace(to, std::move(slide));
}

void hop_to(Run& run, ModeId to, Event event, bool hop_follows_event) {
  try {
    if (!enter(run, to)) return;
  } catch (const Error& error) {
    stop(run, StopReason::kSingular, error.what());
    return;
  }
  apply_widths(run, *run.now.mode);
  if (const auto* view = view_of(run, to)) run.now.flat_mode = view->flat_mode;
  // Onto the surface from where the switch was located is no jump.
  SystemState& left = run.now.left;
  left.values.resize(run.now.state.values.size(), 0.0);
  for (std::size_t i = 0; i < left.values.size(); ++i) {
    const double after = run.now.state.values[i];
    const double size = std::max(std::abs(left.values[i]), run.system.variables()[i].nominal);
    if (std::abs(after - left.values[i]) <= kOnSurface * size) left.values[i] = after;
  }
  log_entry(run, std::move(event), hop_follows_event);
}

ModeId base_of(const Run& run, ModeId id) {
  const auto found = run.chattering.bases.find(id);
  return found == run.chattering.bases.end() ? id : found->second;
}

std::size_t base_guard(const Run& run, ModeId id, std::size_t guard) {
  const auto found = run.chattering.base_guards.find(id);
  return found == run.chattering.base_guards.end() ? guard : found->second[guard];
}

double width_at(Run& run, const Expr& value) {
  if (run.settings.options.hysteresis) return *run.settings.options.hysteresis;
  double width = 0.0;
  for (const Expr& leaf : leaves_of(value))
    if (leaf.is_variable())
      width += kDefaultWidth * run.system.variable(leaf.node()->variable()).nominal *
               std::abs(value_of(run, partial(value, leaf), run.now.state));
  return width;
}

// KM (26): the guard fires only when the surface has been passed by the width.
void add_hysteresis(Run& run, ModeId base, std::size_t guard) {
  const Expr& value = run.system.modes()[base.index()].guards[guard].value;
  const double width = width_at(run, value);
  run.chattering.widths[base][guard] = width;
  Mode widened = run.system.modes()[base.index()];
  widened.name = unused_name(run, widened.name + " (hysteresis)");
  for (const auto& [g, w] : run.chattering.widths[base]) widened.guards[g].value += w;
  const ModeId id = add_mode(run, std::move(widened));
  run.chattering.widened[base] = id;
  run.chattering.bases[id] = base;
}

void flag_cycles(Run& run) {
  std::vector<Event>& events = run.log.result.events;
  const double limit = run.settings.options.chattering_interval.value_or(
      kShortInterval * (run.settings.stop_time - run.settings.start_time));
  for (std::size_t p = 2; p <= kLongestCycle; ++p) {
    const std::size_t length = p * kRepetitions;
    if (events.size() < length + 1) return;
    const std::size_t first = events.size() - length;
    bool repeats = true;
    for (std::size_t k = first; k < events.size() && repeats; ++k) {
      // Between modes, or between values of relations in a flat model.
      const bool changes = events[k].from != events[k].to || run.events != nullptr;
      repeats = events[k].time - events[k - 1].time <= limit && changes && events[k].kind != "time";
      if (k >= first + p)
        repeats = repeats && events[k].from == events[k - p].from &&
                  events[k].to == events[k - p].to && events[k].causes == events[k - p].causes;
    }
    if (!repeats) continue;
    if (std::ranges::find(events.back().tags, "numerical-chattering") == events.back().tags.end())
      events.back().tags.emplace_back("numerical-chattering");
    const double hopeless = kHopelessInterval * (run.settings.stop_time - run.settings.start_time);
    const bool is_hopeless = events.back().time - events[events.size() - 1 - p].time <= hopeless;
    run.chattering.hopeless_events = is_hopeless ? run.chattering.hopeless_events + 1 : 0;
    if (run.chattering.hopeless_events > kHopelessEvents && !run.log.stopped)
      stop(run, StopReason::kChattering,
           fmt::format("chattering {} that cannot slide ({} repeats without end); what "
                       "switches has memory or jumps: write it with hysteresis",
                       place_of(run), fmt::join(events.back().causes, ", ")));
    if (run.chattering.cycle_reported) return;
    run.chattering.cycle_reported = true;
    std::vector<std::string> names;
    for (std::size_t k = events.size() - p; k < events.size(); ++k) names.push_back(events[k].from);
    run.log.result.warnings.push_back(fmt::format(
        "numerical chattering at t = {:.10g}: the modes {} follow each other {} times on intervals "
        "of at most {:g}",
        run.now.time, fmt::join(names, ", "), kRepetitions, limit));
    return;
  }
}

}  // namespace saltus
