#include "locate/roots.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saltus {
namespace {

constexpr int kN = 8;  // degree of the interpolant
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// What the dropped part of the series may be, in units of the last kept coefficients. Large until
// the series has been seen to fall to rounding level.
constexpr double kTailUnproven = 1000.0;
constexpr double kTailSmooth = 4.0;
constexpr double kSmooth = 1e-11;    // tail against maximum at which g counts as smooth
constexpr double kResolved = 0.05;   // largest E against maximum for which p is used
constexpr double kDoubtful = 8.0;    // |p| below this many E: ask g again
constexpr double kLebesgue = 3.0;    // growth of sample noise in the interpolant
constexpr double kRounding = 16.0;   // growth of relative rounding, in kEps
constexpr double kSlopeError = 100;  // error of p' over error of p, Markov's N^2 rounded up

using Series = std::array<double, kN + 1>;

// Lobatto points of degree n and the map from samples there to Chebyshev coefficients.
template <int n>
struct Lobatto {
  std::array<double, n + 1> x;         // in [-1, 1], increasing
  std::array<double, n + 1> fraction;  // the same in [0, 1]
  std::array<std::array<double, n + 1>, n + 1> transform;

  Lobatto() {
    for (int k = 0; k <= n; ++k) {
      x[k] = 2 * k == n ? 0.0 : -std::cos(k * std::numbers::pi / n);
      fraction[k] = 0.5 * (1.0 + x[k]);
      for (int j = 0; j <= n; ++j) {
        const double at_end = (k == 0 || k == n ? 0.5 : 1.0) * (j == 0 || j == n ? 0.5 : 1.0);
        const double t = (j % 2 == 0 ? 1.0 : -1.0) * std::cos((j * k) * std::numbers::pi / n);
        transform[j][k] = 2.0 / n * at_end * t;
      }
    }
  }

