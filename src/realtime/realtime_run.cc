#include "realtime/realtime_run.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/processor_time.h"
#include "realtime/input_table.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void sleep_until(double when) {
  timespec t{};
  t.tv_sec = static_cast<time_t>(when);
  t.tv_nsec = static_cast<long>(1e9 * (when - static_cast<double>(t.tv_sec)));
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
}

double quantile(std::vector<double>& values, double fraction) {
  if (values.empty()) return 0.0;
  const auto place = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

void ask_for_realtime(std::vector<std::string>& warnings) {
  sched_param parameter{};
  parameter.sched_priority = 80;
  if (sched_setscheduler(0, SCHED_FIFO, &parameter) != 0)
    warnings.push_back("no real-time scheduling: the system refuses SCHED_FIFO");
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
    warnings.push_back("memory is not locked: the system refuses mlockall");
}

// `latency`: with what was counted while it ran.
Latency summarize(Latency latency, std::vector<double>& plain, std::vector<double>& with_events,
                  std::vector<double>& late) {
  std::vector<double> all = plain;
  all.insert(all.end(), with_events.begin(), with_events.end());
  latency.steps = all.size();
  latency.event_steps = with_events.size();
  for (const double t : all) {
    latency.most = std::max(latency.most, t);
    const double bin = 2.0 * std::log2(std::max(t, 1e-7) / 1e-7);
    const auto k = static_cast<std::size_t>(bin);
    if (latency.histogram.size() <= k) latency.histogram.resize(k + 1, 0);
    ++latency.histogram[k];
  }
  latency.median = quantile(all, 0.5);
  latency.p999 = quantile(all, 0.999);
  latency.event_median = quantile(with_events, 0.5);
  for (const double t : late) latency.late_most = std::max(latency.late_most, t);
  latency.late_median = quantile(late, 0.5);
  return latency;
}

// At the samples, which are stored points of the offline run. Where an event falls on one, the side
// that is nearer counts: which of the two a sample shows is decided by the last digit.
std::vector<Deviation> compare(const HybridSystem& system, const SimulateResult& run,
                               double start_time, double step) {
  SimulateOptions options;
  options.start_time = start_time;
  options.stop_time = run.time;
  options.interval = step;
  options.tolerance = 1e-9;
  const SimulateResult offline = simulate(system, options);
  if (!offline.completed())
    throw Error("the offline run to compare with ended early: " + offline.message);
  const Trajectory& mine = run.trajectory;
  const Trajectory& other = offline.trajectory;
  std::map<std::string, std::size_t> places;
  for (std::size_t k = 0; k < other.signals.size(); ++k) places.emplace(other.signals[k].name, k);
  std::vector<Deviation> deviations;
  for (std::size_t s = 0; s < mine.signals.size(); ++s) {
    const auto found = places.find(mine.signals[s].name);
    if (found == places.end()) continue;
    Deviation d{.variable = mine.signals[s].name};
    double size = 0.0;
    std::size_t first = 0;
    for (std::size_t p = 0; p < mine.size(); ++p) {
      const double close = 1e-6 * step;
      while (first < other.size() && other.time[first] < mine.time[p] - close) ++first;
      double difference = std::numeric_limits<double>::infinity();
      for (std::size_t at = first; at < other.size() && other.time[at] <= mine.time[p] + close;
           ++at) {
        const double theirs = other.value(at, found->second);
        if (std::isfinite(theirs)) size = std::max(size, std::abs(theirs));
        difference = std::min(difference, std::abs(mine.value(p, s) - theirs));
      }
      if (!std::isfinite(difference) || !(difference > d.largest)) continue;
      d.largest = difference;
      d.time = mine.time[p];
    }
    d.relative = size > 0.0 ? d.largest / size : d.largest;
    deviations.push_back(std::move(d));
  }
  std::ranges::sort(deviations, std::ranges::greater{}, &Deviation::relative);
  return deviations;
}

}  // namespace

