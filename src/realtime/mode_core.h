#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/dae.h"
#include "model/system.h"
#include "simulate/mode_run.h"

namespace saltus {

// What is integrated of a mode: the core F(t, x, x') = 0, as many equations as unknowns, whose
// differential unknowns are the states; everything else of the mode follows by formulas.
struct ModeCore {
  std::string name;                  // of the mode
  std::vector<VariableId> unknowns;  // of the mode
  std::vector<bool> differential;    // by unknown: its derivative is known, too
  std::shared_ptr<const Dae> dae;    // the core
  // An expression of the system in the symbols of the core; none if it reads a derivative that the
  // core does not know.
  std::function<std::optional<Expr>(const Expr&)> write;
  // Formulas of parameters and slots with the values they were made for; others need another core.
  std::vector<std::pair<Expr, double>> frozen = {};
  std::shared_ptr<const DaeDefinition> written = nullptr;  // the mode, in these unknowns
  std::shared_ptr<ModeRun> run = nullptr;  // of the offline engine; null: reduced by numbers
};

// From the analysis of the offline engine: structure finds the hidden constraints. `run` has made a
// consistent point of the mode. Throws Error that says why not.
ModeCore core_by_structure(const HybridSystem& system, std::unique_ptr<ModeRun> run);

// From the numbers in the equations, which must be linear with constant coefficients where hidden
// constraints are concerned. Equations may be redundant: where locked elements form a cycle, the
// torques are those of least norm. Coefficients that read slots count as they are now, and are told
// in `frozen`. Throws Error that says why not.
ModeCore core_by_numbers(const HybridSystem& system, const Mode& mode,
                         const std::vector<double>& parameters, const std::vector<double>& slots);

}  // namespace saltus
