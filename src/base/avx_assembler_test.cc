#include "base/avx_assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

namespace saltus {
namespace {

using Asm = AvxAssembler;
using Ymm = Asm::Ymm;
using Memory = Asm::Memory;
using Lanes = std::array<double, 4>;
using LaneBits = std::array<std::uint64_t, 4>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Lanes kA = {1.5, -2.0, 0.1, 7.0};
constexpr Lanes kB = {3.0, -2.0, 5.0, 0.3};
constexpr Lanes kC = {0.7, 11.0, -0.3, 1e3};

// Where the operands are when the instructions under test run: registers, and the same numbers in
// memory.
struct Place {
  Ymm a, b, c, to;
  Memory a_in_memory, b_in_memory;
};
using Emit = std::function<void(Asm&, const Place&)>;

LaneBits bits_of(const Lanes& lanes) { return std::bit_cast<LaneBits>(lanes); }

// (a, b and c one after the other, four lanes of result)
void call(const Asm& as, const Lanes& a, const Lanes& b, const Lanes& c, Lanes& result) {
  const auto code = MachineCode::load(as.bytes());
  ASSERT_NE(code, nullptr);
  const Lanes in[] = {a, b, c};
  code->entry<void(const double*, double*)>()(in[0].data(), result.data());
}

// What is in `to` at the end, for registers of all ranges and for base registers of all ranges.
void expect(const char* what, const Lanes& expected, const Emit& emit, const Lanes& a = kA,
            const Lanes& b = kB, const Lanes& c = kC) {
  for (int choice = 0; choice < 32; ++choice) {
    const auto pick = [choice](int bit, Ymm low) {
      return static_cast<Ymm>(low + (choice >> bit & 1) * 8);
    };
    const Asm::Gpr base = (choice & 16) != 0 ? Asm::kR9 : Asm::kRdi;
    const Place place{pick(0, 1), pick(1, 3), pick(2, 4), pick(3, 6), {base, 0}, {base, 32}};
    Asm as;
    as.copy(Asm::kR9, Asm::kRdi);
    as.load(place.a, {Asm::kRdi, 0});
    as.load(place.b, {Asm::kRdi, 32});
    as.load(place.c, {Asm::kRdi, 64});
    as.load(place.to, {Asm::kRdi, 64});
    emit(as, place);
    as.store({Asm::kRsi, 0}, place.to);
    as.clear_upper();
    as.leave();
    Lanes result = {};
    call(as, a, b, c, result);
    ASSERT_EQ(bits_of(result), bits_of(expected)) << what << ", registers " << choice;
  }
}

Lanes by_lane(const std::function<double(double, double, double)>& f, const Lanes& a = kA,
              const Lanes& b = kB, const Lanes& c = kC) {
  Lanes result;
  for (std::size_t i = 0; i < 4; ++i) result[i] = f(a[i], b[i], c[i]);
  return result;
}
Lanes first_alone(double first, double second) { return {first, second, 0.0, 0.0}; }

class AvxAssemblerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Asm::is_available()) GTEST_SKIP() << "no AVX2 and FMA here";
  }
};

TEST_F(AvxAssemblerTest, DoesArithmetic) {
  struct Case {
    Asm::Arithmetic op;
    std::function<double(double, double)> f;
  };
  const Case cases[] = {
      {Asm::Arithmetic::kAdd, [](double a, double b) { return a + b; }},
      {Asm::Arithmetic::kSubtract, [](double a, double b) { return a - b; }},
      {Asm::Arithmetic::kMultiply, [](double a, double b) { return a * b; }},
      {Asm::Arithmetic::kDivide, [](double a, double b) { return a / b; }},
      {Asm::Arithmetic::kMin, [](double a, double b) { return std::min(a, b); }},
      {Asm::Arithmetic::kMax, [](double a, double b) { return std::max(a, b); }},
  };
  for (const Case& c : cases) {
    const Lanes all = by_lane([&](double a, double b, double) { return c.f(a, b); });
    expect("registers", all, [&](Asm& as, const Place& p) { as.arithmetic(c.op, p.to, p.a, p.b); });
    expect("memory", all,
           [&](Asm& as, const Place& p) { as.arithmetic(c.op, p.to, p.a, p.b_in_memory); });
    const Lanes one = first_alone(c.f(kA[0], kB[0]), kA[1]);
    expect("one", one, [&](Asm& as, const Place& p) { as.arithmetic_one(c.op, p.to, p.a, p.b); });
    expect("one of memory", one,
           [&](Asm& as, const Place& p) { as.arithmetic_one(c.op, p.to, p.a, p.b_in_memory); });
  }
  const Lanes root = by_lane([](double, double, double c) { return std::sqrt(c); }, kA, kB, kC);
  expect("root", {root[0], root[1], std::sqrt(0.3), root[3]},
         [](Asm& as, const Place& p) { as.square_root(p.to, p.a); }, {0.7, 11.0, 0.3, 1e3});
  expect("root of memory", {root[0], root[1], std::sqrt(0.3), root[3]},
         [](Asm& as, const Place& p) { as.square_root(p.to, p.a_in_memory); },
         {0.7, 11.0, 0.3, 1e3});
}

