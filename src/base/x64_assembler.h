#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

namespace saltus {

// Bytes of the few x86-64 instructions that double arithmetic needs (SSE2), of single numbers and
// of pairs (complex numbers).
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
    kR8,
    kR9,
    kR10,
    kR11,
    kR12,
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

  std::span<const std::uint8_t> bytes() const { return {bytes_.get(), size_}; }

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
    append({static_cast<std::uint8_t>(relation)});
  }
  void constant(Xmm to, std::uint64_t pattern) {
    load_immediate(kRax, pattern);
    append({0x66, static_cast<std::uint8_t>(0x48 | (to >> 3 << 2)), 0x0f, 0x6e,
            static_cast<std::uint8_t>(0xc0 | (to & 7) << 3)});
  }

  // Pairs. Unless it says otherwise, memory must lie on 16 bytes.
  void load_pair(Xmm to, Memory from) { with_memory(0x66, 0x28, to, from); }
  void store_pair(Memory to, Xmm from) { with_memory(0x66, 0x29, from, to); }
  void load_pair_anywhere(Xmm to, Memory from) { with_memory(0x66, 0x10, to, from); }
  void store_pair_anywhere(Memory to, Xmm from) { with_memory(0x66, 0x11, from, to); }
  void arithmetic_pair(Arithmetic op, Xmm to, Xmm from) {
    with_register(0x66, static_cast<std::uint8_t>(op), to, from);
  }
  void arithmetic_pair(Arithmetic op, Xmm to, Memory from) {
    with_memory(0x66, static_cast<std::uint8_t>(op), to, from);
  }
  void load_swapped(Xmm to, Memory from) {
    with_memory(0x66, 0x70, to, from);
    append({0x4e});
  }
  void swap_pair(Xmm to, Xmm from) {
    with_register(0x66, 0x70, to, from);
    append({0x4e});
  }
  // The first number of `to`, then the first of `from`.
  void join_first(Xmm to, Xmm from) { with_register(0x66, 0x14, to, from); }
  // The second number of `to`, then the second of `from`.
  void join_second(Xmm to, Xmm from) { with_register(0x66, 0x15, to, from); }

  void load(Gpr to, Memory from) {
    append({static_cast<std::uint8_t>(0x48 | (to >> 3 << 2) | from.base >> 3), 0x8b});
    end_at(address(make_room(), to, from));
  }
  void store(Memory to, Gpr from) {
    append({static_cast<std::uint8_t>(0x48 | (from >> 3 << 2) | to.base >> 3), 0x89});
    end_at(address(make_room(), from, to));
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
    if (r >= 8) append({0x41});
    append({static_cast<std::uint8_t>(0x50 | (r & 7))});
  }
  void pop(Gpr r) {
    if (r >= 8) append({0x41});
    append({static_cast<std::uint8_t>(0x58 | (r & 7))});
  }
  void call(const void* function) {
    load_immediate(kRax, reinterpret_cast<std::uintptr_t>(function));
    append({0xff, 0xd0});
  }
  void leave() { append({0xc3}); }

 protected:
  void append(std::initializer_list<std::uint8_t> bytes) {
    std::uint8_t* at = make_room();
    for (const std::uint8_t byte : bytes) *at++ = byte;
    size_ += bytes.size();
  }
  template <class Number>
  void append_number(Number number) {
    std::memcpy(make_room(), &number, sizeof number);
    size_ += sizeof number;
  }
  // For one instruction or a part of it.
  std::uint8_t* make_room() {
    constexpr std::size_t kLongest = 16;
    if (size_ + kLongest > capacity_) grow();
    return bytes_.get() + size_;
  }
  static std::uint8_t* address(std::uint8_t* at, unsigned reg, Memory memory) {
    const bool is_short = memory.offset >= -128 && memory.offset < 128;
    *at++ =
        static_cast<std::uint8_t>((is_short ? 0x40 : 0x80) | (reg & 7) << 3 | (memory.base & 7));
    if ((memory.base & 7) == kRsp) *at++ = 0x24;
    if (is_short) {
      *at++ = static_cast<std::uint8_t>(memory.offset);
      return at;
    }
    std::memcpy(at, &memory.offset, sizeof memory.offset);
    return at + sizeof memory.offset;
  }
  void end_at(const std::uint8_t* at) { size_ = static_cast<std::size_t>(at - bytes_.get()); }

 private:
  static std::uint8_t* prefix(std::uint8_t* at, std::uint8_t mandatory, std::uint8_t opcode,
                              unsigned reg, unsigned rm) {
    if (mandatory != 0) *at++ = mandatory;
    const auto rex = static_cast<std::uint8_t>(0x40 | (reg >> 3 << 2) | rm >> 3);
    if (rex != 0x40) *at++ = rex;
    *at++ = 0x0f;
    *at++ = opcode;
    return at;
  }
  void with_register(std::uint8_t mandatory, std::uint8_t opcode, Xmm to, Xmm from) {
    std::uint8_t* at = prefix(make_room(), mandatory, opcode, to, from);
    *at++ = static_cast<std::uint8_t>(0xc0 | (to & 7) << 3 | (from & 7));
    end_at(at);
  }
  void with_memory(std::uint8_t mandatory, std::uint8_t opcode, Xmm reg, Memory memory) {
    end_at(address(prefix(make_room(), mandatory, opcode, reg, memory.base), reg, memory));
  }

  void grow() {
    capacity_ = 2 * capacity_ + 32768;
    auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(capacity_);
    std::copy_n(bytes_.get(), size_, larger.get());
    bytes_ = std::move(larger);
  }

  // Not a vector: that would clear what is written anyway.
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t capacity_ = 0, size_ = 0;
};

}  // namespace saltus