  void coefficients(const double* samples, double* c) const {
    for (int j = 0; j <= n; ++j) {
      c[j] = 0.0;
      for (int k = 0; k <= n; ++k) c[j] += transform[j][k] * samples[k];
    }
  }
};

template <int n>
const Lobatto<n>& lobatto() {
  static const Lobatto<n> table;
  return table;
}

double sum_abs(const double* first, const double* last) {
  double sum = 0.0;
  for (; first != last; ++first) sum += std::abs(*first);
  return sum;
}

double max_abs(std::span<const double> values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// Clenshaw's recurrence.
double series_value(const Series& c, double x) {
  double b1 = 0.0;
  double b2 = 0.0;
  for (int k = kN; k >= 1; --k) {
    const double b = c[k] + 2.0 * x * b1 - b2;
    b2 = b1;
    b1 = b;
  }
  return c[0] + x * b1 - b2;
}

Series series_slope(const Series& c) {
  Series d{};
  for (int k = kN; k >= 1; --k) d[k - 1] = (k + 1 <= kN ? d[k + 1] : 0.0) + 2.0 * k * c[k];
  d[0] *= 0.5;
  return d;
}

// Where the series changes sign between a and b, by bisection; the midpoint if it does not.
double series_zero(const Series& c, double a, double b) {
  const double at_a = series_value(c, a);
  if (at_a * series_value(c, b) >= 0.0) return 0.5 * (a + b);
  for (int i = 0; i < 60; ++i) {
    const double x = 0.5 * (a + b);
    if (x == a || x == b) break;
    (series_value(c, x) * at_a > 0.0 ? a : b) = x;
  }
  return 0.5 * (a + b);
}

template <int n>
bool excludes_root(const double* samples, int degree, double noise) {
  std::array<double, n + 1> c;
  lobatto<n>().coefficients(samples, c.data());
  const double rounding =
      kLebesgue * noise + kRounding * kEps * max_abs(std::span<const double>(samples, n + 1));
  const double others = sum_abs(c.data() + 1, c.data() + n + 1);
  double error = rounding;
  if (degree < 0 || degree > n) {
    const double tail = std::abs(c[n - 1]) + std::abs(c[n]);
    error += kTailUnproven * std::max(0.0, tail - rounding);
    // Five samples of an oscillation can look smooth by accident, but hardly so if g barely varies.
    if (n == 4 && others > 0.5 * std::abs(c[0])) return false;
  }
  return std::abs(c[0]) - others > error;
}

}  // namespace

std::span<const double, 5> five_sample_points() { return lobatto<4>().fraction; }
std::span<const double, 9> nine_sample_points() { return lobatto<8>().fraction; }

bool surely_no_root(std::span<const double> samples, int degree, double noise) {
  for (const double value : samples) {
    if (!std::isfinite(value)) return false;
  }
  if (samples.size() == 5) return excludes_root<4>(samples.data(), degree, noise);
  if (samples.size() == 9) return excludes_root<8>(samples.data(), degree, noise);
  return false;
}

void measure_clearance(const double* rows, std::size_t count, const double* unproven,
                       double* clearance) {
  // Chebyshev coefficients by the symmetry of the points. More than excludes_root allows for, and
  // enough for what is rounded otherwise there.
  constexpr double kAllowance = 4.0 * kRounding * kEps;
  constexpr double kHalfRoot2 = 0.5 * std::numbers::sqrt2;
  const double* const f0 = rows;
  const double* const f1 = f0 + count;
  const double* const f2 = f1 + count;
  const double* const f3 = f2 + count;
  const double* const f4 = f3 + count;
  for (std::size_t g = 0; g < count; ++g) {
    const double ends = 0.5 * (f0[g] + f4[g]);
    const double slant = 0.5 * (f4[g] - f0[g]);
    const double inner = f1[g] + f3[g];
    const double inner_slant = kHalfRoot2 * (f3[g] - f1[g]);
    const double mean = 0.25 * std::abs(ends + inner + f2[g]);
    const double tail = 0.5 * std::abs(slant - inner_slant) + 0.25 * std::abs(ends - inner + f2[g]);
    const double others = 0.5 * std::abs(slant + inner_slant) + 0.5 * std::abs(ends - f2[g]) + tail;
    const double distance = mean - others - kAllowance * (mean + others);
    const double clear = distance - unproven[g] * kTailUnproven * tail;
    const double steady = distance - unproven[g] * 0.5 * mean;
    clearance[g] = clear < steady ? clear : steady;
  }
}

struct RootIsolator::Cell {
  double l;
  double u;
  double g_l;  // NaN: not known
  double g_u;
  double guess;         // likeliest place of a tangency
  bool smooth = false;  // an enclosing cell was resolved to rounding level
  bool zoomed = false;  // cut out of a resolved cell, |g| is far below the maximum there
};

// g on [l, u], x in [-1, 1]: |g - p| <= error.
struct RootIsolator::Model {
  Cell cell;
  Series p;
  Series slope;
  double error;
  // Neighbouring doubtful cells are sampled again as one.
  bool doubtful = false;
  double doubtful_a = 0.0;
  double doubtful_b = 0.0;

