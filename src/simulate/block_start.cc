#include "simulate/block_start.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/strong_components.h"
#include "expr/differentiate.h"

namespace saltus {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Matches equations to columns, breadth first.
class Matching {
 public:
  Matching(const std::vector<std::vector<std::size_t>>& rows, std::size_t columns)
      : rows_(rows), row_of_(columns, kNone), column_of_(rows.size(), kNone), from_(columns) {}

  // `usable`: the columns that may be taken.
  bool augment(std::size_t start, const std::vector<bool>& usable) {
    std::vector<std::size_t> reached = {start};
    std::fill(from_.begin(), from_.end(), kNone);
    for (std::size_t head = 0; head < reached.size(); ++head)
      for (const std::size_t column : rows_[reached[head]]) {
        if (!usable[column] || from_[column] != kNone) continue;
        from_[column] = reached[head];
        if (row_of_[column] != kNone) {
          reached.push_back(row_of_[column]);
          continue;
        }
        for (std::size_t c = column; c != kNone;) {
          const std::size_t row = from_[c];
          row_of_[c] = row;
          std::swap(column_of_[row], c);
        }
        return true;
      }
    return false;
  }

  bool is_matched(std::size_t row) const { return column_of_[row] != kNone; }
  std::size_t column_of(std::size_t row) const { return column_of_[row]; }
  std::size_t row_of(std::size_t column) const { return row_of_[column]; }

 private:
  const std::vector<std::vector<std::size_t>>& rows_;
  std::vector<std::size_t> row_of_, column_of_, from_;
};

}  // namespace

BlockStart::BlockStart(Graph& graph, const DaeDefinition& definition,
                       const std::vector<bool>& given, const std::vector<bool>& fixed)
    : rows_(definition.residuals.size()) {
  const std::size_t n = definition.unknowns.size();
  std::vector<Expr> symbols = definition.unknowns;
  symbols.insert(symbols.end(), definition.derivatives.begin(), definition.derivatives.end());
  std::vector<Expr> all = symbols;
  all.insert(all.end(), definition.held.begin(), definition.held.end());
  std::unordered_map<const Node*, std::size_t> place;
  for (std::size_t c = 0; c < all.size(); ++c) place.emplace(all[c].node(), c);
  std::vector<std::vector<std::size_t>> rows;
  for (const Expr& residual : definition.residuals) {
    auto& row = rows.emplace_back();
    for (const Expr& leaf : leaves_of(residual))
      if (const auto found = place.find(leaf.node()); found != place.end() && found->second < 2 * n)
        row.push_back(found->second);
  }
  // First what has no value of its own, then given values as far as they are needed.
  std::vector<bool> usable(2 * n, false);
  for (std::size_t j = 0; j < n; ++j)
    (given[j] ? usable[n + j] : usable[j]) = given[j] || !fixed[j];
  Matching matching(rows, 2 * n);
  for (std::size_t i = 0; i < rows.size(); ++i) matching.augment(i, usable);
  for (std::size_t j = 0; j < n; ++j)
    if (given[j] && !fixed[j]) usable[j] = true;
  for (excess_ = 0; excess_ < rows_; ++excess_)
    if (!matching.is_matched(excess_) && !matching.augment(excess_, usable)) return;
  std::size_t open = 0;
  std::size_t taken = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (!given[j] || fixed[j]) continue;
    ++open;
    if (matching.row_of(j) != kNone) ++taken;
  }
  leaves_no_choice_ = taken == 0 || taken == open;

  std::vector<std::vector<std::size_t>> reads(rows.size());  // rows that find what a row reads
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const std::size_t column : rows[i])
      if (const std::size_t other = matching.row_of(column); other != kNone && other != i)
        reads[i].push_back(other);
  const std::vector<std::vector<std::size_t>> groups = strong_components(reads);
  std::vector<std::size_t> level_of(rows.size(), 0);
  for (const std::vector<std::size_t>& group : groups) {
    std::size_t level = 0;
    for (const std::size_t row : group)
      for (const std::size_t other : reads[row])
        if (std::ranges::find(group, other) == group.end())
          level = std::max(level, level_of[other] + 1);
    for (const std::size_t row : group) level_of[row] = level;
    if (levels_.size() <= level) levels_.resize(level + 1);
    if (group.size() == 1) {
      const std::size_t row = group.front();
      const Expr& own = symbols[matching.column_of(row)];
      if (polynomial_degree(definition.residuals[row], std::span(&own, 1)) == 1) {
        levels_[level].wave.rows.push_back(row);
        levels_[level].wave.columns.push_back(matching.column_of(row));
        continue;
      }
    }
    Block& block = levels_[level].blocks.emplace_back();
    DaeDefinition def;
    def.time = definition.time;
    def.parameters = definition.parameters;
    std::vector<Expr> residuals;
    for (const std::size_t row : group) {
      const std::size_t column = matching.column_of(row);
      block.rows.push_back(row);
      block.columns.push_back(column);
      def.residuals.push_back(definition.residuals[row]);
      def.equation_names.push_back(definition.equation_names[row]);
      def.unknowns.push_back(symbols[column]);
      def.derivatives.push_back(graph.new_variable("d/dt of a start value"));
      def.unknown_names.push_back(to_string(symbols[column]));
      def.nominal.push_back(definition.nominal[column % n]);
    }
    for (const Expr& leaf : leaves_of(def.residuals)) {
      const auto found = place.find(leaf.node());
      if (found == place.end() ||
          std::ranges::find(block.columns, found->second) != block.columns.end())
        continue;
      block.reads.push_back(found->second);
      def.held.push_back(leaf);
    }
    block.dae = std::make_unique<const Dae>(std::move(def));
    block.solver =
        std::make_unique<ConsistentSolver>(*block.dae, std::vector<bool>(group.size(), false));
    block.data = block.dae->make_data();
  }
  for (Level& level : levels_) {
    Wave& wave = level.wave;
    std::vector<Expr> formulas;
    for (const std::size_t row : wave.rows) formulas.push_back(definition.residuals[row]);
    for (std::size_t k = 0; k < wave.rows.size(); ++k)
      formulas.push_back(partial(formulas[k], symbols[wave.columns[k]]));
    wave.tape = Tape(formulas, definition.inputs(), TapeCode::kInterpreted);
    wave.registers = wave.tape.make_workspace();
    wave.values.resize(formulas.size());
  }
}

