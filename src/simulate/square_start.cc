#include "simulate/square_start.h"

#include <algorithm>
#include <unordered_map>

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
  bool takes(std::size_t column) const { return row_of_[column] != kNone; }

 private:
  const std::vector<std::vector<std::size_t>>& rows_;
  std::vector<std::size_t> row_of_, column_of_, from_;
};

}  // namespace

SquareStart::SquareStart(Graph& graph, const DaeDefinition& definition,
                         const std::vector<bool>& given, const std::vector<bool>& fixed) {
  const std::size_t n = definition.unknowns.size();
  std::vector<Expr> symbols = definition.unknowns;
  symbols.insert(symbols.end(), definition.derivatives.begin(), definition.derivatives.end());
  std::unordered_map<const Node*, std::size_t> column;
  for (std::size_t c = 0; c < symbols.size(); ++c) column.emplace(symbols[c].node(), c);
  std::vector<std::vector<std::size_t>> rows;
  for (const Expr& residual : definition.residuals) {
    auto& row = rows.emplace_back();
    for (const Expr& leaf : leaves_of(residual))
      if (const auto found = column.find(leaf.node()); found != column.end())
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
  for (excess_ = 0; excess_ < rows.size(); ++excess_)
    if (!matching.is_matched(excess_) && !matching.augment(excess_, usable)) return;

  DaeDefinition square = definition;
  square.unknowns.clear();
  square.derivatives.clear();
  square.unknown_names.clear();
  square.nominal.clear();
  square.controlled.clear();
  for (std::size_t c = 0; c < symbols.size(); ++c) {
    if (!matching.takes(c)) {
      kept_.push_back(c);
      square.held.push_back(symbols[c]);
      continue;
    }
    chosen_.push_back(c);
    square.unknowns.push_back(symbols[c]);
    square.derivatives.push_back(graph.new_variable("d/dt of a start value"));
    square.unknown_names.push_back(to_string(symbols[c]));
    square.nominal.push_back(definition.nominal[c % n]);
  }
  dae_ = std::make_unique<const Dae>(std::move(square));
  solver_ = std::make_unique<ConsistentSolver>(*dae_, std::vector<bool>(chosen_.size(), false));
}

ConsistentOutcome SquareStart::solve(const DaeData& data, double t, std::vector<double>& x,
                                     std::vector<double>& dx) {
  const std::size_t n = x.size();
  const auto value = [&](std::size_t c) -> double& { return c < n ? x[c] : dx[c - n]; };
  DaeData own = dae_->make_data();
  own.parameters = data.parameters;
  std::copy(data.held.begin(), data.held.end(), own.held.begin());
  for (std::size_t k = 0; k < kept_.size(); ++k) own.held[data.held.size() + k] = value(kept_[k]);
  std::vector<double> solution;
  for (const std::size_t c : chosen_) solution.push_back(value(c));
  std::vector<double> slopes(solution.size(), 0.0);
  const ConsistentOutcome outcome = solver_->solve_unique(own, t, solution.data(), slopes.data());
  if (!outcome.ok()) return outcome;
  for (std::size_t k = 0; k < chosen_.size(); ++k) value(chosen_[k]) = solution[k];
  return outcome;
}

}  // namespace saltus
