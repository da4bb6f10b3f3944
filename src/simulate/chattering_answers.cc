// What is done about chattering: sliding modes and hysteresis.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "simulate/chattering.h"
#include "simulate/event_iteration.h"
#include "simulate/event_log.h"
#include "simulate/simulation.h"

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

}  // namespace

std::optional<Chattering::KnownSurface> Chattering::find_surface(const Expr& value) const {
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    if (surfaces_[i].value.same_as(value)) return KnownSurface{i, true};
    if (surfaces_[i].value.same_as(-value)) return KnownSurface{i, false};
  }
  return {};
}

std::size_t Chattering::make_surface(const Meeting& meeting, std::size_t surface) {
  const Mode& positive = run_.system_.modes()[meeting.sides.back().mode.index()];
  const Expr& value = meeting.crossings.back()[surface].value;
  if (const auto known = find_surface(value)) return known->index;
  const std::string number = surfaces_.empty() ? "" : std::to_string(surfaces_.size() + 1);
  const std::string side = meeting.surface_count() == 1 && run_.events_ == nullptr
                               ? fmt::format("mode '{}'", positive.name)
                               : "its positive side";
  const Expr weight = run_.system_.variable(
      unused_name("alpha" + number),
      {.unit = "1",
       .description = fmt::format("weight of {} while sliding on {} = 0", side, to_string(value))});
  surfaces_.push_back({value, weight});
  return surfaces_.size() - 1;
}

Expr Chattering::weight_of(const Expr& surface) {
  for (const Surface& known : surfaces_)
    if (known.value.same_as(surface)) return known.weight;
  const std::string number = surfaces_.empty() ? "" : std::to_string(surfaces_.size() + 1);
  const Expr weight = run_.system_.variable(
      unused_name("alpha" + number),
      {.unit = "1",
       .description =
           fmt::format("weight of its positive side while sliding on {} = 0", to_string(surface))});
  surfaces_.push_back({surface, weight});
  return weight;
}

std::string Chattering::unused_name(const std::string& name) const {
  std::string candidate = name;
  for (int k = 2;
       has_name(run_.system_.variables(), candidate) ||
       has_name(run_.system_.parameters(), candidate) ||
       has_name(run_.system_.derived(), candidate) || has_name(run_.system_.modes(), candidate);
       ++k)
    candidate = fmt::format("{} {}", name, k);
  return candidate;
}

// Variables of only the positive side that the way back sets, where that agrees with their values:
// they belong to the other side's unknowns. Where it does not, they follow their own equations.
std::vector<VariableId> Chattering::tied_variables(const Meeting& meeting,
                                                   const States& states) const {
  std::vector<VariableId> tied;
  if (meeting.surface_count() != 1 || meeting.crossings[0][0].guards.empty()) return tied;
  const auto& modes = run_.system_.modes();
  const auto own = unknowns_of(run_.system_, modes[meeting.sides[0].mode.index()]);
  const auto positive = unknowns_of(run_.system_, modes[meeting.sides[1].mode.index()]);
  const Mode& negative_mode = modes[meeting.sides[0].mode.index()];
  for (const Assignment& a : negative_mode.guards[meeting.crossings[0][0].guards.front()].set) {
    const VariableId id = a.variable.node()->variable();
    if (is_constant_in_mode(a.value) || std::binary_search(own.begin(), own.end(), id) ||
        !std::binary_search(positive.begin(), positive.end(), id))
      continue;
    const double now = states[1].values[id.index()];
    const double nominal = run_.system_.variable(id).nominal;
    if (std::abs(evaluate(a.value, states[0]) - now) <= 1e-9 * std::max(std::abs(now), nominal))
      tied.push_back(id);
  }
  return tied;
}

const SlidingMode& Chattering::slide_on(const Meeting& meeting, const States& states) {
  // Slots that the sides agree on are held, and may differ from visit to visit.
  std::vector<std::pair<ModeId, std::vector<double>>> key;
  for (const Side& side : meeting.sides) {
    key.emplace_back(side.mode, side.slots);
    for (std::size_t k = 0; k < side.slots.size(); ++k)
      if (std::ranges::all_of(meeting.sides,
                              [&](const Side& other) { return other.slots[k] == side.slots[k]; }))
        key.back().second[k] = 0.0;
  }
  const auto found = by_sides_.find(key);
  if (found != by_sides_.end()) {
    SlidingMode& known = slides_.at(found->second);
    known.meeting.sides = meeting.sides;
    return known;
  }

  Meeting complete = meeting;
  std::vector<Expr> weights;
  for (std::size_t i = 0; i < meeting.surface_count(); ++i) {
    complete.surfaces[i] = make_surface(meeting, i);
    weights.push_back(surfaces_[complete.surfaces[i]].weight);
  }
  // Sides of a flat model may be of one mode and differ in slots: the surface tells them apart.
  std::vector<std::string> names;
  for (std::size_t b = meeting.sides.size(); b-- > 0 && run_.events_ == nullptr;)
    names.push_back(run_.system_.modes()[meeting.sides[b].mode.index()].name);
  for (std::size_t i = 0; i < meeting.surface_count() && run_.events_ != nullptr; ++i)
    names.push_back(to_string(meeting.crossings.back()[i].value) + " = 0");
  SlidingMode slide = make_sliding_mode(
      run_.system_, std::move(complete),
      unused_name(run_.events_ == nullptr ? fmt::format("sliding {}", fmt::join(names, "|"))
                                          : fmt::format("sliding on {}", fmt::join(names, ", "))),
      weights, tied_variables(meeting, states));
  slide.id = run_.add_mode(slide.mode);
  by_sides_.emplace(std::move(key), slide.id);
  return slides_.emplace(slide.id, std::move(slide)).first->second;
}

