#include "modelica/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "modelica/table_file.h"

namespace saltus {

// When a time table has events, and which of its rows are in use between two of them.
class TimeTable {
 public:
  static constexpr double kNever = 1e60;

  TimeTable(const TableData& data, std::vector<double> times)
      : t_(std::move(times)),
        start_(data.start_time),
        shift_(data.shift_time),
        period_(data.beyond == Beyond::kPeriodic ? t_.back() - t_.front() : 0.0) {
    const bool is_cubic =
        data.smoothness != Smoothness::kLinear && data.smoothness != Smoothness::kConstant;
    const bool always = data.time_events == 1 || data.smoothness == Smoothness::kConstant;
    for (std::size_t k = 0; k < t_.size(); ++k) {
      const bool is_first = k == 0 || t_[k] != t_[k - 1];
      if (!is_first) {
        right_.back() = k;
        continue;
      }
      const bool is_end = t_[k] == t_.front() || t_[k] == t_.back();
      const bool jumps = k + 1 < t_.size() && t_[k + 1] == t_[k];
      if (!is_end && (is_cubic || !(always || (data.time_events == 2 && jumps)))) continue;
      left_.push_back(k);
      right_.push_back(k);
    }
  }

  // The first event after this time, in the time of the model.
  double next_event(double time) const {
    if (time < start_ - tolerance(time)) return start_;
    if (t_.size() == 1) return kNever;
    const double u = time - shift_;
    const double small = tolerance(time);
    const double turns = period_ > 0.0 ? std::floor((u + small - t_.front()) / period_) : 0.0;
    for (const std::size_t row : left_)
      if (t_[row] + turns * period_ > u + small) return t_[row] + turns * period_ + shift_;
    return period_ > 0.0 ? t_[left_[1]] + (turns + 1.0) * period_ + shift_ : kNever;
  }

  // At an event both sides have a value: the side in use is that of the interval before `next`.
  double evaluate(const TableCurve& curve, double time, double next, int order) const {
    if (next <= start_ || time < start_ - tolerance(time)) return 0.0;
    double u = time - shift_;
    if (t_.size() == 1 || next >= kNever) {
      const bool is_inside = t_.size() > 1 && u < t_.back() - tolerance(time);
      return is_inside ? curve.evaluate(u, order) : curve.evaluate_beyond(true, u, order);
    }
    double end = next - shift_;
    const double small = tolerance(next);
    if (period_ > 0.0) {
      const double turns = std::ceil((end - small - t_.front()) / period_) - 1.0;
      end -= turns * period_;
      u -= turns * period_;
    }
    const auto k = static_cast<std::size_t>(
        std::ranges::lower_bound(left_, end - small, {}, [&](std::size_t row) { return t_[row]; }) -
        left_.begin());
    if (k == 0) return curve.evaluate_beyond(false, u, order);
    if (k == left_.size()) return curve.evaluate_beyond(true, u, order);
    return curve.evaluate_within(right_[k - 1], left_[k], u, order);
  }

 private:
  // Times that were scaled to and fro are the same within this.
  double tolerance(double time) const {
    return 1e-13 * std::max({1.0, std::abs(time), std::min(std::abs(shift_), 1e12)});
  }

