#include "model/dae.h"

#include <utility>

#include "expr/differentiate.h"

namespace saltus {

Dae::Dae(DaeDefinition definition) : definition_(std::move(definition)) {
  const std::size_t n = unknown_count();
  const std::vector<std::vector<Expr>> inputs = {{definition_.time},
                                                 definition_.unknowns,
                                                 definition_.derivatives,
                                                 definition_.parameters,
                                                 definition_.held};
  residual_ = Tape(definition_.residuals, inputs);

  const auto by_x = saltus::jacobian(definition_.residuals, definition_.unknowns);
  const auto by_dx = saltus::jacobian(definition_.residuals, definition_.derivatives);

  // Merge the two column-ordered lists into one pattern; a place missing in one of them is zero
  // there.
  std::vector<Expr> x_values;
  std::vector<Expr> dx_values;
  pattern_.rows = static_cast<int>(equation_count());
  pattern_.columns = static_cast<int>(n);
  differential_.assign(n, false);
  constant_jacobian_ = true;
  auto a = by_x.begin();
  auto b = by_dx.begin();
  for (std::size_t column = 0; column < n; ++column) {
    for (;;) {
      const bool has_a = a != by_x.end() && a->column == column;
      const bool has_b = b != by_dx.end() && b->column == column;
      if (!has_a && !has_b) break;
      const bool take_a = has_a && (!has_b || a->row <= b->row);
      const bool take_b = has_b && (!has_a || b->row <= a->row);
      pattern_.row.push_back(static_cast<int>(take_a ? a->row : b->row));
      x_values.push_back(take_a ? a->value : Expr(0.0));
      dx_values.push_back(take_b ? b->value : Expr(0.0));
      constant_jacobian_ = constant_jacobian_ && is_constant_in_mode(x_values.back()) &&
                           is_constant_in_mode(dx_values.back());
      if (take_b) differential_[column] = true;
      if (take_a) ++a;
      if (take_b) ++b;
    }
    pattern_.start.push_back(static_cast<int>(pattern_.row.size()));
  }
  x_values.insert(x_values.end(), dx_values.begin(), dx_values.end());
  jacobian_ = Tape(x_values, inputs);
}

DaeData Dae::make_data() const {
  DaeData data;
  data.parameters.assign(definition_.parameters.size(), 0.0);
  data.held.assign(definition_.held.size(), 0.0);
  data.residual_registers = residual_.make_workspace();
  data.jacobian_registers = jacobian_.make_workspace();
  return data;
}

void Dae::residual(DaeData& data, double t, const double* x, const double* dx, double* out) const {
  const double* values[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  residual_.evaluate(values, data.residual_registers, out);
  ++data.residual_count;
}

void Dae::jacobian(DaeData& data, double t, const double* x, const double* dx, double* out) const {
  const double* values[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  jacobian_.evaluate(values, data.jacobian_registers, out);
  ++data.jacobian_count;
}

}  // namespace saltus
