#include "simulate/delays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/analysed_mode.h"
#include "base/error.h"

namespace saltus {

Delays::Delays(const HybridSystem& system, double start_time, double tolerance)
    : system_(system),
      delays_(system.flat()->reduced.delays),
      courses_(DelayLine::kPoints * delays_.size()),
      sizes_(delays_.size(), 0.0),
      tolerance_(tolerance),
      longest_step_(std::numeric_limits<double>::infinity()) {
  std::vector<Expr> values, durations, symbols;
  for (const Parameter& p : system.parameters()) {
    symbols.push_back(p.symbol);
    parameters_.push_back(p.value);
  }
  for (const Delay& d : delays_) {
    values.push_back(d.value);
    durations.push_back(d.duration);
  }
  values_ = Tape(values, state_inputs(system));
  registers_ = values_.make_workspace();
  std::vector<double> seconds(delays_.size());
  const Tape tape(durations, {symbols});
  Tape::Workspace registers = tape.make_workspace();
  const double* inputs[] = {parameters_.data()};
  tape.evaluate(inputs, registers, seconds.data());
  for (const double s : seconds)
    if (!(s > 0.0) || !std::isfinite(s))
      throw Error(fmt::format("delay() by {:g}: it must be positive", s));
  for (std::size_t k = 0; k < delays_.size(); ++k) {
    if (!delays_[k].line->claim()) {
      while (k-- > 0) delays_[k].line->release();
      throw Error("a model with delay() is simulated once at a time: make another one of it");
    }
    delays_[k].line->begin(start_time, seconds[k]);
    longest_step_ = std::min(longest_step_, seconds[k]);
  }
}

Delays::~Delays() {
  for (const Delay& d : delays_) d.line->release();
}

void Delays::store_step(ModeRun& run, const SystemState& start) {
  const double from = run.integrator().previous_time();
  const double to = run.integrator().time();
  if (!(to > from)) return;
  const auto times = DelayLine::points(from, to);
  point_ = start;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i + 1 == times.size()) {
      run.read_point(point_);
    } else if (i > 0) {
      run.read_interpolated(times[i], point_);
    }
    const double* inputs[] = {&times[i], point_.values.data(), point_.slopes.data(),
                              parameters_.data(), point_.slots.data()};
    values_.evaluate(inputs, registers_, &courses_[i * delays_.size()]);
  }
  for (std::size_t k = 0; k < delays_.size(); ++k) {
    std::array<double, DelayLine::kPoints> course{};
    for (std::size_t i = 0; i < course.size(); ++i) {
      course[i] = courses_[i * delays_.size() + k];
      sizes_[k] = std::max(sizes_[k], std::abs(course[i]));
    }
    constexpr double kOfTolerance = 1e-3;
    delays_[k].line->append(from, to, course, kOfTolerance * tolerance_ * sizes_[k]);
  }
}

void Delays::begin_event(double t) {
  arrived_ = -1;
  for (const Delay& d : delays_) {
    const int order = d.line->arrive(t);
    if (order >= 0 && (arrived_ < 0 || order < arrived_)) arrived_ = order;
  }
}

void Delays::end_event(double t, bool only_arrivals, SystemState& state) {
  constexpr int kOfEvents = 1;
  for (const Delay& d : delays_) {
    d.line->add_break(t, only_arrivals && arrived_ >= 0 ? arrived_ : kOfEvents);
    const Expr& next = system_.flat()->next_samples[d.sample];
    state.slots[next.node()->slot().index()] = d.line->next_arrival();
  }
}

}  // namespace saltus
