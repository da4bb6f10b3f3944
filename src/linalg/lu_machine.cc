#include "linalg/lu_machine.h"

#include <bit>
#include <cstdint>

#include "base/x64_assembler.h"

namespace saltus {

#ifdef SALTUS_HAS_MACHINE_CODE

namespace {

using Asm = X64Assembler;
using Xmm = Asm::Xmm;
using Memory = Asm::Memory;
using Arithmetic = Asm::Arithmetic;

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// The arithmetic of one kind of number. `from` and `to` are places in memory.
class RealArithmetic {
 public:
  static constexpr int kBytes = 8;
  explicit RealArithmetic(Asm& assembler) : as_(assembler) {}

  void prepare() { as_.constant(kOne, std::bit_cast<std::uint64_t>(1.0)); }
  void move(Memory to, Memory from) {
    as_.load(0, from);
    as_.store(to, 0);
  }
  void clear(Memory to) {
    as_.bits(Asm::Bits::kXor, 0, 0);
    as_.store(to, 0);
  }
  // Multiplies in place; what follows are subtract() of multiples by the result.
  void make_multiplier(Memory at, Memory reciprocal) {
    as_.load(kMultiplier, at);
    as_.arithmetic(Arithmetic::kMultiply, kMultiplier, reciprocal);
    as_.store(at, kMultiplier);
  }
  void subtract(Memory from, Memory factor) {
    as_.load(0, factor);
    as_.arithmetic(Arithmetic::kMultiply, 0, kMultiplier);
    as_.load(1, from);
    as_.arithmetic(Arithmetic::kSubtract, 1, 0);
    as_.store(from, 1);
  }
  void invert(Memory to, Memory pivot) {
    as_.copy(0, kOne);
    as_.arithmetic(Arithmetic::kDivide, 0, pivot);
    as_.store(to, 0);
  }

  void begin_sum() { is_first_ = true; }
  void add_product(Memory a, Memory b) {
    const Xmm to = is_first_ ? kSum : 0;
    as_.load(to, a);
    as_.arithmetic(Arithmetic::kMultiply, to, b);
    if (!is_first_) as_.arithmetic(Arithmetic::kAdd, kSum, to);
    is_first_ = false;
  }
  // What is in memory without the sum of products stays in a register.
  void subtract_sum_from(Memory from) {
    as_.load(kResult, from);
    if (!is_first_) as_.arithmetic(Arithmetic::kSubtract, kResult, kSum);
  }
  void multiply_result(Memory by) { as_.arithmetic(Arithmetic::kMultiply, kResult, by); }
  void store_result(Memory to) { as_.store(to, kResult); }

 private:
  static constexpr Xmm kMultiplier = 2, kSum = 3, kResult = 4, kOne = 15;
  Asm& as_;
  bool is_first_ = true;
};

// A complex number is a pair. With a = (ar, ai), b = (br, bi) a product comes from the pairs
// (ar br, ai bi) and (ar bi, ai br).
class ComplexArithmetic {
 public:
  static constexpr int kBytes = 16;
  explicit ComplexArithmetic(Asm& assembler) : as_(assembler) {}

  void prepare() {
    as_.constant(kSignFirst, kSignBit);
    as_.swap_pair(kSignSecond, kSignFirst);
  }
  void move(Memory to, Memory from) {
    as_.load_pair_anywhere(0, from);
    as_.store_pair_anywhere(to, 0);
  }
  void clear(Memory to) {
    as_.bits(Asm::Bits::kXor, 0, 0);
    as_.store_pair(to, 0);
  }
  void make_multiplier(Memory at, Memory reciprocal) {
    as_.load_pair(0, at);
    multiply(0, 1, reciprocal);
    as_.copy(kReal, 0);
    as_.join_first(kReal, kReal);
    as_.copy(kImaginary, 1);
    as_.join_first(kImaginary, kImaginary);
    as_.bits(Asm::Bits::kXor, kImaginary, kSignFirst);
    as_.join_first(0, 1);
    as_.store_pair(at, 0);
  }
  void subtract(Memory from, Memory factor) {
    as_.load_pair(0, factor);
    as_.swap_pair(1, 0);
    as_.arithmetic_pair(Arithmetic::kMultiply, 0, kReal);
    as_.arithmetic_pair(Arithmetic::kMultiply, 1, kImaginary);
    as_.arithmetic_pair(Arithmetic::kAdd, 0, 1);
    as_.load_pair(2, from);
    as_.arithmetic_pair(Arithmetic::kSubtract, 2, 0);
    as_.store_pair(from, 2);
  }
  void invert(Memory to, Memory pivot) {
    as_.load_pair(0, pivot);
    as_.copy(1, 0);
    as_.arithmetic_pair(Arithmetic::kMultiply, 1, 1);
    as_.copy(2, 1);
    as_.join_second(2, 2);
    as_.arithmetic(Arithmetic::kAdd, 1, 2);
    as_.join_first(1, 1);
    as_.bits(Asm::Bits::kXor, 0, kSignSecond);
    as_.arithmetic_pair(Arithmetic::kDivide, 0, 1);
    as_.store_pair(to, 0);
  }

