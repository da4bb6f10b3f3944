// A survey of the modes of a flat model.

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "analysis/flat_modes.h"
#include "analysis/report.h"
#include "expr/differentiate.h"

namespace saltus {
namespace {

// Slots near the start: relations at the start values, discrete variables as they follow from
// them. The initial problem is not solved, so a relation between values it determines may differ.
std::vector<double> start_slots(const HybridSystem& system, const std::vector<double>& parameters) {
  constexpr int kRounds = 10;
  const FlatModel& model = system.flat()->reduced;
  SystemState state = start_state(system);
  std::vector<Expr> starts, relations, values;
  for (const DiscreteVariable& v : model.discretes) starts.push_back(v.start);
  for (const Relation& r : model.relations) relations.push_back(r.value);
  for (const DiscreteEquation& e : model.discrete_equations) values.push_back(e.value);
  const auto inputs = state_inputs(system);
  const double t = system.experiment.start_time;
  const auto evaluate = [&](const std::vector<Expr>& formulas) {
    const Tape tape(formulas, inputs);
    Tape::Workspace registers = tape.make_workspace();
    std::vector<double> results(formulas.size());
    const double* at[] = {&t, state.values.data(), state.slopes.data(), parameters.data(),
                          state.slots.data()};
    tape.evaluate(at, registers, results.data());
    return results;
  };
  const auto put = [&](const Expr& slot, double value) {
    state.slots[slot.node()->slot().index()] = value;
  };
  const std::vector<double> first = evaluate(starts);
  for (std::size_t k = 0; k < first.size(); ++k) {
    put(model.discretes[k].symbol, first[k]);
    put(model.discretes[k].pre, first[k]);
  }
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<double> before = state.slots;
    const std::vector<double> r = evaluate(relations);
    for (std::size_t k = 0; k < r.size(); ++k)
      put(model.relations[k].slot,
          model.relations[k].strict == Strict::kYes ? r[k] > 0.0 : r[k] >= 0.0);
    const std::vector<double> v = evaluate(values);
    for (std::size_t k = 0; k < v.size(); ++k) put(model.discrete_equations[k].target, v[k]);
    for (const DiscreteVariable& d : model.discretes)
      if (d.is_edge) put(d.pre, state.slots[d.symbol.node()->slot().index()]);
    if (state.slots == before) break;
  }
  return state.slots;
}

// Slots with one of them flipped: what names modes follows from it as it would on entering the mode
// from the present one. Other discrete variables stay, or they would take the flip back.
std::vector<double> with_flipped(const HybridSystem& system, const std::vector<double>& parameters,
                                 std::vector<double> slots, const Expr& flipped) {
  const FlatModel& model = system.flat()->reduced;
  std::unordered_set<const Node*> changed = {flipped.node()};
  std::unordered_set<const Node*> wanted;
  slots[flipped.node()->slot().index()] = slots[flipped.node()->slot().index()] == 0.0 ? 1.0 : 0.0;
  for (const DiscreteVariable& v : model.discretes) {
    if (!v.names_mode) continue;
    wanted.insert(v.symbol.node());
    slots[v.pre.node()->slot().index()] = slots[v.symbol.node()->slot().index()];
  }
  for (bool again = true; again;) {
    again = false;
    for (const DiscreteEquation& e : model.discrete_equations) {
      for (const Expr& leaf : leaves_of(e.value)) {
        if (changed.contains(leaf.node())) again |= changed.insert(e.target.node()).second;
        if (wanted.contains(e.target.node())) again |= wanted.insert(leaf.node()).second;
      }
    }
  }
  std::vector<Expr> targets, values;
  for (const DiscreteEquation& e : model.discrete_equations) {
    const Node* target = e.target.node();
    if (target == flipped.node() || !changed.contains(target) || !wanted.contains(target)) continue;
    targets.push_back(e.target);
    values.push_back(e.value);
  }
  const Tape tape(values, state_inputs(system));
  Tape::Workspace registers = tape.make_workspace();
  const SystemState state = start_state(system);
  const double t = system.experiment.start_time;
  const double* at[] = {&t, state.values.data(), state.slopes.data(), parameters.data(),
                        slots.data()};
  std::vector<double> results(values.size());
  for (std::size_t round = 0; round <= targets.size(); ++round) {
    tape.evaluate(at, registers, results.data());
    for (std::size_t k = 0; k < targets.size(); ++k)
      slots[targets[k].node()->slot().index()] = results[k];
  }
  return slots;
}

}  // namespace