// Into the mode, or the sliding mode, of a face.
void Chattering::go_to(const Meeting& meeting, const Face& face, const States& states,
                       const char* tag, const Firing& firing, bool hop_follows_event,
                       const std::string& why) {
  Event event = begin_event(run_.time_, run_.run_->mode(), firing);
  // Guards without a successor of their own (weights, relations) say all by their name.
  for (std::size_t k = 0; k < firing.guards.size(); ++k) {
    const Guard& guard = run_.run_->mode().guards[firing.guards[k]];
    if (guard.to.empty()) event.causes[k] = guard.name;
  }
  if (event.causes.empty())
    event.causes.push_back(why.empty() ? "the flows still meet at the surface" : why);
  event.tags.emplace_back(tag);
  event.ontology = "continuous sliding";
  SystemState& state = run_.state_;
  // The weight of a surface that is left stays at the side taken.
  for (std::size_t i = 0; i < face.places.size(); ++i)
    if (face.places[i] != Place::kSliding && meeting.surfaces[i] < surfaces_.size())
      state.values[surfaces_[meeting.surfaces[i]].weight.node()->index] = face.weights[i];
  const Meeting on = on_face(meeting, face.places);
  States side_states;
  for (std::size_t b = 0; b < states.size(); ++b)
    if (belongs(b, face.places)) side_states.push_back(states[b]);
  if (on.surface_count() == 0) {
    state.slots = on.sides.front().slots;
    run_.left_ = state;
    hop(on.sides.front().mode, std::move(event), hop_follows_event);
    return;
  }
  const SlidingMode* slide = nullptr;
  try {
    slide = &slide_on(on, side_states);
  } catch (const Error& error) {
    run_.stop(StopReason::kChattering,
              fmt::format("chattering {} cannot be continued by sliding: {}; choose hysteresis",
                          run_.place(), error.what()));
    return;
  }
  // What only other sides know comes from them.
  const std::vector<VariableId>& own = run_.run_->analysed().unknowns;
  for (std::size_t b = 0; b < on.sides.size(); ++b)
    for (const VariableId id :
         unknowns_of(run_.system_, run_.system_.modes()[on.sides[b].mode.index()]))
      if (!std::binary_search(own.begin(), own.end(), id))
        state.values[id.index()] = side_states[b].values[id.index()];
  for (const SlidingMode::Guess& guess : slide->guesses) {
    const SystemState& from = side_states[guess.side];
    state.values[guess.target.index()] =
        guess.order == 0 ? from.values[guess.source.index()] : from.slopes[guess.source.index()];
  }
  for (std::size_t i = 0, k = 0; i < face.places.size(); ++i)
    if (face.places[i] == Place::kSliding)
      state.values[surfaces_[slide->meeting.surfaces[k++]].weight.node()->index] = face.weights[i];
  state.slots = on.sides.front().slots;
  run_.left_ = state;
  hop(slide->id, std::move(event), hop_follows_event);
}

void Chattering::take_over(ModeId from, ModeId to, const std::vector<std::size_t>& held) {
  const auto found = slides_.find(from);
  if (found == slides_.end()) {
    std::vector<std::size_t>& guards = base_guards_[to];
    for (std::size_t g = 0; g < run_.system_.modes()[from.index()].guards.size(); ++g)
      if (std::ranges::find(held, g) == held.end()) guards.push_back(base_guard(from, g));
    bases_[to] = base_of(from);
    return;
  }
  SlidingMode slide = found->second;
  slide.id = to;
  slide.mode = run_.system_.modes()[to.index()];
  slide.roles.clear();
  for (std::size_t g = 0; g < found->second.roles.size(); ++g)
    if (std::ranges::find(held, g) == held.end()) slide.roles.push_back(found->second.roles[g]);
  slides_.emplace(to, std::move(slide));
}

