#include "realtime/prepared_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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
  // What is no unknown of the mode has no value there (a state that is not active).
  const Expr nothing = std::numeric_limits<double>::quiet_NaN();
  std::vector<Expr> outputs;
  for (const Expr& a : formulas.outputs) {
    std::vector<Expr> absent;
    for (const Expr& leaf : leaves_of(a))
      if (leaf.is_variable() &&
          std::ranges::find(core_.unknowns, VariableId(leaf.node()->index)) == core_.unknowns.end())
        absent.push_back(leaf);
    const Expr present = substitute(a, absent, std::vector<Expr>(absent.size(), nothing));
    outputs.push_back(core_.write(present).value_or(nothing));
  }
  for (std::size_t j = 0; j < core_.unknowns.size(); ++j) {
    if (!core_.differential[j]) continue;
    const auto reset = std::ranges::find(formulas.reset, core_.unknowns[j]);
    carried_.push_back(core_.unknowns[j].index());
    carried_reset_.push_back(reset == formulas.reset.end()
                                 ? FS_NONE
                                 : static_cast<std::size_t>(reset - formulas.reset.begin()));
  }
  list_resets(system, formulas);
  list_path(formulas);

  std::vector<Expr> residuals;
  for (std::size_t i = 0; i < n; ++i) residuals.push_back(core.formula(i));
  list_held(leaves_of(residuals));
  tables_.moving_count = held_.size();
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
  tables_.path_count = path_.size();
  tables_.path = path_.data();
  tables_.open_count = open_.size();
  tables_.open = open_.data();
}

// Unknowns that are not carried into the mode have values only where its constraints hold.
void PreparedMode::list_path(const RealtimeFormulas& formulas) {
  for (const std::size_t r : guards_) {
    bool reads_unknowns = false, has_value = true;
    for (const Expr& leaf : leaves_of(formulas.relations[r])) {
      if (!leaf.is_variable()) continue;
      const std::size_t variable = leaf.node()->index;
      const bool is_unknown =
          std::ranges::find(core_.unknowns, VariableId(variable)) != core_.unknowns.end();
      reads_unknowns = reads_unknowns || is_unknown;
      const bool is_carried =
          leaf.node()->order == 0 && std::ranges::find(carried_, variable) != carried_.end();
      has_value = has_value && (is_carried || !is_unknown);
    }
    if (reads_unknowns) (has_value ? path_ : open_).push_back(r);
  }
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
  for (const auto* symbols :
       {&definition.unknowns, &definition.derivatives, &std::as_const(held_symbols_)})
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

void PreparedMode::add_handover(const HybridSystem& system, const RealtimeFormulas& formulas,
                                double t, const SystemState& point,
                                const std::vector<unsigned char>& asked) {
  std::vector<double> map;
  bool is_rigid = false;
  bool is_found = false;
  try {
    is_found = find_handover(system, formulas, t, point, asked, map, is_rigid);
  } catch (const Error&) {  // the rule says nothing here
  }
  if (!is_found && !set_states(system, asked, map)) return;
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

// The impulse rule for a unit of each variable that is carried into the mode.
bool PreparedMode::find_handover(const HybridSystem& system, const RealtimeFormulas& formulas,
                                 double t, const SystemState& near,
                                 const std::vector<unsigned char>& asked, std::vector<double>& map,
                                 bool& is_rigid) {
  if (impulses_ == nullptr) impulses_ = std::make_unique<ImpulseMap>(core_, differential_);
  SystemState point = near;
  if (!impulses_->is_constant() &&
      (core_.run == nullptr || !core_.run->make_consistent(t, point).ok()))
    return false;
  std::map<std::size_t, std::size_t> place;  // in the mode, of a variable
  for (std::size_t j = 0; j < core_.unknowns.size(); ++j)
    place.emplace(core_.unknowns[j].index(), j);
  std::vector<bool> set(core_.unknowns.size(), false);
  for (std::size_t k = 0; k < asked.size(); ++k)
    if (const auto found = place.find(formulas.reset[k].index());
        asked[k] != 0 && found != place.end())
      set[found->second] = true;
  // Of what is set and what is equal up to the sign the first stands for all.
  const auto ratio = [&](std::size_t c, std::size_t other) {
    const std::size_t a = carried_reset_[c];
    const std::size_t b = carried_reset_[other];
    if (a == FS_NONE || b == FS_NONE || asked[a] == 0 || asked[b] == 0) return 0.0;
    if (reset_values_[a].same_as(reset_values_[b])) return 1.0;
    return reset_values_[a].same_as(-reset_values_[b]) ? -1.0 : 0.0;
  };
  using Eigen::Index;
  const std::size_t count = carried_.size();
  Eigen::MatrixXd before =
      Eigen::MatrixXd::Zero(static_cast<Index>(core_.unknowns.size()), static_cast<Index>(count));
  std::vector<bool> is_first(count, true);
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t other = 0; other < c; ++other)
      is_first[c] = is_first[c] && ratio(other, c) == 0.0;
    if (!is_first[c]) continue;
    for (std::size_t other = c; other < count; ++other)
      if (const double f = other == c ? 1.0 : ratio(c, other); f != 0.0)
        before(static_cast<Index>(place.at(carried_[other])), static_cast<Index>(c)) = f;
  }
  std::vector<double> parameters;
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  const ImpulseMap::Answer answer = impulses_->solve(t, point, parameters, before, set);
  if (!answer.is_determined) return false;

  bool all_respond = true;
  const std::size_t d = differential_.size();
  constexpr double kDust = 1e-11;
  for (std::size_t c = 0; c < count; ++c) {
    if (!answer.responds[c] && carried_reset_[c] != FS_NONE && asked[carried_reset_[c]] != 0)
      return false;
    // Else an angle that a lock holds: no impulse moves it.
    all_respond = all_respond && answer.responds[c];
    for (std::size_t i = 0; i < d; ++i) {
      const double a =
          answer.responds[c] ? answer.states(static_cast<Index>(i), static_cast<Index>(c)) : 0.0;
      map.push_back(std::abs(a - std::round(a)) < kDust ? std::round(a) : a);
    }
  }
  if (!impulses_->is_constant() && !adds_up(t, point, before, set, map)) return false;
  const bool is_bounded = std::ranges::any_of(guards_, [&](std::size_t r) {
    const std::vector<Expr> relation = {formulas.relations[r]};
    return std::ranges::any_of(leaves_of(relation), [&](const Expr& leaf) {
      const auto found = leaf.is_variable() ? place.find(leaf.node()->index) : place.end();
      return found != place.end() && (answer.is_pushed[found->second] ||
                                      (leaf.node()->order > 0 && answer.is_moved[found->second]));
    });
  });
  is_rigid = !is_bounded && all_respond && !impulses_->reads_slots();
  return true;
}