TEST_F(AvxAssemblerTest, AddsAndSubtractsProductsRoundedOnce) {
  // 0.1 * 5.0 - 0.3 and the like differ from two roundings.
  const auto plus = [](double a, double b, double c) { return std::fma(a, b, c); };
  const auto minus = [](double a, double b, double c) { return std::fma(-a, b, c); };
  expect("add", by_lane(plus), [](Asm& as, const Place& p) { as.add_product(p.to, p.a, p.b); });
  expect("add memory", by_lane(plus),
         [](Asm& as, const Place& p) { as.add_product(p.to, p.a, p.b_in_memory); });
  expect("subtract", by_lane(minus),
         [](Asm& as, const Place& p) { as.subtract_product(p.to, p.a, p.b); });
  expect("subtract memory", by_lane(minus),
         [](Asm& as, const Place& p) { as.subtract_product(p.to, p.a, p.b_in_memory); });
  const Lanes one_more = first_alone(plus(kA[0], kB[0], kC[0]), kC[1]);
  const Lanes one_less = first_alone(minus(kA[0], kB[0], kC[0]), kC[1]);
  expect("add one", one_more, [](Asm& as, const Place& p) { as.add_product_one(p.to, p.a, p.b); });
  expect("add one of memory", one_more,
         [](Asm& as, const Place& p) { as.add_product_one(p.to, p.a, p.b_in_memory); });
  expect("subtract one", one_less,
         [](Asm& as, const Place& p) { as.subtract_product_one(p.to, p.a, p.b); });
  expect("subtract one of memory", one_less,
         [](Asm& as, const Place& p) { as.subtract_product_one(p.to, p.a, p.b_in_memory); });
}

TEST_F(AvxAssemblerTest, CombinesNeighbours) {
  const auto to = [](std::size_t i, double sign) { return std::fma(kC[i], kB[i], sign * kA[i]); };
  const Lanes less_first = {to(0, -1), to(1, 1), to(2, -1), to(3, 1)};
  const Lanes more_first = {to(0, 1), to(1, -1), to(2, 1), to(3, -1)};
  expect("subtract, add", less_first,
         [](Asm& as, const Place& p) { as.multiply_subtract_add(p.to, p.b, p.a); });
  expect("subtract, add with memory", less_first,
         [](Asm& as, const Place& p) { as.multiply_subtract_add(p.to, p.b_in_memory, p.a); });
  expect("add, subtract", more_first,
         [](Asm& as, const Place& p) { as.multiply_add_subtract(p.to, p.b, p.a); });
  expect("add, subtract with memory", more_first,
         [](Asm& as, const Place& p) { as.multiply_add_subtract(p.to, p.b_in_memory, p.a); });
  const Lanes sums = {kA[0] + kA[1], kB[0] + kB[1], kA[2] + kA[3], kB[2] + kB[3]};
  expect("sums", sums, [](Asm& as, const Place& p) { as.add_neighbours(p.to, p.a, p.b); });
  expect("sums with memory", sums,
         [](Asm& as, const Place& p) { as.add_neighbours(p.to, p.a, p.b_in_memory); });
  const Lanes twice = {kA[0], kA[0], kA[2], kA[2]};
  expect("twice", twice, [](Asm& as, const Place& p) { as.duplicate_first_of_halves(p.to, p.a); });
  expect("twice from memory", twice,
         [](Asm& as, const Place& p) { as.duplicate_first_of_halves(p.to, p.a_in_memory); });
}