RealtimeResult run_realtime(const HybridSystem& system, const RealtimeRunOptions& given) {
  RealtimeRunOptions options = given;
  if (options.engine.rehearsal_inputs.empty()) options.engine.rehearsal_inputs = options.input_file;
  const bool is_linked = options.link.udp_port > 0 || !options.link.shared_memory.empty();
  if (is_linked && !options.input_file.empty())
    throw Error("inputs come from a file or over a link, not both");
  if (options.compare_offline && (is_linked || !options.input_file.empty()))
    throw Error("a run with inputs has no offline run to compare with");
  RealtimeResult result;
  SimulateResult& run = result.run;
  const double step = options.engine.step;
  const double begun = now();
  const double processor_begun = processor_seconds();
  RealtimeEngine engine(system, options.engine);
  std::vector<double> input_start;
  for (const RealtimeInput& input : engine.inputs()) {
    result.inputs.push_back(input.name);
    input_start.push_back(input.start);
  }
  if (is_linked && engine.inputs().empty())
    throw Error(fmt::format("{} has no inputs: declare `input Real u` in it", system.name()));
  run.statistics.analyse_seconds = processor_seconds() - processor_begun;
  run.model = system.name();
  run.method = "fixed-step";
  run.formulation = "reduced";
  result.step = step;
  result.prepared = engine.prepared_count();
  for (std::size_t k = 0; k < engine.mode_count(); ++k) {
    run.trajectory.mode_names.push_back(engine.mode(k).mode.name);
    ModeReport report;
    const FlatMode& flat = engine.mode(k);
    report.name = flat.mode.name;
    report.conditions = flat.conditions;
    report.unknowns = flat.unknowns;
    report.mu = flat.values.mu;
    report.d = flat.values.d;
    report.a = flat.values.a;
    report.v = flat.values.v;
    report.u = flat.values.u;
    run.modes.push_back(std::move(report));
  }
  for (std::size_t k = 0; k < engine.mode_count(); ++k) {
    if (!engine.is_prepared(k)) continue;
    if (engine.prepared(k).is_affine()) ++result.affine;
    result.states = std::max(result.states, engine.prepared(k).state_count());
  }

  const double start = options.engine.start_time.value_or(system.experiment.start_time);
  const double stop = options.engine.stop_time.value_or(system.experiment.stop_time);
  const auto samples =
      static_cast<std::size_t>(std::max(0.0, std::ceil((stop - start) / step - 1e-9)));
  const std::size_t width = engine.output_names().size();
  std::vector<double> row(width);
  Trajectory& trajectory = run.trajectory;
  for (const std::string& name : engine.output_names())
    trajectory.signals.push_back({name, {}, {}});
  if (options.store) {
    trajectory.time.reserve(samples + 1);
    trajectory.mode.reserve(samples + 1);
    trajectory.values.reserve((samples + 1) * width);
  }
  std::vector<double> plain, with_events, late;
  plain.reserve(samples);
  with_events.reserve(samples);
  if (options.paced) late.reserve(samples);
  const auto store = [&] {
    trajectory.time.push_back(engine.time());
    trajectory.mode.emplace_back(engine.present_mode());
    trajectory.values.insert(trajectory.values.end(), row.begin(), row.end());
  };
  engine.on_event = [&](const RealtimeEvent& event) {
    Event entry;
    entry.time = event.time;
    entry.from = engine.mode(event.from).mode.name;
    entry.to = engine.mode(event.to).mode.name;
    entry.kind = event.from != event.to ? "switch" : "discrete";
    entry.tags = {entry.kind};
    entry.iterations = event.rounds;
    for (const std::size_t r : event.relations) entry.causes.push_back(engine.relation_text(r));
    run.events.push_back(std::move(entry));
  };
  std::optional<InputTable> table;
  if (!options.input_file.empty()) table.emplace(options.input_file, engine.inputs());
  std::unique_ptr<InputLink> link;
  if (is_linked)
    link = std::make_unique<InputLink>(options.link, input_start.size(), width, input_start);
  if (options.is_realtime) ask_for_realtime(run.warnings);
  engine.read_outputs(row.data());
  if (options.store) store();
  const double clock_start = now();
  unsigned status = 0;
  for (std::size_t k = 0; k < samples; ++k) {
    if (options.paced) {
      const double due = clock_start + step * static_cast<double>(k);
      sleep_until(due);
      late.push_back(std::max(0.0, now() - due));
    }
    const double* inputs = table ? table->at(engine.time()) : link ? link->receive() : nullptr;
    // The processor's clock is a system call: only where there is time for it.
    const double computed_before = options.paced ? processor_seconds() : 0.0;
    const double before = now();
    status = engine.step(inputs);
    engine.read_outputs(row.data());
    const double took = now() - before;
    const double computed = options.paced ? processor_seconds() - computed_before : took;
    result.latency.overruns += computed > step ? 1 : 0;
    result.latency.interrupted += took > step && computed <= step ? 1 : 0;
    if (link) link->send(engine.time(), status, row.data());
    ((status & kEventTaken) != 0 ? with_events : plain).push_back(took);
    result.unprepared += (status & kModeUnprepared) != 0 ? 1 : 0;
    result.unsettled += (status & kNotSettled) != 0 ? 1 : 0;
    result.left += (status & kEventsLeft) != 0 ? 1 : 0;
    result.jumped += (status & kStateJumped) != 0 ? 1 : 0;
    result.not_finite += (status & kStateNotFinite) != 0 ? 1 : 0;
    result.rough += (status & kStepRough) != 0 ? 1 : 0;
    result.refused += (status & kInputRefused) != 0 ? 1 : 0;
    if (options.store) store();
    if ((status & kModelTerminated) != 0) break;
    if (options.stop_requested != nullptr && options.stop_requested->load()) break;
  }
  run.time = engine.time();
  run.statistics.steps = plain.size() + with_events.size();
  run.statistics.events = run.events.size();
  for (std::size_t k = 0; k < width; ++k) run.final[engine.output_names()[k]] = row[k];
  run.statistics.integrate_seconds = now() - clock_start;
  run.statistics.wall_seconds = now() - begun;
  result.latency = summarize(std::move(result.latency), plain, with_events, late);
  const bool is_full = options.engine.rounds == InstantRounds::kFull;
  const std::string where = fmt::format("at t = {:.10g}", run.time);
  if ((status & kModelTerminated) != 0) {
    run.reason = StopReason::kTerminated;
    run.message = fmt::format("{} {}", engine.message(), where);
  } else if (result.not_finite > 0) {
    run.reason = StopReason::kNotFinite;
    run.message =
        fmt::format("{} steps had no finite solution and held the state", result.not_finite);
  } else if (result.jumped > 0 || (result.unsettled > 0 && is_full)) {
    run.reason = StopReason::kInconsistent;
    run.message = fmt::format(
        "{} steps ended before their event was settled, {} entered a mode that "
        "takes an impulse",
        result.unsettled, result.jumped);
  } else if (run.statistics.steps < samples) {
    run.reason = StopReason::kInterrupted;
    run.message = "interrupted " + where;
  } else {
    run.message = fmt::format("reached {}", where);
  }
  if (result.unprepared > 0)
    run.warnings.push_back(
        fmt::format("{} steps held a mode because the one asked for was not "
                    "prepared",
                    result.unprepared));
  if (result.left > 0)
    run.warnings.push_back(
        fmt::format("{} samples had more than {} events; the rest came later, and what an impact "
                    "should have stopped went on until then (--max-events)",
                    result.left, options.engine.max_events));
  if (result.rough > 0)
    run.warnings.push_back(fmt::format(
        "{} steps were too long for what is not linear in them: their halves gave another "
        "result by more than 1e-3; take a shorter --step",
        result.rough));
  if (result.refused > 0)
    run.warnings.push_back(fmt::format(
        "{} samples had inputs that are not finite; the last values were held", result.refused));
  if (link) result.link = link->counts();
  if (options.compare_offline) result.deviations = compare(system, run, start, step);
  return result;
}

}  // namespace saltus
