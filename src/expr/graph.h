#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "expr/expr.h"

namespace saltus {

struct Table;     // expr/table.h
struct Function;  // expr/function.h

// clang-format off
enum class Op : std::uint8_t {
  // Leaves.
  kConstant, kTime, kVariable, kParameter, kSlot,
  // One argument.
  kNegate, kSqrt, kExp, kLog, kLog10, kSin, kCos, kTan, kAsin, kAcos, kAtan, kSinh, kCosh, kTanh,
  kAbs, kSign, kFloor, kCeil, kTrunc, kNot,
  // Two arguments.
  kAdd, kSubtract, kMultiply, kDivide, kPow, kAtan2, kMin, kMax,
  kLess, kLessEqual, kEqual, kAnd, kOr,
  // select(condition, a, b).
  kSelect,
  // Table lookup (one argument, derivative order) and user function call (any number).
  kTable, kCall,
};
// clang-format on

// The children of a node: up to three in place, more in an array that the graph owns. Read like a
// constant vector.
class Children {
 public:
  Children() = default;
  Children(std::initializer_list<const Node*> few);  // at most three
  explicit Children(
      std::span<const Node* const> children);  // refers to the span if more than three

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Node* const* begin() const { return size_ > kInPlace ? array_ : few_.data(); }
  const Node* const* end() const { return begin() + size_; }
  const Node* operator[](std::size_t i) const { return begin()[i]; }
  bool is_in_place() const { return size_ <= kInPlace; }

 private:
  static constexpr std::size_t kInPlace = 3;

  std::uint32_t size_ = 0;
  std::array<const Node*, kInPlace> few_{};
  const Node* const* array_ = nullptr;
};

// One immutable node. Children were created before it, so id order is a topological order.
struct Node {
  Graph* graph = nullptr;
  std::uint32_t id = 0;
  std::uint32_t index = 0;  // variable, parameter or slot id
  double value = 0.0;       // constant
  Op op = Op::kConstant;
  int order = 0;                       // derivative order of a variable or of a table lookup
  const Table* table = nullptr;        // kept alive by the graph
  const Function* function = nullptr;  // kept alive by the graph
  Children children;

  VariableId variable() const { return VariableId(index); }
  ParameterId parameter() const { return ParameterId(index); }
  SlotId slot() const { return SlotId(index); }
};

constexpr bool is_leaf(Op op) { return op <= Op::kSlot; }
// The order of the two arguments does not matter: intern finds either.
constexpr bool is_commutative(Op op) {
  return op == Op::kAdd || op == Op::kMultiply || op == Op::kMin || op == Op::kMax ||
         op == Op::kEqual || op == Op::kAnd || op == Op::kOr;
}
constexpr bool is_boolean(Op op) { return op == Op::kNot || (op >= Op::kLess && op <= Op::kOr); }

// Owns the nodes and the names of the leaves. Nodes live as long as the graph; addresses are
// stable. Not thread-safe while expressions are being built.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Expr constant(double value);
  Expr time();
  // A new variable, parameter or discrete slot (a value frozen between events). Names need not be
  // unique here; the model checks that.
  Expr new_variable(std::string name);
  Expr new_parameter(std::string name);
  Expr new_slot(std::string name);
  // The order-th time derivative of a variable; order 0 is the variable itself.
  Expr variable(VariableId id, int order = 0);
  // A variable for the slope of a symbol where its derivative is an unknown too: one a symbol, made
  // when first asked for.
  Expr slope_of(const Expr& symbol);
  Expr parameter(ParameterId id);
  Expr slot(SlotId id);

  const std::string& name(VariableId id) const;
  const std::string& name(ParameterId id) const;
  const std::string& name(SlotId id) const;
  std::size_t node_count() const;
  // The first variable of this name that new_variable() has made, from a place on.
  std::optional<VariableId> find_variable(const std::string& name, std::size_t first) const;
  std::size_t variable_count() const;
  std::size_t slot_count() const;

  // The node with these fields, found or made, without simplification. The operators in expr.h
  // simplify first and then come here.
  const Node* intern(Node candidate);

  // Tables and functions that nodes refer to live as long as the graph, and as whoever shares them.
  void keep(const std::shared_ptr<const Table>& table);
  void keep(const std::shared_ptr<const Function>& function);
  std::shared_ptr<const Table> shared(const Table* table) const;
  std::shared_ptr<const Function> shared(const Function* function) const;

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace saltus
