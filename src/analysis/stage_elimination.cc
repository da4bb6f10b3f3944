#include "analysis/stage_elimination.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>

namespace saltus {
namespace {

constexpr double kRankTolerance = 1e-11;
// Entries that differ by less than rounding are alike; the one in the shorter column is the pivot.
constexpr double kAlike = 1.0 - 1e-12;
// Up to this many equations are taken in the order in which they are written.
constexpr std::size_t kFillMatters = 100;

// What is left of terms that cancel is no pivot.
double usable(double value, double largest) {
  return std::abs(value) <= kRankTolerance * largest ? 0.0 : std::abs(value);
}

}  // namespace

StageElimination::StageElimination(const ReducedForm& form, int stage)
    : form_(form),
      stage_(stage),
      avoid_fill_(form.equation_stages.size() > kFillMatters),
      rows_(form.equation_stages.size()),
      rows_with_(form.unknown_orders.size()),
      item_of_(form.unknown_orders.size(), kNone) {}

std::size_t StageElimination::candidate(std::size_t unknown) const {
  return form_
      .symbol_candidates[unknown][static_cast<std::size_t>(form_.unknown_orders[unknown] - stage_)];
}

void StageElimination::set_up(const std::vector<double>& values,
                              const std::vector<bool>& eligible) {
  for (std::vector<Item>& row : rows_) row.clear();
  for (std::vector<Index>& column : rows_with_) column.clear();
  largest_.assign(rows_.size(), 0.0);
  free_column_.assign(rows_.size(), kNone);
  pivoted_.assign(rows_with_.size(), false);
  for (auto* list : {&entry_at_, &row_places_, &factors_, &targets_}) list->clear();
  steps_.clear();
  places_ = 0;
  smallest_pivot_ = 1.0;
  for (std::size_t e = 0; e < form_.entries.size(); ++e) {
    const ReducedForm::Entry& entry = form_.entries[e];
    if (form_.equation_stages[entry.equation] < stage_ || !eligible[entry.unknown]) continue;
    const auto i = static_cast<Index>(entry.equation);
    const auto j = static_cast<Index>(entry.unknown);
    if (entry.constant && candidate(j) == ReducedForm::npos) free_column_[i] = j;
    rows_[i].push_back({j, new_place(), values[e]});
    entry_at_.push_back(static_cast<Index>(e));
    rows_with_[j].push_back(i);
    largest_[i] = std::max(largest_[i], std::abs(values[e]));
  }
}

bool StageElimination::eliminate(const std::vector<double>& values,
                                 const std::vector<bool>& eligible) {
  set_up(values, eligible);
  // By: no symbol that is eliminated anyway, fill, row. Where a row is queued more than once, only
  // the fill known last counts.
  using Key = std::tuple<bool, std::size_t, Index>;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> queue;
  std::vector<std::size_t> fill(rows_.size());
  std::vector<bool> waits(rows_.size(), false);
  const auto enqueue = [&](Index i) {
    fill[i] = avoid_fill_ ? choose(i).fill : 0;
    queue.emplace(free_column_[i] == kNone, fill[i], i);
  };
  for (Index i = 0; i < rows_.size(); ++i) {
    if (form_.equation_stages[i] < stage_) continue;
    waits[i] = true;
    enqueue(i);
  }
  std::vector<Index> touched;
  while (!queue.empty()) {
    const auto [is_last, queued_fill, i] = queue.top();
    queue.pop();
    if (!waits[i] || queued_fill != fill[i]) continue;
    const Choice choice = choose(i);
    if (choice.column == kNone) {
      dependent_row_ = i;
      return false;
    }
    waits[i] = false;
    touched.clear();
    if (avoid_fill_)
      for (const Item& item : rows_[i])
        for (const Index other : rows_with_[item.column])
          if (waits[other]) touched.push_back(other);
    pivot(i, choice.column);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const Index other : touched) enqueue(other);
  }
  value_at_.assign(places_, 0.0);
  return true;
}

