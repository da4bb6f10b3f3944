#include "simulate/enter_mode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/build.h"
#include "simulate/event_iteration.h"
#include "simulate/first_integral.h"
#include "simulate/growth_rate.h"
#include "simulate/run.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// The state of the mode before into this one, by the impulse rule; false if it is refused.
bool transfer_state(Run& run, const SystemState& before) {
  run.instant.set.resize(run.system.variables().size(), false);
  // The event iteration of a flat model has judged its relations itself.
  run.instant.transfer =
      run.now.mode->transfer(run.now.time, before, run.instant.set,
                             run.instant.within_region && run.events == nullptr, run.now.state);
  std::fill(run.instant.set.begin(), run.instant.set.end(), false);
  const auto name = [&](std::size_t unknown) {
    return run.system.variable(run.now.mode->analysed().unknowns[unknown]).name;
  };
  if (run.instant.transfer.status == TransferStatus::kRefused) {
    stop(run, StopReason::kInconsistent,
         fmt::format(
             "'{}' would have to jump from {:.10g} to {:.10g} {}, which no finite impulse "
             "can do; let the transition set it, or write the constraint with the offset "
             "that it has when it begins",
             name(run.instant.transfer.unknown),
             before.values[run.now.mode->analysed().unknowns[run.instant.transfer.unknown].index()],
             run.instant.transfer.wanted, place_of(run)));
    return false;
  }
  if (run.instant.transfer.status == TransferStatus::kNoPoint) {
    stop(run, StopReason::kInconsistent,
         fmt::format("no consistent point {} can be reached by impulses of its constraints; let "
                     "the transition set the values that jump",
                     place_of(run)));
    return false;
  }
  if (run.instant.transfer.by_least_change) {
    std::vector<std::string> changes;
    for (const std::size_t j : run.instant.transfer.not_kept) {
      const std::size_t i = run.now.mode->analysed().unknowns[j].index();
      changes.push_back(fmt::format("'{}' from {:.6g} to {:.6g}", name(j), before.values[i],
                                    run.now.state.values[i]));
    }
    run.log.result.warnings.push_back(
        changes.empty()
            ? fmt::format("values that jump {} were changed as little as the constraints allow, "
                          "not by impulses",
                          place_of(run))
            : fmt::format("what the transition sets contradicts the equations {}; changed as "
                          "little as possible: {}",
                          place_of(run), fmt::join(changes, ", ")));
  }
  return true;
}

ConsistentOutcome find_point(Run& run, bool at_start) {
  if (!at_start) return run.now.mode->make_consistent(run.now.time, run.now.state);
  std::vector<bool> fixed;
  for (const Variable& v : run.system.variables()) fixed.push_back(v.fixed);
  return run.now.mode->make_start_consistent(run.now.time, run.now.state, fixed);
}

// The initial equations have been solved with fewer hidden constraints than numbers have found.
ConsistentOutcome find_point_by_numbers(Run& run, ModeId id, bool starts, std::string& culprit) {
  const FlatView* view = starts && run.events != nullptr ? view_of(run, id) : nullptr;
  if (view == nullptr || run.system.flat()->reduced.initial_equations.empty())
    return find_point(run, starts);
  return run.events->start_in(run.now.time, *run.now.mode, view->flat_mode, run.now.state, culprit);
}

// Start values of integrated variables are kept if possible; the user is told where they were not.
void report_changed_starts(Run& run, const std::vector<double>& starts) {
  const AnalysedMode& mode = run.now.mode->analysed();
  std::vector<std::string> changes;
  for (std::size_t j = 0; j < mode.unknowns.size(); ++j) {
    const Variable& v = run.system.variable(mode.unknowns[j]);
    const double start = starts[mode.unknowns[j].index()];
    const double value = run.now.state.values[mode.unknowns[j].index()];
    if (mode.differential[j] && std::abs(value - start) > 1e-9 * (std::abs(start) + v.nominal))
      changes.push_back(fmt::format("'{}' from {:.6g} to {:.6g}", v.name, start, value));
  }
  if (!changes.empty())
    run.log.result.warnings.push_back(fmt::format(
        "start values were changed to satisfy the equations: {}", fmt::join(changes, ", ")));
}

