#include "expr/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "expr/graph.h"

namespace saltus {

namespace {

// Fritsch-Carlson: start from three-point slopes, then shrink them until each piece lies in the
// circle of radius three, where a cubic with these end slopes is monotone.
std::vector<double> monotone_slopes(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t n = x.size();
  std::vector<double> secant(n - 1);
  for (std::size_t i = 0; i + 1 < n; ++i) secant[i] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
  std::vector<double> slope(n);
  slope[0] = secant[0];
  slope[n - 1] = secant[n - 2];
  for (std::size_t i = 1; i + 1 < n; ++i) {
    slope[i] = secant[i - 1] * secant[i] <= 0.0 ? 0.0 : 0.5 * (secant[i - 1] + secant[i]);
  }
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (secant[i] == 0.0) {
      slope[i] = slope[i + 1] = 0.0;
      continue;
    }
    const double radius = std::hypot(slope[i] / secant[i], slope[i + 1] / secant[i]);
    if (radius <= 3.0) continue;
    slope[i] *= 3.0 / radius;
    slope[i + 1] *= 3.0 / radius;
  }
  return slope;
}

// Derivatives of the Hermite cubic on a piece of width h, s in [0, 1].
double cubic(double y0, double y1, double m0, double m1, double h, double s, int order) {
  const double c = m0 * h;
  const double b = 3.0 * (y1 - y0) - (2.0 * m0 + m1) * h;
  const double a = 2.0 * (y0 - y1) + (m0 + m1) * h;
  switch (order) {
    case 0:
      return y0 + s * (c + s * (b + s * a));
    case 1:
      return (c + s * (2.0 * b + s * 3.0 * a)) / h;
    case 2:
      return (2.0 * b + 6.0 * a * s) / (h * h);
    case 3:
      return 6.0 * a / (h * h * h);
    default:
      return 0.0;
  }
}

double straight(double y0, double slope, double distance, int order) {
  if (order == 0) return y0 + slope * distance;
  return order == 1 ? slope : 0.0;
}

}  // namespace

double Table::evaluate(double u, int order) const {
  const bool is_cubic = interpolation != Interpolation::kLinear;
  const std::size_t last = x.size() - 1;
  const auto end_slope = [&](std::size_t point, std::size_t piece) {
    if (extrapolation == Extrapolation::kHold) return 0.0;
    return is_cubic ? slope[point] : (y[piece + 1] - y[piece]) / (x[piece + 1] - x[piece]);
  };
  if (u < x[0]) return straight(y[0], end_slope(0, 0), u - x[0], order);
  if (u >= x[last]) return straight(y[last], end_slope(last, last - 1), u - x[last], order);
  if (std::isnan(u)) return u;
  const auto right = std::upper_bound(x.begin(), x.end(), u);
  const auto i = static_cast<std::size_t>(right - x.begin()) - 1;
  const double h = x[i + 1] - x[i];
  if (!is_cubic) return straight(y[i], (y[i + 1] - y[i]) / h, u - x[i], order);
  return cubic(y[i], y[i + 1], slope[i], slope[i + 1], h, (u - x[i]) / h, order);
}

std::shared_ptr<const Table> make_table(std::string name, std::vector<double> x,
                                        std::vector<double> y, Interpolation interpolation,
                                        Extrapolation extrapolation) {
  if (x.size() != y.size()) {
    throw Error(fmt::format("table '{}' has {} abscissae but {} values: give one value each", name,
                            x.size(), y.size()));
  }
  if (x.size() < 2) {
    throw Error(fmt::format("table '{}' has {} points: give at least two", name, x.size()));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
      throw Error(fmt::format("table '{}': point {} is not finite", name, i + 1));
    }
    if (i > 0 && x[i] <= x[i - 1]) {
      throw Error(
          fmt::format("table '{}': abscissa {} ({}) is not above the one before ({}): sort "
                      "the points and remove duplicates",
                      name, i + 1, x[i], x[i - 1]));
    }
  }
  auto table = std::make_shared<Table>();
  table->name = std::move(name);
  table->x = std::move(x);
  table->y = std::move(y);
  table->interpolation = interpolation;
  table->extrapolation = extrapolation;
  if (interpolation == Interpolation::kMonotoneCubic) {
    table->slope = monotone_slopes(table->x, table->y);
  }
  return table;
}

std::shared_ptr<const Table> make_cubic_table(std::string name, std::vector<double> x,
                                              std::vector<double> y, std::vector<double> slope,
                                              Extrapolation extrapolation) {
  if (slope.size() != x.size())
    throw Error(fmt::format("table '{}' has {} abscissae but {} slopes: give one slope each", name,
                            x.size(), slope.size()));
  const auto table = std::make_shared<Table>(*make_table(
      std::move(name), std::move(x), std::move(y), Interpolation::kLinear, extrapolation));
  table->interpolation = Interpolation::kCubic;
  table->slope = std::move(slope);
  return table;
}

Expr lookup(const std::shared_ptr<const Table>& table, const Expr& u) {
  return lookup(table, u, 0);
}

Expr lookup(const std::shared_ptr<const Table>& table, const Expr& u, int order) {
  if (u.is_number()) return Expr(table->evaluate(u.number(), order));
  const int degree = table->interpolation == Interpolation::kLinear ? 1 : 3;
  if (order > degree) return Expr(0.0);
  Graph& graph = *u.node()->graph;
  Node n;
  n.op = Op::kTable;
  n.order = order;
  n.table = table.get();
  n.children = Children({u.node()});
  graph.keep(table);
  return Expr(graph.intern(n));
}

}  // namespace saltus
