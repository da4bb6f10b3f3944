#include "model/dae.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "expr/differentiate.h"
#include "expr/traverse.h"

namespace saltus {
namespace {

// Zero times what is not finite is not a number. Four sums do not wait for each other.
bool all_finite(const double* values, std::size_t count) {
  double sums[4] = {0.0, 0.0, 0.0, 0.0};
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (std::size_t i = 0; i < 4; ++i) sums[i] += 0.0 * values[k + i];
  for (; k < count; ++k) sums[0] += 0.0 * values[k];
  return sums[0] + sums[1] + sums[2] + sums[3] == 0.0;
}

}  // namespace

namespace {

// Whether the residuals may change with the unknowns where their derivatives are zero: floor(x) and
// what is written with it, x > 0 inside noEvent, tables of steps.
bool has_jumps(const std::vector<Expr>& residuals) {
  NodeMap position;
  std::vector<const Node*> order;
  for (const Expr& r : residuals)
    if (r.node() != nullptr) append_postorder(r.node(), position, order);
  std::vector<bool> varies(order.size(), false);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Node& n = *order[k];
    varies[k] = n.op == Op::kVariable;
    for (const Node* child : n.children) varies[k] = varies[k] || varies[position.find(child)];
    if (!varies[k]) continue;
    switch (n.op) {
      case Op::kSign:
      case Op::kFloor:
      case Op::kCeil:
      case Op::kTrunc:
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kEqual:
      case Op::kTable:
      case Op::kCall:
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

std::vector<std::vector<Expr>> DaeDefinition::inputs() const {
  return {{time}, unknowns, derivatives, parameters, held};
}

Dae::Dae(DaeDefinition definition) {
  auto compiled = std::make_shared<Compiled>();
  const std::vector<std::vector<Expr>> inputs = definition.inputs();
  compiled->residual = Tape(definition.residuals, inputs);

  const auto by_x = saltus::jacobian(definition.residuals, definition.unknowns);
  const auto by_dx = saltus::jacobian(definition.residuals, definition.derivatives);

  // Merge the two column-ordered lists into one pattern; a place missing in one of them is zero
  // there.
  std::vector<Expr> x_values;
  std::vector<Expr> dx_values;
  Pattern& pattern = compiled->pattern;
  pattern.rows = static_cast<int>(definition.residuals.size());
  pattern.columns = static_cast<int>(definition.unknowns.size());
  compiled->constant_jacobian = !has_jumps(definition.residuals);
  auto a = by_x.begin();
  auto b = by_dx.begin();
  for (std::size_t column = 0; column < definition.unknowns.size(); ++column) {
    for (;;) {
      const bool has_a = a != by_x.end() && a->column == column;
      const bool has_b = b != by_dx.end() && b->column == column;
      if (!has_a && !has_b) break;
      const bool take_a = has_a && (!has_b || a->row <= b->row);
      const bool take_b = has_b && (!has_a || b->row <= a->row);
      pattern.row.push_back(static_cast<int>(take_a ? a->row : b->row));
      x_values.push_back(take_a ? a->value : Expr(0.0));
      dx_values.push_back(take_b ? b->value : Expr(0.0));
      compiled->constant_jacobian = compiled->constant_jacobian &&
                                    is_constant_in_mode(x_values.back()) &&
                                    is_constant_in_mode(dx_values.back());
      compiled->in_derivative.push_back(take_b);
      if (take_a) ++a;
      if (take_b) ++b;
    }
    pattern.start.push_back(static_cast<int>(pattern.row.size()));
  }
  // A jump has the same slope on both sides.
  for (const Expr& residual : definition.residuals) {
    if (!compiled->constant_jacobian) break;
    std::vector<Expr> variables = leaves_of(residual);
    std::erase_if(variables, [](const Expr& e) { return !e.is_variable(); });
    const int degree = polynomial_degree(residual, variables);
    compiled->constant_jacobian = degree == 0 || degree == 1;
  }
  x_values.insert(x_values.end(), dx_values.begin(), dx_values.end());
  compiled->jacobian = Tape(x_values, inputs);
  std::vector<std::size_t> all(definition.residuals.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  compiled->definition = std::move(definition);
  compiled_ = std::move(compiled);
  select(std::move(all));
}

Dae Dae::with_equations(std::vector<std::size_t> equations) const {
  Dae selected;
  selected.compiled_ = compiled_;
  selected.select(std::move(equations));
  return selected;
}

void Dae::select(std::vector<std::size_t> equations) {
  const Pattern& full = compiled_->pattern;
  equations_ = std::move(equations);
  all_ = equations_.size() == static_cast<std::size_t>(full.rows);
  std::vector<int> row_of(full.rows, -1);
  for (std::size_t i = 0; i < equations_.size(); ++i) row_of[equations_[i]] = static_cast<int>(i);
  pattern_ = {static_cast<int>(equations_.size()), full.columns, {0}, {}};
  differential_.assign(full.columns, false);
  places_.clear();
  for (int j = 0; j < full.columns; ++j) {
    for (int k = full.start[j]; k < full.start[j + 1]; ++k) {
      if (row_of[full.row[k]] < 0) continue;
      pattern_.row.push_back(row_of[full.row[k]]);
      places_.push_back(static_cast<std::size_t>(k));
      if (compiled_->in_derivative[k]) differential_[j] = true;
    }
    pattern_.start.push_back(static_cast<int>(pattern_.row.size()));
  }
}

DaeData Dae::make_data() const {
  DaeData data;
  data.parameters.assign(definition().parameters.size(), 0.0);
  data.held.assign(definition().held.size(), 0.0);
  data.residual_registers = compiled_->residual.make_workspace();
  data.jacobian_registers = compiled_->jacobian.make_workspace();
  data.all_residuals.resize(definition().residuals.size());
  data.all_values.resize(2 * static_cast<std::size_t>(compiled_->pattern.nonzeros()));
  return data;
}

void Dae::residual(DaeData& data, double t, const double* x, const double* dx, double* out) const {
  const double* values[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  if (all_) {
    compiled_->residual.evaluate(values, data.residual_registers, out);
    return;
  }
  compiled_->residual.evaluate(values, data.residual_registers, data.all_residuals.data());
  for (std::size_t i = 0; i < equations_.size(); ++i) out[i] = data.all_residuals[equations_[i]];
}

void Dae::prepare_lanes(DaeData& data) const {
  const Compiled& compiled = *compiled_;
  std::call_once(compiled.lanes_compiled, [&compiled] {
    const std::vector<bool> uniform = {false, false, false, true, true};  // as listed by inputs()
    compiled.residual_lanes = std::make_unique<const LaneTape>(compiled.residual, uniform);
  });
  data.lane_registers = compiled.residual_lanes->make_workspace();
  data.all_lane_residuals.resize(kLanes * definition().residuals.size());
}

void Dae::residual_lanes(DaeData& data, const double* t, const double* x, const double* dx,
                         double* out) const {
  const double* values[] = {t, x, dx, data.parameters.data(), data.held.data()};
  const LaneTape& tape = *compiled_->residual_lanes;
  if (all_) {
    tape.evaluate(values, data.lane_registers, out);
    return;
  }
  tape.evaluate(values, data.lane_registers, data.all_lane_residuals.data());
  for (std::size_t i = 0; i < equations_.size(); ++i)
    std::copy_n(data.all_lane_residuals.data() + kLanes * equations_[i], kLanes, out + kLanes * i);
}

void Dae::jacobian(DaeData& data, double t, const double* x, const double* dx, double* out) const {
  const double* values[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  const std::size_t nonzeros = places_.size();
  if (all_) {
    compiled_->jacobian.evaluate(values, data.jacobian_registers, out);
  } else {
    compiled_->jacobian.evaluate(values, data.jacobian_registers, data.all_values.data());
    const auto full = static_cast<std::size_t>(compiled_->pattern.nonzeros());
    for (std::size_t k = 0; k < nonzeros; ++k) {
      out[k] = data.all_values[places_[k]];
      out[nonzeros + k] = data.all_values[full + places_[k]];
    }
  }
  if (compiled_->constant_jacobian || all_finite(out, 2 * nonzeros)) return;
  // y = sqrt(x) is defined at x = 0 and vertical there. Any slope will do for Newton, which judges
  // by residuals: where x stays it does not matter, where x leaves it is a true one next time. A
  // steep one would carry rounding errors of y into x, and so below zero.
  // sqrt(x^2 + y^2) and atan2(y, x) have no slope at the origin, 0/0: none is as good as any.
  for (std::size_t k = 0; k < 2 * nonzeros; ++k) {
    if (std::isinf(out[k])) out[k] = std::copysign(1.0, out[k]);
    if (std::isnan(out[k])) out[k] = 0.0;
  }
}

}  // namespace saltus
