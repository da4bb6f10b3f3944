#include "linalg/recorded_lu.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// An entry may be a pivot if it is at least this fraction of the largest in its column (rows
// equilibrated): small enough to keep fill low, large enough to keep multipliers bounded.
constexpr double kPivotThreshold = 0.1;
// Replayed pivots are given up when a multiplier exceeds this (rows equilibrated).
constexpr double kLargestMultiplier = 1e6;
constexpr double kSingularPivot = 16.0 * kEpsilon;

// std::complex multiplication and division check for infinities at every operation; factors are
// finite here, and the result is checked once.
double multiply(double a, double b) { return a * b; }
std::complex<double> multiply(const std::complex<double>& a, const std::complex<double>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
double reciprocal(double a) { return 1.0 / a; }
std::complex<double> reciprocal(const std::complex<double>& a) {
  const double size = a.real() * a.real() + a.imag() * a.imag();
  return {a.real() / size, -a.imag() / size};
}
double magnitude(double a) { return std::abs(a); }
double magnitude(const std::complex<double>& a) { return std::abs(a.real()) + std::abs(a.imag()); }

}  // namespace

template <class Scalar>
RecordedLu<Scalar>::RecordedLu(const Pattern& pattern) : pattern_(pattern), n_(pattern.rows) {
  inverse_pivot_.resize(n_);
  work_.resize(n_);
}

template <class Scalar>
bool RecordedLu<Scalar>::factor(const Scalar* values) {
  if (recorded_ && replay(values)) return true;
  recorded_ = record(values) && replay(values);
  return recorded_;
}

// Right-looking elimination on a dense copy: chooses the pivots, finds the fill, then lists what a
// replay has to do.
template <class Scalar>
bool RecordedLu<Scalar>::record(const Scalar* values) {
  const int n = n_;
  dependent_column_ = -1;
  ++recordings_;
  std::vector<Scalar> a(static_cast<std::size_t>(n) * n, Scalar(0.0));
  std::vector<char> present(static_cast<std::size_t>(n) * n, 0);
  std::vector<std::vector<int>> row_columns(n);  // active entries of each row
  std::vector<double> row_scale(n, 0.0);
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i) * n + j; };
  for (int j = 0; j < n; ++j) {
    for (int k = pattern_.start[j]; k < pattern_.start[j + 1]; ++k) {
      const int i = pattern_.row[k];
      if (!std::isfinite(magnitude(values[k]))) return false;
      a[at(i, j)] = values[k];
      present[at(i, j)] = 1;
      row_columns[i].push_back(j);
      row_scale[i] = std::max(row_scale[i], magnitude(values[k]));
    }
  }
  for (double& s : row_scale) s = s > 0.0 ? 1.0 / s : 1.0;
  std::vector<double> column_size(n, 0.0);
  for (int i = 0; i < n; ++i)
    for (const int j : row_columns[i])
      column_size[j] = std::max(column_size[j], magnitude(a[at(i, j)]) * row_scale[i]);

  std::vector<int> rows(n), columns(n);  // active ones
  for (int i = 0; i < n; ++i) rows[i] = columns[i] = i;
  std::vector<std::vector<int>> column_rows(n);  // active entries of each column
  for (int i = 0; i < n; ++i)
    for (const int j : row_columns[i]) column_rows[j].push_back(i);
  std::vector<double> column_largest(column_size);
  row_of_.assign(n, 0);
  column_of_.assign(n, 0);
  std::vector<int> row_position(n), column_position(n);
  // A column with one entry left is a pivot without multipliers: no search.
  std::vector<int> single_columns;
  for (int j = 0; j < n; ++j)
    if (column_rows[j].size() == 1) single_columns.push_back(j);
  for (int step = 0; step < n; ++step) {
    int pivot_row = -1;
    int pivot_column = -1;
    while (!single_columns.empty() && pivot_row < 0) {
      pivot_column = single_columns.back();
      single_columns.pop_back();
      if (column_rows[pivot_column].size() == 1 &&
          column_largest[pivot_column] > kSingularPivot * column_size[pivot_column])
        pivot_row = column_rows[pivot_column].front();
    }
    long best_cost = std::numeric_limits<long>::max();
    double best_size = 0.0;
    if (pivot_row < 0) {
      for (const int i : rows) {
        const long others = static_cast<long>(row_columns[i].size()) - 1;
        if (others > best_cost) continue;  // columns have at least one other entry here
        for (const int j : row_columns[i]) {
          const long cost = others * (static_cast<long>(column_rows[j].size()) - 1);
          if (cost > best_cost) continue;  // first, for it is what most entries fail at
          const double size = magnitude(a[at(i, j)]) * row_scale[i];
          if (size < kPivotThreshold * column_largest[j] || size <= kSingularPivot * column_size[j])
            continue;
          const double relative = size / column_largest[j];
          if (cost == best_cost && relative <= best_size) continue;
          best_cost = cost;
          best_size = relative;
          pivot_row = i;
          pivot_column = j;
        }
      }
    }
    if (pivot_row < 0) {
      dependent_column_ = columns.front();
      for (const int j : columns)
        if (column_largest[j] < column_largest[dependent_column_]) dependent_column_ = j;
      return false;
    }
    row_of_[step] = pivot_row;
    column_of_[step] = pivot_column;
    row_position[pivot_row] = column_position[pivot_column] = step;
    std::erase(rows, pivot_row);
    std::erase(columns, pivot_column);
    std::erase(row_columns[pivot_row], pivot_column);
    std::erase(column_rows[pivot_column], pivot_row);
    for (const int j : row_columns[pivot_row]) std::erase(column_rows[j], pivot_row);
    const Scalar inverse = reciprocal(a[at(pivot_row, pivot_column)]);
    for (const int i : column_rows[pivot_column]) {
      std::erase(row_columns[i], pivot_column);
      const Scalar factor = multiply(a[at(i, pivot_column)], inverse);
      for (const int j : row_columns[pivot_row]) {
        a[at(i, j)] -= multiply(factor, a[at(pivot_row, j)]);
        if (present[at(i, j)]) continue;
        present[at(i, j)] = 1;
        row_columns[i].push_back(j);
        column_rows[j].push_back(i);
      }
    }
    for (const int j : row_columns[pivot_row]) {
      if (column_rows[j].size() == 1) single_columns.push_back(j);
      column_largest[j] = 0.0;
      for (const int i : column_rows[j])
        column_largest[j] = std::max(column_largest[j], magnitude(a[at(i, j)]) * row_scale[i]);
    }
  }

  row_scale_.resize(n);
  row_size_.resize(n);
  for (int i = 0; i < n; ++i) {
    row_scale_[i] = row_scale[row_of_[i]];
    row_size_[i] = 1.0 / row_scale_[i];
  }

  // Lay out the factors row by row in pivot order.
  std::vector<int> place(static_cast<std::size_t>(n) * n, -1);  // (row, column) in pivot order
  lower_begin_.clear();
  upper_begin_.clear();
  entry_column_.clear();
  for (int i = 0; i < n; ++i) {
    lower_begin_.push_back(static_cast<int>(entry_column_.size()));
    for (int k = 0; k < n; ++k) {
      if (k == i) {
        upper_begin_.push_back(static_cast<int>(entry_column_.size()));
        continue;
      }
      if (!present[at(row_of_[i], column_of_[k])]) continue;
      place[at(i, k)] = static_cast<int>(entry_column_.size());
      entry_column_.push_back(k);
    }
  }
  lower_begin_.push_back(static_cast<int>(entry_column_.size()));
  const int first_pivot = static_cast<int>(entry_column_.size());
  factors_.assign(entry_column_.size() + static_cast<std::size_t>(n), Scalar(0.0));
  scatter_.clear();
  for (int j = 0; j < n; ++j) {
    for (int k = pattern_.start[j]; k < pattern_.start[j + 1]; ++k) {
      const int i = row_position[pattern_.row[k]];
      scatter_.push_back(i == column_position[j] ? first_pivot + i
                                                 : place[at(i, column_position[j])]);
    }
  }
  targets_.clear();
  for (int i = 0; i < n; ++i) {
    for (int l = lower_begin_[i]; l < upper_begin_[i]; ++l) {
      const int k = entry_column_[l];
      for (int u = upper_begin_[k]; u < lower_begin_[k + 1]; ++u) {
        const int j = entry_column_[u];
        targets_.push_back(j == i ? first_pivot + i : place[at(i, j)]);
      }
    }
  }
  return true;
}

