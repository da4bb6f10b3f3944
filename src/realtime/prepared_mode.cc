#include "realtime/prepared_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "expr/differentiate.h"
#include "simulate/core_writer.h"

namespace saltus {
namespace {

std::unique_ptr<const EliminatedForm> core_of(const ModeRun& run,
                                              const std::vector<double>& parameters) {
  const AnalysedMode& mode = run.analysed();
  const DaeDefinition& whole = mode.dae->definition();
  std::vector<std::size_t> rows(mode.reduced != nullptr ? mode.reduced->fixed_rows
                                                        : whole.residuals.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::size_t solvable = rows.size();
  for (const std::size_t k : run.states()) rows.push_back(solvable + k);
  std::unique_ptr<const EliminatedForm> form = eliminate(whole, rows, solvable, parameters);
  if (form != nullptr) return form;
  auto all = std::make_unique<EliminatedForm>();
  all->core = std::make_shared<const Dae>(mode.dae->with_equations(rows));
  all->kept.resize(whole.unknowns.size());
  std::iota(all->kept.begin(), all->kept.end(), std::size_t{0});
  return all;
}

}  // namespace

fs_place place_of(const Expr& symbol) {
  const Node& node = *symbol.node();
  if (symbol.is_slot()) return {FS_SLOT, node.slot().index()};
  if (!symbol.is_variable() || node.order > 1) return {FS_ZERO, 0};
  return {node.order == 0 ? FS_VALUE : FS_SLOPE, node.index};
}

PreparedMode::PreparedMode(const HybridSystem& system, std::unique_ptr<ModeRun> run,
                           const RealtimeFormulas& formulas, std::vector<std::size_t> guards,
                           bool may_be_affine)
    : run_(std::move(run)), guards_(std::move(guards)) {
  const AnalysedMode& mode = run_->analysed();
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("mode '{}' cannot be prepared for fixed steps: {}", name(), why));
  };
  if (mode.projected != nullptr)
    refuse("its equations are redundant, or their structure does not tell its constraints");
  if (mode.formulated != nullptr) refuse("it is not in reduced form");
  if (mode.reduced != nullptr && !mode.reduced->constant_entries)
    refuse("which of its unknowns are states depends on where it is");
  std::vector<double> parameters;
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  form_ = core_of(*run_, parameters);
  const Dae& core = *form_->core;
  const std::size_t n = core.unknown_count();
  if (core.equation_count() != n) refuse("it has not as many equations as unknowns");
  const DaeDefinition& definition = core.definition();
  list_unknowns(core);

  CoreWriter writer(mode, *form_);
  const auto write_all = [&](const std::vector<Expr>& all, const char* what) {
    std::vector<Expr> written;
    for (const Expr& a : all) written.push_back(writer.write(a));
    if (writer.is_incomplete())
      refuse(fmt::format("{} reads the derivative of a variable that is no state", what));
    return written;
  };
  const std::vector<Expr> relations = write_all(formulas.relations, "a relation");
  std::vector<Expr> variables;
  for (std::size_t j = 0; j < mode.unknowns.size(); ++j) {
    const Expr symbol = system.variable(mode.unknowns[j]).symbol;
    variables.push_back(symbol);
    targets_.push_back({FS_VALUE, mode.unknowns[j].index()});
    if (!mode.differential[j]) continue;
    variables.push_back(der(symbol));
    targets_.push_back({FS_SLOPE, mode.unknowns[j].index()});
  }
  variables = write_all(variables, "an equation");
  std::vector<Expr> outputs;
  for (const Expr& a : formulas.outputs) {
    CoreWriter own(mode, *form_);
    const Expr written = own.write(a);
    outputs.push_back(own.is_incomplete() ? Expr(std::numeric_limits<double>::quiet_NaN())
                                          : written);
  }
  for (const VariableId id : formulas.reset) {
    fs_reset reset{FS_NONE, 1.0};
    const Expr value = writer.write(system.variable(id).symbol);
    for (const std::size_t i : differential_) {
      if (value.same_as(definition.unknowns[i])) reset = {i, 1.0};
      if (value.same_as(-definition.unknowns[i])) reset = {i, -1.0};
    }
    resets_.push_back(reset);
  }

