#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "expr/function.h"
#include "expr/graph.h"
#include "expr/table.h"
#include "expr/tape.h"

namespace saltus {

// The operations of a tape: those of the graph and the fused forms, in which a product or sum that
// nobody else needs does not go through memory.
enum class TapeOp : std::uint8_t {
  // clang-format off
  kNegate, kSqrt, kExp, kLog, kLog10, kSin, kCos, kTan, kAsin, kAcos, kAtan, kSinh, kCosh, kTanh,
  kAbs, kSign, kFloor, kCeil, kTrunc, kNot,
  kAdd, kSubtract, kMultiply, kDivide, kPow, kAtan2, kMin, kMax,
  kLess, kLessEqual, kEqual, kAnd, kOr, kSelect, kTable, kCall,
  kMultiplyAdd,         // a*b + c
  kMultiplySubtract,    // a*b - c
  kSubtractProduct,     // c - a*b
  kMultiply3,           // (a*b)*c
  kMultiplyDivide,      // (a*b)/c
  kAdd3,                // (a + b) + c
  kAddSubtract,         // (a + b) - c
  kSubtractSum,         // c - (a + b)
  kAddMultiply,         // (a + b)*c
  kAddDivide,           // (a + b)/c
  kDifferenceAdd,       // (a - b) + c
  kSubtract3,           // (a - b) - c
  kSubtractDifference,  // c - (a - b)
  kDifferenceMultiply,  // (a - b)*c
  kDifferenceDivide,    // (a - b)/c
  kProductSum,          // a*b + c*d
  kProductDifference,   // a*b - c*d
  kProductMinusDifference,  // a*b - (c - d)
  kDifferenceMultiplyAdd,   // (a - b)*c + d
  kMultiply3Add,            // (a*b)*c + d
  kMultiply3Subtract,       // (a*b)*c - d
  kSubtractMultiply3,       // d - (a*b)*c
  kCube,                // (a*a)*a
  kCount,
  // clang-format on
};

// One instruction before scheduling. Operands are value numbers: constants first, then inputs, then
// the results of the instructions in their order here.
struct TapeInstruction {
  TapeOp op = TapeOp::kCount;
  std::uint8_t arity = 0;
  std::uint32_t a = 0;  // of a call: the first of its arguments in call_arguments
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  std::uint32_t extra = 0;  // index of the table lookup or call
};

struct TapeLookup {
  std::shared_ptr<const Table> table;
  int order = 0;
};

// `count` instructions of one kind; their results go to consecutive registers.
struct TapeRun {
  TapeOp op = TapeOp::kCount;
  std::uint32_t count = 0;
};

// registers[to ...] = values[group][from ...]
struct TapeCopy {
  std::uint32_t group = 0;
  std::uint32_t from = 0;
  std::uint32_t count = 0;
};

struct TapeInput {
  std::uint32_t group = 0;
  std::uint32_t index = 0;
};

struct Tape::Program {
  // As compiled: what to_c prints.
  std::vector<double> constants;
  std::vector<TapeInput> inputs;  // leaves in use, by group, then index
  std::vector<TapeInstruction> instructions;
  std::vector<std::uint32_t> call_arguments;  // value numbers
  std::vector<std::uint32_t> outputs;         // value numbers
  std::vector<TapeLookup> lookups;
  std::vector<std::shared_ptr<const Function>> functions;

  // As executed: registers hold constants, inputs, results in scheduled order, call arguments.
  std::size_t register_count = 0;
  std::vector<TapeCopy> copies;
  std::vector<TapeRun> runs;
  std::vector<std::uint32_t> operands;            // of the runs, one instruction after the other
  std::vector<std::uint32_t> argument_registers;  // call_arguments as registers
  std::vector<std::uint32_t> output_registers;
};

// Fills the second half of the program from the first.
void schedule(Tape::Program& program);

}  // namespace saltus
