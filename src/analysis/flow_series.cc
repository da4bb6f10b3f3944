#include "analysis/flow_series.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/processor_time.h"
#include "expr/differentiate.h"

namespace saltus {
namespace {

std::vector<Expr> formulas_of(const Dae& dae) {
  std::vector<Expr> formulas;
  for (std::size_t i = 0; i < dae.equation_count(); ++i) formulas.push_back(dae.formula(i));
  return formulas;
}

std::unordered_map<const Node*, SeriesSource> places_of(const DaeDefinition& def) {
  using Kind = SeriesSource::Kind;
  std::unordered_map<const Node*, SeriesSource> places;
  places[def.time.node()] = {Kind::kTime, 0};
  for (std::size_t j = 0; j < def.unknowns.size(); ++j) {
    places[def.unknowns[j].node()] = {Kind::kUnknown, j};
    if (def.derivatives[j].node() != nullptr)
      places.try_emplace(def.derivatives[j].node(), SeriesSource{Kind::kDerivative, j});
  }
  for (std::size_t j = 0; j < def.held.size(); ++j)
    places.try_emplace(def.held[j].node(), SeriesSource{Kind::kHeld, j});
  return places;
}

}  // namespace

FlowSeries::Watched::Watched(const FlowSeries& flow, const Expr& value)
    : formulas_(std::span(&value, 1)), sources_(flow.sources_of(formulas_.leaves())) {}

FlowSeries::FlowSeries(const Dae& dae)
    : dae_(dae),
      places_(places_of(dae.definition())),
      residuals_(formulas_of(dae)),
      sources_(sources_of(residuals_.leaves())),
      unknowns_(dae.unknown_count()),
      solver_(dae.pattern()),
      errors_(dae.unknown_count()) {
  const auto nonzeros = static_cast<std::size_t>(dae.pattern().nonzeros());
  jacobian_.resize(2 * nonzeros);
  matrix_.resize(nonzeros);
  const std::size_t room = std::max(dae.equation_count(), dae.unknown_count());
  right_.resize(room);
  sizes_.resize(room);
  trial_.resize(room);
  std::vector<bool> moves;
  for (const SeriesSource& source : sources_)
    moves.push_back(source.kind == SeriesSource::Kind::kTime ||
                    source.kind == SeriesSource::Kind::kUnknown ||
                    source.kind == SeriesSource::Kind::kDerivative);
  residuals_.mark_moving(moves);
}

std::vector<SeriesSource> FlowSeries::sources_of(const std::vector<Expr>& leaves) const {
  std::vector<SeriesSource> sources;
  for (const Expr& leaf : leaves) {
    const auto found = places_.find(leaf.node());
    sources.push_back(found == places_.end() ? SeriesSource() : found->second);
  }
  return sources;
}

// What does not follow from the solution.
void FlowSeries::put_constant(PowerSeries& leaf, const Expr& symbol, const SeriesSource& source,
                              double t, const DaeData& data, const SystemState& at) const {
  using Kind = SeriesSource::Kind;
  if (source.kind == Kind::kTime) {
    leaf = PowerSeries::constant(t, 0.0);
    leaf.value[1] = leaf.size[1] = 1.0;
    return;
  }
  double value = 0.0;
  if (source.kind == Kind::kHeld) {
    // Slots that a mode has of its own are not in the state of the system.
    const bool is_own = symbol.is_slot() && symbol.node()->index >= at.slots.size();
    value = is_own ? data.held[source.index] : at.value_of(symbol);
  } else {
    value = symbol.is_parameter() ? data.parameters[symbol.node()->index] : at.value_of(symbol);
  }
  leaf = PowerSeries::constant(value, 0.0);
}

void FlowSeries::put_leaves(SeriesFormulas& formulas, const std::vector<SeriesSource>& sources,
                            const DaeData& data, const SystemState& at) const {
  using Kind = SeriesSource::Kind;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    PowerSeries& leaf = formulas.leaf(i);
    const std::size_t j = sources[i].index;
    switch (sources[i].kind) {
      case Kind::kUnknown:
        leaf = unknowns_[j];
        break;
      case Kind::kDerivative:
        leaf = {};
        leaf.known = std::max(unknowns_[j].known - 1, 0);
        for (int k = 0; k < highest_; ++k) {
          leaf.value[k] = (k + 1) * unknowns_[j].value[k + 1];
          leaf.size[k] = (k + 1) * unknowns_[j].size[k + 1];
        }
        break;
      default:
        put_constant(leaf, formulas.leaves()[i], sources[i], time_, data, at);
        break;
    }
  }
}

const PowerSeries* FlowSeries::evaluate_apart(Watched& watched, double t, const DaeData& data,
                                              const SystemState& at) const {
  using Kind = SeriesSource::Kind;
  for (std::size_t i = 0; i < watched.sources_.size(); ++i) {
    const SeriesSource& source = watched.sources_[i];
    PowerSeries& leaf = watched.formulas_.leaf(i);
    if (source.kind == Kind::kUnknown || source.kind == Kind::kDerivative) {
      leaf = {};
      leaf.known = 0;
    } else {
      put_constant(leaf, watched.formulas_.leaves()[i], source, t, data, at);
    }
  }
  watched.formulas_.evaluate(PowerSeries::kHighest);
  const PowerSeries& result = watched.formulas_.result(0);
  return result.known > PowerSeries::kHighest ? &result : nullptr;
}

