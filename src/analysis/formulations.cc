#include "analysis/formulations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "expr/differentiate.h"
#include "linalg/dense.h"

// Letters as in HM Appendix A.3: p positions, v velocities, lambda and eta multipliers, g
// constraints, G = dg/dp.

namespace saltus {
namespace {

struct Named {
  Formulation formulation;
  const char* name;
};
constexpr std::array kNames = {Named{Formulation::kReduced, "reduced"},
                               Named{Formulation::kPosition, "position"},
                               Named{Formulation::kVelocity, "velocity"},
                               Named{Formulation::kAcceleration, "acceleration"},
                               Named{Formulation::kBaumgarte, "baumgarte"},
                               Named{Formulation::kGgl, "ggl"},
                               Named{Formulation::kOverdetermined, "overdetermined"},
                               Named{Formulation::kMinimal, "minimal"},
                               Named{Formulation::kArray, "array"}};

std::vector<Expr> derivatives_in(const Expr& e) {
  std::vector<Expr> found;
  for (const Expr& leaf : leaves_of(e))
    if (leaf.is_variable() && leaf.node()->order > 0) found.push_back(leaf);
  return found;
}

// If `residual` contains one derivative only, linearly with a constant factor: what it equals.
std::optional<Expr> solved_for(const Expr& residual, const Expr& derivative) {
  const Expr leaf[] = {derivative};
  if (polynomial_degree(residual, leaf) != 1) return std::nullopt;
  const Expr factor = partial(residual, derivative);
  if (!is_constant_in_mode(factor)) return std::nullopt;
  // A factor that events switch may be zero in this mode.
  if (std::ranges::any_of(leaves_of(factor), &Expr::is_slot)) return std::nullopt;
  const Expr zero[] = {0.0};
  const Expr rest = substitute(residual, leaf, zero);
  return factor.is_number() && factor.number() == 1.0 ? -rest : -rest / factor;
}

std::string derivative_name(int order, const std::string& name) {
  return fmt::format("derivative {} of {}", order, name);
}

}  // namespace

const char* to_string(Formulation formulation) {
  for (const Named& n : kNames)
    if (n.formulation == formulation) return n.name;
  return "unknown";
}

std::optional<Formulation> parse_formulation(std::string_view name) {
  for (const Named& n : kNames)
    if (n.name == name) return n.formulation;
  return std::nullopt;
}

MechanicalStructure find_mechanical_structure(const DaeDefinition& mode,
                                              const std::vector<VariableId>& unknowns,
                                              const Offsets& offsets) {
  MechanicalStructure found;
  std::unordered_map<VariableId, std::size_t> index;
  for (std::size_t j = 0; j < unknowns.size(); ++j) index.emplace(unknowns[j], j);
  const auto order_of = [&](const Expr& symbol) {
    const auto at = index.find(symbol.node()->variable());
    return at == index.end() ? 0 : offsets.d[at->second];
  };
  std::vector<std::size_t> constraints;
  for (std::size_t i = 0; i < mode.residuals.size(); ++i) {
    const int c = offsets.c[i];
    const std::vector<Expr> derivatives = derivatives_in(mode.residuals[i]);
    if (c > 0 && derivatives.empty()) {
      if (c > 2) {
        found.objection = fmt::format(
            "{} has to be differentiated {} times, a constraint of a "
            "mechanical system at most twice",
            mode.equation_names[i], c);
        return found;
      }
      constraints.push_back(i);
      continue;
    }
    const std::optional<Expr> rate =
        derivatives.size() == 1 ? solved_for(mode.residuals[i], derivatives.front()) : std::nullopt;
    if (c == 1 && rate && order_of(derivatives.front()) == 2) {
      found.kinematic.push_back(i);
      found.rate_symbols.push_back(derivatives.front());
      found.rates.push_back(*rate);
    } else if (c > 0) {
      found.objection = fmt::format(
          "{} has to be differentiated but is neither a constraint nor "
          "a kinematic equation der(p) = Z(p)*v",
          mode.equation_names[i]);
      return found;
    } else if (rate) {
      found.acceleration_symbols.push_back(derivatives.front());
      found.accelerations.push_back(*rate);
    }
  }
  std::unordered_map<const Node*, std::size_t> rate_of;
  for (std::size_t k = 0; k < found.rates.size(); ++k)
    rate_of.emplace(found.rate_symbols[k].node(), k);
  for (const std::size_t i : constraints) {
    Constraint constraint{i, {mode.residuals[i]}};
    for (int k = 0; k < offsets.c[i]; ++k) {
      const Expr derivative = der(constraint.residuals.back());
      std::vector<Expr> symbols, rates;  // the few that occur in it
      for (const Expr& symbol : derivatives_in(derivative)) {
        const auto rate = rate_of.find(symbol.node());
        if (rate == rate_of.end()) continue;
        symbols.push_back(symbol);
        rates.push_back(found.rates[rate->second]);
      }
      constraint.residuals.push_back(substitute(derivative, symbols, rates));
    }
    found.constraints.push_back(std::move(constraint));
  }
  return found;
}

Expr FormulatedMode::rewrite(const Expr& a) const {
  return replaced.empty() ? a : substitute(a, replaced, replacements);
}

namespace {

// Puts one form together; the order of calls is the order of rows.
class FormBuilder {
 public:
  FormBuilder(Graph& graph, const DaeDefinition& mode, const std::vector<VariableId>& unknowns,
              const Offsets& offsets, const MechanicalStructure& structure)
      : graph_(graph),
        mode_(mode),
        unknowns_(unknowns),
        offsets_(offsets),
        structure_(structure),
        def_(mode) {
    for (std::size_t j = 0; j < unknowns.size(); ++j) index_.emplace(unknowns[j], j);
    def_.controlled.clear();
    for (const int d : offsets.d) def_.controlled.push_back(d > 0);
    def_.levels.assign(unknowns.size(), 0);
  }

