#include "linalg/lane_lu_machine.h"

#include <cstdint>

#include "base/avx_assembler.h"

namespace saltus {

namespace {

// The table begins with these.
enum Constant : std::uint8_t { kNegateThird, kNegateFourth, kUnit, kZero, kConstants };

}  // namespace

std::vector<Lanes> LaneLuMachine::make_table(const std::vector<double>& multiplier_weights) {
  std::vector<Lanes> table(kConstants);
  table[kNegateThird].lane[2] = -0.0;
  table[kNegateFourth].lane[3] = -0.0;
  table[kUnit].lane[0] = 1.0;
  for (const double w : multiplier_weights) table.push_back({{w, w, w, w}});
  return table;
}

#ifdef SALTUS_HAS_MACHINE_CODE

namespace {

using Asm = AvxAssembler;
using Ymm = Asm::Ymm;
using Memory = Asm::Memory;
using Arithmetic = Asm::Arithmetic;

constexpr std::uint8_t kToInside = Asm::lanes(0, 3, 1, 2);
constexpr std::uint8_t kToOutside = Asm::lanes(0, 2, 3, 1);
constexpr std::uint8_t kSwap = 0b0101;         // in both halves
constexpr std::uint8_t kSecondTwice = 0b1111;  // in both halves
constexpr std::uint8_t kUpperHalf = 0b1100;
constexpr std::uint8_t kLowerHalf = 0b0011;

Memory lanes_in(Asm::Gpr base, int index) {
  return {base, index * static_cast<int>(sizeof(Lanes))};
}
Memory direct(Asm::Gpr factors, int entry) { return lanes_in(factors, 2 * entry); }
Memory crossed(Asm::Gpr factors, int entry) { return lanes_in(factors, 2 * entry + 1); }

// Multiplies by a factor: (x, 0, zr, zi) .* direct -+ (0, x, zi, zr) .* crossed.
void multiply(Asm& as, Ymm number, Asm::Gpr factors, int entry, Ymm free) {
  as.permute_in_halves(free, number, kSwap);
  as.arithmetic(Arithmetic::kMultiply, free, free, crossed(factors, entry));
  as.multiply_subtract_add(number, direct(factors, entry), free);
}

// Row by row. Entries of the row at work stay in registers from their first to their last change,
// as long as there are registers.
class FactorizationWriter {
 public:
  FactorizationWriter(const LuLayout& layout, Asm& assembler)
      : layout_(layout),
        as_(assembler),
        entries_(layout.entry_column.size() + layout.row_of.size()) {
    for (std::size_t k = 0; k < layout.scatter.size(); ++k)
      entries_[layout.scatter[k]].nonzero = static_cast<int>(k);
    for (const int target : layout.targets) ++entries_[target].changes;
    for (Ymm r = kFirstFree; r <= kLastFree; ++r) free_.push_back(r);
  }

  // (values, factors, table, squares)
  void write() {
    as_.clear(kSquares);
    const int* target = layout_.targets.data();
    int multiplier = kConstants;
    for (int i = 0; i < layout_.rows(); ++i) {
      for (int l = layout_.lower_begin[i]; l < layout_.upper_begin[i]; ++l) {
        const int k = layout_.entry_column[l];
        const int sources = layout_.lower_begin[k + 1] - layout_.upper_begin[k];
        const Ymm m = make_multiplier(l, layout_.pivot(k), multiplier++, sources > 0);
        for (int u = layout_.upper_begin[k]; u < layout_.lower_begin[k + 1]; ++u, ++target) {
          subtract(*target, u, m);
          if (--entries_[*target].changes == 0) finish_upper(*target, i);
        }
        release(l);
      }
      for (int u = layout_.upper_begin[i]; u < layout_.lower_begin[i + 1]; ++u)
        if (!entries_[u].is_changed) copy_given(u);
      finish_pivot(layout_.pivot(i));
    }
    as_.store(lanes_in(kSquaresAt, 0), kSquares);
    as_.clear_upper();
    as_.leave();
  }

 private:
  static constexpr Asm::Gpr kValues = Asm::kRdi, kFactors = Asm::kRsi, kTable = Asm::kRdx,
                            kSquaresAt = Asm::kRcx;
  static constexpr Ymm kTemporary = 0, kHeld = 1, kTurned = 2, kOther = 3, kFirstFree = 4,
                       kLastFree = 14, kSquares = 15, kNone = 16;
  struct Entry {
    int nonzero = -1;  // of the matrix; none: fill
    int changes = 0;   // to come
    Ymm in = kNone;
    bool is_changed = false;
  };

