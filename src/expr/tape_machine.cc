#include "expr/tape_machine.h"

#include "base/x64_assembler.h"
#include "expr/tape_generator.h"

namespace saltus {

#ifdef SALTUS_HAS_MACHINE_CODE

namespace {

// The instructions for single numbers, which overwrite their first operand, as ones of three
// operands. `to` may be `a` but not `b`.
class ScalarAssembler : public X64Assembler {
 public:
  template <class Operand>
  void arithmetic(Arithmetic op, Xmm to, Xmm a, Operand b) {
    begin(to, a);
    X64Assembler::arithmetic(op, to, b);
  }
  void square_root(Xmm to, Xmm from) { X64Assembler::arithmetic(Arithmetic::kSqrt, to, from); }
  void bits(Bits op, Xmm to, Xmm a, Xmm b) {
    begin(to, a);
    X64Assembler::bits(op, to, b);
  }
  void compare(Compare relation, Xmm to, Xmm a, Xmm b) {
    begin(to, a);
    X64Assembler::compare(relation, to, b);
  }
  void clear(Xmm to) { X64Assembler::bits(Bits::kXor, to, to); }

 private:
  void begin(Xmm to, Xmm a) {
    if (to != a) copy(to, a);
  }
};

class Generator : public TapeGenerator<Generator, ScalarAssembler> {
 public:
  static constexpr std::size_t kBytes = sizeof(double);
  using TapeGenerator::TapeGenerator;

  static std::size_t input_bytes(std::size_t) { return kBytes; }
  static bool is_operand(std::uint32_t) { return true; }
  void read(Register to, std::uint32_t value) { as_.load(to, memory(value)); }
  void set(Register to, std::uint64_t bits) { as_.constant(to, bits); }
  void finish() {}

  Register call(const TapeInstruction& in, const TapeCall& call) {
    if (in.op == TapeOp::kCall) {
      const Function& function = *p_.functions[in.extra];
      for (std::size_t i = 0; i < function.arity; ++i) {
        load(0, p_.call_arguments[in.a + i]);
        as_.store(argument(function, i), Register{0});
      }
    } else {
      load(0, in.a);
      if (in.arity > 1) load(1, in.b);
    }
    registers_.save_for_call(storing());
    write_call(in, call);
    const Register to = take();
    as_.copy(to, Register{0});
    return to;
  }
};

}  // namespace

std::shared_ptr<const MachineCode> compile(const Tape::Program& program) {
  if (!has_short_offsets(program, Generator::kBytes)) return nullptr;
  return MachineCode::load(Generator(program).generate());
}

#else

std::shared_ptr<const MachineCode> compile(const Tape::Program&) { return nullptr; }

#endif

}  // namespace saltus
