#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "expr/expr.h"

namespace saltus {

struct Table;     // expr/table.h
struct Function;  // expr/function.h

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

// One immutable node. Children were created before it, so id order is a topological order.
struct Node {
  Graph* graph = nullptr;
  std::uint32_t id = 0;
  Op op = Op::kConstant;
  std::uint32_t index = 0;    // variable, parameter or slot id
  int order = 0;              // derivative order of a variable or of a table lookup
  double value = 0.0;         // constant
  std::shared_ptr<const Table> table;
  std::shared_ptr<const Function> function;
  std::vector<const Node*> children;

  VariableId variable() const { return VariableId(index); }
  ParameterId parameter() const { return ParameterId(index); }
  SlotId slot() const { return SlotId(index); }
};

// Owns the nodes and the names of the leaves. Nodes live as long as the graph; addresses are stable.
// Not thread-safe while expressions are being built.
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
  Expr parameter(ParameterId id);
  Expr slot(SlotId id);

  const std::string& name(VariableId id) const;
  const std::string& name(ParameterId id) const;
  const std::string& name(SlotId id) const;
  std::size_t node_count() const;

  // The node with these fields, found or made, without simplification. The operators in expr.h
  // simplify first and then come here.
  const Node* intern(Node candidate);

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace saltus
