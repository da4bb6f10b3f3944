#pragma once

#include <memory>
#include <vector>

#include "base/machine_code.h"
#include "expr/tape_program.h"

namespace saltus {

using TapeFunction = void(double* registers, const double* const* values, double* outputs);

// The TapeFunction of a program: same arithmetic, operation by operation, as the interpreter, so
// results are equal to the last bit. Null where there is no machine code; then the interpreter does
// the work.
std::shared_ptr<const MachineCode> compile(const Tape::Program& program);

// The same for kLanes points at once: registers and outputs hold kLanes numbers a value, and so do
// the inputs of groups that are not uniform. Null also where the processor lacks AVX2.
std::shared_ptr<const MachineCode> compile_lanes(const Tape::Program& program,
                                                 const std::vector<bool>& uniform);

}  // namespace saltus