ConsistentOutcome BlockStart::solve(const DaeData& data, double t, std::vector<double>& x,
                                    std::vector<double>& dx) {
  if (excess_ < rows_) return {ConsistentStatus::kNotConverged, excess_};
  for (Level& level : levels_) {
    if (const ConsistentOutcome outcome = solve_wave(level.wave, data, t, x, dx); !outcome.ok())
      return outcome;
    for (Block& block : level.blocks)
      if (const ConsistentOutcome outcome = solve_block(block, data, t, x, dx); !outcome.ok())
        return outcome;
  }
  return {};
}

ConsistentOutcome BlockStart::solve_wave(Wave& wave, const DaeData& data, double t,
                                         std::vector<double>& x, std::vector<double>& dx) const {
  const double* inputs[] = {&t, x.data(), dx.data(), data.parameters.data(), data.held.data()};
  wave.tape.evaluate(inputs, wave.registers, wave.values.data());
  for (std::size_t k = 0; k < wave.rows.size(); ++k) {
    const double residual = wave.values[k];
    const double slope = wave.values[wave.rows.size() + k];
    double& value =
        wave.columns[k] < x.size() ? x[wave.columns[k]] : dx[wave.columns[k] - x.size()];
    if (residual == 0.0) continue;
    const double solution = value - residual / slope;
    if (!std::isfinite(residual)) return {ConsistentStatus::kNotFinite, wave.rows[k]};
    if (!std::isfinite(solution)) return {ConsistentStatus::kNotConverged, wave.rows[k]};
    value = solution;
  }
  return {};
}

ConsistentOutcome BlockStart::solve_block(Block& block, const DaeData& data, double t,
                                          std::vector<double>& x, std::vector<double>& dx) const {
  const std::size_t n = x.size();
  const auto value = [&](std::size_t c) -> double& { return c < n ? x[c] : dx[c - n]; };
  block.data.parameters = data.parameters;
  for (std::size_t k = 0; k < block.reads.size(); ++k)
    block.data.held[k] =
        block.reads[k] < 2 * n ? value(block.reads[k]) : data.held[block.reads[k] - 2 * n];
  std::vector<double> solution;
  for (const std::size_t c : block.columns) solution.push_back(value(c));
  std::vector<double> slopes(solution.size(), 0.0);
  const ConsistentOutcome outcome =
      block.solver->solve(block.data, t, solution.data(), slopes.data());
  if (!outcome.ok()) return {outcome.status, block.rows[outcome.index]};
  for (std::size_t k = 0; k < solution.size(); ++k) value(block.columns[k]) = solution[k];
  return outcome;
}

}  // namespace saltus
