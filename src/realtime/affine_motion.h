#pragma once

#include <optional>

namespace saltus {

// m x'' + d x' + c x = f with constant numbers, solved in closed form for every sign of c and for
// c = 0: the motion within one affine region of a spring (RE (25), (26), (32)).
//
// Letters as in RE: m mass, d damping, c stiffness, x deflection, v = x'.
class AffineMotion {
 public:
  // Pre: m > 0, d >= 0. A motion with these numbers from x, v at time 0.
  AffineMotion(double m, double d, double c, double f, double x, double v) noexcept;

  double position(double t) const noexcept;
  double velocity(double t) const noexcept;

  // First time in (0, end] at which the velocity is zero. A velocity that is zero at time 0 is not
  // counted.
  std::optional<double> first_rest(double end) const noexcept;

  // First time in (0, end] at which the position leaves [low, high]; both may be infinite. Pre: the
  // position at time 0 lies in it; if it lies on a border it moves inwards or rests.
  std::optional<double> first_exit(double low, double high, double end) const noexcept;

 private:
  // e^(-a t) C(t) and e^(-a t) S(t), with C = cos or cosh and S = sin / w or sinh / w.
  struct Kernel {
    double cosine;
    double sine;
  };
  Kernel kernel(double t) const noexcept;
  // The response of the position to an initial acceleration: H(0) = H'(0) = 0, H''(0) = 1.
  double response(double t) const noexcept;
  std::optional<double> rest_after(double from) const noexcept;

  double decay_;         // a = d / 2m
  double square_;        // c / m
  double discriminant_;  // c / m - a^2
  double rate_;          // w: root of its magnitude
  double x_;
  double v_;
  double acceleration_;  // at time 0
};

}  // namespace saltus
