#include "expr/tape_machine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/x64_assembler.h"

namespace saltus {

#ifdef SALTUS_HAS_MACHINE_CODE

namespace {

using Asm = X64Assembler;
using Xmm = Asm::Xmm;
using Arithmetic = Asm::Arithmetic;
using Bits = Asm::Bits;
using Compare = Asm::Compare;

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kNobody = kNever;
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
constexpr std::size_t kLargestProgram = 1U << 26;  // offsets must fit into 32 bits

double look_up(const TapeLookup* lookup, double u) noexcept {
  return lookup->table->evaluate(u, lookup->order);
}
double call_user(const Function* function, const double* arguments) noexcept {
  return function->evaluate(arguments);
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);

Unary library_function(TapeOp op) {
  switch (op) {
    // clang-format off
    case TapeOp::kExp: return std::exp;
    case TapeOp::kLog: return std::log;
    case TapeOp::kLog10: return std::log10;
    case TapeOp::kSin: return std::sin;
    case TapeOp::kCos: return std::cos;
    case TapeOp::kTan: return std::tan;
    case TapeOp::kAsin: return std::asin;
    case TapeOp::kAcos: return std::acos;
    case TapeOp::kAtan: return std::atan;
    case TapeOp::kSinh: return std::sinh;
    case TapeOp::kCosh: return std::cosh;
    case TapeOp::kTanh: return std::tanh;
    case TapeOp::kFloor: return std::floor;
    case TapeOp::kCeil: return std::ceil;
    case TapeOp::kTrunc: return std::trunc;
    default: return nullptr;
      // clang-format on
  }
}

Binary binary_function(TapeOp op) {
  if (op == TapeOp::kPow) return std::pow;
  if (op == TapeOp::kAtan2) return std::atan2;
  return nullptr;
}

// Walks the instructions once. Results live in xmm2 ... xmm15 as long as they are needed again; the
// one needed last gives way and goes to its place in the register file. xmm0 and xmm1 are scratch.
class Generator {
 public:
  explicit Generator(const Tape::Program& program)
      : p_(program),
        leaves_(static_cast<std::uint32_t>(p_.constants.size() + p_.inputs.size())),
        in_xmm_(p_.instructions.size(), kNowhere),
        in_memory_(p_.instructions.size(), false) {
    owner_.fill(kNobody);
    list_uses();
    list_outputs();
    assign_groups();
  }

  std::span<const std::uint8_t> generate() {
    enter();
    for (now_ = 0; now_ < p_.instructions.size(); ++now_) {
      const Xmm result = compute(p_.instructions[now_]);
      for (std::uint32_t i = first_output_[now_]; i < first_output_[now_ + 1]; ++i)
        as_.store({Asm::kRbp, bytes(outputs_[i])}, result);
      release_dead();
    }
    for (std::uint32_t i = 0; i < p_.outputs.size(); ++i) {
      if (p_.outputs[i] >= leaves_) continue;
      as_.load(0, memory(p_.outputs[i]));
      as_.store({Asm::kRbp, bytes(i)}, 0);
    }
    leave();
    return as_.bytes();
  }

 private:
  static constexpr Xmm kNowhere = 255;
  static constexpr Xmm kFirst = 2;
  static constexpr std::array kSaved = {Asm::kRbx, Asm::kRbp, Asm::kR12,
                                        Asm::kR13, Asm::kR14, Asm::kR15};
  static constexpr std::array kGroupRegisters = {Asm::kR12, Asm::kR13, Asm::kR14, Asm::kR15};
  static constexpr std::int32_t kFrame = 24;  // `values`; keeps the stack on 16 bytes

  static std::int32_t bytes(std::size_t index) { return static_cast<std::int32_t>(8 * index); }

