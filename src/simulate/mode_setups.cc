#include "simulate/mode_setups.h"

#include <numeric>
#include <utility>

#include "base/kept_work.h"
#include "base/processor_time.h"
#include "integrate/derivative_array_method.h"
#include "integrate/half_explicit.h"
#include "integrate/ida.h"
#include "integrate/radau.h"
#include "integrate/recovered.h"

namespace saltus {
namespace {

constexpr std::size_t kMostSetups = 64;

// Eliminated forms for the next run that asks.
struct KeptForms {
  struct OfRows {
    std::shared_ptr<const Dae> dae;  // stays alive
    std::vector<std::size_t> coefficients;
    std::map<std::vector<double>, std::shared_ptr<const EliminatedForm>> by_numbers;
  };
  std::map<std::pair<const Dae*, std::vector<std::size_t>>, OfRows> by_rows;
};

}  // namespace

ModeSetups::ModeSetups(Graph& graph, const AnalysedMode& mode, DaeData& data, Method method,
                       IntegratorOptions options)
    : graph_(graph), mode_(mode), data_(data), method_(method), options_(std::move(options)) {}

ModeSetup& ModeSetups::at(const std::vector<std::size_t>& states, bool shares_forces) {
  std::map<std::vector<std::size_t>, ModeSetup>& setups = shares_forces ? sharing_ : setups_;
  const auto found = setups.find(states);
  if (found != setups.end()) return found->second;
  const BuildingTime building;
  Dae dae = *mode_.dae;
  if (shares_forces) {
    DaeDefinition definition = dae.definition();
    definition.redundant = true;
    dae = Dae(std::move(definition));
  }
  if (mode_.reduced != nullptr) dae = dae.with_equations(rows_of(states));
  if (has_level_rows()) {
    std::vector<std::size_t> rows(mode_.formulated->square_rows());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    dae = dae.with_equations(std::move(rows));
  }
  return setups.emplace(states, ModeSetup{std::move(dae), states, {}, {}, {}, {}, 0}).first->second;
}

ConsistentSolver& ModeSetups::consistent_of(ModeSetup& setup) {
  if (setup.consistent == nullptr) {
    const BuildingTime building;
    setup.consistent = std::make_unique<ConsistentSolver>(setup.dae);
  }
  return *setup.consistent;
}

std::vector<std::size_t> ModeSetups::rows_of(const std::vector<std::size_t>& states) const {
  std::vector<std::size_t> rows(mode_.reduced->fixed_rows);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  for (const std::size_t k : states) rows.push_back(mode_.reduced->fixed_rows + k);
  return rows;
}

Integrator& ModeSetups::integrator_of(ModeSetup& setup) {
  if (setup.integrator != nullptr) return *setup.integrator;
  const BuildingTime building;
  if (!may_eliminate(setup) || !integrate_core(setup))
    setup.integrator = make_integrator(setup.dae);
  return *setup.integrator;
}

// The integrator is made for it where the choice of states stands: a mode that is asked for points
// is likely to be entered, and analysing it has cost more.
bool ModeSetups::complete(ModeSetup& setup, double t, double* x, double* dx) {
  return may_eliminate(setup) && mode_.reduced->constant_entries &&
         integrator_of(setup).complete(t, x, dx);
}

CoreColumns* ModeSetups::columns_of(const HybridSystem& system, ModeSetup& setup,
                                    const std::vector<Expr>& columns) {
  if (setup.eliminated == nullptr || setup.integrator == nullptr ||
      !setup.integrator->gives_all_else())
    return nullptr;
  if (setup.columns_tried != columns.size()) {
    const BuildingTime building;
    setup.columns_tried = columns.size();
    setup.columns = CoreColumns::make(system, mode_, *setup.eliminated, columns);
  }
  return setup.columns.get();
}

// One form serves for all values of parameters that are no coefficients.
std::shared_ptr<const EliminatedForm> ModeSetups::eliminate_from(
    const std::vector<std::size_t>& rows) const {
  const DaeDefinition& whole = mode_.dae->definition();
  const auto eliminated = [&](const std::vector<std::size_t>& coefficients) {
    return std::shared_ptr<const EliminatedForm>(
        eliminate(whole, rows, mode_.reduced->fixed_rows, data_.parameters, coefficients));
  };
  KeptWork* kept = KeptWork::of(&graph_);
  if (kept == nullptr) return eliminated(coefficients_of(whole, rows));
  constexpr std::size_t kMostModes = 1000;
  KeptForms& forms = kept->table<KeptForms>();
  if (forms.by_rows.size() >= kMostModes) forms.by_rows.clear();
  const auto [place, is_new] = forms.by_rows.try_emplace({mode_.dae.get(), rows});
  KeptForms::OfRows& of_rows = place->second;
  if (is_new) of_rows = {mode_.dae, coefficients_of(whole, rows), {}};
  std::vector<double> numbers;
  for (const std::size_t k : of_rows.coefficients) numbers.push_back(data_.parameters[k]);
  constexpr std::size_t kMost = 64;
  if (of_rows.by_numbers.size() >= kMost) of_rows.by_numbers.clear();
  const auto [form, is_new_form] = of_rows.by_numbers.try_emplace(std::move(numbers));
  if (is_new_form) form->second = eliminated(of_rows.coefficients);
  return form->second;
}

// False if nothing can be eliminated. Where the choice of states is made for good, what they
// determine goes; elsewhere what no choice would integrate, once for all choices.
bool ModeSetups::integrate_core(ModeSetup& setup) {
  const ReducedForm& reduced = *mode_.reduced;
  if (reduced.constant_entries) {
    setup.eliminated = eliminate_from(rows_of(setup.states));
  } else {
    if (!tried_eliminating_) {
      std::vector<std::size_t> all(mode_.dae->definition().residuals.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      eliminated_ = eliminate_from(all);
    }
    tried_eliminating_ = true;
    if (eliminated_ != nullptr) setup.eliminated = with_rows(*eliminated_, rows_of(setup.states));
  }
  if (setup.eliminated == nullptr) return false;
  setup.integrator = std::make_unique<RecoveredRadau>(*setup.eliminated, data_, options_);
  return true;
}

std::unique_ptr<Integrator> ModeSetups::make_integrator(const Dae& dae) {
  if (method_ == Method::kHalfExplicit)
    return has_level_rows() ? std::make_unique<HalfExplicit>(*mode_.dae, data_, options_,
                                                             mode_.formulated->levels)
                            : std::make_unique<HalfExplicit>(dae, data_, options_, LevelRows());
  if (uses_array_method() && mode_.projected != nullptr)
    return std::make_unique<DerivativeArrayMethod>(
        graph_, mode_.written, mode_.values,
        std::vector<bool>(dae.definition().controlled.begin(),
                          dae.definition().controlled.begin() +
                              static_cast<std::ptrdiff_t>(mode_.unknowns.size())),
        data_, options_);
  // IDA solves square systems only, and none without unknowns.
  if (method_ == Method::kBdf && !dae.definition().redundant && dae.unknown_count() > 0)
    return make_ida(dae, data_, options_);
  return std::make_unique<Radau>(dae, data_, options_);
}

// Long chains hardly ever come back to a choice of states they have left.
void ModeSetups::forget_others(const ModeSetup& kept) {
  if (setups_.size() <= kMostSetups) return;
  for (auto at = setups_.begin(); at != setups_.end();) {
    if (&at->second == &kept) {
      ++at;
      continue;
    }
    if (at->second.integrator != nullptr) earlier_ += at->second.integrator->counts();
    at = setups_.erase(at);
  }
}

IntegratorCounts ModeSetups::counts() const {
  IntegratorCounts total = earlier_;
  for (const auto* setups : {&setups_, &sharing_})
    for (const auto& [states, setup] : *setups)
      if (setup.integrator != nullptr) total += setup.integrator->counts();
  return total;
}

}  // namespace saltus
