#include "simulate/mode_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "model/build.h"
#include "simulate/event_iteration.h"
#include "simulate/run.h"

namespace saltus {
namespace {

void warn_of_opaque_terms(Run& run, const ModeRun& mode) {
  for (const std::string& name : mode.opaque_terms()) {
    std::string warning = fmt::format(
        "nothing is known of the function '{}' of time between two points: what it does within a "
        "step may be missed, unless a largest step (--max-step) is given",
        name);
    if (std::isfinite(run.settings.options.max_step) ||
        std::ranges::count(run.log.result.warnings, warning) > 0)
      continue;
    run.log.result.warnings.push_back(std::move(warning));
  }
}

}  // namespace

ModeId add_mode(Run& run, Mode mode) {
  const BuildingTime building;
  run.system.mode(mode.name) = std::move(mode);
  for (SystemState* state : {&run.now.state, &run.now.left}) {
    state->values.resize(run.system.variables().size(), 0.0);
    state->slopes.resize(run.system.variables().size(), 0.0);
  }
  run.modes.runs.resize(run.system.modes().size());
  run.log.recorder->follow_growth();
  return ModeId(run.modes.runs.size() - 1);
}

ModeRun& visit_by_numbers(Run& run, ModeId id) {
  const BuildingTime building;
  if (run.settings.options.method == Method::kHalfExplicit)
    refuse_half_explicit(run.system, run.system.modes()[id.index()],
                         "its structure does not tell its constraints");
  auto analysed = analyse_by_numbers(run.system, id, run.now.time, run.now.state);
  run.log.result.warnings.insert(run.log.result.warnings.end(), analysed->warnings.begin(),
                                 analysed->warnings.end());
  if (run.settings.options.method == Method::kBdf)
    run.log.result.warnings.push_back(
        fmt::format("mode '{}' is integrated by radau: bdf solves neither "
                    "redundant equations nor projected ones",
                    analysed->mode->name));
  run.modes.runs[id.index()] =
      std::make_unique<ModeRun>(run.system, std::move(analysed), mode_options(run.settings));
  return *run.modes.runs[id.index()];
}

ModeRun& visit(Run& run, ModeId id) {
  std::unique_ptr<ModeRun>& mode = run.modes.runs[id.index()];
  if (mode == nullptr) {
    run.modes.visited.push_back(id);
    {
      const BuildingTime building;
      mode = make_mode_run(run.system, id, mode_options(run.settings), run.now.time, run.now.state,
                           run.log.result.warnings);
    }
    if (mode == nullptr) return visit_by_numbers(run, id);
    warn_of_opaque_terms(run, *mode);
  }
  return *mode;
}

void renew_form(Run& run) {
  const ModeId id = run.now.mode->analysed().id;
  std::vector<std::string> known;  // what there was to say was said when the mode was entered
  std::unique_ptr<ModeRun> next;
  {
    const BuildingTime building;
    next = make_mode_run(run.system, id, mode_options(run.settings), run.now.time, run.now.state,
                         known);
  }
  const SystemState before = run.now.state;
  if (next != nullptr && next->make_consistent(run.now.time, run.now.state).ok()) {
    next->take_over(*run.now.mode);
    next->restart(run.now.time);
    arm_guards(*next, run.now.time);
    run.modes.runs[id.index()] = std::move(next);
    run.now.mode = run.modes.runs[id.index()].get();
  } else {
    run.now.state = before;
  }
}

bool continue_by_numbers(Run& run) {
  run.rank_change = run.now.mode->describe_rank_change();
  const ModeId id = run.now.mode->analysed().id;
  if (!run.now.mode->integrated_by_structure() ||
      run.now.mode->analysed().unknowns.size() > kLargestByNumbers)
    return false;
  std::unique_ptr<ModeRun> former = std::move(run.modes.runs[id.index()]);
  const SystemState before = run.now.state;
  try {
    ModeRun& next = visit_by_numbers(run, id);
    if (next.make_consistent(run.now.time, run.now.state).ok()) {
      next.take_over(*former);
      next.restart(run.now.time);
      arm_guards(next, run.now.time);
      run.now.mode = &next;
      run.log.result.warnings.push_back(
          fmt::format("the characteristic values changed {}: {}; the mode "
                      "is analysed anew from there",
                      place_of(run), run.rank_change));
      return true;
    }
    run.rank_change += "; no consistent point was found there";
  } catch (const Error& error) {
    run.rank_change += fmt::format(". {}", error.what());
  }
  run.now.state = before;
  run.modes.runs[id.index()] = std::move(former);
  return false;
}

const Firing& arm_guards(ModeRun& mode, double t, bool are_settled) {
  return mode.watch().start(t, mode.integrator().x().data(), mode.integrator().dx().data(),
                            are_settled);
}

ModeId flat_mode(Run& run, std::size_t index) {
  while (run.modes.of_flat.size() <= index) {
    const BuildingTime building;
    const FlatMode& flat = run.events->mode(run.modes.of_flat.size());
    FlatView view{run.modes.of_flat.size(), {}, {}};
    view.guards.resize(flat.mode.guards.size());
    std::iota(view.guards.begin(), view.guards.end(), std::size_t{0});
    view.contacts.assign(flat.mode.guards.size(), FlatView::npos);
    run.modes.of_flat.push_back(add_mode(run, flat.mode));
    run.modes.views.emplace(run.modes.of_flat.back(), std::move(view));
    run.modes.refused.push_back(false);
  }
  return run.modes.of_flat[index];
}

const FlatView* view_of(const Run& run, ModeId id) {
  const auto found = run.modes.views.find(id);
  return found == run.modes.views.end() ? nullptr : &found->second;
}

std::size_t source_of(const Run& run, ModeId id, std::size_t guard) {
  const FlatView& view = run.modes.views.at(id);
  const std::size_t g = view.guards[guard];
  return g == FlatView::npos ? g : run.events->mode(view.flat_mode).sources[g];
}

ModeRun* visit_flat(Run& run, std::size_t index) {
  const ModeId id = flat_mode(run, index);
  if (run.modes.refused[index]) return nullptr;
  try {
    if (run.modes.runs[id.index()] == nullptr) {
      const BuildingTime building;
      check_structure(run.system, run.system.modes()[id.index()]);
    }
    ModeRun& mode = visit(run, id);
    apply_widths(run, mode);
    return &mode;
  } catch (const Error&) {
    run.modes.refused[index] = true;  // said again, aloud, if the mode is entered
    return nullptr;
  }
}

ModeRun* visit_flat_by_structure(Run& run, std::size_t index) {
  const ModeId id = flat_mode(run, index);
  std::unique_ptr<ModeRun>& mode = run.modes.runs[id.index()];
  if (mode != nullptr || run.modes.refused[index]) return visit_flat(run, index);
  if (run.modes.unsettled.contains(index)) return nullptr;
  try {
    const BuildingTime building;
    check_structure(run.system, run.system.modes()[id.index()]);
    mode = make_mode_run(run.system, id, mode_options(run.settings), run.now.time, run.now.state,
                         run.log.result.warnings);
  } catch (const Error&) {
  }
  if (mode == nullptr) {
    run.modes.unsettled.insert(index);
    return nullptr;
  }
  run.modes.visited.push_back(id);
  return visit_flat(run, index);
}

}  // namespace saltus
