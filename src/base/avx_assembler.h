#pragma once

#include <bit>
#include <cstdint>

#include "base/machine_code.h"
#include "base/x64_assembler.h"

namespace saltus {

// Bytes of instructions for four doubles at once (AVX2 and FMA). Three operands: `to` = `a` op `b`.
// Memory need not be aligned. General registers, calls and the return are those of X64Assembler;
// its instructions for doubles are hidden, as mixing both kinds stalls the processor.
class AvxAssembler : private X64Assembler {
 public:
  using Ymm = std::uint8_t;  // 0 ... 15
  using X64Assembler::add;
  using X64Assembler::Arithmetic;
  using X64Assembler::Bits;
  using X64Assembler::bytes;
  using X64Assembler::call;
  using X64Assembler::Compare;
  using X64Assembler::Gpr;
  using X64Assembler::leave;
  using X64Assembler::load_immediate;
  using X64Assembler::Memory;
  using X64Assembler::pop;
  using X64Assembler::push;
  using enum X64Assembler::Gpr;

  // Whether this processor has these instructions.
  static bool is_available() {
#ifdef SALTUS_HAS_MACHINE_CODE
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
  }

  void load(Gpr to, Memory from) { X64Assembler::load(to, from); }
  void store(Memory to, Gpr from) { X64Assembler::store(to, from); }
  void copy(Gpr to, Gpr from) { X64Assembler::copy(to, from); }

  void load(Ymm to, Memory from) { write(k66, 0x10, to, 0, from); }
  void store(Memory to, Ymm from) { write(k66, 0x11, from, 0, to); }
  void copy(Ymm to, Ymm from) { write(k66, 0x28, to, 0, from); }
  void clear(Ymm to) { write(k66, 0x57, to, to, to); }
  // One number into all four lanes.
  void broadcast(Ymm to, Memory from) { write(k66 | k0f38, 0x19, to, 0, from); }
  void broadcast(Ymm to, Ymm first_lane_of) { write(k66 | k0f38, 0x19, to, 0, first_lane_of); }
  // By way of rax.
  void broadcast_constant(Ymm to, double number) {
    load_immediate(kRax, std::bit_cast<std::uint64_t>(number));
    move(to, kRax);
    broadcast(to, to);
  }
  // Into the first lane; the others become zero.
  void move(Ymm to, Gpr from) { write(k66 | kWide | kOneLane, 0x6e, to, 0, Ymm{from}); }

  // `b`, here and below: a register or memory.
  template <class Operand>
  void arithmetic(Arithmetic op, Ymm to, Ymm a, Operand b) {
    write(k66, static_cast<std::uint8_t>(op), to, a, b);
  }
  template <class Operand>
  void square_root(Ymm to, Operand from) {
    write(k66, static_cast<std::uint8_t>(Arithmetic::kSqrt), to, 0, from);
  }
  // kAndNot: the bits of `b` that are not in `a`.
  template <class Operand>
  void bits(Bits op, Ymm to, Ymm a, Operand b) {
    write(k66, static_cast<std::uint8_t>(op), to, a, b);
  }
  // All bits of a lane where the relation of `a` and `b` holds, none otherwise.
  template <class Operand>
  void compare(Compare relation, Ymm to, Ymm a, Operand b) {
    write(k66, 0xc2, to, a, b);
    append({static_cast<std::uint8_t>(relation)});
  }
  // `to` += `a` * `b`, rounded once.
  template <class Operand>
  void add_product(Ymm to, Ymm a, Operand b) {
    write(k66 | k0f38 | kWide, 0xb8, to, a, b);
  }
  // `to` -= `a` * `b`, rounded once.
  template <class Operand>
  void subtract_product(Ymm to, Ymm a, Operand b) {
    write(k66 | k0f38 | kWide, 0xbc, to, a, b);
  }
  // `to` = `to` * `b` - `c` in lanes 0 and 2, `to` * `b` + `c` in lanes 1 and 3, rounded once.
  template <class Operand>
  void multiply_subtract_add(Ymm to, Operand b, Ymm c) {
    write(k66 | k0f38 | kWide, 0x96, to, c, b);
  }
  // The other way round: + in lanes 0 and 2.
  template <class Operand>
  void multiply_add_subtract(Ymm to, Operand b, Ymm c) {
    write(k66 | k0f38 | kWide, 0x97, to, c, b);
  }
  // Sums of neighbours: of lanes 0 and 1 of `a`, of `b`, of lanes 2 and 3 of `a`, of `b`.
  template <class Operand>
  void add_neighbours(Ymm to, Ymm a, Operand b) {
    write(k66, 0x7c, to, a, b);
  }

