#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "expr/tape_program.h"

namespace saltus {

// Which results of a program are in which of the processor's sixteen floating-point registers,
// while machine code is written for one instruction after the other. A result stays in its register
// as long as it is needed again; if there are too many, the one needed last gives way and goes to
// memory. Registers 0 and 1 are scratch.
//
// `store(value, register)` below writes the instruction that brings a result to its place in
// memory.
class TapeRegisters {
 public:
  using Register = std::uint8_t;
  static constexpr Register kNowhere = 255;

  explicit TapeRegisters(const Tape::Program& program);

  // The present instruction: the first one to begin with.
  std::size_t now() const { return now_; }
  std::uint32_t result() const { return leaves_ + static_cast<std::uint32_t>(now_); }
  // Its places among the outputs.
  std::span<const std::uint32_t> outputs() const {
    return {outputs_.data() + first_output_[now_], outputs_.data() + first_output_[now_ + 1]};
  }
  bool is_leaf(std::uint32_t value) const { return value < leaves_; }

  Register where(std::uint32_t value) const {
    return is_leaf(value) ? kNowhere : in_register_[value - leaves_];
  }
  // In a register, and the present instruction is the last one that needs it.
  bool ends_here(std::uint32_t value) const;

  // A register for the result of the present instruction.
  template <class Store>
  Register take(Store&& store) {
    const Register best = free_or_needed_last();
    if (owner_[best] != kNobody) spill(best, store);
    give(best);
    return best;
  }
  // The register of an operand that ends here, for the result.
  Register take_over(std::uint32_t operand);

  // Out of its register, if it is in one.
  template <class Store>
  void move_to_memory(std::uint32_t value, Store&& store) {
    if (where(value) != kNowhere) spill(where(value), store);
  }
  // Calls leave no register as it was: what is needed after this instruction goes to memory.
  template <class Store>
  void save_for_call(Store&& store) {
    forget_operands_that_end();
    for (Register x = kFirst; x < kEnd; ++x)
      if (owner_[x] != kNobody) spill(x, store);
  }
  // The result is in memory as well as in its register.
  void note_in_memory() { in_memory_[now_] = true; }

  // To the next instruction.
  void advance();

 private:
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  static constexpr std::uint32_t kNobody = kNever;
  static constexpr Register kFirst = 2;
  static constexpr Register kEnd = 16;

  struct Use {
    std::uint32_t result;
    std::uint32_t next;  // instruction that uses it after this one
  };

  void list_uses(const Tape::Program& program);
  void list_outputs(const Tape::Program& program);
  std::span<const Use> uses() const {
    return {uses_.data() + use_begin_[now_], uses_.data() + use_begin_[now_ + 1]};
  }
  Register free_or_needed_last() const;
  void give(Register x);
  void forget(std::uint32_t result);
  void forget_operands_that_end();

  template <class Store>
  void spill(Register x, Store&& store) {
    const std::uint32_t result = owner_[x];
    if (!in_memory_[result]) store(leaves_ + result, x);
    in_memory_[result] = true;
    forget(result);
  }

  std::uint32_t leaves_;
  std::size_t now_ = 0;
  std::vector<Use> uses_;                 // results used, by instruction
  std::vector<std::uint32_t> use_begin_;  // by instruction
  std::vector<std::uint32_t> next_;       // by result: the next instruction that uses it
  std::vector<std::uint32_t> first_output_, outputs_;
  std::array<std::uint32_t, kEnd> owner_{};
  std::vector<Register> in_register_;  // by result
  std::vector<bool> in_memory_;        // by result
};

}  // namespace saltus
