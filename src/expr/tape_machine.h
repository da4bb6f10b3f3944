#pragma once

#include <cstddef>
#include <memory>

#include "expr/tape_program.h"

namespace saltus {

// A tape as instructions of the processor, in memory of its own. Same arithmetic, operation by
// operation, as the interpreter: results are equal to the last bit.
class MachineCode {
 public:
  using Entry = void (*)(double* registers, const double* const* values, double* outputs);

  // Null where the processor is not known or the system grants no executable memory; then the
  // interpreter does the work.
  static std::shared_ptr<const MachineCode> compile(const Tape::Program& program);

  MachineCode(void* memory, std::size_t size) : memory_(memory), size_(size) {}
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  Entry entry() const { return reinterpret_cast<Entry>(memory_); }

 private:
  void* memory_;
  std::size_t size_;
};

}  // namespace saltus
