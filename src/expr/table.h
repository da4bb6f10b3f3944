#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expr/expr.h"

namespace saltus {

enum class Interpolation {
  kLinear,
  kMonotoneCubic,  // Fritsch-Carlson, C1
  kCubic,          // with slopes that are given
};
enum class Extrapolation { kHold, kLinear };  // beyond the ends: last value or last slope

// y over strictly increasing x, at least two points.
struct Table {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  Interpolation interpolation = Interpolation::kLinear;
  Extrapolation extrapolation = Extrapolation::kLinear;
  std::vector<double> slope;  // at the points, for cubics

  // The value (order 0) or derivative of the interpolant at u; at a kink, that of the right piece.
  double evaluate(double u, int order = 0) const;
};

// Throws Error naming the table if x is not strictly increasing, sizes differ or a number is not
// finite.
std::shared_ptr<const Table> make_table(std::string name, std::vector<double> x,
                                        std::vector<double> y,
                                        Interpolation interpolation = Interpolation::kLinear,
                                        Extrapolation extrapolation = Extrapolation::kLinear);

// The cubics with these slopes at the points. Throws as make_table.
std::shared_ptr<const Table> make_cubic_table(std::string name, std::vector<double> x,
                                              std::vector<double> y, std::vector<double> slope,
                                              Extrapolation extrapolation = Extrapolation::kLinear);

// table(u) as an expression; derivatives are lookups of higher order.
Expr lookup(const std::shared_ptr<const Table>& table, const Expr& u);
// The order-th derivative of the interpolant at u.
Expr lookup(const std::shared_ptr<const Table>& table, const Expr& u, int order);

}  // namespace saltus