  std::vector<double> t_;
  double start_, shift_, period_;
  std::vector<std::size_t> left_, right_;  // by event: its first and its last row
};

namespace {

std::shared_ptr<const Function> curve_function(const std::shared_ptr<const TableCurve>& curve,
                                               const std::string& name, int order) {
  Function f;
  f.name = name;
  f.arity = 1;
  f.evaluate = [curve, order](const double* a) { return curve->evaluate(a[0], order); };
  f.partial = [curve, name, order](std::size_t, const std::vector<Expr>& arguments) -> Expr {
    return call(curve_function(curve, name + "_u", order + 1), arguments);
  };
  return std::make_shared<Function>(std::move(f));
}

std::shared_ptr<const Function> surface_function(const std::shared_ptr<const TableSurface>& surface,
                                                 const std::string& name, int du, int dv) {
  Function f;
  f.name = name;
  f.arity = 2;
  f.evaluate = [surface, du, dv](const double* a) { return surface->evaluate(a[0], a[1], du, dv); };
  f.partial = [surface, name, du, dv](std::size_t k, const std::vector<Expr>& arguments) -> Expr {
    return call(surface_function(surface, name + (k == 0 ? "_u" : "_v"), du + (k == 0 ? 1 : 0),
                                 dv + (k == 1 ? 1 : 0)),
                arguments);
  };
  return std::make_shared<Function>(std::move(f));
}

std::shared_ptr<const Function> time_function(const std::shared_ptr<const TimeTable>& table,
                                              const std::shared_ptr<const TableCurve>& curve,
                                              const std::string& name, int order) {
  Function f;
  f.name = name;
  f.arity = 2;
  f.evaluate = [table, curve, order](const double* a) {
    return table->evaluate(*curve, a[0], a[1], order);
  };
  f.partial = [table, curve, name, order](std::size_t k,
                                          const std::vector<Expr>& arguments) -> Expr {
    if (k == 1 || order >= 3) return 0.0;
    return call(time_function(table, curve, name + "_t", order + 1), arguments);
  };
  return std::make_shared<Function>(std::move(f));
}

// The order-th derivative with respect to the first argument.
Expr differentiated(const std::shared_ptr<const Function>& f, const std::vector<Expr>& arguments,
                    int order) {
  if (order == 0) return call(f, arguments);
  return f->partial(0, arguments);
}

}  // namespace

double TableData::corner(bool greatest, int axis) const {
  if (axis == 0) return greatest ? rows.back().front() : rows.at(1).front();
  return greatest ? rows.front().back() : rows.front().at(1);
}

void TableData::require_column(std::size_t icol, const Place& place) const {
  if (icol < 1 || icol > columns.size())
    throw Error(fmt::format("table '{}' has no column {}", name, icol), place.location());
}

std::vector<double> TableData::abscissae() const {
  std::vector<double> x;
  for (const auto& row : rows) x.push_back(row[0]);
  return x;
}

std::vector<double> TableData::ordinates(std::size_t icol) const {
  std::vector<double> y;
  for (const auto& row : rows) y.push_back(row[columns[icol - 1]]);
  return y;
}

Expr TableData::value(std::size_t icol, const Expr& u, int order, const Place& place) {
  require_column(icol, place);
  if (rows.size() == 1) return order == 0 ? rows[0][columns[icol - 1]] : 0.0;
  // Straight lines are an operation of their own.
  if (smoothness == Smoothness::kLinear && beyond != Beyond::kPeriodic) {
    linear_.resize(columns.size());
    std::shared_ptr<const Table>& table = linear_[icol - 1];
    if (table == nullptr)
      table = make_table(name, abscissae(), ordinates(icol), Interpolation::kLinear,
                         beyond == Beyond::kHold ? Extrapolation::kHold : Extrapolation::kLinear);
    if (u.is_number()) return table->evaluate(u.number(), order);
    return lookup(table, u, order);
  }
  curves_.resize(columns.size());
  std::shared_ptr<const Function>& f = curves_[icol - 1];
  if (f == nullptr)
    f = curve_function(
        std::make_shared<const TableCurve>(abscissae(), ordinates(icol), smoothness, beyond),
        fmt::format("{}_{}", name, icol), 0);
  return differentiated(f, {u}, order);
}

Expr TableData::value2(const Expr& u1, const Expr& u2, int order1, int order2) {
  const std::vector<double> y(rows[0].begin() + 1, rows[0].end());
  std::vector<double> x = abscissae();
  x.erase(x.begin());  // the corner
  if (x.size() == 1 && y.size() == 1) return order1 + order2 == 0 ? rows[1][1] : 0.0;
  if (x.size() == 1 || y.size() == 1) {  // a curve
    if ((x.size() == 1 && order1 > 0) || (y.size() == 1 && order2 > 0)) return 0.0;
    if (surface_ == nullptr) {
      std::vector<double> z;
      for (std::size_t i = 1; y.size() == 1 && i < rows.size(); ++i) z.push_back(rows[i][1]);
      if (x.size() == 1) z.assign(rows[1].begin() + 1, rows[1].end());
      surface_ = curve_function(
          std::make_shared<const TableCurve>(x.size() == 1 ? y : x, z, smoothness, beyond), name,
          0);
    }
    return differentiated(surface_, {x.size() == 1 ? u2 : u1}, order1 + order2);
  }
  if (surface_ == nullptr) {
    std::vector<std::vector<double>> z;
    for (std::size_t i = 1; i < rows.size(); ++i)
      z.emplace_back(rows[i].begin() + 1, rows[i].end());
    const bool is_small = x.size() == 2 && y.size() == 2 && smoothness == Smoothness::kAkima;
    surface_ = surface_function(
        std::make_shared<const TableSurface>(x, y, std::move(z),
                                             is_small ? Smoothness::kLinear : smoothness, beyond),
        name, 0, 0);
  }
  if (order1 > 0) return surface_->partial(0, {u1, u2});
  if (order2 > 0) return surface_->partial(1, {u1, u2});
  return call(surface_, {u1, u2});
}

void TableData::make_time_table() {
  if (time_table_ == nullptr) time_table_ = std::make_shared<const TimeTable>(*this, abscissae());
}

Expr TableData::time_value(std::size_t icol, const Expr& time, const Expr& next, int order,
                           const Place& place) {
  require_column(icol, place);
  make_time_table();
  timed_.resize(columns.size());
  std::shared_ptr<const Function>& f = timed_[icol - 1];
  if (f == nullptr)
    f = time_function(
        time_table_,
        std::make_shared<const TableCurve>(abscissae(), ordinates(icol), smoothness, beyond),
        fmt::format("{}_{}", name, icol), 0);
  return differentiated(f, {time, next}, order);
}

Expr TableData::next_event(const Expr& time) {
  make_time_table();
  if (next_ == nullptr) {
    Function f;
    f.name = name + "_next";
    f.arity = 1;
    f.evaluate = [table = time_table_](const double* a) { return table->next_event(a[0]); };
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
  const bool is_cubic =
      data.smoothness != Smoothness::kLinear && data.smoothness != Smoothness::kConstant;
  const std::size_t width = data.rows.front().size();
  if (width < 2)
    throw Error(fmt::format("table '{}' has one column; it needs abscissae and values", data.name),
                where(0));
  if (is_plane && data.rows.size() < 2)
    throw Error(fmt::format("table '{}' has one row; it needs abscissae and values", data.name),
                where(0));
  if (is_plane && is_cubic && data.smoothness != Smoothness::kAkima)
    throw Error(fmt::format("table '{}': in two dimensions Smoothness may be LinearSegments, "
                            "ContinuousDerivative or ConstantSegments only",
                            data.name),
                place.location());
  if (data.beyond == Beyond::kPeriodic && !is_plane && data.rows.size() > 1 &&
      !(data.rows.back()[0] > data.rows.front()[0]))
    throw Error(fmt::format("table '{}' is periodic, but its abscissae span nothing", data.name),
                where(0));
  for (std::size_t i = 0; i < data.rows.size(); ++i)
    for (std::size_t j = 0; j < width; ++j)
      if (!std::isfinite(data.rows[i][j]) && !(is_plane && i == 0 && j == 0))
        throw Error(fmt::format("table '{}': the number in row {} and column {} is not finite",
                                data.name, i + 1, j + 1),
                    where(i));
  for (std::size_t i = is_plane ? 2 : 1; i < data.rows.size(); ++i)
    require_increasing(fmt::format("table '{}', first column", data.name), data.rows[i - 1][0],
                       data.rows[i][0], is_timed && !is_cubic, where(i));
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
  data.smoothness = static_cast<Smoothness>(choice("smoothness", 1, 6));
  data.beyond = static_cast<Beyond>(choice("extrapolation", 2, 4));
  data.time_events = choice("timeEvents", 1, 3);
  data.start_time = number("startTime", 0.0);
  data.shift_time = number("shiftTime", data.start_time);
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
  return data;
}

}  // namespace saltus
