#include <algorithm>
#include <array>

#include "expr/tape_program.h"

// Reorders instructions so that equal ones follow one another: the interpreter then decides once
// per run what to do, not once per instruction. Reordering stays within blocks that fit the first
// cache level.

namespace saltus {

namespace {

constexpr std::size_t kBlock = 1024;

template <class Visit>
void for_each_operand(const Tape::Program& p, const TapeInstruction& in, Visit&& visit) {
  if (in.op == TapeOp::kCall) {
    for (std::size_t i = 0; i < p.functions[in.extra]->arity; ++i)
      visit(p.call_arguments[in.a + i]);
    return;
  }
  visit(in.a);
  if (in.arity > 1) visit(in.b);
  if (in.arity > 2) visit(in.c);
  if (in.arity > 3) visit(in.d);
}

class Scheduler {
 public:
  explicit Scheduler(Tape::Program& p)
      : p_(p),
        leaves_(p.constants.size() + p.inputs.size()),
        register_(leaves_ + p.instructions.size()) {
    for (std::size_t v = 0; v < leaves_; ++v) register_[v] = static_cast<std::uint32_t>(v);
  }

  void run() {
    next_register_ = static_cast<std::uint32_t>(leaves_);
    for (std::size_t begin = 0; begin < p_.instructions.size(); begin += kBlock) {
      schedule_block(begin, std::min(begin + kBlock, p_.instructions.size()));
    }
    std::size_t max_arity = 0;
    for (const auto& function : p_.functions) max_arity = std::max(max_arity, function->arity);
    p_.register_count = next_register_ + max_arity;
    for (const std::uint32_t v : p_.outputs) p_.output_registers.push_back(register_[v]);
    for (const std::uint32_t v : p_.call_arguments) p_.argument_registers.push_back(register_[v]);
  }

 private:
  void schedule_block(std::size_t begin, std::size_t end) {
    // Dependencies inside the block, as lists of successors.
    std::vector<std::uint32_t> pending(end - begin);
    std::vector<std::vector<std::uint32_t>> successors(end - begin);
    for (std::size_t k = begin; k < end; ++k) {
      for_each_operand(p_, p_.instructions[k], [&](std::uint32_t v) {
        if (v < leaves_ + begin) return;
        successors[v - leaves_ - begin].push_back(static_cast<std::uint32_t>(k - begin));
        ++pending[k - begin];
      });
    }
    std::array<std::vector<std::uint32_t>, static_cast<std::size_t>(TapeOp::kCount)> ready;
    const auto make_ready = [&](std::size_t local) {
      ready[static_cast<std::size_t>(p_.instructions[begin + local].op)].push_back(
          static_cast<std::uint32_t>(local));
    };
    for (std::size_t local = 0; local < pending.size(); ++local) {
      if (pending[local] == 0) make_ready(local);
    }
    for (std::size_t done = 0; done < pending.size();) {
      auto& queue = *std::max_element(ready.begin(), ready.end(), [](const auto& a, const auto& b) {
        return a.size() < b.size();
      });
      // A run may use its own results: it is executed in order.
      for (std::size_t i = 0; i < queue.size(); ++i) {
        const std::uint32_t local = queue[i];
        emit(begin + local);
        ++done;
        for (const std::uint32_t successor : successors[local]) {
          if (--pending[successor] == 0) make_ready(successor);
        }
      }
      queue.clear();
    }
  }

  void emit(std::size_t k) {
    const TapeInstruction& in = p_.instructions[k];
    if (p_.runs.empty() || p_.runs.back().op != in.op) p_.runs.push_back({in.op, 0});
    ++p_.runs.back().count;
    if (in.op == TapeOp::kCall) {
      p_.operands.push_back(in.a);
    } else {
      for_each_operand(p_, in, [&](std::uint32_t v) { p_.operands.push_back(register_[v]); });
    }
    if (in.op == TapeOp::kTable || in.op == TapeOp::kCall) p_.operands.push_back(in.extra);
    register_[leaves_ + k] = next_register_++;
  }

  Tape::Program& p_;
  std::size_t leaves_;
  std::vector<std::uint32_t> register_;
  std::uint32_t next_register_ = 0;
};

}  // namespace

void schedule(Tape::Program& program) {
  for (const TapeInput& input : program.inputs) {
    auto& copies = program.copies;
    if (copies.empty() || copies.back().group != input.group ||
        copies.back().from + copies.back().count != input.index) {
      copies.push_back({input.group, input.index, 0});
    }
    ++copies.back().count;
  }
  Scheduler(program).run();
}

}  // namespace saltus
