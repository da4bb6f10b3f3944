#include "modelica/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/error.h"
#include "modelica/table_file.h"

namespace saltus {
namespace {

// The interval [k, k + 1] of increasing numbers that holds u, the last ones for u beyond.
std::size_t interval(const std::vector<double>& x, double u) {
  const auto it = std::upper_bound(x.begin(), x.end(), u);
  const auto k = static_cast<std::size_t>(it - x.begin());
  return std::clamp<std::size_t>(k, 1, x.size() - 1) - 1;
}

struct Grid {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<std::vector<double>> z;
  bool hold = false;

  // The value or, with the order set, a derivative of the bilinear surface.
  double evaluate(double u, double v, bool du, bool dv) const {
    const bool fixed_u = hold && (u < x.front() || u > x.back());
    const bool fixed_v = hold && (v < y.front() || v > y.back());
    if ((du && fixed_u) || (dv && fixed_v)) return 0.0;
    if (hold) {
      u = std::clamp(u, x.front(), x.back());
      v = std::clamp(v, y.front(), y.back());
    }
    const std::size_t i = interval(x, u);
    const std::size_t j = interval(y, v);
    const double dx = x[i + 1] - x[i];
    const double dy = y[j + 1] - y[j];
    const double s = (u - x[i]) / dx;
    const double t = (v - y[j]) / dy;
    const double ws[2] = {du ? -1.0 / dx : 1.0 - s, du ? 1.0 / dx : s};
    const double wt[2] = {dv ? -1.0 / dy : 1.0 - t, dv ? 1.0 / dy : t};
    double sum = 0.0;
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t b = 0; b < 2; ++b) sum += ws[a] * wt[b] * z[i + a][j + b];
    return sum;
  }
};

std::shared_ptr<const Function> grid_function(const std::shared_ptr<const Grid>& grid,
                                              const std::string& name, bool du, bool dv) {
  Function f;
  f.name = name;
  f.arity = 2;
  f.evaluate = [grid, du, dv](const double* a) { return grid->evaluate(a[0], a[1], du, dv); };
  f.partial = [grid, name, du, dv](std::size_t k, const std::vector<Expr>& arguments) -> Expr {
    if ((k == 0 && du) || (k == 1 && dv)) return 0.0;
    return call(grid_function(grid, name + (k == 0 ? "_u" : "_v"), du || k == 0, dv || k == 1),
                arguments);
  };
  return std::make_shared<Function>(std::move(f));
}

struct TimeColumn {
  std::vector<double> t;  // not decreasing; equal neighbours are jumps
  std::vector<double> y;
  bool constant = false;
  TableData::Beyond beyond = TableData::Beyond::kLastTwoPoints;

  // The interval that ends at or before the next event, so that at a jump the side in use counts.
  double evaluate(double time, double next, int order) const {
    if (t.size() == 1) return order == 0 ? y[0] : 0.0;
    double u = time;
    double limit = next;
    if (beyond == TableData::Beyond::kPeriodic && (u < t.front() || u >= t.back())) {
      const double period = t.back() - t.front();
      const double shift = std::floor((u - t.front()) / period) * period;
      u -= shift;
      limit -= shift;
    }
    if (beyond == TableData::Beyond::kHold) {
      if (u < t.front()) return order == 0 ? y.front() : 0.0;
      if (u >= t.back()) return order == 0 ? y.back() : 0.0;
    }
    std::size_t k = interval(t, u);
    while (k > 0 && t[k + 1] > limit && t[k] >= limit) --k;
    while (k > 0 && t[k + 1] == t[k]) --k;
    if (constant) return order == 0 ? (u >= t.back() ? y.back() : y[k]) : 0.0;
    const double slope = (y[k + 1] - y[k]) / (t[k + 1] - t[k]);
    return order == 0 ? y[k] + slope * (u - t[k]) : slope;
  }
};

std::shared_ptr<const Function> time_function(const std::shared_ptr<const TimeColumn>& column,
                                              const std::string& name, int order) {
  Function f;
  f.name = name;
  f.arity = 2;
  f.evaluate = [column, order](const double* a) { return column->evaluate(a[0], a[1], order); };
  f.partial = [column, name, order](std::size_t k, const std::vector<Expr>& arguments) -> Expr {
    if (k == 1 || order > 0) return 0.0;
    return call(time_function(column, name + "_t", 1), arguments);
  };
  return std::make_shared<Function>(std::move(f));
}

}  // namespace

double TableData::corner(bool greatest, int axis) const {
  if (axis == 0) return greatest ? rows.back().front() : rows.at(1).front();
  return greatest ? rows.front().back() : rows.front().at(1);
}

