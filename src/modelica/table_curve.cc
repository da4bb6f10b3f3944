#include "modelica/table_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace saltus {
namespace {

// Akima's slope from the four differences around a point: each of the inner two counts as much as
// the other side bends. The modified weights also count how large the differences are, so that a
// flat side stays flat.
double akima_slope(double d0, double d1, double d2, double d3, bool modified) {
  double right = std::abs(d3 - d2);
  double left = std::abs(d1 - d0);
  if (modified) {
    right += 0.5 * std::abs(d3 + d2);
    left += 0.5 * std::abs(d1 + d0);
  }
  const double sum = right + left;
  if (sum > 0.0) return (right * d1 + left * d2) / sum;
  return modified ? 0.0 : 0.5 * (d1 + d2);
}

// Monotone where the data are: zero at extrema, else a mean of the differences on both sides.
double monotone_slope(double d0, double d1, double h0, double h1, Smoothness smoothness) {
  if (!(d0 * d1 > 0.0)) return 0.0;
  if (smoothness == Smoothness::kFritschButland)
    return 3.0 * (h0 + h1) / ((h0 + 2.0 * h1) / d0 + (h1 + 2.0 * h0) / d1);
  const double mean = (d0 * h1 + d1 * h0) / (h0 + h1);  // Steffen
  const double most = 2.0 * std::min(std::abs(d0), std::abs(d1));
  return std::clamp(mean, -most, most);
}

double wrapped(double u, double first, double last) {
  if (u >= first && u <= last) return u;
  const double period = last - first;
  return std::clamp(u - std::floor((u - first) / period) * period, first, last);
}

// The interval [k, k + 1] that holds u, the first or last one for u beyond.
std::size_t interval(const std::vector<double>& x, double u) {
  const auto it = std::upper_bound(x.begin(), x.end(), u);
  const auto k = static_cast<std::size_t>(it - x.begin());
  return std::clamp<std::size_t>(k, 1, x.size() - 1) - 1;
}

// The cubic with values a, b and slopes da, db at the ends of an interval of length h, at s from
// its beginning.
double hermite(double a, double b, double da, double db, double h, double s, int order) {
  const double d = (b - a) / h;
  const double c2 = (3.0 * d - 2.0 * da - db) / h;
  const double c3 = (da + db - 2.0 * d) / (h * h);
  switch (order) {
    case 0:
      return a + s * (da + s * (c2 + s * c3));
    case 1:
      return da + s * (2.0 * c2 + 3.0 * s * c3);
    case 2:
      return 2.0 * c2 + 6.0 * s * c3;
    case 3:
      return 6.0 * c3;
    default:
      return 0.0;
  }
}

double straight(double a, double slope, double s, int order) {
  return order == 0 ? a + slope * s : order == 1 ? slope : 0.0;
}

// Two more points on each side, so that differences of the slopes go on as they are.
std::vector<double> extended_axis(const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> e(n + 4);
  std::copy(x.begin(), x.end(), e.begin() + 2);
  const double left = n == 2 ? 2.0 * (x[1] - x[0]) : x[2] - x[0];
  const double right = n == 2 ? 2.0 * (x[1] - x[0]) : x[n - 1] - x[n - 3];
  e[0] = x[0] - left;
  e[1] = n == 2 ? 2.0 * x[0] - x[1] : x[0] + x[1] - x[2];
  e[n + 2] = n == 2 ? 2.0 * x[1] - x[0] : x[n - 1] + x[n - 2] - x[n - 3];
  e[n + 3] = x[n - 1] + right;
  return e;
}

// Fills the two values on each side of a row of n known ones. `at` gives access by place.
template <class At>
void extend_values(const std::vector<double>& x, std::size_t n, const At& at) {
  const auto fill = [&](std::size_t near1, std::size_t near2, std::size_t near3, std::size_t to1,
                        std::size_t to2) {
    const double f = (at(near1) - at(near2)) / (x[near1] - x[near2]);
    const double e = n == 2 ? f : (at(near2) - at(near3)) / (x[near2] - x[near3]);
    const double next = 2.0 * f - e;
    at(to1) = at(near1) + next * (x[to1] - x[near1]);
    at(to2) = at(to1) + (next + f - e) * (x[to2] - x[to1]);
  };
  fill(2, 3, n == 2 ? 3 : 4, 1, 0);
  fill(n + 1, n, n == 2 ? n : n - 1, n + 2, n + 3);
}

}  // namespace