// Whether a mode integrated as written is strangeness-free at the present point.
bool structure_holds(Run& run) {
  if (!run.now.mode->integrated_as_written()) return true;  // the choice of states has shown it
  const BuildingTime building;
  const RankReport ranks = run.now.mode->measure_ranks(run.now.time);
  run.now.mode->report().d = ranks.values.d;
  run.now.mode->report().a = ranks.values.a;
  return ranks.strangeness_free;
}

// Where the equations do not determine the highest derivatives, the index may be higher than
// structure says. Numbers decide if they find a regular form that says something else.
bool numbers_disagree(Run& run, ModeId id) {
  const ModeRun& mode = *run.now.mode;
  if (mode.analysed().unknowns.size() > kLargestByNumbers ||
      run.settings.options.method == Method::kHalfExplicit ||
      mode.highest_level_is_regular(run.now.time))
    return false;
  const BuildingTime building;
  try {
    return analyse_by_numbers(run.system, id, run.now.time, run.now.state)->values !=
           mode.analysed().values;
  } catch (const Error&) {
    return false;
  }
}

// Where guards of the mode just entered are zero and stay so because they are first integrals, the
// run goes on in the mode with these constraints. True if it has done so, or stopped.
bool stay_within_first_integrals(Run& run, bool at_start) {
  if (run.events != nullptr && run.now.mode->analysed().unknowns.size() > kLargestByNumbers)
    return false;
  const ModeId id = run.now.mode->analysed().id;
  std::vector<std::size_t> zero = run.now.mode->watch().at_zero(
      run.now.time, run.now.mode->point().data(), run.now.mode->slope().data());
  // In flat models many relations rest at zero. Integrators keep what is linear there by
  // themselves.
  if (run.events != nullptr)
    std::erase_if(zero, [&](std::size_t g) {
      const Guard& guard = run.now.mode->mode().guards[g];
      return !guard.is_relation || !is_curved(in_states(*run.now.mode, guard.value));
    });
  if (zero.empty()) return false;
  KnownGuards& known = run.known_guards[id];
  std::map<std::size_t, bool>& answers = known.is_first_integral[run.now.state.slots];
  bool moved = false;
  for (const std::size_t g : zero) {
    if (answers.contains(g)) continue;
    const BuildingTime building;
    answers[g] = is_first_integral(run.system, *run.now.mode, g, run.now.time, run.now.state);
    moved = true;
  }
  if (moved) run.now.mode->make_consistent(run.now.time, run.now.state);
  std::erase_if(zero, [&](std::size_t g) { return !answers[g]; });
  if (zero.empty()) return false;
  const auto found = known.constrained.find(zero);
  ModeId next;
  if (found != known.constrained.end()) {
    next = found->second;
  } else {
    Mode mode = constrain(run.now.mode->mode(), zero);
    std::vector<std::string> names;
    for (const std::size_t g : zero) names.push_back(run.now.mode->mode().guards[g].name);
    run.log.result.warnings.push_back(
        fmt::format("guard '{}' of mode '{}' is constant along its solutions and zero {}: it is "
                    "kept as a constraint and cannot fire",
                    fmt::join(names, "', '"), run.now.mode->mode().name, place_of(run)));
    next = add_mode(run, std::move(mode));
    known.constrained.emplace(zero, next);
    inherit_chattering(run, id, next, zero);
    if (const FlatView* view = view_of(run, id)) {
      FlatView within{view->flat_mode, {}, {}};
      for (std::size_t g = 0; g < view->guards.size(); ++g) {
        if (std::ranges::find(zero, g) != zero.end()) continue;
        within.guards.push_back(view->guards[g]);
        within.contacts.push_back(view->contacts[g]);
      }
      run.modes.views.emplace(next, std::move(within));
    }
  }
  --run.now.mode->report().visits;
  enter(run, next, at_start);
  return true;
}

}  // namespace

