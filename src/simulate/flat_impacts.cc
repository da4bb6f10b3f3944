// Impacts of flat models that follow from others at the same instant. A ball that lies on the floor
// and is struck from above hits the floor, and bounces from it by the floor's own reset, as it
// would if it had been a hair above; then it may strike back, and so on. A relation that is true
// already does not fire again by itself.

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulate/enter_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/flat_contacts.h"
#include "simulate/run.h"
#include "simulate/settle.h"

namespace saltus {
namespace {

// What is slower than this, as a fraction of the relation's size in a second, does not strike.
constexpr double kStrikes = 1e-6;
// Of the hardest impact at this instant: what is slower is at rest.
constexpr double kAtRest = 1e-6;
constexpr std::size_t kMostImpacts = 1000;
// What counts as closed: above zero by less than a flight that is followed, below it by the error
// with which an event is located.
constexpr double kClosedAbove = 10.0 * GuardWatch::kBand;
constexpr double kClosedBelow = 1e3 * GuardWatch::kBand;

// The rate towards the contact, in sizes of the relation; not positive if it is not closed.
double approach_of(Run& run, const Reset& reset, std::size_t flat_mode) {
  const RelationMotion motion =
      motion_of(run, reset.relation, flat_mode, run.now.time, run.now.state);
  if (!reset.reverses || !is_near(reset, motion)) return 0.0;
  return -reset.sign * motion.rate / motion.size;
}

}  // namespace

bool is_near(const Reset& reset, const RelationMotion& motion) {
  const double value = reset.sign * motion.value / motion.size;
  return value <= kClosedAbove && value >= -kClosedBelow;
}

// Whether the relation has the value it takes when it fires.
bool is_closed(const Run& run, const Reset& reset) {
  const Expr& slot = run.system.flat()->reduced.relations[reset.relation].slot;
  return (run.now.state.value_of(slot) != 0.0) != (reset.sign > 0.0);
}

bool is_struck(Run& run, const Reset& reset, std::size_t flat_mode) {
  return approach_of(run, reset, flat_mode) > kStrikes;
}

const Firing* next_impact(Run& run) {
  if (run.contacts.impact_time != run.now.time || run.contacts.impacts == kMostImpacts ||
      view_of(run, run.now.mode->analysed().id) == nullptr)
    return nullptr;
  const Reset* next = nullptr;
  double fastest = kStrikes;
  for (const auto& [r, reset] : run.contacts.resets) {
    if (!is_closed(run, reset)) continue;  // it fires by itself
    const double approach = approach_of(run, reset, run.now.flat_mode);
    const double size = position_of(run, r, run.now.time, run.now.state).size;
    if (approach <= fastest || approach * size <= kAtRest * run.contacts.hardest) continue;
    fastest = approach;
    next = &reset;
  }
  if (next == nullptr) return nullptr;
  const ModeId here = run.now.mode->analysed().id;
  for (std::size_t g = 0; g < run.now.mode->mode().guards.size(); ++g) {
    if (source_of(run, here, g) != next->relation) continue;
    ++run.contacts.impacts;
    run.events->rearm(run.now.time, run.now.state, next->relation);
    run.contacts.impact = Firing{{g}, run.now.time, true, false, {}};
    return &run.contacts.impact;
  }
  return nullptr;
}

// Whether something else would be beyond its own contact at the time these come to rest.
bool is_beyond_another(Run& run, const std::vector<Reset>& contacts, double t,
                       const SystemState& later) {
  return std::ranges::any_of(run.contacts.resets, [&](const auto& entry) {
    const std::size_t r = entry.first;
    const auto& other = entry.second;
    const auto is_beyond = [&](double time, const SystemState& state) {
      const RelationMotion motion = position_of(run, r, time, state);
      return other.sign * motion.value < -GuardWatch::kBand * motion.size;
    };
    return std::ranges::find(contacts, r, &Reset::relation) == contacts.end() &&
           is_beyond(t, later) && !is_beyond(run.now.time, run.now.state);
  });
}

// Relations that no longer have their values after flights have been passed over.
Firing changed_on_the_way(Run& run) {
  Firing firing{{}, run.now.time, true, false, {}};
  const ModeId here = run.now.mode->analysed().id;
  if (!std::exchange(run.contacts.went_ahead, false) || view_of(run, here) == nullptr)
    return firing;
  const std::vector<Relation>& relations = run.system.flat()->reduced.relations;
  for (std::size_t g = 0; g < run.now.mode->mode().guards.size(); ++g) {
    const std::size_t r = source_of(run, here, g);
    if (r >= relations.size() || !may_be_held(run, r)) continue;
    const double side = run.now.state.value_of(relations[r].slot) != 0.0 ? 1.0 : -1.0;
    const RelationMotion motion = position_of(run, r, run.now.time, run.now.state);
    if (side * motion.value < -GuardWatch::kBand * motion.size) firing.guards.push_back(g);
  }
  return firing;
}

// What is still pressed together after impacts that no longer count, or are too many.
std::vector<Reset> pressed_contacts(Run& run) {
  std::vector<Reset> found;
  if (run.contacts.impact_time != run.now.time || run.contacts.impacts == 0) return found;
  bool approaches = false;
  for (const auto& [r, reset] : run.contacts.resets) {
    const RelationMotion motion = motion_of(run, r, run.now.flat_mode, run.now.time, run.now.state);
    const double rate = reset.sign * motion.rate;
    const double slow = std::max(kAtRest * run.contacts.hardest, kStrikes * motion.size);
    const bool at_rest = rate <= slow && (run.contacts.impacts == kMostImpacts || rate >= -slow);
    if (!reset.reverses || !at_rest || !is_near(reset, motion)) continue;
    approaches = approaches || rate < 0.0;
    found.push_back(reset);
  }
  if (!approaches) found.clear();
  return found;
}

}  // namespace saltus