  void list_uses() {
    next_.assign(p_.instructions.size(), kNever);
    std::vector<std::uint32_t> upcoming(p_.instructions.size(), kNever);
    use_begin_.resize(p_.instructions.size() + 1);
    for (std::size_t k = 0; k < p_.instructions.size(); ++k) {
      use_begin_[k] = static_cast<std::uint32_t>(uses_.size());
      for_each_operand(p_, p_.instructions[k], [&](std::uint32_t v) {
        if (v >= leaves_) uses_.push_back({v - leaves_, kNever});
      });
    }
    use_begin_.back() = static_cast<std::uint32_t>(uses_.size());
    for (std::size_t k = p_.instructions.size(); k-- > 0;) {
      for (std::uint32_t u = use_begin_[k]; u < use_begin_[k + 1]; ++u)
        uses_[u].next = upcoming[uses_[u].value];
      for (std::uint32_t u = use_begin_[k]; u < use_begin_[k + 1]; ++u)
        upcoming[uses_[u].value] = static_cast<std::uint32_t>(k);
      next_[k] = upcoming[k];
    }
  }

  void list_outputs() {
    first_output_.assign(p_.instructions.size() + 1, 0);
    for (const std::uint32_t v : p_.outputs)
      if (v >= leaves_) ++first_output_[v - leaves_ + 1];
    for (std::size_t k = 1; k < first_output_.size(); ++k) first_output_[k] += first_output_[k - 1];
    outputs_.resize(first_output_.back());
    std::vector<std::uint32_t> at = first_output_;
    for (std::uint32_t i = 0; i < p_.outputs.size(); ++i)
      if (p_.outputs[i] >= leaves_) outputs_[at[p_.outputs[i] - leaves_]++] = i;
  }

  // The groups with most inputs have their address in a register.
  void assign_groups() {
    for (const TapeInput& input : p_.inputs) {
      if (input.group >= group_size_.size()) group_size_.resize(input.group + 1, 0);
      ++group_size_[input.group];
    }
    std::vector<std::uint32_t> order(group_size_.size());
    for (std::uint32_t g = 0; g < order.size(); ++g) order[g] = g;
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return group_size_[a] > group_size_[b]; });
    group_register_.assign(order.size(), Asm::kRax);
    for (std::size_t i = 0; i < std::min(order.size(), kGroupRegisters.size()); ++i)
      if (group_size_[order[i]] > 0) group_register_[order[i]] = kGroupRegisters[i];
  }

  void enter() {
    for (const Asm::Gpr r : kSaved) as_.push(r);
    as_.add(Asm::kRsp, -kFrame);
    as_.copy(Asm::kRbx, Asm::kRdi);
    as_.copy(Asm::kRbp, Asm::kRdx);
    as_.store(Asm::Memory{Asm::kRsp, 0}, Asm::kRsi);
    for (std::size_t g = 0; g < group_register_.size(); ++g)
      if (group_register_[g] != Asm::kRax)
        as_.load(group_register_[g], Asm::Memory{Asm::kRsi, bytes(g)});
  }
  void leave() {
    as_.add(Asm::kRsp, kFrame);
    for (std::size_t i = kSaved.size(); i-- > 0;) as_.pop(kSaved[i]);
    as_.leave();
  }

  // Where a value is in memory. May load rax.
  Asm::Memory memory(std::uint32_t value) {
    if (value < p_.constants.size() || value >= leaves_) return {Asm::kRbx, bytes(value)};
    const TapeInput& input = p_.inputs[value - p_.constants.size()];
    const Asm::Gpr base = group_register_[input.group];
    if (base == Asm::kRax) {
      as_.load(Asm::kRax, Asm::Memory{Asm::kRsp, 0});
      as_.load(Asm::kRax, Asm::Memory{Asm::kRax, bytes(input.group)});
    }
    return {base, bytes(input.index)};
  }

  Xmm where(std::uint32_t value) const {
    return value < leaves_ ? kNowhere : in_xmm_[value - leaves_];
  }
  void load(Xmm to, std::uint32_t value) {
    if (where(value) != kNowhere) {
      as_.copy(to, where(value));
    } else {
      as_.load(to, memory(value));
    }
  }
  void apply(Arithmetic op, Xmm to, std::uint32_t value) {
    if (where(value) != kNowhere) {
      as_.arithmetic(op, to, where(value));
    } else {
      as_.arithmetic(op, to, memory(value));
    }
  }

