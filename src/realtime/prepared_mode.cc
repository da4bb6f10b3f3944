#include "realtime/prepared_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "expr/differentiate.h"

namespace saltus {
fs_place place_of(const Expr& symbol) {
  const Node& node = *symbol.node();
  if (symbol.is_slot()) return {FS_SLOT, node.slot().index()};
  if (!symbol.is_variable() || node.order > 1) return {FS_ZERO, 0};
  return {node.order == 0 ? FS_VALUE : FS_SLOPE, node.index};
}

PreparedMode::PreparedMode(const HybridSystem& system, ModeCore mode,
                           const RealtimeFormulas& formulas, std::vector<std::size_t> guards,
                           bool may_be_affine)
    : core_(std::move(mode)), guards_(std::move(guards)) {
  const Dae& core = *core_.dae;
  const std::size_t n = core.unknown_count();
  const DaeDefinition& definition = core.definition();
  list_unknowns(core);
  const auto write_all = [&](const std::vector<Expr>& all, const char* what) {
    std::vector<Expr> written;
    for (const Expr& a : all) {
      const std::optional<Expr> one = core_.write(a);
      if (!one)
        throw Error(
            fmt::format("mode '{}' cannot be prepared for fixed steps: {} reads the derivative of "
                        "a variable that is no state",
                        name(), what));
      written.push_back(*one);
    }
    return written;
  };
  const std::vector<Expr> relations = write_all(formulas.relations, "a relation");
  std::vector<Expr> variables;
  for (std::size_t j = 0; j < core_.unknowns.size(); ++j) {
    const Expr symbol = system.variable(core_.unknowns[j]).symbol;
    variables.push_back(symbol);
    targets_.push_back({FS_VALUE, core_.unknowns[j].index()});
    if (!core_.differential[j]) continue;
    variables.push_back(der(symbol));
    targets_.push_back({FS_SLOPE, core_.unknowns[j].index()});
  }
  variables = write_all(variables, "an equation");
  std::vector<Expr> outputs;
  for (const Expr& a : formulas.outputs)
    outputs.push_back(core_.write(a).value_or(Expr(std::numeric_limits<double>::quiet_NaN())));
  for (std::size_t j = 0; j < core_.unknowns.size(); ++j) {
    if (!core_.differential[j]) continue;
    const auto reset = std::ranges::find(formulas.reset, core_.unknowns[j]);
    carried_.push_back(core_.unknowns[j].index());
    carried_reset_.push_back(reset == formulas.reset.end()
                                 ? FS_NONE
                                 : static_cast<std::size_t>(reset - formulas.reset.begin()));
  }
  list_resets(system, formulas);

  std::vector<Expr> residuals;
  for (std::size_t i = 0; i < n; ++i) residuals.push_back(core.formula(i));
  std::vector<Expr> read = definition.held;
  for (const std::vector<Expr>* list :
       {&relations, &std::as_const(variables), &std::as_const(outputs)})
    for (const Expr& leaf : leaves_of(*list)) read.push_back(leaf);
  list_held(read);
  const std::vector<std::vector<Expr>> inputs = {{definition.time},
                                                 definition.unknowns,
                                                 definition.derivatives,
                                                 definition.parameters,
                                                 held_symbols_};
  residual_ = TapeFormulas(residuals, inputs);
  relations_ = TapeFormulas(relations, inputs);
  variables_ = TapeFormulas(variables, inputs);
  outputs_ = TapeFormulas(outputs, inputs);
  tables_.is_affine = may_be_affine && core.has_constant_jacobian() ? 1 : 0;
  for (const Expr& leaf : leaves_of(residuals))
    if (leaf.same_as(system.time()) || leaf.same_as(definition.time)) tables_.reads_time = 1;
  differentiate(definition, residuals);

  tables_.n = n;
  tables_.d = differential_.size();
  tables_.differential = differential_.data();
  tables_.algebraic = algebraic_.data();
  tables_.slope_column = slope_column_.data();
  tables_.nominal = nominal_.data();
  tables_.guess = guess_.data();
  tables_.held_count = held_.size();
  tables_.held = held_.data();
  tables_.key_count = key_.size();
  tables_.key = key_.data();
  tables_.residual = residual_.formulas();
  tables_.jacobian = jacobian_.formulas();
  tables_.entry_count = entries_.size();
  tables_.entries = entries_.data();
  tables_.relations = relations_.formulas();
  tables_.outputs = outputs_.formulas();
  tables_.variables = variables_.formulas();
  tables_.target_count = targets_.size();
  tables_.targets = targets_.data();
  tables_.resets = resets_.data();
  tables_.carried_count = carried_.size();
  tables_.carried = carried_.data();
  tables_.carried_reset = carried_reset_.data();
  tables_.guard_count = guards_.size();
  tables_.guards = guards_.data();
}

void PreparedMode::list_resets(const HybridSystem& system, const RealtimeFormulas& formulas) {
  const DaeDefinition& definition = core_.dae->definition();
  for (const VariableId id : formulas.reset) {
    fs_reset reset{FS_NONE, 1.0};
    const Expr symbol = system.variable(id).symbol;
    const Expr value = core_.write(symbol).value_or(symbol);
    for (const std::size_t i : differential_) {
      if (value.same_as(definition.unknowns[i])) reset.place = i;
      if (value.same_as(-definition.unknowns[i])) reset = {i, -1.0};
    }
    resets_.push_back(reset);
    reset_values_.push_back(value);
  }
}

void PreparedMode::list_unknowns(const Dae& core) {
  const DaeDefinition& definition = core.definition();
  for (std::size_t i = 0; i < core.unknown_count(); ++i) {
    (core.is_differential(i) ? differential_ : algebraic_).push_back(i);
    guess_.push_back(place_of(definition.unknowns[i]));
    nominal_.push_back(definition.nominal[i]);
  }
  slope_column_.resize(core.unknown_count());
  for (std::size_t k = 0; k < differential_.size(); ++k) slope_column_[differential_[k]] = k;
  for (std::size_t k = 0; k < algebraic_.size(); ++k)
    slope_column_[algebraic_[k]] = differential_.size() + k;
}

// What formulas read besides time, unknowns and parameters: slots and variables of other modes.
void PreparedMode::list_held(const std::vector<Expr>& read) {
  const DaeDefinition& definition = core_.dae->definition();
  std::unordered_set<const Node*> listed;
  for (const auto* symbols : {&definition.unknowns, &definition.derivatives})
    for (const Expr& symbol : *symbols) listed.insert(symbol.node());
  for (const Expr& leaf : read)
    if ((leaf.is_slot() || leaf.is_variable()) && listed.insert(leaf.node()).second) {
      held_symbols_.push_back(leaf);
      held_.push_back(place_of(leaf));
    }
}

void PreparedMode::differentiate(const DaeDefinition& definition,
                                 const std::vector<Expr>& residuals) {
  std::vector<Expr> values;
  std::unordered_set<const Node*> read;
  for (const bool is_slope : {false, true})
    for (const JacobianEntry& entry :
         jacobian(residuals, is_slope ? definition.derivatives : definition.unknowns)) {
      entries_.push_back({entry.row, entry.column, is_slope ? 1 : 0});
      values.push_back(entry.value);
      for (const Expr& leaf : leaves_of(entry.value)) read.insert(leaf.node());
    }
  jacobian_ = TapeFormulas(values, {{definition.time},
                                    definition.unknowns,
                                    definition.derivatives,
                                    definition.parameters,
                                    held_symbols_});
  for (std::size_t k = 0; k < held_symbols_.size(); ++k)
    if (read.contains(held_symbols_[k].node())) key_.push_back(k);
}

void PreparedMode::choose_pivots(const double* entries, double step) {
  const std::size_t n = tables_.n;
  std::vector<PivotOrder::Entry> by_steps, by_slopes;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const auto& [row, column, is_slope] = entries_[k];
    by_steps.push_back({row, column, is_slope != 0 ? entries[k] / step : entries[k]});
    if ((slope_column_[column] < tables_.d) == (is_slope != 0))
      by_slopes.push_back({row, slope_column_[column], entries[k]});
  }
  step_order_ = PivotOrder(n, by_steps);
  slope_order_ = PivotOrder(n, by_slopes);
  tables_.step_order = step_order_.tables();
  tables_.slope_order = slope_order_.tables();
}

