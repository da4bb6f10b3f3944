// Other formulations of a mode, in a survey.

#include "analysis/analysed_mode.h"
#include "analysis/pencil.h"
#include "analysis/report.h"

namespace saltus {
namespace {

// What simulations use unless told otherwise; the ranks do not depend on it.
constexpr double kBaumgarte = 10.0;

std::optional<CharacteristicValues> values_of(const HybridSystem& system, const AnalysedMode& form,
                                              double t, const SystemState& near) {
  const Dae& dae = *form.dae;
  const DaeDefinition& def = dae.definition();
  DaeData data = dae.make_data();
  data.parameters.clear();
  data.held.clear();
  for (const Parameter& p : system.parameters()) data.parameters.push_back(p.value);
  for (const Expr& h : def.held) data.held.push_back(near.value_of(h));
  std::vector<double> x;
  for (const Expr& symbol : def.unknowns) {
    const std::size_t i = symbol.node()->index;
    x.push_back(i < near.values.size() && symbol.node()->order == 0 ? near.values[i] : 0.0);
  }
  const std::vector<double> dx(x.size(), 0.0);
  return pencil_values(dae, data, t, x.data(), dx.data());
}

}  // namespace

void describe_form(const HybridSystem& system, ModeId id, Formulation formulation, double t,
                   const SystemState& near, ModeAnalysis& report) {
  const std::unique_ptr<const AnalysedMode> reduced = analyse(system, id);
  const auto note = [&](const std::string& text) {
    report.note += (report.note.empty() ? "" : "; ") + text;
  };
  if (reduced == nullptr) {
    note("as written: structure does not settle this mode, so it has no other form");
    return;
  }
  std::unique_ptr<const AnalysedMode> other;
  if (formulation != Formulation::kReduced) {
    std::string objection;
    other = reformulate(system, *reduced, formulation, kBaumgarte, t, near, objection);
    if (other == nullptr) {
      note(objection.empty() ? "as written: it has no constraints" : "as written: " + objection);
      return;
    }
  }
  const AnalysedMode& form = other != nullptr ? *other : *reduced;
  report.unknowns = form.dae->unknown_count();
  report.equations = form.dae->equation_count();
  if (other == nullptr) {
    // One row for each candidate is listed, as many as there are states are in force.
    if (form.reduced != nullptr) report.equations = form.reduced->fixed_rows + form.reduced->states;
    report.values = {
        .mu = 0, .d = report.values.d, .a = static_cast<int>(report.unknowns) - report.values.d};
  } else if (const auto values = values_of(system, form, t, near)) {
    report.values = *values;
  } else {
    note("the linearised equations are singular: no values");
  }
  report.hidden.clear();
  report.differentiated.clear();
  report.redundant.clear();
}

}  // namespace saltus