std::vector<double> slopes_at_points(const std::vector<double>& x, const std::vector<double>& y,
                                     Smoothness smoothness) {
  const std::size_t n = x.size();
  std::vector<double> d(n + 3);  // differences, with two more on each side
  for (std::size_t i = 0; i + 1 < n; ++i) d[i + 2] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
  std::vector<double> slopes(n);
  if (n == 2) {
    slopes.assign(2, d[2]);
    return slopes;
  }
  if (smoothness == Smoothness::kFritschButland || smoothness == Smoothness::kSteffen) {
    slopes.front() = d[2];
    slopes.back() = d[n];
    for (std::size_t i = 1; i + 1 < n; ++i)
      slopes[i] = monotone_slope(d[i + 1], d[i + 2], x[i] - x[i - 1], x[i + 1] - x[i], smoothness);
    return slopes;
  }
  d[1] = 2.0 * d[2] - d[3];
  d[0] = 2.0 * d[1] - d[2];
  d[n + 1] = 2.0 * d[n] - d[n - 1];
  d[n + 2] = 2.0 * d[n + 1] - d[n];
  for (std::size_t i = 0; i < n; ++i)
    slopes[i] =
        akima_slope(d[i], d[i + 1], d[i + 2], d[i + 3], smoothness == Smoothness::kModifiedAkima);
  return slopes;
}

TableCurve::TableCurve(std::vector<double> x, std::vector<double> y, Smoothness smoothness,
                       Beyond beyond)
    : x_(std::move(x)), y_(std::move(y)), smoothness_(smoothness), beyond_(beyond) {
  if (smoothness_ == Smoothness::kLinear || smoothness_ == Smoothness::kConstant || x_.size() < 2)
    return;
  slope_ = slopes_at_points(x_, y_, smoothness_);
}

double TableCurve::evaluate(double u, int order) const {
  if (x_.size() == 1) return order == 0 ? y_.front() : 0.0;
  if (beyond_ == Beyond::kPeriodic) u = wrapped(u, x_.front(), x_.back());
  if (u < x_.front()) return evaluate_beyond(false, u, order);
  if (u > x_.back()) return evaluate_beyond(true, u, order);
  if (smoothness_ == Smoothness::kConstant && u == x_.back()) return order == 0 ? y_.back() : 0.0;
  return evaluate_within(0, x_.size() - 1, u, order);
}

double TableCurve::evaluate_within(std::size_t first, std::size_t last, double u, int order) const {
  if (first == last) return order == 0 ? y_[first] : 0.0;
  const auto it = std::upper_bound(x_.begin() + static_cast<std::ptrdiff_t>(first),
                                   x_.begin() + static_cast<std::ptrdiff_t>(last) + 1, u);
  auto k = static_cast<std::size_t>(it - x_.begin());
  k = std::clamp(k, first + 1, last) - 1;
  if (smoothness_ == Smoothness::kConstant) return order == 0 ? y_[k] : 0.0;
  // Between points at one place there is nothing.
  while (k > first && x_[k + 1] == x_[k]) --k;
  if (x_[k + 1] == x_[k]) return order == 0 ? y_[k + 1] : 0.0;
  return piece(k, u, order);
}

double TableCurve::piece(std::size_t k, double u, int order) const {
  const double h = x_[k + 1] - x_[k];
  if (is_cubic()) return hermite(y_[k], y_[k + 1], slope_[k], slope_[k + 1], h, u - x_[k], order);
  return straight(y_[k], (y_[k + 1] - y_[k]) / h, u - x_[k], order);
}

double TableCurve::evaluate_beyond(bool right, double u, int order) const {
  const std::size_t end = right ? x_.size() - 1 : 0;
  if (beyond_ == Beyond::kHold || x_.size() == 1) return order == 0 ? y_[end] : 0.0;
  const std::size_t k = right ? x_.size() - 2 : 0;
  const double h = x_[k + 1] - x_[k];
  if (h == 0.0) return order == 0 ? y_[end] : 0.0;
  const double slope = is_cubic() ? slope_[end] : (y_[k + 1] - y_[k]) / h;
  return straight(y_[end], slope, u - x_[end], order);
}

TableSurface::TableSurface(std::vector<double> x, std::vector<double> y,
                           std::vector<std::vector<double>> z, Smoothness smoothness, Beyond beyond)
    : x_(std::move(x)),
      y_(std::move(y)),
      z_(std::move(z)),
      smoothness_(smoothness),
      beyond_(beyond) {
  if (smoothness_ == Smoothness::kAkima) find_slopes();
}