  DaeDefinition& definition() { return def_; }

  // Velocities count as one, multipliers as two differentiations away from the positions.
  void set_levels(int of_velocities, int of_multipliers) {
    std::vector<Expr> velocity_constraints;
    for (const Constraint& c : structure_.constraints)
      if (c.on_position_level()) velocity_constraints.push_back(c.residuals[1]);
    for (const Expr& leaf : leaves_of(velocity_constraints)) {
      const auto at = leaf.is_variable() ? index_.find(leaf.node()->variable()) : index_.end();
      if (at != index_.end() && leaf.node()->order == 0 && offsets_.d[at->second] == 1)
        def_.levels[at->second] = of_velocities;
    }
    for (std::size_t j = 0; j < unknowns_.size(); ++j)
      if (offsets_.d[j] == 0) def_.levels[j] = of_multipliers;
  }

  void add_row(const Expr& residual, const std::string& name) {
    def_.residuals.push_back(residual);
    def_.equation_names.push_back(name);
  }

  void add_derivative_row(const Constraint& c, int order) {
    add_row(c.residuals[static_cast<std::size_t>(order)],
            derivative_name(order, mode_.equation_names[c.equation]));
  }

  void replace_constraint(const Constraint& c, const Expr& residual, int order) {
    def_.residuals[c.equation] = residual;
    if (order > 0)
      def_.equation_names[c.equation] = derivative_name(order, mode_.equation_names[c.equation]);
  }

  // The derivative of unknown k becomes an unknown of its own; returns the slope of k as a symbol
  // apart from it.
  Expr promote_derivative(std::size_t k) {
    const Expr symbol = def_.derivatives[k];
    const Expr slope = graph_.new_variable("d/dt " + def_.unknown_names[k]);
    def_.derivatives[k] = slope;
    add_unknown(symbol, graph_.variable(symbol.node()->variable(), symbol.node()->order + 1),
                to_string(symbol), def_.nominal[k]);
    return slope;
  }
  // The same with the row that ties the two together.
  void split_derivative(std::size_t k) {
    const Expr symbol = def_.derivatives[k];
    add_row(promote_derivative(k) - symbol, "derivative of " + def_.unknown_names[k]);
  }

