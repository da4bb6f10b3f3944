#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "expr/expr.h"

namespace saltus {

// A user function of `arity` real arguments. `evaluate` must be pure. `partial(i, arguments)` gives
// the derivative with respect to argument i as an expression (often a call of another Function);
// leave it empty if the function is never differentiated, and differentiating throws Error.
// `rate(arguments, slopes)`, where given, is the time derivative while the arguments change at
// these slopes; it need not be the sum over the partial derivatives, which Newton's method uses.
// `c_name` is the C function the C printer calls; empty: the function's name.
struct Function {
  std::string name;
  std::size_t arity = 1;
  std::function<double(const double* arguments)> evaluate;
  std::function<Expr(std::size_t argument, const std::vector<Expr>& arguments)> partial;
  std::string c_name;
  std::function<Expr(const std::vector<Expr>& arguments, const std::vector<Expr>& slopes)> rate =
      nullptr;
};

Expr call(const std::shared_ptr<const Function>& function, const std::vector<Expr>& arguments);

}  // namespace saltus
