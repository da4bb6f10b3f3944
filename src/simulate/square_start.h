#pragma once

#include <memory>
#include <vector>

#include "analysis/consistent.h"
#include "expr/graph.h"
#include "model/dae.h"

namespace saltus {

// Start values of a mode too large for dense least changes: structure chooses as many unknowns as
// there are equations, initial ones included, and Newton's method solves for them. What is given
// (under der()) keeps its value unless an initial equation needs it, what is fixed always.
class SquareStart {
 public:
  // Rows of `definition`: equations of the mode, then initial ones.
  SquareStart(Graph& graph, const DaeDefinition& definition, const std::vector<bool>& given,
              const std::vector<bool>& fixed);

  // An equation that no unknown is left for; the number of equations if there is none.
  std::size_t excess_equation() const { return excess_; }

  // Pre: no excess equation. `data`: of a Dae made from the definition.
  ConsistentOutcome solve(const DaeData& data, double t, std::vector<double>& x,
                          std::vector<double>& dx);

 private:
  std::size_t excess_ = 0;
  std::vector<std::size_t> chosen_, kept_;  // columns: of x, then of x'
  std::unique_ptr<const Dae> dae_;
  std::unique_ptr<ConsistentSolver> solver_;
};

}  // namespace saltus