  void add_unknown(const Expr& symbol, const Expr& derivative, const std::string& name,
                   double nominal) {
    def_.unknowns.push_back(symbol);
    def_.derivatives.push_back(derivative);
    def_.unknown_names.push_back(name);
    def_.nominal.push_back(nominal);
    def_.controlled.push_back(false);
    def_.levels.push_back(0);
  }

  // Unknowns of position level that no kinematic equation gives a velocity.
  std::vector<std::size_t> without_velocity() const {
    std::vector<std::size_t> found;
    for (std::size_t j = 0; j < unknowns_.size(); ++j)
      if (offsets_.d[j] == 2 && !has_rate(j)) found.push_back(j);
    return found;
  }
  // Their derivatives become unknowns so that second derivatives need not occur.
  std::vector<std::size_t> give_velocities() {
    std::vector<std::size_t> given = without_velocity();
    for (const std::size_t j : given) split_derivative(j);
    return given;
  }

  bool has_rate(std::size_t j) const {
    return std::any_of(structure_.rate_symbols.begin(), structure_.rate_symbols.end(),
                       [&](const Expr& s) { return s.same_as(mode_.derivatives[j]); });
  }

  std::optional<std::size_t> find(const Expr& symbol) const {
    const auto at = index_.find(symbol.node()->variable());
    return at == index_.end() ? std::nullopt : std::optional(at->second);
  }

  void stabilize_positions();
  void add_accelerations();

 private:
  Graph& graph_;
  const DaeDefinition& mode_;
  const std::vector<VariableId>& unknowns_;
  const Offsets& offsets_;
  const MechanicalStructure& structure_;
  DaeDefinition def_;
  std::unordered_map<VariableId, std::size_t> index_;
};

// GGL: p' - Z v + G^T eta = 0 and, with eta, g' = 0 beside g = 0.
void FormBuilder::stabilize_positions() {
  const std::vector<std::size_t> given = give_velocities();
  std::vector<Expr> positions;
  std::vector<std::size_t> rows;  // the kinematic equation of each
  std::vector<Expr> slopes;
  for (std::size_t k = 0; k < structure_.kinematic.size(); ++k) {
    const std::optional<std::size_t> j = find(structure_.rate_symbols[k]);
    if (!j) continue;
    positions.push_back(mode_.unknowns[*j]);
    rows.push_back(structure_.kinematic[k]);
    slopes.push_back(mode_.derivatives[*j]);
  }
  const std::size_t first_given = def_.residuals.size() - given.size();
  for (std::size_t k = 0; k < given.size(); ++k) {
    positions.push_back(mode_.unknowns[given[k]]);
    rows.push_back(first_given + k);
    slopes.push_back(def_.derivatives[given[k]]);
  }
  std::vector<Expr> constraints;
  std::vector<Expr> etas;
  for (const Constraint& c : structure_.constraints) {
    if (!c.on_position_level()) continue;
    const std::string name = fmt::format("eta of {}", mode_.equation_names[c.equation]);
    etas.push_back(graph_.new_variable(name));
    constraints.push_back(c.residuals[0]);
    add_unknown(etas.back(), graph_.new_variable("d/dt " + name), name, 1.0);
    def_.levels.back() = 1;
    add_derivative_row(c, 1);
  }
  for (const JacobianEntry& entry : jacobian(constraints, positions)) {
    Expr& row = def_.residuals[rows[entry.column]];
    row += partial(row, slopes[entry.column]) * entry.value * etas[entry.row];
  }
}

// g'' with the accelerations put in. Those that no equation of motion gives alone become unknowns.
void FormBuilder::add_accelerations() {
  give_velocities();
  std::vector<Expr> residuals;
  std::vector<std::string> names;
  for (const Constraint& c : structure_.constraints) {
    const auto highest = static_cast<int>(c.residuals.size()) - 1;
    for (int k = 1; k <= highest; ++k) {
      residuals.push_back(substitute(c.residuals[static_cast<std::size_t>(k)],
                                     structure_.acceleration_symbols, structure_.accelerations));
      names.push_back(derivative_name(k, mode_.equation_names[c.equation]));
    }
  }
  for (const Expr& leaf : leaves_of(residuals)) {
    const bool is_slope = leaf.is_variable() && leaf.node()->order > 0;
    if (!is_slope) continue;
    // der(y) may have become an unknown before; then its own derivative is what is needed.
    for (std::size_t k = 0; k < def_.unknowns.size(); ++k) {
      if (!def_.derivatives[k].same_as(leaf)) continue;
      split_derivative(k);
      break;
    }
  }
  for (std::size_t i = 0; i < residuals.size(); ++i) add_row(residuals[i], names[i]);
}

// The Jacobian of a choice at a point, rows scaled to size one.
Eigen::MatrixXd jacobian_at(const DependentChoice& choice, const FormPoint& point) {
  Tape::Workspace registers = choice.entries.make_workspace();
  std::vector<double> numbers(choice.places.size());
  const double* inputs[] = {&point.t, point.x.data(), point.dx.data(), point.parameters.data(),
                            point.held.data()};
  choice.entries.evaluate(inputs, registers, numbers.data());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(choice.rows),
                                                 static_cast<Eigen::Index>(choice.nominal.size()));
  for (std::size_t e = 0; e < numbers.size(); ++e)
    matrix(static_cast<Eigen::Index>(choice.places[e].first),
           static_cast<Eigen::Index>(choice.places[e].second)) =
        numbers[e] * choice.nominal[choice.places[e].second];
  if (!matrix.allFinite()) matrix.setZero();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    const double size = matrix.row(i).cwiseAbs().maxCoeff();
    if (size > 0.0) matrix.row(i) /= size;
  }
  return matrix;
}

