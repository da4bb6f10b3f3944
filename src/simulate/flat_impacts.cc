// Impacts of flat models that follow from others at the same instant. A ball that lies on the floor
// and is struck from above hits the floor, and bounces from it by the floor's own reset, as it
// would if it had been a hair above; then it may strike back, and so on. A relation that is true
// already does not fire again by itself.

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulate/event_iteration.h"
#include "simulate/flat_contacts.h"
#include "simulate/simulation.h"

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

}  // namespace

bool FlatContacts::is_near(const Reset& reset, const Motion& motion) {
  const double value = reset.sign * motion.value / motion.size;
  return value <= kClosedAbove && value >= -kClosedBelow;
}

// The rate towards the contact, in sizes of the relation; not positive if it is not closed.
double FlatContacts::approach_of(const Reset& reset, std::size_t flat_mode) {
  const Motion motion = motion_of(reset.relation, flat_mode, run_.time_, run_.state_);
  if (!reset.reverses || !is_near(reset, motion)) return 0.0;
  return -reset.sign * motion.rate / motion.size;
}

// Whether the relation has the value it takes when it fires.
bool FlatContacts::is_closed(const Reset& reset) const {
  const Expr& slot = run_.system_.flat()->reduced.relations[reset.relation].slot;
  return (run_.state_.value_of(slot) != 0.0) != (reset.sign > 0.0);
}

bool FlatContacts::is_struck(const Reset& reset, std::size_t flat_mode) {
  return approach_of(reset, flat_mode) > kStrikes;
}

const Firing* FlatContacts::next_impact() {
  if (impact_time_ != run_.time_ || impacts_ == kMostImpacts ||
      run_.view_of(run_.run_->analysed().id) == nullptr)
    return nullptr;
  const Reset* next = nullptr;
  double fastest = kStrikes;
  for (const auto& [r, reset] : resets_) {
    if (!is_closed(reset)) continue;  // it fires by itself
    const double approach = approach_of(reset, run_.flat_mode_);
    const double size = place_of(r, run_.time_, run_.state_).size;
    if (approach <= fastest || approach * size <= kAtRest * hardest_) continue;
    fastest = approach;
    next = &reset;
  }
  if (next == nullptr) return nullptr;
  const ModeId here = run_.run_->analysed().id;
  for (std::size_t g = 0; g < run_.run_->mode().guards.size(); ++g) {
    if (run_.source_of(here, g) != next->relation) continue;
    ++impacts_;
    run_.events_->rearm(run_.time_, run_.state_, next->relation);
    impact_ = Firing{{g}, run_.time_, true, false, {}};
    return &impact_;
  }
  return nullptr;
}

// Whether something else would be beyond its own contact at the time these come to rest.
bool FlatContacts::is_beyond_another(const std::vector<Reset>& contacts, double t,
                                     const SystemState& later) {
  return std::ranges::any_of(resets_, [&](const auto& entry) {
    const std::size_t r = entry.first;
    const auto& other = entry.second;
    const auto is_beyond = [&](double time, const SystemState& state) {
      const Motion motion = place_of(r, time, state);
      return other.sign * motion.value < -GuardWatch::kBand * motion.size;
    };
    return std::ranges::find(contacts, r, &Reset::relation) == contacts.end() &&
           is_beyond(t, later) && !is_beyond(run_.time_, run_.state_);
  });
}

// Relations that no longer have their values after flights have been passed over.
Firing FlatContacts::changed_on_the_way() {
  Firing firing{{}, run_.time_, true, false, {}};
  const ModeId here = run_.run_->analysed().id;
  if (!std::exchange(went_ahead_, false) || run_.view_of(here) == nullptr) return firing;
  const std::vector<Relation>& relations = run_.system_.flat()->reduced.relations;
  for (std::size_t g = 0; g < run_.run_->mode().guards.size(); ++g) {
    const std::size_t r = run_.source_of(here, g);
    if (r >= relations.size() || !may_be_held(r)) continue;
    const double side = run_.state_.value_of(relations[r].slot) != 0.0 ? 1.0 : -1.0;
    const Motion motion = place_of(r, run_.time_, run_.state_);
    if (side * motion.value < -GuardWatch::kBand * motion.size) firing.guards.push_back(g);
  }
  return firing;
}

// What is still pressed together after impacts that no longer count, or are too many.
std::vector<FlatContacts::Reset> FlatContacts::pressed() {
  std::vector<Reset> found;
  if (impact_time_ != run_.time_ || impacts_ == 0) return found;
  bool approaches = false;
  for (const auto& [r, reset] : resets_) {
    const Motion motion = motion_of(r, run_.flat_mode_, run_.time_, run_.state_);
    const double rate = reset.sign * motion.rate;
    const double slow = std::max(kAtRest * hardest_, kStrikes * motion.size);
    const bool at_rest = rate <= slow && (impacts_ == kMostImpacts || rate >= -slow);
    if (!reset.reverses || !at_rest || !is_near(reset, motion)) continue;
    approaches = approaches || rate < 0.0;
    found.push_back(reset);
  }
  if (!approaches) found.clear();
  return found;
}

}  // namespace saltus
