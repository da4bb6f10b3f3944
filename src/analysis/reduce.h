#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/structure.h"
#include "expr/tape.h"
#include "model/dae.h"
#include "model/system.h"

namespace saltus {

// The reduced form of a mode of higher index: all equations together with the derivatives that
// reveal their hidden constraints, in the unknowns and those of their derivatives that are needed,
// and for the unknowns that may serve as states a row "d/dt x = the symbol of its derivative".
// Exactly as many of those rows are in force as there are degrees of freedom; which ones is a
// matter of numbers (StateSelector) and may change from step to step without changing the solution.
//
// Equations that only equate two symbols (der(x) = u and its derivative) are eliminated.
struct ReducedForm {
  DaeDefinition definition;    // residuals: the equations, then one row for each candidate
  std::size_t fixed_rows = 0;  // always in force
  std::size_t states = 0;      // candidates in force, = d minus the states that are never in doubt

  // Candidate row fixed_rows + k differentiates the unknown candidates[k].
  std::vector<std::size_t> candidates;

  std::vector<std::string> hidden;  // the constraints found by differentiation, as text
  std::vector<int> differentiated;  // by equation of the mode
  // Eliminated symbols and what stands for them.
  std::unordered_map<const Node*, Expr> replacements;

  // The choice of states, stage by stage (Mattsson & Soderlind; Pryce). An entry of the matrix of
  // highest derivatives restricted to differentiated equations: its value belongs to every stage.
  struct Entry {
    std::size_t equation = 0;  // index into stage_counts
    std::size_t unknown = 0;   // index into unknown_orders
    bool constant = false;
  };
  std::vector<Entry> entries;
  bool constant_entries = true;              // none changes within the mode, nor does the choice
  Tape entry_values;                         // same inputs as the Dae
  std::vector<int> equation_stages;          // by differentiated equation: c_i
  std::vector<std::size_t> stage_equations;  // and its place in the mode
  std::vector<int> unknown_orders;           // by differentiated unknown: d_j
  // symbol_candidates[u][k]: candidate of the k-th derivative of unknown u, or npos.
  std::vector<std::vector<std::size_t>> symbol_candidates;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  // An expression of the mode in terms of the reduced unknowns.
  Expr rewrite(const Expr& a) const;

  // A fixed start value of an eliminated unknown is one of the unknown that stands for it. `values`
  // and `fixed`: by VariableId; the others: by unknown of `definition`.
  void fix_replacements(const std::vector<double>& values, const std::vector<bool>& fixed,
                        std::vector<bool>& fixed_unknowns, std::vector<double>& x) const;
};

// Pre: offsets.solvable. `definition` is the mode as written (unknowns of order 0).
ReducedForm reduce(Graph& graph, const DaeDefinition& definition,
                   const std::vector<VariableId>& unknowns, const Signature& signature,
                   const Offsets& offsets);

}  // namespace saltus
