#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace saltus {

// Work that was done, of a mode or of a run.
struct Statistics {
  std::size_t steps = 0;     // accepted
  std::size_t rejected = 0;  // by the error test or Newton
  std::size_t residuals = 0;
  std::size_t jacobians = 0;
  std::size_t factorizations = 0;
  std::size_t newton_iterations = 0;
  std::size_t events = 0;
  double translate_seconds = 0.0;
  double analyse_seconds = 0.0;    // processor time: building and compiling modes
  double integrate_seconds = 0.0;  // processor time of steps, events and stored points
  double wall_seconds = 0.0;

  Statistics& operator+=(const Statistics& other);
};

// A mode that was visited.
struct ModeReport {
  std::string name;
  std::vector<std::string> conditions;
  std::size_t unknowns = 0;
  int mu = 0;
  int d = 0;
  int a = 0;
  int v = 0;
  int u = 0;
  std::string form = "as written";  // what is integrated: that, reduced, projected or a formulation
  std::size_t form_unknowns = 0;
  std::size_t form_equations = 0;
  std::size_t visits = 0;
  double seconds = 0.0;  // wall time spent in it
  Statistics statistics;
};

}  // namespace saltus
