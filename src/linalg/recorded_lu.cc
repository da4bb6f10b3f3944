#include "linalg/recorded_lu.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "base/processor_time.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// An entry may be a pivot if it is at least this fraction of the largest in its column (rows
// equilibrated): small enough to keep fill low, large enough to keep multipliers bounded.
constexpr double kPivotThreshold = 0.1;
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
// A sum of products that machine code can form in the same order (lu_machine.cc).
template <class Scalar>
class ProductSum {
 public:
  void add(double a, double b) { sum_ += a * b; }
  double value() const { return sum_; }

 private:
  double sum_ = 0.0;
};
template <>
class ProductSum<std::complex<double>> {
 public:
  void add(const std::complex<double>& a, const std::complex<double>& b) {
    rr_ += a.real() * b.real();
    ii_ += a.imag() * b.imag();
    ri_ += a.real() * b.imag();
    ir_ += a.imag() * b.real();
  }
  std::complex<double> value() const { return {rr_ - ii_, ri_ + ir_}; }

 private:
  double rr_ = 0.0, ii_ = 0.0, ri_ = 0.0, ir_ = 0.0;
};

double magnitude(double a) { return std::abs(a); }
double magnitude(const std::complex<double>& a) { return std::abs(a.real()) + std::abs(a.imag()); }

// What is left of the matrix while pivots are chosen.
template <class Scalar>
struct ActiveMatrix {
  struct Entry {
    int column;
    Scalar value;
  };

  std::vector<std::vector<Entry>> rows;
  std::vector<std::vector<int>> columns;  // rows of the entries of each column
  std::vector<double> row_scale;          // 1 / largest entry, as given
  std::vector<double> column_size;        // largest entry, as given, rows equilibrated
  std::vector<double> column_largest;     // the same of what is left
  std::vector<int> place;                 // by column: entry of the row at work, else -1

  explicit ActiveMatrix(const Pattern& pattern)
      : rows(pattern.rows),
        columns(pattern.rows),
        row_scale(pattern.rows, 0.0),
        column_size(pattern.rows, 0.0),
        place(pattern.rows, -1) {}

  // False if a value is not finite.
  bool fill(const Pattern& pattern, const Scalar* values) {
    for (int j = 0; j < pattern.columns; ++j) {
      for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
        const int i = pattern.row[k];
        if (!std::isfinite(magnitude(values[k]))) return false;
        rows[i].push_back({j, values[k]});
        columns[j].push_back(i);
        row_scale[i] = std::max(row_scale[i], magnitude(values[k]));
      }
    }
    for (double& s : row_scale) s = s > 0.0 ? 1.0 / s : 1.0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (const Entry& entry : rows[i])
        column_size[entry.column] =
            std::max(column_size[entry.column], magnitude(entry.value) * row_scale[i]);
    column_largest = column_size;
    return true;
  }

  // Takes the entry of this column out of the row.
  Scalar remove(int row, int column) {
    std::vector<Entry>& entries = rows[row];
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [column](const Entry& e) { return e.column == column; });
    const Scalar value = found->value;
    *found = entries.back();
    entries.pop_back();
    return value;
  }

  void subtract(int row, const Scalar& factor, const std::vector<Entry>& pivot_row) {
    std::vector<Entry>& entries = rows[row];
    for (std::size_t k = 0; k < entries.size(); ++k) place[entries[k].column] = static_cast<int>(k);
    for (const Entry& entry : pivot_row) {
      int& at = place[entry.column];
      if (at < 0) {
        at = static_cast<int>(entries.size());
        entries.push_back({entry.column, Scalar(0.0)});
        columns[entry.column].push_back(row);
      }
      entries[at].value -= multiply(factor, entry.value);
    }
    for (const Entry& entry : entries) place[entry.column] = -1;
  }

  void measure(int column) {
    column_largest[column] = 0.0;
    for (const int i : columns[column])
      for (const Entry& entry : rows[i])
        if (entry.column == column)
          column_largest[column] =
              std::max(column_largest[column], magnitude(entry.value) * row_scale[i]);
  }
};

}  // namespace

template <class Scalar>
RecordedLu<Scalar>::RecordedLu(const Pattern& pattern) : pattern_(pattern), n_(pattern.rows) {
  work_.resize(n_);
}

template <class Scalar>
void RecordedLu<Scalar>::take_pivots(const RecordedLu<double>& other) {
  if (recorded_ || !other.recorded_) return;
  recorded_ = true;
  layout_ = other.layout_;
  lower_ = other.lower_;
  lower_weight_ = other.lower_weight_;
  factors_.assign(other.factors_.size(), Scalar(0.0));
  replays_ = 0;
  machine_ = {};
}

template <class Scalar>
bool RecordedLu<Scalar>::factor(const Scalar* values) {
  if (recorded_ && replay(values)) return true;
  recorded_ = choose_pivots(values) && replay(values);
  return recorded_;
}

