#include "simulate/just_after.h"

#include <algorithm>
#include <cmath>

#include "base/processor_time.h"
#include "simulate/mode_run.h"

namespace saltus {
namespace {

int sign_of(const PowerSeries& series, int highest, double rounding) {
  for (int k = 1; k <= std::min(highest, series.known - 1); ++k)
    if (std::abs(series.value[k]) > rounding * series.size[k])
      return series.value[k] > 0.0 ? 1 : -1;
  return 0;
}

// Overflow on the way to a coefficient leaves none to judge by.
bool is_finite(const PowerSeries& series, int highest) {
  for (int k = 0; k <= std::min(highest, series.known - 1); ++k)
    if (!std::isfinite(series.value[k]) || !std::isfinite(series.size[k])) return false;
  return true;
}

// Whether it vanishes by rounding, rather than by the equations.
bool is_rounding(const PowerSeries& series, int highest) {
  for (int k = 0; k <= std::min(highest, series.known - 1); ++k)
    if (series.size[k] > 0.0) return true;
  return false;
}

FlowSeries::Watched& watched(ModeFlow& flow, const ModeRun& form, const Expr& value) {
  const auto found = flow.watched.find(value.node());
  if (found != flow.watched.end()) return found->second;
  const BuildingTime building;
  return flow.watched
      .emplace(value.node(), FlowSeries::Watched(flow.series, form.analysed().rewrite(value)))
      .first->second;
}

}  // namespace

void JustAfter::note_magnitudes(const HybridSystem& system, const SystemState& state) {
  largest_.values.resize(state.values.size(), 0.0);
  largest_.slopes.resize(state.values.size(), 0.0);
  for (std::size_t i = 0; i < state.values.size(); ++i) {
    largest_.values[i] =
        std::max({largest_.values[i], std::abs(state.values[i]), system.variables()[i].nominal});
    largest_.slopes[i] = std::max(largest_.slopes[i], std::abs(state.slopes[i]));
  }
}

void JustAfter::stand_at(ModeRun& mode, double t, const SystemState& at) {
  mode_ = &mode;
  order_ = -1;
  time_ = t;
  at_ = at;
  slots_ = at.slots;
}

bool JustAfter::expand(int highest) {
  if (mode_ == nullptr) return false;
  if (order_ >= highest || (order_ >= 0 && flow_ == nullptr)) return flow_ != nullptr;
  ModeRun& form = mode_->starting_form();
  at_.slots = slots_;
  if (order_ >= 0) {
    flow_->series.extend(form.data(), at_, highest);
    order_ = highest;
    return true;
  }
  flow_ = &form.flow();
  order_ = highest;
  if (!flow_->series.expand(form.data(), time_, form.point().data(), form.slope().data(), at_,
                            largest_, highest))
    flow_ = nullptr;
  return flow_ != nullptr;
}

std::optional<int> JustAfter::sign(const Expr& value, const std::vector<double>& slots,
                                   Question question) {
  constexpr int kSecondLook = 3;
  if (mode_ == nullptr) return {};
  ModeRun& form = mode_->starting_form();
  ModeFlow& flow = form.flow();
  FlowSeries::Watched& formula = watched(flow, form, value);
  at_.slots = slots;
  // Functions of time, and what is zero by a factor, such as the direction of a clutch that does
  // not slip, need no flow.
  if (const PowerSeries* apart = flow.series.evaluate_apart(formula, time_, form.data(), at_)) {
    if (const int sign = sign_of(*apart, PowerSeries::kHighest, question.rounding); sign != 0)
      return sign;
    if (question.must_move && is_rounding(*apart, PowerSeries::kHighest)) return {};
    return 0;
  }
  bool rounding = false;
  for (const int highest : {1, 2, kSecondLook, PowerSeries::kHighest}) {
    if (!expand(highest)) return {};
    at_.slots = slots;
    const PowerSeries& series = flow_->series.evaluate(formula, form.data(), at_);
    if (const int sign = sign_of(series, highest, question.rounding); sign != 0) return sign;
    if (!is_finite(series, highest)) return {};
    rounding = rounding || is_rounding(series, highest);
    if (series.known < highest) break;  // nothing more is to be had
    if (highest >= kSecondLook && !rounding && question.reads_unknowns) break;
  }
  // Came to zero and stays there to rounding only (slip that decays): nothing tells.
  if (question.must_move && rounding) return {};
  return 0;
}

std::optional<double> JustAfter::rate(const Expr& value, const std::vector<double>& slots) {
  for (const int highest : {1, 2}) {  // an algebraic unknown follows one power behind
    if (!expand(highest)) return {};
    ModeRun& form = mode_->starting_form();
    FlowSeries::Watched& formula = watched(*flow_, form, value);
    at_.slots = slots;
    const PowerSeries& series = flow_->series.evaluate(formula, form.data(), at_);
    if (series.known >= 2) return series.value[1];
  }
  return {};
}

}  // namespace saltus