SystemAnalysis analyse_flat_modes(const HybridSystem& system, std::size_t max_modes,
                                  Formulation formulation) {
  const FlatModel& reduced = system.flat()->reduced;
  std::vector<double> parameters;
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  FlatModes modes(system);
  std::deque<std::size_t> waiting;
  std::vector<std::vector<double>> slots_of;  // by mode
  const auto meet = [&](std::size_t mode, const std::vector<double>& slots) {
    if (mode < slots_of.size()) return;
    slots_of.resize(mode + 1, slots);
    waiting.push_back(mode);
  };
  const std::vector<double> first = start_slots(system, parameters);
  meet(modes.find(parameters, first), first);

  std::unordered_set<const Node*> naming;
  for (const DiscreteVariable& v : reduced.discretes)
    if (v.names_mode) naming.insert(v.symbol.node());

  SystemAnalysis analysis{system.name(), {}, 0};
  HybridSystem written = system.flat()->written.system;
  // Parameters are in the same order in both; looking one up by its name takes long.
  for (std::size_t k = 0; k < system.parameters().size(); ++k) {
    const Parameter& p = system.parameters()[k];
    if (written.parameters()[k].value != p.value) written.set(p.name, p.value);
  }
  SystemState near = start_state(written);
  while (!waiting.empty() && analysis.modes.size() < max_modes) {
    const std::size_t k = waiting.front();
    waiting.pop_front();
    std::copy_n(slots_of[k].begin(), std::min(slots_of[k].size(), near.slots.size()),
                near.slots.begin());
    Mode mode = modes.written_mode(k);
    const std::string name = mode.name;
    if (mode.equations.empty()) continue;
    written.mode(name) = std::move(mode);
    ModeAnalysis report =
        analyse_mode(written, written.find_mode(name), system.experiment.start_time, near);
    if (formulation != Formulation::kPosition)
      describe_form(written, written.find_mode(name), formulation, system.experiment.start_time,
                    near, report);
    report.conditions = modes.mode(k).conditions;
    for (const Guard& guard : modes.mode(k).mode.guards) report.guards.push_back(guard.name);
    analysis.modes.push_back(std::move(report));
    const std::vector<double> slots = slots_of[k];
    std::vector<const Node*> conditions;
    for (const auto& [condition, value] : modes.mode(k).frozen) conditions.push_back(condition);
    std::ranges::sort(conditions, {}, &Node::id);
    // Where variables only name what other discrete variables decide, names follow from those.
    const bool by_slots =
        !naming.empty() && std::ranges::all_of(conditions, [&](const Node* condition) {
          return Expr(condition).is_slot() && !naming.contains(condition);
        });
    // States of machines by their variable; other conditions one at a time.
    for (const DiscreteVariable& v : reduced.discretes) {
      if (!v.names_mode || by_slots) continue;
      for (std::size_t literal = 1; literal <= v.literals.size(); ++literal) {
        std::vector<double> named = slots;
        named[v.symbol.node()->slot().index()] = static_cast<double>(literal);
        named[v.pre.node()->slot().index()] = static_cast<double>(literal);
        const std::size_t found = modes.find(parameters, named);
        // Where the variable only names what other conditions decide, this is no other mode.
        if (modes.mode(found).frozen != modes.mode(k).frozen) meet(found, named);
      }
    }
    if (by_slots) {
      for (const Node* condition : conditions) {
        const std::vector<double> next = with_flipped(system, parameters, slots, Expr(condition));
        meet(modes.find(parameters, next), next);
      }
    } else {
      for (const std::size_t next : modes.neighbours(k, parameters, slots)) meet(next, slots);
    }
  }
  analysis.left_out = waiting.size();
  return analysis;
}

}  // namespace saltus
