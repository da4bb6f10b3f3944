#include "model/input_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "expr/function.h"
#include "expr/graph.h"
#include "expr/table.h"
#include "model/build.h"

namespace saltus {
namespace {

// Times that were scaled to and fro may miss the end of the data by this, relative to their length.
constexpr double kMissedEnd = 1e-9;
// Comes after every run.
constexpr double kNever = 1e60;

// From a jump to the next one: a smooth course, or a number.
struct Piece {
  std::vector<double> t, y, slope;
};

std::vector<Piece> pieces_of(const InputData& data) {
  std::vector<Piece> pieces(1);
  for (std::size_t k = 0; k < data.times.size(); ++k) {
    if (k > 0 && data.times[k] == data.times[k - 1]) pieces.emplace_back();
    pieces.back().t.push_back(data.times[k]);
    pieces.back().y.push_back(data.values[k]);
  }
  // What is left of a jump at the very start is never in force.
  if (pieces.size() > 1 && pieces.front().t.size() == 1) pieces.erase(pieces.begin());
  for (Piece& piece : pieces)
    piece.slope = data.joining == Joining::kSpline && piece.t.size() > 1
                      ? spline_slopes(piece.t, piece.y)
                      : std::vector<double>(piece.t.size(), 0.0);
  return pieces;
}

// The data as c(t) + offset_i + rate_i (t - begin_i), where c is continuous (for splines, so is its
// slope) and i counts the jumps that have been.
struct Course {
  std::vector<double> t, y, slope;  // of c; fewer than two points: c is zero
  std::vector<double> begin, offset, rate;
};

Course held(const InputData& data) {
  Course course;
  for (std::size_t k = 0; k < data.times.size(); ++k) {
    const bool is_same_time = !course.begin.empty() && course.begin.back() == data.times[k];
    if (is_same_time) {
      course.offset.back() = data.values[k];
    } else if (course.offset.empty() || course.offset.back() != data.values[k]) {
      course.begin.push_back(data.times[k]);
      course.offset.push_back(data.values[k]);
    }
  }
  course.rate.assign(course.begin.size(), 0.0);
  return course;
}

Course joined(const InputData& data) {
  Course course;
  for (const Piece& piece : pieces_of(data)) {
    const double begin = piece.t.front();
    const bool is_first = course.t.empty();
    const double offset = is_first ? 0.0 : piece.y.front() - course.y.back();
    const double rate = is_first ? 0.0 : piece.slope.front() - course.slope.back();
    course.begin.push_back(begin);
    course.offset.push_back(offset);
    course.rate.push_back(rate);
    for (std::size_t k = is_first ? 0 : 1; k < piece.t.size(); ++k) {
      course.t.push_back(piece.t[k]);
      course.y.push_back(piece.y[k] - offset - rate * (piece.t[k] - begin));
      course.slope.push_back(piece.slope[k] - rate);
    }
  }
  return course;
}

// The number of jumps that have been at a time.
std::shared_ptr<const Function> count_function(const std::string& name, std::vector<double> jumps) {
  Function f;
  f.name = name;
  f.evaluate = [jumps = std::move(jumps)](const double* t) {
    return static_cast<double>(std::upper_bound(jumps.begin(), jumps.end(), *t) - jumps.begin());
  };
  return std::make_shared<const Function>(std::move(f));
}

// values[i] for the symbol i of a whole number.
Expr chosen(const std::string& name, const std::vector<double>& values, const Expr& i) {
  if (std::ranges::all_of(values, [&](double v) { return v == values.front(); }))
    return values.front();
  std::vector<double> places(values.size());
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<double>(k);
  return lookup(
      make_table(name, std::move(places), values, Interpolation::kLinear, Extrapolation::kHold), i);
}

// The number of jumps so far: a discrete variable that counts at their times.
Expr jump_counter(FlatModel& model, const std::string& name, const std::vector<double>& jumps) {
  const SourceLocation where{};
  const std::string hidden = "$input " + name;
  const Expr count = model.discrete(hidden, {.type = DiscreteType::kInteger, .where = where});
  const Expr before = model.pre(count);
  std::vector<double> next = jumps;
  next.push_back(kNever);
  const Expr time = model.system.time();
  const Expr reached = model.relation(time - chosen(hidden + " jumps", next, before), Strict::kNo,
                                      fmt::format("time >= next jump of {}", name), where);
  const Expr at_start = call(count_function(hidden + " start", jumps), {time});
  model.discrete_equations.push_back(
      {count, select(model.initial(), at_start, select(model.edge(reached), before + 1.0, before)),
       where});
  return count;
}

}  // namespace

void check(const InputData& data) {
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("{}: {}", data.source, what));
  };
  const std::size_t n = data.times.size();
  if (data.values.size() != n)
    refuse(fmt::format("there are {} times but {} values", n, data.values.size()));
  if (n == 0) refuse("there are no values");
  for (std::size_t k = 0; k < n; ++k) {
    if (!std::isfinite(data.times[k]))
      refuse(fmt::format("the time of value {} is not a finite number", k + 1));
    if (!std::isfinite(data.values[k]))
      refuse(fmt::format("the value at t = {} is not a finite number", data.times[k]));
    if (k > 0 && data.times[k] < data.times[k - 1])
      refuse(fmt::format("time {} comes after {}; times must increase, or be equal for a jump",
                         data.times[k], data.times[k - 1]));
    if (k > 1 && data.times[k] == data.times[k - 2])
      refuse(fmt::format("time {} comes three times; a jump has one value before and one after",
                         data.times[k]));
  }
  if (data.joining != Joining::kHold && !(data.times.back() > data.times.front()))
    refuse("one time is no course; give at least two, or hold the value");
}

