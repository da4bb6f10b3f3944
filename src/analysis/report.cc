#include "analysis/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "analysis/analysed_mode.h"
#include "analysis/causal_guess.h"
#include "analysis/dependence.h"
#include "analysis/derivative_array.h"
#include "analysis/structural_values.h"
#include "analysis/structure.h"
#include "expr/differentiate.h"
#include "model/system_state.h"

namespace saltus {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr int kLevels = 6;
// Entries of a normalised constraint below this are rounding.
constexpr double kNegligible = 1e-7;

// A mode with everything the steps below look at.
struct Subject {
  const HybridSystem& system;
  const Mode& mode;
  std::vector<VariableId> unknowns;
  DaeDefinition written;
  Signature signature;
  Offsets offsets;
};

Subject open(const HybridSystem& system, const Mode& mode) {
  Subject s{system, mode, unknowns_of(system, mode), {}, {}, {}};
  s.written = write_out(system, mode, s.unknowns);
  s.signature = signature_of(s.written.residuals, s.unknowns);
  s.offsets = find_offsets(s.signature);
  return s;
}

std::string name_equation(const Mode& mode, std::size_t index) {
  const Equation& e = mode.equations[index];
  return e.name.empty() ? equation_name(mode, index) : e.name;
}

std::string describe(const Guard& guard) {
  return fmt::format("{}: {} > 0, then {}", guard.name, to_string(guard.value),
                     guard.to.empty() ? "the run ends" : guard.to);
}

// The derivatives that an equation gives explicitly: coefficient * der(x) = something without
// derivatives.
struct ExplicitDerivatives {
  std::unordered_map<std::size_t, Expr> rates;  // by variable
};

ExplicitDerivatives explicit_derivatives(const Subject& s) {
  ExplicitDerivatives known;
  for (const Expr& residual : s.written.residuals) {
    std::vector<Expr> slopes = leaves_of(residual);
    std::erase_if(slopes, [](const Expr& e) { return !e.is_variable() || e.node()->order == 0; });
    if (slopes.size() != 1 || polynomial_degree(residual, slopes) != 1) continue;
    const VariableId variable = slopes[0].node()->variable();
    if (known.rates.contains(variable.index())) continue;
    const Expr zero[] = {0.0};
    known.rates[variable.index()] =
        -substitute(residual, slopes, zero) / partial(residual, slopes[0]);
  }
  return known;
}

// `e` with derivatives replaced by what the equations give for them, highest order first.
Expr without_derivatives(Expr e, const ExplicitDerivatives& known) {
  for (;;) {
    std::vector<Expr> from;
    std::vector<Expr> to;
    for (const Expr& leaf : leaves_of(e)) {
      if (!leaf.is_variable() || leaf.node()->order == 0) continue;
      const auto found = known.rates.find(leaf.node()->variable().index());
      if (found == known.rates.end()) continue;
      from.push_back(leaf);
      to.push_back(der(found->second, leaf.node()->order - 1));
    }
    if (from.empty()) return e;
    e = substitute(e, from, to);
  }
}

// The derivatives of the equations up to their offsets, in the unknowns as far as the equations say
// explicitly what the derivatives are. Derivatives of der(x) = v only lead from one to the other.
std::vector<std::string> structural_constraints(const Subject& s) {
  const ExplicitDerivatives known = explicit_derivatives(s);
  std::vector<std::string> hidden;
  for (std::size_t i = 0; i < s.offsets.c.size(); ++i) {
    Expr e = s.written.residuals[i];
    for (int k = 0; k < s.offsets.c[i]; ++k) {
      e = without_derivatives(der(e), known);
      if (e.is_number()) break;
      hidden.push_back(to_string(e) + " = 0");
    }
  }
  return hidden;
}

void fill_from_structure(const Subject& s, ModeAnalysis& report) {
  const Offsets& offsets = s.offsets;
  if (offsets.solvable) {
    report.values = structural_values(offsets);
    report.hidden = structural_constraints(s);
    for (std::size_t i = 0; i < offsets.c.size(); ++i)
      if (offsets.c[i] > 0)
        report.differentiated.emplace_back(name_equation(s.mode, i), offsets.c[i]);
    return;
  }
  // Without a transversal structure counts what is missing and what is too much.
  const auto matched = static_cast<int>(
      std::ranges::count_if(offsets.unknown_of, [](std::ptrdiff_t j) { return j >= 0; }));
  report.values.v = static_cast<int>(report.equations) - matched;
  report.values.u = static_cast<int>(report.unknowns) - matched;
  for (const int d : offsets.d) report.values.d += std::min(d, 1);
  report.values.d = std::min(report.values.d, matched);
  report.values.a = matched - report.values.d;
  for (const std::size_t i : offsets.excess_equations)
    report.redundant.push_back(name_equation(s.mode, i));
  for (const std::size_t j : offsets.free_unknowns)
    report.free.push_back(s.written.unknown_names[j]);
}

// A basis of the constraints Z2 in which each one is led by a derivative of an equation as high as
// possible with factor one; those led by no derivative are equations as written and come last. This
// makes the combinations as short as Gauss-Jordan elimination can.
MatrixXd simplify(MatrixXd z, Index m, Index& hidden) {
  hidden = 0;
  Index done = 0;
  const Index levels = z.rows() / m;
  for (Index k = 0; k < z.cols(); ++k) z.col(k) /= z.col(k).cwiseAbs().maxCoeff();
  for (Index level = levels - 1; level >= 0; --level) {
    for (;;) {
      if (done == z.cols()) break;
      Index row = 0;
      Index column = 0;
      const double pivot =
          z.block(level * m, done, m, z.cols() - done).cwiseAbs().maxCoeff(&row, &column);
      if (pivot <= kNegligible) break;
      z.col(done).swap(z.col(done + column));
      z.col(done) /= z(level * m + row, done);
      for (Index k = 0; k < z.cols(); ++k)
        if (k != done) z.col(k) -= z(level * m + row, k) * z.col(done);
      ++done;
    }
    if (level == 1) hidden = done;
  }
  for (Index i = 0; i < z.rows(); ++i)
    for (Index k = 0; k < z.cols(); ++k)
      if (std::abs(z(i, k)) <= kNegligible) z(i, k) = 0.0;
  return z;
}

// Factors are combinations of numbers of the model; the last digits are rounding.
double tidy(double factor) { return std::stod(fmt::format("{:.9g}", factor)); }

// The constraint as a formula, if the factors found at one point cancel all derivatives at every
// point.
std::optional<Expr> as_formula(const DerivativeArray& array, const Eigen::VectorXd& factors,
                               std::size_t n) {
  Expr sum = 0.0;
  for (Index i = 0; i < factors.size(); ++i)
    if (factors(i) != 0.0)
      sum += Expr(tidy(factors(i))) * array.residuals()[static_cast<std::size_t>(i)];
  const std::vector<Expr> derivatives(array.symbol_list().begin() + static_cast<std::ptrdiff_t>(n),
                                      array.symbol_list().end());
  const Expr expressions[] = {sum};
  for (const JacobianEntry& entry : jacobian(expressions, derivatives))
    if (!entry.value.is_number() || std::abs(entry.value.number()) > 1e-8) return std::nullopt;
  return substitute(sum, derivatives, std::vector<Expr>(derivatives.size(), 0.0));
}

std::string in_words(const Subject& s, const Eigen::VectorXd& factors) {
  const std::size_t m = s.mode.equations.size();
  std::vector<std::string> parts;
  for (Index i = 0; i < factors.size(); ++i) {
    if (factors(i) == 0.0) continue;
    const auto k = static_cast<std::size_t>(i);
    const std::string name = name_equation(s.mode, k % m);
    parts.push_back(k < m ? name : fmt::format("derivative {} of {}", k / m, name));
  }
  return fmt::format("a combination without derivatives of: {}", fmt::join(parts, "; "));
}

void fill_from_numbers(const Subject& s, const ArrayAnalysis& found, ModeAnalysis& report) {
  report.hidden.clear();
  report.differentiated.clear();
  report.redundant.clear();
  report.free.clear();
  report.values = found.values;
  for (const std::size_t i : found.redundant_equations)
    report.redundant.push_back(name_equation(s.mode, i));
  for (const std::size_t i : found.contradictory_equations)
    report.contradictory.push_back(name_equation(s.mode, i));
  for (const std::size_t j : found.free_unknowns) report.free.push_back(s.written.unknown_names[j]);
  if (found.values.mu == 0 || !found.holds) return;

  const auto m = static_cast<Index>(report.equations);
  Index hidden = 0;
  const MatrixXd constraints = simplify(found.z2, m, hidden);
  const DerivativeArray array(s.system.graph(), s.written, found.values.mu);
  std::vector<int> times(report.equations, 0);
  for (Index k = 0; k < hidden; ++k) {
    const Eigen::VectorXd factors = constraints.col(k);
    for (Index i = m; i < factors.size(); ++i)
      if (factors(i) != 0.0) {
        int& most = times[static_cast<std::size_t>(i % m)];
        most = std::max(most, static_cast<int>(i / m));
      }
    const std::optional<Expr> formula = as_formula(array, factors, report.unknowns);
    report.hidden.push_back(formula ? to_string(*formula) + " = 0" : in_words(s, factors));
  }
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] > 0) report.differentiated.emplace_back(name_equation(s.mode, i), times[i]);
}