  std::vector<Expr> residuals;
  for (std::size_t i = 0; i < n; ++i) residuals.push_back(core.formula(i));
  std::vector<Expr> read = definition.held;
  for (const std::vector<Expr>* list :
       {&relations, &std::as_const(variables), &std::as_const(outputs)})
    for (const Expr& leaf : leaves_of(*list)) read.push_back(leaf);
  list_held(read);
  const std::vector<std::vector<Expr>> inputs = {{definition.time},
                                                 definition.unknowns,
                                                 definition.derivatives,
                                                 definition.parameters,
                                                 held_symbols_};
  residual_ = TapeFormulas(residuals, inputs);
  relations_ = TapeFormulas(relations, inputs);
  variables_ = TapeFormulas(variables, inputs);
  outputs_ = TapeFormulas(outputs, inputs);
  tables_.is_affine = may_be_affine && core.has_constant_jacobian() ? 1 : 0;
  for (const Expr& leaf : leaves_of(residuals))
    if (leaf.same_as(system.time()) || leaf.same_as(definition.time)) tables_.reads_time = 1;
  differentiate(definition, residuals);

  tables_.n = n;
  tables_.d = differential_.size();
  tables_.differential = differential_.data();
  tables_.algebraic = algebraic_.data();
  tables_.nominal = nominal_.data();
  tables_.guess = guess_.data();
  tables_.held_count = held_.size();
  tables_.held = held_.data();
  tables_.key_count = key_.size();
  tables_.key = key_.data();
  tables_.residual = residual_.formulas();
  tables_.jacobian = jacobian_.formulas();
  tables_.entry_count = entries_.size();
  tables_.entries = entries_.data();
  tables_.relations = relations_.formulas();
  tables_.outputs = outputs_.formulas();
  tables_.variables = variables_.formulas();
  tables_.target_count = targets_.size();
  tables_.targets = targets_.data();
  tables_.resets = resets_.data();
  tables_.guard_count = guards_.size();
  tables_.guards = guards_.data();
}

void PreparedMode::list_unknowns(const Dae& core) {
  const DaeDefinition& definition = core.definition();
  for (std::size_t i = 0; i < core.unknown_count(); ++i) {
    (core.is_differential(i) ? differential_ : algebraic_).push_back(i);
    guess_.push_back(place_of(definition.unknowns[i]));
    nominal_.push_back(definition.nominal[i]);
  }
}

// What formulas read besides time, unknowns and parameters: slots and variables of other modes.
void PreparedMode::list_held(const std::vector<Expr>& read) {
  const DaeDefinition& definition = form_->core->definition();
  std::unordered_set<const Node*> listed;
  for (const auto* symbols : {&definition.unknowns, &definition.derivatives})
    for (const Expr& symbol : *symbols) listed.insert(symbol.node());
  for (const Expr& leaf : read)
    if ((leaf.is_slot() || leaf.is_variable()) && listed.insert(leaf.node()).second) {
      held_symbols_.push_back(leaf);
      held_.push_back(place_of(leaf));
    }
}

void PreparedMode::differentiate(const DaeDefinition& definition,
                                 const std::vector<Expr>& residuals) {
  std::vector<Expr> values;
  std::unordered_set<const Node*> read;
  for (const bool is_slope : {false, true})
    for (const JacobianEntry& entry :
         jacobian(residuals, is_slope ? definition.derivatives : definition.unknowns)) {
      entries_.push_back({entry.row, entry.column, is_slope ? 1 : 0});
      values.push_back(entry.value);
      for (const Expr& leaf : leaves_of(entry.value)) read.insert(leaf.node());
    }
  jacobian_ = TapeFormulas(values, {{definition.time},
                                    definition.unknowns,
                                    definition.derivatives,
                                    definition.parameters,
                                    held_symbols_});
  for (std::size_t k = 0; k < held_symbols_.size(); ++k)
    if (read.contains(held_symbols_[k].node())) key_.push_back(k);
}

void PreparedMode::add_configuration(const fs_configuration& made) {
  const std::size_t n = tables_.n;
  const std::size_t d = tables_.d;
  const auto keep = [&](const double* from, std::size_t count) {
    return numbers_.emplace_back(from, from + count).data();
  };
  fs_configuration kept{};
  kept.key = keep(made.key, key_.size());
  kept.inverse = keep(made.inverse, n * n);
  kept.reaction = keep(made.reaction, n * d);
  kept.a = keep(made.a, d * d);
  kept.first = keep(made.first, (FS_LEVELS + 1) * d * d);
  kept.second = keep(made.second, (FS_LEVELS + 1) * d * d);
  configurations_.push_back(kept);
  tables_.configuration_count = configurations_.size();
  tables_.configurations = configurations_.data();
}

}  // namespace saltus
