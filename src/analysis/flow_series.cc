#include "analysis/flow_series.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "expr/differentiate.h"

namespace saltus {
namespace {

std::vector<Expr> formulas_of(const Dae& dae) {
  std::vector<Expr> formulas;
  for (std::size_t i = 0; i < dae.equation_count(); ++i) formulas.push_back(dae.formula(i));
  return formulas;
}

std::vector<SeriesSource> sources_of(const Dae& dae, const std::vector<Expr>& leaves) {
  using Kind = SeriesSource::Kind;
  const DaeDefinition& def = dae.definition();
  std::unordered_map<const Node*, SeriesSource> places;
  places[def.time.node()] = {Kind::kTime, 0};
  for (std::size_t j = 0; j < def.unknowns.size(); ++j) {
    places[def.unknowns[j].node()] = {Kind::kUnknown, j};
    if (def.derivatives[j].node() != nullptr)
      places.try_emplace(def.derivatives[j].node(), SeriesSource{Kind::kDerivative, j});
  }
  for (std::size_t j = 0; j < def.held.size(); ++j)
    places.try_emplace(def.held[j].node(), SeriesSource{Kind::kHeld, j});
  std::vector<SeriesSource> sources;
  for (const Expr& leaf : leaves) {
    const auto found = places.find(leaf.node());
    sources.push_back(found == places.end() ? SeriesSource() : found->second);
  }
  return sources;
}

}  // namespace

FlowSeries::Watched::Watched(const Dae& dae, const Expr& value)
    : formulas_(std::span(&value, 1)), sources_(sources_of(dae, formulas_.leaves())) {}

FlowSeries::FlowSeries(const Dae& dae)
    : dae_(dae),
      residuals_(formulas_of(dae)),
      sources_(sources_of(dae, residuals_.leaves())),
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
}

void FlowSeries::put_leaves(SeriesFormulas& formulas, const std::vector<SeriesSource>& sources,
                            const DaeData& data, const SystemState& at) const {
  using Kind = SeriesSource::Kind;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    PowerSeries& leaf = formulas.leaf(i);
    const std::size_t j = sources[i].index;
    switch (sources[i].kind) {
      case Kind::kTime:
        leaf = PowerSeries::constant(time_, 0.0);
        leaf.value[1] = leaf.size[1] = 1.0;
        break;
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
      case Kind::kHeld: {
        // Slots that a mode has of its own are not in the state of the system.
        const Expr& symbol = formulas.leaves()[i];
        const bool is_own = symbol.is_slot() && symbol.node()->index >= at.slots.size();
        leaf = PowerSeries::constant(is_own ? data.held[j] : at.value_of(symbol), 0.0);
        break;
      }
      case Kind::kFixed: {
        const Expr& symbol = formulas.leaves()[i];
        const double value =
            symbol.is_parameter() ? data.parameters[symbol.node()->index] : at.value_of(symbol);
        leaf = PowerSeries::constant(value, 0.0);
        break;
      }
    }
  }
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

bool FlowSeries::expand(DaeData& data, double t, const double* x, const double* dx,
                        const SystemState& at, const SystemState& largest, int highest) {
  time_ = t;
  highest_ = 0;
  const std::size_t nonzeros = matrix_.size();
  dae_.jacobian(data, t, x, dx, jacobian_.data());
  const Pattern& pattern = dae_.pattern();
  for (std::size_t j = 0; j < unknowns_.size(); ++j)
    for (auto k = static_cast<std::size_t>(pattern.start[j]);
         k < static_cast<std::size_t>(pattern.start[j + 1]); ++k)
      matrix_[k] = jacobian_[dae_.is_differential(j) ? nonzeros + k : k];
  if (!unknowns_.empty() && !solver_.factor(matrix_.data())) return false;
  for (std::size_t j = 0; j < unknowns_.size(); ++j) {
    const Node& symbol = *dae_.definition().unknowns[j].node();
    const bool differential = dae_.is_differential(j);
    double magnitude = 0.0;
    if (differential && symbol.index < largest.values.size())
      magnitude = symbol.order == 0   ? largest.values[symbol.index]
                  : symbol.order == 1 ? largest.slopes[symbol.index]
                                      : 0.0;
    unknowns_[j] = PowerSeries::constant(x[j], magnitude);
    if (differential) unknowns_[j].value[1] = dx[j];
    unknowns_[j].known = differential ? 2 : 1;
  }
  extend(data, at, highest);
  return true;
}

void FlowSeries::extend(const DaeData& data, const SystemState& at, int highest) {
  const int known = highest_;
  highest_ = std::min(highest, PowerSeries::kHighest);
  for (int power = known; power < highest_ && !unknowns_.empty(); ++power) {
    put_leaves(residuals_, sources_, data, at);
    solve_for(power);
  }
}

}  // namespace saltus
