// What values at an event leave open: relations at zero, impulses, and discrete equations that no
// values satisfy.

#include <algorithm>
#include <cmath>

#include "base/processor_time.h"
#include "expr/differentiate.h"
#include "simulate/event_iteration.h"

namespace saltus {

// Relations a little ahead on the tangent, in relation_values_. A relation whose slope is zero as
// well (friction that just breaks away) needs a second, longer step.
bool EventIteration::evaluate_ahead(double t, const SystemState& settled, std::size_t mode,
                                    int steps) {
  ModeRun* run = visit_(mode);
  const double ahead = (steps == 1 ? kAhead : kFarAhead) * std::max(1.0, std::abs(t));
  SystemState probe = settled;
  const AnalysedMode& analysed = run->analysed();
  for (int k = 1; k <= steps; ++k) {
    for (std::size_t j = 0; j < analysed.unknowns.size(); ++j) {
      const std::size_t i = analysed.unknowns[j].index();
      if (analysed.differential[j]) probe.values[i] += ahead * probe.slopes[i];
    }
    if (!run->make_consistent(t + k * ahead, probe).ok()) return false;
  }
  evaluate(relation_values_, t + steps * ahead, probe);
  return true;
}

// Made for the choice of states in force.
EventIteration::Flow& EventIteration::flow_of(const ModeRun& run) {
  auto& [states, flow] = flows_[&run];
  if (flow == nullptr || states != run.states()) {
    const BuildingTime building;
    flow = std::make_unique<Flow>(run.dae());
    states = run.states();
  }
  return *flow;
}

// The flow of the mode solved last, up to this power, 0 to ask only whether there is one; false if
// its equations do not determine one.
bool EventIteration::expand_flow(int highest) {
  if (flow_run_ == nullptr) return false;
  if (flow_order_ >= highest || (flow_order_ >= 0 && flow_ == nullptr)) return flow_ != nullptr;
  ModeRun& run = flow_run_->starting_form();
  flow_at_.slots = flow_slots_;
  if (flow_order_ >= 0) {
    flow_->series.extend(run.data(), flow_at_, highest);
    flow_order_ = highest;
    return true;
  }
  flow_ = &flow_of(run);
  flow_order_ = highest;
  if (!flow_->series.expand(run.data(), flow_time_, run.point().data(), run.slope().data(),
                            flow_at_, largest_, highest))
    flow_ = nullptr;
  return flow_ != nullptr;
}

// The sign just after of what counts as zero now. It is judged zero here and by the guards of the
// mode (GuardWatch) with one threshold, so that both agree.
std::optional<int> EventIteration::sign_along_flow(std::size_t key, const Expr& value,
                                                   bool has_fired) {
  constexpr double kRounding = 1e-11;  // of the absolute terms of a coefficient
  constexpr int kSecondLook = 3;
  if (flow_run_ == nullptr) return {};
  ModeRun& run = flow_run_->starting_form();
  Flow& flow = flow_of(run);
  auto found = flow.watched.find(key);
  if (found == flow.watched.end()) {
    const BuildingTime building;
    found =
        flow.watched.emplace(key, FlowSeries::Watched(flow.series, run.analysed().rewrite(value)))
            .first;
  }
  const auto sign_of = [](const PowerSeries& series, int highest) {
    for (int k = 1; k <= std::min(highest, series.known - 1); ++k)
      if (std::abs(series.value[k]) > kRounding * series.size[k])
        return series.value[k] > 0.0 ? 1 : -1;
    return 0;
  };
  bool is_rounding = false;  // rather than zero by the equations
  const auto look_for_rounding = [&](const PowerSeries& series, int highest) {
    for (int k = 0; k <= std::min(highest, series.known - 1); ++k)
      is_rounding = is_rounding || series.size[k] > 0.0;
  };
  flow_at_.slots = slots_;
  // Functions of time, and what is zero by a factor, such as the direction of a clutch that does
  // not slip, need no flow.
  if (const PowerSeries* apart =
          flow.series.evaluate_apart(found->second, flow_time_, run.data(), flow_at_)) {
    if (const int sign = sign_of(*apart, PowerSeries::kHighest); sign != 0) return sign;
    look_for_rounding(*apart, PowerSeries::kHighest);
    if (has_fired && is_rounding) return {};
    return 0;
  }
  for (const int highest : {1, 2, kSecondLook, PowerSeries::kHighest}) {
    if (!expand_flow(highest)) return {};
    flow_at_.slots = slots_;
    const PowerSeries& series = flow_->series.evaluate(found->second, run.data(), flow_at_);
    if (const int sign = sign_of(series, highest); sign != 0) return sign;
    look_for_rounding(series, highest);
    if (series.known < highest) break;  // nothing more is to be had
    if (highest >= kSecondLook && !is_rounding &&
        (key >= model_.relations.size() || reads_unknowns_[key]))
      break;
  }
  // Came to zero and stays there to rounding only (slip that decays): nothing tells.
  if (has_fired && is_rounding) return {};
  return 0;
}

// An impulse exceeds every bound at once, whatever the value after it: push_ is the sign of the
// impulse of each relation. What comes from jumps of the size of rounding does not count.
void EventIteration::push_relations(double t, const SystemState& before, const SystemState& after) {
  constexpr double kSmallestJump = 1e-7;
  bool jumps = false;
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    const double size = std::max(std::abs(before.values[i]), system_.variables()[i].nominal);
    jumps = jumps || (impulses_.count(system_.variables()[i].name) == 0 &&
                      std::abs(after.values[i] - before.values[i]) > kSmallestJump * size);
  }
  if (!jumps) return;
  if (!pushes_) {
    pushes_ = std::make_unique<Pushes>();
    std::vector<Expr> coefficients;
    for (std::size_t r = 0; r < model_.relations.size(); ++r) {
      std::vector<Expr> leaves = leaves_of(model_.relations[r].value);
      std::erase_if(
          leaves, [](const Expr& leaf) { return !leaf.is_variable() || leaf.node()->order != 0; });
      const Expr value[] = {model_.relations[r].value};
      for (const JacobianEntry& entry : jacobian(value, leaves)) {
        coefficients.push_back(entry.value);
        pushes_->entries.emplace_back(r, leaves[entry.column].node()->index);
      }
    }
    pushes_->coefficients = Formulas(coefficients, state_inputs(system_));
  }
  evaluate(pushes_->coefficients, t, after);
  push_.assign(model_.relations.size(), 0.0);
  for (std::size_t k = 0; k < pushes_->entries.size(); ++k) {
    const auto& [r, variable] = pushes_->entries[k];
    const auto found = impulses_.find(system_.variables()[variable].name);
    if (found != impulses_.end()) push_[r] += pushes_->coefficients.values[k] * found->second;
  }
}

}  // namespace saltus
