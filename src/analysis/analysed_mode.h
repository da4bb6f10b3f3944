#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/characteristic_values.h"
#include "analysis/consistent.h"
#include "analysis/formulations.h"
#include "analysis/projected.h"
#include "analysis/reduce.h"
#include "expr/tape.h"
#include "model/dae.h"
#include "model/system.h"
#include "model/system_state.h"

namespace saltus {

// A mode ready to be integrated: its equations and guards compiled, unknowns mapped to variables.
// Built on first visit and cached; immutable.
struct AnalysedMode {
  ModeId id;
  const Mode* mode = nullptr;
  std::vector<VariableId> unknowns;  // of the mode as written
  std::vector<bool> differential;    // by unknown: it or its derivatives are integrated
  CharacteristicValues values;       // as far as structure tells; d and a are measured at run time
  // The form that is integrated: the mode as written if it needs no differentiation, otherwise the
  // reduced form with its candidate rows.
  std::shared_ptr<const Dae> dae;
  std::shared_ptr<const ReducedForm> reduced;        // by structure; null: not needed
  std::shared_ptr<const ProjectedForm> projected;    // by numbers; null: not needed
  std::shared_ptr<const FormulatedMode> formulated;  // as asked for; null: not needed
  // The mode as written; combinations in the place of equations that structure misreads.
  DaeDefinition written;
  MechanicalStructure mechanics;  // for modes settled by structure
  std::vector<std::string> warnings;
  // Unknowns among which redundant constraints share their forces in no unique way.
  std::vector<std::size_t> split_unknowns;

  // An expression of the mode in the symbols of the form.
  Expr rewrite(const Expr& a) const;

  // Values of the mode's unknowns, then their first derivatives, from the unknowns of the Dae.
  Tape recover;

  // Guard values, and the natural size sum |dS/dx_i| max(|x_i|, nominal_i) of each guard, as
  // functions of the same inputs as the Dae.
  Tape guards;
  Tape guard_sizes;
  // Degree of each guard as a polynomial along the unknowns and time; -1: not polynomial.
  std::vector<int> guard_degrees;
  // Guards that involve no unknown: affine in time, so their zero is known beforehand.
  std::vector<bool> is_time_guard;
  // Unknowns that the guards read.
  std::vector<std::uint32_t> guard_unknowns;
  bool guards_read_derivatives = false;
};

// What counts as large for a relation: the sum of what each variable in it, at its present value or
// its nominal one, contributes.
Expr relation_size(const HybridSystem& system, const Expr& value);

// The size of a relation that depends on time only, made such that 1e-10 of it is what rounding of
// the time can do.
Expr time_relation_size(const Expr& value, const Expr& time);

// The mode as written: its residuals in the given unknowns; all other variables are held.
DaeDefinition write_out(const HybridSystem& system, const Mode& mode,
                        const std::vector<VariableId>& unknowns);

// Throws Error naming the equation if one contains a second or higher derivative.
void check_orders(const HybridSystem& system, const Mode& mode);

// Throws Error if a mode cannot be solved whatever the numbers: fewer equations than unknowns,
// second derivatives, or a structural defect in a mode too large for the ranks of derivative arrays
// that no redundant equation explains. Names the culprits. Cheap; meant to be called for all modes
// before a run starts.
void check_structure(const HybridSystem& system, const Mode& mode);

// Analyses a mode by its structure and compiles it. Null if structure does not settle it. What it
// finds is kept where work is (base/kept_work.h).
std::unique_ptr<const AnalysedMode> analyse(const HybridSystem& system, ModeId id);

// The analysed mode in another form, near a point. Null if it has no constraints that call for one,
// or none of the kind the forms are made for; `objection` then says why. Pre: `reduced` comes from
// analyse().
std::unique_ptr<const AnalysedMode> reformulate(const HybridSystem& system,
                                                const AnalysedMode& reduced,
                                                Formulation formulation, double baumgarte, double t,
                                                const SystemState& near, std::string& objection);

// The analysed mode for half-explicit methods (see formulate_levels). Null if it has no
// constraints, or is not mechanical; `objection` then says why. Pre: as above.
std::unique_ptr<const AnalysedMode> separate_levels(const HybridSystem& system,
                                                    const AnalysedMode& reduced,
                                                    std::string& objection);

// Numbers of a state in the order of the mode's definition.
FormPoint form_point(const HybridSystem& system, const AnalysedMode& mode, double t,
                     const SystemState& state);

// Analyses a mode by the ranks of its derivative array near a guess and compiles the projected
// form. Throws Error naming contradictory equations, or unknowns that nothing determines.
std::unique_ptr<const AnalysedMode> analyse_by_numbers(const HybridSystem& system, ModeId id,
                                                       double t, const SystemState& near);
// Above this number of unknowns structure is asked, corrected by resolve_dependence().
constexpr std::size_t kLargestByNumbers = 60;
// Above this number of unknowns a mode has no overdetermined form.
constexpr std::size_t kLargestLeastSquares = 120;

// d and a at a consistent point from the numerical rank of F_x'; `strangeness_free` is false if
// the constraints that remain do not determine the algebraic part (higher index, or singular).
struct RankReport {
  CharacteristicValues values;
  bool strangeness_free = true;
  std::size_t suspicious_unknown = 0;  // of the Dae, if not strangeness-free
};
// Whether the equations of a mode in reduced form determine the highest derivatives at this point
// of the form. Structure takes that for granted; where it is not so, the index is higher than
// structure says. Large modes are taken to be regular.
bool highest_level_is_regular(const AnalysedMode& mode, const DaeData& data, double t,
                              const double* x, const double* dx);

RankReport measure_ranks(const Dae& dae, DaeData& data, double t, const double* x,
                         const double* dx);

}  // namespace saltus