StageElimination::Choice StageElimination::choose(Index i) const {
  const std::vector<Item>& row = rows_[i];
  Choice choice;
  // Of a chain of symbols that are eliminated anyway (w1 = w2, w2 = i w3) each row takes one that
  // is left: the choice of states has no row for any of them.
  Index own = kNone;
  double largest_own = 0.0;
  for (const Item& item : row) {
    if (free_column_[i] == kNone || candidate(item.column) != ReducedForm::npos) continue;
    const double mine = item.column == free_column_[i] ? HUGE_VAL : usable(item.value, largest_[i]);
    if (mine > largest_own) {
      own = item.column;
      largest_own = mine;
    }
  }
  if (own != kNone) {
    choice.column = own;
  } else {
    double best = 0.0;
    for (const Item& item : row) best = std::max(best, usable(item.value, largest_[i]));
    double most = 0.0;
    std::size_t shortest = 0;
    for (const Item& item : row) {
      const double mine = usable(item.value, largest_[i]);
      if (!(mine > 0.0 && mine >= kAlike * best)) continue;
      const std::size_t length = avoid_fill_ ? rows_with_[item.column].size() : 0;
      const bool is_better =
          choice.column == kNone || length < shortest ||
          (length == shortest && (mine > most || (mine == most && item.column < choice.column)));
      if (!is_better) continue;
      choice.column = item.column;
      most = mine;
      shortest = length;
    }
  }
  if (avoid_fill_ && choice.column != kNone)
    choice.fill = (row.size() - 1) * (rows_with_[choice.column].size() - 1);
  return choice;
}

// Subtracts the row from the others of this column.
void StageElimination::pivot(Index i, Index column) {
  std::vector<Item>& row = rows_[i];
  for (const Item& item : row) std::erase(rows_with_[item.column], i);
  std::swap(*std::ranges::find(row, column, &Item::column), row.back());
  const Item pivot = row.back();
  row.pop_back();
  pivoted_[column] = true;
  smallest_pivot_ = std::min(smallest_pivot_, std::abs(pivot.value) / largest_[i]);

  Step step{i, column == free_column_[i], pivot.place, static_cast<Index>(row_places_.size()), 0,
            0};
  for (const Item& item : row) row_places_.push_back(item.place);
  step.end = static_cast<Index>(row_places_.size());
  for (const Index other : rows_with_[column]) {
    std::vector<Item>& items = rows_[other];
    std::swap(*std::ranges::find(items, column, &Item::column), items.back());
    const double factor = items.back().value / pivot.value;
    factors_.push_back(items.back().place);
    items.pop_back();
    for (Index k = 0; k < items.size(); ++k) item_of_[items[k].column] = k;
    for (const Item& item : row) {
      Index& k = item_of_[item.column];
      if (k == kNone) {
        k = static_cast<Index>(items.size());
        items.push_back({item.column, new_place(), 0.0});
        rows_with_[item.column].push_back(other);
      }
      items[k].value -= factor * item.value;
      targets_.push_back(items[k].place);
    }
    for (const Item& item : items) item_of_[item.column] = kNone;
  }
  rows_with_[column].clear();
  step.subtracted_from = static_cast<Index>(factors_.size());
  steps_.push_back(step);
}

bool StageElimination::repeat(const std::vector<double>& values, double loyalty) {
  std::fill(largest_.begin(), largest_.end(), 0.0);
  for (std::size_t p = 0; p < entry_at_.size(); ++p) {
    value_at_[p] = values[entry_at_[p]];
    double& largest = largest_[form_.entries[entry_at_[p]].equation];
    largest = std::max(largest, std::abs(value_at_[p]));
  }
  std::fill(value_at_.begin() + static_cast<std::ptrdiff_t>(entry_at_.size()), value_at_.end(),
            0.0);
  smallest_pivot_ = 1.0;
  std::size_t f = 0;
  const Index* target = targets_.data();
  for (const Step& step : steps_) {
    const double pivot = value_at_[step.pivot];
    const double largest = largest_[step.row];
    if (!step.is_free) {
      const double reach = loyalty * usable(pivot, largest);
      // Negated so that a NaN fails too.
      if (!(reach > 0.0)) return false;
      for (Index k = step.begin; k < step.end; ++k)
        if (!(std::abs(value_at_[row_places_[k]]) <= reach)) return false;
    }
    smallest_pivot_ = std::min(smallest_pivot_, std::abs(pivot) / largest);
    for (; f < step.subtracted_from; ++f) {
      const double factor = value_at_[factors_[f]] / pivot;
      for (Index k = step.begin; k < step.end; ++k)
        value_at_[*target++] -= factor * value_at_[row_places_[k]];
    }
  }
  return true;
}

}  // namespace saltus
