#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/formulation.h"

namespace saltus {

enum class Method {
  kRadau,            // Radau IIA of order 5, for every formulation
  kBdf,              // variable order, by SUNDIALS IDA
  kHalfExplicit,     // Runge-Kutta of order 3 on velocity level, for mechanical modes
  kDerivativeArray,  // Radau IIA on the derivative array, HM (25)
};
inline constexpr std::array kMethods = {Method::kRadau, Method::kBdf, Method::kHalfExplicit,
                                        Method::kDerivativeArray};
const char* to_string(Method method);
std::optional<Method> parse_method(std::string_view name);

// How modes are written and integrated, as SimulateOptions say.
struct ModeOptions {
  Method method = Method::kRadau;
  Formulation formulation = Formulation::kReduced;
  double baumgarte = 10.0;  // 1/s
  bool measure_constraints = false;
  double tolerance = 1e-6;                        // relative
  std::optional<double> absolute_tolerance = {};  // default: tolerance x nominal of the variable
  double first_step = 0.0;                        // s; 0: chosen
  double max_step = std::numeric_limits<double>::infinity();  // s
};

// The formulation a method uses where none is asked for (that is kReduced).
Formulation formulation_for(Method method, Formulation asked);

// Why a method cannot integrate a formulation and what to use instead; empty: it can.
std::string objection_to(Method method, Formulation formulation);

}  // namespace saltus
