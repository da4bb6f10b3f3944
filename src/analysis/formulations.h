#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/formulation.h"
#include "analysis/structure.h"
#include "expr/graph.h"
#include "expr/tape.h"
#include "model/dae.h"

namespace saltus {

// A constraint of the mode and its derivatives, written in positions and velocities as far as the
// kinematic equations allow.
struct Constraint {
  std::size_t equation = 0;     // of the mode
  std::vector<Expr> residuals;  // g, g', g'' (position level) or g, g' (velocity level)
  bool on_position_level() const { return residuals.size() == 3; }
};

// What the differentiation counts say about a mode p' = Z(p) v, M v' = f - G^T lambda, g(p) = 0:
// equations without derivatives that are differentiated are its constraints, twice if they are on
// position level, once on velocity level; equations with one derivative that are differentiated
// once are kinematic.
struct MechanicalStructure {
  std::vector<Constraint> constraints;  // none: the mode needs no other form
  // Kinematic equations solved for p': rate_symbols[k] = rates[k] by equation kinematic[k].
  std::vector<std::size_t> kinematic;
  std::vector<Expr> rate_symbols, rates;
  // Equations of motion that can be solved for one v' each.
  std::vector<Expr> acceleration_symbols, accelerations;
  std::string objection;  // why the mode is not of this kind; empty: it is
};
MechanicalStructure find_mechanical_structure(const DaeDefinition& mode,
                                              const std::vector<VariableId>& unknowns,
                                              const Offsets& offsets);

// Numbers near which a form is used.
struct FormPoint {
  double t = 0.0;
  std::vector<double> x, dx, parameters, held;  // in the order of the mode's definition
};

// The unknowns of the minimal extension whose derivatives became unknowns of their own, chosen from
// the Jacobian of the constraints by candidate unknowns.
struct DependentChoice {
  std::size_t rows = 0;
  std::vector<double> nominal;                              // of the candidates
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of the nonzeros
  Tape entries;                                             // inputs as in the mode's definition
  std::vector<std::size_t> chosen;                          // candidates, as many as rows
};

// Where the constraints of a mode stand in a definition that has them on every level: g'' (g' of a
// constraint on velocity level) among the square system, the lower levels after it.
struct LevelRows {
  std::vector<std::size_t> highest;               // one a constraint
  std::vector<std::size_t> velocity;              // the same order
  std::vector<std::size_t> position;              // only of constraints on position level
  std::vector<std::size_t> velocity_of_position;  // by place in `position`: the place in `velocity`
};

struct FormulatedMode {
  Formulation formulation = Formulation::kReduced;
  DaeDefinition definition;
  std::vector<VariableId> unknowns;  // of the mode it was made from, condensed (condense.h)
  // Symbols of the mode that the form does without, and what stands for them.
  std::vector<Expr> replaced, replacements;
  // Square and of index 1: derivatives and multipliers follow from positions and velocities.
  bool strangeness_free = false;
  std::vector<DependentChoice> choices;  // on position and velocity level; minimal extension only
  LevelRows levels;                      // for half-explicit methods only

  // Rows of the definition that are a system of their own; what follows are constraints.
  std::size_t square_rows() const {
    return definition.residuals.size() - levels.velocity.size() - levels.position.size();
  }
  Expr rewrite(const Expr& a) const;
};

// Pre: no objection, at least one constraint, formulation other than kReduced. `baumgarte` is alpha
// in 1/s. Only the minimal extension looks at the point: there it selects the unknowns whose
// derivatives become unknowns of their own.
FormulatedMode formulate(Graph& graph, const DaeDefinition& mode,
                         const std::vector<VariableId>& unknowns, const Offsets& offsets,
                         const MechanicalStructure& structure, Formulation formulation,
                         double baumgarte, const FormPoint& point);

// The same for half-explicit methods, which look at the constraints on velocity and on position
// level separately: the acceleration form, then g', then g.
FormulatedMode formulate_levels(Graph& graph, const DaeDefinition& mode,
                                const std::vector<VariableId>& unknowns, const Offsets& offsets,
                                const MechanicalStructure& structure);

// Whether other unknowns would now serve ten times better: the form is about to become singular.
bool is_stale(const FormulatedMode& form, const FormPoint& point);

}  // namespace saltus
