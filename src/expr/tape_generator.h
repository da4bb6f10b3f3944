#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "expr/tape_calls.h"
#include "expr/tape_registers.h"

namespace saltus {

// Writes the machine code of a program: f(register file, values, outputs). One pass over the
// instructions; TapeRegisters says where results are. What depends on how many numbers a register
// holds comes from the two parameters.
//
// Assembler: instructions of three operands, `to` = `a` op `b`, as those of AvxAssembler.
// Derived:
//   kBytes                      of one value in the register file and among the outputs
//   input_bytes(group)          of one value among those of an input group
//   is_operand(value)           whether instructions can take it from memory as it is there
//   read(to, value)             from memory
//   set(to, bits)               a constant
//   call(instruction, call)     gives the register of the result
//   finish()                    before the return
template <class Derived, class Assembler>
class TapeGenerator {
 public:
  explicit TapeGenerator(const Tape::Program& program) : p_(program), registers_(program) {
    assign_groups();
  }

  std::span<const std::uint8_t> generate() {
    enter();
    for (const TapeInstruction& instruction : p_.instructions) {
      const TapeCall call = call_of(p_, instruction);
      const Register result =
          call.address == nullptr ? plain(instruction) : self().call(instruction, call);
      for (const std::uint32_t i : registers_.outputs()) as_.store(output(i), result);
      registers_.advance();
    }
    for (std::uint32_t i = 0; i < p_.outputs.size(); ++i) {
      if (!registers_.is_leaf(p_.outputs[i])) continue;
      self().read(Register{0}, p_.outputs[i]);
      as_.store(output(i), Register{0});
    }
    self().finish();
    leave();
    return as_.bytes();
  }

 protected:
  using Gpr = typename Assembler::Gpr;
  using Memory = typename Assembler::Memory;
  using Register = TapeRegisters::Register;
  using Arithmetic = typename Assembler::Arithmetic;
  using Bits = typename Assembler::Bits;
  using Compare = typename Assembler::Compare;
  static constexpr Register kNowhere = TapeRegisters::kNowhere;

  // Where a value is in memory. May load rax.
  Memory memory(std::uint32_t value) {
    if (!is_input(value)) return {Assembler::kRbx, offset(value, Derived::kBytes)};
    const TapeInput& input = p_.inputs[value - p_.constants.size()];
    const Gpr base = group_register_[input.group];
    if (base == Assembler::kRax) {
      as_.load(Assembler::kRax, Memory{Assembler::kRsp, 0});
      as_.load(Assembler::kRax, Memory{Assembler::kRax, offset(input.group, sizeof(double*))});
    }
    return {base, offset(input.index, self().input_bytes(input.group))};
  }
  bool is_input(std::uint32_t value) const {
    return value >= p_.constants.size() && registers_.is_leaf(value);
  }
  void load(Register to, std::uint32_t value) {
    if (registers_.where(value) != kNowhere) {
      as_.copy(to, registers_.where(value));
    } else {
      self().read(to, value);
    }
  }
  auto storing() {
    return [this](std::uint32_t value, Register x) { as_.store(memory(value), x); };
  }
  Register take() { return registers_.take(storing()); }

  // The arguments of a user function: behind the values of the register file.
  Memory argument(const Function& function, std::size_t i) const {
    const std::size_t end = p_.register_count * Derived::kBytes;
    return {Assembler::kRbx,
            static_cast<std::int32_t>(end - sizeof(double) * (function.arity - i))};
  }
  // With doubles where they belong already.
  void write_call(const TapeInstruction& in, const TapeCall& call) {
    if (call.context != nullptr)
      as_.load_immediate(Assembler::kRdi, reinterpret_cast<std::uintptr_t>(call.context));
    if (in.op == TapeOp::kCall) {
      const Memory first = argument(*p_.functions[in.extra], 0);
      as_.copy(Assembler::kRsi, first.base);
      as_.add(Assembler::kRsi, first.offset);
    }
    as_.call(call.address);
  }