  // Lanes of `b` where the sign bit of `where` is set, else those of `a`.
  template <class Operand>
  void select(Ymm to, Ymm a, Operand b, Ymm where) {
    write(k66 | k0f3a, 0x4b, to, a, b);
    append({static_cast<std::uint8_t>(where << 4)});
  }
  // Lane i of `b` where bit i of `lanes` is set, else that of `a`.
  template <class Operand>
  void blend(Ymm to, Ymm a, Operand b, std::uint8_t lanes) {
    write(k66 | k0f3a, 0x0d, to, a, b);
    append({lanes});
  }
  // For permute(): the lanes of the result come from these.
  static constexpr std::uint8_t lanes(unsigned a, unsigned b, unsigned c, unsigned d) {
    return static_cast<std::uint8_t>(a | b << 2 | c << 4 | d << 6);
  }
  template <class Operand>
  void permute(Ymm to, Operand from, std::uint8_t lanes) {
    write(k66 | k0f3a | kWide, 0x01, to, 0, from);
    append({lanes});
  }
  // Lane i of the result is the second of its half if bit i of `second` is set, else the first.
  template <class Operand>
  void permute_in_halves(Ymm to, Operand from, std::uint8_t second) {
    write(k66 | k0f3a, 0x05, to, 0, from);
    append({second});
  }
  // Lane 0 into lanes 0 and 1, lane 2 into lanes 2 and 3.
  template <class Operand>
  void duplicate_first_of_halves(Ymm to, Operand from) {
    write(kF2, 0x12, to, 0, from);
  }
  // Two lanes, of half 0 or 1; in a register the upper two become zero.
  template <class Operand>
  void extract_half(Operand to, Ymm from, std::uint8_t half) {
    write(k66 | k0f3a, 0x19, from, 0, to);
    append({half});
  }
  // `a` with the lower two lanes of `b` (of memory: two numbers) as its half 0 or 1.
  template <class Operand>
  void insert_half(Ymm to, Ymm a, Operand b, std::uint8_t half) {
    write(k66 | k0f3a, 0x18, to, a, b);
    append({half});
  }

  // Of the first lane alone. The second becomes that of `a` (of `to` for products, zero for loads),
  // the upper two zero.
  void load_one(Ymm to, Memory from) { write(kF2 | kOneLane, 0x10, to, 0, from); }
  void store_one(Memory to, Ymm from) { write(kF2 | kOneLane, 0x11, from, 0, to); }
  template <class Operand>
  void arithmetic_one(Arithmetic op, Ymm to, Ymm a, Operand b) {
    write(kF2 | kOneLane, static_cast<std::uint8_t>(op), to, a, b);
  }
  template <class Operand>
  void add_product_one(Ymm to, Ymm a, Operand b) {
    write(k66 | k0f38 | kWide | kOneLane, 0xb9, to, a, b);
  }
  template <class Operand>
  void subtract_product_one(Ymm to, Ymm a, Operand b) {
    write(k66 | k0f38 | kWide | kOneLane, 0xbd, to, a, b);
  }

  // Before a return or a call: compiled code may use instructions of the older kind.
  void clear_upper() { append({0xc5, 0xf8, 0x77}); }

 private:
  // What a VEX prefix says besides registers: pp in bits 0 and 1, L (inverted) in bit 2, W in bit
  // 7, opcodes of 0f unless of 0f 38 or 0f 3a.
  enum Kind : unsigned {
    k66 = 1,
    kF2 = 3,
    kOneLane = 4,
    kWide = 0x80,
    k0f38 = 0x200,
    k0f3a = 0x300,
  };

  static std::uint8_t* prefix(std::uint8_t* at, unsigned kind, std::uint8_t opcode, unsigned reg,
                              unsigned second, unsigned rm) {
    const unsigned map = kind >> 8;  // 0: 0f
    const unsigned no_r = (~reg & 8) << 4;
    const unsigned last = ((~second & 15) << 3) | ((kind & 7) ^ 4);
    if (map == 0 && (kind & kWide) == 0 && rm < 8) {
      *at++ = 0xc5;
      *at++ = static_cast<std::uint8_t>(no_r | last);
    } else {
      const unsigned no_b = (~rm & 8) << 2;
      *at++ = 0xc4;
      *at++ = static_cast<std::uint8_t>(no_r | 0x40 | no_b | (map == 0 ? 1 : map));
      *at++ = static_cast<std::uint8_t>((kind & kWide) | last);
    }
    *at++ = opcode;
    return at;
  }
  void write(unsigned kind, std::uint8_t opcode, Ymm reg, Ymm second, Ymm rm) {
    std::uint8_t* at = prefix(make_room(), kind, opcode, reg, second, rm);
    *at++ = static_cast<std::uint8_t>(0xc0 | (reg & 7) << 3 | (rm & 7));
    end_at(at);
  }
  void write(unsigned kind, std::uint8_t opcode, Ymm reg, Ymm second, Memory rm) {
    end_at(address(prefix(make_room(), kind, opcode, reg, second, rm.base), reg, rm));
  }
};

}  // namespace saltus