  double s(double x) const {
    return x == 1.0 ? cell.u : cell.l + (cell.u - cell.l) * (0.5 * (1.0 + x));
  }
};

double RootIsolator::evaluate(double s) {
  ++evaluations_;
  const double value = (*g_)(s);
  if (!std::isfinite(value)) stop(RootStatus::kNotFinite, s);
  return value;
}

int RootIsolator::sign_of(double value) const {
  if (std::abs(value) <= info_.noise) return 0;
  return (value > 0.0) - (value < 0.0);
}

void RootIsolator::stop(RootStatus status, double s) {
  if (status_ == RootStatus::kComplete) status_ = status;
  proven_until_ = std::min(proven_until_, s);
}

RootReport RootIsolator::isolate(GuardRef g, const GuardInfo& info) {
  g_ = &g;
  info_ = info;
  evaluations_ = 0;
  status_ = RootStatus::kComplete;
  proven_until_ = 1.0;
  last_sign_ = 0;
  zero_open_ = false;
  count_ = 0;

  const double g0 = std::isnan(info.at_start) ? evaluate(0.0) : info.at_start;
  const double g1 = std::isnan(info.at_end) ? evaluate(1.0) : info.at_end;
  if (std::isinf(info.at_start)) stop(RootStatus::kNotFinite, 0.0);
  if (std::isinf(info.at_end)) stop(RootStatus::kNotFinite, 1.0);
  if (status_ == RootStatus::kComplete) {
    emit_sign(0.0, sign_of(g0));
    Cell cell{.l = 0.0, .u = 1.0, .g_l = g0, .g_u = kUnknown, .guess = 0.5};
    for (std::size_t k = 0; k <= info.cuts.size(); ++k) {
      const bool is_last = k == info.cuts.size();
      cell.u = is_last ? 1.0 : info.cuts[k];
      cell.g_u = is_last ? g1 : evaluate(cell.u);
      cell.guess = 0.5 * (cell.l + cell.u);
      resolve(cell);
      cell.l = cell.u;
      cell.g_l = cell.g_u;
    }
  }
  if (status_ == RootStatus::kBudget) {
    const double g_l = evaluate(proven_until_);
    if (sign_of(g_l) * sign_of(g1) < 0) {
      emit_sign(proven_until_, sign_of(g_l));
      emit_zero(refine(proven_until_, g_l, 1.0, g1, 0.5 * (1.0 + proven_until_), kMinWidth));
    }
  }
  if (status_ == RootStatus::kComplete || status_ == RootStatus::kBudget) {
    emit_sign(1.0, sign_of(g1));
  }
  if (zero_open_) close_zero(0);
  g_ = nullptr;
  return {status_, std::span<const Root>(roots_.data(), count_), proven_until_, evaluations_};
}

void RootIsolator::resolve(Cell cell) {
  if (status_ != RootStatus::kComplete) return;
  if (cell.u - cell.l < kMinWidth) {
    emit_zero({cell.l, cell.u, cell.guess});
    return;
  }
  if (evaluations_ >= budget_) {
    stop(RootStatus::kBudget, cell.l);
    return;
  }

  const auto& nodes = lobatto<kN>();
  Series f;
  const auto sample = [&](int k) {
    f[k] = evaluate(cell.l + (cell.u - cell.l) * nodes.fraction[k]);
  };
  f[0] = std::isnan(cell.g_l) ? evaluate(cell.l) : cell.g_l;
  f[kN] = std::isnan(cell.g_u) ? evaluate(cell.u) : cell.g_u;
  for (const int k : {2, 4, 6}) sample(k);  // the five points are every other one of the nine
  if (status_ != RootStatus::kComplete) return;
  const std::array<double, 5> coarse = {f[0], f[2], f[4], f[6], f[8]};
  if (surely_no_root(coarse, info_.degree, info_.noise)) {
    emit_sign(cell.l, f[0] > 0.0 ? 1 : -1);
    return;
  }
  for (const int k : {1, 3, 5, 7}) sample(k);
  if (status_ != RootStatus::kComplete) return;
  if (surely_no_root(f, info_.degree, info_.noise)) {
    emit_sign(cell.l, f[0] > 0.0 ? 1 : -1);
    return;
  }

  cell.g_l = f[0];
  cell.g_u = f[kN];
  Model model{.cell = cell, .p = {}, .slope = {}, .error = 0.0};
  Series& c = model.p;
  nodes.coefficients(f.data(), c.data());
  const double largest = max_abs(f);

  // The sample points are themselves rounded, which matters once the cell is narrow.
  double bend = 0.0;
  for (int k = 1; k <= kN; ++k) bend += k * k * std::abs(c[k]);
  const double rounding =
      kRounding * kEps * largest + kLebesgue * info_.noise + kEps * bend / (cell.u - cell.l);
  if (rounding > kResolved * largest || largest == 0.0) {
    emit_zero({cell.l, cell.u, cell.guess});
    return;
  }

  // A polynomial has no tail on the whole step. On a small part of a smooth g the series falls so
  // fast that even the middle coefficients show nothing but noise.
  const bool polynomial = info_.degree >= 0 && info_.degree <= kN;
  int first_tail = kN - 1;
  if (polynomial && !cell.zoomed) first_tail = info_.degree + 1;
  if (cell.zoomed && cell.smooth) first_tail = 5;
  const double tail = sum_abs(c.data() + first_tail, c.data() + kN + 1);
  const bool falls = std::abs(c[5]) + std::abs(c[6]) <= 0.25 * largest;
  const bool smooth = cell.smooth || polynomial || (falls && tail <= kSmooth * largest + rounding);
  model.error =
      rounding + (smooth ? kTailSmooth * tail : kTailUnproven * std::max(0.0, tail - rounding));
  if (model.error <= kResolved * largest && (smooth || falls)) {
    model.cell.smooth = smooth;
    model.slope = series_slope(c);
    cut(model, -1.0, 1.0, 0);
    resample_doubtful(model);
    return;
  }
  // What is rough inside a cell resolved to rounding level is rounding noise.
  if (cell.smooth && cell.zoomed) {
    emit_zero({cell.l, cell.u, cell.guess});
    return;
  }

  // Not at a zero, so that a root lies inside one part only.
  int at = kN / 2;
  if (std::abs(f[at]) <= 1e-3 * largest) {
    const int beside = std::abs(f[at - 1]) > std::abs(f[at + 1]) ? at - 1 : at + 1;
    if (f[beside] != 0.0) at = beside;
  }
  Cell left = cell;
  Cell right = cell;
  left.u = right.l = cell.l + (cell.u - cell.l) * nodes.fraction[at];
  left.g_u = right.g_l = f[at];
  left.guess = 0.5 * (left.l + left.u);
  right.guess = 0.5 * (right.l + right.u);
  resolve(left);
  resolve(right);
}

// Goes through [xa, xb] by p alone.
void RootIsolator::cut(Model& model, double xa, double xb, int depth) {
  if (status_ != RootStatus::kComplete) return;
  const auto& nodes = lobatto<kN>();
  Series f;
  Series q;
  for (int k = 0; k <= kN; ++k) {
    f[k] = series_value(model.p, k == kN ? xb : xa + (xb - xa) * nodes.fraction[k]);
  }
  nodes.coefficients(f.data(), q.data());
  const double others = sum_abs(q.data() + 1, q.data() + kN + 1);
  if (std::abs(q[0]) > others + model.error) {
    resample_doubtful(model);
    emit_sign(model.s(xa), q[0] > 0.0 ? 1 : -1);
    return;
  }
  const Series d = series_slope(q);
  if (std::abs(d[0]) >
      sum_abs(d.data() + 1, d.data() + kN) + kSlopeError * model.error * 0.5 * (xb - xa)) {
    resample_doubtful(model);
    cut_monotone(model, xa, xb);
    return;
  }
  if (std::abs(q[0]) + others < kDoubtful * model.error || depth > 50) {
    if (!model.doubtful) model.doubtful_a = xa;
    model.doubtful_b = xb;
    model.doubtful = true;
    return;
  }
  int at = kN / 2;
  if (std::abs(f[at]) <= std::max(2.0 * model.error, 1e-3 * max_abs(f))) {
    at += std::abs(f[at - 1]) > std::abs(f[at + 1]) ? -1 : 1;
  }
  const double x = xa + (xb - xa) * nodes.fraction[at];
  cut(model, xa, x, depth + 1);
  cut(model, x, xb, depth + 1);
}

void RootIsolator::cut_monotone(Model& model, double xa, double xb) {
  const double pa = series_value(model.p, xa);
  const double pb = series_value(model.p, xb);
  const double ga = std::abs(pa) > model.error ? pa : value_at(model, xa);
  const double gb = std::abs(pb) > model.error ? pb : value_at(model, xb);
  if (status_ != RootStatus::kComplete) return;
  const double a = model.s(xa);
  const double b = model.s(xb);
  const int sign_a = sign_of(ga);
  const int sign_b = sign_of(gb);
  if (sign_a == 0) {
    emit_zero({a, a, a});
  } else {
    emit_sign(a, sign_a);
  }
  if (sign_a * sign_b < 0) {
    const double x = series_zero(model.p, xa, xb);
    const double spread =
        0.5 * (model.cell.u - model.cell.l) * model.error / std::abs(series_value(model.slope, x));
    emit_zero(refine(a, ga, b, gb, model.s(x), spread));
  }
  if (sign_b == 0) {
    emit_zero({b, b, b});
  } else {
    emit_sign(b, sign_b);
  }
}

void RootIsolator::resample_doubtful(Model& model) {
  if (!model.doubtful) return;
  model.doubtful = false;
  const double xa = model.doubtful_a;
  const double xb = model.doubtful_b;
  resolve({.l = model.s(xa),
           .u = model.s(xb),
           .g_l = xa == -1.0 ? model.cell.g_l : kUnknown,
           .g_u = xb == 1.0 ? model.cell.g_u : kUnknown,
           .guess = model.s(series_zero(model.slope, xa, xb)),
           .smooth = model.cell.smooth,
           .zoomed = true});
}

double RootIsolator::value_at(const Model& model, double x) {
  if (x == -1.0) return model.cell.g_l;
  if (x == 1.0) return model.cell.g_u;
  return evaluate(model.s(x));
}

// Shrinks a sign change to kTolerance: first a pair of points about the guess, whose error is about
// `spread`, then the Illinois variant of false position, with bisection when that is slow.
RootIsolator::Zero RootIsolator::refine(double lower, double g_lower, double upper, double g_upper,
                                        double guess, double spread) {
  const double reach = std::max(2.0 * spread, 0.4 * kTolerance);
  double target = upper - lower;
  bool kept_lower = false;
  bool kept_upper = false;
  for (int i = 0; i < 100 && upper - lower > kTolerance; ++i) {
    double x = 0.5 * (lower + upper);
    if (i == 0) {
      x = guess;
    } else if (i == 1) {
      x = lower == guess ? guess + reach : guess - reach;
    } else if (i % 3 != 1 || upper - lower < target) {
      x = lower + (upper - lower) * (g_lower / (g_lower - g_upper));
    }
    if (i % 3 == 1) target = 0.25 * (upper - lower);
    // Kept off the ends, or one of them would never move.
    const double margin = std::min(0.4 * kTolerance, 0.25 * (upper - lower));
    x = std::clamp(x, lower + margin, upper - margin);
    const double value = evaluate(x);
    if (value == 0.0 || !std::isfinite(value)) return {x, x, x};
    if ((value > 0.0) == (g_lower > 0.0)) {
      lower = x;
      g_lower = value;
      if (kept_upper) g_upper *= 0.5;
      kept_upper = true;
      kept_lower = false;
    } else {
      upper = x;
      g_upper = value;
      if (kept_lower) g_lower *= 0.5;
      kept_lower = true;
      kept_upper = false;
    }
  }
  return {lower, upper, 0.5 * (lower + upper)};
}

// The sign of g from s on, up to the next zero.
void RootIsolator::emit_sign(double s, int sign) {
  if (sign == 0) return;
  if (!zero_open_ && last_sign_ * sign < 0) emit_zero({s, s, s});
  if (zero_open_) close_zero(sign);
  last_sign_ = sign;
}

// Zeros with no sign between them are one.
void RootIsolator::emit_zero(Zero zero) {
  if (zero_open_) {
    zero_.upper = zero.upper;
    zero_.guess = 0.5 * (zero_.lower + zero_.upper);
  } else {
    zero_ = zero;
    zero_open_ = true;
  }
}

void RootIsolator::close_zero(int after) {
  zero_open_ = false;
  if (count_ == kMaxRoots) {
    stop(RootStatus::kTooMany, zero_.lower);
    return;
  }
  const int before = last_sign_;
  Root root{.width = zero_.upper - zero_.lower, .before = before, .after = after};
  if (root.width >= kFlatWidth) {
    root.kind = RootKind::kFlat;
    root.s = zero_.lower;
  } else if (before == after) {
    root.kind = RootKind::kGrazing;
    root.s = std::clamp(zero_.guess, zero_.lower, zero_.upper);
  } else {
    root.kind = before > after ? RootKind::kFalling : RootKind::kRising;
    if (before == 0) {
      root.s = 0.0;
    } else if (after == 0) {
      root.s = 1.0;
    } else {
      if (root.width > kTolerance && status_ == RootStatus::kComplete) {
        const double g_lower = evaluate(zero_.lower);
        const double g_upper = evaluate(zero_.upper);
        if (g_lower * before > 0.0 && g_upper * after > 0.0) {
          zero_ = refine(zero_.lower, g_lower, zero_.upper, g_upper, zero_.guess, kTolerance);
          root.width = zero_.upper - zero_.lower;
        }
      }
      root.s = zero_.guess;
    }
  }
  roots_[count_++] = root;
}

}  // namespace saltus