const PowerSeries& FlowSeries::evaluate(Watched& watched, const DaeData& data,
                                        const SystemState& at) const {
  put_leaves(watched.formulas_, watched.sources_, data, at);
  watched.formulas_.evaluate(highest_);
  return watched.formulas_.result(0);
}

// What errors of these sizes in the equations do to the solution, from a few signs drawn at random.
void FlowSeries::measure(std::vector<double>& errors) {
  std::uint64_t random = 88172645463325252ULL;
  std::ranges::fill(errors, 0.0);
  for (int sample = 0; sample < 4; ++sample) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      trial_[i] = (random >> 40 & 1U) != 0 ? sizes_[i] : -sizes_[i];
    }
    solver_.solve(trial_.data());
    for (std::size_t j = 0; j < errors.size(); ++j)
      errors[j] = std::max(errors[j], std::abs(trial_[j]));
  }
}

// Coefficient `power` of the residuals is linear in coefficient power + 1 of what is differential
// and coefficient `power` of the rest.
void FlowSeries::solve_for(int power) {
  residuals_.evaluate(power);
  std::ranges::fill(right_, 0.0);
  std::ranges::fill(sizes_, 0.0);
  for (std::size_t i = 0; i < dae_.equation_count(); ++i) {
    right_[i] = -residuals_.result(i).value[power];
    sizes_[i] = residuals_.result(i).size[power];
  }
  measure(errors_);
  solver_.solve(right_.data());
  for (std::size_t j = 0; j < unknowns_.size(); ++j) {
    const bool differential = dae_.is_differential(j);
    const int k = differential ? power + 1 : power;
    const double factor = differential ? 1.0 / (power + 1) : 1.0;
    PowerSeries& x = unknowns_[j];
    if (power > 0) x.value[k] = factor * right_[j];
    x.size[k] = std::max(std::abs(x.value[k]), factor * errors_[j]);
    x.known = k + 1;
  }
}

// Rounds of an event often end at the same point: only discrete values have changed that the
// equations do not read.
bool FlowSeries::starts_as_before(const DaeData& data, double t, const double* x, const double* dx,
                                  const SystemState& largest) {
  const std::size_t n = unknowns_.size();
  next_start_.assign(x, x + n);
  for (std::size_t j = 0; j < n; ++j) next_start_.push_back(dae_.is_differential(j) ? dx[j] : 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const Node& symbol = *dae_.definition().unknowns[j].node();
    double magnitude = 0.0;
    if (dae_.is_differential(j) && symbol.index < largest.values.size())
      magnitude = symbol.order == 0   ? largest.values[symbol.index]
                  : symbol.order == 1 ? largest.slopes[symbol.index]
                                      : 0.0;
    next_start_.push_back(magnitude);
  }
  if (is_expanded_ && t == time_ && next_start_ == start_ && data.held == start_held_) return true;
  std::swap(start_, next_start_);
  start_held_ = data.held;
  return false;
}

bool FlowSeries::expand(DaeData& data, double t, const double* x, const double* dx,
                        const SystemState& at, const SystemState& largest, int highest) {
  if (starts_as_before(data, t, x, dx, largest)) {
    extend(data, at, highest);
    return true;
  }
  is_expanded_ = false;
  time_ = t;
  highest_ = 0;
  const std::size_t nonzeros = matrix_.size();
  dae_.jacobian(data, t, x, dx, jacobian_.data());
  const Pattern& pattern = dae_.pattern();
  for (std::size_t j = 0; j < unknowns_.size(); ++j)
    for (auto k = static_cast<std::size_t>(pattern.start[j]);
         k < static_cast<std::size_t>(pattern.start[j + 1]); ++k)
      matrix_[k] = jacobian_[dae_.is_differential(j) ? nonzeros + k : k];
  {
    std::optional<BuildingTime> building;
    if (!has_pivots_) building.emplace();
    has_pivots_ = unknowns_.empty() || solver_.factor(matrix_.data());
  }
  if (!has_pivots_) return false;
  is_expanded_ = true;
  const double* magnitudes = start_.data() + 2 * unknowns_.size();
  for (std::size_t j = 0; j < unknowns_.size(); ++j) {
    const bool differential = dae_.is_differential(j);
    unknowns_[j] = PowerSeries::constant(x[j], magnitudes[j]);
    if (differential) unknowns_[j].value[1] = dx[j];
    unknowns_[j].known = differential ? 2 : 1;
  }
  put_leaves(residuals_, sources_, data, at);
  residuals_.evaluate_constants();
  extend(data, at, highest);
  return true;
}

void FlowSeries::extend(const DaeData& data, const SystemState& at, int highest) {
  const int known = highest_;
  highest_ = std::max(known, std::min(highest, PowerSeries::kHighest));
  for (int power = known; power < highest_ && !unknowns_.empty(); ++power) {
    put_leaves(residuals_, sources_, data, at);
    solve_for(power);
  }
}

}  // namespace saltus
