#pragma once

// The operations of a tape in one place: name, number of operands, and the expression in a, b, c
// that the interpreter compiles and the C printer prints. Without std:: it must be C99.

// The operations of the graph, in the order of Op, up to table lookups and calls.
#define SALTUS_TAPE_PLAIN(X)                          \
  X(kNegate, 1, -a)                                   \
  X(kSqrt, 1, std::sqrt(a))                           \
  X(kExp, 1, std::exp(a))                             \
  X(kLog, 1, std::log(a))                             \
  X(kLog10, 1, std::log10(a))                         \
  X(kSin, 1, std::sin(a))                             \
  X(kCos, 1, std::cos(a))                             \
  X(kTan, 1, std::tan(a))                             \
  X(kAsin, 1, std::asin(a))                           \
  X(kAcos, 1, std::acos(a))                           \
  X(kAtan, 1, std::atan(a))                           \
  X(kSinh, 1, std::sinh(a))                           \
  X(kCosh, 1, std::cosh(a))                           \
  X(kTanh, 1, std::tanh(a))                           \
  X(kAbs, 1, std::fabs(a))                            \
  X(kSign, 1, a > 0.0 ? 1.0 : (a < 0.0 ? -1.0 : 0.0)) \
  X(kFloor, 1, std::floor(a))                         \
  X(kCeil, 1, std::ceil(a))                           \
  X(kTrunc, 1, std::trunc(a))                         \
  X(kNot, 1, a == 0.0 ? 1.0 : 0.0)                    \
  X(kAdd, 2, a + b)                                   \
  X(kSubtract, 2, a - b)                              \
  X(kMultiply, 2, a* b)                               \
  X(kDivide, 2, a / b)                                \
  X(kPow, 2, std::pow(a, b))                          \
  X(kAtan2, 2, std::atan2(a, b))                      \
  X(kMin, 2, b < a ? b : a)                           \
  X(kMax, 2, a < b ? b : a)                           \
  X(kLess, 2, a < b ? 1.0 : 0.0)                      \
  X(kLessEqual, 2, a <= b ? 1.0 : 0.0)                \
  X(kEqual, 2, a == b ? 1.0 : 0.0)                    \
  X(kAnd, 2, a != 0.0 && b != 0.0 ? 1.0 : 0.0)        \
  X(kOr, 2, a != 0.0 || b != 0.0 ? 1.0 : 0.0)         \
  X(kSelect, 3, a != 0.0 ? b : c)