ArrayAnalysis ask_numbers(const Subject& s, double t, const SystemState& near) {
  std::vector<double> x, parameters, held;
  std::vector<double> dx;
  for (const VariableId v : s.unknowns) {
    x.push_back(near.values[v.index()]);
    dx.push_back(near.slopes[v.index()]);
  }
  for (const Parameter& p : s.system.parameters()) parameters.push_back(p.value);
  for (const Expr& h : s.written.held) held.push_back(near.value_of(h));
  return analyse_array(s.system.graph(), s.written, t, x, dx, parameters, held, kLevels);
}

// The point at which a run would start: one that satisfies what structure makes of the mode.
std::optional<SystemState> structural_point(const HybridSystem& system, ModeId id, double t,
                                            const SystemState& near) {
  const std::unique_ptr<const AnalysedMode> mode = analyse(system, id);
  if (mode == nullptr || mode->reduced == nullptr) return {};
  const DaeDefinition& def = mode->dae->definition();
  DaeData data = mode->dae->make_data();
  for (std::size_t k = 0; k < system.parameters().size(); ++k)
    data.parameters[k] = system.parameters()[k].value;
  for (std::size_t k = 0; k < def.held.size(); ++k) data.held[k] = near.value_of(def.held[k]);
  SystemState point = near;
  CausalGuess(system, *mode->mode, false).improve(t, data.parameters, point);
  std::vector<double> x, dx;
  for (const Expr& unknown : def.unknowns) {
    const std::size_t i = unknown.node()->variable().index();
    const int order = unknown.node()->order;
    x.push_back(order == 0 ? point.values[i] : order == 1 ? point.slopes[i] : 0.0);
    dx.push_back(order == 0 ? point.slopes[i] : 0.0);
  }
  std::vector<std::size_t> rows(mode->reduced->fixed_rows);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  ConsistentSolver solver(mode->dae->with_equations(rows), def.controlled);
  if (!solver.solve_start(data, t, x.data(), dx.data(), std::vector<bool>(x.size(), false)).ok())
    return {};
  std::vector<double> recovered(mode->recover.output_count());
  Tape::Workspace registers = mode->recover.make_workspace();
  const double* inputs[] = {&t, x.data(), dx.data(), data.parameters.data(), data.held.data()};
  mode->recover.evaluate(inputs, registers, recovered.data());
  const std::size_t n = mode->unknowns.size();
  for (std::size_t j = 0; j < n; ++j) {
    point.values[mode->unknowns[j].index()] = recovered[j];
    point.slopes[mode->unknowns[j].index()] = recovered[n + j];
  }
  return point;
}

