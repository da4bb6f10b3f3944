// Contacts of flat models that come to rest together, and how any contact begins to be held.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "simulate/event_iteration.h"
#include "simulate/flat_contacts.h"
#include "simulate/simulation.h"

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

}  // namespace

void FlatContacts::remember(Reset reset, const SystemState& right) {
  Reset& last = resets_[reset.relation];
  reset.times = std::move(last.times);
  if (reset.times.empty() || reset.times.back() != run_.time_) {
    if (reset.times.size() == kTimes) reset.times.erase(reset.times.begin());
    reset.times.push_back(run_.time_);
  }
  reset.previous = std::move(last.after);
  reset.after = right.values;
  last = std::move(reset);
}

// This relation, just reset, and others that are reset as often: none of them gets away from zero
// by more than can be told before the next reset. Two balls that fall side by side have no
// acceleration against each other, so it takes the resets of all to see that they come to rest.
// Empty if there are no others.
std::vector<FlatContacts::Reset> FlatContacts::taking_turns(std::size_t relation) {
  const Reset& own = resets_.at(relation);
  const auto shrinks = [](const std::vector<double>& times) {
    const std::size_t n = times.size();
    return n >= 3 && times[n - 1] - times[n - 2] < times[n - 2] - times[n - 3];
  };
  if (!shrinks(own.times)) return {};
  const double flight = own.times.back() - own.times[own.times.size() - 2];
  const auto is_low = [&](const Reset& reset) {
    const Motion motion = motion_of(reset.relation, run_.flat_mode_, run_.time_, run_.state_);
    const double low = kLowestFlight * GuardWatch::kBand * motion.size;
    return std::abs(motion.value) <= low && std::abs(motion.rate) * flight <= kRise * low &&
           std::abs(reset.rate_before) * flight <= kRise * kRise * low;
  };
  if (!is_low(own)) return {};
  std::vector<Reset> found = {own};
  for (const auto& [r, reset] : resets_)
    if (r != relation && shrinks(reset.times) &&
        reset.times.back() >= run_.time_ - kRise * flight && is_low(reset))
      found.push_back(reset);
  if (found.size() == 1) return {};
  return found;
}

// Holds relations that are reset in turns and have come to rest.
void FlatContacts::follow_turns() {
  for (const std::size_t r : now_) {
    const std::vector<Reset> contacts = taking_turns(r);
    if (contacts.empty()) continue;
    const Reset& own = contacts.front();
    const double left = time_left(own.times);
    SystemState later = run_.state_;
    if (left > 0.0) {
      const double length = own.times.back() - own.times[own.times.size() - 2];
      for (std::size_t i = 0; i < own.previous.size(); ++i)
        later.values[i] += left / length * (own.after[i] - own.previous[i]);
    }
    if (is_beyond_another(contacts, run_.time_ + left, later))
      hold(contacts, run_.time_, run_.state_.values);
    else
      hold(contacts, run_.time_ + left, later.values);
    return;
  }
}

// Goes on at the time `rest`, where the resets accumulate, with these contacts closed. False if the
// run has stopped.
bool FlatContacts::hold(const std::vector<Reset>& contacts, double rest,
                        const std::vector<double>& values) {
  run_.run_->watch().look_ahead(run_.stop_time_);
  const double limit = std::min(run_.stop_time_, run_.run_->watch().next_time_event());
  SystemState left = run_.state_;
  if (rest > run_.time_ && rest < limit) {
    run_.time_ = run_.last_event_ = rest;
    run_.hops_ = 0;
    went_ahead_ = true;
    impact_time_ = rest;
    run_.state_.values = values;
    if (run_.tangents_ != nullptr)
      run_.tangents_->give_up(fmt::format("events accumulate at t = {:.10g}", run_.time_));
    run_.recorder_->store(run_.time_, run_.run_->analysed().id, run_.state_);
  }
  std::vector<std::string> names;
  for (const Reset& c : contacts)
    names.push_back(run_.system_.flat()->reduced.relations[c.relation].text);
  const std::string cause = fmt::format("{}: resets accumulate", fmt::join(names, ", "));
  const std::vector<Expr> surfaces = run_.chattering_.step_aside(cause);
  if (run_.stopped_) return false;
  run_.left_ = surfaces.empty() ? std::move(left) : run_.state_;
  Event event = begin_event(run_.time_, run_.run_->mode(), cause);
  for (const Reset& c : contacts) {
    held_.push_back(c);
    resets_.erase(c.relation);
  }
  const std::string place = run_.place();
  probed_ = true;  // guards are to be armed in the mode entered
  std::string problem;
  try {
    if (!enter(run_.flat_mode_)) problem = run_.result_.message;
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!problem.empty()) {
    run_.stop(StopReason::kEventStorm,
              fmt::format("resets accumulate {} (Zeno), and no mode holds '{}' at zero from there: "
                          "{}",
                          place, fmt::join(names, "', '"), problem));
    return false;
  }
  if (holding()) {
    event.tags.emplace_back("zeno");
    if (!log_entry(std::move(event), !surfaces.empty())) return false;
  }
  run_.chattering_.slide_again(surfaces);
  return !run_.stopped_;
}

}  // namespace saltus
