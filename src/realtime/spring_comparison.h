#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "realtime/pwa_spring.h"

namespace saltus {

// A spring with the numbers of one of RE's tables, and the force that drives it.
struct SpringCase {
  std::string name;
  std::string description;
  PwaSpring spring;
  double stop_time = 10.0;                // s
  std::function<double(double)> input{};  // N at a time; none: 0
};

// The cases of RE chapter 3: table5, undamped, table2, table6, friction, harmonic.
std::vector<SpringCase> spring_cases();

struct SpringRow {
  SpringMethod method = SpringMethod::kEuler;
  double step = 0.0;
  std::string refused{};        // why there are no numbers
  double error = 0.0;           // largest |x - exact| at the method's own points, m
  double energy_error = 0.0;    // largest |E - exact E| at them over the energy at the start
  double energy_drift = 0.0;    // mean of E - exact E over the last quarter, over that energy
  double seconds = 0.0;         // processor time of a step
  std::size_t adjustments = 0;  // steps cut at an event
  std::vector<SpringPoint> points{};
};

struct SpringComparison {
  SpringCase what;
  double initial_energy = 0.0;           // J
  std::vector<SpringPoint> reference{};  // at small steps
  std::vector<SpringRow> rows{};         // by step, then by method
};

struct SpringCompareOptions {
  std::vector<double> steps = {0.01, 0.1, 0.2};
  std::vector<SpringMethod> methods = {kSpringMethods.begin(), kSpringMethods.end()};
  SpringOptions method{};  // its step is not used
  bool measure_time = true;
};

// Runs every method at every step and holds it against the exact solution: closed formulas from
// one crossing to the next, an input held at its middle value over a hundredth of the shortest
// step. Throws Error for wrong numbers.
SpringComparison compare_springs(const SpringCase& what, const SpringCompareOptions& options);

}  // namespace saltus