void warn_of_unstable_rest(Run& run) {
  const Dae& dae = run.now.mode->dae();
  const std::vector<double>& x = run.now.mode->point();
  const std::vector<double>& dx = run.now.mode->slope();
  const double length = run.settings.length();
  bool moves = false;
  bool rests = false;
  for (std::size_t j = 0; j < std::min(dx.size(), dae.unknown_count()); ++j) {
    if (!dae.is_differential(j)) continue;
    const double nominal = dae.definition().nominal[j];
    const double visible =
        run.settings.options.absolute_tolerance.value_or(run.settings.tolerance * nominal);
    rests = true;
    moves = moves || std::abs(dx[j]) * length > visible + run.settings.tolerance * std::abs(x[j]);
  }
  if (!rests || moves) return;
  const std::optional<Growth> growth =
      fastest_growth(dae, run.now.mode->data(), run.now.time, x.data(), dx.data());
  if (!growth || growth->rate * length < std::log(run.settings.tolerance / kEpsilon)) return;
  run.rounding.silence();
  run.log.result.warnings.push_back(fmt::format(
      "the run starts at rest within the tolerance, but the rest is unstable: small changes of "
      "'{}' "
      "grow by a factor of ten every {:.3g} s, so that rounding and what is below the tolerance "
      "decide what follows; start elsewhere, or give a smaller nominal value or "
      "--absolute-tolerance if the start is meant",
      run.now.mode->unknown_name(growth->unknown), std::log(10.0) / growth->rate));
}

bool enter(Run& run, ModeId id, bool at_start) {
  if (run.now.mode != nullptr)
    run.now.mode->report().seconds += RunClock::since(run.clock.mode_entered);
  run.clock.mode_entered = RunClock::Clock::now();
  run.now.mode = &visit(run, id);
  const bool first_visit = run.now.mode->report().visits++ == 0;
  const SystemState before = run.now.state;
  const std::vector<bool> set = run.instant.set;
  std::string culprit;
  run.instant.transfer = {};
  bool starts = at_start;
  ConsistentOutcome outcome = find_point(run, at_start);
  if (first_visit && outcome.status != ConsistentStatus::kNotFinite &&
      run.now.mode->integrated_by_structure()) {
    // Numbers have the last word: a structurally sound mode may be singular or of higher index.
    const bool agrees = outcome.ok() && structure_holds(run) && !numbers_disagree(run, id);
    if (!outcome.ok()) culprit = run.now.mode->equation_name(outcome.index);
    if (!agrees && run.now.mode->analysed().unknowns.size() <= kLargestByNumbers) {
      try {
        run.now.mode = &visit_by_numbers(run, id);
      } catch (const Error& error) {
        if (at_start || culprit.empty()) throw;
        stop(run, StopReason::kInconsistent,
             fmt::format("no consistent point {}: {} cannot be satisfied; check what the "
                         "transition sets ({})",
                         place_of(run), culprit, error.what()));
        return false;
      }
      run.now.mode->report().visits = 1;
      const SystemState by_structure = std::exchange(run.now.state, before);
      const bool was_consistent = outcome.ok();
      // What numbers add to the constraints moves start values; nothing jumps there.
      starts = at_start || (run.instant.at_flat_start && run.now.time == run.settings.start_time);
      outcome = find_point_by_numbers(run, id, starts, culprit);
      if (!outcome.ok() && was_consistent) {
        run.now.state = by_structure;
        outcome = find_point_by_numbers(run, id, starts, culprit);
      }
    }
  }
  if (outcome.status == ConsistentStatus::kNotFinite) {
    stop(run, StopReason::kNotFinite,
         fmt::format("{} is not finite {} when the mode starts",
                     run.now.mode->equation_name(outcome.index), place_of(run)));
    return false;
  }
  if (!outcome.ok()) {
    if (culprit.empty()) culprit = run.now.mode->equation_name(outcome.index);
    stop(run, StopReason::kInconsistent,
         fmt::format(
             "no consistent point {}: {} cannot be satisfied; check the start values or what "
             "the transition sets",
             place_of(run), culprit));
    return false;
  }
  if (at_start) report_changed_starts(run, before.values);
  if (!starts && !transfer_state(run, before)) return false;
  if (run.instant.transfer.ends_at_once()) return true;
  if (stay_within_first_integrals(run, at_start)) return !run.log.stopped;
  if (run.tangents != nullptr) differentiate_entry(run, before, set, at_start);
  run.now.mode->restart(run.now.time);
  return true;
}

}  // namespace saltus