// One candidate for each residual, so that their columns carry the rank best at the point.
DependentChoice choose_dependent(const DaeDefinition& mode, const std::vector<Expr>& residuals,
                                 const std::vector<Expr>& candidates, std::vector<double> nominal,
                                 const FormPoint& point) {
  DependentChoice choice;
  choice.rows = residuals.size();
  choice.nominal = std::move(nominal);
  std::vector<Expr> values;
  for (const JacobianEntry& e : jacobian(residuals, candidates)) {
    choice.places.emplace_back(e.row, e.column);
    values.push_back(e.value);
  }
  choice.entries = Tape(values, mode.inputs());
  if (residuals.empty()) return choice;
  const PivotedQr qr(jacobian_at(choice, point));
  for (Eigen::Index k = 0; k < qr.pivots().size(); ++k)
    choice.chosen.push_back(static_cast<std::size_t>(qr.chosen(k)));
  std::sort(choice.chosen.begin(), choice.chosen.end());
  return choice;
}

// The minimal extension (HM A.3.5): as many derivatives as there are constraints become unknowns.
// Velocities that are nowhere differentiated are written as the derivative of their position, which
// is what HM call a regular mass matrix.
void extend_minimally(FormBuilder& builder, FormulatedMode& form, const DaeDefinition& mode,
                      const Offsets& offsets, const MechanicalStructure& structure,
                      const FormPoint& point) {
  DaeDefinition& def = builder.definition();
  std::vector<Expr> on_position, on_velocity;
  for (const Constraint& c : structure.constraints) {
    if (c.on_position_level()) on_position.push_back(c.residuals[0]);
    on_velocity.push_back(c.residuals[c.on_position_level() ? 1 : 0]);
  }
  const auto choose = [&](const std::vector<Expr>& residuals,
                          const std::vector<std::size_t>& candidates) {
    std::vector<Expr> symbols;
    std::vector<double> nominal;
    for (const std::size_t k : candidates) {
      symbols.push_back(def.unknowns[k]);
      nominal.push_back(def.nominal[k]);
    }
    form.choices.push_back(choose_dependent(mode, residuals, symbols, nominal, point));
    std::vector<std::size_t> chosen;
    for (const std::size_t k : form.choices.back().chosen) chosen.push_back(candidates[k]);
    return chosen;
  };
  std::vector<std::size_t> positions, velocities;
  for (std::size_t j = 0; j < offsets.d.size(); ++j) {
    if (offsets.d[j] == 2) positions.push_back(j);
    if (offsets.d[j] == 1) velocities.push_back(j);
  }
  const std::vector<std::size_t> dependent = choose(on_position, positions);
  for (const std::size_t j : builder.without_velocity()) {
    velocities.push_back(def.unknowns.size());
    if (std::binary_search(dependent.begin(), dependent.end(), j))
      builder.promote_derivative(j);
    else
      builder.split_derivative(j);
  }
  for (const std::size_t j : dependent)
    if (builder.has_rate(j)) builder.promote_derivative(j);
  for (const std::size_t k : choose(on_velocity, velocities)) builder.promote_derivative(k);
  for (const Constraint& c : structure.constraints)
    for (int k = 1; k < static_cast<int>(c.residuals.size()); ++k) builder.add_derivative_row(c, k);

  std::vector<bool> drop_row(def.residuals.size(), false);
  std::vector<bool> drop_unknown(def.unknowns.size(), false);
  std::vector<bool> differentiated(offsets.d.size(), false);
  for (const Expr& leaf : leaves_of(mode.residuals))
    if (leaf.is_variable() && leaf.node()->order > 0)
      if (const auto j = builder.find(leaf)) differentiated[*j] = true;
  for (std::size_t i = 0; i < mode.residuals.size(); ++i) {
    const std::vector<Expr> derivatives = derivatives_in(mode.residuals[i]);
    if (offsets.c[i] != 0 || derivatives.size() != 1) continue;
    const std::optional<Expr> rate = solved_for(mode.residuals[i], derivatives.front());
    if (!rate || !rate->is_variable() || rate->node()->order != 0) continue;
    const std::optional<std::size_t> j = builder.find(*rate);
    if (!j || offsets.d[*j] != 0 || differentiated[*j]) continue;
    form.replaced.push_back(*rate);
    form.replacements.push_back(derivatives.front());
    drop_row[i] = drop_unknown[*j] = true;
  }
  const auto prune = [](auto& list, const std::vector<bool>& drop) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < drop.size(); ++k)
      if (!drop[k]) list[kept++] = list[k];
    list.resize(kept);
  };
  prune(def.residuals, drop_row);
  prune(def.equation_names, drop_row);
  for (Expr& r : def.residuals) r = form.rewrite(r);
  prune(def.unknowns, drop_unknown);
  prune(def.derivatives, drop_unknown);
  prune(def.unknown_names, drop_unknown);
  prune(def.nominal, drop_unknown);
  prune(def.controlled, drop_unknown);
  prune(def.levels, drop_unknown);
}

}  // namespace

