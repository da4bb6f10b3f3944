#include "base/avx_assembler.h"
#include "expr/lane_tape.h"
#include "expr/tape_generator.h"
#include "expr/tape_machine.h"

namespace saltus {

#ifdef SALTUS_HAS_MACHINE_CODE

namespace {

class LaneGenerator : public TapeGenerator<LaneGenerator, AvxAssembler> {
 public:
  static constexpr std::size_t kBytes = kLanes * sizeof(double);
  LaneGenerator(const Tape::Program& program, const std::vector<bool>& uniform)
      : TapeGenerator(program), uniform_(uniform) {
    list_what_varies();
  }

  std::size_t input_bytes(std::size_t group) const {
    return uniform_[group] ? sizeof(double) : kBytes;
  }
  bool is_operand(std::uint32_t value) const { return !is_given_once(value); }
  void read(Register to, std::uint32_t value) {
    if (is_given_once(value)) {
      as_.broadcast(to, memory(value));
    } else {
      as_.load(to, memory(value));
    }
  }
  void set(Register to, std::uint64_t bits) {
    as_.broadcast_constant(to, std::bit_cast<double>(bits));
  }
  void finish() { as_.clear_upper(); }

  // Functions take one number: operands and result go through memory, lane by lane, or once if the
  // operands are the same in all lanes.
  Register call(const TapeInstruction& in, const TapeCall& call) {
    for_each_operand(p_, in, [this](std::uint32_t v) { registers_.move_to_memory(v, storing()); });
    registers_.save_for_call(storing());
    as_.clear_upper();
    const std::uint32_t result = registers_.result();
    for (std::size_t lane = 0; lane < (varies_[result] ? kLanes : 1); ++lane) {
      load_arguments(in, lane);
      write_call(in, call);
      as_.store_one(in_lane(result, lane), 0);
    }
    const Register to = take();
    if (varies_[result]) {
      as_.load(to, memory(result));
      registers_.note_in_memory();
    } else {
      as_.broadcast(to, memory(result));
    }
    return to;
  }

 private:
  void list_what_varies() {
    varies_.assign(p_.constants.size(), false);
    for (const TapeInput& input : p_.inputs) varies_.push_back(!uniform_[input.group]);
    for (const TapeInstruction& in : p_.instructions) {
      bool varies = false;
      for_each_operand(p_, in, [&](std::uint32_t v) { varies = varies || varies_[v]; });
      varies_.push_back(varies);
    }
  }
  void load_arguments(const TapeInstruction& in, std::size_t lane) {
    if (in.op == TapeOp::kCall) {
      const Function& function = *p_.functions[in.extra];
      for (std::size_t i = 0; i < function.arity; ++i) {
        as_.load_one(0, in_lane(p_.call_arguments[in.a + i], lane));
        as_.store_one(argument(function, i), 0);
      }
    } else {
      as_.load_one(0, in_lane(in.a, lane));
      if (in.arity > 1) as_.load_one(1, in_lane(in.b, lane));
    }
  }
  bool is_given_once(std::uint32_t value) const { return is_input(value) && !varies_[value]; }
  Memory in_lane(std::uint32_t value, std::size_t lane) {
    Memory at = memory(value);
    if (!is_given_once(value)) at.offset += static_cast<std::int32_t>(sizeof(double) * lane);
    return at;
  }

  const std::vector<bool>& uniform_;
  std::vector<bool> varies_;  // by value: differs from lane to lane
};

}  // namespace

std::shared_ptr<const MachineCode> compile_lanes(const Tape::Program& program,
                                                 const std::vector<bool>& uniform) {
  if (!AvxAssembler::is_available() || !has_short_offsets(program, LaneGenerator::kBytes))
    return nullptr;
  return MachineCode::load(LaneGenerator(program, uniform).generate());
}

#else

std::shared_ptr<const MachineCode> compile_lanes(const Tape::Program&, const std::vector<bool>&) {
  return nullptr;
}

#endif

}  // namespace saltus
