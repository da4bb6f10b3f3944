#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "analysis/eliminate.h"
#include "base/error.h"
#include "realtime/mode_core.h"
#include "simulate/core_writer.h"

namespace saltus {
namespace {

std::unique_ptr<const EliminatedForm> eliminated_form(const ModeRun& run,
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

ModeCore core_by_structure(const HybridSystem& system, std::unique_ptr<ModeRun> run) {
  const AnalysedMode& mode = run->analysed();
  const auto refuse = [&](const std::string& why) {
    throw Error(
        fmt::format("mode '{}' cannot be prepared for fixed steps: {}", run->mode().name, why));
  };
  if (mode.projected != nullptr)
    refuse("its equations are redundant, or their structure does not tell its constraints");
  if (mode.formulated != nullptr) refuse("it is not in reduced form");
  if (mode.reduced != nullptr && !mode.reduced->constant_entries)
    refuse("which of its unknowns are states depends on where it is");
  std::vector<double> parameters;
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  std::shared_ptr<const EliminatedForm> form = eliminated_form(*run, parameters);
  if (form->core->equation_count() != form->core->unknown_count())
    refuse("it has not as many equations as unknowns");
  ModeCore core{run->mode().name, mode.unknowns, mode.differential, form->core, {}};
  const std::shared_ptr<ModeRun> kept = std::move(run);
  core.run = kept;
  core.written = {kept, &kept->analysed().written};
  core.write = [kept, form](const Expr& a) -> std::optional<Expr> {
    CoreWriter writer(kept->analysed(), *form);
    Expr written = writer.write(a);
    if (writer.is_incomplete()) return std::nullopt;
    return written;
  };
  return core;
}

}  // namespace saltus