FormulatedMode formulate(Graph& graph, const DaeDefinition& mode,
                         const std::vector<VariableId>& unknowns, const Offsets& offsets,
                         const MechanicalStructure& structure, Formulation formulation,
                         double baumgarte, const FormPoint& point) {
  FormulatedMode form;
  form.formulation = formulation;
  form.unknowns = unknowns;
  FormBuilder builder(graph, mode, unknowns, offsets, structure);
  const bool holonomic = std::any_of(structure.constraints.begin(), structure.constraints.end(),
                                     [](const Constraint& c) { return c.on_position_level(); });
  // With the accelerations put in where an equation of motion gives them: Newton then finds the
  // multipliers at once.
  const auto accelerated = [&](const Constraint& c) {
    return substitute(c.residuals.back(), structure.acceleration_symbols, structure.accelerations);
  };
  switch (formulation) {
    case Formulation::kReduced:
    case Formulation::kArray:
      break;
    case Formulation::kPosition:
      builder.set_levels(1, holonomic ? 2 : 1);
      break;
    case Formulation::kVelocity:
      for (const Constraint& c : structure.constraints)
        if (c.on_position_level()) builder.replace_constraint(c, c.residuals[1], 1);
      builder.set_levels(0, 1);
      break;
    case Formulation::kAcceleration:
      builder.give_velocities();
      for (const Constraint& c : structure.constraints)
        builder.replace_constraint(c, accelerated(c), static_cast<int>(c.residuals.size()) - 1);
      form.strangeness_free = true;
      break;
    case Formulation::kBaumgarte:
      builder.give_velocities();
      for (const Constraint& c : structure.constraints) {
        const auto& g = c.residuals;
        const Expr alpha = baumgarte;
        builder.replace_constraint(c,
                                   c.on_position_level()
                                       ? accelerated(c) + 2.0 * alpha * g[1] + alpha * alpha * g[0]
                                       : accelerated(c) + alpha * g[0],
                                   0);
      }
      form.strangeness_free = true;
      break;
    case Formulation::kGgl:
      builder.set_levels(0, 1);
      builder.stabilize_positions();
      break;
    case Formulation::kOverdetermined: {
      builder.add_accelerations();
      DaeDefinition& def = builder.definition();
      def.redundant = true;
      const std::vector<Expr> slopes = def.derivatives;
      def.exact.assign(def.residuals.size(), true);
      for (const JacobianEntry& e : jacobian(def.residuals, slopes)) def.exact[e.row] = false;
      break;
    }
    case Formulation::kMinimal:
      extend_minimally(builder, form, mode, offsets, structure, point);
      form.strangeness_free = true;
      break;
  }
  form.definition = std::move(builder.definition());
  return form;
}

