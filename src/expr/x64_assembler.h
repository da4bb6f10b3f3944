#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace saltus {

// Bytes of the few x86-64 instructions that scalar double arithmetic needs (SSE2).
class X64Assembler {
 public:
  using Xmm = std::uint8_t;  // 0 ... 15
  enum Gpr : std::uint8_t {
    kRax = 0,
    kRcx,
    kRdx,
    kRbx,
    kRsp,
    kRbp,
    kRsi,
    kRdi,
    kR12 = 12,
    kR13,
    kR14,
    kR15
  };
  struct Memory {
    Gpr base;
    std::int32_t offset;  // bytes
  };
  enum class Arithmetic : std::uint8_t {
    kSqrt = 0x51,
    kAdd = 0x58,
    kMultiply = 0x59,
    kSubtract = 0x5c,
    kMin = 0x5d,
    kDivide = 0x5e,
    kMax = 0x5f
  };
  enum class Bits : std::uint8_t { kAnd = 0x54, kAndNot = 0x55, kOr = 0x56, kXor = 0x57 };
  enum class Compare : std::uint8_t { kEqual = 0, kLess = 1, kLessEqual = 2, kNotEqual = 4 };

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  void load(Xmm to, Memory from) { with_memory(0xf2, 0x10, to, from); }
  void store(Memory to, Xmm from) { with_memory(0xf2, 0x11, from, to); }
  void copy(Xmm to, Xmm from) { with_register(0, 0x28, to, from); }
  void arithmetic(Arithmetic op, Xmm to, Xmm from) {
    with_register(0xf2, static_cast<std::uint8_t>(op), to, from);
  }
  void arithmetic(Arithmetic op, Xmm to, Memory from) {
    with_memory(0xf2, static_cast<std::uint8_t>(op), to, from);
  }
  void bits(Bits op, Xmm to, Xmm from) {
    with_register(0x66, static_cast<std::uint8_t>(op), to, from);
  }
  // All bits of `to` where the relation of `to` and `from` holds, none otherwise.
  void compare(Compare relation, Xmm to, Xmm from) {
    with_register(0xf2, 0xc2, to, from);
    bytes_.push_back(static_cast<std::uint8_t>(relation));
  }
  void constant(Xmm to, std::uint64_t pattern) {
    load_immediate(kRax, pattern);
    append({0x66, static_cast<std::uint8_t>(0x48 | (to >> 3 << 2)), 0x0f, 0x6e,
            static_cast<std::uint8_t>(0xc0 | (to & 7) << 3)});
  }

  void load(Gpr to, Memory from) {
    bytes_.push_back(static_cast<std::uint8_t>(0x48 | (to >> 3 << 2) | from.base >> 3));
    bytes_.push_back(0x8b);
    address(to, from);
  }
  void store(Memory to, Gpr from) {
    bytes_.push_back(static_cast<std::uint8_t>(0x48 | (from >> 3 << 2) | to.base >> 3));
    bytes_.push_back(0x89);
    address(from, to);
  }
  void copy(Gpr to, Gpr from) {
    append({static_cast<std::uint8_t>(0x48 | (from >> 3 << 2) | to >> 3), 0x89,
            static_cast<std::uint8_t>(0xc0 | (from & 7) << 3 | (to & 7))});
  }
  void add(Gpr to, std::int32_t number) {
    append({static_cast<std::uint8_t>(0x48 | to >> 3), 0x81,
            static_cast<std::uint8_t>(0xc0 | (to & 7))});
    append_number(number);
  }
  void load_immediate(Gpr to, std::uint64_t value) {
    append({static_cast<std::uint8_t>(0x48 | to >> 3), static_cast<std::uint8_t>(0xb8 | (to & 7))});
    append_number(value);
  }
  void push(Gpr r) {
    if (r >= 8) bytes_.push_back(0x41);
    bytes_.push_back(static_cast<std::uint8_t>(0x50 | (r & 7)));
  }
  void pop(Gpr r) {
    if (r >= 8) bytes_.push_back(0x41);
    bytes_.push_back(static_cast<std::uint8_t>(0x58 | (r & 7)));
  }
  void call(const void* function) {
    load_immediate(kRax, reinterpret_cast<std::uintptr_t>(function));
    append({0xff, 0xd0});
  }
  void leave() { bytes_.push_back(0xc3); }

 private:
  void append(std::initializer_list<std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  template <class Number>
  void append_number(Number number) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + sizeof number);
    std::memcpy(bytes_.data() + end, &number, sizeof number);
  }
  void prefix(std::uint8_t mandatory, std::uint8_t opcode, unsigned reg, unsigned rm) {
    if (mandatory != 0) bytes_.push_back(mandatory);
    const auto rex = static_cast<std::uint8_t>(0x40 | (reg >> 3 << 2) | rm >> 3);
    if (rex != 0x40) bytes_.push_back(rex);
    append({0x0f, opcode});
  }
  void with_register(std::uint8_t mandatory, std::uint8_t opcode, Xmm to, Xmm from) {
    prefix(mandatory, opcode, to, from);
    bytes_.push_back(static_cast<std::uint8_t>(0xc0 | (to & 7) << 3 | (from & 7)));
  }
  void with_memory(std::uint8_t mandatory, std::uint8_t opcode, Xmm reg, Memory memory) {
    prefix(mandatory, opcode, reg, memory.base);
    address(reg, memory);
  }
  void address(unsigned reg, Memory memory) {
    const bool is_short = memory.offset >= -128 && memory.offset < 128;
    bytes_.push_back(
        static_cast<std::uint8_t>((is_short ? 0x40 : 0x80) | (reg & 7) << 3 | (memory.base & 7)));
    if ((memory.base & 7) == kRsp) bytes_.push_back(0x24);
    if (is_short) {
      bytes_.push_back(static_cast<std::uint8_t>(memory.offset));
    } else {
      append_number(memory.offset);
    }
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace saltus
