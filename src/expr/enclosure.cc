#include "expr/enclosure.h"

#include <algorithm>
#include <cmath>

#include "expr/function.h"
#include "expr/number.h"
#include "expr/table.h"
#include "expr/traverse.h"

// Recurrences for the coefficients of elementary functions: Griewank & Walther, Evaluating
// Derivatives, chapter 13. With intervals for numbers they enclose the coefficients at all places
// of a cell at once (Moore; Nedialkov).

namespace saltus {
namespace {

using Series = EnclosedSeries;
constexpr int kAll = Series::kOrder + 1;

// How many coefficients a quantity has that moves; two at least, to tell it from a constant.
int all_up_to(int n) { return std::max(n + 1, 2); }

// The range alone is known.
Series rough(const Interval& range) {
  Series r = Series::constant(range);
  r.is_smooth = false;
  r.count = kAll;
  std::fill(r.coefficient.begin() + 1, r.coefficient.end(), Interval::everything());
  return r;
}

Series add(const Series& a, const Series& b, double sign) {
  Series r;
  r.count = std::max(a.count, b.count);
  for (int k = 0; k < r.count; ++k)
    r.coefficient[k] =
        sign > 0.0 ? a.coefficient[k] + b.coefficient[k] : a.coefficient[k] - b.coefficient[k];
  return r;
}

Series scaled(const Series& a, const Interval& factor) {
  Series r;
  r.count = a.count;
  for (int k = 0; k < a.count; ++k) r.coefficient[k] = factor * a.coefficient[k];
  return r;
}

bool is_zero(const Series& a) {
  return a.count == 1 && a.coefficient[0].low == 0.0 && a.coefficient[0].high == 0.0;
}

Series multiply(const Series& a, const Series& b, int n) {
  Series r;
  r.count = std::min(all_up_to(n), a.count + b.count - 1);
  for (int i = 0; i < std::min(a.count, n + 1); ++i)
    for (int j = 0; j < b.count && i + j <= n; ++j)
      r.coefficient[i + j] += a.coefficient[i] * b.coefficient[j];
  return r;
}

Series squared(const Series& a, int n) {
  Series r = multiply(a, a, n);
  r.coefficient[0] = square(a.coefficient[0]);
  return r;
}

Series divide(const Series& a, const Series& b, int n) {
  if (b.coefficient[0].contains(0.0)) return rough(Interval::everything());
  if (b.count == 1) {
    Series r;
    r.count = a.count;
    for (int k = 0; k < a.count; ++k) r.coefficient[k] = a.coefficient[k] / b.coefficient[0];
    return r;
  }
  Series r;
  r.count = all_up_to(n);
  for (int k = 0; k <= n; ++k) {
    Interval value = a.coefficient[k];
    for (int i = std::max(0, k - b.count + 1); i < k; ++i)
      value -= r.coefficient[i] * b.coefficient[k - i];
    r.coefficient[k] = value / b.coefficient[0];
  }
  return r;
}

// The k-th coefficient of f where f' = slope * a'.
Interval integrated(const Series& slope, const Series& a, int k) {
  Interval sum;
  for (int i = 1; i <= std::min(k, a.count - 1); ++i)
    sum += Interval(i) * a.coefficient[i] * slope.coefficient[k - i];
  return sum / Interval(k);
}

// f with the given range and f' = slope(f so far, k) * a'.
template <class Slope>
Series integrate(const Interval& range, const Series& a, int n, Slope&& slope) {
  Series r = Series::constant(range);
  r.count = a.count == 1 ? 1 : all_up_to(n);
  for (int k = 1; k < r.count && k <= n; ++k) r.coefficient[k] = integrated(slope(r, k), a, k);
  return r;
}

Series exponential(const Series& a, int n) {
  Interval range = increasing(a.coefficient[0], [](double x) { return std::exp(x); });
  range.low = std::max(range.low, 0.0);
  return integrate(range, a, n, [](const Series& r, int) -> const Series& { return r; });
}

// f' = partner a', partner' = sign f a': sine and cosine, plain (sign -1) and hyperbolic.
void oscillate(const Series& a, double sign, int n, Series& f, Series& partner) {
  f.count = partner.count = a.count == 1 ? 1 : all_up_to(n);
  for (int k = 1; k < f.count && k <= n; ++k) {
    f.coefficient[k] = integrated(partner, a, k);
    partner.coefficient[k] = Interval(sign) * integrated(f, a, k);
  }
}

void circular(const Series& a, int n, Series& sine, Series& cosine) {
  const Interval& x = a.coefficient[0];
  sine = Series::constant(
      oscillating(x, 0.5 * std::numbers::pi, [](double v) { return std::sin(v); }));
  cosine = Series::constant(oscillating(x, 0.0, [](double v) { return std::cos(v); }));
  oscillate(a, -1.0, n, sine, cosine);
}

void hyperbolic(const Series& a, int n, Series& sine, Series& cosine) {
  const Interval& x = a.coefficient[0];
  sine = Series::constant(increasing(x, [](double v) { return std::sinh(v); }));
  const double nearest = x.contains(0.0) ? 0.0 : std::min(std::abs(x.low), std::abs(x.high));
  cosine = Series::constant(widened(std::cosh(nearest), std::cosh(x.magnitude()), 4.0));
  oscillate(a, 1.0, n, sine, cosine);
}

// f' = (1 - f^2) a', where 1 - f^2 comes without cancellation.
Series tangens_hyperbolicus(const Series& a, int n) {
  const Interval& x = a.coefficient[0];
  const double nearest = x.contains(0.0) ? 0.0 : std::min(std::abs(x.low), std::abs(x.high));
  const auto slope_at = [](double v) { return 1.0 / (std::cosh(v) * std::cosh(v)); };
  const Interval slope = widened(slope_at(x.magnitude()), slope_at(nearest), 8.0);
  const Interval range = increasing(x, [](double v) { return std::tanh(v); });
  return integrate(range, a, n, [&](const Series& r, int k) {
    Series result = add(Series::constant(1.0), squared(r, k - 1), -1.0);
    result.coefficient[0] = slope;
    return result;
  });
}

Series logarithm(const Series& a, int n) {
  const Interval& x = a.coefficient[0];
  const Interval range = x.high > 0.0 ? increasing(Interval(std::max(x.low, 0.0), x.high),
                                                   [](double v) { return std::log(v); })
                                      : Interval::everything();
  if (!(x.low > 0.0)) return a.count == 1 ? Series::constant(range) : rough(range);
  const Series slope = divide(Series::constant(1.0), a, n);
  return integrate(range, a, n, [&](const Series&, int) -> const Series& { return slope; });
}

// a^exponent for a constant exponent and positive a.
Series real_power(const Series& a, double exponent, int n) {
  Interval x = a.coefficient[0];
  x.low = std::max(x.low, 0.0);
  Interval range = Interval::everything();
  if (x.high >= x.low) {
    const double p = std::pow(x.low, exponent);
    const double q = std::pow(x.high, exponent);
    range = widened(std::min(p, q), std::max(p, q), 4.0);
  }
  if (a.count > 1 && !(a.coefficient[0].low > 0.0)) return rough(range);
  Series r = Series::constant(range);
  r.count = a.count == 1 ? 1 : all_up_to(n);
  for (int k = 1; k < r.count && k <= n; ++k) {
    Interval sum;
    for (int i = 1; i <= std::min(k, a.count - 1); ++i)
      sum += Interval(exponent * i - (k - i)) * a.coefficient[i] * r.coefficient[k - i];
    r.coefficient[k] = sum / (Interval(k) * x);
  }
  return r;
}

Series whole_power(const Series& a, int exponent, int n) {
  Series r = Series::constant(1.0);
  Series base = a;
  for (int left = exponent; left > 0; left /= 2) {
    if (left % 2 == 1) r = multiply(r, base, n);
    if (left > 1) base = squared(base, n);
  }
  return r;
}

Series power(const Series& a, const Series& b, int n) {
  constexpr double kLargest = 64.0;
  if (b.count == 1 && b.coefficient[0].is_point()) {
    const double exponent = b.coefficient[0].low;
    const bool is_whole = exponent == std::floor(exponent) && std::abs(exponent) <= kLargest;
    if (is_whole) {
      const Series r = whole_power(a, static_cast<int>(std::abs(exponent)), n);
      return exponent >= 0.0 ? r : divide(Series::constant(1.0), r, n);
    }
    return real_power(a, exponent, n);
  }
  const Series logarithm_of = logarithm(a, n);
  if (!logarithm_of.is_smooth) return rough(Interval::everything());
  return exponential(multiply(b, logarithm_of, n), n);
}

// f' = a' / (1 + a^2), or a' / sqrt(1 - a^2).
Series inverse_circular(const Series& a, Op op, int n) {
  const Interval& x = a.coefficient[0];
  if (op == Op::kAtan) {
    const Series slope =
        divide(Series::constant(1.0), add(Series::constant(1.0), squared(a, n), 1.0), n);
    const Interval range = increasing(x, [](double v) { return std::atan(v); });
    return integrate(range, a, n, [&](const Series&, int) -> const Series& { return slope; });
  }
  const Interval inside = {std::clamp(x.low, -1.0, 1.0), std::clamp(x.high, -1.0, 1.0)};
  Interval range = increasing(inside, [](double v) { return std::asin(v); });
  const double sign = op == Op::kAsin ? 1.0 : -1.0;
  if (op == Op::kAcos) range = Interval(0.5 * std::numbers::pi) - range;
  if (a.count == 1) return Series::constant(range);
  const Series slope = real_power(add(Series::constant(1.0), squared(a, n), -1.0), -0.5, n);
  if (!slope.is_smooth) return rough(range);
  const Series signed_slope = scaled(slope, sign);
  return integrate(range, a, n, [&](const Series&, int) -> const Series& { return signed_slope; });
}

Series angle(const Series& y, const Series& x, int n) {
  const Interval& top = y.coefficient[0];
  const Interval& side = x.coefficient[0];
  const auto arc = [](double v) { return std::atan(v); };
  const Interval quarter = 0.5 * std::numbers::pi;
  Interval range;
  if (side.low > 0.0)
    range = increasing(top / side, arc);
  else if (top.low > 0.0)
    range = quarter - increasing(side / top, arc);
  else if (top.high < 0.0)
    range = -quarter - increasing(side / top, arc);
  else
    return rough({-std::numbers::pi, std::numbers::pi});
  // (y/x)' / (1 + (y/x)^2), written so that x may vanish.
  const Series radius = add(squared(x, n), squared(y, n), 1.0);
  const Series by_y = divide(x, radius, n);
  const Series by_x = divide(y, radius, n);
  Series r = Series::constant(range);
  r.count = std::max(x.count, y.count) == 1 ? 1 : all_up_to(n);
  for (int k = 1; k < r.count && k <= n; ++k)
    r.coefficient[k] = integrated(by_y, y, k) - integrated(by_x, x, k);
  return r;
}

// A cubic lies within its control points: those of all pieces that reach into an interval.
Interval control_points(const Table& table, double low, double high) {
  const auto piece_of = [&](double u) {
    const auto right = std::upper_bound(table.x.begin(), table.x.end(), u) - table.x.begin();
    return std::clamp<std::ptrdiff_t>(right - 1, 0, std::ssize(table.x) - 2);
  };
  const auto first = static_cast<std::size_t>(piece_of(low));
  const auto last = static_cast<std::size_t>(piece_of(high));
  Interval range = Interval(table.y[first]);
  for (std::size_t k = first; k <= last; ++k) {
    const double third = (table.x[k + 1] - table.x[k]) / 3.0;
    range = hull(range, table.y[k] + third * table.slope[k]);
    range = hull(range, table.y[k + 1] - third * table.slope[k + 1]);
    range = hull(range, table.y[k + 1]);
  }
  return range;
}

// A piece of a table is a cubic at most.
Series table_lookup(const Node& node, const Series& a, int n) {
  const Table& table = *node.table;
  const Interval& u = a.coefficient[0];
  const auto knot = std::upper_bound(table.x.begin(), table.x.end(), u.low);
  if (knot != table.x.end() && *knot < u.high && !u.is_point()) {
    if (node.order > 0) return rough(Interval::everything());
    Interval range = hull(table.evaluate(u.low), table.evaluate(u.high));
    for (auto inner = knot; inner != table.x.end() && *inner < u.high; ++inner)
      range = hull(range, table.y[static_cast<std::size_t>(inner - table.x.begin())]);
    if (table.interpolation == Interpolation::kCubic)
      range = hull(range, control_points(table, u.low, u.high));
    return rough(widened(range.low, range.high, 8.0));
  }
  const double base = knot == table.x.begin() ? *knot - 1.0 : *std::prev(knot);
  const Series from_base = add(a, Series::constant(base), -1.0);
  Series r = Series::constant(0.0);
  double factorial = 6.0;
  for (int k = 3; k >= 0; --k) {
    r = add(multiply(r, from_base, n),
            Series::constant(table.evaluate(base, node.order + k) / factorial), 1.0);
    factorial /= std::max(k, 1);
  }
  return r;
}

// The one of two that is known to hold in all of the cell, or what contains both.
Series either(bool is_first, bool is_second, const Series& first, const Series& second) {
  if (is_first) return first;
  if (is_second) return second;
  return rough(hull(first.coefficient[0], second.coefficient[0]));
}

Series truth(bool is_true, bool is_false) {
  return either(is_true, is_false, Series::constant(1.0), Series::constant(0.0));
}

Series unary(const Node& node, const Series& a, int n) {
  const Interval& x = a.coefficient[0];
  Series f, partner;
  switch (node.op) {
    case Op::kNegate:
      return scaled(a, -1.0);
    case Op::kSqrt:
      return real_power(a, 0.5, n);
    case Op::kExp:
      return exponential(a, n);
    case Op::kLog:
      return logarithm(a, n);
    case Op::kLog10: {
      const Series natural = logarithm(a, n);
      const Interval factor = widened(std::numbers::log10e, std::numbers::log10e);
      return natural.is_smooth ? scaled(natural, factor) : rough(factor * natural.coefficient[0]);
    }
    case Op::kSin:
      circular(a, n, f, partner);
      return f;
    case Op::kCos:
      circular(a, n, partner, f);
      return f;
    case Op::kTan:
      circular(a, n, f, partner);
      return divide(f, partner, n);
    case Op::kSinh:
      hyperbolic(a, n, f, partner);
      return f;
    case Op::kCosh:
      hyperbolic(a, n, partner, f);
      return f;
    case Op::kTanh:
      return tangens_hyperbolicus(a, n);
    case Op::kAsin:
    case Op::kAcos:
    case Op::kAtan:
      return inverse_circular(a, node.op, n);
    case Op::kAbs: {
      if (x.low >= 0.0) return a;
      if (x.high <= 0.0) return scaled(a, -1.0);
      const Interval range = {0.0, x.magnitude()};
      return a.count == 1 ? Series::constant(range) : rough(range);
    }
    case Op::kSign:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kTrunc: {
      const Interval range = {apply(node.op, x.low, 0.0, 0.0), apply(node.op, x.high, 0.0, 0.0)};
      return range.is_point() ? Series::constant(range) : rough(range);
    }
    case Op::kNot:
      return truth(x.low == 0.0 && x.high == 0.0, !x.contains(0.0));
    case Op::kTable:
      return table_lookup(node, a, n);
    default:
      return rough(Interval::everything());
  }
}

Series binary(const Node& node, const Series& a, const Series& b, int n) {
  const Interval& x = a.coefficient[0];
  const Interval& y = b.coefficient[0];
  const bool same = node.children[0] == node.children[1];
  const auto is_true = [](const Interval& v) { return !v.contains(0.0); };
  const auto is_false = [](const Interval& v) { return v.low == 0.0 && v.high == 0.0; };
  switch (node.op) {
    case Op::kAdd:
      return add(a, b, 1.0);
    case Op::kSubtract:
      return add(a, b, -1.0);
    case Op::kMultiply:
      if (is_zero(a) || is_zero(b)) return Series::constant(0.0);
      return same ? squared(a, n) : multiply(a, b, n);
    case Op::kDivide:
      return divide(a, b, n);
    case Op::kPow:
      return power(a, b, n);
    case Op::kAtan2:
      return angle(a, b, n);
    case Op::kMin:
      return either(x.high <= y.low, y.high <= x.low, a, b);
    case Op::kMax:
      return either(x.low >= y.high, y.low >= x.high, a, b);
    case Op::kLess:
      return truth(x.high < y.low, x.low >= y.high);
    case Op::kLessEqual:
      return truth(x.high <= y.low, x.low > y.high);
    case Op::kEqual:
      return truth(x.is_point() && y.is_point() && x.low == y.low,
                   x.high < y.low || y.high < x.low);
    case Op::kAnd:
      return truth(is_true(x) && is_true(y), is_false(x) || is_false(y));
    case Op::kOr:
      return truth(is_true(x) || is_true(y), is_false(x) && is_false(y));
    default:
      return rough(Interval::everything());
  }
}

// Operations whose result may be smooth though an argument is not: they look at its range alone, or
// hand on another argument.
bool may_smooth(Op op) {
  return is_boolean(op) || op == Op::kSign || op == Op::kFloor || op == Op::kCeil ||
         op == Op::kTrunc || op == Op::kAbs || op == Op::kMin || op == Op::kMax;
}

}  // namespace

EnclosedFormula::EnclosedFormula(const Expr& formula) {
  if (formula.node() == nullptr) {
    series_.push_back(Series::constant(formula.number()));
    return;
  }
  NodeMap position;
  append_postorder(formula.node(), position, order_);
  series_.resize(order_.size());
  std::size_t most = 0;  // arguments
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Node& node = *order_[i];
    first_child_.push_back(static_cast<std::uint32_t>(children_.size()));
    for (const Node* child : node.children) children_.push_back(position.find(child));
    most = std::max(most, node.children.size());
    if (node.op == Op::kConstant) {
      series_[i] = Series::constant(node.value);
    } else if (is_leaf(node.op)) {
      leaves_.emplace_back(&node);
      leaf_places_.push_back(static_cast<std::uint32_t>(i));
    } else {
      steps_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  arguments_.resize(std::max<std::size_t>(most, 3));
}

void EnclosedFormula::hold_all_but(std::span<const std::size_t> moving) {
  if (order_.empty()) return;
  std::vector<bool> moves(order_.size(), false), is_needed(order_.size(), false);
  for (const std::size_t leaf : moving) moves[leaf_places_[leaf]] = true;
  const auto child = [&](std::size_t i, std::size_t k) { return children_[first_child_[i] + k]; };
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Node& node = *order_[i];
    if (is_leaf(node.op)) continue;
    for (std::size_t k = 0; k < node.children.size(); ++k)
      if (moves[child(i, k)]) moves[i] = true;
    if (!moves[i]) evaluate_node(i, Series::kOrder);
  }
  steps_.clear();
  is_needed.back() = true;
  for (std::size_t i = order_.size(); i-- > 0;) {
    const Node& node = *order_[i];
    if (!is_needed[i] || !moves[i] || is_leaf(node.op)) continue;
    steps_.push_back(static_cast<std::uint32_t>(i));
    const bool may_exclude = node.op == Op::kSelect && !moves[child(i, 0)];
    const Interval condition =
        may_exclude ? series_[child(i, 0)].coefficient[0] : Interval(0.0, 1.0);
    for (std::size_t k = 0; k < node.children.size(); ++k) {
      if (may_exclude && k == 1 && condition.low == 0.0 && condition.high == 0.0) continue;
      if (may_exclude && k == 2 && !condition.contains(0.0)) continue;
      is_needed[child(i, k)] = true;
    }
  }
  std::ranges::reverse(steps_);
}

const EnclosedSeries& EnclosedFormula::evaluate(int n) {
  for (const std::uint32_t i : steps_) evaluate_node(i, n);
  return series_.back();
}

void EnclosedFormula::evaluate_node(std::size_t i, int n) {
  const Node& node = *order_[i];
  const std::uint32_t* const places = children_.data() + first_child_[i];
  const auto child = [&](std::size_t k) -> const Series& { return series_[places[k]]; };
  const std::size_t count = node.children.size();
  Series& r = series_[i];
  bool is_number = true;
  bool is_smooth = true;
  for (std::size_t k = 0; k < count; ++k) {
    is_number = is_number && child(k).count == 1 && child(k).coefficient[0].is_point();
    is_smooth = is_smooth && child(k).is_smooth;
    arguments_[k] = child(k).coefficient[0].low;
  }
  if (is_number) {
    // What does not move is the number that evaluation gives, its rounding included.
    r = Series::constant(node.op == Op::kCall ? node.function->evaluate(arguments_.data())
                         : node.op == Op::kTable
                             ? node.table->evaluate(arguments_[0], node.order)
                             : apply(node.op, arguments_[0], arguments_[1], arguments_[2]));
  } else if (node.op == Op::kCall) {
    r = rough(Interval::everything());
  } else if (node.op == Op::kSelect) {
    const Interval& condition = child(0).coefficient[0];
    r = either(!condition.contains(0.0), condition.low == 0.0 && condition.high == 0.0, child(1),
               child(2));
  } else {
    r = count == 1 ? unary(node, child(0), n) : binary(node, child(0), child(1), n);
    if (!is_smooth && r.is_smooth && !may_smooth(node.op) && !is_zero(r))
      r = rough(r.coefficient[0]);
  }
}

Interval CellCourse::range() const {
  const Interval direct = whole.coefficient[0];
  if (!whole.is_smooth || !middle.is_smooth) return direct;
  Interval sum = middle.coefficient[0];
  Interval reach = {-radius, radius};
  Interval powers = reach;
  for (int k = 1; k < EnclosedSeries::kOrder; ++k) {
    sum += middle.coefficient[k] * (k % 2 == 0 ? Interval(0.0, powers.high) : powers);
    powers = powers * reach;
  }
  sum += whole.coefficient[EnclosedSeries::kOrder] * Interval(0.0, powers.high);
  return {std::max(sum.low, direct.low), std::min(sum.high, direct.high)};
}

Interval CellCourse::slope() const {
  if (!whole.is_smooth || !middle.is_smooth) return Interval::everything();
  const Interval direct = whole.coefficient[1];
  Interval sum = middle.coefficient[1];
  const Interval reach = {-radius, radius};
  Interval powers = reach;
  for (int k = 2; k <= EnclosedSeries::kOrder; ++k) {
    const Interval& c = k == EnclosedSeries::kOrder ? whole.coefficient[k] : middle.coefficient[k];
    sum += Interval(k) * c * (k % 2 == 1 ? Interval(0.0, powers.high) : powers);
    powers = powers * reach;
  }
  return {std::max(sum.low, direct.low), std::min(sum.high, direct.high)};
}

double CellCourse::remainder() const {
  if (!whole.is_smooth || !middle.is_smooth) return std::numeric_limits<double>::infinity();
  return whole.coefficient[EnclosedSeries::kOrder].magnitude() *
         std::pow(radius, EnclosedSeries::kOrder);
}

double CellCourse::variation() const {
  double largest = 0.0;
  double power = radius;
  for (int k = 1; k < EnclosedSeries::kOrder; ++k, power *= radius)
    largest = std::max(largest, middle.coefficient[k].magnitude() * power);
  return largest;
}

}  // namespace saltus