TEST_F(AvxAssemblerTest, CombinesBits) {
  struct Case {
    Asm::Bits op;
    std::function<std::uint64_t(std::uint64_t, std::uint64_t)> f;
  };
  const Case cases[] = {
      {Asm::Bits::kAnd, [](std::uint64_t a, std::uint64_t b) { return a & b; }},
      {Asm::Bits::kAndNot, [](std::uint64_t a, std::uint64_t b) { return ~a & b; }},
      {Asm::Bits::kOr, [](std::uint64_t a, std::uint64_t b) { return a | b; }},
      {Asm::Bits::kXor, [](std::uint64_t a, std::uint64_t b) { return a ^ b; }},
  };
  for (const Case& c : cases) {
    const Lanes all = by_lane([&](double a, double b, double) {
      return std::bit_cast<double>(
          c.f(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)));
    });
    expect("bits", all, [&](Asm& as, const Place& p) { as.bits(c.op, p.to, p.a, p.b); });
    expect("bits of memory", all,
           [&](Asm& as, const Place& p) { as.bits(c.op, p.to, p.a, p.b_in_memory); });
  }
}

TEST_F(AvxAssemblerTest, ComparesAndSelects) {
  struct Case {
    Asm::Compare relation;
    std::function<bool(double, double)> f;
  };
  const Case cases[] = {
      {Asm::Compare::kEqual, [](double a, double b) { return a == b; }},
      {Asm::Compare::kLess, [](double a, double b) { return a < b; }},
      {Asm::Compare::kLessEqual, [](double a, double b) { return a <= b; }},
      {Asm::Compare::kNotEqual, [](double a, double b) { return a != b; }},
  };
  const Lanes a = {1.0, 2.0, 3.0, kNan};
  const Lanes b = {2.0, 2.0, -3.0, 1.0};
  const Lanes c = {5.0, 6.0, 7.0, 8.0};
  for (const Case& k : cases) {
    const auto relation = k.relation;
    const auto mask = [&](double x, double y, double) {
      return std::bit_cast<double>(k.f(x, y) ? ~std::uint64_t{0} : std::uint64_t{0});
    };
    expect(
        "compare", by_lane(mask, a, b, c),
        [&](Asm& as, const Place& p) { as.compare(relation, p.to, p.a, p.b); }, a, b, c);
    expect(
        "compare memory", by_lane(mask, a, b, c),
        [&](Asm& as, const Place& p) { as.compare(relation, p.to, p.a, p.b_in_memory); }, a, b, c);
    const auto choice = [&](double x, double y, double z) { return k.f(x, y) ? y : z; };
    expect(
        "select", by_lane(choice, a, b, c),
        [&](Asm& as, const Place& p) {
          as.compare(relation, p.to, p.a, p.b);
          as.select(p.to, p.c, p.b, p.to);
        },
        a, b, c);
    expect(
        "select memory", by_lane(choice, a, b, c),
        [&](Asm& as, const Place& p) {
          as.compare(relation, p.a, p.a, p.b);
          as.select(p.to, p.c, p.b_in_memory, p.a);
        },
        a, b, c);
  }
}

