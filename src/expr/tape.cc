#include "expr/tape.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "expr/tape_machine.h"
#include "expr/tape_program.h"
#include "expr/traverse.h"

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
    fuse(outputs, order);
    number_leaves(outputs, inputs, order);
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (!is_leaf(order[k]->op) && !is_fused_[k]) lower(order[k]);
    }
    for (const Expr& e : outputs) program_.outputs.push_back(value_of(e));
  }

 private:
  void fuse(std::span<const Expr> outputs, const std::vector<const Node*>& order) {
    std::vector<std::uint32_t> uses(order.size());
    for (const Node* n : order) {
      for (const Node* child : n->children) ++uses[position_.find(child)];
    }
    for (const Expr& e : outputs) {
      if (e.node() != nullptr) uses[position_.find(e.node())] += 2;  // an output needs its register
    }
    is_fused_.assign(order.size(), false);
    fusions_.resize(order.size());
    const auto used_once = [&](const Node* child) { return uses[position_.find(child)] == 1; };
    const auto available = [&](const Node* child) {
      return used_once(child) && fusion_at(child).op == TapeOp::kCount;
    };
    for (const Node* n : order) {
      Fusion& fusion = fusions_[position_.find(n)];
      fusion = nested_fusion_of(n, used_once);
      if (fusion.op == TapeOp::kCount) fusion = fusion_of(n, available);
      if (fusion.op == TapeOp::kCount) continue;
      is_fused_[position_.find(n->children[fusion.inner])] = true;
      if (fusion.both) is_fused_[position_.find(n->children[1 - fusion.inner])] = true;
    }
  }

  // An operation computed together with its inner-th child, or with both.
  struct Fusion {
    TapeOp op = TapeOp::kCount;  // kCount: computed alone
    std::size_t inner = 0;
    bool both = false;
    bool nested = false;  // the child is itself fused with one of its children
  };

  const Fusion& fusion_at(const Node* n) const { return fusions_[position_.find(n)]; }

  // Two commonest terms as a whole: a conductance times a difference, and a product of three, each
  // added to something.
  template <class UsedOnce>
  Fusion nested_fusion_of(const Node* n, UsedOnce&& used_once) const {
    if (n->op != Op::kAdd && n->op != Op::kSubtract) return {};
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const TapeOp inner = fusion_at(n->children[i]).op;
      if (inner == TapeOp::kCount || !used_once(n->children[i])) continue;
      if (inner == TapeOp::kDifferenceMultiply && n->op == Op::kAdd) {
        return {TapeOp::kDifferenceMultiplyAdd, i, false, true};
      }
      if (inner == TapeOp::kMultiply3) {
        return {n->op == Op::kAdd ? TapeOp::kMultiply3Add
                : i == 0          ? TapeOp::kMultiply3Subtract
                                  : TapeOp::kSubtractMultiply3,
                i, false, true};
      }
    }
    return {};
  }

  template <class Available>
  static Fusion fusion_of(const Node* n, Available&& available) {
    if (n->op < Op::kAdd || n->op > Op::kDivide || n->children[0] == n->children[1]) return {};
    const auto inner_op = [&](std::size_t i) {
      const Node* child = n->children[i];
      return child->op >= Op::kAdd && child->op <= Op::kMultiply && available(child)
                 ? child->op
                 : Op::kConstant;
    };
    const Op left = inner_op(0);
    const Op right = inner_op(1);
    if (left == Op::kMultiply && right == Op::kMultiply) {
      if (n->op == Op::kAdd) return {TapeOp::kProductSum, 0, true, false};
      if (n->op == Op::kSubtract) return {TapeOp::kProductDifference, 0, true, false};
    }
    if (n->op == Op::kSubtract && left == Op::kMultiply && right == Op::kSubtract) {
      return {TapeOp::kProductMinusDifference, 0, true, false};
    }
    if (left == Op::kConstant && right == Op::kConstant) return {};
    // Products first: they are worth most, and sums find other partners.
    const bool use_left =
        left == Op::kMultiply || (right != Op::kMultiply && left != Op::kConstant);
    if (use_left) return {fused_op(n->op, left, 0), 0, false, false};
    return {fused_op(n->op, right, 1), 1, false, false};
  }

  static TapeOp fused_op(Op outer, Op inner, std::size_t i) {
    const auto pick = [&](TapeOp add, TapeOp subtract, TapeOp multiply) {
      return inner == Op::kAdd ? add : inner == Op::kSubtract ? subtract : multiply;
    };
    switch (outer) {
      case Op::kAdd:
        return pick(TapeOp::kAdd3, TapeOp::kDifferenceAdd, TapeOp::kMultiplyAdd);
      case Op::kSubtract:
        if (i == 0)
          return pick(TapeOp::kAddSubtract, TapeOp::kSubtract3, TapeOp::kMultiplySubtract);
        return pick(TapeOp::kSubtractSum, TapeOp::kSubtractDifference, TapeOp::kSubtractProduct);
      case Op::kMultiply:
        return pick(TapeOp::kAddMultiply, TapeOp::kDifferenceMultiply, TapeOp::kMultiply3);
      default:
        if (i == 1) return TapeOp::kCount;
        return pick(TapeOp::kAddDivide, TapeOp::kDifferenceDivide, TapeOp::kMultiplyDivide);
    }
  }

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
    if (n == 3) return emit({.op = TapeOp::kCube, .arity = 1, .a = x});
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
    const Fusion& fusion = fusion_at(n);
    if (fusion.op != TapeOp::kCount) return lower_fused(n, fusion);
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

  void lower_fused(const Node* n, const Fusion& fusion) {
    const Node* inner = n->children[fusion.inner];
    const Node* other = n->children[1 - fusion.inner];
    TapeInstruction instruction;
    instruction.op = fusion.op;
    if (fusion.nested) {
      const std::size_t i = fusion_at(inner).inner;
      instruction.arity = 4;
      instruction.a = value_.find(inner->children[i]->children[0]);
      instruction.b = value_.find(inner->children[i]->children[1]);
      instruction.c = value_.find(inner->children[1 - i]);
      instruction.d = value_.find(other);
      value_.set(n, emit(instruction));
      return;
    }
    instruction.arity = fusion.both ? 4 : 3;
    instruction.a = value_.find(inner->children[0]);
    instruction.b = value_.find(inner->children[1]);
    instruction.c = value_.find(fusion.both ? other->children[0] : other);
    if (fusion.both) instruction.d = value_.find(other->children[1]);
    value_.set(n, emit(instruction));
  }

  Tape::Program& program_;
  NodeMap value_;
  std::unordered_map<std::uint64_t, std::uint32_t> constants_;
  NodeMap position_;             // of the nodes in use, children first
  std::vector<Fusion> fusions_;  // by position
  std::vector<bool> is_fused_;   // by position: computed by the node that uses it
};

}  // namespace

Tape::Tape() : Tape({}, {}) {}

Tape::Tape(std::span<const Expr> outputs, const std::vector<std::vector<Expr>>& inputs,
           TapeCode code) {
  auto program = std::make_shared<Program>();
  Compiler(*program).compile(outputs, inputs);
  schedule(*program);
  if (code == TapeCode::kMachine) program->machine_code = MachineCode::compile(*program);
  program_ = std::move(program);
}

std::size_t Tape::output_count() const { return program_->outputs.size(); }
std::size_t Tape::instruction_count() const { return program_->instructions.size(); }

Tape::Workspace Tape::make_workspace() const {
  Workspace workspace(program_->register_count);
  std::copy(program_->constants.begin(), program_->constants.end(), workspace.begin());
  return workspace;
}

}  // namespace saltus