  // Brings an entry that is in no register into this one.
  void load(Ymm to, int e) {
    if (entries_[e].is_changed) {
      as_.load(to, direct(kFactors, e));
    } else if (entries_[e].nonzero >= 0) {
      as_.permute(to, lanes_in(kValues, entries_[e].nonzero), kToInside);
    } else {
      as_.clear(to);
    }
  }
  void release(int e) {
    if (entries_[e].in != kNone) free_.push_back(entries_[e].in);
    entries_[e].in = kNone;
  }

  // In the register that is returned, in the factors, and turned by a right angle.
  Ymm make_multiplier(int l, int reciprocal, int weight, bool is_used) {
    Ymm m = entries_[l].in;
    if (m == kNone) load(m = kHeld, l);
    multiply(as_, m, kFactors, reciprocal, kTemporary);
    as_.arithmetic(Arithmetic::kMultiply, kTemporary, m, lanes_in(kTable, weight));
    as_.add_product(kSquares, kTemporary, kTemporary);
    if (is_used) {
      as_.permute_in_halves(kTurned, m, kSwap);
      as_.bits(Asm::Bits::kXor, kTurned, kTurned, lanes_in(kTable, kNegateThird));
    }
    store_factor(l, m);
    return m;
  }

  void subtract(int e, int u, Ymm m) {
    Entry& entry = entries_[e];
    Ymm at = entry.in;
    if (at == kNone) {
      at = kOther;
      if (!entry.is_changed && !free_.empty()) {
        at = entry.in = free_.back();
        free_.pop_back();
      }
      load(at, e);
      entry.is_changed = true;
    }
    as_.subtract_product(at, m, direct(kFactors, u));
    as_.subtract_product(at, kTurned, crossed(kFactors, u));
    if (entry.in == kNone) as_.store(direct(kFactors, e), at);
  }

  // After the last change; multipliers and the pivot are made when their turn comes.
  void finish_upper(int e, int row) {
    if (e < layout_.upper_begin[row] || e == layout_.pivot(row)) return;
    Ymm at = entries_[e].in;
    if (at == kNone) load(at = kOther, e);
    store_factor(e, at);
    release(e);
  }
  void finish_pivot(int e) {
    Ymm at = entries_[e].in;
    if (at == kNone) load(at = kOther, e);
    invert(at);
    as_.add_product(kSquares, at, lanes_in(kTable, kZero));
    store_factor(e, at);
    release(e);
  }

  // (x, 0, zr, zi) becomes (1, 0, zr, -zi) / (x, x, |z|^2, |z|^2).
  void invert(Ymm p) {
    as_.arithmetic(Arithmetic::kMultiply, kTemporary, p, p);
    as_.add_neighbours(kTemporary, kTemporary, kTemporary);
    as_.duplicate_first_of_halves(kHeld, p);
    as_.blend(kTemporary, kHeld, kTemporary, kUpperHalf);
    as_.bits(Asm::Bits::kXor, p, p, lanes_in(kTable, kNegateFourth));
    as_.blend(p, p, lanes_in(kTable, kUnit), kLowerHalf);
    as_.arithmetic(Arithmetic::kDivide, p, p, kTemporary);
  }

  void store_factor(int e, Ymm from) {
    as_.duplicate_first_of_halves(kTemporary, from);
    as_.store(direct(kFactors, e), kTemporary);
    as_.permute_in_halves(kTemporary, from, kSecondTwice);
    as_.store(crossed(kFactors, e), kTemporary);
  }
  void copy_given(int e) {
    const Memory from = lanes_in(kValues, entries_[e].nonzero);
    as_.permute(kTemporary, from, Asm::lanes(0, 0, 1, 1));
    as_.store(direct(kFactors, e), kTemporary);
    as_.permute(kTemporary, from, Asm::lanes(3, 3, 2, 2));
    as_.store(crossed(kFactors, e), kTemporary);
  }

