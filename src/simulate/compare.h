#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analysis/constraint_levels.h"
#include "analysis/formulation.h"
#include "simulate/simulate.h"

namespace saltus {

// Runs a system with every method, formulation and tolerance asked for, and holds the results
// against one run in the reduced form at a tighter tolerance (HM Table 2).
struct CompareOptions {
  std::vector<Method> methods = {kMethods.begin(), kMethods.end()};
  std::vector<Formulation> formulations = {};  // empty: all that a method can integrate
  std::vector<double> tolerances = {1e-3, 1e-6};
  double reference_tolerance = 0.0;  // 0: the tightest tolerance / 1000, at least 1e-13
  double max_seconds = 60.0;         // wall time of a run
  // Called before the first step of every run and after each step: which of how many it is (the
  // reference is number 0), what it is, and the time reached.
  std::function<void(std::size_t run, std::size_t runs, const std::string& name, double time)>
      progress = {};
  SimulateOptions run;  // times, Baumgarte's constant, what stops it
};

enum class CompareVerdict {
  kRight,          // reached the end through the modes of the reference
  kWrongSequence,  // reached the end through other modes
  kStopped,        // did not reach the end
  kNotPossible,    // the method cannot integrate the formulation, or a mode
};
const char* to_string(CompareVerdict verdict);

// Errors are not a number where there is nothing to compare.
struct CompareRow {
  Method method = Method::kRadau;
  Formulation formulation = Formulation::kReduced;
  double tolerance = 0.0;
  CompareVerdict verdict = CompareVerdict::kRight;
  std::string note;      // what went wrong
  double seconds = 0.0;  // processor time, without that of building modes
  double wall_seconds = 0.0;
  std::size_t steps = 0;
  std::size_t rejected = 0;
  LevelResiduals residuals;
  double switch_error = 0.0;  // largest difference of a switch time, s
  double final_error = 0.0;   // largest |x - reference| / (|reference| + nominal), variables under
                              // der() only
};

struct Comparison {
  std::string model;
  double stop_time = 0.0;
  double reference_tolerance = 0.0;
  std::vector<std::string> modes;  // of the reference, in order of visit
  std::size_t runs = 0;            // asked for
  std::vector<CompareRow> rows;    // fewer if it was interrupted
};

// Throws Error for wrong input, or if the reference itself does not reach the end.
Comparison compare(const HybridSystem& system, const CompareOptions& options);

}  // namespace saltus