// Only what is linear can be added up: asks the offline engine for a mixture of large deviations.
bool PreparedMode::adds_up(double t, const SystemState& point, const Eigen::MatrixXd& before,
                           const std::vector<bool>& set, const std::vector<double>& map) {
  std::vector<bool> set_variables(point.values.size(), false);
  for (std::size_t j = 0; j < set.size(); ++j)
    if (set[j]) set_variables[core_.unknowns[j].index()] = true;
  const std::size_t d = differential_.size();
  SystemState left = point;
  std::vector<double> expected(d, 0.0), size(d, 1.0);
  for (std::size_t c = 0; c < carried_.size(); ++c) {
    const bool has_effect = std::any_of(map.begin() + static_cast<std::ptrdiff_t>(c * d),
                                        map.begin() + static_cast<std::ptrdiff_t>((c + 1) * d),
                                        [](double a) { return a != 0.0; });
    if (!has_effect) continue;
    const double deviation = c % 3 == 0 ? -0.4 : 0.3 + 0.1 * static_cast<double>(c % 5);
    for (std::size_t j = 0; j < core_.unknowns.size(); ++j)
      left.values[core_.unknowns[j].index()] +=
          deviation * before(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(c));
    for (std::size_t i = 0; i < d; ++i) {
      expected[i] += map[c * d + i] * deviation;
      size[i] += std::abs(map[c * d + i]);
    }
  }
  SystemState after = left;
  if (!core_.run->make_consistent(t, after).ok()) return false;
  const TransferOutcome outcome = core_.run->transfer(t, left, set_variables, false, after);
  if (outcome.status != TransferStatus::kDone || !outcome.not_kept.empty()) return false;
  for (std::size_t i = 0; i < d; ++i) {
    const fs_place& of = guess_[differential_[i]];
    if (of.kind != FS_VALUE) return false;
    const double change = after.values[of.index] - point.values[of.index];
    if (!(std::abs(expected[i] - change) < 1e-6 * size[i])) return false;
  }
  return true;
}

}  // namespace saltus
