#include "realtime/affine_motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saltus {

AffineMotion::AffineMotion(double m, double d, double c, double f, double x, double v) noexcept
    : decay_(0.5 * d / m),
      square_(c / m),
      discriminant_(square_ - decay_ * decay_),
      rate_(std::sqrt(std::abs(discriminant_))),
      x_(x),
      v_(v),
      acceleration_((f - d * v - c * x) / m) {}

AffineMotion::Kernel AffineMotion::kernel(double t) const noexcept {
  const double phase = rate_ * t;
  if (phase < 1e-4) {  // both limits at once; the next terms are below 1e-17
    const double z = discriminant_ * t * t;
    const double e = std::exp(-decay_ * t);
    return {e * (1.0 - z / 2.0 + z * z / 24.0), e * t * (1.0 - z / 6.0 + z * z / 120.0)};
  }
  if (discriminant_ > 0.0) {
    const double e = std::exp(-decay_ * t);
    return {e * std::cos(phase), e * std::sin(phase) / rate_};
  }
  if (phase < 1.0) {
    const double e = std::exp(-decay_ * t);
    return {e * std::cosh(phase), e * std::sinh(phase) / rate_};
  }
  const double slow = std::exp((rate_ - decay_) * t);
  const double fast = std::exp(-(rate_ + decay_) * t);
  return {0.5 * (slow + fast), 0.5 * (slow - fast) / rate_};
}

double AffineMotion::response(double t) const noexcept {
  if ((std::abs(square_) * t + 2.0 * decay_) * t < 0.5) {
    // Taylor: the formulas below lose digits where t is short.
    double sum = 0.0;
    double power = 0.5 * t * t;  // t^k / k!
    double before = 0.0;         // h_(k-1), from H'' = -2a H' - (c/m) H for k > 2
    double now = 1.0;            // h_k
    for (int k = 2; k < 18; ++k) {
      sum += now * power;
      const double next = -2.0 * decay_ * now - square_ * before;
      before = now;
      now = next;
      power *= t / (k + 1);
    }
    return sum;
  }
  if (discriminant_ < 0.0 && rate_ * t > 0.02) {
    // Difference of two decays; holds for c = 0 and c < 0, where the slow one does not decay.
    const double fast = decay_ + rate_;
    const double slow = square_ / fast;
    const double slow_part = slow == 0.0 ? t : -std::expm1(-slow * t) / slow;
    return (slow_part + std::expm1(-fast * t) / fast) / (2.0 * rate_);
  }
  const Kernel k = kernel(t);
  return (1.0 - k.cosine - decay_ * k.sine) / square_;
}

double AffineMotion::position(double t) const noexcept {
  const double h = response(t);
  return x_ + (kernel(t).sine + 2.0 * decay_ * h) * v_ + h * acceleration_;
}

double AffineMotion::velocity(double t) const noexcept {
  const Kernel k = kernel(t);
  return k.cosine * v_ + k.sine * (acceleration_ + decay_ * v_);
}

std::optional<double> AffineMotion::rest_after(double from) const noexcept {
  const double b = acceleration_ + decay_ * v_;  // v = e^(-a t) (v0 C + b S)
  if (v_ == 0.0 && b == 0.0) return std::nullopt;
  if (discriminant_ > 0.0) {
    // A root of v0 cos + (b / w) sin; roots are pi / w apart. Those within rounding of `from` are
    // the one that was found before.
    const double first = std::atan2(b / rate_, v_) + 0.5 * std::numbers::pi;
    const double spacing = std::numbers::pi / rate_;
    double t = first / rate_;
    t += spacing * std::ceil((from - t) / spacing);
    if (t - from < 1e-9 * spacing) t += spacing;
    return t;
  }
  if (v_ == 0.0 || b == 0.0) return std::nullopt;  // a root at 0, or none
  const double ratio = -v_ / b;                    // tanh(w t) / w
  double t = ratio;
  if (rate_ > 0.0) {
    if (std::abs(ratio * rate_) >= 1.0) return std::nullopt;
    t = std::atanh(ratio * rate_) / rate_;
  }
  return t > from ? std::optional(t) : std::nullopt;
}

std::optional<double> AffineMotion::first_rest(double end) const noexcept {
  const std::optional<double> t = rest_after(0.0);
  return t && *t <= end ? t : std::nullopt;
}

std::optional<double> AffineMotion::first_exit(double low, double high, double end) const noexcept {
  // Between two rests the position is monotone, so its ends say whether there is a root.
  double from = 0.0;
  for (;;) {
    const std::optional<double> rest = rest_after(from);
    const double to = rest ? std::min(*rest, end) : end;
    const double reached = position(to);
    if (reached > high || reached < low) {
      const double level = reached > high ? high : low;
      const double side = reached > high ? 1.0 : -1.0;
      double inside = from;
      double outside = to;
      double t = 0.5 * (from + to);
      for (int k = 0; k < 200 && inside < outside; ++k) {
        const double excess = position(t) - level;
        (side * excess > 0.0 ? outside : inside) = t;
        const double v = velocity(t);
        double next = v == 0.0 ? inside : t - excess / v;
        if (!(next > inside && next < outside)) next = 0.5 * (inside + outside);
        if (next == t || next <= inside || next >= outside) break;
        t = next;
      }
      return t;
    }
    if (to >= end) return std::nullopt;
    from = to;
  }
}

}  // namespace saltus
