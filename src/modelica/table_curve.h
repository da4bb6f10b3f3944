#pragma once

#include <cstddef>
#include <vector>

namespace saltus {

// How points are joined, in the numbers of Modelica.Blocks.Types.Smoothness.
enum class Smoothness {
  kLinear = 1,
  kAkima = 2,
  kConstant = 3,
  kFritschButland = 4,
  kSteffen = 5,
  kModifiedAkima = 6
};

// What holds beyond the points, in the numbers of Modelica.Blocks.Types.Extrapolation.
enum class Beyond { kHold = 1, kLastTwoPoints = 2, kPeriodic = 3, kNone = 4 };

// Slopes at the points (x increasing, at least two): the cubics through them are once continuously
// differentiable. For the kinds that join by cubics only.
std::vector<double> slopes_at_points(const std::vector<double>& x, const std::vector<double>& y,
                                     Smoothness smoothness);

// y over x. Equal neighbours in x are jumps: the first belongs to the left, the last to the right.
class TableCurve {
 public:
  // Pre: x does not decrease, and increases strictly where cubics join the points.
  TableCurve(std::vector<double> x, std::vector<double> y, Smoothness smoothness, Beyond beyond);

  // The value or a derivative at u, on the right of a jump.
  double evaluate(double u, int order) const;
  // The same by the points first .. last only, u within them or beyond.
  double evaluate_within(std::size_t first, std::size_t last, double u, int order) const;
  // The same on the left or the right of all points, as `beyond` says.
  double evaluate_beyond(bool right, double u, int order) const;

  const std::vector<double>& x() const { return x_; }

 private:
  bool is_cubic() const { return !slope_.empty(); }
  double piece(std::size_t k, double u, int order) const;

  std::vector<double> x_, y_, slope_;
  Smoothness smoothness_;
  Beyond beyond_;
};

// z over a rectangular grid: constant on cells, bilinear, or bicubic by Akima's method of 1974.
class TableSurface {
 public:
  // z[i][j] belongs to x[i] and y[j]; both increase strictly and have at least two points.
  TableSurface(std::vector<double> x, std::vector<double> y, std::vector<std::vector<double>> z,
               Smoothness smoothness, Beyond beyond);

  // The value or a partial derivative.
  double evaluate(double u, double v, int order_u, int order_v) const;

 private:
  void find_slopes();
  double inside(double u, double v, int order_u, int order_v) const;

  std::vector<double> x_, y_;
  std::vector<std::vector<double>> z_, zx_, zy_, zxy_;
  Smoothness smoothness_;
  Beyond beyond_;
};

}  // namespace saltus
