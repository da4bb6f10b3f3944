#include "analysis/constraint_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/differentiate.h"
#include "expr/traverse.h"

namespace saltus {

LevelResiduals::LevelResiduals() {
  for (Levels* levels : {&at_steps, &at_switches, &absolute_at_steps, &absolute_at_switches})
    levels->fill(std::numeric_limits<double>::quiet_NaN());
}

LevelResiduals& LevelResiduals::operator|=(const LevelResiduals& other) {
  for (Levels LevelResiduals::*levels :
       {&LevelResiduals::at_steps, &LevelResiduals::at_switches, &LevelResiduals::absolute_at_steps,
        &LevelResiduals::absolute_at_switches})
    for (std::size_t k = 0; k < 3; ++k)
      (this->*levels)[k] = std::fmax((this->*levels)[k], (other.*levels)[k]);
  return *this;
}

Expr magnitude_of_terms(const Expr& a, const std::function<double(VariableId)>& nominal) {
  if (a.node() == nullptr) return std::abs(a.number());
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(a.node(), position, order);
  std::vector<Expr> sizes;
  for (const Node* node : order) {
    const auto size = [&](std::size_t k) { return sizes[position.find(node->children[k])]; };
    switch (node->op) {
      case Op::kAdd:
      case Op::kSubtract:
        sizes.push_back(size(0) + size(1));
        break;
      case Op::kNegate:
        sizes.push_back(size(0));
        break;
      case Op::kMultiply:
        sizes.push_back(size(0) * size(1));
        break;
      case Op::kDivide:
        sizes.push_back(size(0) / abs(Expr(node->children[1])));
        break;
      default:
        sizes.push_back(abs(Expr(node)));
        // Where everything is at rest there is nothing else to compare with.
        if (nominal && Expr(node).is_variable() && node->order == 0)
          sizes.back() = max(sizes.back(), nominal(node->variable()));
    }
  }
  return sizes.back();
}

ConstraintMonitor::ConstraintMonitor(const HybridSystem& system,
                                     const MechanicalStructure& structure) {
  std::vector<Expr> outputs;
  for (const Constraint& c : structure.constraints) {
    const auto first = static_cast<int>(3 - c.residuals.size());
    for (std::size_t k = 0; k < c.residuals.size(); ++k) {
      levels_.push_back(first + static_cast<int>(k));
      outputs.push_back(
          substitute(c.residuals[k], structure.acceleration_symbols, structure.accelerations));
    }
  }
  for (std::size_t k = 0; k < levels_.size(); ++k)
    outputs.push_back(
        magnitude_of_terms(outputs[k], [&](VariableId id) { return system.variable(id).nominal; }));
  for (const Parameter& p : system.parameters()) parameters_.push_back(p.value);
  tape_ = Tape(outputs, state_inputs(system));
  registers_ = tape_.make_workspace();
  outputs_.resize(outputs.size());
  for (auto* v : {&at_steps_, &at_switches_, &sizes_}) v->assign(levels_.size(), 0.0);
}

void ConstraintMonitor::measure(double t, const SystemState& state, bool at_switch) {
  const double* inputs[] = {&t, state.values.data(), state.slopes.data(), parameters_.data(),
                            state.slots.data()};
  tape_.evaluate(inputs, registers_, outputs_.data());
  std::vector<double>& largest = at_switch ? at_switches_ : at_steps_;
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    largest[k] = std::max(largest[k], std::abs(outputs_[k]));
    sizes_[k] = std::max(sizes_[k], outputs_[levels_.size() + k]);
  }
}

LevelResiduals ConstraintMonitor::residuals() const {
  LevelResiduals result;
  const auto relative = [](double value, double size) { return size > 0.0 ? value / size : value; };
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    const auto level = static_cast<std::size_t>(levels_[k]);
    result.at_steps[level] = std::fmax(result.at_steps[level], relative(at_steps_[k], sizes_[k]));
    result.at_switches[level] =
        std::fmax(result.at_switches[level], relative(at_switches_[k], sizes_[k]));
    result.absolute_at_steps[level] = std::fmax(result.absolute_at_steps[level], at_steps_[k]);
    result.absolute_at_switches[level] =
        std::fmax(result.absolute_at_switches[level], at_switches_[k]);
  }
  return result;
}

}  // namespace saltus
