#include "simulate/lasting_mode.h"

#include <algorithm>
#include <deque>
#include <set>

#include "simulate/run.h"

namespace saltus {
namespace {

constexpr std::size_t kMostModes = 300;  // that are looked at
// Of the absolute terms of a derivative. The instant is where a guard was found to be zero, and
// what follows from that guard is no more precise.
constexpr double kFoundZero = 1e-8;

// The state in the mode, if it can be entered without an impulse.
std::optional<SystemState> state_in(Run& run, const LastingMode& candidate) {
  try {
    ModeRun& mode = visit(run, candidate.id);
    SystemState before = candidate.from;
    before.values.resize(run.system.variables().size(), 0.0);
    before.slopes.resize(run.system.variables().size(), 0.0);
    SystemState state = before;
    if (!mode.make_consistent(run.now.time, state).ok()) return {};
    const std::vector<bool> nothing_set(run.system.variables().size(), false);
    const TransferOutcome transfer = mode.transfer(run.now.time, before, nothing_set, true, state);
    if (transfer.status != TransferStatus::kDone || !transfer.impulses.empty()) return {};
    return state;
  } catch (const Error&) {
    return {};
  }
}

std::vector<std::size_t> falling_among(Run& run, ModeRun& mode, const SystemState& at,
                                       std::vector<std::size_t> guards,
                                       JustAfter::Question question) {
  if (guards.empty()) return guards;
  run.just_after.note_magnitudes(run.system, at);
  run.just_after.stand_at(mode, run.now.time, at);
  std::erase_if(guards, [&](std::size_t g) {
    return run.just_after.sign(mode.mode().guards[g].value, at.slots, question).value_or(0) >= 0;
  });
  return guards;
}

}  // namespace

std::vector<std::size_t> falling_guards(Run& run, ModeRun& mode, const SystemState& at) {
  return falling_among(run, mode, at,
                       mode.watch().at_zero(run.now.time, mode.point().data(), mode.slope().data()),
                       {});
}

// Breadth first, so that few answers change. What is violated comes first: that is the way the hops
// went, but by all guards that are violated and not by the first only.
std::optional<LastingMode> find_lasting_mode(Run& run, std::span<const Visit> circle) {
  std::deque<LastingMode> waiting = {{run.now.mode->analysed().id, run.now.state}};
  std::set<ModeId> known = {waiting.front().id};
  for (const Visit& visit : circle)  // with what their transitions have set
    if (const ModeId id = run.system.find_mode(visit.mode->name); known.insert(id).second)
      waiting.push_back({id, visit.state});
  for (std::size_t looked_at = 0; !waiting.empty() && looked_at < kMostModes; ++looked_at) {
    if (is_interrupted(run)) return {};
    const LastingMode candidate = std::move(waiting.front());
    waiting.pop_front();
    const std::optional<SystemState> state = state_in(run, candidate);
    if (!state) continue;
    ModeRun& mode = *run.modes.runs[candidate.id.index()];
    const double* x = mode.point().data();
    const double* dx = mode.slope().data();
    std::vector<std::size_t> leading = mode.watch().below_zero(run.now.time, x, dx, kFoundZero);
    const std::vector<std::size_t> zero = mode.watch().at_zero(run.now.time, x, dx, kFoundZero);
    const std::vector<std::size_t> falling =
        falling_among(run, mode, *state, zero, {.rounding = kFoundZero});
    leading.insert(leading.end(), falling.begin(), falling.end());
    if (leading.empty()) return candidate;
    leading.insert(leading.end(), zero.begin(), zero.end());
    for (const std::size_t g : leading) {
      const Guard& guard = mode.mode().guards[g];
      if (guard.to.empty() || !guard.set.empty()) continue;
      const ModeId next = run.system.find_mode(guard.to);
      if (known.insert(next).second) waiting.push_back({next, *state});
    }
  }
  return {};
}

}  // namespace saltus
