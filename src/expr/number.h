#pragma once

#include <cmath>
#include <limits>

#include "expr/graph.h"

namespace saltus {

constexpr double sign_of(double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : 0.0); }

// The value of one operation on numbers; unused arguments are ignored. Leaves, table lookups and
// calls are not operations on numbers alone and give NaN.
inline double apply(Op op, double a, double b, double c) noexcept {
  switch (op) {
    case Op::kNegate:
      return -a;
    case Op::kSqrt:
      return std::sqrt(a);
    case Op::kExp:
      return std::exp(a);
    case Op::kLog:
      return std::log(a);
    case Op::kLog10:
      return std::log10(a);
    case Op::kSin:
      return std::sin(a);
    case Op::kCos:
      return std::cos(a);
    case Op::kTan:
      return std::tan(a);
    case Op::kAsin:
      return std::asin(a);
    case Op::kAcos:
      return std::acos(a);
    case Op::kAtan:
      return std::atan(a);
    case Op::kSinh:
      return std::sinh(a);
    case Op::kCosh:
      return std::cosh(a);
    case Op::kTanh:
      return std::tanh(a);
    case Op::kAbs:
      return std::fabs(a);
    case Op::kSign:
      return sign_of(a);
    case Op::kFloor:
      return std::floor(a);
    case Op::kCeil:
      return std::ceil(a);
    case Op::kTrunc:
      return std::trunc(a);
    case Op::kNot:
      return a == 0.0 ? 1.0 : 0.0;
    case Op::kAdd:
      return a + b;
    case Op::kSubtract:
      return a - b;
    case Op::kMultiply:
      return a * b;
    case Op::kDivide:
      return a / b;
    case Op::kPow:
      return std::pow(a, b);
    case Op::kAtan2:
      return std::atan2(a, b);
    case Op::kMin:
      return b < a ? b : a;
    case Op::kMax:
      return a < b ? b : a;
    case Op::kLess:
      return a < b ? 1.0 : 0.0;
    case Op::kLessEqual:
      return a <= b ? 1.0 : 0.0;
    case Op::kEqual:
      return a == b ? 1.0 : 0.0;
    case Op::kAnd:
      return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
    case Op::kOr:
      return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
    case Op::kSelect:
      return a != 0.0 ? b : c;
    case Op::kConstant:
    case Op::kTime:
    case Op::kVariable:
    case Op::kParameter:
    case Op::kSlot:
    case Op::kTable:
    case Op::kCall:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace saltus
