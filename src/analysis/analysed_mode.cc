#include "analysis/analysed_mode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/condense.h"
#include "analysis/dependence.h"
#include "analysis/derivative_array.h"
#include "analysis/structural_values.h"
#include "base/kept_work.h"
#include "expr/differentiate.h"
#include "expr/work_key.h"
#include "linalg/dense.h"

namespace saltus {
namespace {

// Above this size ranks are not measured with dense decompositions.
constexpr std::size_t kLargestDenseRank = 200;
constexpr double kRankTolerance = 1e-11;

std::string unknown_list(const HybridSystem& system, const std::vector<VariableId>& unknowns,
                         const std::vector<std::size_t>& which) {
  constexpr std::size_t kNamesShown = 20;
  std::vector<std::string> names;
  for (const std::size_t j : which) {
    if (names.size() == kNamesShown) {
      names.push_back(fmt::format("{} more", which.size() - kNamesShown));
      break;
    }
    names.push_back(fmt::format("'{}'", system.variable(unknowns[j]).name));
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string equation_list(const Mode& mode, const std::vector<std::size_t>& which) {
  std::vector<std::string> names;
  for (const std::size_t i : which) names.push_back(equation_name(mode, i));
  return fmt::format("{}", fmt::join(names, "; "));
}

std::vector<double> parameter_values(const HybridSystem& system) {
  std::vector<double> values;
  for (const Parameter& p : system.parameters()) values.push_back(p.value);
  return values;
}

// The structural defect of a mode in words.
void refuse(const HybridSystem& system, const Mode& mode, const std::vector<VariableId>& unknowns,
            const Offsets& offsets) {
  std::string text = fmt::format("{}: mode '{}' has {} equations for {} unknowns", system.name(),
                                 mode.name, mode.equations.size(), unknowns.size());
  if (!offsets.free_unknowns.empty())
    text += fmt::format("; no equation is left for {}",
                        unknown_list(system, unknowns, offsets.free_unknowns));
  if (!offsets.rivals.empty())
    text += fmt::format(" (or instead for {})", unknown_list(system, unknowns, offsets.rivals));
  if (!offsets.excess_equations.empty())
    text += fmt::format("; {} equations contain only {} unknowns ({}): {}",
                        offsets.excess_equations.size(), offsets.unknowns_of_excess.size(),
                        unknown_list(system, unknowns, offsets.unknowns_of_excess),
                        equation_list(mode, offsets.excess_equations));
  throw Error(text, offsets.excess_equations.empty()
                        ? SourceLocation{}
                        : mode.equations[offsets.excess_equations.front()].where);
}

void compile_guards(const HybridSystem& system, const Mode& mode, AnalysedMode& analysed) {
  const DaeDefinition& def = analysed.dae->definition();
  const auto inputs = def.inputs();
  std::vector<Expr> along;  // what moves during a step
  along.push_back(def.time);
  along.insert(along.end(), def.unknowns.begin(), def.unknowns.end());
  along.insert(along.end(), def.derivatives.begin(), def.derivatives.end());
  std::vector<Expr> moving(along.begin() + 1, along.end());

  std::vector<Expr> values;
  std::vector<Expr> sizes;
  std::vector<bool> used(def.unknowns.size(), false);
  for (const Guard& guard : mode.guards) {
    values.push_back(analysed.rewrite(guard.value));
    const Expr value[] = {values.back()};
    bool moves = false;
    for (const std::vector<Expr>* leaves : {&def.unknowns, &def.derivatives})
      for (const JacobianEntry& entry : jacobian(value, *leaves)) moves = used[entry.column] = true;
    // Of the terms as written: where constraints of the mode keep a slip at zero, the speeds in it
    // cancel but for their rounding.
    Expr size = 0.0;
    if (moves)
      size = analysed.rewrite(relation_size(system, guard.value));
    else if (guard.is_relation)
      size = time_relation_size(values.back(), def.time);
    sizes.push_back(size);
    analysed.guard_degrees.push_back(polynomial_degree(values.back(), along));
    analysed.is_time_guard.push_back(polynomial_degree(values.back(), moving) == 0 &&
                                     analysed.guard_degrees.back() == 1);
  }
  for (std::size_t j = 0; j < used.size(); ++j)
    if (used[j]) analysed.guard_unknowns.push_back(static_cast<std::uint32_t>(j));
  std::unordered_set<const Node*> derivatives;
  for (const Expr& derivative : def.derivatives) derivatives.insert(derivative.node());
  analysed.guards_read_derivatives = std::ranges::any_of(
      leaves_of(values), [&](const Expr& leaf) { return derivatives.contains(leaf.node()); });
  analysed.guards = Tape(values, inputs);
  analysed.guard_sizes = Tape(sizes, inputs);
}

// Whether the freedom is only how redundant constraints share their forces: nothing that is
// differentiated is free, what is free does not occur in the redundant equations themselves, and
// these constrain something that moves.
bool is_split_of_forces(const DaeDefinition& mode, const ArrayAnalysis& array) {
  if (!array.freedom_is_algebraic || array.redundant_equations.empty()) return false;
  std::unordered_set<std::size_t> moving;  // variables under der()
  for (const Expr& leaf : leaves_of(mode.residuals))
    if (leaf.is_variable() && leaf.node()->order > 0) moving.insert(leaf.node()->index);
  bool constrains_motion = false;
  for (const std::size_t i : array.redundant_equations) {
    // build() keeps an empty equation only where it did so before aliases were eliminated.
    constrains_motion = constrains_motion || mode.residuals[i].is_number();
    for (const Expr& leaf : leaves_of(mode.residuals[i])) {
      if (!leaf.is_variable()) continue;
      constrains_motion = constrains_motion || moving.contains(leaf.node()->index);
      for (const std::size_t j : array.free_unknowns)
        if (leaf.node()->variable() == mode.unknowns[j].node()->variable()) return false;
    }
  }
  return constrains_motion;
}

// Values and slopes of the mode's unknowns in terms of what is integrated.
void compile_recovery(const HybridSystem& system, AnalysedMode& analysed) {
  if (analysed.reduced == nullptr && analysed.projected == nullptr &&
      analysed.formulated == nullptr)
    return;
  const DaeDefinition& def = analysed.dae->definition();
  std::unordered_map<const Node*, std::size_t> index;
  for (std::size_t k = 0; k < def.unknowns.size(); ++k) index.emplace(def.unknowns[k].node(), k);
  std::vector<Expr> outputs;
  for (const VariableId id : analysed.unknowns)
    outputs.push_back(analysed.rewrite(system.variable(id).symbol));
  for (std::size_t j = 0; j < analysed.unknowns.size(); ++j) {
    const Expr symbol = system.variable(analysed.unknowns[j]).symbol;
    if (analysed.differential[j] || analysed.projected != nullptr) {
      outputs.push_back(analysed.rewrite(der(symbol)));
      continue;
    }
    // The slope of a multiplier is only that of the numerical solution.
    const auto found = index.find(analysed.rewrite(symbol).node());
    outputs.push_back(found == index.end() ? Expr(0.0) : def.derivatives[found->second]);
  }
  analysed.recover = Tape(outputs, def.inputs());
}

Eigen::MatrixXd dense(const Pattern& pattern, const double* values,
                      const std::vector<double>& column_scale) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(pattern.rows, pattern.columns);
  for (int j = 0; j < pattern.columns; ++j)
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
      m(pattern.row[k], j) = values[k] * column_scale[j];
  return m;
}

}  // namespace

Expr relation_size(const HybridSystem& system, const Expr& value) {
  Expr size = 0.0;
  std::vector<Expr> leaves = leaves_of(value);
  std::erase_if(leaves, [](const Expr& leaf) { return !leaf.is_variable(); });
  const Expr values[] = {value};
  for (const JacobianEntry& entry : jacobian(values, leaves)) {
    const Expr& leaf = leaves[entry.column];
    size += abs(entry.value) * max(abs(leaf), system.variables()[leaf.node()->index].nominal);
  }
  return size;
}

Expr time_relation_size(const Expr& value, const Expr& time) {
  return 1e-4 * abs(partial(value, time)) * max(abs(time), 1e-3);
}

Expr AnalysedMode::rewrite(const Expr& a) const {
  if (reduced != nullptr) return reduced->rewrite(a);
  return formulated != nullptr ? formulated->rewrite(a) : a;
}

DaeDefinition write_out(const HybridSystem& system, const Mode& mode,
                        const std::vector<VariableId>& unknowns) {
  DaeDefinition def;
  for (std::size_t i = 0; i < mode.equations.size(); ++i) {
    def.residuals.push_back(mode.equations[i].residual());
    def.equation_names.push_back(equation_name(mode, i));
  }
  std::vector<bool> is_unknown(system.variables().size(), false);
  for (const VariableId id : unknowns) {
    const Variable& v = system.variable(id);
    is_unknown[id.index()] = true;
    def.unknowns.push_back(v.symbol);
    def.derivatives.push_back(der(v.symbol));
    def.unknown_names.push_back(v.name);
    def.nominal.push_back(v.nominal);
  }
  def.time = system.time();
  for (const Parameter& p : system.parameters()) def.parameters.push_back(p.symbol);
  for (std::size_t i = 0; i < is_unknown.size(); ++i)
    if (!is_unknown[i]) def.held.push_back(system.variable(VariableId(i)).symbol);
  std::vector<Expr> formulas = def.residuals;
  for (const Guard& guard : mode.guards) formulas.push_back(guard.value);
  for (const Expr& leaf : leaves_of(formulas))
    if (leaf.is_slot()) def.held.push_back(leaf);
  return def;
}

void check_orders(const HybridSystem& system, const Mode& mode) {
  for (std::size_t i = 0; i < mode.equations.size(); ++i) {
    for (const Expr& leaf : leaves_of(mode.equations[i].residual())) {
      if (leaf.is_variable() && leaf.node()->order > 1)
        throw Error(
            fmt::format("{}: {} of mode '{}' contains {}; introduce a variable for {} so that "
                        "only first derivatives occur",
                        system.name(), equation_name(mode, i), mode.name, to_string(leaf),
                        to_string(system.graph().variable(leaf.node()->variable(), 1))));
    }
  }
}

void check_structure(const HybridSystem& system, const Mode& mode) {
  check_orders(system, mode);
  std::vector<Expr> residuals;
  for (const Equation& e : mode.equations) residuals.push_back(e.residual());
  const std::vector<VariableId> unknowns = unknowns_of(system, mode);
  const Offsets offsets = find_offsets(signature_of(residuals, unknowns));
  const bool too_few = mode.equations.size() < unknowns.size();
  if (offsets.solvable || (!too_few && unknowns.size() <= kLargestByNumbers)) return;
  if (resolve_dependence(write_out(system, mode, unknowns), unknowns, parameter_values(system)))
    return;
  refuse(system, mode, unknowns, offsets);
}

namespace {

// What of the numbers of a run an analysis has read, and whether it could do without.
struct Reading {
  std::set<std::size_t> parameters;
  bool is_as_written = true;  // no equation was replaced because of them
};

// Numbers have the last word in modes too large for the ranks of derivative arrays, too. Puts
// equations whose structure is right in the place of the mode's; says how many were redundant and
// how many unknowns are chosen as small as possible instead.
CharacteristicValues resolve_large(const HybridSystem& system, const Mode& mode,
                                   AnalysedMode& analysed, Reading& reading) {
  CharacteristicValues open;
  if (analysed.unknowns.size() <= kLargestByNumbers) return open;
  auto resolved = resolve_dependence(analysed.written, analysed.unknowns, parameter_values(system),
                                     SplitScope::kConstant, 1.0, &reading.parameters);
  if (!resolved) return open;
  reading.is_as_written = false;
  const std::string where = fmt::format("{} in mode '{}'", system.name(), mode.name);
  if (!resolved->contradictory.empty())
    throw Error(fmt::format("{}: these equations contradict each other: {}", where,
                            equation_list(mode, resolved->contradictory)),
                mode.equations[resolved->contradictory.front()].where);
  std::vector<std::string> redundant;
  for (const auto& equations : resolved->redundant)
    redundant.push_back(
        equations.size() == 1
            ? equation_list(mode, equations) + " says what others say"
            : fmt::format("these equations say the same: {}", equation_list(mode, equations)));
  const std::string unknowns = unknown_list(system, analysed.unknowns, resolved->free_unknowns);
  if (!resolved->determined)
    throw Error(fmt::format("{}: nothing determines {}; give an equation or a control law; {}",
                            where, unknowns, fmt::join(redundant, "; ")),
                mode.equations[resolved->redundant.front().front()].where);
  if (!redundant.empty())
    analysed.warnings.push_back(
        fmt::format("{}: {}; the split between {} is not unique; the smallest values are taken",
                    where, fmt::join(redundant, "; "), unknowns));
  open.v = open.u = static_cast<int>(redundant.size());
  analysed.written = std::move(resolved->definition);
  return open;
}

}  // namespace

namespace {

// A mode as structure has it, for the next run that asks.
struct KeptAnalysis {
  std::shared_ptr<const AnalysedMode> mode;  // null: structure does not settle it
  // Parameters whose values were read, and these: with others the answer may be another one.
  std::vector<std::pair<std::size_t, double>> numbers;
  bool is_as_written = true;