FormulatedMode formulate_levels(Graph& graph, const DaeDefinition& mode,
                                const std::vector<VariableId>& unknowns, const Offsets& offsets,
                                const MechanicalStructure& structure) {
  FormulatedMode form;
  form.formulation = Formulation::kVelocity;
  form.unknowns = unknowns;
  form.strangeness_free = true;
  FormBuilder builder(graph, mode, unknowns, offsets, structure);
  builder.give_velocities();
  for (const Constraint& c : structure.constraints) {
    builder.replace_constraint(
        c, substitute(c.residuals.back(), structure.acceleration_symbols, structure.accelerations),
        static_cast<int>(c.residuals.size()) - 1);
    form.levels.highest.push_back(c.equation);
  }
  std::size_t rows = builder.definition().residuals.size();
  for (const Constraint& c : structure.constraints) {
    const std::size_t level = c.residuals.size() - 2;
    builder.add_row(c.residuals[level], level == 0
                                            ? mode.equation_names[c.equation]
                                            : derivative_name(1, mode.equation_names[c.equation]));
    form.levels.velocity.push_back(rows++);
  }
  for (std::size_t k = 0; k < structure.constraints.size(); ++k) {
    const Constraint& c = structure.constraints[k];
    if (!c.on_position_level()) continue;
    builder.add_row(c.residuals[0], mode.equation_names[c.equation]);
    form.levels.position.push_back(rows++);
    form.levels.velocity_of_position.push_back(k);
  }
  form.definition = std::move(builder.definition());
  return form;
}

bool is_stale(const FormulatedMode& form, const FormPoint& point) {
  constexpr double kWorse = 0.1;
  const auto last_pivot = [](const Eigen::MatrixXd& matrix) {
    return PivotedQr(matrix).pivots()(matrix.rows() - 1);
  };
  for (const DependentChoice& choice : form.choices) {
    if (choice.chosen.empty()) continue;
    const Eigen::MatrixXd all = jacobian_at(choice, point);
    Eigen::MatrixXd own(all.rows(), all.rows());
    for (Eigen::Index k = 0; k < own.cols(); ++k)
      own.col(k) = all.col(static_cast<Eigen::Index>(choice.chosen[static_cast<std::size_t>(k)]));
    if (last_pivot(own) < kWorse * last_pivot(all)) return true;
  }
  return false;
}

}  // namespace saltus