std::vector<double> spline_slopes(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t n = x.size();
  const auto h = [&](std::size_t i) { return x[i + 1] - x[i]; };
  const auto d = [&](std::size_t i) { return (y[i + 1] - y[i]) / h(i); };
  if (n == 2) return {d(0), d(0)};
  if (n == 3) {  // the parabola
    const double middle = (h(1) * d(0) + h(0) * d(1)) / (h(0) + h(1));
    return {2.0 * d(0) - middle, middle, 2.0 * d(1) - middle};
  }
  // Equal second derivatives on both sides of a point; equal third ones at the second and the last
  // but one. Rows: below, diagonal, above, right side.
  std::vector<double> below(n), diagonal(n), above(n), slope(n);
  const auto end = [](double h0, double h1, double d0, double d1) {
    return ((h0 + 2.0 * (h0 + h1)) * h1 * d0 + h0 * h0 * d1) / (h0 + h1);
  };
  diagonal[0] = h(1);
  above[0] = h(0) + h(1);
  slope[0] = end(h(0), h(1), d(0), d(1));
  for (std::size_t i = 1; i + 1 < n; ++i) {
    below[i] = h(i);
    diagonal[i] = 2.0 * (h(i - 1) + h(i));
    above[i] = h(i - 1);
    slope[i] = 3.0 * (h(i) * d(i - 1) + h(i - 1) * d(i));
  }
  below[n - 1] = h(n - 2) + h(n - 3);
  diagonal[n - 1] = h(n - 3);
  slope[n - 1] = end(h(n - 2), h(n - 3), d(n - 2), d(n - 3));
  for (std::size_t i = 1; i < n; ++i) {
    const double factor = below[i] / diagonal[i - 1];
    diagonal[i] -= factor * above[i - 1];
    slope[i] -= factor * slope[i - 1];
  }
  slope[n - 1] /= diagonal[n - 1];
  for (std::size_t i = n - 1; i-- > 0;)
    slope[i] = (slope[i] - above[i] * slope[i + 1]) / diagonal[i];
  return slope;
}

Expr add_input_data(FlatModel& model, const std::string& name, const InputData& data) {
  check(data);
  const Course course = data.joining == Joining::kHold ? held(data) : joined(data);
  const Expr time = model.system.time();
  Expr value = 0.0;
  if (course.t.size() > 1)
    value = lookup(data.joining == Joining::kSpline
                       ? make_cubic_table(name, course.t, course.y, course.slope)
                       : make_table(name, course.t, course.y),
                   time);
  Expr count = 0.0;
  if (course.begin.size() > 1)
    count = jump_counter(model, name, {course.begin.begin() + 1, course.begin.end()});
  const auto now = [&](const char* what, const std::vector<double>& values) {
    return count.is_number() ? Expr(values.front()) : chosen(name + what, values, count);
  };
  value = value + now(" offset", course.offset);
  const Expr rate = now(" rate", course.rate);
  if (!rate.is_number() || rate.number() != 0.0)
    value = value + rate * (time - now(" begin", course.begin));
  const double length = data.times.back() - data.times.front();
  const double missed = kMissedEnd * length;
  model.assertions.push_back(
      {data.times.front() - missed <= time && time <= data.times.back() + missed,
       fmt::format("the data of the input '{}' ({}) reach from t = {:g} to {:g}", name, data.source,
                   data.times.front(), data.times.back()),
       false,
       {}});
  return value;
}

void require_data(const HybridSystem& system, double start_time, double stop_time) {
  if (system.flat() == nullptr) return;
  // low <= time and time <= high, as add_input_data() writes it.
  const auto bound = [](const Node* side, std::size_t number, std::size_t variable) {
    return side->op == Op::kLessEqual && side->children[number]->op == Op::kConstant &&
                   side->children[variable]->op == Op::kTime
               ? side->children[number]
               : nullptr;
  };
  for (const Assertion& assertion : system.flat()->written.assertions) {
    const Node* both = assertion.condition.node();
    if (both == nullptr || both->op != Op::kAnd || assertion.is_warning) continue;
    const Node* low = nullptr;
    const Node* high = nullptr;
    for (const Node* side : both->children) {
      if (const Node* found = bound(side, 0, 1)) low = found;
      if (const Node* found = bound(side, 1, 0)) high = found;
    }
    if (low == nullptr || high == nullptr) continue;
    if (start_time >= low->value && stop_time <= high->value) continue;
    throw Error(
        fmt::format("{}, but the run goes from t = {:g} to {:g}: give data for all of it, "
                    "or other times with --start-time and --stop-time",
                    assertion.message, start_time, stop_time));
  }
}

}  // namespace saltus