// Right-looking elimination: chooses the pivots, finds the fill, then lists what a replay has to
// do.
template <class Scalar>
bool RecordedLu<Scalar>::choose_pivots(const Scalar* values) {
  using Entry = typename ActiveMatrix<Scalar>::Entry;
  const int n = n_;
  dependent_column_ = -1;
  ++recordings_;
  replays_ = 0;
  machine_ = {};
  ActiveMatrix<Scalar> a(pattern_);
  if (!a.fill(pattern_, values)) return false;
  std::vector<int> rows(n);  // active ones
  for (int i = 0; i < n; ++i) rows[i] = i;
  layout_.row_of.assign(n, 0);
  layout_.column_of.assign(n, 0);
  std::vector<int> row_position(n), column_position(n, -1);
  std::vector<std::vector<int>> lower(n);  // by row: steps whose pivot row was subtracted
  // A column with one entry left is a pivot without multipliers: no search.
  std::vector<int> single_columns;
  for (int j = 0; j < n; ++j)
    if (a.columns[j].size() == 1) single_columns.push_back(j);
  for (int step = 0; step < n; ++step) {
    int pivot_row = -1;
    int pivot_column = -1;
    while (!single_columns.empty() && pivot_row < 0) {
      pivot_column = single_columns.back();
      single_columns.pop_back();
      if (a.columns[pivot_column].size() == 1 &&
          a.column_largest[pivot_column] > kSingularPivot * a.column_size[pivot_column])
        pivot_row = a.columns[pivot_column].front();
    }
    long best_cost = std::numeric_limits<long>::max();
    double best_size = 0.0;
    if (pivot_row < 0) {
      for (const int i : rows) {
        const long others = static_cast<long>(a.rows[i].size()) - 1;
        if (others > best_cost) continue;  // columns have at least one other entry here
        for (const Entry& entry : a.rows[i]) {
          const int j = entry.column;
          const long cost = others * (static_cast<long>(a.columns[j].size()) - 1);
          if (cost > best_cost) continue;
          const double size = magnitude(entry.value) * a.row_scale[i];
          if (size < kPivotThreshold * a.column_largest[j] ||
              size <= kSingularPivot * a.column_size[j])
            continue;
          const double relative = size / a.column_largest[j];
          if (cost == best_cost && relative <= best_size) continue;
          best_cost = cost;
          best_size = relative;
          pivot_row = i;
          pivot_column = j;
        }
      }
    }
    if (pivot_row < 0) {
      for (int j = 0; j < n; ++j)
        if (column_position[j] < 0 &&
            (dependent_column_ < 0 || a.column_largest[j] < a.column_largest[dependent_column_]))
          dependent_column_ = j;
      return false;
    }
    layout_.row_of[step] = pivot_row;
    layout_.column_of[step] = pivot_column;
    row_position[pivot_row] = column_position[pivot_column] = step;
    std::erase(rows, pivot_row);
    const Scalar inverse = reciprocal(a.remove(pivot_row, pivot_column));
    std::erase(a.columns[pivot_column], pivot_row);
    for (const Entry& entry : a.rows[pivot_row]) std::erase(a.columns[entry.column], pivot_row);
    for (const int i : a.columns[pivot_column]) {
      lower[i].push_back(step);
      a.subtract(i, multiply(a.remove(i, pivot_column), inverse), a.rows[pivot_row]);
    }
    for (const Entry& entry : a.rows[pivot_row]) {
      if (a.columns[entry.column].size() == 1) single_columns.push_back(entry.column);
      a.measure(entry.column);
    }
  }
  std::vector<std::vector<int>> upper(n);
  for (int i = 0; i < n; ++i) {
    for (const Entry& entry : a.rows[i]) upper[i].push_back(column_position[entry.column]);
    std::sort(upper[i].begin(), upper[i].end());
  }
  lay_out(row_position, column_position, lower, upper);
  lower_.clear();
  lower_weight_.clear();
  for (int i = 0; i < n; ++i) {
    for (int l = layout_.lower_begin[i]; l < layout_.upper_begin[i]; ++l) {
      const int source = layout_.row_of[layout_.entry_column[l]];
      lower_.push_back(l);
      lower_weight_.push_back(a.row_scale[layout_.row_of[i]] / a.row_scale[source]);
    }
  }
  return true;
}