  bool holds_for(const HybridSystem& system) const {
    if (std::ranges::all_of(numbers, [&](const auto& number) {
          return system.parameters()[number.first].value == number.second;
        }))
      return true;
    return is_as_written && mode != nullptr &&
           !resolve_dependence(mode->written, mode->unknowns, parameter_values(system));
  }
};

WorkKey question_about(const HybridSystem& system, const Mode& mode) {
  WorkKey key;
  key.add(mode.name).add(system.variables().size()).add(mode.equations.size());
  for (const Equation& e : mode.equations) key.add(e.name).add(e.equality.lhs).add(e.equality.rhs);
  for (const Guard& guard : mode.guards) key.add(guard.value);
  return key;
}

std::unique_ptr<AnalysedMode> analyse_by_structure(const HybridSystem& system, ModeId id,
                                                   Reading& reading) {
  const Mode& mode = system.modes()[id.index()];
  check_orders(system, mode);
  auto analysed = std::make_unique<AnalysedMode>();
  analysed->id = id;
  analysed->mode = &mode;
  analysed->unknowns = unknowns_of(system, mode);
  analysed->written = write_out(system, mode, analysed->unknowns);
  const DaeDefinition& written = analysed->written;
  const CharacteristicValues open = resolve_large(system, mode, *analysed, reading);
  const Signature signature = signature_of(written.residuals, analysed->unknowns);
  const Offsets offsets = find_offsets(signature);
  if (!offsets.solvable) return nullptr;

  analysed->values = structural_values(offsets);
  analysed->values.a -= open.v;  // equations for the smallest split are none of the mode
  analysed->values.v = open.v;
  analysed->values.u = open.u;
  for (const int d : offsets.d) analysed->differential.push_back(d > 0);
  analysed->mechanics = find_mechanical_structure(written, analysed->unknowns, offsets);
  if (analysed->values.mu > 0) {
    auto form = std::make_unique<ReducedForm>(
        reduce(system.graph(), written, analysed->unknowns, signature, offsets));
    analysed->dae = std::make_unique<const Dae>(form->definition);
    analysed->reduced = std::move(form);
  } else {
    analysed->dae = std::make_unique<const Dae>(written);
  }
  compile_guards(system, mode, *analysed);
  compile_recovery(system, *analysed);
  return analysed;
}

}  // namespace

std::unique_ptr<const AnalysedMode> analyse(const HybridSystem& system, ModeId id) {
  const auto copy_of =
      [&](const std::shared_ptr<const AnalysedMode>& found) -> std::unique_ptr<const AnalysedMode> {
    if (found == nullptr) return nullptr;
    auto copy = std::make_unique<AnalysedMode>(*found);
    copy->id = id;
    copy->mode = &system.modes()[id.index()];
    return copy;
  };
  KeptWork* kept = KeptWork::of(&system.graph());
  Reading reading;
  if (kept == nullptr) return analyse_by_structure(system, id, reading);
  auto& answers = kept->table<KeptAnswers<KeptAnalysis>>();
  WorkKey key = question_about(system, system.modes()[id.index()]);
  const std::shared_ptr<const KeptAnalysis> known = answers.find(key);
  if (known != nullptr && known->holds_for(system)) return copy_of(known->mode);
  KeptAnalysis made{analyse_by_structure(system, id, reading), {}, reading.is_as_written};
  for (const std::size_t k : reading.parameters)
    made.numbers.emplace_back(k, system.parameters()[k].value);
  answers.keep(std::move(key), std::make_shared<const KeptAnalysis>(made));
  return copy_of(made.mode);
}

FormPoint form_point(const HybridSystem& system, const AnalysedMode& mode, double t,
                     const SystemState& state) {
  FormPoint point{.t = t, .x = {}, .dx = {}, .parameters = {}, .held = {}};
  for (const VariableId v :
       mode.formulated != nullptr ? mode.formulated->unknowns : mode.unknowns) {
    point.x.push_back(state.values[v.index()]);
    point.dx.push_back(state.slopes[v.index()]);
  }
  for (const Parameter& p : system.parameters()) point.parameters.push_back(p.value);
  for (const Expr& h : mode.written.held) point.held.push_back(state.value_of(h));
  return point;
}

namespace {

// What a form is made from.
struct FormSource {
  CondensedMode mode;
  Offsets offsets;
  MechanicalStructure mechanics;
};

// The mode without names, if that leaves a mechanical one; as written otherwise.
FormSource source_of(const AnalysedMode& reduced, Formulation formulation) {
  const auto settle = [](FormSource& source) {
    const CondensedMode& mode = source.mode;
    source.offsets = find_offsets(signature_of(mode.definition.residuals, mode.unknowns));
    if (source.offsets.solvable)
      source.mechanics = find_mechanical_structure(mode.definition, mode.unknowns, source.offsets);
  };
  // The minimal extension takes the derivatives it needs as unknowns, whatever their names.
  auto condensed = formulation == Formulation::kMinimal
                       ? std::nullopt
                       : condense(reduced.written, reduced.unknowns);
  if (condensed) {
    FormSource source{std::move(*condensed), {}, {}};
    settle(source);
    bool complete = source.offsets.solvable && source.mechanics.objection.empty();
    for (std::size_t j = 0; j < reduced.unknowns.size() && complete; ++j) {
      if (!reduced.differential[j]) continue;
      const auto has = [&](const std::vector<Expr>& list, const Expr& symbol) {
        return std::ranges::any_of(list, [&](const Expr& e) { return e.same_as(symbol); });
      };
      complete = !has(source.mode.replaced, reduced.written.unknowns[j]) ||
                 has(source.mode.replaced, reduced.written.derivatives[j]);
    }
    if (complete) return source;
  }
  FormSource source{{reduced.written, reduced.unknowns, {}, {}}, {}, reduced.mechanics};
  source.offsets = find_offsets(signature_of(reduced.written.residuals, reduced.unknowns));
  return source;
}

FormPoint point_of(const HybridSystem& system, const AnalysedMode& reduced,
                   const CondensedMode& mode, double t, const SystemState& state) {
  FormPoint point = form_point(system, reduced, t, state);
  point.x.clear();
  point.dx.clear();
  for (const VariableId v : mode.unknowns) {
    point.x.push_back(state.values[v.index()]);
    point.dx.push_back(state.slopes[v.index()]);
  }
  return point;
}

// Lets the form stand for what the mode was condensed by, too.
void extend_rewriting(const CondensedMode& mode, FormulatedMode& form) {
  std::vector<Expr> replacements;
  for (const Expr& value : mode.replacements) replacements.push_back(form.rewrite(value));
  form.replaced.insert(form.replaced.end(), mode.replaced.begin(), mode.replaced.end());
  form.replacements.insert(form.replacements.end(), replacements.begin(), replacements.end());
}

// The mode with another form in place of the reduced one.
std::unique_ptr<const AnalysedMode> with_form(const HybridSystem& system,
                                              const AnalysedMode& reduced, FormulatedMode form) {
  auto analysed = std::make_unique<AnalysedMode>();
  analysed->id = reduced.id;
  analysed->mode = reduced.mode;
  analysed->unknowns = reduced.unknowns;
  analysed->differential = reduced.differential;
  analysed->values = reduced.values;
  analysed->written = reduced.written;
  analysed->mechanics = reduced.mechanics;
  analysed->dae = std::make_unique<const Dae>(form.definition);
  analysed->formulated = std::make_unique<const FormulatedMode>(std::move(form));
  compile_guards(system, *analysed->mode, *analysed);
  compile_recovery(system, *analysed);
  return analysed;
}

}  // namespace

std::unique_ptr<const AnalysedMode> reformulate(const HybridSystem& system,
                                                const AnalysedMode& reduced,
                                                Formulation formulation, double baumgarte, double t,
                                                const SystemState& near, std::string& objection) {
  objection = reduced.mechanics.objection;
  if (formulation == Formulation::kReduced || !objection.empty() ||
      reduced.mechanics.constraints.empty())
    return nullptr;
  const FormSource source = source_of(reduced, formulation);
  if (formulation == Formulation::kOverdetermined &&
      reduced.unknowns.size() > kLargestLeastSquares) {
    objection = fmt::format(
        "its least-squares iteration is dense and meant for at most {} unknowns, the mode has {}; "
        "the minimal extension satisfies the same constraints",
        kLargestLeastSquares, reduced.unknowns.size());
    return nullptr;
  }
  FormulatedMode form = formulate(system.graph(), source.mode.definition, source.mode.unknowns,
                                  source.offsets, source.mechanics, formulation, baumgarte,
                                  point_of(system, reduced, source.mode, t, near));
  extend_rewriting(source.mode, form);
  return with_form(system, reduced, std::move(form));
}

std::unique_ptr<const AnalysedMode> separate_levels(const HybridSystem& system,
                                                    const AnalysedMode& reduced,
                                                    std::string& objection) {
  objection = reduced.mechanics.objection;
  if (!objection.empty() || reduced.mechanics.constraints.empty()) return nullptr;
  const FormSource source = source_of(reduced, Formulation::kVelocity);
  FormulatedMode form = formulate_levels(system.graph(), source.mode.definition,
                                         source.mode.unknowns, source.offsets, source.mechanics);
  extend_rewriting(source.mode, form);
  std::vector<std::size_t> square(form.square_rows());
  std::iota(square.begin(), square.end(), std::size_t{0});
  std::unique_ptr<const AnalysedMode> analysed = with_form(system, reduced, std::move(form));
  const Dae motion = analysed->dae->with_equations(square);
  const Dae velocities = analysed->dae->with_equations(analysed->formulated->levels.velocity);
  const Pattern& pattern = velocities.pattern();
  for (int j = 0; j < pattern.columns; ++j) {
    if (pattern.start[j] == pattern.start[j + 1] || motion.is_differential(j)) continue;
    objection = fmt::format("{} contains '{}', which no equation of motion gives a derivative",
                            velocities.equation_name(pattern.row[pattern.start[j]]),
                            analysed->dae->definition().unknown_names[j]);
    return nullptr;
  }
  return analysed;
}

namespace {

constexpr double kJustAfter = 1e-3;

// Equations of which one follows from the others. Where they read the time or a discrete value,
// that was seen at one instant only.
std::string agreement(const Mode& mode, const std::vector<std::size_t>& equations, double t) {
  bool reads_time = false;
  for (const std::size_t k : equations)
    for (const Expr& leaf : leaves_of(mode.equations[k].residual()))
      reads_time = reads_time || leaf.node()->op == Op::kTime || leaf.node()->op == Op::kSlot;
  const std::string list = equation_list(mode, equations);
  return reads_time ? fmt::format(
                          "these equations agree at t = {:g}, which does not mean that they "
                          "do later: {}",
                          t, list)
                    : fmt::format("these equations say the same: {}", list);
}

}  // namespace

std::unique_ptr<const AnalysedMode> analyse_by_numbers(const HybridSystem& system, ModeId id,
                                                       double t, const SystemState& near) {
  const Mode& mode = system.modes()[id.index()];
  auto analysed = std::make_unique<AnalysedMode>();
  analysed->id = id;
  analysed->mode = &mode;
  analysed->unknowns = unknowns_of(system, mode);
  analysed->written = write_out(system, mode, analysed->unknowns);
  if (analysed->unknowns.empty()) {
    std::vector<std::size_t> all(mode.equations.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    throw Error(fmt::format("{} in mode '{}': no unknown is left for these equations: {}",
                            system.name(), mode.name, equation_list(mode, all)),
                mode.equations.empty() ? SourceLocation{} : mode.equations.front().where);
  }
  std::vector<double> x, dx, parameters, held;
  for (const VariableId v : analysed->unknowns) {
    x.push_back(near.values[v.index()]);
    dx.push_back(near.slopes[v.index()]);
  }
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  for (const Expr& h : analysed->written.held) held.push_back(near.value_of(h));

  const ArrayAnalysis array =
      analyse_array(system.graph(), analysed->written, t, x, dx, parameters, held);
  const std::string where = fmt::format("{} at t = {:g} in mode '{}'", system.name(), t, mode.name);
  if (!array.contradictory_equations.empty())
    throw Error(fmt::format("{}: these equations contradict each other: {}", where,
                            equation_list(mode, array.contradictory_equations)));
  if (!array.holds)
    throw Error(
        fmt::format("{}: the equations are singular; the strangeness index could not be "
                    "determined (checked up to {})",
                    where, array.values.mu));
  if (array.values.u > 0 && !is_split_of_forces(analysed->written, array)) {
    std::string text =
        fmt::format("{}: nothing determines {}; give an equation or a control law", where,
                    unknown_list(system, analysed->unknowns, array.free_unknowns));
    // Sources that pass through the same value agree at that instant, and contradict each other
    // ever after.
    const double later = t + kJustAfter * std::max(1.0, std::abs(t));
    const std::vector<std::size_t> contradictory =
        analyse_array(system.graph(), analysed->written, later, x, dx, parameters, held)
            .contradictory_equations;
    if (!contradictory.empty())
      text += fmt::format("; just after, these equations contradict each other: {}",
                          equation_list(mode, contradictory));
    else if (!array.redundant_equations.empty())
      text += "; " + agreement(mode, array.redundant_equations, t);
    throw Error(text);
  }
  if (!array.consistent)
    throw Error(fmt::format("{}: no point satisfies the equations and their derivatives", where));
  if (array.values.u > 0)
    analysed->warnings.push_back(
        fmt::format("{}: the split between {} is not unique; the smallest values are taken", where,
                    unknown_list(system, analysed->unknowns, array.free_unknowns)));
  else if (!array.redundant_equations.empty())
    analysed->warnings.push_back(
        fmt::format("{}: {}", where, agreement(mode, array.redundant_equations, t)));
  analysed->values = array.values;
  analysed->split_unknowns = array.free_unknowns;
  auto form = std::make_unique<ProjectedForm>(project(system.graph(), analysed->written, array));
  for (std::size_t j = 0; j < analysed->unknowns.size(); ++j)
    analysed->differential.push_back(form->definition.controlled[j]);
  analysed->dae = std::make_unique<const Dae>(form->definition);
  analysed->projected = std::move(form);
  const Offsets offsets =
      find_offsets(signature_of(analysed->written.residuals, analysed->unknowns));
  if (offsets.solvable)
    analysed->mechanics = find_mechanical_structure(analysed->written, analysed->unknowns, offsets);
  compile_guards(system, mode, *analysed);
  compile_recovery(system, *analysed);
  return analysed;
}

bool highest_level_is_regular(const AnalysedMode& mode, const DaeData& data, double t,
                              const double* x, const double* dx) {
  const DaeDefinition& written = mode.written;
  const std::size_t n = written.unknowns.size();
  if (n == 0 || n > kLargestDenseRank || written.residuals.size() != n) return true;
  struct Entry {
    Eigen::Index row, column;
  };
  std::vector<Entry> entries;
  std::vector<Expr> values;
  const auto collect = [&](const std::vector<Expr>& symbols, int order) {
    for (const JacobianEntry& e : jacobian(written.residuals, symbols)) {
      const int highest = mode.reduced->unknown_orders[e.column];
      if (order + mode.reduced->differentiated[e.row] != highest) continue;
      entries.push_back({static_cast<Eigen::Index>(e.row), static_cast<Eigen::Index>(e.column)});
      values.push_back(mode.rewrite(e.value));
    }
  };
  collect(written.unknowns, 0);
  collect(written.derivatives, 1);
  const Tape tape(values, mode.dae->definition().inputs(), TapeCode::kInterpreted);
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> numbers(values.size());
  const double* inputs[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  tape.evaluate(inputs, registers, numbers.data());
  const auto size = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (!std::isfinite(numbers[k])) return true;  // nothing can be said here
    matrix(entries[k].row, entries[k].column) += numbers[k];
  }
  // Units must not look like dependence: rows and columns are scaled to size one.
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (Eigen::Index i = 0; i < size; ++i)
      if (const double s = matrix.row(i).cwiseAbs().maxCoeff(); s > 0.0) matrix.row(i) /= s;
    for (Eigen::Index j = 0; j < size; ++j)
      if (const double s = matrix.col(j).cwiseAbs().maxCoeff(); s > 0.0) matrix.col(j) /= s;
  }
  return PivotedQr(matrix).pivots().minCoeff() > kRankTolerance;
}

namespace {

// Rows and columns that are left when results are taken away, with the equations that give them:
// algebraic unknowns that one equation of those left reads, as +-1 times the unknown. What else
// such an equation reads, however steeply (y = sqrt(x) at x = 0), says nothing about the others.
struct WithoutResults {
  std::vector<Eigen::Index> rows, columns;
};

WithoutResults without_results(const Dae& dae, const std::vector<double>& values) {
  const Pattern& pattern = dae.pattern();
  std::vector<bool> row_left(static_cast<std::size_t>(pattern.rows), true);
  std::vector<bool> column_left(static_cast<std::size_t>(pattern.columns), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (int j = 0; j < pattern.columns; ++j) {
      const auto column = static_cast<std::size_t>(j);
      if (!column_left[column] || dae.is_differential(column)) continue;
      int readers = 0;
      int place = 0;
      for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
        if (!row_left[static_cast<std::size_t>(pattern.row[k])]) continue;
        ++readers;
        place = k;
      }
      if (readers != 1 || std::abs(values[static_cast<std::size_t>(place)]) != 1.0) continue;
      row_left[static_cast<std::size_t>(pattern.row[place])] = column_left[column] = false;
      changed = true;
    }
  }
  WithoutResults left;
  for (std::size_t i = 0; i < row_left.size(); ++i)
    if (row_left[i]) left.rows.push_back(static_cast<Eigen::Index>(i));
  for (std::size_t j = 0; j < column_left.size(); ++j)
    if (column_left[j]) left.columns.push_back(static_cast<Eigen::Index>(j));
  return left;
}

}  // namespace

RankReport measure_ranks(const Dae& dae, DaeData& data, double t, const double* x,
                         const double* dx) {
  RankReport report;
  const Pattern& pattern = dae.pattern();
  const std::size_t n = dae.unknown_count();
  if (n == 0) return report;
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  if (n > kLargestDenseRank) {
    for (std::size_t j = 0; j < n; ++j) report.values.d += dae.is_differential(j) ? 1 : 0;
    report.values.a = static_cast<int>(n) - report.values.d;
    return report;
  }
  std::vector<double> values(2 * nonzeros);
  dae.jacobian(data, t, x, dx, values.data());
  const auto [rows, columns] = without_results(dae, values);
  const std::vector<double>& nominal = dae.definition().nominal;
  Eigen::MatrixXd by_x = dense(pattern, values.data(), nominal)(rows, columns);
  Eigen::MatrixXd by_dx = dense(pattern, values.data() + nonzeros, nominal)(rows, columns);
  report.values.a = static_cast<int>(n - columns.size());
  if (columns.empty()) return report;
  for (Eigen::Index i = 0; i < by_x.rows(); ++i) {
    const double slope_size = by_dx.row(i).cwiseAbs().maxCoeff();
    const double size = slope_size > 0.0 ? slope_size : by_x.row(i).cwiseAbs().maxCoeff();
    if (size > 0.0) {
      by_x.row(i) /= size;
      by_dx.row(i) /= size;
    }
  }
  const SingularValues slopes = singular_values(by_dx);
  const Eigen::Index d = by_dx.isZero(0.0) ? 0 : slopes.rank(kRankTolerance);
  report.values.d = static_cast<int>(d);
  report.values.a = static_cast<int>(n) - report.values.d;
  // The constraints Z2^T F_x must fix what F_x' leaves free: Z2^T F_x T2 nonsingular.
  const Eigen::Index a = static_cast<Eigen::Index>(columns.size()) - d;
  if (a == 0) return report;
  const Eigen::MatrixXd free = slopes.v.rightCols(a);
  const Eigen::MatrixXd core = slopes.u.rightCols(a).transpose() * by_x * free;
  const SingularValues inner = singular_values(core);
  // Against the size of what it was computed from: a core of rounding errors is singular.
  if (!(inner.s(a - 1) > kRankTolerance * by_x.norm())) {
    report.strangeness_free = false;
    const Eigen::VectorXd direction = free * inner.v.col(a - 1);
    Eigen::Index worst = 0;
    direction.cwiseAbs().maxCoeff(&worst);
    report.suspicious_unknown = static_cast<std::size_t>(columns[static_cast<std::size_t>(worst)]);
  }
  return report;
}

}  // namespace saltus