TEST_F(AvxAssemblerTest, MovesLanes) {
  expect("copy", kA, [](Asm& as, const Place& p) { as.copy(p.to, p.a); });
  expect("clear", Lanes{}, [](Asm& as, const Place& p) { as.clear(p.to); });
  const auto all_first = Lanes{kA[0], kA[0], kA[0], kA[0]};
  expect("broadcast", all_first, [](Asm& as, const Place& p) { as.broadcast(p.to, p.a); });
  expect("broadcast memory", all_first,
         [](Asm& as, const Place& p) { as.broadcast(p.to, p.a_in_memory); });
  expect("constant", {0.1, 0.1, 0.1, 0.1},
         [](Asm& as, const Place& p) { as.broadcast_constant(p.to, 0.1); });
  for (const Asm::Gpr r : {Asm::kRax, Asm::kR10})
    expect("move", first_alone(2.5, 0.0), [r](Asm& as, const Place& p) {
      as.load_immediate(r, std::bit_cast<std::uint64_t>(2.5));
      as.move(p.to, r);
    });
  const Lanes blended = {kA[0], kB[1], kA[2], kB[3]};
  expect("blend", blended, [](Asm& as, const Place& p) { as.blend(p.to, p.a, p.b, 0b1010); });
  expect("blend memory", blended,
         [](Asm& as, const Place& p) { as.blend(p.to, p.a, p.b_in_memory, 0b1010); });
  const Lanes permuted = {kA[3], kA[0], kA[2], kA[1]};
  constexpr auto kOrder = Asm::lanes(3, 0, 2, 1);
  expect("permute", permuted, [](Asm& as, const Place& p) { as.permute(p.to, p.a, kOrder); });
  expect("permute memory", permuted,
         [](Asm& as, const Place& p) { as.permute(p.to, p.a_in_memory, kOrder); });
  const Lanes in_halves = {kA[1], kA[0], kA[3], kA[3]};
  expect("halves", in_halves,
         [](Asm& as, const Place& p) { as.permute_in_halves(p.to, p.a, 0b1101); });
  expect("halves of memory", in_halves,
         [](Asm& as, const Place& p) { as.permute_in_halves(p.to, p.a_in_memory, 0b1101); });
  expect("extract", {kA[2], kA[3], 0.0, 0.0},
         [](Asm& as, const Place& p) { as.extract_half(p.to, p.a, 1); });
  expect("extract into memory", {kA[2], kA[3], kB[2], kB[3]}, [](Asm& as, const Place& p) {
    as.store({Asm::kRsi, 0}, p.b);
    as.extract_half(Memory{Asm::kRsi, 0}, p.a, 1);
    as.load(p.to, {Asm::kRsi, 0});
  });
  expect("insert", {kA[0], kA[1], kB[0], kB[1]},
         [](Asm& as, const Place& p) { as.insert_half(p.to, p.a, p.b, 1); });
  expect("insert memory", {kB[0], kB[1], kA[2], kA[3]},
         [](Asm& as, const Place& p) { as.insert_half(p.to, p.a, p.b_in_memory, 0); });
  expect("load one", first_alone(kA[0], 0.0),
         [](Asm& as, const Place& p) { as.load_one(p.to, p.a_in_memory); });
  expect("store one", {kA[0], kB[1], kB[2], kB[3]}, [](Asm& as, const Place& p) {
    as.store({Asm::kRsi, 0}, p.b);
    as.store_one({Asm::kRsi, 0}, p.a);
    as.load(p.to, {Asm::kRsi, 0});
  });
}

// Base registers differ in what follows the opcode.
TEST_F(AvxAssemblerTest, ReachesMemoryByEveryRegister) {
  constexpr Asm::Gpr kKept[] = {Asm::kRbx, Asm::kRbp, Asm::kR12, Asm::kR13, Asm::kR14, Asm::kR15};
  for (int r = Asm::kRax; r <= Asm::kR15; ++r) {
    const auto base = static_cast<Asm::Gpr>(r);
    for (const std::int32_t distance : {0, 64, -128, 4096, -4096}) {
      for (const Ymm y : {Ymm{2}, Ymm{10}}) {
        Asm as;
        for (const Asm::Gpr kept : kKept) as.push(kept);
        if (base == Asm::kRsp) {
          constexpr std::int32_t kRoom = 8192;
          as.add(Asm::kRsp, -kRoom);
          as.copy(Asm::kRdx, Asm::kRsp);
          as.load(y, {Asm::kRdi, 0});
          as.store({Asm::kRdx, std::abs(distance)}, y);
          as.clear(y);
          as.load(y, {Asm::kRsp, std::abs(distance)});
          as.add(Asm::kRsp, kRoom);
          as.store({Asm::kRsi, 0}, y);
        } else {
          as.copy(Asm::kRdx, Asm::kRsi);
          as.copy(base, Asm::kRdi);
          as.add(base, -distance);
          as.load(y, {base, distance});
          as.copy(base, base == Asm::kRdx ? Asm::kRsi : Asm::kRdx);
          as.add(base, -distance);
          as.store({base, distance}, y);
        }
        for (int k = 5; k >= 0; --k) as.pop(kKept[k]);
        as.clear_upper();
        as.leave();
        Lanes result = {};
        call(as, kA, kB, kC, result);
        ASSERT_EQ(result, kA) << r << " " << distance;
      }
    }
  }
}

TEST_F(AvxAssemblerTest, LoadsAndStoresGeneralRegisters) {
  Asm as;
  as.load(Asm::kR8, {Asm::kRdi, 8});
  as.store({Asm::kRsi, 16}, Asm::kR8);
  as.leave();
  Lanes result = {};
  call(as, kA, kB, kC, result);
  EXPECT_EQ(result, (Lanes{0.0, 0.0, kA[1], 0.0}));
}

}  // namespace
}  // namespace saltus