  void spill(Xmm x) {
    const std::uint32_t value = owner_[x];
    if (!in_memory_[value]) as_.store(memory(value + leaves_), x);
    in_memory_[value] = true;
    in_xmm_[value] = kNowhere;
    owner_[x] = kNobody;
  }

  // A register for the result of the present instruction.
  Xmm take() {
    Xmm best = kFirst;
    for (Xmm x = kFirst; x < 16; ++x) {
      if (owner_[x] == kNobody) {
        best = x;
        break;
      }
      if (next_[owner_[x]] > next_[owner_[best]]) best = x;
    }
    if (owner_[best] != kNobody) spill(best);
    owner_[best] = static_cast<std::uint32_t>(now_);
    in_xmm_[now_] = best;
    return best;
  }

  void release_dead() {
    for (std::uint32_t u = use_begin_[now_]; u < use_begin_[now_ + 1]; ++u) {
      const std::uint32_t value = uses_[u].value;
      next_[value] = uses_[u].next;
      if (next_[value] == kNever) forget(value);
    }
    if (next_[now_] == kNever) forget(static_cast<std::uint32_t>(now_));
  }
  void forget(std::uint32_t value) {
    if (in_xmm_[value] == kNowhere) return;
    owner_[in_xmm_[value]] = kNobody;
    in_xmm_[value] = kNowhere;
  }

  // Calls leave no xmm register as it was: what is needed after this instruction goes to memory.
  void save_for_call() {
    for (std::uint32_t u = use_begin_[now_]; u < use_begin_[now_ + 1]; ++u)
      if (uses_[u].next == kNever) forget(uses_[u].value);
    for (Xmm x = kFirst; x < 16; ++x)
      if (owner_[x] != kNobody) spill(x);
  }
  Xmm result_of_call() {
    const Xmm to = take();
    as_.copy(to, 0);
    return to;
  }

  Xmm compute(const TapeInstruction& in) {
    if (const Unary f = library_function(in.op)) {
      load(0, in.a);
      save_for_call();
      as_.call(reinterpret_cast<const void*>(f));
      return result_of_call();
    }
    if (const Binary f = binary_function(in.op)) {
      load(0, in.a);
      load(1, in.b);
      save_for_call();
      as_.call(reinterpret_cast<const void*>(f));
      return result_of_call();
    }
    if (in.op == TapeOp::kTable) {
      load(0, in.a);
      save_for_call();
      as_.load_immediate(Asm::kRdi, reinterpret_cast<std::uintptr_t>(&p_.lookups[in.extra]));
      as_.call(reinterpret_cast<const void*>(&look_up));
      return result_of_call();
    }
    if (in.op == TapeOp::kCall) return call_function(in);
    return plain(in);
  }

  Xmm call_function(const TapeInstruction& in) {
    const Function& function = *p_.functions[in.extra];
    const std::size_t first = p_.register_count - function.arity;
    for (std::size_t i = 0; i < function.arity; ++i) {
      load(0, p_.call_arguments[in.a + i]);
      as_.store({Asm::kRbx, bytes(first + i)}, 0);
    }
    save_for_call();
    as_.load_immediate(Asm::kRdi, reinterpret_cast<std::uintptr_t>(&function));
    as_.copy(Asm::kRsi, Asm::kRbx);
    as_.add(Asm::kRsi, bytes(first));
    as_.call(reinterpret_cast<const void*>(&call_user));
    return result_of_call();
  }

  bool ends_here(std::uint32_t value) const {
    if (where(value) == kNowhere) return false;
    for (std::uint32_t u = use_begin_[now_]; u < use_begin_[now_ + 1]; ++u)
      if (uses_[u].value == value - leaves_) return uses_[u].next == kNever;
    return false;
  }

  Xmm binary(Arithmetic op, std::uint32_t a, std::uint32_t b) {
    const bool commutes = op == Arithmetic::kAdd || op == Arithmetic::kMultiply;
    if (commutes && !ends_here(a) && ends_here(b)) std::swap(a, b);
    if (!ends_here(a)) {
      const Xmm to = take();
      load(to, a);
      apply(op, to, b);
      return to;
    }
    // The result takes the place of an operand that nobody needs any more.
    const Xmm to = where(a);
    apply(op, to, b);
    in_xmm_[a - leaves_] = kNowhere;
    owner_[to] = static_cast<std::uint32_t>(now_);
    in_xmm_[now_] = to;
    return to;
  }