  const LuLayout& layout_;
  Asm& as_;
  std::vector<Entry> entries_;  // also the pivots
  std::vector<Ymm> free_;
};

constexpr Asm::Gpr kSolutionFactors = Asm::kRdi, kSolutionWork = Asm::kRsi, kSolutionB = Asm::kRdx;

// Both systems. What a sum takes crosswise is gathered apart and added once a row.
class BothSystems {
 public:
  static constexpr Ymm kFirstFree = 2, kLastFree = 14;
  explicit BothSystems(Asm& assembler) : as_(assembler) {}

  void begin() { as_.broadcast_constant(kOnes, 1.0); }
  void load_b(Ymm to, int row) { as_.permute(to, lanes_in(kSolutionB, row), kToInside); }
  void store_b(int row, Ymm from) {
    as_.permute(kTemporary, from, kToOutside);
    as_.store(lanes_in(kSolutionB, row), kTemporary);
  }
  void load_work(Ymm to, int i) { as_.load(to, lanes_in(kSolutionWork, i)); }
  void store_work(int i, Ymm from) { as_.store(lanes_in(kSolutionWork, i), from); }
  void subtract(Ymm sum, int entry, Ymm by, bool is_first) {
    as_.subtract_product(sum, by, direct(kSolutionFactors, entry));
    if (is_first) {
      as_.arithmetic(Arithmetic::kMultiply, kCrossed, by, crossed(kSolutionFactors, entry));
    } else {
      as_.add_product(kCrossed, by, crossed(kSolutionFactors, entry));
    }
  }
  void end_sum(Ymm sum) {
    as_.permute_in_halves(kCrossed, kCrossed, kSwap);
    as_.multiply_add_subtract(sum, kOnes, kCrossed);
  }
  void multiply(Ymm number, int entry) {
    saltus::multiply(as_, number, kSolutionFactors, entry, kTemporary);
  }
  void end() {
    as_.clear_upper();
    as_.leave();
  }

 private:
  static constexpr Ymm kTemporary = 0, kCrossed = 1, kOnes = 15;
  Asm& as_;
};

class RealSystem {
 public:
  static constexpr Ymm kFirstFree = 0, kLastFree = 15;
  explicit RealSystem(Asm& assembler) : as_(assembler) {}

  void begin() {}
  void load_b(Ymm to, int row) { as_.load_one(to, number(kSolutionB, row)); }
  void store_b(int row, Ymm from) { as_.store_one(number(kSolutionB, row), from); }
  void load_work(Ymm to, int i) { as_.load_one(to, number(kSolutionWork, i)); }
  void store_work(int i, Ymm from) { as_.store_one(number(kSolutionWork, i), from); }
  void subtract(Ymm sum, int entry, Ymm by, bool) {
    as_.subtract_product_one(sum, by, direct(kSolutionFactors, entry));
  }
  void end_sum(Ymm) {}
  void multiply(Ymm to, int entry) {
    as_.arithmetic_one(Arithmetic::kMultiply, to, to, direct(kSolutionFactors, entry));
  }
  void end() { as_.leave(); }

 private:
  static Memory number(Asm::Gpr base, int index) {
    return {base, index * static_cast<int>(sizeof(double))};
  }
  Asm& as_;
};

// Four right-hand sides of the real system.
class FourRealSystems {
 public:
  static constexpr Ymm kFirstFree = 1, kLastFree = 15;
  explicit FourRealSystems(Asm& assembler) : as_(assembler) {}

  void begin() {}
  void load_b(Ymm to, int row) { as_.load(to, lanes_in(kSolutionB, row)); }
  void store_b(int row, Ymm from) { as_.store(lanes_in(kSolutionB, row), from); }
  void load_work(Ymm to, int i) { as_.load(to, lanes_in(kSolutionWork, i)); }
  void store_work(int i, Ymm from) { as_.store(lanes_in(kSolutionWork, i), from); }
  void subtract(Ymm sum, int entry, Ymm by, bool) {
    as_.broadcast(kFactor, direct(kSolutionFactors, entry));
    as_.subtract_product(sum, by, kFactor);
  }
  void end_sum(Ymm) {}
  void multiply(Ymm number, int entry) {
    as_.broadcast(kFactor, direct(kSolutionFactors, entry));
    as_.arithmetic(Arithmetic::kMultiply, number, number, kFactor);
  }
  void end() {
    as_.clear_upper();
    as_.leave();
  }

