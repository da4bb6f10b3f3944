#pragma once

#include <cstddef>
#include <vector>

#include "analysis/reduce.h"
#include "analysis/stage_elimination.h"
#include "expr/tape.h"
#include "model/dae.h"

namespace saltus {

// Chooses which candidate rows of a reduced form are in force, from numbers: what the
// differentiated equations are solved for, stage by stage, is dependent; the rest are states.
class StateSelector {
 public:
  // `form` must outlive the selector.
  explicit StateSelector(const ReducedForm& form);

  // The states to use at this point, as candidate indices in increasing order; empty if the
  // differentiated equations are dependent there.
  std::vector<std::size_t> select(DaeData& data, double t, const double* x, const double* dx);
  // Whether the last choice, if it is `current`, still serves at this point. It does until another
  // is clearly better, so that states do not flutter. Much cheaper than a choice.
  bool stands(DaeData& data, double t, const double* x, const double* dx,
              const std::vector<std::size_t>& current);
  // Whether the last choice failed because equations are dependent; one without states is empty
  // too.
  bool found_dependence() const { return found_dependence_; }
  // After that: the equation of the mode that depends on others there, and the unknowns
  // of the mode it contains on the level of highest derivatives.
  std::size_t dependent_equation() const { return dependent_equation_; }
  const std::vector<std::size_t>& dependent_unknowns() const { return dependent_unknowns_; }

 private:
  void evaluate(DaeData& data, double t, const double* x, const double* dx);
  bool changed_little() const;
  void remember_values();
  void report_dependence(std::size_t equation);

  const ReducedForm& form_;
  Tape::Workspace registers_;
  std::vector<double> values_;
  std::vector<StageElimination> stages_;
  std::vector<std::size_t> chosen_;
  bool has_choice_ = false;
  // When the choice was made or confirmed: values_, the largest of each equation, and the smallest
  // pivot relative to its equation.
  std::vector<double> chosen_at_;
  std::vector<double> row_sizes_;
  double smallest_pivot_ = 1.0;
  bool found_dependence_ = false;
  std::size_t dependent_equation_ = 0;
  std::vector<std::size_t> dependent_unknowns_;
};

}  // namespace saltus