void PreparedMode::add_configuration(const fs_configuration& made) {
  const std::size_t n = tables_.n;
  const std::size_t d = tables_.d;
  const auto keep = [&](const double* from, std::size_t count) {
    return numbers_.emplace_back(from, from + count).data();
  };
  fs_configuration kept{};
  kept.key = keep(made.key, key_.size());
  kept.inverse = keep(made.inverse, n * n);
  kept.reaction = keep(made.reaction, n * d);
  kept.a = keep(made.a, d * d);
  kept.first = keep(made.first, (FS_LEVELS + 1) * d * d);
  kept.second = keep(made.second, (FS_LEVELS + 1) * d * d);
  configurations_.push_back(kept);
  tables_.configuration_count = configurations_.size();
  tables_.configurations = configurations_.data();
}

// What the offline engine makes of a unit of each variable that is differentiated.
void PreparedMode::add_handover(const HybridSystem& system, const RealtimeFormulas& formulas,
                                double t, const SystemState& point,
                                const std::vector<unsigned char>& asked) {
  std::vector<double> map;
  bool is_rigid = false;
  if (!find_handover(system, formulas, t, point, asked, map, is_rigid) &&
      !set_states(system, asked, map))
    return;
  asked_.push_back(asked);
  numbers_.push_back(std::move(map));
  handovers_.push_back({asked_.back().data(), numbers_.back().data(), is_rigid ? 1 : 0});
  tables_.handover_count = handovers_.size();
  tables_.handovers = handovers_.data();
}