Expr TableData::value(std::size_t icol, const Expr& u, const Place& place) {
  if (icol < 1 || icol > columns.size())
    throw Error(fmt::format("table '{}' has no column {}", name, icol), place.location());
  if (rows.size() == 1) return rows[0][columns[icol - 1]];
  if (smoothness == Smoothness::kConstant)
    throw Error(fmt::format("table '{}': constant segments: not supported", name),
                place.location());
  made_.resize(columns.size());
  std::shared_ptr<const Table>& table = made_[icol - 1];
  if (table == nullptr) {
    std::vector<double> x;
    std::vector<double> y;
    for (const auto& row : rows) {
      x.push_back(row[0]);
      y.push_back(row[columns[icol - 1]]);
    }
    table = make_table(
        name, std::move(x), std::move(y),
        smoothness == Smoothness::kLinear ? Interpolation::kLinear : Interpolation::kMonotoneCubic,
        beyond == Beyond::kHold ? Extrapolation::kHold : Extrapolation::kLinear);
  }
  Expr argument = u;
  if (beyond == Beyond::kPeriodic) argument = first() + mod(u - first(), last() - first());
  if (argument.is_number()) return table->evaluate(argument.number());
  return lookup(table, argument);
}

Expr TableData::value2(const Expr& u1, const Expr& u2, const Place& place) {
  if (smoothness != Smoothness::kLinear || beyond == Beyond::kPeriodic)
    throw Error(
        fmt::format("table '{}': only linear segments are supported in two dimensions", name),
        place.location());
  if (bilinear_ == nullptr) {
    auto grid = std::make_shared<Grid>();
    grid->hold = beyond == Beyond::kHold;
    grid->y.assign(rows[0].begin() + 1, rows[0].end());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      grid->x.push_back(rows[i][0]);
      grid->z.emplace_back(rows[i].begin() + 1, rows[i].end());
    }
    if (grid->x.size() < 2 || grid->y.size() < 2)
      throw Error(fmt::format("table '{}' needs at least 2 x 2 points", name), place.location());
    bilinear_ = grid_function(grid, name, false, false);
  }
  return call(bilinear_, {u1, u2});
}

Expr TableData::time_value(std::size_t icol, const Expr& time, const Expr& next,
                           const Place& place) {
  if (icol < 1 || icol > columns.size())
    throw Error(fmt::format("table '{}' has no column {}", name, icol), place.location());
  if (smoothness != Smoothness::kLinear && smoothness != Smoothness::kConstant)
    throw Error(
        fmt::format("time table '{}': only linear and constant segments are supported", name),
        place.location());
  timed_.resize(columns.size());
  std::shared_ptr<const Function>& f = timed_[icol - 1];
  if (f == nullptr) {
    auto column = std::make_shared<TimeColumn>();
    for (const auto& row : rows) {
      column->t.push_back(row[0]);
      column->y.push_back(row[columns[icol - 1]]);
    }
    column->constant = smoothness == Smoothness::kConstant;
    column->beyond = beyond;
    f = time_function(column, fmt::format("{}_{}", name, icol), 0);
  }
  return call(f, {time - start_time, next - start_time});
}

Expr TableData::next_event(const Expr& time) {
  if (next_ == nullptr) {
    std::vector<double> times;
    for (const auto& row : rows) times.push_back(row[0]);
    const bool periodic = beyond == Beyond::kPeriodic;
    const double start = start_time;
    Function f;
    f.name = name + "_next";
    f.arity = 1;
    f.evaluate = [times, periodic, start](const double* a) {
      constexpr double kNever = 1e60;
      double u = a[0] - start;
      double shift = 0.0;
      const double period = times.back() - times.front();
      if (periodic && period > 0.0 && u >= times.front()) {
        shift = std::floor((u - times.front()) / period) * period;
        u -= shift;
      }
      const double small = 1e-13 * std::max(1.0, std::abs(u));
      for (const double t : times)
        if (t > u + small) return t + shift + start;
      if (periodic && period > 0.0 && times.size() > 1) return times[1] + shift + period + start;
      return kNever;
    };
    next_ = std::make_shared<Function>(std::move(f));
  }
  return call(next_, {time});
}

