#include "expr/tape_calls.h"

#include <cmath>

namespace saltus {

namespace {

double look_up(const TapeLookup* lookup, double u) noexcept {
  return lookup->table->evaluate(u, lookup->order);
}
double call_user(const Function* function, const double* arguments) noexcept {
  return function->evaluate(arguments);
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);

Unary library_function(TapeOp op) {
  switch (op) {
    // clang-format off
    case TapeOp::kExp: return std::exp;
    case TapeOp::kLog: return std::log;
    case TapeOp::kLog10: return std::log10;
    case TapeOp::kSin: return std::sin;
    case TapeOp::kCos: return std::cos;
    case TapeOp::kTan: return std::tan;
    case TapeOp::kAsin: return std::asin;
    case TapeOp::kAcos: return std::acos;
    case TapeOp::kAtan: return std::atan;
    case TapeOp::kSinh: return std::sinh;
    case TapeOp::kCosh: return std::cosh;
    case TapeOp::kTanh: return std::tanh;
    case TapeOp::kFloor: return std::floor;
    case TapeOp::kCeil: return std::ceil;
    case TapeOp::kTrunc: return std::trunc;
    default: return nullptr;
      // clang-format on
  }
}

Binary binary_function(TapeOp op) {
  if (op == TapeOp::kPow) return std::pow;
  if (op == TapeOp::kAtan2) return std::atan2;
  return nullptr;
}

}  // namespace

TapeCall call_of(const Tape::Program& program, const TapeInstruction& instruction) {
  if (const Unary f = library_function(instruction.op)) return {reinterpret_cast<const void*>(f)};
  if (const Binary f = binary_function(instruction.op)) return {reinterpret_cast<const void*>(f)};
  if (instruction.op == TapeOp::kTable)
    return {reinterpret_cast<const void*>(&look_up), &program.lookups[instruction.extra]};
  if (instruction.op == TapeOp::kCall)
    return {reinterpret_cast<const void*>(&call_user), program.functions[instruction.extra].get()};
  return {};
}

}  // namespace saltus