std::string compare(const CharacteristicValues& structure, const CharacteristicValues& numbers) {
  return fmt::format(
      "structure alone says mu = {}, d = {}, a = {}; the ranks of the derivative array say mu = "
      "{}, d = {}, a = {}, v = {}, u = {}, and they decide",
      structure.mu, structure.d, structure.a, numbers.mu, numbers.d, numbers.a, numbers.v,
      numbers.u);
}

// Modes too large for the ranks of derivative arrays: structure, and what cancels in it.
void correct_large(const Subject& s, ModeAnalysis& report) {
  std::vector<double> parameters;
  for (const Parameter& p : s.system.parameters()) parameters.push_back(p.value);
  auto resolved = resolve_dependence(s.written, s.unknowns, parameters);
  if (!resolved) {
    report.note = fmt::format("by structure only (more than {} unknowns)", kLargestByNumbers);
    if (!s.offsets.solvable) report.note += "; mu, d and a are not certain";
    return;
  }
  const CharacteristicValues before = report.values;
  Subject t{s.system, s.mode, s.unknowns, std::move(resolved->definition), {}, {}};
  t.signature = signature_of(t.written.residuals, t.unknowns);
  t.offsets = find_offsets(t.signature);
  report.hidden.clear();
  report.differentiated.clear();
  report.redundant.clear();
  report.free.clear();
  report.values = {};
  fill_from_structure(t, report);
  if (resolved->determined) {
    const auto redundant = static_cast<int>(resolved->redundant.size());
    report.values.a -= redundant;
    report.values.v = report.values.u = redundant;
  }
  report.redundant.clear();
  for (const auto& equations : resolved->redundant)
    for (const std::size_t i : equations) report.redundant.push_back(name_equation(s.mode, i));
  for (const std::size_t i : resolved->contradictory)
    report.contradictory.push_back(name_equation(s.mode, i));
  report.free.clear();
  for (const std::size_t j : resolved->free_unknowns)
    report.free.push_back(s.written.unknown_names[j]);
  if (s.offsets.solvable)
    report.note = fmt::format(
        "structure alone says mu = {}, d = {}, a = {}; in combinations of equations the highest "
        "derivatives cancel, which leaves mu = {}, d = {}, a = {}, v = {}, u = {}",
        before.mu, before.d, before.a, report.values.mu, report.values.d, report.values.a,
        report.values.v, report.values.u);
}

}  // namespace

