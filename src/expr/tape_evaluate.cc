#include <cmath>

#include "expr/number.h"
#include "expr/tape_program.h"

// Runs and copies are often two or three long: calls of memmove and the prologues of vectorised
// loops would cost more than the work.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-vectorize", "no-tree-loop-distribute-patterns")
#endif

namespace saltus {

namespace {

inline double* copy_values(const double* from, std::uint32_t count, double* to) noexcept {
  std::uint32_t k = 0;
  for (; k + 4 <= count; k += 4) __builtin_memcpy(to + k, from + k, 4 * sizeof(double));
  for (; k < count; ++k) to[k] = from[k];
  return to + count;
}

// Four at a time, because a Jacobian has more outputs than operations.
inline void gather(const double* r, const std::uint32_t* at, std::size_t count,
                   double* to) noexcept {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const double a = r[at[i]];
    const double b = r[at[i + 1]];
    const double c = r[at[i + 2]];
    const double d = r[at[i + 3]];
    to[i] = a;
    to[i + 1] = b;
    to[i + 2] = c;
    to[i + 3] = d;
  }
  for (; i < count; ++i) to[i] = r[at[i]];
}

// The loops of one run: `to` receives the results, `p` walks over the operands.
template <class F>
inline const std::uint32_t* run1(const double* r, double* to, const std::uint32_t* p,
                                 std::uint32_t count, F&& f) noexcept {
  double* const end = to + count;
  do {
    *to++ = f(r[p[0]]);
    p += 1;
  } while (to != end);
  return p;
}

template <class F>
inline const std::uint32_t* run2(const double* r, double* to, const std::uint32_t* p,
                                 std::uint32_t count, F&& f) noexcept {
  double* const end = to + count;
  do {
    *to++ = f(r[p[0]], r[p[1]]);
    p += 2;
  } while (to != end);
  return p;
}

template <class F>
inline const std::uint32_t* run3(const double* r, double* to, const std::uint32_t* p,
                                 std::uint32_t count, F&& f) noexcept {
  double* const end = to + count;
  do {
    *to++ = f(r[p[0]], r[p[1]], r[p[2]]);
    p += 3;
  } while (to != end);
  return p;
}

template <class F>
inline const std::uint32_t* run4(const double* r, double* to, const std::uint32_t* p,
                                 std::uint32_t count, F&& f) noexcept {
  double* const end = to + count;
  do {
    *to++ = f(r[p[0]], r[p[1]], r[p[2]], r[p[3]]);
    p += 4;
  } while (to != end);
  return p;
}

}  // namespace

