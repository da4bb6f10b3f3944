#include "simulate/event_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "model/build.h"
#include "simulate/mode_run.h"

namespace saltus {
namespace {

// Relative: a smaller change of what is set is none.
constexpr double kRounding = 1e-12;

constexpr std::array<std::string_view, 10> kPrecedence = {
    "zeno",   "sliding-entry", "sliding-exit", "instantaneous", "jump",
    "switch", "tie",           "time",         "grazing",       "discrete"};

std::size_t rank_of(std::string_view tag) {
  return static_cast<std::size_t>(std::find(kPrecedence.begin(), kPrecedence.end(), tag) -
                                  kPrecedence.begin());
}

void add_tag(Event& event, const char* tag) {
  if (std::find(event.tags.begin(), event.tags.end(), tag) == event.tags.end())
    event.tags.emplace_back(tag);
}

void order_tags(Event& event) {
  std::stable_sort(
      event.tags.begin(), event.tags.end(),
      [](const std::string& a, const std::string& b) { return rank_of(a) < rank_of(b); });
  // Tags beyond the list (such as "terminate") add to a kind; they are none.
  event.kind = rank_of(event.tags.front()) < kPrecedence.size() ? event.tags.front() : "discrete";
}

}  // namespace

Event begin_event(double time, const Mode& in, std::string cause) {
  Event event;
  event.time = time;
  event.from = event.to = in.name;
  event.ontology = "continuous interior";
  event.causes.push_back(std::move(cause));
  return event;
}

Event begin_event(double time, const Mode& from, const Firing& firing) {
  Event event = begin_event(time, from, "");
  event.causes.clear();
  for (const std::size_t g : firing.guards)
    event.causes.push_back(
        fmt::format("{}: {} <= 0", from.guards[g].name, to_string(from.guards[g].value)));
  if (firing.guards.size() > 1) event.tags.emplace_back("tie");
  if (firing.is_time_event) event.tags.emplace_back("time");
  return event;
}

void note_motion(const GuardMotion& motion, Event& event) {
  event.slope = motion.slope;
  event.condition = motion.condition();
  // What ends the run is told as such, however flat the guard.
  const bool ends =
      std::find(event.tags.begin(), event.tags.end(), "terminate") != event.tags.end();
  if (motion.is_tangential() && !ends) add_tag(event, "grazing");
}

void note_changes(const HybridSystem& system, const ModeRun& mode, const SystemState& left,
                  const SystemState& right, Event& event, const AnalysedMode* from,
                  const std::vector<bool>& set) {
  const AnalysedMode& entered = mode.analysed();
  std::vector<bool> is_set = set;
  is_set.resize(std::max(system.variables().size(), left.values.size()), false);
  if (system.flat() != nullptr)
    for (const Reinit& reset : system.flat()->reduced.reinits)
      if (reset.variable.is_variable()) is_set[reset.variable.node()->variable().index()] = true;
  const auto was_differential = [&](VariableId id) {
    if (from == nullptr) return false;
    const auto found = std::lower_bound(from->unknowns.begin(), from->unknowns.end(), id);
    return found != from->unknowns.end() && *found == id &&
           from->differential[static_cast<std::size_t>(found - from->unknowns.begin())];
  };
  for (std::size_t j = 0; j < entered.unknowns.size(); ++j) {
    const VariableId id = entered.unknowns[j];
    // The weight of a held surface is an unknown of its mode, but no variable of the model.
    if (id.index() >= std::min(left.values.size(), right.values.size())) continue;
    const double before = left.values[id.index()];
    const double after = right.values[id.index()];
    if (after == before) continue;
    const double size = std::max(std::abs(before), system.variable(id).nominal);
    const bool counts = entered.differential[j] || was_differential(id);
    // What is set is exact, what is carried has the errors of the steps before.
    const bool jumps = is_set[id.index()] ? std::abs(after - before) > kRounding * size
                                          : !mode.is_no_jump(event.time, after - before, size,
                                                             left.slopes[id.index()]);
    if (counts && jumps) event.jumps[system.variable(id).name] = {before, after};
  }
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    if (right.values[i] == left.values[i]) continue;
    const bool held =
        !std::binary_search(entered.unknowns.begin(), entered.unknowns.end(), VariableId(i));
    if (held) event.discrete[system.variables()[i].name] = {left.values[i], right.values[i]};
  }
}

void note_pinnacle(const Mode& entered, const TransferOutcome& transfer, Event& event) {
  if (transfer.status != TransferStatus::kCutShort) return;
  event.ontology = "pinnacle";
  event.fraction = transfer.fraction;
  for (const std::size_t g : transfer.guards)
    event.causes.push_back(fmt::format(
        "projection into '{}' cut short after {:.6g} of the way: {}: {} < 0", entered.name,
        transfer.fraction, entered.guards[g].name, to_string(entered.guards[g].value)));
}

void classify(Event& event) {
  if (!event.jumps.empty()) add_tag(event, "jump");
  if (event.from != event.to) add_tag(event, "switch");
  if (event.tags.empty() || !event.discrete.empty()) add_tag(event, "discrete");
  order_tags(event);
}

void mark_instantaneous(Event& event) {
  add_tag(event, "instantaneous");
  order_tags(event);
  if (event.ontology == "continuous interior")
    event.ontology = event.jumps.empty() ? "mythical" : "continuous boundary";
}

}  // namespace saltus
