#pragma once

#include "expr/tape_program.h"

namespace saltus {

// What machine code calls for an instruction: a function of the C library, of doubles alone, or one
// of a pointer that says which table or user function is meant, followed by the double or, of a
// user function, by a pointer to the arguments.
struct TapeCall {
  const void* address = nullptr;  // null: the instruction is none that calls
  const void* context = nullptr;  // null: takes no pointer
};
TapeCall call_of(const Tape::Program& program, const TapeInstruction& instruction);

}  // namespace saltus
