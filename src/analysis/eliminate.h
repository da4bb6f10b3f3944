#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "expr/tape.h"
#include "model/dae.h"

namespace saltus {

// What an integrator has to solve of a Dae once all unknowns are gone that the others give by
// formulas. An equation that is linear in an unknown without derivative, with a constant
// coefficient, is solved for it (tooth and lock relations on all their levels, accelerations,
// multipliers), and the formula put in everywhere else; what remains is the core.
struct EliminatedForm {
  std::shared_ptr<const Dae> core;
  std::vector<std::size_t> kept;       // by unknown of the core: its place in the Dae
  std::vector<std::size_t> equations;  // by equation of the core: its place in the list of rows
  std::vector<std::size_t> eliminated;
  std::vector<double> nominal;  // by eliminated unknown
  std::vector<Expr> formulas;   // the same in the symbols of the core
  Tape recover;                 // the same from the inputs of the core
  bool reads_slopes = false;    // recover depends on derivatives
  // The core is E x' + g(t, x) = 0 with a matrix E of numbers.
  bool constant_mass = false;
};

// Eliminates from the listed rows of a definition. Only the first `solvable` of them are solved
// for an unknown. The listed parameters (indices, increasing) become numbers, `parameters` are the
// values of all; coefficients_of() says which have to, at the least. Null if nothing can be
// eliminated.
std::unique_ptr<const EliminatedForm> eliminate(const DaeDefinition& definition,
                                                const std::vector<std::size_t>& rows,
                                                std::size_t solvable,
                                                const std::vector<double>& parameters,
                                                const std::vector<std::size_t>& numbers);
// All parameters become numbers.
std::unique_ptr<const EliminatedForm> eliminate(const DaeDefinition& definition,
                                                const std::vector<std::size_t>& rows,
                                                std::size_t solvable,
                                                const std::vector<double>& parameters);

// The parameters (indices, increasing) that coefficients of unknowns and derivatives depend on:
// inertias, ratios, stiffnesses. Others, loads and laws of friction, can be symbols of the core, so
// that one form serves for all their values.
std::vector<std::size_t> coefficients_of(const DaeDefinition& definition,
                                         const std::vector<std::size_t>& rows);

// The same with only these of the listed rows in force (by place in the list). Shares tapes.
std::unique_ptr<const EliminatedForm> with_rows(const EliminatedForm& form,
                                                const std::vector<std::size_t>& rows);

}  // namespace saltus