  // 1 where the mask in `x` is set, else 0.
  void to_number(Xmm x, Xmm scratch) {
    as_.constant(scratch, std::bit_cast<std::uint64_t>(1.0));
    as_.bits(Bits::kAnd, x, scratch);
  }
  void clear(Xmm x) { as_.bits(Bits::kXor, x, x); }

  Xmm relation(Compare compare, std::uint32_t a, std::uint32_t b) {
    const Xmm to = take();
    load(to, a);
    load(0, b);
    as_.compare(compare, to, 0);
    to_number(to, 0);
    return to;
  }

  Xmm plain(const TapeInstruction& in) {
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

  Xmm logic(const TapeInstruction& in) {
    const Xmm to = take();
    load(to, in.a);
    switch (in.op) {
      case TapeOp::kSqrt:
        as_.arithmetic(Arithmetic::kSqrt, to, to);
        break;
      case TapeOp::kNegate:
        as_.constant(0, kSignBit);
        as_.bits(Bits::kXor, to, 0);
        break;
      case TapeOp::kAbs:
        as_.constant(0, ~kSignBit);
        as_.bits(Bits::kAnd, to, 0);
        break;
      case TapeOp::kSign:  // (0 < a) - (a < 0)
        clear(0);
        as_.copy(1, to);
        as_.compare(Compare::kLess, 1, 0);
        as_.compare(Compare::kLess, 0, to);
        as_.copy(to, 0);
        to_number(to, 0);
        as_.bits(Bits::kAnd, 1, 0);
        as_.arithmetic(Arithmetic::kSubtract, to, 1);
        break;
      case TapeOp::kNot:
        clear(0);
        as_.compare(Compare::kEqual, to, 0);
        to_number(to, 0);
        break;
      case TapeOp::kAnd:
      case TapeOp::kOr:
        clear(0);
        as_.compare(Compare::kNotEqual, to, 0);
        load(1, in.b);
        as_.compare(Compare::kNotEqual, 1, 0);
        as_.bits(in.op == TapeOp::kAnd ? Bits::kAnd : Bits::kOr, to, 1);
        to_number(to, 0);
        break;
      default:  // kSelect
        clear(0);
        as_.compare(Compare::kNotEqual, to, 0);
        load(0, in.b);
        as_.bits(Bits::kAnd, 0, to);
        load(1, in.c);
        as_.bits(Bits::kAndNot, to, 1);
        as_.bits(Bits::kOr, to, 0);
        break;
    }
    return to;
  }

  struct Use {
    std::uint32_t value;
    std::uint32_t next;  // instruction that uses it after this one
  };

  const Tape::Program& p_;
  std::uint32_t leaves_;
  Asm as_;
  std::size_t now_ = 0;
  std::vector<Use> uses_;                 // results used, by instruction
  std::vector<std::uint32_t> use_begin_;  // by instruction
  std::vector<std::uint32_t> next_;       // by result: the next instruction that uses it
  std::vector<std::uint32_t> first_output_, outputs_;
  std::vector<std::uint32_t> group_size_;
  std::vector<Asm::Gpr> group_register_;  // kRax: none of its own
  std::array<std::uint32_t, 16> owner_{};
  std::vector<Xmm> in_xmm_;      // by result
  std::vector<bool> in_memory_;  // by result
};

}  // namespace

std::shared_ptr<const MachineCode> compile(const Tape::Program& program) {
  if (program.register_count > kLargestProgram || program.outputs.size() > kLargestProgram)
    return nullptr;
  for (const TapeInput& input : program.inputs)
    if (input.index > kLargestProgram) return nullptr;
  Generator generator(program);
  return MachineCode::load(generator.generate());
}

#else

std::shared_ptr<const MachineCode> compile(const Tape::Program&) { return nullptr; }

#endif

}  // namespace saltus
