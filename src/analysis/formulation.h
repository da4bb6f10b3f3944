#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace saltus {

// The ways to write a mode with constraints g(p) = 0 that HM Appendix A.3 compares; the solution is
// the same, the numerical behaviour is not.
enum class Formulation {
  kReduced,         // Saltus' own: all constraints, states chosen as the solution moves
  kPosition,        // as written: g = 0 (EoM), index 3
  kVelocity,        // g' = 0 in place of g = 0 (EoM2), index 2
  kAcceleration,    // g'' = 0 in place of g = 0 (EoM1), index 1
  kBaumgarte,       // g'' + 2 alpha g' + alpha^2 g = 0, index 1
  kGgl,             // g = 0 and g' = 0, p' = v - G^T eta (Gear, Gupta, Leimkuhler), index 2
  kOverdetermined,  // g = g' = g'' = 0 added to the equations of motion, by least squares
  kMinimal,         // the same, made square by new unknowns for derivatives (minimal extension)
  kArray,           // the whole derivative array (HM (25)), whatever kind of constraints there are
};
// Those that are derived from the structure of a mechanical mode, or the default.
inline constexpr std::array kFormulations = {
    Formulation::kReduced,        Formulation::kPosition,  Formulation::kVelocity,
    Formulation::kAcceleration,   Formulation::kBaumgarte, Formulation::kGgl,
    Formulation::kOverdetermined, Formulation::kMinimal};
const char* to_string(Formulation formulation);
std::optional<Formulation> parse_formulation(std::string_view name);

// Whether the form has index 2 or 3 where the mode has constraints on position level.
constexpr bool keeps_higher_index(Formulation f) {
  return f == Formulation::kPosition || f == Formulation::kVelocity || f == Formulation::kGgl;
}

}  // namespace saltus