ModeAnalysis analyse_mode(const HybridSystem& system, ModeId id, double t,
                          const SystemState& near) {
  const Mode& mode = system.modes()[id.index()];
  check_orders(system, mode);
  const Subject s = open(system, mode);
  ModeAnalysis report;
  report.name = mode.name;
  report.unknowns = s.unknowns.size();
  report.equations = mode.equations.size();
  for (const Guard& guard : mode.guards) report.guards.push_back(describe(guard));
  fill_from_structure(s, report);
  if (report.unknowns > kLargestByNumbers) {
    correct_large(s, report);
    return report;
  }

  ArrayAnalysis found = ask_numbers(s, t, near);
  bool is_elsewhere = false;  // the start values were no help
  if (!found.holds && s.offsets.solvable && !found.consistent) {
    if (const auto point = structural_point(system, id, t, near)) {
      found = ask_numbers(s, t, *point);
      is_elsewhere = found.holds;
    }
  }
  report.gap = found.gap;
  const bool agrees = s.offsets.solvable && found.values == report.values;
  if (!found.holds && s.offsets.solvable && !found.consistent) {
    report.note =
        "no point near the start values satisfies the equations and their derivatives; by "
        "structure only";
    return report;
  }
  if (!agrees) {
    if (s.offsets.solvable) report.note = compare(report.values, found.values);
    fill_from_numbers(s, found, report);
  }
  if (is_elsewhere)
    report.note += fmt::format(
        "{}no point near the start values satisfies the equations and their "
        "derivatives; ranks are those at the point where a run starts",
        report.note.empty() ? "" : "; ");
  if (!found.holds)
    report.note = fmt::format(
        "the equations are singular: no strangeness index up to {} was found; the values are those "
        "of the last attempt",
        kLevels);
  else if (!found.consistent)
    report.note += fmt::format("{}no point near the start values satisfies all equations",
                               report.note.empty() ? "" : "; ");
  return report;
}

SystemAnalysis analyse_modes(const HybridSystem& system, std::size_t max_modes,
                             Formulation formulation) {
  if (system.flat() != nullptr) return analyse_flat_modes(system, max_modes, formulation);
  validate(system);
  SystemAnalysis analysis{system.name(), {}, 0};
  const SystemState start = start_state(system);
  const ModeId first = system.find_mode(system.initial_mode);
  std::vector<ModeId> order{first};
  for (std::size_t i = 0; i < system.modes().size(); ++i)
    if (ModeId(i) != first) order.emplace_back(i);
  analysis.left_out = order.size() - std::min(order.size(), max_modes);
  order.resize(order.size() - analysis.left_out, first);
  const double t = system.experiment.start_time;
  for (const ModeId id : order) {
    analysis.modes.push_back(analyse_mode(system, id, t, start));
    if (formulation != Formulation::kPosition)
      describe_form(system, id, formulation, t, start, analysis.modes.back());
  }
  return analysis;
}

}  // namespace saltus
