#include "expr/tape_registers.h"

namespace saltus {

TapeRegisters::TapeRegisters(const Tape::Program& program)
    : leaves_(static_cast<std::uint32_t>(program.constants.size() + program.inputs.size())),
      in_register_(program.instructions.size(), kNowhere),
      in_memory_(program.instructions.size(), false) {
  owner_.fill(kNobody);
  list_uses(program);
  list_outputs(program);
}

void TapeRegisters::list_uses(const Tape::Program& program) {
  const std::size_t count = program.instructions.size();
  next_.assign(count, kNever);
  std::vector<std::uint32_t> upcoming(count, kNever);
  use_begin_.resize(count + 1);
  for (std::size_t k = 0; k < count; ++k) {
    use_begin_[k] = static_cast<std::uint32_t>(uses_.size());
    for_each_operand(program, program.instructions[k], [&](std::uint32_t v) {
      if (!is_leaf(v)) uses_.push_back({v - leaves_, kNever});
    });
  }
  use_begin_.back() = static_cast<std::uint32_t>(uses_.size());
  for (std::size_t k = count; k-- > 0;) {
    for (std::uint32_t u = use_begin_[k]; u < use_begin_[k + 1]; ++u)
      uses_[u].next = upcoming[uses_[u].result];
    for (std::uint32_t u = use_begin_[k]; u < use_begin_[k + 1]; ++u)
      upcoming[uses_[u].result] = static_cast<std::uint32_t>(k);
    next_[k] = upcoming[k];
  }
}

void TapeRegisters::list_outputs(const Tape::Program& program) {
  first_output_.assign(program.instructions.size() + 1, 0);
  for (const std::uint32_t v : program.outputs)
    if (!is_leaf(v)) ++first_output_[v - leaves_ + 1];
  for (std::size_t k = 1; k < first_output_.size(); ++k) first_output_[k] += first_output_[k - 1];
  outputs_.resize(first_output_.back());
  std::vector<std::uint32_t> at = first_output_;
  for (std::uint32_t i = 0; i < program.outputs.size(); ++i)
    if (!is_leaf(program.outputs[i])) outputs_[at[program.outputs[i] - leaves_]++] = i;
}

bool TapeRegisters::ends_here(std::uint32_t value) const {
  if (where(value) == kNowhere) return false;
  for (const Use& use : uses())
    if (use.result == value - leaves_) return use.next == kNever;
  return false;
}

TapeRegisters::Register TapeRegisters::free_or_needed_last() const {
  Register best = kFirst;
  for (Register x = kFirst; x < kEnd; ++x) {
    if (owner_[x] == kNobody) return x;
    if (next_[owner_[x]] > next_[owner_[best]]) best = x;
  }
  return best;
}

void TapeRegisters::give(Register x) {
  owner_[x] = static_cast<std::uint32_t>(now_);
  in_register_[now_] = x;
}

TapeRegisters::Register TapeRegisters::take_over(std::uint32_t operand) {
  const Register x = where(operand);
  in_register_[operand - leaves_] = kNowhere;
  give(x);
  return x;
}

void TapeRegisters::forget(std::uint32_t result) {
  if (in_register_[result] == kNowhere) return;
  owner_[in_register_[result]] = kNobody;
  in_register_[result] = kNowhere;
}

void TapeRegisters::forget_operands_that_end() {
  for (const Use& use : uses())
    if (use.next == kNever) forget(use.result);
}

void TapeRegisters::advance() {
  for (const Use& use : uses()) next_[use.result] = use.next;
  forget_operands_that_end();
  if (next_[now_] == kNever) forget(static_cast<std::uint32_t>(now_));
  ++now_;
}

}  // namespace saltus