  const Tape::Program& p_;
  TapeRegisters registers_;
  Assembler as_;

 private:
  static constexpr std::array kSaved = {Assembler::kRbx, Assembler::kRbp, Assembler::kR12,
                                        Assembler::kR13, Assembler::kR14, Assembler::kR15};
  static constexpr std::array kGroupRegisters = {Assembler::kR12, Assembler::kR13, Assembler::kR14,
                                                 Assembler::kR15};
  static constexpr std::int32_t kFrame = 24;  // `values`; keeps the stack on 16 bytes
  static constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

  Derived& self() { return static_cast<Derived&>(*this); }
  static std::int32_t offset(std::size_t index, std::size_t bytes) {
    return static_cast<std::int32_t>(bytes * index);
  }
  static Memory output(std::size_t i) { return {Assembler::kRbp, offset(i, Derived::kBytes)}; }

  // The groups with most inputs have their address in a register.
  void assign_groups() {
    std::vector<std::uint32_t> size;
    for (const TapeInput& input : p_.inputs) {
      if (input.group >= size.size()) size.resize(input.group + 1, 0);
      ++size[input.group];
    }
    std::vector<std::uint32_t> order(size.size());
    for (std::uint32_t g = 0; g < order.size(); ++g) order[g] = g;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size[a] > size[b]; });
    group_register_.assign(order.size(), Assembler::kRax);
    for (std::size_t i = 0; i < std::min(order.size(), kGroupRegisters.size()); ++i)
      if (size[order[i]] > 0) group_register_[order[i]] = kGroupRegisters[i];
  }

  void enter() {
    for (const Gpr r : kSaved) as_.push(r);
    as_.add(Assembler::kRsp, -kFrame);
    as_.copy(Assembler::kRbx, Assembler::kRdi);
    as_.copy(Assembler::kRbp, Assembler::kRdx);
    as_.store(Memory{Assembler::kRsp, 0}, Assembler::kRsi);
    for (std::size_t g = 0; g < group_register_.size(); ++g)
      if (group_register_[g] != Assembler::kRax)
        as_.load(group_register_[g], Memory{Assembler::kRsi, offset(g, sizeof(double*))});
  }
  void leave() {
    as_.add(Assembler::kRsp, kFrame);
    for (std::size_t i = kSaved.size(); i-- > 0;) as_.pop(kSaved[i]);
    as_.leave();
  }

  bool is_operand(std::uint32_t value) {
    return registers_.where(value) != kNowhere || self().is_operand(value);
  }
  void apply(Arithmetic op, Register to, Register a, std::uint32_t b) {
    if (registers_.where(b) != kNowhere) {
      as_.arithmetic(op, to, a, registers_.where(b));
    } else if (self().is_operand(b)) {
      as_.arithmetic(op, to, a, memory(b));
    } else {
      self().read(Register{0}, b);
      as_.arithmetic(op, to, a, Register{0});
    }
  }

  // Whether b rather than a should be the operand that has to be in a register.
  bool is_better_first(std::uint32_t b, std::uint32_t a) {
    if (registers_.ends_here(a) || registers_.ends_here(b)) return !registers_.ends_here(a);
    if (!is_operand(a) || !is_operand(b)) return is_operand(a);
    return registers_.where(a) == kNowhere && registers_.where(b) != kNowhere;
  }
  Register binary(Arithmetic op, std::uint32_t a, std::uint32_t b) {
    const bool commutes = op == Arithmetic::kAdd || op == Arithmetic::kMultiply;
    if (commutes && is_better_first(b, a)) std::swap(a, b);
    if (registers_.ends_here(a)) {
      const Register first = registers_.where(a);
      apply(op, first, first, b);
      return registers_.take_over(a);
    }
    const Register to = take();
    if (registers_.where(a) == kNowhere) {
      self().read(to, a);
      apply(op, to, to, b);
    } else {
      apply(op, to, registers_.where(a), b);
    }
    return to;
  }

  // 1 where the mask in `x` is set, else 0.
  void to_number(Register x, Register scratch) {
    self().set(scratch, std::bit_cast<std::uint64_t>(1.0));
    as_.bits(Bits::kAnd, x, x, scratch);
  }

  Register relation(Compare compare, std::uint32_t a, std::uint32_t b) {
    const Register to = take();
    load(to, a);
    load(0, b);
    as_.compare(compare, to, to, Register{0});
    to_number(to, 0);
    return to;
  }

  Register plain(const TapeInstruction& in) {
    switch (in.op) {
      case TapeOp::kAdd:
        return binary(Arithmetic::kAdd, in.a, in.b);
      case TapeOp::kSubtract:
        return binary(Arithmetic::kSubtract, in.a, in.b);
      case TapeOp::kMultiply:
        return binary(Arithmetic::kMultiply, in.a, in.b);
      case TapeOp::kDivide:
        return binary(Arithmetic::kDivide, in.a, in.b);
      case TapeOp::kMin:  // b < a ? b : a, also for NaN
        return binary(Arithmetic::kMin, in.b, in.a);
      case TapeOp::kMax:
        return binary(Arithmetic::kMax, in.b, in.a);
      case TapeOp::kLess:
        return relation(Compare::kLess, in.a, in.b);
      case TapeOp::kLessEqual:
        return relation(Compare::kLessEqual, in.a, in.b);
      case TapeOp::kEqual:
        return relation(Compare::kEqual, in.a, in.b);
      default:
        return logic(in);
    }
  }

  Register logic(const TapeInstruction& in) {
    constexpr Register kZero = 0;
    constexpr Register kOther = 1;
    const Register to = take();
    load(to, in.a);
    switch (in.op) {
      case TapeOp::kSqrt:
        as_.square_root(to, to);
        break;
      case TapeOp::kNegate:
        self().set(0, kSignBit);
        as_.bits(Bits::kXor, to, to, Register{0});
        break;
      case TapeOp::kAbs:
        self().set(0, ~kSignBit);
        as_.bits(Bits::kAnd, to, to, Register{0});
        break;
      case TapeOp::kSign:  // (0 < a) - (a < 0)
        as_.clear(kZero);
        as_.compare(Compare::kLess, kOther, to, kZero);
        as_.compare(Compare::kLess, kZero, kZero, to);
        as_.copy(to, kZero);
        to_number(to, 0);
        as_.bits(Bits::kAnd, kOther, kOther, Register{0});
        as_.arithmetic(Arithmetic::kSubtract, to, to, kOther);
        break;
      case TapeOp::kNot:
        as_.clear(kZero);
        as_.compare(Compare::kEqual, to, to, kZero);
        to_number(to, 0);
        break;
      case TapeOp::kAnd:
      case TapeOp::kOr:
        as_.clear(kZero);
        as_.compare(Compare::kNotEqual, to, to, kZero);
        load(kOther, in.b);
        as_.compare(Compare::kNotEqual, kOther, kOther, kZero);
        as_.bits(in.op == TapeOp::kAnd ? Bits::kAnd : Bits::kOr, to, to, kOther);
        to_number(to, 0);
        break;
      default:  // kSelect
        as_.clear(kZero);
        as_.compare(Compare::kNotEqual, to, to, kZero);
        load(0, in.b);
        as_.bits(Bits::kAnd, Register{0}, Register{0}, to);
        load(kOther, in.c);
        as_.bits(Bits::kAndNot, to, to, kOther);
        as_.bits(Bits::kOr, to, to, Register{0});
        break;
    }
    return to;
  }

  std::vector<Gpr> group_register_;  // kRax: none of its own
};

// Whether all places can be written as the 32 bits of an instruction.
inline bool has_short_offsets(const Tape::Program& program, std::size_t bytes) {
  const std::size_t most = (std::size_t{1} << 29) / bytes;
  return program.register_count <= most && program.outputs.size() <= most &&
         std::all_of(program.inputs.begin(), program.inputs.end(),
                     [most](const TapeInput& input) { return input.index <= most; });
}

}  // namespace saltus
