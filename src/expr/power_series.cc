#include "expr/power_series.h"

#include <algorithm>
#include <cmath>

#include "expr/function.h"
#include "expr/number.h"
#include "expr/table.h"
#include "expr/traverse.h"

// Recurrences for the coefficients of elementary functions: Griewank & Walther, Evaluating
// Derivatives, chapter 13. Sizes follow by the product rule.

namespace saltus {
namespace {

// Of the size of a coefficient: what is smaller counts as zero where a branch has to be chosen.
constexpr double kRounding = 1e-12;

using Series = PowerSeries;

// Of a product of two coefficients.
double product_size(const Series& a, int i, const Series& b, int j) {
  return std::abs(a.value[i]) * b.size[j] + a.size[i] * std::abs(b.value[j]);
}

int common(const Series& a, const Series& b) { return std::min(a.known, b.known); }

// In place: coefficients above the n-th stay, and nobody reads them.
void combine(const Series& a, const Series& b, double factor, int n, Series& r) {
  r.known = common(a, b);
  for (int k = 0; k <= n; ++k) {
    r.value[k] = a.value[k] + factor * b.value[k];
    r.size[k] = a.size[k] + std::abs(factor) * b.size[k];
  }
}

Series combine(const Series& a, const Series& b, double factor, int n) {
  Series r;
  combine(a, b, factor, n, r);
  return r;
}

bool is_zero(const Series& a) {
  return a.known > PowerSeries::kHighest &&
         std::ranges::all_of(a.size, [](double size) { return size == 0.0; });
}

// Zero times anything is zero, whatever is known of it.
void multiply(const Series& a, const Series& b, int n, Series& r) {
  if (a.known != b.known && (is_zero(a) || is_zero(b))) {
    r = {};
    return;
  }
  r.known = common(a, b);
  for (int k = 0; k <= n; ++k) {
    double value = 0.0;
    double size = 0.0;
    for (int i = 0; i <= k; ++i) {
      value += a.value[i] * b.value[k - i];
      size += product_size(a, i, b, k - i);
    }
    r.value[k] = value;
    r.size[k] = size;
  }
}

Series multiply(const Series& a, const Series& b, int n) {
  Series r;
  multiply(a, b, n, r);
  return r;
}

Series divide(const Series& a, const Series& b, int n) {
  Series r;
  r.known = b.value[0] != 0.0 ? common(a, b) : 0;
  const double scale = std::abs(b.value[0]);
  for (int k = 0; k <= n; ++k) {
    double value = a.value[k];
    double size = a.size[k];
    for (int i = 0; i < k; ++i) {
      value -= r.value[i] * b.value[k - i];
      size += product_size(r, i, b, k - i);
    }
    r.value[k] = value / b.value[0];
    r.size[k] = (size + std::abs(r.value[k]) * b.size[0]) / scale;
  }
  return r;
}

// f with f(0) given and f' = slope * a'.
Series integrate(double value, const Series& slope, const Series& a, int n) {
  Series r;
  r.known = std::min(a.known, slope.known + 1);
  r.value[0] = value;
  r.size[0] = std::abs(value) + std::abs(slope.value[0]) * a.size[0];
  for (int k = 1; k <= n; ++k) {
    for (int i = 1; i <= k; ++i) {
      r.value[k] += i * a.value[i] * slope.value[k - i] / k;
      r.size[k] += i * product_size(a, i, slope, k - i) / k;
    }
  }
  return r;
}

Series square_root(const Series& a, int n) {
  Series r;
  r.value[0] = std::sqrt(a.value[0]);
  r.size[0] = r.value[0] > 0.0 ? r.value[0] + a.size[0] / (2.0 * r.value[0]) : 0.0;
  r.known = r.value[0] > 0.0 ? a.known : std::min(a.known, 1);
  for (int k = 1; k <= n; ++k) {
    double value = a.value[k];
    double size = a.size[k];
    for (int i = 1; i < k; ++i) {
      value -= r.value[i] * r.value[k - i];
      size += product_size(r, i, r, k - i);
    }
    r.value[k] = value / (2.0 * r.value[0]);
    r.size[k] = (size + 2.0 * std::abs(r.value[k]) * r.size[0]) / (2.0 * r.value[0]);
  }
  return r;
}

Series exponential(const Series& a, int n) {
  Series r;
  r.known = a.known;
  r.value[0] = std::exp(a.value[0]);
  r.size[0] = r.value[0] * (1.0 + a.size[0]);
  for (int k = 1; k <= n; ++k)
    for (int i = 1; i <= k; ++i) {
      r.value[k] += i * a.value[i] * r.value[k - i] / k;
      r.size[k] += i * product_size(a, i, r, k - i) / k;
    }
  return r;
}

// f' = partner a', partner' = sign f a': sine and cosine, plain (sign -1) and hyperbolic.
void oscillate(const Series& a, double f, double partner, double sign, int n, Series& first,
               Series& second) {
  first = second = {};
  first.known = second.known = a.known;
  first.value[0] = f;
  second.value[0] = partner;
  first.size[0] = std::abs(f) + std::abs(partner) * a.size[0];
  second.size[0] = std::abs(partner) + std::abs(f) * a.size[0];
  for (int k = 1; k <= n; ++k)
    for (int i = 1; i <= k; ++i) {
      first.value[k] += i * a.value[i] * second.value[k - i] / k;
      first.size[k] += i * product_size(a, i, second, k - i) / k;
      second.value[k] += sign * i * a.value[i] * first.value[k - i] / k;
      second.size[k] += i * product_size(a, i, first, k - i) / k;
    }
}

// f' = (1 - f^2) a': sinh and cosh overflow where the quotient is 1.
Series hyperbolic_tangent(const Series& a, int n) {
  Series r;
  Series slope;
  const double cosh = std::cosh(a.value[0]);
  r.known = slope.known = a.known;
  r.value[0] = std::tanh(a.value[0]);
  slope.value[0] = 1.0 / cosh / cosh;
  r.size[0] = std::abs(r.value[0]) + slope.value[0] * a.size[0];
  slope.size[0] = slope.value[0] * (1.0 + 2.0 * std::abs(r.value[0]) * a.size[0]);
  for (int k = 1; k <= n; ++k) {
    for (int i = 1; i <= k; ++i) {
      r.value[k] += i * a.value[i] * slope.value[k - i] / k;
      r.size[k] += i * product_size(a, i, slope, k - i) / k;
    }
    for (int i = 0; i <= k; ++i) {
      slope.value[k] -= r.value[i] * r.value[k - i];
      slope.size[k] += product_size(r, i, r, k - i);
    }
  }
  return r;
}

Series natural_logarithm(const Series& a, int n) {
  Series r = integrate(std::log(a.value[0]), divide(Series::constant(1.0, 1.0), a, n), a, n);
  if (!(a.value[0] > 0.0)) r.known = 0;
  return r;
}

Series power(const Series& a, const Series& b, int n) {
  const bool constant =
      std::all_of(b.value.begin() + 1, b.value.begin() + n + 1, [](double v) { return v == 0.0; });
  const double exponent = b.value[0];
  if (constant && exponent >= 0.0 && exponent <= 16.0 && exponent == std::floor(exponent)) {
    Series r = Series::constant(1.0, 1.0);
    for (int i = 0; i < static_cast<int>(exponent); ++i) r = multiply(r, a, n);
    r.known = common(a, b);
    return r;
  }
  if (!(a.value[0] > 0.0)) {
    Series r = Series::constant(std::pow(a.value[0], exponent), 1.0);
    r.known = 1;
    return r;
  }
  return exponential(multiply(b, natural_logarithm(a, n), n), n);
}

// The sign just after: of the first coefficient that is more than rounding.
int sign_after(const Series& a, int n) {
  for (int k = 0; k <= std::min(n, a.known - 1); ++k)
    if (std::abs(a.value[k]) > kRounding * a.size[k]) return a.value[k] > 0.0 ? 1 : -1;
  return 0;
}

Series scale(const Series& a, double factor, int n) {
  return combine(Series::constant(0.0, 0.0), a, factor, n);
}

Series truth(bool value) { return Series::constant(value ? 1.0 : 0.0, 0.0); }

// g(a) from the derivatives of g at a(0): sum of g_m / m! (a - a(0))^m.
Series compose(const Series& a, const std::array<double, PowerSeries::kHighest + 1>& derivatives,
               int n) {
  Series change = a;
  change.value[0] = 0.0;
  Series r = Series::constant(derivatives[0],
                              std::abs(derivatives[0]) + std::abs(derivatives[1]) * a.size[0]);
  r.known = a.known;
  Series term = Series::constant(1.0, 1.0);
  for (int m = 1; m <= n; ++m) {
    term = scale(multiply(term, change, n), 1.0 / m, n);
    r = combine(r, term, derivatives[m], n);
  }
  return r;
}

Series look_up(const Table& table, int order, const Series& a, int n) {
  // At a corner the piece that is entered counts.
  const double back = std::nextafter(a.value[0], -HUGE_VAL);
  Series change = a;
  change.value[0] = change.size[0] = 0.0;
  const double u = sign_after(change, n) < 0 ? back : a.value[0];
  std::array<double, PowerSeries::kHighest + 1> derivatives{};
  for (int m = 0; m <= n; ++m) derivatives[m] = table.evaluate(u, order + m);
  return compose(a, derivatives, n);
}

Series unary(const Node& node, const Series& a, int n) {
  const double x = a.value[0];
  Series r;
  Series other;
  switch (node.op) {
    case Op::kSqrt:
      return square_root(a, n);
    case Op::kExp:
      return exponential(a, n);
    case Op::kLog:
      return natural_logarithm(a, n);
    case Op::kLog10:
      return scale(natural_logarithm(a, n), 1.0 / std::log(10.0), n);
    case Op::kSin:
      oscillate(a, std::sin(x), std::cos(x), -1.0, n, r, other);
      return r;
    case Op::kCos:
      oscillate(a, std::sin(x), std::cos(x), -1.0, n, other, r);
      return r;
    case Op::kTan:
      oscillate(a, std::sin(x), std::cos(x), -1.0, n, r, other);
      return divide(r, other, n);
    case Op::kSinh:
      oscillate(a, std::sinh(x), std::cosh(x), 1.0, n, r, other);
      return r;
    case Op::kCosh:
      oscillate(a, std::sinh(x), std::cosh(x), 1.0, n, other, r);
      return r;
    case Op::kTanh:
      return hyperbolic_tangent(a, n);
    case Op::kAsin:
    case Op::kAcos: {
      const Series one = Series::constant(1.0, 1.0);
      const Series slope = divide(one, square_root(combine(one, multiply(a, a, n), -1.0, n), n), n);
      const bool sine = node.op == Op::kAsin;
      return integrate(sine ? std::asin(x) : std::acos(x), scale(slope, sine ? 1.0 : -1.0, n), a,
                       n);
    }
    case Op::kAtan: {
      const Series one = Series::constant(1.0, 1.0);
      return integrate(std::atan(x), divide(one, combine(one, multiply(a, a, n), 1.0, n), n), a, n);
    }
    case Op::kAbs:
      return sign_after(a, n) < 0 ? scale(a, -1.0, n) : a;
    case Op::kSign: {
      const int sign = sign_after(a, n);
      return Series::constant(sign, 0.0);
    }
    case Op::kFloor:
    case Op::kCeil:
    case Op::kTrunc: {
      // At a whole number the step just after depends on the direction.
      const double whole = std::round(x);
      const Series from_whole = combine(a, Series::constant(whole, std::abs(whole)), -1.0, n);
      const bool at_step = std::abs(x - whole) <= kRounding * a.size[0];
      const double inside = at_step ? whole + 0.5 * sign_after(from_whole, n) : x;
      return Series::constant(apply(node.op, inside, 0.0, 0.0), 0.0);
    }
    case Op::kNot:
      return truth(x == 0.0);
    case Op::kTable:
      return look_up(*node.table, node.order, a, n);
    default:
      r.known = 0;
      return r;
  }
}

Series binary(const Node& node, const Series& a, const Series& b, int n) {
  switch (node.op) {
    case Op::kDivide:
      return divide(a, b, n);
    case Op::kPow:
      return power(a, b, n);
    case Op::kAtan2: {
      // d/dt atan2(y, x) = (x y' - y x') / (x^2 + y^2)
      const Series denominator = combine(multiply(a, a, n), multiply(b, b, n), 1.0, n);
      const Series by_a = integrate(0.0, divide(b, denominator, n), a, n);
      const Series by_b = integrate(0.0, divide(a, denominator, n), b, n);
      Series r = combine(by_a, by_b, -1.0, n);
      r.value[0] = std::atan2(a.value[0], b.value[0]);
      return r;
    }
    default:
      break;
  }
  const Series difference = combine(a, b, -1.0, n);
  switch (node.op) {
    case Op::kMin:
      return sign_after(difference, n) <= 0 ? a : b;
    case Op::kMax:
      return sign_after(difference, n) >= 0 ? a : b;
    case Op::kLess:
      return truth(sign_after(difference, n) < 0);
    case Op::kLessEqual:
      return truth(sign_after(difference, n) <= 0);
    case Op::kEqual:
      return truth(sign_after(difference, n) == 0);
    case Op::kAnd:
      return truth(a.value[0] != 0.0 && b.value[0] != 0.0);
    case Op::kOr:
      return truth(a.value[0] != 0.0 || b.value[0] != 0.0);
    default:
      Series r;
      r.known = 0;
      return r;
  }
}

}  // namespace

PowerSeries PowerSeries::constant(double number, double magnitude) {
  PowerSeries r;
  r.value[0] = number;
  r.size[0] = std::max(std::abs(number), magnitude);
  return r;
}

SeriesFormulas::SeriesFormulas(std::span<const Expr> formulas) {
  NodeMap position;
  for (const Expr& formula : formulas)
    if (formula.node() != nullptr) append_postorder(formula.node(), position, order_);
  series_.resize(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Node* node = order_[i];
    first_child_.push_back(static_cast<std::uint32_t>(children_.size()));
    for (const Node* child : node->children) children_.push_back(position.find(child));
    if (node->op == Op::kConstant) {
      series_[i] = PowerSeries::constant(node->value, 0.0);
    } else if (is_leaf(node->op)) {
      leaves_.emplace_back(node);
      leaf_places_.push_back(static_cast<std::uint32_t>(i));
    } else {
      moving_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  for (const Expr& formula : formulas) {
    if (formula.node() != nullptr) {
      results_.push_back(position.find(formula.node()));
      continue;
    }
    results_.push_back(static_cast<std::uint32_t>(series_.size()));
    series_.push_back(PowerSeries::constant(formula.number(), 0.0));
  }
}

void SeriesFormulas::mark_moving(const std::vector<bool>& leaves) {
  std::vector<bool> moves(order_.size(), false);
  for (std::size_t i = 0; i < leaves.size(); ++i) moves[leaf_places_[i]] = leaves[i];
  constants_.clear();
  moving_.clear();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (is_leaf(order_[i]->op)) continue;
    for (std::size_t k = 0; k < order_[i]->children.size(); ++k)
      if (moves[children_[first_child_[i] + k]]) moves[i] = true;
    (moves[i] ? moving_ : constants_).push_back(static_cast<std::uint32_t>(i));
  }
}

void SeriesFormulas::evaluate_constants() {
  for (const std::uint32_t i : constants_) evaluate_node(i, PowerSeries::kHighest);
}

void SeriesFormulas::evaluate(int n) {
  for (const std::uint32_t i : moving_) evaluate_node(i, n);
}

void SeriesFormulas::evaluate_node(std::size_t i, int n) {
  const Node& node = *order_[i];
  const auto child = [&](std::size_t k) -> const PowerSeries& {
    return series_[children_[first_child_[i] + k]];
  };
  const PowerSeries& a = child(0);
  PowerSeries& r = series_[i];
  if (node.op == Op::kCall) {
    // Nothing is known of its derivatives here.
    arguments_.clear();
    int known = PowerSeries::kHighest + 1;
    for (std::size_t k = 0; k < node.children.size(); ++k) {
      const PowerSeries& argument = child(k);
      arguments_.push_back(argument.value[0]);
      const bool varies = std::any_of(argument.value.begin() + 1, argument.value.begin() + n + 1,
                                      [](double v) { return v != 0.0; });
      known = std::min({known, argument.known, varies ? 1 : known});
    }
    r = PowerSeries::constant(node.function->evaluate(arguments_.data()), 0.0);
    r.known = known;
  } else if (node.op == Op::kSelect) {
    const double condition = a.value[0];
    r = child(condition != 0.0 ? 1 : 2);
    if (a.known == 0) r.known = 0;
  } else if (node.op == Op::kNegate) {
    r.known = a.known;
    for (int k = 0; k <= n; ++k) {
      r.value[k] = -a.value[k];
      r.size[k] = a.size[k];
    }
  } else if (node.children.size() == 1) {
    r = unary(node, a, n);
  } else if (node.op == Op::kAdd || node.op == Op::kSubtract) {
    combine(a, child(1), node.op == Op::kAdd ? 1.0 : -1.0, n, r);
  } else if (node.op == Op::kMultiply) {
    multiply(a, child(1), n, r);
  } else {
    r = binary(node, a, child(1), n);
  }
  // Nothing follows from what is not known, but for what a product or select() leaves out.
  if (node.op == Op::kMultiply || node.op == Op::kSelect) return;
  for (std::size_t k = 0; k < node.children.size(); ++k)
    if (child(k).known == 0) r.known = 0;
}

}  // namespace saltus