// Where reinit sets states, and whatever else reads these reads no other ones.
bool PreparedMode::set_states(const HybridSystem& system, const std::vector<unsigned char>& asked,
                              std::vector<double>& map) const {
  const std::vector<Expr>& unknowns = core_.dae->definition().unknowns;
  std::set<const Node*> set, all;
  for (const std::size_t i : differential_) all.insert(unknowns[i].node());
  for (std::size_t k = 0; k < asked.size(); ++k) {
    if (asked[k] == 0) continue;
    if (resets_[k].place == FS_NONE) return false;
    set.insert(unknowns[resets_[k].place].node());
  }
  if (set.empty()) return false;
  for (const std::size_t variable : carried_) {
    const Expr symbol = system.variable(VariableId(variable)).symbol;
    const std::vector<Expr> value = {core_.write(symbol).value_or(symbol)};
    std::size_t read = 0, of_set = 0;
    for (const Expr& leaf : leaves_of(value)) {
      read += all.contains(leaf.node()) ? 1 : 0;
      of_set += set.contains(leaf.node()) ? 1 : 0;
    }
    if (of_set != 0 && of_set != read) return false;
  }
  map.assign(carried_.size() * differential_.size(), 0.0);  // what is set is set exactly
  return true;
}

bool PreparedMode::find_handover(const HybridSystem& system, const RealtimeFormulas& formulas,
                                 double t, const SystemState& near,
                                 const std::vector<unsigned char>& asked, std::vector<double>& map,
                                 bool& is_rigid) {
  SystemState point = near;
  if (core_.run == nullptr || !core_.run->make_consistent(t, point).ok()) return false;
  std::vector<bool> set(system.variables().size(), false);
  for (std::size_t k = 0; k < asked.size(); ++k)
    if (asked[k] != 0) set[formulas.reset[k].index()] = true;
  std::vector<std::size_t> states;  // variables
  for (const std::size_t i : differential_) {
    if (guess_[i].kind != FS_VALUE) return false;
    states.push_back(guess_[i].index);
  }
  std::set<std::string> reached;  // by impulses
  const auto respond = [&](const std::vector<double>& deviations, std::vector<double>& change) {
    SystemState before = point;
    for (std::size_t c = 0; c < carried_.size(); ++c) before.values[carried_[c]] += deviations[c];
    SystemState after = before;
    if (!core_.run->make_consistent(t, after).ok()) return false;
    const TransferOutcome outcome = core_.run->transfer(t, before, set, false, after);
    if (outcome.status != TransferStatus::kDone || !outcome.not_kept.empty()) return false;
    for (const auto& [name, impulse] : outcome.impulses)
      if (std::abs(impulse) > 1e-9) reached.insert(name);
    change.clear();
    for (const std::size_t v : states) change.push_back(after.values[v] - point.values[v]);
    return true;
  };
  // Of what reinit sets and what is equal up to the sign the first stands for all.
  const auto ratio = [&](std::size_t c, std::size_t other) {
    const std::size_t a = carried_reset_[c];
    const std::size_t b = carried_reset_[other];
    if (a == FS_NONE || b == FS_NONE || asked[a] == 0 || asked[b] == 0) return 0.0;
    if (reset_values_[a].same_as(reset_values_[b])) return 1.0;
    return reset_values_[a].same_as(-reset_values_[b]) ? -1.0 : 0.0;
  };
  const auto follow = [&](std::size_t c, double deviation, std::vector<double>& deviations) {
    deviations[c] = deviation;
    for (std::size_t other = c + 1; other < carried_.size(); ++other)
      if (ratio(c, other) != 0.0) deviations[other] = deviation * ratio(c, other);
  };
  constexpr double kDust = 1e-11;
  const std::size_t d = states.size();
  bool all_respond = true;
  std::vector<double> column, mixed(carried_.size());
  for (std::size_t c = 0; c < carried_.size(); ++c) {
    bool is_first = true;
    for (std::size_t before = 0; before < c; ++before)
      is_first = is_first && ratio(before, c) == 0.0;
    column.assign(d, 0.0);
    if (is_first) {
      std::vector<double> unit(carried_.size(), 0.0);
      follow(c, 1.0, unit);
      if (respond(unit, column)) {
        follow(c, c % 3 == 0 ? -0.4 : 0.3 + 0.1 * static_cast<double>(c % 5), mixed);
      } else if (carried_reset_[c] != FS_NONE && asked[carried_reset_[c]] != 0) {
        return false;
      } else {  // an angle that a lock holds: no impulse moves it
        all_respond = false;
        column.assign(d, 0.0);
      }
    }
    for (double& a : column)
      if (std::abs(a - std::round(a)) < kDust) a = std::round(a);
    map.insert(map.end(), column.begin(), column.end());
  }
  // Only what is linear can be added up.
  if (!respond(mixed, column)) return false;
  for (std::size_t i = 0; i < d; ++i) {
    double sum = 0.0, size = 1.0;
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      sum += map[c * d + i] * mixed[c];
      size += std::abs(map[c * d + i]);
    }
    if (!(std::abs(sum - column[i]) < 1e-6 * size)) return false;
  }
  const bool is_bounded = std::ranges::any_of(guards_, [&](std::size_t r) {
    const std::vector<Expr> relation = {formulas.relations[r]};
    return std::ranges::any_of(leaves_of(relation), [&](const Expr& leaf) {
      return leaf.is_variable() && reached.contains(system.variables()[leaf.node()->index].name);
    });
  });
  is_rigid = !is_bounded && all_respond;
  return true;
}

}  // namespace saltus
