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
#undef SALTUS_NAME
};

// Operands are value numbers: constants first, then inputs, then the results of the instructions in
// their order. The value with number v has the register v.
struct TapeInstruction {
  TapeOp op = TapeOp::kNegate;
  std::uint8_t arity = 0;  // of a call: 0
  std::uint32_t a = 0;     // of a call: the first of its arguments in call_arguments
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t extra = 0;  // index of the table lookup or function
};

struct TapeLookup {
  std::shared_ptr<const Table> table;
  int order = 0;
};

struct TapeInput {
  std::uint32_t group = 0;
  std::uint32_t index = 0;
};

class MachineCode;  // base/machine_code.h

struct Tape::Program {
  std::vector<double> constants;
  std::vector<TapeInput> inputs;  // leaves in use, by group, then index
  std::vector<TapeInstruction> instructions;
  std::vector<std::uint32_t> call_arguments;  // value numbers
  std::vector<std::uint32_t> outputs;         // value numbers
  std::vector<TapeLookup> lookups;
  std::vector<std::shared_ptr<const Function>> functions;
  std::size_t register_count = 0;  // one a value, then room for the arguments of a call
  std::shared_ptr<const MachineCode> machine_code;  // null: interpreted
};

template <class Visit>
void for_each_operand(const Tape::Program& p, const TapeInstruction& in, Visit&& visit) {
  if (in.op == TapeOp::kCall) {
    for (std::size_t i = 0; i < p.functions[in.extra]->arity; ++i)
      visit(p.call_arguments[in.a + i]);
    return;
  }
  visit(in.a);
  if (in.arity > 1) visit(in.b);
  if (in.arity > 2) visit(in.c);
}

}  // namespace saltus
