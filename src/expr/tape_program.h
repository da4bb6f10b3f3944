#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "expr/function.h"
#include "expr/graph.h"
#include "expr/table.h"
#include "expr/tape.h"
#include "expr/tape_ops.h"

namespace saltus {

enum class TapeOp : std::uint8_t {
#define SALTUS_NAME(name, arity, ...) name,
  SALTUS_TAPE_PLAIN(SALTUS_NAME) kTable,
  kCall,
  SALTUS_TAPE_FUSED(SALTUS_NAME) kCount,
#undef SALTUS_NAME
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

// The code is a string of words:
//   4*op,     operands                         one instruction
//   4*op + 1, count, operands of each          a run of instructions of one kind
//   4*op + 2, operands, output                 one, whose result is also an output
//   4*op + 3, count, operands, output of each  a run of these
//   kTapeGather, words up to the end, pairs of register and output
//   kTapeEnd
// Operands are registers; results go to consecutive registers. kTable has the index of its lookup
// after its operand and kCall that of its function before its operands; they occur as 4*op only.
constexpr std::uint32_t kTapeGather = 4 * static_cast<std::uint32_t>(TapeOp::kCount);
constexpr std::uint32_t kTapeEnd = kTapeGather + 1;

// `count` inputs of a group from `first` on go to consecutive registers.
struct TapeCopy {
  std::uint32_t group = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct TapeInput {
  std::uint32_t group = 0;
  std::uint32_t index = 0;
};

class MachineCode;  // expr/tape_machine.h

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
  std::vector<std::uint32_t> code;

  // Null: interpreted.
  std::shared_ptr<const MachineCode> machine_code;
};

// Fills the second half of the program from the first.
void schedule(Tape::Program& program);

}  // namespace saltus
