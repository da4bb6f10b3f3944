#include "simulate/method.h"

#include <fmt/format.h>

namespace saltus {

const char* to_string(Method method) {
  switch (method) {
    case Method::kRadau:
      return "radau";
    case Method::kBdf:
      return "bdf";
    case Method::kHalfExplicit:
      return "half-explicit";
    case Method::kDerivativeArray:
      return "derivative-array";
  }
  return "unknown";
}

std::optional<Method> parse_method(std::string_view name) {
  for (const Method method : kMethods)
    if (name == to_string(method)) return method;
  return std::nullopt;
}

Formulation formulation_for(Method method, Formulation asked) {
  if (asked != Formulation::kReduced) return asked;
  if (method == Method::kHalfExplicit) return Formulation::kVelocity;
  return method == Method::kDerivativeArray ? Formulation::kArray : asked;
}

std::string objection_to(Method method, Formulation formulation) {
  const char* name = to_string(formulation);
  switch (method) {
    case Method::kRadau:
      return formulation != Formulation::kArray
                 ? ""
                 : "the derivative array is integrated by method derivative-array";
    case Method::kBdf:
      if (keeps_higher_index(formulation) || formulation == Formulation::kOverdetermined ||
          formulation == Formulation::kArray)
        return fmt::format(
            "bdf integrates square systems of index 1 only, not formulation '{}'; use method "
            "radau, or formulation reduced, minimal, acceleration or baumgarte",
            name);
      return "";
    case Method::kHalfExplicit:
      return formulation == Formulation::kVelocity
                 ? ""
                 : fmt::format(
                       "half-explicit integrates formulation 'velocity' only, not '{}'; leave "
                       "--formulation out, or use method radau",
                       name);
    case Method::kDerivativeArray:
      return formulation == Formulation::kArray
                 ? ""
                 : fmt::format(
                       "derivative-array integrates the derivative array of the mode as it is "
                       "written, not formulation '{}'; leave --formulation out, or use method "
                       "radau",
                       name);
  }
  return "";
}

}  // namespace saltus
