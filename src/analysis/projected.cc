#include "analysis/projected.h"

#include <fmt/format.h>

#include "analysis/derivative_array.h"
#include "expr/differentiate.h"

namespace saltus {

ProjectedForm project(Graph& graph, const DaeDefinition& mode, const ArrayAnalysis& analysis) {
  ProjectedForm form;
  form.mu = analysis.values.mu;
  const std::size_t n = mode.unknowns.size();
  const std::size_t m = mode.residuals.size();
  DaeDefinition& def = form.definition;
  const DerivativeArray array(graph, mode, form.mu);
  def.unknowns = array.symbol_list();
  def.residuals = array.residuals();
  form.array_rows = def.residuals.size();
  for (std::size_t i = 0; i < def.residuals.size(); ++i)
    def.equation_names.push_back(
        i < m ? mode.equation_names[i]
              : fmt::format("derivative {} of {}", i / m, mode.equation_names[i % m]));
  // x' of the integrator is a symbol apart from the unknown der(x).
  std::vector<Expr> written;
  std::vector<Expr> integrated;
  for (std::size_t k = 0; k < def.unknowns.size(); ++k) {
    const std::string name = to_string(def.unknowns[k]);
    const Expr slope = graph.new_variable("d/dt " + name);
    def.derivatives.push_back(slope);
    def.unknown_names.push_back(name);
    def.nominal.push_back(mode.nominal[k % n]);
    if (k >= n) continue;
    written.push_back(def.unknowns[n + k]);
    integrated.push_back(slope);
  }
  // Multipliers depend on derivatives of the solution; the error control leaves them out.
  std::vector<bool> occurs_differentiated(n, form.mu == 0);
  for (const JacobianEntry& e : jacobian(mode.residuals, written))
    occurs_differentiated[e.column] = true;
  for (std::size_t k = 0; k < def.unknowns.size(); ++k)
    def.controlled.push_back(k < n && occurs_differentiated[k]);

  def.time = mode.time;
  def.parameters = mode.parameters;
  def.held = mode.held;
  form.first_z1 = def.held.size();
  std::vector<Expr> residuals;
  for (const Expr& r : mode.residuals) residuals.push_back(substitute(r, written, integrated));
  for (Eigen::Index k = 0; k < analysis.z1.cols(); ++k) {
    Expr sum = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
      def.held.push_back(graph.new_slot(fmt::format("Z1[{},{}]", i + 1, k + 1)));
      sum += def.held.back() * residuals[i];
    }
    def.residuals.push_back(sum);
    def.equation_names.push_back(fmt::format("differential equation {} (projected)", k + 1));
  }
  def.redundant = true;
  return form;
}

ProjectorUpdate::ProjectorUpdate(Graph& graph, const DaeDefinition& mode,
                                 const CharacteristicValues& values)
    : values_(values),
      m_(static_cast<Eigen::Index>(mode.residuals.size())),
      n_(static_cast<Eigen::Index>(mode.unknowns.size())),
      array_(std::make_unique<DerivativeArray>(graph, mode, values.mu)) {}

ProjectorUpdate::~ProjectorUpdate() = default;

bool ProjectorUpdate::update(double t, const double* x, const std::vector<double>& parameters,
                             std::vector<double>& held, std::size_t first_z1) {
  const Eigen::VectorXd point =
      Eigen::Map<const Eigen::VectorXd>(x, static_cast<Eigen::Index>(array_->symbols()));
  const ArrayPoint at = analyse_point(*array_, m_, n_, t, point, parameters, held);
  if (at.d != values_.d || at.a != values_.a) return false;
  std::size_t k = first_z1;
  for (Eigen::Index column = 0; column < at.z1.cols(); ++column)
    for (Eigen::Index row = 0; row < m_; ++row) held[k++] = at.z1(row, column);
  return true;
}

}  // namespace saltus