void Tape::evaluate(const double* const* values, Workspace& workspace,
                    double* outputs) const noexcept {
  const Program& program = *program_;
  double* const r = workspace.data();
  double* to = r + program.constants.size();
  for (const TapeCopy& copy : program.copies) {
    to = copy_values(values[copy.group] + copy.from, copy.count, to);
  }
  const std::uint32_t* p = program.operands.data();
#define SALTUS_RUN1(name, expression)                                            \
  case TapeOp::name:                                                             \
    p = run1(r, to, p, run.count, [](double a) noexcept { return expression; }); \
    break
#define SALTUS_RUN2(name, expression)                                                      \
  case TapeOp::name:                                                                       \
    p = run2(r, to, p, run.count, [](double a, double b) noexcept { return expression; }); \
    break
#define SALTUS_RUN3(name, expression)                                           \
  case TapeOp::name:                                                            \
    p = run3(r, to, p, run.count,                                               \
             [](double a, double b, double c) noexcept { return expression; }); \
    break
#define SALTUS_RUN4(name, expression)                                                     \
  case TapeOp::name:                                                                      \
    p = run4(r, to, p, run.count,                                                         \
             [](double a, double b, double c, double d) noexcept { return expression; }); \
    break
  for (const TapeRun& run : program.runs) {
    switch (run.op) {
      SALTUS_RUN1(kNegate, -a);
      SALTUS_RUN1(kSqrt, std::sqrt(a));
      SALTUS_RUN1(kExp, std::exp(a));
      SALTUS_RUN1(kLog, std::log(a));
      SALTUS_RUN1(kLog10, std::log10(a));
      SALTUS_RUN1(kSin, std::sin(a));
      SALTUS_RUN1(kCos, std::cos(a));
      SALTUS_RUN1(kTan, std::tan(a));
      SALTUS_RUN1(kAsin, std::asin(a));
      SALTUS_RUN1(kAcos, std::acos(a));
      SALTUS_RUN1(kAtan, std::atan(a));
      SALTUS_RUN1(kSinh, std::sinh(a));
      SALTUS_RUN1(kCosh, std::cosh(a));
      SALTUS_RUN1(kTanh, std::tanh(a));
      SALTUS_RUN1(kAbs, std::fabs(a));
      SALTUS_RUN1(kSign, sign_of(a));
      SALTUS_RUN1(kFloor, std::floor(a));
      SALTUS_RUN1(kCeil, std::ceil(a));
      SALTUS_RUN1(kTrunc, std::trunc(a));
      SALTUS_RUN1(kNot, a == 0.0 ? 1.0 : 0.0);
      SALTUS_RUN2(kAdd, a + b);
      SALTUS_RUN2(kSubtract, a - b);
      SALTUS_RUN2(kMultiply, a * b);
      SALTUS_RUN2(kDivide, a / b);
      SALTUS_RUN2(kPow, std::pow(a, b));
      SALTUS_RUN2(kAtan2, std::atan2(a, b));
      SALTUS_RUN2(kMin, b < a ? b : a);
      SALTUS_RUN2(kMax, a < b ? b : a);
      SALTUS_RUN2(kLess, a < b ? 1.0 : 0.0);
      SALTUS_RUN2(kLessEqual, a <= b ? 1.0 : 0.0);
      SALTUS_RUN2(kEqual, a == b ? 1.0 : 0.0);
      SALTUS_RUN2(kAnd, a != 0.0 && b != 0.0 ? 1.0 : 0.0);
      SALTUS_RUN2(kOr, a != 0.0 || b != 0.0 ? 1.0 : 0.0);
      SALTUS_RUN3(kSelect, a != 0.0 ? b : c);
      SALTUS_RUN3(kMultiplyAdd, a * b + c);
      SALTUS_RUN3(kMultiplySubtract, a * b - c);
      SALTUS_RUN3(kSubtractProduct, c - a * b);
      SALTUS_RUN3(kMultiply3, (a * b) * c);
      SALTUS_RUN3(kMultiplyDivide, (a * b) / c);
      SALTUS_RUN3(kAdd3, (a + b) + c);
      SALTUS_RUN3(kAddSubtract, (a + b) - c);
      SALTUS_RUN3(kSubtractSum, c - (a + b));
      SALTUS_RUN3(kAddMultiply, (a + b) * c);
      SALTUS_RUN3(kAddDivide, (a + b) / c);
      SALTUS_RUN3(kDifferenceAdd, (a - b) + c);
      SALTUS_RUN3(kSubtract3, (a - b) - c);
      SALTUS_RUN3(kSubtractDifference, c - (a - b));
      SALTUS_RUN3(kDifferenceMultiply, (a - b) * c);
      SALTUS_RUN3(kDifferenceDivide, (a - b) / c);
      SALTUS_RUN4(kProductSum, a * b + c * d);
      SALTUS_RUN4(kProductDifference, a * b - c * d);
      SALTUS_RUN4(kProductMinusDifference, a * b - (c - d));
      SALTUS_RUN4(kDifferenceMultiplyAdd, (a - b) * c + d);
      SALTUS_RUN4(kMultiply3Add, (a * b) * c + d);
      SALTUS_RUN4(kMultiply3Subtract, (a * b) * c - d);
      SALTUS_RUN4(kSubtractMultiply3, d - (a * b) * c);
      SALTUS_RUN1(kCube, (a * a) * a);
      case TapeOp::kTable:
        for (std::uint32_t k = 0; k < run.count; ++k, p += 2) {
          const TapeLookup& lookup = program.lookups[p[1]];
          to[k] = lookup.table->evaluate(r[p[0]], lookup.order);
        }
        break;
      case TapeOp::kCall:
        for (std::uint32_t k = 0; k < run.count; ++k, p += 2) {
          const Function& function = *program.functions[p[1]];
          double* const arguments = r + program.register_count - function.arity;
          for (std::size_t i = 0; i < function.arity; ++i) {
            arguments[i] = r[program.argument_registers[p[0] + i]];
          }
          to[k] = function.evaluate(arguments);
        }
        break;
      case TapeOp::kCount:
        __builtin_unreachable();
    }
    to += run.count;
  }
#undef SALTUS_RUN1
#undef SALTUS_RUN2
#undef SALTUS_RUN3
#undef SALTUS_RUN4
  gather(r, program.output_registers.data(), program.output_registers.size(), outputs);
}

}  // namespace saltus
