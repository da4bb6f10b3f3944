#pragma once

#include <memory>

#include "base/machine_code.h"
#include "expr/tape_program.h"

namespace saltus {

using TapeFunction = void(double* registers, const double* const* values, double* outputs);

// The TapeFunction of a program: same arithmetic, operation by operation, as the interpreter, so
// results are equal to the last bit. Null where there is no machine code; then the interpreter does
// the work.
std::shared_ptr<const MachineCode> compile(const Tape::Program& program);

}  // namespace saltus
