#include <algorithm>
#include <array>

#include "expr/tape_program.h"

// Reorders instructions so that equal ones follow one another: the interpreter then decides once
// per run what to do, not once per instruction. Reordering stays within blocks that fit the first
// cache level.

namespace saltus {

namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kMinRun = 2;  // the fewest instructions for which a loop pays

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
        register_(leaves_ + p.instructions.size()),
        output_(p.instructions.size(), kNone),
        next_register_(static_cast<std::uint32_t>(leaves_)) {
    for (std::size_t v = 0; v < leaves_; ++v) register_[v] = static_cast<std::uint32_t>(v);
  }

  void run() {
    copy_inputs();
    const std::vector<std::uint32_t> gathered = assign_outputs();
    for (std::size_t begin = 0; begin < p_.instructions.size(); begin += kBlock) {
      schedule_block(begin, std::min(begin + kBlock, p_.instructions.size()));
    }
    if (!gathered.empty()) {
      p_.code.push_back(kTapeGather);
      p_.code.push_back(static_cast<std::uint32_t>(2 + 2 * gathered.size()));
    }
    for (const std::uint32_t i : gathered) {
      p_.code.push_back(register_[p_.outputs[i]]);
      p_.code.push_back(i);
    }
    p_.code.push_back(kTapeEnd);
    std::size_t max_arity = 0;
    for (const auto& function : p_.functions) max_arity = std::max(max_arity, function->arity);
    p_.register_count = next_register_ + max_arity;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  struct Edge {
    std::uint32_t successor;
    std::uint32_t next;
  };

  void copy_inputs() {
    auto& copies = p_.copies;
    for (const TapeInput& input : p_.inputs) {
      if (copies.empty() || copies.back().group != input.group ||
          copies.back().first + copies.back().count != input.index) {
        copies.push_back({input.group, input.index, 0});
      }
      ++copies.back().count;
    }
  }

  // Lets instructions write outputs; returns the outputs that remain.
  std::vector<std::uint32_t> assign_outputs() {
    std::vector<std::uint32_t> gathered;
    for (std::uint32_t i = 0; i < p_.outputs.size(); ++i) {
      const std::size_t v = p_.outputs[i];
      const bool is_written = v >= leaves_ && output_[v - leaves_] == kNone &&
                              p_.instructions[v - leaves_].op != TapeOp::kTable &&
                              p_.instructions[v - leaves_].op != TapeOp::kCall;
      if (is_written) {
        output_[v - leaves_] = i;
      } else {
        gathered.push_back(i);
      }
    }
    return gathered;
  }

  std::size_t kind(std::size_t k) const {
    return 2 * static_cast<std::size_t>(p_.instructions[k].op) + (output_[k] == kNone ? 0 : 1);
  }

  void schedule_block(std::size_t begin, std::size_t end) {
    // Dependencies inside the block, as linked lists of successors in ascending order.
    std::vector<std::uint32_t> pending(end - begin);
    std::vector<std::uint32_t> first_edge(end - begin, kNone);
    std::vector<Edge> edges;
    for (std::size_t k = end; k-- > begin;) {
      for_each_operand(p_, p_.instructions[k], [&](std::uint32_t v) {
        if (v < leaves_ + begin) return;
        std::uint32_t& first = first_edge[v - leaves_ - begin];
        edges.push_back({static_cast<std::uint32_t>(k - begin), first});
        first = static_cast<std::uint32_t>(edges.size() - 1);
        ++pending[k - begin];
      });
    }
    std::array<std::vector<std::uint32_t>, 2 * static_cast<std::size_t>(TapeOp::kCount)> ready;
    const auto make_ready = [&](std::size_t local) {
      ready[kind(begin + local)].push_back(static_cast<std::uint32_t>(local));
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
        register_[leaves_ + begin + local] = next_register_++;
        for (std::uint32_t e = first_edge[local]; e != kNone; e = edges[e].next) {
          if (--pending[edges[e].successor] == 0) make_ready(edges[e].successor);
        }
      }
      emit(begin, queue);
      done += queue.size();
      queue.clear();
    }
  }

  void emit(std::size_t begin, const std::vector<std::uint32_t>& run) {
    const TapeOp op = p_.instructions[begin + run.front()].op;
    const auto word = static_cast<std::uint32_t>(2 * kind(begin + run.front()));
    const bool is_run = run.size() >= kMinRun && op != TapeOp::kTable && op != TapeOp::kCall;
    if (is_run) {
      p_.code.push_back(word + 1);
      p_.code.push_back(static_cast<std::uint32_t>(run.size()));
    }
    for (const std::uint32_t local : run) {
      const TapeInstruction& in = p_.instructions[begin + local];
      if (!is_run) p_.code.push_back(word);
      if (op == TapeOp::kCall) p_.code.push_back(in.extra);
      for_each_operand(p_, in, [&](std::uint32_t v) { p_.code.push_back(register_[v]); });
      if (op == TapeOp::kTable) p_.code.push_back(in.extra);
      if (output_[begin + local] != kNone) p_.code.push_back(output_[begin + local]);
    }
  }

  Tape::Program& p_;
  std::size_t leaves_;
  std::vector<std::uint32_t> register_;  // of each value
  std::vector<std::uint32_t> output_;    // that each instruction writes
  std::uint32_t next_register_;
};

}  // namespace

void schedule(Tape::Program& program) { Scheduler(program).run(); }

}  // namespace saltus
