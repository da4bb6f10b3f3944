#include <fmt/format.h>
#include <fmt/ranges.h>

#include "simulate/first_integral.h"
#include "simulate/simulation.h"

// What happens on the way into a mode besides finding its consistent point.

namespace saltus {

// Where guards of the mode just entered are zero and stay so because they are first integrals, the
// run goes on in the mode with these constraints. True if it has done so, or stopped.
bool Simulation::stay_within_first_integrals(bool at_start) {
  if (events_ != nullptr) return false;
  const ModeId id = run_->analysed().id;
  std::vector<std::size_t> zero =
      run_->watch().at_zero(time_, run_->point().data(), run_->slope().data());
  if (zero.empty()) return false;
  KnownGuards& known = known_guards_[id];
  known.tested.resize(run_->mode().guards.size(), false);
  known.is_first_integral.resize(run_->mode().guards.size(), false);
  bool moved = false;
  for (const std::size_t g : zero) {
    if (known.tested[g]) continue;
    known.tested[g] = true;
    known.is_first_integral[g] = is_first_integral(system_, *run_, g, time_, state_);
    moved = true;
  }
  if (moved) run_->make_consistent(time_, state_);
  std::erase_if(zero, [&](std::size_t g) { return !known.is_first_integral[g]; });
  if (zero.empty()) return false;
  const auto found = known.constrained.find(zero);
  ModeId next;
  if (found != known.constrained.end()) {
    next = found->second;
  } else {
    Mode mode = constrain(run_->mode(), zero);
    std::vector<std::string> names;
    for (const std::size_t g : zero) names.push_back(run_->mode().guards[g].name);
    result_.warnings.push_back(
        fmt::format("guard '{}' of mode '{}' is constant along its solutions and zero {}: it is "
                    "kept as a constraint and cannot fire",
                    fmt::join(names, "', '"), run_->mode().name, place()));
    next = add_mode(std::move(mode));
    known.constrained.emplace(zero, next);
  }
  --run_->report().visits;
  enter(next, at_start);
  return true;
}

void Simulation::differentiate_entry(const SystemState& before, const std::vector<bool>& set,
                                     bool at_start) {
  std::vector<bool> fixed;
  for (const Variable& v : system_.variables()) fixed.push_back(v.fixed);
  std::vector<bool> marked = set;
  marked.resize(system_.variables().size(), false);
  const auto enter_mode = [&](double t, SystemState state) {
    if (at_start) return run_->make_start_consistent(t, state, fixed).ok();
    const SystemState from = state;
    return run_->make_consistent(t, state).ok() &&
           run_->transfer(t, from, marked, false, state).status == TransferStatus::kDone;
  };
  if (at_start) {
    tangents_->start(system_, *run_, time_, enter_mode);
  } else {
    tangents_->enter(*run_, time_, before, enter_mode);
  }
}

}  // namespace saltus
