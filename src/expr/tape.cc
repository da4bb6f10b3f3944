#include "expr/tape.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/kept_work.h"
#include "expr/tape_machine.h"
#include "expr/tape_program.h"
#include "expr/traverse.h"
#include "expr/work_key.h"

namespace saltus {

namespace {

// Integer powers up to this size become products; beyond, rounding errors would add up.
constexpr int kMaxExpandedPower = 32;

constexpr TapeOp tape_op(Op op) {
  return static_cast<TapeOp>(static_cast<int>(op) - static_cast<int>(Op::kNegate));
}
static_assert(tape_op(Op::kCall) == TapeOp::kCall && tape_op(Op::kSelect) == TapeOp::kSelect);

class Compiler {
 public:
  explicit Compiler(Tape::Program& program) : program_(program) {}

  void compile(std::span<const Expr> outputs, const std::vector<std::vector<Expr>>& inputs) {
    std::vector<const Node*> order;
    for (const Expr& e : outputs) {
      if (e.node() != nullptr) append_postorder(e.node(), position_, order);
    }
    number_leaves(outputs, inputs, order);
    for (const Node* n : order)
      if (!is_leaf(n->op)) lower(n);
    for (const Expr& e : outputs) program_.outputs.push_back(value_of(e));
    std::size_t most_arguments = 0;
    for (const auto& f : program_.functions) most_arguments = std::max(most_arguments, f->arity);
    program_.register_count = program_.constants.size() + program_.inputs.size() +
                              program_.instructions.size() + most_arguments;
  }

 private:
  std::uint32_t constant(double value) {
    const auto [it, is_new] = constants_.try_emplace(
        std::bit_cast<std::uint64_t>(value), static_cast<std::uint32_t>(program_.constants.size()));
    if (is_new) program_.constants.push_back(value);
    return it->second;
  }

  void number_leaves(std::span<const Expr> outputs, const std::vector<std::vector<Expr>>& inputs,
                     const std::vector<const Node*>& order) {
    NodeMap used;
    for (const Node* n : order) {
      if (n->op == Op::kConstant) value_.set(n, constant(n->value));
      if (is_leaf(n->op)) used.set(n, 0);
      if (n->op == Op::kPow && n->children[1]->op == Op::kConstant && n->children[1]->value < 0.0) {
        constant(1.0);
      }
    }
    for (const Expr& e : outputs) {
      if (e.node() == nullptr) constant(e.number());
    }
    const std::size_t first = program_.constants.size();
    for (std::size_t g = 0; g < inputs.size(); ++g) {
      for (std::size_t i = 0; i < inputs[g].size(); ++i) {
        const Node* leaf = inputs[g][i].node();
        if (leaf == nullptr || used.find(leaf) == NodeMap::kNone) continue;
        if (value_.find(leaf) != NodeMap::kNone) continue;
        value_.set(leaf, static_cast<std::uint32_t>(first + program_.inputs.size()));
        program_.inputs.push_back({static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(i)});
      }
    }
    for (const Node* n : order) {
      if (is_leaf(n->op) && value_.find(n) == NodeMap::kNone) {
        throw Error("no input is given for " + to_string(Expr(n)) +
                    ", which the compiled expressions depend on");
      }
    }
  }

  std::uint32_t value_of(const Expr& e) {
    return e.node() == nullptr ? constant(e.number()) : value_.find(e.node());
  }

  std::uint32_t emit(TapeInstruction instruction) {
    program_.instructions.push_back(instruction);
    return static_cast<std::uint32_t>(program_.constants.size() + program_.inputs.size() +
                                      program_.instructions.size() - 1);
  }

  std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
    return emit({.op = TapeOp::kMultiply, .arity = 2, .a = a, .b = b});
  }

  // x^n for n >= 1 by squaring.
  std::uint32_t power(std::uint32_t x, int n) {
    if (n == 1) return x;
    const std::uint32_t half = power(x, n / 2);
    const std::uint32_t square = multiply(half, half);
    return n % 2 == 0 ? square : multiply(square, x);
  }

  static bool is_expanded_power(const Node* n) {
    if (n->op != Op::kPow || n->children[1]->op != Op::kConstant) return false;
    const double exponent = n->children[1]->value;
    return std::abs(exponent) <= kMaxExpandedPower && exponent == std::nearbyint(exponent) &&
           exponent != 0.0;
  }

  void lower(const Node* n) {
    const auto child = [&](std::size_t i) { return value_.find(n->children[i]); };
    if (is_expanded_power(n)) {
      const int exponent = static_cast<int>(n->children[1]->value);
      const std::uint32_t result = power(child(0), std::abs(exponent));
      value_.set(n,
                 exponent > 0
                     ? result
                     : emit({.op = TapeOp::kDivide, .arity = 2, .a = constant(1.0), .b = result}));
      return;
    }
    TapeInstruction instruction;
    instruction.op = tape_op(n->op);
    instruction.arity = static_cast<std::uint8_t>(std::min<std::size_t>(n->children.size(), 3));
    if (n->op == Op::kCall) {
      lower_call(n, instruction);
    } else {
      instruction.a = child(0);
      if (n->children.size() > 1) instruction.b = child(1);
      if (n->children.size() > 2) instruction.c = child(2);
    }
    if (n->op == Op::kTable) {
      instruction.extra = static_cast<std::uint32_t>(program_.lookups.size());
      program_.lookups.push_back({n->graph->shared(n->table), n->order});
    }
    value_.set(n, emit(instruction));
  }

  void lower_call(const Node* n, TapeInstruction& instruction) {
    instruction.arity = 0;
    instruction.a = static_cast<std::uint32_t>(program_.call_arguments.size());
    instruction.extra = static_cast<std::uint32_t>(program_.functions.size());
    for (const Node* argument : n->children) {
      program_.call_arguments.push_back(value_.find(argument));
    }
    program_.functions.push_back(n->graph->shared(n->function));
  }

  Tape::Program& program_;
  NodeMap value_;
  std::unordered_map<std::uint64_t, std::uint32_t> constants_;
  NodeMap position_;  // of the nodes in use, children first
};

}  // namespace

Tape::Tape() : Tape({}, {}, TapeCode::kInterpreted) {}

Tape::Tape(std::span<const Expr> outputs, const std::vector<std::vector<Expr>>& inputs,
           TapeCode code) {
  KeptWork* kept = KeptWork::of(graph_of(outputs));
  WorkKey key;
  if (kept != nullptr) {
    key.add(static_cast<std::size_t>(code)).add(outputs).add(inputs.size());
    for (const std::vector<Expr>& group : inputs) key.add(group);
    program_ = kept->table<KeptAnswers<Program>>().find(key);
    if (program_ != nullptr) return;
  }
  auto program = std::make_shared<Program>();
  Compiler(*program).compile(outputs, inputs);
  if (code == TapeCode::kMachine) program->machine_code = compile(*program);
  program_ = std::move(program);
  if (kept != nullptr) kept->table<KeptAnswers<Program>>().keep(std::move(key), program_);
}

std::size_t Tape::output_count() const { return program_->outputs.size(); }
std::size_t Tape::instruction_count() const { return program_->instructions.size(); }

Tape::Workspace Tape::make_workspace() const {
  Workspace workspace(program_->register_count);
  std::copy(program_->constants.begin(), program_->constants.end(), workspace.begin());
  return workspace;
}

}  // namespace saltus
