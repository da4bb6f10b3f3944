// Contacts of flat models that come to rest together, and how any contact begins to be held.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "simulate/enter_mode.h"
#include "simulate/event_iteration.h"
#include "simulate/event_log.h"
#include "simulate/flat_contacts.h"
#include "simulate/run.h"
#include "simulate/settle.h"

namespace saltus {
namespace {

// A relation that moves less than so many bands between two resets cannot be followed any more.
constexpr double kLowestFlight = 10.0;
// A relation comes down with its rate after rising a quarter of rate x time.
constexpr double kRise = 4.0;
constexpr std::size_t kTimes = 4;  // that are remembered
// Two successive ratios of times may differ by this fraction of their distance from 1.
constexpr double kRatioAgreement = 0.5;

// The time from the last reset to the accumulation of the following ones, if they become steadily
// shorter; otherwise 0: what is left of them cannot be told.
double time_left(const std::vector<double>& times) {
  if (times.size() < kTimes) return 0.0;
  double length[kTimes - 1];
  for (std::size_t k = 0; k + 1 < kTimes; ++k) length[k] = times[k + 1] - times[k];
  const double ratio = length[2] / length[1];
  const double before = length[1] / length[0];
  const bool steady = ratio < 1.0 && std::abs(ratio - before) <= kRatioAgreement * (1.0 - ratio);
  return steady ? length[2] * ratio / (1.0 - ratio) : 0.0;
}

// This relation, just reset, and others that are reset as often: none of them gets away from zero
// by more than can be told before the next reset. Two balls that fall side by side have no
// acceleration against each other, so it takes the resets of all to see that they come to rest.
// Empty if there are no others.
std::vector<Reset> taking_turns(Run& run, std::size_t relation) {
  const Reset& own = run.contacts.resets.at(relation);
  const auto shrinks = [](const std::vector<double>& times) {
    const std::size_t n = times.size();
    return n >= 3 && times[n - 1] - times[n - 2] < times[n - 2] - times[n - 3];
  };
  if (!shrinks(own.times)) return {};
  const double flight = own.times.back() - own.times[own.times.size() - 2];
  const auto is_low = [&](const Reset& reset) {
    const RelationMotion motion =
        motion_of(run, reset.relation, run.now.flat_mode, run.now.time, run.now.state);
    const double low = kLowestFlight * GuardWatch::kBand * motion.size;
    return std::abs(motion.value) <= low && std::abs(motion.rate) * flight <= kRise * low &&
           std::abs(reset.rate_before) * flight <= kRise * kRise * low;
  };
  if (!is_low(own)) return {};
  std::vector<Reset> found = {own};
  for (const auto& [r, reset] : run.contacts.resets)
    if (r != relation && shrinks(reset.times) &&
        reset.times.back() >= run.now.time - kRise * flight && is_low(reset))
      found.push_back(reset);
  if (found.size() == 1) return {};
  return found;
}

}  // namespace

void remember_reset(Run& run, Reset reset, const SystemState& right) {
  Reset& last = run.contacts.resets[reset.relation];
  reset.times = std::move(last.times);
  if (reset.times.empty() || reset.times.back() != run.now.time) {
    if (reset.times.size() == kTimes) reset.times.erase(reset.times.begin());
    reset.times.push_back(run.now.time);
  }
  reset.previous = std::move(last.after);
  reset.after = right.values;
  last = std::move(reset);
}

// Holds relations that are reset in turns and have come to rest.
void follow_turns(Run& run) {
  for (const std::size_t r : run.contacts.now) {
    const std::vector<Reset> contacts = taking_turns(run, r);
    if (contacts.empty()) continue;
    const Reset& own = contacts.front();
    const double left = time_left(own.times);
    SystemState later = run.now.state;
    if (left > 0.0) {
      const double length = own.times.back() - own.times[own.times.size() - 2];
      for (std::size_t i = 0; i < own.previous.size(); ++i)
        later.values[i] += left / length * (own.after[i] - own.previous[i]);
    }
    if (is_beyond_another(run, contacts, run.now.time + left, later))
      hold_contacts(run, contacts, run.now.time, run.now.state.values);
    else
      hold_contacts(run, contacts, run.now.time + left, later.values);
    return;
  }
}

// Goes on at the time `rest`, where the resets accumulate, with these contacts closed. False if the
// run has stopped.
bool hold_contacts(Run& run, const std::vector<Reset>& contacts, double rest,
                   const std::vector<double>& values) {
  run.now.mode->watch().look_ahead(run.settings.stop_time);
  const double limit = std::min(run.settings.stop_time, run.now.mode->watch().next_time_event());
  SystemState left = run.now.state;
  if (rest > run.now.time && rest < limit) {
    run.now.time = run.instant.time = rest;
    run.instant.hops = 0;
    run.contacts.went_ahead = true;
    run.contacts.impact_time = rest;
    run.now.state.values = values;
    if (run.tangents != nullptr)
      run.tangents->give_up(fmt::format("events accumulate at t = {:.10g}", run.now.time));
    run.log.recorder->store(run.now.time, run.now.mode->analysed().id, run.now.state);
  }
  std::vector<std::string> names;
  for (const Reset& c : contacts)
    names.push_back(run.system.flat()->reduced.relations[c.relation].text);
  const std::string cause = fmt::format("{}: resets accumulate", fmt::join(names, ", "));
  const std::vector<Expr> surfaces = step_aside(run, cause);
  if (run.log.stopped) return false;
  run.now.left = surfaces.empty() ? std::move(left) : run.now.state;
  Event event = begin_event(run.now.time, run.now.mode->mode(), cause);
  for (const Reset& c : contacts) {
    run.contacts.held.push_back(c);
    run.contacts.resets.erase(c.relation);
  }
  const std::string place = place_of(run);
  run.contacts.probed = true;  // guards are to be armed in the mode entered
  std::string problem;
  try {
    if (!enter_with_contacts(run, run.now.flat_mode)) problem = run.log.result.message;
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!problem.empty()) {
    stop(run, StopReason::kEventStorm,
         fmt::format("resets accumulate {} (Zeno), and no mode holds '{}' at zero from there: "
                     "{}",
                     place, fmt::join(names, "', '"), problem));
    return false;
  }
  if (!run.contacts.held.empty()) {
    event.tags.emplace_back("zeno");
    log_entry(run, std::move(event), !surfaces.empty());
    if (run.log.stopped) return false;
  }
  slide_again(run, surfaces);
  return !run.log.stopped;
}

}  // namespace saltus