  void begin_sum() { is_first_ = true; }
  void add_product(Memory a, Memory b) {
    const Xmm straight = is_first_ ? kStraight : 0;
    const Xmm crossed = is_first_ ? kCrossed : 1;
    as_.load_pair(straight, a);
    as_.load_swapped(crossed, b);
    as_.arithmetic_pair(Arithmetic::kMultiply, crossed, straight);
    as_.arithmetic_pair(Arithmetic::kMultiply, straight, b);
    if (!is_first_) {
      as_.arithmetic_pair(Arithmetic::kAdd, kStraight, straight);
      as_.arithmetic_pair(Arithmetic::kAdd, kCrossed, crossed);
    }
    is_first_ = false;
  }
  void subtract_sum_from(Memory from) {
    as_.load_pair_anywhere(kResult, from);
    if (is_first_) return;
    combine(kStraight, kCrossed);
    as_.join_first(kStraight, kCrossed);
    as_.arithmetic_pair(Arithmetic::kSubtract, kResult, kStraight);
  }
  void multiply_result(Memory by) {
    multiply(kResult, 1, by);
    as_.join_first(kResult, 1);
  }
  void store_result(Memory to) { as_.store_pair_anywhere(to, kResult); }

 private:
  // The product's real part as the first number of `a`, its imaginary part as that of `other`.
  void multiply(Xmm a, Xmm other, Memory by) {
    as_.load_swapped(other, by);
    as_.arithmetic_pair(Arithmetic::kMultiply, other, a);
    as_.arithmetic_pair(Arithmetic::kMultiply, a, by);
    combine(a, other);
  }
  void combine(Xmm straight, Xmm crossed) {
    as_.copy(2, straight);
    as_.join_second(2, 2);
    as_.arithmetic(Arithmetic::kSubtract, straight, 2);
    as_.copy(2, crossed);
    as_.join_second(2, 2);
    as_.arithmetic(Arithmetic::kAdd, crossed, 2);
  }

  static constexpr Xmm kReal = 3, kImaginary = 4, kStraight = 5, kCrossed = 6, kResult = 7,
                       kSignFirst = 14, kSignSecond = 15;
  Asm& as_;
  bool is_first_ = true;
};

template <class Numbers>
class Writer {
 public:
  Writer(const LuLayout& layout, Asm& assembler)
      : layout_(layout), as_(assembler), numbers_(assembler) {}

  // (values, factors)
  void write_factorization() {
    const auto values = in(Asm::kRdi);
    const auto factors = in(Asm::kRsi);
    numbers_.prepare();
    std::vector<bool> is_given(layout_.entry_column.size() + layout_.row_of.size(), false);
    for (std::size_t k = 0; k < layout_.scatter.size(); ++k) {
      numbers_.move(factors(layout_.scatter[k]), values(static_cast<int>(k)));
      is_given[static_cast<std::size_t>(layout_.scatter[k])] = true;
    }
    for (std::size_t e = 0; e < is_given.size(); ++e)
      if (!is_given[e]) numbers_.clear(factors(static_cast<int>(e)));
    const int* target = layout_.targets.data();
    for (int i = 0; i < layout_.rows(); ++i) {
      for (int l = layout_.lower_begin[i]; l < layout_.upper_begin[i]; ++l) {
        const int k = layout_.entry_column[l];
        numbers_.make_multiplier(factors(l), factors(layout_.reciprocal(k)));
        for (int u = layout_.upper_begin[k]; u < layout_.lower_begin[k + 1]; ++u, ++target)
          numbers_.subtract(factors(*target), factors(u));
      }
      numbers_.invert(factors(layout_.reciprocal(i)), factors(layout_.pivot(i)));
    }
    as_.leave();
  }

  // (factors, work, b)
  void write_solution() {
    const auto factors = in(Asm::kRdi);
    const auto work = in(Asm::kRsi);
    const auto b = in(Asm::kRdx);
    for (int i = 0; i < layout_.rows(); ++i) {
      numbers_.begin_sum();
      for (int l = layout_.lower_begin[i]; l < layout_.upper_begin[i]; ++l)
        numbers_.add_product(factors(l), work(layout_.entry_column[l]));
      numbers_.subtract_sum_from(b(layout_.row_of[i]));
      numbers_.store_result(work(i));
    }
    for (int i = layout_.rows() - 1; i >= 0; --i) {
      numbers_.begin_sum();
      for (int u = layout_.upper_begin[i]; u < layout_.lower_begin[i + 1]; ++u)
        numbers_.add_product(factors(u), work(layout_.entry_column[u]));
      numbers_.subtract_sum_from(work(i));
      numbers_.multiply_result(factors(layout_.reciprocal(i)));
      numbers_.store_result(work(i));
      numbers_.store_result(b(layout_.column_of[i]));
    }
    as_.leave();
  }

 private:
  static auto in(Asm::Gpr base) {
    return [base](int index) { return Memory{base, index * Numbers::kBytes}; };
  }

  const LuLayout& layout_;
  Asm& as_;
  Numbers numbers_;
};

}  // namespace

template <class Scalar>
LuMachine<Scalar> compile_lu(const LuLayout& layout) {
  using Numbers =
      std::conditional_t<std::is_same_v<Scalar, double>, RealArithmetic, ComplexArithmetic>;
  Asm assembler;
  Writer<Numbers> writer(layout, assembler);
  writer.write_factorization();
  const std::size_t solution = assembler.bytes().size();
  writer.write_solution();
  LuMachine<Scalar> result;
  result.code = MachineCode::load(assembler.bytes());
  if (result.code == nullptr) return result;
  result.factor = result.code->template entry<void(const Scalar*, Scalar*)>();
  result.solve = result.code->template entry<void(const Scalar*, Scalar*, Scalar*)>(solution);
  return result;
}

#else

template <class Scalar>
LuMachine<Scalar> compile_lu(const LuLayout&) {
  return {};
}

#endif

template LuMachine<double> compile_lu(const LuLayout& layout);
template LuMachine<std::complex<double>> compile_lu(const LuLayout& layout);

}  // namespace saltus
