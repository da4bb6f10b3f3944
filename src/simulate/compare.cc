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
  void store(double /*time*/, ModeId /*mode*/, const double* /*values*/) override {}
};

struct Switch {
  double time;
  std::string to;
};

std::vector<Switch> switches_of(const SimulateResult& result) {
  std::vector<Switch> found;
  for (const Event& event : result.events)
    if (event.kind != "grazing") found.push_back({event.time, event.to});
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

Comparison compare(const HybridSystem& system, const CompareOptions& options) {
  if (options.methods.empty() || options.formulations.empty() || options.tolerances.empty())
    throw Error("nothing to compare: give at least one method, formulation and tolerance");
  NoPoints nowhere;
  SimulateOptions run = options.run;
  run.sink = &nowhere;
  Comparison result;
  const double tightest = *std::min_element(options.tolerances.begin(), options.tolerances.end());
  result.reference_tolerance = options.reference_tolerance > 0.0 ? options.reference_tolerance
                                                                 : std::max(1e-13, 1e-3 * tightest);
  run.tolerance = result.reference_tolerance;
  run.method = Method::kRadau;
  run.formulation = Formulation::kReduced;
  const SimulateResult reference = simulate(system, run);
  if (!reference.completed())
    throw Error(fmt::format("{}: the reference run at tolerance {:g} did not reach the end: {}",
                            system.name(), result.reference_tolerance, reference.message));
  const std::vector<Switch> switches = switches_of(reference);
  result.model = system.name();
  result.stop_time = reference.time;
  result.modes = sequence_of(reference, switches);
  // What a run is about; multipliers are not.
  const std::vector<VariableId> compared = differentiated_variables(system);

  run.measure_constraints = true;
  run.max_seconds = options.max_seconds;
  for (const Method method : options.methods) {
    for (const Formulation formulation : options.formulations) {
      for (const double tolerance : options.tolerances) {
        CompareRow& row = result.rows.emplace_back();
        row.method = run.method = method;
        row.formulation = run.formulation = formulation;
        row.tolerance = tolerance;
        run.tolerance = tolerance;
        row.switch_error = row.final_error = kNothing;
        row.note = objection_to(method, formulation);
        if (!row.note.empty()) {
          row.verdict = CompareVerdict::kNotPossible;
          continue;
        }
        const SimulateResult got = simulate(system, run);
        row.seconds = got.statistics.wall_seconds;
        row.steps = got.statistics.steps;
        row.rejected = got.statistics.rejected;
        row.residuals = got.residuals;
        if (got.reason == StopReason::kInterrupted) {
          result.rows.pop_back();
          return result;
        }
        const std::vector<Switch> mine = switches_of(got);
        const std::vector<std::string> sequence = sequence_of(got, mine);
        if (!got.completed()) {
          row.verdict = CompareVerdict::kStopped;
          row.note = got.message;
          continue;
        }
        if (sequence != result.modes) {
          row.verdict = CompareVerdict::kWrongSequence;
          row.note = describe_difference(result.modes, sequence);
          continue;
        }
        for (std::size_t k = 0; k < mine.size(); ++k)
          row.switch_error = std::fmax(row.switch_error, std::abs(mine[k].time - switches[k].time));
        for (const VariableId id : compared) {
          const Variable& v = system.variable(id);
          const auto wanted = reference.final.find(v.name);
          const auto value = got.final.find(v.name);
          if (wanted == reference.final.end() || value == got.final.end()) continue;
          const double error = std::abs(value->second - wanted->second);
          row.final_error =
              std::fmax(row.final_error, error / (std::abs(wanted->second) + v.nominal));
        }
        if (!got.warnings.empty()) row.note = got.warnings.front();
      }
    }
  }
  return result;
}

}  // namespace saltus