namespace {

void require_increasing(const std::string& what, double before, double after, bool may_be_equal,
                        const SourceLocation& where) {
  if (before < after || (may_be_equal && before == after)) return;
  throw Error(fmt::format("{}: {} comes after {}, but they must increase", what, after, before),
              where);
}

// What every lookup relies on.
void check_numbers(const TableData& data, const std::string& kind, const std::vector<int>& lines,
                   const std::string& file, const Place& place) {
  const auto where = [&](std::size_t row) {
    return row < lines.size() ? SourceLocation{file, lines[row], 1} : place.location();
  };
  const bool is_plane = kind.find("2D") != std::string::npos;
  const bool is_timed = kind.find("Time") != std::string::npos;
  const std::size_t width = data.rows.front().size();
  if (width < 2)
    throw Error(fmt::format("table '{}' has one column; it needs abscissae and values", data.name),
                where(0));
  if (is_plane && data.rows.size() < 2)
    throw Error(fmt::format("table '{}' has one row; it needs abscissae and values", data.name),
                where(0));
  for (std::size_t i = 0; i < data.rows.size(); ++i)
    for (std::size_t j = 0; j < width; ++j)
      if (!std::isfinite(data.rows[i][j]) && !(is_plane && i == 0 && j == 0))
        throw Error(fmt::format("table '{}': the number in row {} and column {} is not finite",
                                data.name, i + 1, j + 1),
                    where(i));
  for (std::size_t i = is_plane ? 2 : 1; i < data.rows.size(); ++i)
    require_increasing(fmt::format("table '{}', first column", data.name), data.rows[i - 1][0],
                       data.rows[i][0], is_timed, where(i));
  for (std::size_t j = 2; is_plane && j < width; ++j)
    require_increasing(fmt::format("table '{}', first row", data.name), data.rows[0][j - 1],
                       data.rows[0][j], false, where(0));
}

}  // namespace

TableData read_table(const ExternalObject& object,
                     const std::function<double(const Expr&)>& number_of,
                     const std::function<bool(const std::string&)>& may_read, const Place& place) {
  TableData data;
  const auto text = [&](std::string_view name) {
    const Value* v = object.find(name);
    return v == nullptr || v->strings.empty() ? std::string() : v->strings.front();
  };
  const auto number = [&](std::string_view name, double otherwise) {
    const Value* v = object.find(name);
    return v == nullptr || v->numbers.empty() ? otherwise : number_of(v->numbers.front());
  };
  const std::string& kind = object.definition->name;
  const auto choice = [&](std::string_view name, int otherwise, int most) {
    const double value = number(name, otherwise);
    if (!(value >= 1.0 && value <= most))
      throw Error(fmt::format("{}: {} is {}, which is none of its values", kind, name, value),
                  place.location());
    return static_cast<int>(value);
  };
  data.name = kind + "_" + text("tableName");
  const std::string file = text("fileName");
  const Value* table = object.find("table");
  std::vector<int> lines;
  if (!file.empty() && file != "NoName") {
    if (std::filesystem::exists(file) && !may_read(file))
      throw Error(fmt::format("'{}' may not be read: a model reads files below its own folder and "
                              "those of its libraries, and files named with --set",
                              file),
                  place.location());
    const std::string delimiter = text("delimiter");
    FileTable read =
        file.ends_with(".csv")
            ? read_table_csv(file, delimiter.empty() ? "," : delimiter,
                             static_cast<int>(std::clamp(number("nHeaderLines", 0.0), 0.0, 1e6)),
                             place)
            : read_table_file(file, text("tableName"), place);
    data.rows = std::move(read.rows);
    lines = std::move(read.lines);
  } else if (table == nullptr || table->dimensions.size() != 2 || table->count() == 0) {
    throw Error(fmt::format("{}: the table is empty", kind), place.location());
  } else {
    for (std::size_t i = 0; i < table->dimensions[0]; ++i) {
      std::vector<double> row;
      for (std::size_t j = 0; j < table->dimensions[1]; ++j)
        row.push_back(number_of(table->numbers[i * table->dimensions[1] + j]));
      data.rows.push_back(std::move(row));
    }
  }
  check_numbers(data, kind, lines, file, place);
  const std::size_t width = data.rows.front().size();
  if (const Value* columns = object.find("columns"))
    for (const Expr& e : columns->numbers) {
      const double c = number_of(e);
      if (!(c >= 1.0 && c <= static_cast<double>(width)))
        throw Error(fmt::format("{}: there is no column {}; the table has {}", kind, c, width),
                    place.location());
      data.columns.push_back(static_cast<std::size_t>(c) - 1);
    }
  const int smoothness = choice("smoothness", 1, 6);
  data.smoothness = smoothness == 1   ? TableData::Smoothness::kLinear
                    : smoothness == 3 ? TableData::Smoothness::kConstant
                    : smoothness == 4 ? TableData::Smoothness::kMonotone
                                      : TableData::Smoothness::kContinuous;
  if (data.smoothness == TableData::Smoothness::kContinuous)
    throw Error(
        fmt::format("{}: Akima splines (Smoothness.ContinuousDerivative): not supported; use "
                    "MonotoneContinuousDerivative1 or LinearSegments",
                    kind),
        place.location());
  data.beyond = static_cast<TableData::Beyond>(choice("extrapolation", 2, 4));
  data.start_time = number("startTime", 0.0);
  return data;
}

}  // namespace saltus