 private:
  static constexpr Ymm kFactor = 0;
  Asm& as_;
};

// (factors, work, b). Registers keep the latest numbers; all are in memory too. Sums end with the
// number that was found last, so that the others need not wait for it.
template <class System>
class SolutionWriter {
 public:
  SolutionWriter(const LuLayout& layout, Asm& assembler)
      : layout_(layout),
        system_(assembler),
        is_in_b_(layout.row_of.size(), false),
        register_of_(layout.row_of.size(), kNone) {
    std::vector<int> step_of(layout.row_of.size());
    for (int i = 0; i < layout.rows(); ++i) step_of[layout.column_of[i]] = i;
    // Rows that nothing is subtracted from stay where they are, unless the solution gets there
    // first.
    for (int i = 0; i < layout.rows(); ++i)
      is_in_b_[i] =
          layout.lower_begin[i] == layout.upper_begin[i] && step_of[layout.row_of[i]] <= i;
  }

  void write() {
    system_.begin();
    for (int i = 0; i < layout_.rows(); ++i) {
      if (is_in_b_[i]) continue;
      const Ymm sum = pinned_ = take_register(i);
      system_.load_b(sum, layout_.row_of[i]);
      for (int l = layout_.lower_begin[i]; l < layout_.upper_begin[i]; ++l)
        subtract(sum, l, l == layout_.lower_begin[i]);
      if (layout_.lower_begin[i] < layout_.upper_begin[i]) system_.end_sum(sum);
      system_.store_work(i, sum);
    }
    for (int i = solved_from_ - 1; i >= 0; --i) {
      const Ymm sum = pinned_ = fetch(i);
      const int last = layout_.lower_begin[i + 1] - 1;
      for (int u = last; u >= layout_.upper_begin[i]; --u) subtract(sum, u, u == last);
      if (layout_.upper_begin[i] <= last) system_.end_sum(sum);
      system_.multiply(sum, layout_.pivot(i));
      system_.store_b(layout_.column_of[i], sum);
      solved_from_ = i;
    }
    system_.end();
  }

 private:
  static constexpr Ymm kNone = 16;

  void subtract(Ymm sum, int entry, bool is_first) {
    system_.subtract(sum, entry, fetch(layout_.entry_column[entry]), is_first);
  }

  // The one that was taken the longest time ago.
  Ymm take_register(int i) {
    do next_ = next_ >= System::kLastFree ? System::kFirstFree : static_cast<Ymm>(next_ + 1);
    while (next_ == pinned_);
    if (holds_[next_] >= 0) register_of_[holds_[next_]] = kNone;
    holds_[next_] = i;
    return register_of_[i] = next_;
  }
  Ymm fetch(int i) {
    if (register_of_[i] != kNone) return register_of_[i];
    const Ymm to = take_register(i);
    if (i >= solved_from_) {
      system_.load_b(to, layout_.column_of[i]);
    } else if (is_in_b_[i]) {
      system_.load_b(to, layout_.row_of[i]);
    } else {
      system_.load_work(to, i);
    }
    return to;
  }

  const LuLayout& layout_;
  System system_;
  std::vector<bool> is_in_b_;
  std::vector<Ymm> register_of_;
  int holds_[16] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  Ymm next_ = System::kLastFree, pinned_ = kNone;
  int solved_from_ = layout_.rows();
};

}  // namespace

LaneLuMachine LaneLuMachine::compile(const LuLayout& layout) {
  Asm assembler;
  FactorizationWriter(layout, assembler).write();
  const std::size_t both = assembler.bytes().size();
  SolutionWriter<BothSystems>(layout, assembler).write();
  const std::size_t real = assembler.bytes().size();
  SolutionWriter<RealSystem>(layout, assembler).write();
  const std::size_t four = assembler.bytes().size();
  SolutionWriter<FourRealSystems>(layout, assembler).write();
  LaneLuMachine result;
  result.code = MachineCode::load(assembler.bytes());
  if (result.code == nullptr) return result;
  result.factor = result.code->entry<void(const double*, LaneFactor*, const Lanes*, Lanes*)>();
  result.solve = result.code->entry<void(const LaneFactor*, Lanes*, double*)>(both);
  result.solve_real = result.code->entry<void(const LaneFactor*, double*, double*)>(real);
  result.solve_four = result.code->entry<void(const LaneFactor*, Lanes*, double*)>(four);
  return result;
}

#else

LaneLuMachine LaneLuMachine::compile(const LuLayout&) { return {}; }

#endif

}  // namespace saltus