void Chattering::hop(ModeId to, Event event, bool hop_follows_event) {
  try {
    if (!run_.enter(to)) return;
  } catch (const Error& error) {
    run_.stop(StopReason::kSingular, error.what());
    return;
  }
  event.to = run_.run_->mode().name;
  apply_widths(*run_.run_);
  run_.recorder_->store(run_.time_, run_.run_->analysed().id, run_.state_);
  if (const auto* view = run_.view_of(to)) run_.flat_mode_ = view->flat_mode;
  run_.left_.values.resize(run_.state_.values.size(), 0.0);  // modes made since bring unknowns
  run_.left_.slopes.resize(run_.state_.values.size(), 0.0);
  // Onto the surface from where the switch was located is no jump.
  for (std::size_t i = 0; i < run_.state_.values.size(); ++i) {
    double& before = run_.left_.values[i];
    const double size = std::max(std::abs(before), run_.system_.variables()[i].nominal);
    if (std::abs(run_.state_.values[i] - before) <= kOnSurface * size)
      before = run_.state_.values[i];
  }
  note_changes(run_.system_, run_.run_->analysed(), run_.left_, run_.state_, event);
  if (hop_follows_event) mark_instantaneous(run_.result_.events.back());
  classify(event);
  run_.result_.events.push_back(std::move(event));
}

ModeId Chattering::base_of(ModeId id) const {
  const auto found = bases_.find(id);
  return found == bases_.end() ? id : found->second;
}

std::size_t Chattering::base_guard(ModeId id, std::size_t guard) const {
  const auto found = base_guards_.find(id);
  return found == base_guards_.end() ? guard : found->second[guard];
}

double Chattering::width_at(const Expr& value) {
  if (run_.options_.hysteresis) return *run_.options_.hysteresis;
  double width = 0.0;
  for (const Expr& leaf : leaves_of(value))
    if (leaf.is_variable())
      width += kDefaultWidth * run_.system_.variable(leaf.node()->variable()).nominal *
               std::abs(evaluate(partial(value, leaf), run_.state_));
  return width;
}

// KM (26): the guard fires only when the surface has been passed by the width.
void Chattering::add_hysteresis(ModeId base, std::size_t guard) {
  const Expr& value = run_.system_.modes()[base.index()].guards[guard].value;
  const double width = width_at(value);
  widths_[base][guard] = width;
  Mode widened = run_.system_.modes()[base.index()];
  widened.name = unused_name(widened.name + " (hysteresis)");
  for (const auto& [g, w] : widths_[base]) widened.guards[g].value += w;
  const ModeId id = run_.add_mode(std::move(widened));
  widened_[base] = id;
  bases_[id] = base;
}

void Chattering::flag_cycles() {
  std::vector<Event>& events = run_.result_.events;
  const double limit = run_.options_.chattering_interval.value_or(
      kShortInterval * (run_.stop_time_ - run_.start_time_));
  for (std::size_t p = 2; p <= kLongestCycle; ++p) {
    const std::size_t length = p * kRepetitions;
    if (events.size() < length + 1) return;
    const std::size_t first = events.size() - length;
    bool repeats = true;
    for (std::size_t k = first; k < events.size() && repeats; ++k) {
      // Between modes, or between values of relations in a flat model.
      const bool changes = events[k].from != events[k].to || run_.events_ != nullptr;
      repeats = events[k].time - events[k - 1].time <= limit && changes && events[k].kind != "time";
      if (k >= first + p)
        repeats = repeats && events[k].from == events[k - p].from &&
                  events[k].to == events[k - p].to && events[k].causes == events[k - p].causes;
    }
    if (!repeats) continue;
    if (std::ranges::find(events.back().tags, "numerical-chattering") == events.back().tags.end())
      events.back().tags.emplace_back("numerical-chattering");
    const double hopeless = kHopelessInterval * (run_.stop_time_ - run_.start_time_);
    const bool is_hopeless = events.back().time - events[events.size() - 1 - p].time <= hopeless;
    hopeless_events_ = is_hopeless ? hopeless_events_ + 1 : 0;
    if (hopeless_events_ > kHopelessEvents && !run_.stopped_)
      run_.stop(StopReason::kChattering,
                fmt::format("chattering {} that cannot slide ({} repeats without end); what "
                            "switches has memory or jumps: write it with hysteresis",
                            run_.place(), fmt::join(events.back().causes, ", ")));
    if (cycle_reported_) return;
    cycle_reported_ = true;
    std::vector<std::string> names;
    for (std::size_t k = events.size() - p; k < events.size(); ++k) names.push_back(events[k].from);
    run_.result_.warnings.push_back(fmt::format(
        "numerical chattering at t = {:.10g}: the modes {} follow each other {} times on intervals "
        "of at most {:g}",
        run_.time_, fmt::join(names, ", "), kRepetitions, limit));
    return;
  }
}

}  // namespace saltus
