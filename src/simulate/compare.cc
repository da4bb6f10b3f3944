#include "simulate/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulate/recorder.h"

namespace saltus {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// Points are not looked at, so none are kept.
class NoPoints : public ResultSink {
 public:
  void begin(const Trajectory& /*layout*/) override {}
  void store(double /*time*/, ModeId /*mode*/, const double* /*columns*/) override {}
};

struct Switch {
  double time;
  std::string to;
};

bool changes_modes(const SimulateResult& result) {
  return std::any_of(result.events.begin(), result.events.end(),
                     [](const Event& event) { return event.from != event.to; });
}

// Changes of mode; of a system that stays in its mode, all events.
std::vector<Switch> switches_of(const SimulateResult& result, bool all) {
  std::vector<Switch> found;
  for (const Event& event : result.events)
    if (event.from != event.to || (all && event.kind != "grazing"))
      found.push_back({event.time, event.to});
  return found;
}

std::vector<std::string> sequence_of(const SimulateResult& result,
                                     const std::vector<Switch>& switches) {
  std::vector<std::string> names;
  if (!result.modes.empty()) names.push_back(result.modes.front().name);
  for (const Switch& s : switches) names.push_back(s.to);
  return names;
}

// The first place where two sequences of modes part.
std::string describe_difference(const std::vector<std::string>& wanted,
                                const std::vector<std::string>& got) {
  std::size_t k = 0;
  while (k < wanted.size() && k < got.size() && wanted[k] == got[k]) ++k;
  const auto name = [&](const std::vector<std::string>& names) {
    return k < names.size() ? fmt::format("'{}'", names[k]) : std::string("the end");
  };
  return fmt::format("wrong mode sequence: after {} events {} instead of {}", k == 0 ? 0 : k - 1,
                     name(got), name(wanted));
}

}  // namespace

const char* to_string(CompareVerdict verdict) {
  switch (verdict) {
    case CompareVerdict::kRight:
      return "right";
    case CompareVerdict::kWrongSequence:
      return "wrong-sequence";
    case CompareVerdict::kStopped:
      return "stopped";
    case CompareVerdict::kNotPossible:
      return "not-possible";
  }
  return "unknown";
}

namespace {

// What is to be run, without the same run twice.
std::vector<CompareRow> list_runs(const CompareOptions& options) {
  std::vector<CompareRow> runs;
  for (const Method method : options.methods) {
    std::vector<Formulation> formulations = options.formulations;
    if (formulations.empty())
      for (const Formulation f : kFormulations)
        if (objection_to(method, formulation_for(method, f)).empty()) formulations.push_back(f);
    std::vector<Formulation> listed;
    for (Formulation f : formulations) {
      f = formulation_for(method, f);
      if (std::find(listed.begin(), listed.end(), f) != listed.end()) continue;
      listed.push_back(f);
      for (const double tolerance : options.tolerances) {
        CompareRow& row = runs.emplace_back();
        row.method = method;
        row.formulation = f;
        row.tolerance = tolerance;
        row.switch_error = row.final_error = kNothing;
      }
    }
  }
  return runs;
}

std::string name_of(const CompareRow& row) {
  return fmt::format("{} {} {:g}", to_string(row.method), to_string(row.formulation),
                     row.tolerance);
}

// What a run is held against.
struct Reference {
  const HybridSystem& system;
  SimulateResult result;
  std::vector<Switch> switches;
  std::vector<std::string> modes;
  std::vector<VariableId> compared;  // what a run is about; multipliers are not
};

void judge(const SimulateResult& got, const Reference& reference, CompareRow& row) {
  row.seconds = got.statistics.integrate_seconds;
  row.wall_seconds = got.statistics.wall_seconds;
  row.steps = got.statistics.steps;
  row.rejected = got.statistics.rejected;
  row.residuals = got.residuals;
  if (!got.completed()) {
    row.verdict = CompareVerdict::kStopped;
    row.note = got.message;
    return;
  }
  const std::vector<Switch> mine = switches_of(got, !changes_modes(reference.result));
  const std::vector<std::string> sequence = sequence_of(got, mine);
  if (sequence != reference.modes) {
    row.verdict = CompareVerdict::kWrongSequence;
    row.note = describe_difference(reference.modes, sequence);
    return;
  }
  for (std::size_t k = 0; k < mine.size(); ++k)
    row.switch_error =
        std::fmax(row.switch_error, std::abs(mine[k].time - reference.switches[k].time));
  for (const VariableId id : reference.compared) {
    const Variable& v = reference.system.variable(id);
    const auto wanted = reference.result.final.find(v.name);
    const auto value = got.final.find(v.name);
    if (wanted == reference.result.final.end() || value == got.final.end()) continue;
    const double error = std::abs(value->second - wanted->second);
    row.final_error = std::fmax(row.final_error, error / (std::abs(wanted->second) + v.nominal));
  }
  if (!got.warnings.empty()) row.note = got.warnings.front();
}

}  // namespace

Comparison compare(const HybridSystem& system, const CompareOptions& options) {
  if (options.methods.empty() || options.tolerances.empty())
    throw Error("nothing to compare: give at least one method and one tolerance");
  NoPoints nowhere;
  SimulateOptions run = options.run;
  run.sink = &nowhere;
  run.interval = 0.0;  // no work for points between steps
  Comparison result;
  const std::vector<CompareRow> runs = list_runs(options);
  result.runs = runs.size();
  const auto show = [&](std::size_t k, const std::string& name) {
    if (!options.progress) return;
    run.progress = [&options, &runs, k, name](double time) {
      options.progress(k, runs.size(), name, time);
    };
    run.progress(run.start_time.value_or(system.experiment.start_time));
  };
  const double tightest = *std::min_element(options.tolerances.begin(), options.tolerances.end());
  result.reference_tolerance = options.reference_tolerance > 0.0 ? options.reference_tolerance
                                                                 : std::max(1e-13, 1e-3 * tightest);
  run.tolerance = result.reference_tolerance;
  run.method = Method::kRadau;
  run.formulation = Formulation::kReduced;
  show(0, fmt::format("reference {:g}", result.reference_tolerance));
  Reference reference{system, simulate(system, run), {}, {}, differentiated_variables(system)};
  if (!reference.result.completed())
    throw Error(fmt::format("{}: the reference run at tolerance {:g} did not reach the end: {}",
                            system.name(), result.reference_tolerance, reference.result.message));
  reference.switches = switches_of(reference.result, !changes_modes(reference.result));
  reference.modes = sequence_of(reference.result, reference.switches);
  result.model = system.name();
  result.stop_time = reference.result.time;
  result.modes = reference.modes;

  run.measure_constraints = true;
  run.max_seconds = options.max_seconds;
  for (CompareRow row : runs) {
    run.method = row.method;
    run.formulation = row.formulation;
    run.tolerance = row.tolerance;
    row.note = objection_to(row.method, row.formulation);
    row.verdict = CompareVerdict::kNotPossible;
    if (row.note.empty()) {
      show(result.rows.size() + 1, name_of(row));
      try {
        const SimulateResult got = simulate(system, run);
        if (got.reason == StopReason::kInterrupted) return result;
        row.verdict = CompareVerdict::kRight;
        judge(got, reference, row);
      } catch (const Error& error) {
        // Wrong for every run, or only for this method?
        if (row.method == Method::kRadau || row.method == Method::kBdf) throw;
        row.note = error.what();
      }
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace saltus
