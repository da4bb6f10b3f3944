#pragma once

#include <vector>

#include "expr/graph.h"
#include "model/system.h"

namespace saltus {

// Values of all variables and slots of a system, whatever mode they belong to: what a transition
// reads and writes. Variables that are not unknowns of the active mode hold their last value.
struct SystemState {
  std::vector<double> values;   // by VariableId
  std::vector<double> slopes;   // time derivatives where known, 0 otherwise
  std::vector<double> slots{};  // by SlotId: relations, discrete values, pre()

  // Of a variable, its first derivative or a slot.
  double value_of(const Expr& symbol) const {
    const Node& node = *symbol.node();
    if (node.op == Op::kSlot) return slots[node.slot().index()];
    return node.order == 0 ? values[node.index] : slopes[node.index];
  }
};

// Every variable at its start value, with the parameters as they are set; slopes and slots zero.
// Throws Error naming the variable if a value is not finite.
SystemState start_state(const HybridSystem& system);

// The input groups of a tape that is evaluated at a SystemState: time, values, slopes, parameters,
// slots.
std::vector<std::vector<Expr>> state_inputs(const HybridSystem& system);

}  // namespace saltus
