#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "model/system.h"

namespace saltus {

// An initial value problem with its solution at the end. Equations and parameters are
// stated in README.md, the origin of the reference values in reference/README.md.
struct Problem {
  std::string name;
  HybridSystem system;  // one mode, good nominals; start values see below
  double t_end = 0.0;
  std::vector<std::string> names;  // of the variables, in the order of `reference`
  std::vector<double> reference;   // values at t_end, correct to every digit of a double
  std::vector<double> scale;       // absolute tolerance = relative tolerance x scale
};

// For messages of tests.
inline std::ostream& operator<<(std::ostream& out, const Problem& problem) {
  return out << problem.name;
}

// Index 1: no guards, consistent start values.
Problem robertson();
Problem akzo_nobel();
Problem transistor_amplifier();  // M y' = f(t, y) with singular M; no unknown is purely algebraic
Problem transistor_amplifier_semi_explicit();  // the same with capacitor voltages as unknowns
Problem diode_ring();

std::vector<Problem> all_problems();

// Higher index: what is under der() starts consistently, hidden constraints included; the rest are
// guesses. The water tube has guards.
Problem car_axis();
Problem andrews();
Problem slider_crank();
Problem fekete();
Problem water_tube();

std::vector<Problem> higher_index_problems();

// A problem whose variables, names and scales are those of `system`, in order of declaration.
Problem make_problem(HybridSystem system, double t_end, std::vector<double> reference);

}  // namespace saltus