// The factors row by row in pivot order, from the places of their entries (by row of the matrix, in
// pivot order), and where a replay finds them.
template <class Scalar>
void RecordedLu<Scalar>::lay_out(const std::vector<int>& row_position,
                                 const std::vector<int>& column_position,
                                 const std::vector<std::vector<int>>& lower,
                                 const std::vector<std::vector<int>>& upper) {
  layout_.lower_begin.clear();
  layout_.upper_begin.clear();
  layout_.entry_column.clear();
  for (const int row : layout_.row_of) {
    layout_.lower_begin.push_back(static_cast<int>(layout_.entry_column.size()));
    layout_.entry_column.insert(layout_.entry_column.end(), lower[row].begin(), lower[row].end());
    layout_.upper_begin.push_back(static_cast<int>(layout_.entry_column.size()));
    layout_.entry_column.insert(layout_.entry_column.end(), upper[row].begin(), upper[row].end());
  }
  layout_.lower_begin.push_back(static_cast<int>(layout_.entry_column.size()));
  const int first_pivot = static_cast<int>(layout_.entry_column.size());
  factors_.assign(layout_.entry_column.size() + 2 * static_cast<std::size_t>(n_), Scalar(0.0));

  std::vector<std::vector<std::pair<int, int>>> given(n_);  // by row: nonzero, column
  for (int j = 0; j < n_; ++j)
    for (int k = pattern_.start[j]; k < pattern_.start[j + 1]; ++k)
      given[row_position[pattern_.row[k]]].emplace_back(k, column_position[j]);
  layout_.scatter.resize(pattern_.row.size());
  layout_.targets.clear();
  std::vector<int> place(n_);  // of the entries of the row at work
  for (int i = 0; i < n_; ++i) {
    for (int e = layout_.lower_begin[i]; e < layout_.lower_begin[i + 1]; ++e)
      place[layout_.entry_column[e]] = e;
    place[i] = first_pivot + i;
    for (const auto& [k, column] : given[i]) layout_.scatter[k] = place[column];
    for (int l = layout_.lower_begin[i]; l < layout_.upper_begin[i]; ++l) {
      const int k = layout_.entry_column[l];
      for (int u = layout_.upper_begin[k]; u < layout_.lower_begin[k + 1]; ++u)
        layout_.targets.push_back(place[layout_.entry_column[u]]);
    }
  }
}

template <class Scalar>
bool RecordedLu<Scalar>::replay(const Scalar* values) {
  if (++replays_ == kReplaysWorthCode) compile();
  if (machine_.code != nullptr) {
    machine_.factor(values, factors_.data());
  } else {
    eliminate(values);
  }
  return pivots_are_good();
}

template <class Scalar>
void RecordedLu<Scalar>::compile() {
  const BuildingTime building;
  if (!recorded_ || machine_.code != nullptr) return;
  if (layout_.is_short()) machine_ = compile_lu<Scalar>(layout_);
}

template <class Scalar>
void RecordedLu<Scalar>::eliminate(const Scalar* values) {
  std::fill(factors_.begin(), factors_.end(), Scalar(0.0));
  for (std::size_t k = 0; k < layout_.scatter.size(); ++k) factors_[layout_.scatter[k]] = values[k];
  Scalar* const factors = factors_.data();
  Scalar* const reciprocals = factors + layout_.reciprocal(0);
  const int* target = layout_.targets.data();
  for (int i = 0; i < n_; ++i) {
    for (int l = layout_.lower_begin[i]; l < layout_.upper_begin[i]; ++l) {
      const int k = layout_.entry_column[l];
      const Scalar factor = multiply(factors[l], reciprocals[k]);
      factors[l] = factor;
      const int end = layout_.lower_begin[k + 1];
      for (int u = layout_.upper_begin[k]; u < end; ++u, ++target)
        factors[*target] -= multiply(factor, factors[u]);
    }
    reciprocals[i] = reciprocal(factors[layout_.pivot(i)]);
  }
}

template <class Scalar>
bool RecordedLu<Scalar>::pivots_are_good() const {
  const Scalar* const factors = factors_.data();
  const Scalar* const reciprocals = factors + layout_.reciprocal(0);
  for (int i = 0; i < n_; ++i)
    // Negated so that a NaN or a zero pivot fails too.
    if (!(magnitude(reciprocals[i]) <= std::numeric_limits<double>::max())) return false;
  double largest = 0.0;
  for (std::size_t k = 0; k < lower_.size(); ++k)
    largest = std::max(largest, magnitude(factors[lower_[k]]) * lower_weight_[k]);
  return largest <= kLargestMultiplier;
}

template <class Scalar>
void RecordedLu<Scalar>::solve(Scalar* b) const {
  if (machine_.code != nullptr) {
    machine_.solve(factors_.data(), work_.data(), b);
    return;
  }
  const Scalar* const factors = factors_.data();
  const Scalar* const reciprocals = factors + layout_.reciprocal(0);
  const int* const column = layout_.entry_column.data();
  Scalar* const work = work_.data();
  for (int i = 0; i < n_; ++i) {
    ProductSum<Scalar> sum;
    const int end = layout_.upper_begin[i];
    for (int l = layout_.lower_begin[i]; l < end; ++l) sum.add(factors[l], work[column[l]]);
    work[i] = b[layout_.row_of[i]] - sum.value();
  }
  for (int i = n_ - 1; i >= 0; --i) {
    ProductSum<Scalar> sum;
    const int end = layout_.lower_begin[i + 1];
    for (int u = layout_.upper_begin[i]; u < end; ++u) sum.add(factors[u], work[column[u]]);
    work[i] = multiply(work[i] - sum.value(), reciprocals[i]);
  }
  for (int i = 0; i < n_; ++i) b[layout_.column_of[i]] = work[i];
}

template <class Scalar>
double RecordedLu<Scalar>::pivot_ratio() const {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (int i = 0; i < n_; ++i) {
    const double size = magnitude(factors_[layout_.pivot(i)]);
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  return n_ == 0 ? 1.0 : smallest / largest;
}

template class RecordedLu<double>;
template class RecordedLu<std::complex<double>>;

}  // namespace saltus
