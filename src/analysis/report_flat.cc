// A survey of the modes of a flat model.

#include <algorithm>
#include <deque>

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
    // States of machines by their variable; other conditions one at a time.
    for (const DiscreteVariable& v : reduced.discretes) {
      if (!v.names_mode) continue;
      for (std::size_t literal = 1; literal <= v.literals.size(); ++literal) {
        std::vector<double> slots = slots_of[k];
        slots[v.symbol.node()->slot().index()] = static_cast<double>(literal);
        slots[v.pre.node()->slot().index()] = static_cast<double>(literal);
        const std::size_t found = modes.find(parameters, slots);
        // Where the variable only names what other conditions decide, this is no other mode.
        if (modes.mode(found).frozen != modes.mode(k).frozen) meet(found, slots);
      }
    }
    const std::vector<double> slots = slots_of[k];
    for (const std::size_t next : modes.neighbours(k, parameters, slots)) meet(next, slots);
  }
  analysis.left_out = waiting.size();
  return analysis;
}

}  // namespace saltus