template <class Scalar>
bool RecordedLu<Scalar>::replay(const Scalar* values) {
  std::fill(factors_.begin(), factors_.end(), Scalar(0.0));
  for (std::size_t k = 0; k < scatter_.size(); ++k) factors_[scatter_[k]] = values[k];
  Scalar* const factors = factors_.data();
  const Scalar* const pivots = factors + entry_column_.size();
  const int* target = targets_.data();
  double largest = 0.0;
  for (int i = 0; i < n_; ++i) {
    for (int l = lower_begin_[i]; l < upper_begin_[i]; ++l) {
      const int k = entry_column_[l];
      const Scalar factor = multiply(factors[l], inverse_pivot_[k]);
      factors[l] = factor;
      largest = std::max(largest, magnitude(factor) * row_scale_[i] * row_size_[k]);
      const int end = lower_begin_[k + 1];
      for (int u = upper_begin_[k]; u < end; ++u, ++target)
        factors[*target] -= multiply(factor, factors[u]);
    }
    inverse_pivot_[i] = reciprocal(pivots[i]);
    // Negated so that a NaN or a zero pivot fails too.
    if (!(magnitude(inverse_pivot_[i]) <= std::numeric_limits<double>::max())) return false;
  }
  return largest <= kLargestMultiplier;
}

template <class Scalar>
void RecordedLu<Scalar>::solve(Scalar* b) const {
  const Scalar* const factors = factors_.data();
  const int* const column = entry_column_.data();
  Scalar* const work = work_.data();
  for (int i = 0; i < n_; ++i) {
    Scalar sum = b[row_of_[i]];
    const int end = upper_begin_[i];
    for (int l = lower_begin_[i]; l < end; ++l) sum -= multiply(factors[l], work[column[l]]);
    work[i] = sum;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    Scalar sum = work[i];
    const int end = lower_begin_[i + 1];
    for (int u = upper_begin_[i]; u < end; ++u) sum -= multiply(factors[u], work[column[u]]);
    work[i] = multiply(sum, inverse_pivot_[i]);
  }
  for (int i = 0; i < n_; ++i) b[column_of_[i]] = work[i];
}

template <class Scalar>
double RecordedLu<Scalar>::pivot_ratio() const {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t k = entry_column_.size(); k < factors_.size(); ++k) {
    smallest = std::min(smallest, magnitude(factors_[k]));
    largest = std::max(largest, magnitude(factors_[k]));
  }
  return n_ == 0 ? 1.0 : smallest / largest;
}

template class RecordedLu<double>;
template class RecordedLu<std::complex<double>>;

}  // namespace saltus
