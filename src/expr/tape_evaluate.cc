#include <cmath>

#include "expr/tape_machine.h"
#include "expr/tape_program.h"

namespace saltus {

namespace {

// Where there is no machine code.
void interpret(const Tape::Program& program, const double* const* values, double* r,
               double* outputs) noexcept {
  double* to = r + program.constants.size();
  for (const TapeInput& input : program.inputs) *to++ = values[input.group][input.index];
  for (const TapeInstruction& in : program.instructions) {
    switch (in.op) {
#define SALTUS_READ1 [[maybe_unused]] const double a = r[in.a];
#define SALTUS_READ2 SALTUS_READ1 const double b = r[in.b];
#define SALTUS_READ3 SALTUS_READ2 const double c = r[in.c];
#define SALTUS_DO(name, arity, ...) \
  case TapeOp::name: {              \
    SALTUS_READ##arity;             \
    *to++ = __VA_ARGS__;            \
    break;                          \
  }
      SALTUS_TAPE_PLAIN(SALTUS_DO)
#undef SALTUS_DO
      case TapeOp::kTable: {
        const TapeLookup& lookup = program.lookups[in.extra];
        *to++ = lookup.table->evaluate(r[in.a], lookup.order);
        break;
      }
      case TapeOp::kCall: {
        const Function& function = *program.functions[in.extra];
        double* const arguments = r + program.register_count - function.arity;
        for (std::size_t i = 0; i < function.arity; ++i)
          arguments[i] = r[program.call_arguments[in.a + i]];
        *to++ = function.evaluate(arguments);
        break;
      }
    }
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) outputs[i] = r[program.outputs[i]];
}

}  // namespace

void Tape::evaluate(const double* const* values, Workspace& workspace,
                    double* outputs) const noexcept {
  const Program& program = *program_;
  if (program.machine_code != nullptr) {
    program.machine_code->entry<TapeFunction>()(workspace.data(), values, outputs);
  } else {
    interpret(program, values, workspace.data(), outputs);
  }
}

}  // namespace saltus