// Akima 1974: the slopes of the curves through a point, and the mixed derivative as the mean of the
// four neighbouring cells' with the product of both weights.
void TableSurface::find_slopes() {
  const std::size_t n = x_.size();
  const std::size_t m = y_.size();
  const std::vector<double> x = extended_axis(x_);
  const std::vector<double> y = extended_axis(y_);
  std::vector<std::vector<double>> z(n + 4, std::vector<double>(m + 4));
  for (std::size_t i = 0; i < n; ++i) {
    std::copy(z_[i].begin(), z_[i].end(), z[i + 2].begin() + 2);
    extend_values(y, m, [&](std::size_t j) -> double& { return z[i + 2][j]; });
  }
  for (std::size_t j = 0; j < m + 4; ++j)
    extend_values(x, n, [&](std::size_t i) -> double& { return z[i][j]; });

  const auto along_x = [&](std::size_t i, std::size_t j) {
    return (z[i + 1][j] - z[i][j]) / (x[i + 1] - x[i]);
  };
  const auto along_y = [&](std::size_t i, std::size_t j) {
    return (z[i][j + 1] - z[i][j]) / (y[j + 1] - y[j]);
  };
  // The weights of the inner two of four differences.
  const auto weights = [](double d0, double d1, double d2, double d3) -> std::array<double, 2> {
    if (d0 == d1 && d2 == d3) return {1.0, 1.0};
    return {std::abs(d3 - d2), std::abs(d1 - d0)};
  };
  for (auto* made : {&zx_, &zy_, &zxy_}) made->assign(n, std::vector<double>(m));
  for (std::size_t i = 2; i < n + 2; ++i)
    for (std::size_t j = 2; j < m + 2; ++j) {
      const auto wx =
          weights(along_x(i - 2, j), along_x(i - 1, j), along_x(i, j), along_x(i + 1, j));
      const auto wy =
          weights(along_y(i, j - 2), along_y(i, j - 1), along_y(i, j), along_y(i, j + 1));
      zx_[i - 2][j - 2] = (wx[0] * along_x(i - 1, j) + wx[1] * along_x(i, j)) / (wx[0] + wx[1]);
      zy_[i - 2][j - 2] = (wy[0] * along_y(i, j - 1) + wy[1] * along_y(i, j)) / (wy[0] + wy[1]);
      double sum = 0.0;
      for (std::size_t a = 0; a < 2; ++a)
        for (std::size_t b = 0; b < 2; ++b)
          sum += wx[a] * wy[b] * (along_y(i + a, j - 1 + b) - along_y(i - 1 + a, j - 1 + b)) /
                 (x[i + a] - x[i - 1 + a]);
      zxy_[i - 2][j - 2] = sum / ((wx[0] + wx[1]) * (wy[0] + wy[1]));
    }
}

double TableSurface::evaluate(double u, double v, int order_u, int order_v) const {
  if (beyond_ == Beyond::kPeriodic) {
    u = wrapped(u, x_.front(), x_.back());
    v = wrapped(v, y_.front(), y_.back());
  }
  const double near_u = std::clamp(u, x_.front(), x_.back());
  const double near_v = std::clamp(v, y_.front(), y_.back());
  const bool out_u = near_u != u;
  const bool out_v = near_v != v;
  if (beyond_ == Beyond::kHold) {
    if ((out_u && order_u > 0) || (out_v && order_v > 0)) return 0.0;
    return inside(near_u, near_v, order_u, order_v);
  }
  if (!out_u && !out_v) return inside(u, v, order_u, order_v);
  if (smoothness_ != Smoothness::kAkima) {
    // Through the last two points also where cells are constant.
    const std::size_t i = interval(x_, u);
    const std::size_t j = interval(y_, v);
    const double dx = x_[i + 1] - x_[i];
    const double dy = y_[j + 1] - y_[j];
    const auto along = [&](std::size_t a) {
      return straight(z_[i + a][j], (z_[i + a][j + 1] - z_[i + a][j]) / dy, v - y_[j], order_v);
    };
    return straight(along(0), (along(1) - along(0)) / dx, u - x_[i], order_u);
  }
  // Straight on in each direction that is left.
  const auto in_v = [&](int du) {
    if (!out_v) return inside(near_u, near_v, du, order_v);
    if (order_v > 1) return 0.0;
    const double slope = inside(near_u, near_v, du, 1);
    return order_v == 1 ? slope : inside(near_u, near_v, du, 0) + slope * (v - near_v);
  };
  if (!out_u) return in_v(order_u);
  if (order_u > 1) return 0.0;
  return order_u == 1 ? in_v(1) : in_v(0) + in_v(1) * (u - near_u);
}

double TableSurface::inside(double u, double v, int order_u, int order_v) const {
  const std::size_t i = interval(x_, u);
  const std::size_t j = interval(y_, v);
  if (smoothness_ == Smoothness::kConstant) {
    if (order_u + order_v > 0) return 0.0;
    return z_[u >= x_[i + 1] ? i + 1 : i][v >= y_[j + 1] ? j + 1 : j];
  }
  const double dx = x_[i + 1] - x_[i];
  const double dy = y_[j + 1] - y_[j];
  // Along v at both ends of the cell, then along u between them.
  const auto along = [&](std::size_t a, bool of_slope) {
    const auto& f = of_slope ? zx_ : z_;
    const std::size_t k = i + a;
    if (smoothness_ == Smoothness::kLinear)
      return straight(f[k][j], (f[k][j + 1] - f[k][j]) / dy, v - y_[j], order_v);
    const auto& fy = of_slope ? zxy_ : zy_;
    return hermite(f[k][j], f[k][j + 1], fy[k][j], fy[k][j + 1], dy, v - y_[j], order_v);
  };
  if (smoothness_ == Smoothness::kLinear)
    return straight(along(0, false), (along(1, false) - along(0, false)) / dx, u - x_[i], order_u);
  return hermite(along(0, false), along(1, false), along(0, true), along(1, true), dx, u - x_[i],
                 order_u);
}

}  // namespace saltus
